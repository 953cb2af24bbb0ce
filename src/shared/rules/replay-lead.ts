import type { Exported } from "../wire/index.ts";
import { stillAt } from "./lead.ts";
import type { Replay } from "./replay.ts";
import { leadIn, spentOut } from "./replay-state.ts";

/**
 * Whether the lead is handed what was nobody's only by the settings that are tried (LEAD-2): then the log has no
 * hand-over to go by. How long the room was still is seen in it but for who was typing.
 */
export function leadIsNew({ recorded, state }: Replay): boolean {
  return recorded.lead.still_s === null && state.settings.lead.still_s !== null;
}

/** Hands over what the lead would have been handed before this fact. */
export function replayStillness(replay: Replay, fact: Exported<"fact">): void {
  if (!leadIsNew(replay)) return;
  const { state } = replay;
  const stillMs = (state.settings.lead.still_s ?? 0) * 1000;
  for (const space of state.spaces.values()) {
    if (space.unclaimed.length === 0) continue;
    const due = stillAt({ postedAt: space.stillFrom, workingRuns: space.working.size }, stillMs);
    if (due === undefined || due > Date.parse(fact.at)) continue;
    const waiting = space.unclaimed.map((id) => state.messages.get(id));
    space.unclaimed = [];
    const lead = leadIn(state, space);
    if (lead === undefined || space.pause || spentOut(state, space, fact.at) !== undefined) continue;
    for (const message of waiting) {
      if (!message || message.deleted) continue;
      replay.out.totals.handed.would += 1;
      replay.change(message.fact, {
        what: "handed",
        id: message.id,
        was: "nobody's",
        would: `handed to ${lead}`,
        rule: "LEAD-2",
        says: "It was nobody's turn, so the lead would have been handed it once the room was still.",
      });
    }
  }
}
