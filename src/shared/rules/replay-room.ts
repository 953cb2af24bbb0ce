/** What the room does by itself, in a replay: pauses, hand-overs, sums. Each says what it did. */
import { afterAct } from "./guard.ts";
import {
  type Cause,
  dayOf,
  partiesOf,
  type ReplayedRun,
  type ReplayedSpace,
  type ReplayState,
  spentOut,
} from "./replay-state.ts";
import { countedAfterAll, jobAt, report, uncounted } from "./spend.ts";

/** What the room would have done with one fact, to be held against what it did. */
export type Outcome =
  | { kind: "paused"; spaceId: string; cause: Cause }
  | { kind: "handed"; spaceId: string; messageId: string; takers: string[] };

/** A person acted in a space (GUARD-1, GUARD-4, GUARD-5, SPEND-1). */
export function personActed(
  state: ReplayState,
  space: ReplayedSpace,
  act: { seq: number; at: string; by: string },
): Outcome[] {
  space.act = act.seq;
  space.exchange = afterAct(space.exchange, { seq: act.seq, at: Date.parse(act.at), by: act.by });
  if (space.pause?.lasting) return [];
  space.pause = undefined;
  return spentOut(state, space, act.at) === undefined ? handHeld(state, space) : [];
}

/** Each agent its newest held message, once, oldest first (GUARD-4). */
function handHeld(state: ReplayState, space: ReplayedSpace): Outcome[] {
  const byMessage = Map.groupBy([...space.held], ([, messageId]) => messageId);
  space.held = new Map();
  const ordered = [...byMessage].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ordered.flatMap(([messageId, held]) =>
    handed(
      state,
      space,
      messageId,
      held.map(([agentId]) => agentId),
    ),
  );
}

/** A hand-over to those of the takers who can still take it (NEW-9). */
export function handed(
  state: ReplayState,
  space: ReplayedSpace,
  messageId: string,
  takers: readonly string[],
): Outcome[] {
  const message = state.messages.get(messageId);
  if (!message || message.deleted) return [];
  const here = new Map(partiesOf(state, space).map((party) => [party.id, party.addressable]));
  const able = takers.filter((id) => here.get(id)).toSorted();
  if (able.length === 0) return [];
  for (const id of able) message.heldWould.delete(id);
  return [{ kind: "handed", spaceId: space.id, messageId, takers: able }];
}

/** Pauses a space's agents; one that is paused becomes lasting if this is (GUARD-5, GUARD-7, SPEND-3). */
export function pauseAgents(space: ReplayedSpace, cause: Cause, lasting: boolean): Outcome[] {
  if (space.pause && (space.pause.lasting || !lasting)) return [];
  space.pause = { cause, lasting };
  return [{ kind: "paused", spaceId: space.id, cause }];
}

/**
 * At a ceiling running turns are paused where their harness can, else stopped (SPEND-3). Only for a pause that
 * the log does not have: where it has one, the log says which were stopped.
 */
export function haltRuns(state: ReplayState, space: ReplayedSpace): void {
  for (const run of state.runs.values())
    if (run.spaceId === space.id && !run.ended && !state.canPause.has(run.harnessId)) run.stopping = true;
}

/** A run reported a total: its increase is the job's and the day's (SPEND-1). */
export function takeCost(
  state: ReplayState,
  space: ReplayedSpace,
  run: ReplayedRun,
  micros: number,
  at: string,
): void {
  const increase = micros - (run.micros ?? 0);
  const late = run.micros === null && run.ended;
  run.micros = micros;
  if (run.notBegun) return;
  const job = report(jobAt(space.job, space.act), increase);
  space.job = late ? countedAfterAll(job) : job;
  if (increase > 0) state.days.set(dayOf(at), (state.days.get(dayOf(at)) ?? 0) + increase);
}

export function endRun(space: ReplayedSpace, run: ReplayedRun): void {
  run.ended = true;
  if (run.micros === null && !run.notBegun) space.job = uncounted(jobAt(space.job, space.act));
}

/** At the ceiling the room pauses the space's agents, with the report that reaches it (SPEND-3). */
export function checkCeiling(state: ReplayState, space: ReplayedSpace, at: string): Outcome[] {
  const out = spentOut(state, space, at);
  return out === undefined ? [] : pauseAgents(space, out, out === "day");
}
