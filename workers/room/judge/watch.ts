/** Turns that nobody hears of any more, or that were asked to stop, are ended by the room (TURN-4, TURN-5). */
import { expiryOf, GONE_MS } from "../../../src/shared/rules/turns.ts";
import { isWaiting } from "../store/approvals.ts";
import { agentsOf, participant } from "../store/participants.ts";
import { noteHeard } from "../store/runs.ts";
import type { EndedBecause, RunRow } from "../types.ts";
import { finishRun } from "../verbs/finish.ts";
import type { Writer } from "../writer.ts";
import { STOP_MS } from "./pause.ts";
import { startPickupClock } from "./pickups.ts";

/** When the room ends a run if nothing more is heard, and as what; undefined while it waits for people. */
function endOf(
  w: Writer,
  run: RunRow,
): { at: number; outcome: "stopped" | "failed"; cause: EndedBecause["cause"]; text: string } | undefined {
  if (run.stopping_at !== null)
    return { at: run.stopping_at + STOP_MS, outcome: "stopped", cause: "stopped", text: "" };
  if (run.paused !== 0 || isWaiting(w.db, run.id)) return undefined;
  const goneAt = participant(w.db, run.harness_id)?.gone_at ?? undefined;
  const turn = {
    started_at: run.started_at,
    heard_at: run.heard_at,
    paused: false,
    waiting: false,
    ended: false,
  };
  const at = expiryOf(turn, goneAt);
  const gone = at < expiryOf(turn, undefined);
  const text = gone ? "lost its harness for ten minutes" : "was not heard from for an hour";
  return { at, outcome: "failed", cause: gone ? "gone" : "silent", text };
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
    finishRun(w, run, end.outcome, { cause: end.cause });
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
  const waited = w.db
    .all<RunRow>("SELECT * FROM runs WHERE harness_id = ? AND ended_seq IS NULL", harnessId)
    .filter((run) => isWaiting(w.db, run.id));
  w.db.run("UPDATE participants SET gone_at = NULL WHERE id = ? AND gone_at IS NOT NULL", harnessId);
  // What people decided meanwhile is sent now, so the clocks of its turns start anew (TURN-5).
  for (const run of waited) {
    if (isWaiting(w.db, run.id)) continue;
    noteHeard(w.db, run.id, w.now);
    watchRun(w, { ...run, heard_at: w.now });
  }
  for (const id of [harnessId, ...agentsOf(w.db, harnessId).map((a) => a.id)]) startPickupClock(w, id);
}
