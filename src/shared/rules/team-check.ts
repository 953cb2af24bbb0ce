/** The team's config as it was sent: read, given its defaults, and checked whole, every fault at once (TEAM-1). */
import { op as opSchema } from "../wire/agent/ops.ts";
import { type Team, type TeamRule, team as teamSchema } from "../wire/team.ts";
import { WORK_EVENT_TYPES } from "../wire/work.ts";
import { cronFault, isZone } from "./cron.ts";
import {
  type DocumentFault,
  type DocumentFormat,
  type DocumentPath,
  faultAt,
  fewFaults,
  readDocument,
} from "./document.ts";
import { meansType } from "./event-pattern.ts";
import { type Loose, saidOfSchema, withoutFaults, wordsOf } from "./schema-faults.ts";
import { cleanName } from "./text.ts";

/** What is wrong with a team's config, and where: `people.0.handle`, with the line that it stands on. */
export type TeamFault = DocumentFault;
/** The people and spaces that the config names and the workspace does not have. */
export interface UnknownNames {
  users: readonly string[];
  spaces: readonly string[];
}

/** Every agent gets the config in its welcome, a frame of 1 MiB (OFF-5). */
const MAX_TEAM_BYTES = 256 * 1024;
const folded = (text: string) => text.normalize("NFC").toLowerCase();

type Tell = (path: DocumentPath, message: string) => void;

/**
 * Reads and checks a team's config (TEAM-1, TEAM-3, TEAM-4). `unknown` holds what the workspace was asked about and
 * does not have: those are faults like the others, each on its line.
 */
export function checkTeam(
  text: string,
  format: DocumentFormat,
  unknown: UnknownNames = { users: [], spaces: [] },
): { team: Team } | { faults: TeamFault[] } {
  const read = readDocument(text, format);
  const document = "faults" in read ? read.rest : read;
  const faults: TeamFault[] = "faults" in read ? [...read.faults] : [];
  if (document === undefined) return { faults: fewFaults(faults) };
  const { value } = document;
  const tell: Tell = (path, message) => faults.push(faultAt(path, message, document.lineOf(path)));
  if (value === null) tell([], "is empty: write at least `people: []`");
  else {
    const parsed = teamSchema.safeParse(value);
    if (!parsed.success) saidOfSchema(parsed.error, teamSchema, value, tell);
    const judged = parsed.success ? parsed.data : withoutFaults(value, parsed.error);
    if (judged) checkAcross(judged, namedBy(value), tell);
    if (parsed.success) {
      checkKnown(parsed.data, unknown, tell);
      if (new TextEncoder().encode(JSON.stringify(parsed.data)).byteLength > MAX_TEAM_BYTES)
        tell([], "is larger than 256 KiB with its defaults: leave out what the team does not need");
      if (faults.length === 0) return { team: parsed.data };
    }
  }
  return { faults: fewFaults(faults) };
}

/** What others may refer to; undefined where the document says it in no way that can be read. */
interface Named {
  handles: ReadonlySet<string> | undefined;
  roles: readonly string[] | undefined;
}

/**
 * The handles and roles that a document means, also those that are at fault themselves: who refers to one of those is
 * not at fault too.
 */
function namedBy(value: unknown): Named {
  const { people = [], roles = {} } = value as { people?: unknown; roles?: unknown };
  const handles = (Array.isArray(people) ? people : []).flatMap((one: { handle?: unknown } | null) =>
    typeof one?.handle === "string" ? [folded(one.handle)] : [],
  );
  return {
    handles: Array.isArray(people) ? new Set(handles) : undefined,
    roles:
      typeof roles === "object" && roles !== null && !Array.isArray(roles) ? Object.keys(roles) : undefined,
  };
}

/** The participants and spaces that a config names: whoever knows them is asked which there are not. */
export function namesIn(team: Team): { users: string[]; spaces: string[] } {
  return {
    users: team.humans.flatMap((human) => (human.user === undefined ? [] : [human.user])),
    spaces: team.notify === undefined ? [] : [team.notify],
  };
}

function checkKnown(team: Team, unknown: UnknownNames, tell: Tell): void {
  if (team.notify !== undefined && unknown.spaces.includes(team.notify))
    tell(["notify"], "is no space of this workspace");
  for (const [i, { user }] of team.humans.entries())
    if (user !== undefined && unknown.users.includes(user))
      tell(["humans", i, "user"], "is no person of this workspace");
}

/** Tells of everything in a list that stands there twice; what is at fault itself is passed over. */
function once(tell: Tell): (name: string | undefined, path: DocumentPath, what: string) => void {
  const seen = new Map<string, string>();
  return (name, path, what) => {
    if (name === undefined) return;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, path.join("."));
    else tell(path, `is ${what} of ${first} too`);
  };
}

const foldedName = (name: string | undefined) => (name === undefined ? undefined : folded(name));

/** What a schema cannot say: what refers to what, and what belongs to one only. */
function checkAcross(team: Loose<Team>, named: Named, tell: Tell): void {
  checkPeople(team, named, tell);

  const repo = once(tell);
  for (const [i, one] of (team.repositories ?? []).entries())
    repo(foldedName(one?.repo), ["repositories", i, "repo"], "the repository");

  const known: Known = (path, handle) => {
    if (handle !== undefined && named.handles && !named.handles.has(handle))
      tell(path, `there is nobody with the handle ${handle} in people`);
  };
  const schedule = once(tell);
  for (const [i, one] of (team.schedules ?? []).entries()) {
    if (!one) continue;
    const at: DocumentPath = ["schedules", i];
    schedule(one.id, [...at, "id"], "the id");
    known([...at, "person"], one.person);
    const fault = one.cron === undefined ? undefined : cronFault(one.cron);
    if (fault !== undefined) tell([...at, "cron"], fault);
    if (one.zone !== undefined && !isZone(one.zone))
      tell([...at, "zone"], "is no time zone, as `Europe/Vienna` is one");
  }

  const rule = once(tell);
  for (const [i, one] of (team.pipeline?.rules ?? []).entries()) {
    if (!one) continue;
    const at: DocumentPath = ["pipeline", "rules", i];
    rule(one.id, [...at, "id"], "the id");
    checkRule(one, at, known, tell);
  }
}

/** Tells where a handle is nobody's. */
type Known = (path: DocumentPath, handle: string | undefined) => void;

function checkPeople(team: Loose<Team>, { roles }: Named, tell: Tell): void {
  const [handle, name, user, identity] = [once(tell), once(tell), once(tell), once(tell)];
  // Names are compared as rooms show them: what nobody can tell apart belongs to one.
  const named = (given: string | undefined, path: DocumentPath) => {
    const clean = given === undefined ? undefined : cleanName(given);
    if (given !== undefined && clean === undefined)
      tell(path, "must be 1 to 80 visible characters, none of them for formatting");
    name(foldedName(clean), path, "the name");
  };
  const owns = (identities: Record<string, string | undefined> | undefined, at: DocumentPath) => {
    for (const [source, login] of Object.entries(identities ?? {}))
      identity(
        login === undefined ? undefined : `${source}\n${folded(login)}`,
        [...at, "identities", source],
        "the identity",
      );
  };
  for (const [i, person] of (team.people ?? []).entries()) {
    if (!person) continue;
    const at: DocumentPath = ["people", i];
    handle(person.handle, [...at, "handle"], "the handle");
    named(person.name, [...at, "name"]);
    if (person.role !== undefined && roles && !roles.includes(person.role))
      tell([...at, "role"], `there is no such role: ${listed(roles)}`);
    owns(person.identities, at);
  }
  for (const [i, human] of (team.humans ?? []).entries()) {
    if (!human) continue;
    const at: DocumentPath = ["humans", i];
    named(human.name, [...at, "name"]);
    user(human.user, [...at, "user"], "the person");
    owns(human.identities, at);
  }
}

const listed = (names: readonly string[]) =>
  names.length === 0 ? "roles has none" : `roles has ${names.slice(0, 20).join(", ")}`;

function checkRule(rule: Loose<TeamRule>, at: DocumentPath, known: Known, tell: Tell): void {
  for (const [i, pattern] of [rule.on].flat().entries())
    if (pattern !== undefined && !WORK_EVENT_TYPES.some((type) => meansType(pattern, type)))
      tell(
        [...at, "on", ...(Array.isArray(rule.on) ? [i] : [])],
        `means no event: there are ${WORK_EVENT_TYPES.slice(0, 6).join(", ")} and others, and * for any part`,
      );
  const person = rule.when?.person;
  if (Array.isArray(person))
    for (const [i, one] of person.entries()) known([...at, "when", "person", i], one);
  else known([...at, "when", "person"], person);
  known([...at, "to"], rule.to);
  if (rule.then !== undefined && rule.then !== "act" && rule.ops !== undefined)
    tell([...at, "ops"], "goes with `then: act` only");
  if (rule.then !== undefined && rule.then !== "wake" && rule.kind !== undefined)
    tell([...at, "kind"], "goes with `then: wake` only");
  if (rule.then === "act" && (!("ops" in rule) || rule.ops?.length === 0))
    tell([...at, "ops"], "is missing: an act does something");
  for (const [i, one] of (rule.ops ?? []).entries())
    if (one?.op !== undefined) checkOp({ ...one, op: one.op }, [...at, "ops", i], tell);
}

/** What an event fills in where a rule says nothing: the ticket, the pull request, the document. */
const FILLED: Record<string, Record<string, unknown>> = {
  link_pr: { pr: "o/r#1", url: "u", title: "t" },
  link_doc: { doc: { id: "d", title: "t", url: "u" } },
};

/** An op of a rule is an op once the event has filled it in; what it says itself must be right already. */
function checkOp(op: Record<string, unknown> & { op: string }, at: DocumentPath, tell: Tell): void {
  const filled: Record<string, unknown> = { ...FILLED[op.op], ...op, key: "k" };
  if (op["ticket"] === undefined && op["doc"] === undefined) filled["ticket"] = "T-1";
  const parsed = opSchema.safeParse(filled);
  if (parsed.success) return;
  for (const issue of parsed.error.issues) {
    const given = issue.path.reduce<unknown>(
      (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
      op,
    );
    // `{…}` stands for what the event says.
    if (typeof given === "string" && /\{\w+\}/.test(given)) continue;
    tell([...at, ...(issue.path as (string | number)[])], wordsOf(issue, given));
  }
}
