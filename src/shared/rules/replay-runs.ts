import type { Exported } from "../wire/index.ts";
import type { Replay } from "./replay.ts";
import { checkCeiling, endRun, type Outcome, takeCost } from "./replay-room.ts";
import { type ReplayedSpace, spentOut } from "./replay-state.ts";
import { toMicros } from "./spend.ts";

/** A run began, reported, was stopped or ended (TURN, SPEND). */
export function replayRun(replay: Replay, space: ReplayedSpace, fact: Exported<"fact">): Outcome[] {
  const { state } = replay;
  const { body, at } = fact;
  const id = fact.run_id ?? "";
  if (fact.fact === "run.started") {
    beginRun(replay, space, fact, id);
    return [];
  }
  const run = state.runs.get(id);
  if (!run) return [];
  const cause = (body["because"] as { cause?: string } | undefined)?.cause;
  if (fact.fact === "run.stopped") {
    // What the room stopped at a ceiling it only stops where it reaches one.
    if (cause === undefined || space.pause?.cause === "spend" || space.pause?.cause === "day")
      run.stopping = true;
    return [];
  }
  const cost = body["cost_usd"];
  if (typeof cost === "number") takeCost(state, space, run, toMicros(cost), at);
  if (fact.fact === "run.used") return checkCeiling(state, space, at);
  endRun(space, run);
  space.working.delete(id);
  space.stillFrom = Math.max(space.stillFrom, Date.parse(at));
  return fact.write && cause !== "no_reply" ? checkCeiling(state, space, at) : [];
}

/** A run would not begin where the ceiling is reached, or all it took would still have been held. */
function beginRun(replay: Replay, space: ReplayedSpace, fact: Exported<"fact">, id: string): void {
  const { state, out } = replay;
  const agentId = String(fact.body["agent_id"]);
  const taken = (fact.body["message_ids"] as string[]).map((one) => state.messages.get(one));
  const held =
    taken.length > 0 &&
    taken.every((one) => one !== undefined && one.heldWould.has(agentId) && !one.heldWas.has(agentId));
  const spent = spentOut(state, space, fact.at);
  const notBegun = held || spent !== undefined;
  const harnessId = fact.actor.harness_id ?? fact.actor.id;
  const fresh = { micros: null, stopping: false, ended: false };
  state.runs.set(id, { spaceId: space.id, agentId, harnessId, ...fresh, notBegun });
  space.working.add(id);
  out.totals.runs.was += 1;
  if (!notBegun) {
    out.totals.runs.would += 1;
    return;
  }
  replay.change(fact, {
    what: "run",
    id,
    was: "began",
    would: "not begun",
    rule: spent === undefined ? "GUARD-4" : "SPEND-3",
    says:
      spent === undefined
        ? "What it took would still have been held from its agent."
        : "No turn would have been handed out: a ceiling was reached.",
  });
}
