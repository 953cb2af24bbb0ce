/** Rows of people, harnesses and agents. */
import type { Db } from "../../kit/db.ts";
import type { ParticipantRow, Workspace } from "../types.ts";

export function participant(db: Db, id: string): ParticipantRow | undefined {
  return db.one("SELECT * FROM participants WHERE id = ?", id);
}

/** Every agent that a harness ever declared, the withdrawn included, in the order of declaring. */
export function agentsOf(db: Db, harnessId: string): ParticipantRow[] {
  return db.all("SELECT * FROM participants WHERE harness_id = ? ORDER BY created_at, id", harnessId);
}

/** A harness that has declared no agent is told of every agent as a harness (SPACE-5). */
export function hasDeclared(db: Db, harnessId: string): boolean {
  return db.one("SELECT 1 FROM participants WHERE harness_id = ? LIMIT 1", harnessId) !== undefined;
}

export function isGone(row: ParticipantRow): boolean {
  return row.removed_at !== null || row.withdrawn !== 0;
}

export interface NewParticipant {
  id: string;
  kind: ParticipantRow["kind"];
  name: string;
  role?: string;
  harnessId?: string;
  /** The person of the team that it is (TEAM-2). */
  officeHandle?: string;
  now: number;
}

export function insertParticipant(db: Db, made: NewParticipant): void {
  db.run(
    `INSERT INTO participants (id, kind, name, role, harness_id, office_handle, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    made.id,
    made.kind,
    made.name,
    made.role ?? null,
    made.harnessId ?? null,
    made.officeHandle ?? null,
    made.now,
  );
}

export function owners(db: Db): ParticipantRow[] {
  return db.all("SELECT * FROM participants WHERE kind = 'person' AND role = 'owner' AND removed_at IS NULL");
}

export function workspaceOf(db: Db): Workspace {
  const row = db.one<{ id: string; name: string; created_at: number; settings: string }>(
    "SELECT * FROM workspace",
  );
  if (!row) throw new Error("this object has no workspace");
  return { ...row, settings: JSON.parse(row.settings) };
}
