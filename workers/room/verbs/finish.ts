/** The end of a run, by whatever path: the fact, the job, what waited for it (TURN-1, SPEND-3, APR-9). */
import type { Outcome } from "../../../src/shared/wire/index.ts";
import { startPickupClock } from "../judge/pickups.ts";
import { addUncounted } from "../judge/spend.ts";
import { endRun, run as runRow } from "../store/runs.ts";
import type { EndedBecause, RunRow } from "../types.ts";
import type { Writer } from "../writer.ts";
import { cancelAsks } from "./settle.ts";

const SYSTEM = { kind: "system", id: "system" } as const;

/** Ends a run: because of something, or because its harness says so. */
export function finishRun(w: Writer, run: RunRow, outcome: Outcome, because?: EndedBecause): void {
  const main = because === undefined || because.cause === "no_reply";
  cancelAsks(w, run.id, "run_ended");
  const cost = runRow(w.db, run.id)?.cost_micros ?? null;
  const ended = w.append("run.ended", {
    spaceId: run.space_id,
    runId: run.id,
    body: {
      agent_id: run.agent_id,
      outcome,
      ...(cost === null ? {} : { cost_usd: cost / 1_000_000 }),
      ...(because ? { because } : {}),
    },
    ...(main ? { main, receipt: { run: { state: "ended" as const } } } : { actor: SYSTEM }),
  });
  endRun(w.db, run, outcome, ended.seq, w.now);
  if (cost === null) addUncounted(w, run.space_id);
  startPickupClock(w, run.agent_id, run.space_id);
}
