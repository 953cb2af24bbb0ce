/** What the guard, the job and the lead make of a message: decided before it is appended, carried out after. */
import type { Addressees } from "../../../src/shared/rules/addressing.ts";
import { tellBoard, tellOverheard } from "../office/chat.ts";
import { leadOf, type MemberRow } from "../store/spaces.ts";
import type { LogRow, PostedBody, RunRow, SpaceRow } from "../types.ts";
import type { Writer } from "../writer.ts";
import { endPause, personActed } from "./acts.ts";
import { type Judged, judgeAgentMessage, pauseOf, type Said } from "./exchange.ts";
import { pauseAgents } from "./pause.ts";
import { awaitPickup, pickedUp } from "./pickups.ts";
import { sinceOf, turnsNow } from "./since.ts";
import { jobOf, spendFacts, spentOut } from "./spend.ts";
import { watchStillness } from "./stillness.ts";

const SYSTEM = { kind: "system", id: "system" } as const;

export interface Posting {
  space: SpaceRow;
  here: readonly MemberRow[];
  decided: Addressees;
  run: RunRow | undefined;
  said: Said;
}

export type Decision = Pick<
  PostedBody,
  | "addressed_to"
  | "why"
  | "held"
  | "held_from"
  | "turns"
  | "since"
  | "exchange"
  | "spend"
  | "unreachable"
  | "after_stop"
  | "made"
  | "repeat"
  | "guard"
  | "shut"
>;

/** Whom a message goes to after the guard, the ceilings and the pauses have had their say. */
export function decidePost(w: Writer, of: Posting): { facts: Decision; judged: Judged } {
  const { space, here, decided, run } = of;
  const byPerson = w.caller.participant.kind === "person";
  // After a stop the run's words are for nobody (TURN-4).
  const stopping = run !== undefined && run.stopping_at !== null;
  const wanted = stopping ? [] : decided.addressed_to;
  if (byPerson) liftSpentPause(w, space.id);
  else if (wanted.length > 0) pauseAtCeiling(w, space.id);
  const shut = byPerson && wanted.length > 0 ? shutBy(w, space.id) : undefined;
  const judged: Judged = byPerson
    ? { held: shut !== undefined, pause: false, kept: shut === undefined ? {} : { shut } }
    : judgeAgentMessage(w, space.id, of.said, wanted.length > 0);
  const goesTo = judged.held ? [] : wanted;
  // A person's own message already shows its new job (SPEND-1); its seq is known once it is appended.
  const job = byPerson ? { since_seq: nextSeq(w), spent_micros: 0, uncounted: 0 } : jobOf(w.db, space.id);
  const facts: Decision = {
    addressed_to: goesTo,
    why: decided.rule,
    ...turnsNow(w, space.id),
    ...sinceOf(w, space.id, here, wanted),
    ...(wanted.length > 0 ? spendFacts(w, space.id, job) : {}),
    ...(judged.exchange ? { exchange: judged.exchange } : {}),
    ...(judged.held ? { held: true as const, held_from: wanted } : {}),
    ...(decided.unreachable.length > 0 ? { unreachable: decided.unreachable } : {}),
    ...(stopping && decided.addressed_to.length > 0 ? { after_stop: decided.addressed_to } : {}),
    ...judged.kept,
  };
  return { facts, judged };
}

function nextSeq(w: Writer): number {
  return (w.db.one<{ seq: number | null }>("SELECT max(seq) AS seq FROM log")?.seq ?? 0) + 1;
}

/** A hand-out is a place where the ceilings are looked at, also one that another space has reached (SPEND-3). */
function pauseAtCeiling(w: Writer, spaceId: string): void {
  if (pauseOf(w.db, spaceId)) return;
  const out = spentOut(w, spaceId);
  if (out) pauseAgents(w, spaceId, out, out === "day");
}

/** Why even a person's words wait, if so: a lasting pause, or the day's ceiling (GUARD-5, SPEND-5). */
function shutBy(w: Writer, spaceId: string): PostedBody["shut"] {
  if (pauseOf(w.db, spaceId)?.lasting === 1) return "pause";
  return spentOut(w, spaceId) === "day" ? "day" : undefined;
}

/** A day's pause ends with the day, or when the ceiling was raised. */
function liftSpentPause(w: Writer, spaceId: string): void {
  if (pauseOf(w.db, spaceId)?.cause === "day" && spentOut(w, spaceId) !== "day")
    endPause(w, spaceId, { by: "day" });
}

/** Carries out what {@link decidePost} decided, once the message stands in the log. */
export function afterPost(
  w: Writer,
  of: Posting,
  row: LogRow,
  { facts, judged }: ReturnType<typeof decidePost>,
): void {
  const { space, here, said } = of;
  const byPerson = w.caller.participant.kind === "person";
  for (const agentId of facts.held_from ?? [])
    w.db.run(
      "INSERT OR REPLACE INTO held (space_id, agent_id, message_id) VALUES (?, ?, ?)",
      space.id,
      agentId,
      said.messageId,
    );
  const delivered = { space, here, messageId: said.messageId, takers: facts.addressed_to, delivery: row };
  tellBoard(w, delivered);
  tellOverheard(w, delivered);
  if (byPerson) {
    personActed(w, space.id, row);
    if (judged.held) tellHeld(w, space.id);
    const lead = leadOf(space, here);
    if (facts.why === "nobody" && lead !== undefined) watchStillness(w, space.id, row.seq);
    return;
  }
  pickedUp(w, space.id, w.actor.id);
  // What an office takes in counts as picked up, and the letter sees to that it does (TURN-7, CHAT-2).
  for (const agentId of facts.addressed_to)
    if (here.find((m) => m.id === agentId)?.office_handle === null)
      awaitPickup(w, space.id, said.messageId, agentId);
  if (judged.pause) pauseAgents(w, space.id, "guard", false);
}

/** Says once a pause that people's words wait as well (GUARD-5). */
function tellHeld(w: Writer, spaceId: string): void {
  const pause = pauseOf(w.db, spaceId);
  if (!pause) return pauseForDay(w, spaceId);
  if (pause.told !== 0) return;
  w.db.run("UPDATE pauses SET told = 1 WHERE space_id = ?", spaceId);
  w.append("notice.posted", {
    spaceId,
    actor: SYSTEM,
    body: {
      code: "held_by_pause",
      text: "The agents here are paused until somebody resumes them: messages for them wait.",
      about: [],
    },
  });
}

function pauseForDay(w: Writer, spaceId: string): void {
  pauseAgents(w, spaceId, "day", true);
}
