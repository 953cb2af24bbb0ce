/** Runs: which turns are going, and when the last ones ended. */
import { type TurnState, turnState } from "../../../src/shared/rules/turns.ts";
import type { Db } from "../../kit/db.ts";
import type { RunRow } from "../types.ts";
import { isWaiting } from "./approvals.ts";

/** How a run stands (TURN-5): what waits for people or is paused is not working. */
export function stateOf(db: Db, row: RunRow, now: number): TurnState {
  return turnState(
    {
      started_at: row.started_at,
      heard_at: row.heard_at,
      paused: row.paused !== 0,
      waiting: row.ended_seq === null && isWaiting(db, row.id),
      ended: row.ended_seq !== null,
    },
    now,
  );
}

export function run(db: Db, id: string): RunRow | undefined {
  return db.one("SELECT * FROM runs WHERE id = ?", id);
}

/** As it is told: a silent run shows as waiting, since nobody knows that it works (TURN-5). */
export function shownState(state: TurnState): "working" | "waiting" | "paused" | "ended" {
  return state === "silent" || state === "expired" ? "waiting" : state;
}

/** The messages that a run took, newest last: as its first fact has them. */
export function messagesOf(db: Db, row: RunRow): string[] {
  const started = db.one<{ body: string }>("SELECT body FROM log WHERE seq = ?", row.started_seq);
  return started ? (JSON.parse(started.body) as { message_ids: string[] }).message_ids : [];
}

export function openRuns(db: Db, spaceId: string): RunRow[] {
  return db.all("SELECT * FROM runs WHERE space_id = ? AND ended_seq IS NULL ORDER BY started_seq", spaceId);
}

/** The turns that count as going: heard from within ten minutes, and not waiting (NOTE-3, TURN-5). */
export function workingRuns(db: Db, spaceId: string, now: number): RunRow[] {
  return openRuns(db, spaceId).filter((row) => stateOf(db, row, now) === "working");
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
