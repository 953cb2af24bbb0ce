/** participant.rename, participant.remove, participant.role, agent.declare, agent.withdraw, settings.set. */
import { patchSettings, type Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { endAsksTo } from "../office/asks.ts";
import { endFollowing } from "../store/followers.ts";
import { officeHarness } from "../store/office.ts";
import { agentsOf, insertParticipant, isGone, owners, participant } from "../store/participants.ts";
import { releaseHandle, takeHandle } from "../store/spaces.ts";
import type { ParticipantRow, StayRow } from "../types.ts";
import type { Extras, Writer } from "../writer.ts";
import { leave } from "./members.ts";
import { endRunsOf } from "./runs.ts";
import { approverLost } from "./settle.ts";
import { named } from "./spaces.ts";
import { administers, mustBePerson } from "./standing.ts";

/** The most agents that a harness declares. */
const MAX_DECLARED = 50;

export function rename(w: Writer, event: Verb<"participant.rename">): void {
  const who =
    event.participant_id === undefined ? w.caller.participant : participant(w.db, event.participant_id);
  if (!who || who.removed_at !== null) notFound("participant");
  const own = who.id === w.caller.participant.id || who.harness_id === w.caller.participant.id;
  if (!own && !administers(w))
    refuse("forbidden", "You rename yourself and your agents; owners and admins anybody.");
  mustNotBeOffice(w, who);
  renameTo(w, who, named(event.name, "name"), true);
}

/** Renames somebody: the workspace's fact, a line in each of their spaces, and new handles (ADDR-1). */
export function renameTo(w: Writer, who: ParticipantRow, name: string, main?: true, receipt?: Extras): void {
  const row = w.append("participant.renamed", {
    body: { participant_id: who.id, name, previous: who.name },
    ...(main ? { main, receipt: receipt ?? {} } : {}),
  });
  w.db.run("UPDATE participants SET name = ? WHERE id = ?", name, who.id);
  for (const { space_id, joined_seq } of staysOf(w, who.id)) {
    w.db.run("INSERT INTO lines (space_id, seq) VALUES (?, ?)", space_id, row.seq);
    releaseHandle(w.db, space_id, who.id, w.now);
    const handle = takeHandle(w.db, space_id, { id: who.id, name }, w.now);
    w.db.run(
      "UPDATE stays SET handle = ? WHERE space_id = ? AND participant_id = ? AND joined_seq = ?",
      handle ?? null,
      space_id,
      who.id,
      joined_seq,
    );
  }
}

function staysOf(w: Writer, participantId: string): StayRow[] {
  return w.db.all("SELECT * FROM stays WHERE participant_id = ? AND left_seq IS NULL", participantId);
}

/** Refuses unless the caller may change somebody of this standing (SPACE-7). */
function mustOutrank(w: Writer, who: ParticipantRow): void {
  mustBePerson(w);
  if (!administers(w)) refuse("forbidden", "Only an owner or an admin of the workspace may do this.");
  const high = who.role === "owner" || who.role === "admin";
  if (high && w.caller.participant.role !== "owner")
    refuse("forbidden", "Only an owner makes or unmakes owners and admins.");
}

/** The team's people are what its config says, and their harness is the workspace's own (TEAM-2). */
function mustNotBeOffice(w: Writer, who: ParticipantRow): void {
  if (who.office_handle === null && (who.kind !== "harness" || officeHarness(w.db)?.id !== who.id)) return;
  refuse("conflict", "The people of the team are named in its config. Change them there: PUT /v1/team.");
}

function mustLeaveAnOwner(w: Writer, who: ParticipantRow): void {
  if (who.role === "owner" && owners(w.db).every((o) => o.id === who.id))
    refuse("conflict", "The workspace keeps its last owner. Make somebody else owner first.");
}

export function remove(w: Writer, event: Verb<"participant.remove">): void {
  const who = participant(w.db, event.participant_id);
  if (!who || who.removed_at !== null) notFound("participant");
  mustOutrank(w, who);
  mustNotBeOffice(w, who);
  mustLeaveAnOwner(w, who);
  w.append("participant.removed", { body: { participant_id: who.id }, main: true });
  for (const one of [who, ...agentsOf(w.db, who.id)]) {
    for (const { space_id } of staysOf(w, one.id)) leave(w, space_id, one);
    endRunsOf(w, one.id);
    w.db.run("UPDATE participants SET removed_at = ? WHERE id = ?", w.now, one.id);
    approverLost(w, one.id);
    w.db.run("DELETE FROM tokens WHERE participant_id = ?", one.id);
    endFollowing(w.db, (...letter) => w.toOffice(...letter), one.id);
    w.db.run("DELETE FROM links WHERE participant_id = ?1 OR made_by = ?1", one.id);
    w.afterwards({ kind: "close", participantId: one.id, code: 4403, reason: "removed from the workspace" });
  }
  if (who.kind === "person") endAsksTo(w, who.id);
}

export function role(w: Writer, event: Verb<"participant.role">): void {
  const who = participant(w.db, event.participant_id);
  if (!who || who.removed_at !== null || who.kind !== "person") notFound("participant");
  mustOutrank(w, who);
  if ((event.role === "owner" || event.role === "admin") && w.caller.participant.role !== "owner")
    refuse("forbidden", "Only an owner makes or unmakes owners and admins.");
  if (event.role !== "owner") mustLeaveAnOwner(w, who);
  w.append("participant.role_changed", { body: { participant_id: who.id, role: event.role }, main: true });
  w.db.run("UPDATE participants SET role = ? WHERE id = ?", event.role, who.id);
  if (event.role === "guest") {
    approverLost(w, who.id);
    endFollowing(w.db, (...letter) => w.toOffice(...letter), who.id);
  }
  for (const { space_id, role: was } of staysOf(w, who.id)) {
    const next = event.role === "guest" ? "guest" : was === "guest" ? "member" : was;
    if (next === was) continue;
    w.append("member.role_changed", { spaceId: space_id, body: { participant_id: who.id, role: next } });
    w.db.run(
      "UPDATE stays SET role = ? WHERE space_id = ? AND participant_id = ? AND left_seq IS NULL",
      next,
      space_id,
      who.id,
    );
  }
}

export interface AgentClaim {
  name: string;
  agent_id?: string | undefined;
}

export function declare(w: Writer, event: Verb<"agent.declare">): Extras {
  return { agents: declareAgents(w, event.agents, true) };
}

/**
 * Adds agents or renames them; the same name (case aside) is the same agent (CONN-2). Without a change it
 * appends nothing. `keyed` when a verb's key is to stand on the first fact.
 */
export function declareAgents(
  w: Writer,
  claims: readonly AgentClaim[],
  keyed: boolean,
): { agent_id: string; name: string }[] {
  const harness = w.caller.participant;
  if (harness.kind !== "harness") refuse("forbidden", "Only a harness declares agents.");
  const known = agentsOf(w.db, harness.id).filter((a) => a.removed_at === null);
  const plans = claims.map((claim, index) => planOf(claim, index, known));
  const fresh = plans.filter((p) => !p.agent || p.agent.withdrawn !== 0).length;
  if (known.filter((a) => !a.withdrawn).length + fresh > MAX_DECLARED)
    refuse("invalid", `A harness declares at most ${MAX_DECLARED} agents. Withdraw some first.`);
  if (new Set(plans.map((p) => p.name.toLowerCase())).size < plans.length)
    refuse("invalid", "Two of these agents have the same name. Name each once.");
  const ids = plans.map((plan) => plan.agent?.id ?? w.clock.mint("agt"));
  const agents = plans.map((plan, i) => ({ agent_id: ids[i] ?? "", name: plan.name }));
  let first = keyed;
  const mark = () => {
    const marked = first ? { main: true as const, receipt: { agents } } : {};
    first = false;
    return marked;
  };
  for (const [i, { agent, name }] of plans.entries()) {
    const id = ids[i] ?? "";
    const body = { agent_id: id, harness_id: harness.id, name };
    if (!agent) {
      w.append("agent.declared", { body, ...mark() });
      insertParticipant(w.db, { id, kind: "agent", name, harnessId: harness.id, now: w.now });
    } else if (agent.withdrawn) {
      w.append("agent.declared", { body, ...mark() });
      w.db.run("UPDATE participants SET withdrawn = 0 WHERE id = ?", id);
      if (agent.name !== name) renameTo(w, agent, name);
    } else if (agent.name !== name) {
      const { main, receipt } = mark() as { main?: true; receipt?: Extras };
      renameTo(w, agent, name, main, receipt);
    }
  }
  return agents;
}

function planOf(claim: AgentClaim, index: number, known: readonly ParticipantRow[]) {
  const name = named(claim.name, `agents.${index}.name`);
  const sameName = known.find((a) => a.name.toLowerCase() === name.toLowerCase());
  if (claim.agent_id === undefined) return { agent: sameName, name };
  const agent = known.find((a) => a.id === claim.agent_id);
  if (!agent) refuse("forbidden", "agent_id names no agent of yours. Leave it out to declare a new one.");
  if (sameName && sameName.id !== agent.id)
    refuse("conflict", `Another of your agents is called ${name}. Choose another name.`);
  return { agent, name };
}

export function withdraw(w: Writer, event: Verb<"agent.withdraw">): void {
  const agent = participant(w.db, event.agent_id);
  if (agent?.harness_id !== w.caller.participant.id || isGone(agent))
    refuse("forbidden", "You withdraw agents that you declared.");
  withdrawAgent(w, agent, true);
}

/** An agent of the caller's is no more: what it has going ends, and it is addressed no more (ADDR-5). */
export function withdrawAgent(w: Writer, agent: ParticipantRow, main?: true): void {
  w.append("agent.withdrawn", {
    body: { agent_id: agent.id, harness_id: w.caller.participant.id },
    ...(main ? { main } : {}),
  });
  endRunsOf(w, agent.id);
  w.db.run("UPDATE participants SET withdrawn = 1 WHERE id = ?", agent.id);
  approverLost(w, agent.id);
}

export function setSettings(w: Writer, event: Verb<"settings.set">): void {
  if (!administers(w)) refuse("forbidden", "Only an owner or an admin changes the workspace's settings.");
  const settings = patchSettings(w.workspace.settings, event.settings);
  w.append("settings.changed", { body: { settings }, main: true });
  w.db.run("UPDATE workspace SET settings = ?", JSON.stringify(settings));
}
