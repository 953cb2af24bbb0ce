/** space.create, rename, archive, unarchive, claim, set. */
import { cleanName, codePoints, firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { personActed } from "../judge/acts.ts";
import { pauseAgents } from "../judge/pause.ts";
import { ceilingOf, spentOut } from "../judge/spend.ts";
import { directWith, personFor } from "../office/direct.ts";
import { officeHarness } from "../store/office.ts";
import { agentsOf, isGone, participant } from "../store/participants.ts";
import { closeStay, members, openStay, space, stay } from "../store/spaces.ts";
import type { ParticipantRow } from "../types.ts";
import type { Extras, Writer } from "../writer.ts";
import { join } from "./members.ts";
import { asRegular, asSpaceOwner, mustBePerson } from "./standing.ts";

/** A name or title as it is kept: 1 to 80 characters, nothing invisible (LIMIT-1). */
export function named(text: string, path: string): string {
  const clean = cleanName(text);
  if (clean === undefined)
    refuse("invalid", `${path} is a name of 1 to 80 characters without control or formatting characters.`, {
      details: [{ path, message: "must be 1 to 80 visible characters" }],
    });
  return clean;
}

export function create(w: Writer, event: Verb<"space.create">): Extras | void {
  if (w.caller.participant.kind === "agent") return createDirect(w, event);
  mustBePerson(w);
  if (w.caller.participant.role === "guest") refuse("forbidden", "A guest makes no spaces. Ask a member.");
  const direct = event.direct && directSet(w, event.direct);
  if (direct && event.visibility === "open")
    refuse("invalid", "A direct space is private. Leave visibility out.");
  if (direct && event.harness_id)
    refuse("invalid", "A space is either direct or asked of a harness, not both.");
  if (direct) {
    const same = w.db.one<{ id: string }>("SELECT id FROM spaces WHERE direct = ?", directKey(direct));
    if (same) return { space_id: same.id };
  } else if (event.title === undefined)
    refuse("invalid", "A space needs a title.", { details: [{ path: "title", message: "is missing" }] });

  const harness = event.harness_id === undefined ? undefined : askedHarness(w, event.harness_id);
  const agentName = harness && named(event.agent_name ?? harness.name, "agent_name");
  const title = event.title === undefined ? directTitle(direct ?? []) : named(event.title, "title");
  const spaceId = w.clock.mint("spc");
  const row = w.append("space.created", {
    spaceId,
    body: {
      title,
      visibility: event.visibility,
      ...(direct ? { direct: direct.map((p) => p.id) } : {}),
      ...(harness ? { harness_id: harness.id, agent_name: agentName } : {}),
    },
    main: true,
    receipt: { space_id: spaceId },
  });
  w.db.run(
    "INSERT INTO spaces (id, title, visibility, direct, harness_id, agent_name, created_seq) VALUES (?, ?, ?, ?, ?, ?, ?)",
    spaceId,
    title,
    event.visibility,
    direct ? directKey(direct) : null,
    harness?.id ?? null,
    agentName ?? null,
    row.seq,
  );
  join(w, spaceId, w.caller.participant, "owner");
  for (const other of direct ?? [])
    if (other.id !== w.caller.participant.id)
      join(w, spaceId, other, other.role === "guest" ? "guest" : "member");
  if (harness) join(w, spaceId, { ...harness, name: agentName ?? harness.name }, "member");
}

/** A person of the team opens its direct space with one person, to report there (REPORT-3). */
function createDirect(w: Writer, event: Verb<"space.create">): Extras | void {
  const [id, ...more] = event.direct ?? [];
  if (id === undefined || more.length > 0 || event.harness_id !== undefined)
    refuse("forbidden", "An agent opens a direct space with one person, and no other: {direct: [usr_…]}.");
  const person = personFor(w, w.caller.participant.id, id);
  if (!person) notFound("participant");
  const { id: space_id } = directWith(w, w.caller.participant, person, true);
  return { space_id };
}

/** Everybody of a direct space, the maker included, by id. */
function directSet(w: Writer, ids: readonly string[]): ParticipantRow[] {
  const all = [...new Set([...ids, w.caller.participant.id])].toSorted();
  if (all.length < 2) refuse("invalid", "A direct space is with somebody else. Name who.");
  return all.map((id) => {
    const who = participant(w.db, id);
    if (!who || isGone(who)) notFound("participant");
    mustBeAddable(w, who);
    return who;
  });
}

export function directKey(of: readonly ParticipantRow[]): string {
  return of.map((p) => p.id).join(" ");
}

export function directTitle(of: readonly ParticipantRow[]): string {
  const all = of.map((p) => p.name).join(", ");
  return codePoints(all) <= 80 ? all : `${firstCodePoints(all, 79)}…`;
}

function askedHarness(w: Writer, id: string): ParticipantRow {
  const harness = participant(w.db, id);
  if (!harness || harness.kind !== "harness" || isGone(harness)) notFound("participant");
  if (officeHarness(w.db)?.id === harness.id)
    refuse("invalid", "The office takes no spaces. Add one of the team's people: member.add.");
  return harness;
}

/** A harness that runs agents is no member itself: its agents are (SPACE-3, SPACE-5). */
export function mustBeAddable(w: Writer, who: ParticipantRow): void {
  if (who.kind !== "harness" || agentsOf(w.db, who.id).every(isGone)) return;
  refuse("invalid", `${who.name} runs agents: add one of them instead. GET /v1/participants lists them.`);
}

export function rename(w: Writer, event: Verb<"space.rename">): void {
  const title = named(event.title, "title");
  const { space: of } = asRegular(w, event.space_id);
  w.append("space.renamed", { spaceId: of.id, body: { title, previous: of.title }, main: true, line: true });
  w.db.run("UPDATE spaces SET title = ? WHERE id = ?", title, of.id);
}

export function archive(w: Writer, event: Verb<"space.archive">): void {
  setArchived(w, event.space_id, true);
}

export function unarchive(w: Writer, event: Verb<"space.unarchive">): void {
  setArchived(w, event.space_id, false);
}

function setArchived(w: Writer, spaceId: string, archived: boolean): void {
  const { space: of } = asSpaceOwner(w, spaceId);
  if ((of.archived !== 0) === archived)
    refuse("conflict", archived ? "This space is archived already." : "This space is not archived.");
  w.append(archived ? "space.archived" : "space.unarchived", {
    spaceId: of.id,
    body: {},
    main: true,
    line: true,
  });
  w.db.run("UPDATE spaces SET archived = ? WHERE id = ?", archived ? 1 : 0, of.id);
}

/** The agent takes the harness's place, its joining and its handle; nobody is told that anyone came or went (SPACE-3). */
export function claim(w: Writer, event: Verb<"space.claim">): void {
  const harness = w.caller.participant;
  const found = space(w.db, event.space_id);
  const agent = participant(w.db, event.agent_id);
  if (!found || found.harness_id !== harness.id) notFound("space");
  if (agent?.harness_id !== harness.id || isGone(agent))
    refuse(
      "forbidden",
      "You claim a space for an agent that you declared. Declare it first, with agent.declare.",
    );
  if (found.claimed_by !== null) refuse("conflict", "This space was claimed already.");
  const place = stay(w.db, found.id, harness.id);
  if (!place) refuse("conflict", "You are not in this space any more, so there is no place to take.");
  if (stay(w.db, found.id, agent.id)) refuse("conflict", "This agent is in the space already.");
  const row = w.append("space.claimed", {
    spaceId: found.id,
    body: { harness_id: harness.id, agent_id: agent.id },
    main: true,
  });
  w.db.run("UPDATE spaces SET claimed_by = ? WHERE id = ?", agent.id, found.id);
  closeStay(w.db, found.id, harness.id, row.seq);
  openStay(w.db, { ...place, participant_id: agent.id }, row.seq);
  w.db.run(
    "UPDATE handles SET participant_id = ? WHERE space_id = ? AND participant_id = ?",
    agent.id,
    found.id,
    harness.id,
  );
  // What is held from it or waits to be begun is the agent's from now on, and so is being the lead.
  w.db.run(
    "UPDATE OR REPLACE held SET agent_id = ? WHERE space_id = ? AND agent_id = ?",
    agent.id,
    found.id,
    harness.id,
  );
  w.db.run(
    "UPDATE OR REPLACE pickups SET agent_id = ? WHERE space_id = ? AND agent_id = ?",
    agent.id,
    found.id,
    harness.id,
  );
  w.db.run("UPDATE spaces SET lead = ? WHERE id = ? AND lead = ?", agent.id, found.id, harness.id);
}

export function set(w: Writer, event: Verb<"space.set">): void {
  const { space: of } = asSpaceOwner(w, event.space_id);
  const { lead, ceiling_usd } = event;
  if (lead === undefined && ceiling_usd === undefined)
    refuse("invalid", "Say what to set: lead, ceiling_usd, or both.");
  if (lead !== undefined && lead !== null && !members(w.db, of.id).some((m) => m.id === lead && !isGone(m)))
    refuse("invalid", "The lead is an agent of the space. Add it first.", {
      details: [{ path: "lead", message: "is no agent of this space" }],
    });
  const row = w.append("space.set", {
    spaceId: of.id,
    body: { ...(lead === undefined ? {} : { lead }), ...(ceiling_usd === undefined ? {} : { ceiling_usd }) },
    main: true,
  });
  const before = ceilingOf(w.db, w.workspace, of.id);
  if (lead !== undefined) w.db.run("UPDATE spaces SET lead = ? WHERE id = ?", lead, of.id);
  if (ceiling_usd !== undefined)
    w.db.run("UPDATE spaces SET ceiling_usd = ?, ceiling_set = 1 WHERE id = ?", ceiling_usd, of.id);
  // Raising the ceiling is an act: the room goes on (SPEND-2). Lowering it may stop it.
  if (ceiling_usd === undefined) return;
  if (ceiling_usd === null || (before !== null && ceiling_usd > before)) personActed(w, of.id, row);
  else if (spentOut(w, of.id) === "spend") pauseAgents(w, of.id, "spend", false);
}
