/** Rows of the office's harness, its agents, and its runs (TEAM-2, CHAT-2). */
import type { Db } from "../../kit/db.ts";
import type { ParticipantRow } from "../types.ts";

/** The built-in harness, once the team has had people. */
export function officeHarness(db: Db): ParticipantRow | undefined {
  return db.one(
    `SELECT h.* FROM participants a INDEXED BY participants_office CROSS JOIN participants h ON h.id = a.harness_id
     WHERE a.office_handle IS NOT NULL LIMIT 1`,
  );
}

/** The agent of a person of the team, withdrawn or not: a handle is one person for ever (TEAM-3). */
export function officeAgent(db: Db, handle: string): ParticipantRow | undefined {
  return db.one("SELECT * FROM participants WHERE office_handle = ?", handle);
}

/** Everybody whom the team ever had. */
export function officeAgents(db: Db): ParticipantRow[] {
  return db.all(
    "SELECT * FROM participants INDEXED BY participants_office WHERE office_handle IS NOT NULL ORDER BY office_handle",
  );
}

/** Under which id the room has a run of an office: another than the office's, where the room had ended that one. */
export function roomRun(db: Db, officeRun: string): string {
  const row = db.one<{ run_id: string }>("SELECT run_id FROM office_runs WHERE office_run = ?", officeRun);
  return row?.run_id ?? officeRun;
}

/** By which id the office knows a run of the room. */
export function officeRun(db: Db, runId: string): string {
  const row = db.one<{ office_run: string }>("SELECT office_run FROM office_runs WHERE run_id = ?", runId);
  return row?.office_run ?? runId;
}
