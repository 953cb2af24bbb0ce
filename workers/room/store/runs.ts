/** Runs: which turns are going, and when the last ones ended. */
import type { Db } from "../../kit/db.ts";
import type { RunRow } from "../types.ts";

/** After this long without a word a run stops counting as working (TURN-5). */
export const SILENT_MS = 10 * 60_000;

export function run(db: Db, id: string): RunRow | undefined {
  return db.one("SELECT * FROM runs WHERE id = ?", id);
}

export function openRuns(db: Db, spaceId: string): RunRow[] {
  return db.all("SELECT * FROM runs WHERE space_id = ? AND ended_seq IS NULL ORDER BY started_seq", spaceId);
}

/** The turns that count as going: heard from within ten minutes (NOTE-3). */
export function workingRuns(db: Db, spaceId: string, now: number): RunRow[] {
  return openRuns(db, spaceId).filter((run) => now - run.heard_at < SILENT_MS);
}

export function noteHeard(db: Db, runId: string, now: number): void {
  db.run("UPDATE runs SET heard_at = ? WHERE id = ?", now, runId);
}

/** Ends a run; the caller has appended `run.ended` as `seq`. */
export function endRun(db: Db, run: RunRow, outcome: string, seq: number, now: number): void {
  db.run("UPDATE runs SET ended_seq = ?, ended_at = ?, outcome = ? WHERE id = ?", seq, now, outcome, run.id);
  db.run(
    "INSERT OR REPLACE INTO last_turns (space_id, agent_id, ended_at) VALUES (?, ?, ?)",
    run.space_id,
    run.agent_id,
    now,
  );
}

export function lastTurns(db: Db, spaceId: string): { agent_id: string; ended_at: number }[] {
  return db.all("SELECT agent_id, ended_at FROM last_turns WHERE space_id = ?", spaceId);
}
