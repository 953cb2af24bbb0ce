/** Turns that nobody hears of any more, or that were asked to stop, are ended by the room (TURN-4, TURN-5). */

import { isWaiting } from "../store/approvals.ts";
import { agentsOf, participant } from "../store/participants.ts";
import type { RunRow } from "../types.ts";
import { finishRun } from "../verbs/finish.ts";
import type { Writer } from "../write.ts";
import { STOP_MS } from "./pause.ts";
import { startPickupClock } from "./pickups.ts";

/** A run without a word for so long has failed. */
const SILENT_FOR_GOOD_MS = 3_600_000;
/** Its harness may be away for so long. */
const GONE_MS = 10 * 60_000;

/** When the room ends a run if nothing more is heard, and as what; undefined while it waits for people. */
function endOf(
  w: Writer,
  run: RunRow,
): { at: number; outcome: "stopped" | "failed"; text: string } | undefined {
  if (run.stopping_at !== null) return { at: run.stopping_at + STOP_MS, outcome: "stopped", text: "" };
  if (run.paused !== 0 || isWaiting(w.db, run.id)) return undefined;
  const silent = {
    at: run.heard_at + SILENT_FOR_GOOD_MS,
    outcome: "failed" as const,
    text: "was not heard from for an hour",
  };
  const goneAt = participant(w.db, run.harness_id)?.gone_at;
  if (goneAt === null || goneAt === undefined) return silent;
  const gone = { at: goneAt + GONE_MS, outcome: "failed" as const, text: "lost its harness for ten minutes" };
  return gone.at < silent.at ? gone : silent;
}

/** The alarm: ends what is due and looks again at the next. */
export function endOverdueRuns(w: Writer): void {
  let next: number | undefined;
  for (const run of w.db.all<RunRow>("SELECT * FROM runs INDEXED BY runs_going WHERE ended_seq IS NULL")) {
    const end = endOf(w, run);
    if (!end) continue;
    if (end.at > w.now) {
      next = Math.min(next ?? end.at, end.at);
      continue;
    }
    finishRun(w, run, end.outcome);
    if (end.outcome === "failed") {
      const name = participant(w.db, run.agent_id)?.name ?? "An agent";
      w.append("notice.posted", {
        spaceId: run.space_id,
        body: {
          code: "run_failed",
          text: `${name} ${end.text}, so its turn was ended.`,
          about: [run.agent_id, run.id],
        },
      });
    }
  }
  if (next !== undefined) w.afterwards({ kind: "alarm", name: "runs", at: next });
}

/** A run began, goes on, or its harness went: the room will look at it in time. */
export function watchRun(w: Writer, run: RunRow): void {
  const end = endOf(w, run);
  if (end) w.afterwards({ kind: "alarm", name: "runs", at: Math.max(end.at, w.now + 1) });
}

/** A harness lost its last connection: its turns have ten minutes (TURN-5). */
export function harnessWent(w: Writer, harnessId: string): void {
  const open = w.db.one("SELECT 1 FROM runs WHERE harness_id = ? AND ended_seq IS NULL LIMIT 1", harnessId);
  if (!open) return;
  w.db.run("UPDATE participants SET gone_at = ? WHERE id = ?", w.now, harnessId);
  w.afterwards({ kind: "alarm", name: "runs", at: w.now + GONE_MS });
}

/** A harness is here again: what waits for its agents may be begun now (TURN-5, TURN-7). */
export function harnessCame(w: Writer, harnessId: string): void {
  w.db.run("UPDATE participants SET gone_at = NULL WHERE id = ? AND gone_at IS NOT NULL", harnessId);
  for (const id of [harnessId, ...agentsOf(w.db, harnessId).map((a) => a.id)]) startPickupClock(w, id);
}
