/** The team's config as it was sent: read, given its defaults, and checked whole, every fault at once (TEAM-1). */
import type { ZodError } from "zod";
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
import { saidOfSchema, wordsOf } from "./schema-faults.ts";

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
  if ("faults" in read) return read;
  const faults: TeamFault[] = [];
  const tell: Tell = (path, message) => faults.push(faultAt(path, message, read.lineOf(path)));
  if (read.value === null) tell([], "is empty: write at least `people: []`");
  else {
    const parsed = teamSchema.safeParse(read.value);
    if (parsed.success) {
      checkAcross(parsed.data, tell);
      checkKnown(parsed.data, unknown, tell);
      if (new TextEncoder().encode(JSON.stringify(parsed.data)).byteLength > MAX_TEAM_BYTES)
        tell([], "is larger than 256 KiB with its defaults: leave out what the team does not need");
      if (faults.length === 0) return { team: parsed.data };
    } else {
      saidOfSchema(parsed.error, teamSchema, read.value, tell);
      const rest = withoutFaulty(read.value, parsed.error);
      if (rest !== undefined) checkAcross(rest, tell);
    }
  }
  return { faults: fewFaults(faults) };
}

/** What refers to each other: with one of these at fault the others cannot be judged. */
const RELATED = ["people", "humans", "roles", "repositories", "schedules", "pipeline"];

/** The config without its faulty parts, where what is left can be judged on its own: all faults in one answer. */
function withoutFaulty(value: unknown, error: ZodError): Team | undefined {
  const faulty = new Set(
    error.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : [String(issue.path[0])],
    ),
  );
  if (RELATED.some((part) => faulty.has(part))) return undefined;
  const rest = Object.entries(value as object).filter(([key]) => !faulty.has(key));
  return teamSchema.safeParse(Object.fromEntries(rest)).data;
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

/** Tells of everything in a list that stands there twice. */
function once(tell: Tell): (name: string, path: DocumentPath, what: string) => void {
  const seen = new Map<string, string>();
  return (name, path, what) => {
    const first = seen.get(name);
    if (first === undefined) seen.set(name, path.join("."));
    else tell(path, `is ${what} of ${first} too`);
  };
}

/** What a schema cannot say: what refers to what, and what belongs to one only. */
function checkAcross(team: Team, tell: Tell): void {
  const handles = new Set(team.people.map((person) => person.handle));
  checkPeople(team, tell);

  const repo = once(tell);
  for (const [i, one] of team.repositories.entries())
    repo(folded(one.repo), ["repositories", i, "repo"], "the repository");

  const schedule = once(tell);
  for (const [i, one] of team.schedules.entries()) {
    const at: DocumentPath = ["schedules", i];
    schedule(one.id, [...at, "id"], "the id");
    if (!handles.has(one.person)) tell([...at, "person"], noHandle(one.person));
    const fault = cronFault(one.cron);
    if (fault !== undefined) tell([...at, "cron"], fault);
    if (!isZone(one.zone)) tell([...at, "zone"], "is no time zone, as `Europe/Vienna` is one");
  }

  const rule = once(tell);
  for (const [i, one] of team.pipeline.rules.entries()) {
    const at: DocumentPath = ["pipeline", "rules", i];
    rule(one.id, [...at, "id"], "the id");
    checkRule(one, at, handles, tell);
  }
}

const noHandle = (handle: string) => `there is nobody with the handle ${handle} in people`;

function checkPeople(team: Team, tell: Tell): void {
  const [handle, name, called, user] = [once(tell), once(tell), once(tell), once(tell)];
  const identity = once(tell);
  const owns = (identities: Record<string, string>, at: DocumentPath) => {
    for (const [source, login] of Object.entries(identities))
      identity(`${source}\n${folded(login)}`, [...at, "identities", source], "the identity");
  };
  for (const [i, person] of team.people.entries()) {
    const at: DocumentPath = ["people", i];
    handle(person.handle, [...at, "handle"], "the handle");
    name(folded(person.name), [...at, "name"], "the name");
    if (!Object.hasOwn(team.roles, person.role))
      tell([...at, "role"], `there is no such role: ${listed(Object.keys(team.roles))}`);
    owns(person.identities, at);
  }
  for (const [i, human] of team.humans.entries()) {
    const at: DocumentPath = ["humans", i];
    called(folded(human.name), [...at, "name"], "the name");
    if (human.user !== undefined) user(human.user, [...at, "user"], "the person");
    owns(human.identities, at);
  }
}

const listed = (names: string[]) =>
  names.length === 0 ? "roles has none" : `roles has ${names.slice(0, 20).join(", ")}`;

function checkRule(rule: TeamRule, at: DocumentPath, handles: ReadonlySet<string>, tell: Tell): void {
  const known = (path: DocumentPath, handle: string) => {
    if (!handles.has(handle)) tell([...at, ...path], noHandle(handle));
  };
  for (const [i, pattern] of [rule.on].flat().entries())
    if (!WORK_EVENT_TYPES.some((type) => meansType(pattern, type)))
      tell(
        [...at, "on", ...(Array.isArray(rule.on) ? [i] : [])],
        `means no event: there are ${WORK_EVENT_TYPES.slice(0, 6).join(", ")} and others, and * for any part`,
      );
  const { person } = rule.when;
  if (Array.isArray(person)) for (const [i, one] of person.entries()) known(["when", "person", i], one);
  else if (person !== undefined) known(["when", "person"], person);
  if (rule.to !== undefined) known(["to"], rule.to);
  if (rule.then !== "act" && rule.ops !== undefined) tell([...at, "ops"], "goes with `then: act` only");
  if (rule.then !== "wake" && rule.kind !== undefined) tell([...at, "kind"], "goes with `then: wake` only");
  if (rule.then === "act" && (rule.ops === undefined || rule.ops.length === 0))
    tell([...at, "ops"], "is missing: an act does something");
  for (const [i, one] of (rule.ops ?? []).entries()) checkOp(one, [...at, "ops", i], tell);
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
