/** Spaces and stays in them. */

import { foldHandle, freeHandle, handleOf } from "../../../src/shared/rules/handles.ts";
import type { SpaceRole } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import type { ParticipantRow, SpaceRow, StayRow } from "../types.ts";

/** How long a given-up handle stays out of others' reach (ADDR-1). */
const HANDLE_REST_MS = 30 * 86_400_000;

export function space(db: Db, id: string): SpaceRow | undefined {
  return db.one("SELECT * FROM spaces WHERE id = ?", id);
}

/** Costs nothing more for a private space than for one that does not exist (ERR-3). */
export function isOpen(db: Db, id: string): boolean {
  return (
    db.one("SELECT 1 FROM spaces INDEXED BY spaces_open WHERE id = ? AND visibility = 'open'", id) !==
    undefined
  );
}

export function stay(db: Db, spaceId: string, participantId: string): StayRow | undefined {
  return db.one(
    "SELECT * FROM stays WHERE space_id = ? AND participant_id = ? AND left_seq IS NULL",
    spaceId,
    participantId,
  );
}

/** Everybody who is in a space now, by when they joined. */
export function staysIn(db: Db, spaceId: string): StayRow[] {
  return db.all(
    "SELECT * FROM stays INDEXED BY stays_space WHERE space_id = ? AND left_seq IS NULL ORDER BY joined_seq",
    spaceId,
  );
}

export type MemberRow = ParticipantRow &
  Pick<StayRow, "joined_seq" | "left_seq" | "claimed_seq" | "handle"> & { space_role: SpaceRole };

const MEMBER = `SELECT p.*, s.joined_seq, s.left_seq, s.claimed_seq, s.handle, s.role AS space_role
  FROM stays s INDEXED BY stays_space CROSS JOIN participants p ON p.id = s.participant_id
  WHERE s.space_id = ?1`;

/** Everybody in a space with who they are, by when they joined. */
export function members(db: Db, spaceId: string): MemberRow[] {
  return db.all(`${MEMBER} AND s.left_seq IS NULL ORDER BY s.joined_seq`, spaceId);
}

/** Those and all who left after a seq: {@link wereThere} chooses from them who was in the space at it or later. */
export function membersSince(db: Db, spaceId: string, seq: number): MemberRow[] {
  return db.all(
    `SELECT * FROM (${MEMBER} AND s.left_seq IS NULL UNION ALL ${MEMBER} AND s.left_seq > ?2) ORDER BY joined_seq`,
    spaceId,
    seq,
  );
}

/** Who was in the space when a seq was appended. */
export function wereThere(rows: readonly MemberRow[], seq: number): MemberRow[] {
  return rows.filter(
    (m) => (m.claimed_seq ?? m.joined_seq) < seq && (m.left_seq === null || m.left_seq > seq),
  );
}

/** The spaces that a participant is in; a harness's agents count for it. */
export function spacesOf(db: Db, participantId: string): SpaceRow[] {
  return db.all(
    `SELECT DISTINCT spaces.* FROM spaces JOIN stays ON stays.space_id = spaces.id
     WHERE stays.left_seq IS NULL AND stays.participant_id IN
       (SELECT ?1 UNION ALL SELECT id FROM participants WHERE harness_id = ?1)
     ORDER BY spaces.created_seq`,
    participantId,
  );
}

/** Whether a participant, or an agent of a harness, is in a space now. */
export function isIn(db: Db, spaceId: string, participantId: string): boolean {
  if (stay(db, spaceId, participantId)) return true;
  if (!participantId.startsWith("hrn_")) return false;
  return (
    db.one(
      `SELECT 1 FROM participants p JOIN stays s ON s.participant_id = p.id AND s.space_id = ? AND s.left_seq IS NULL
       WHERE p.harness_id = ? LIMIT 1`,
      spaceId,
      participantId,
    ) !== undefined
  );
}

/** The lead: the one set while it is in the space, else the agent that joined first (LEAD-1). */
export function leadOf(space: SpaceRow, members: readonly MemberRow[]): string | undefined {
  const agents = members.filter((m) => m.kind !== "person" && m.removed_at === null && m.withdrawn === 0);
  if (agents.length < 2) return undefined;
  return agents.find((a) => a.id === space.lead)?.id ?? agents[0]?.id;
}

/**
 * Gives somebody their handle in a space: their own from an earlier stay if nobody may have it, else the
 * first free one of their name (ADDR-1).
 */
export function takeHandle(
  db: Db,
  spaceId: string,
  who: { id: string; name: string },
  now: number,
): string | undefined {
  const base = handleOf(who.name);
  if (base === undefined) return undefined;
  const handle = freeHandle(base, (folded) => {
    const row = db.one<{ participant_id: string; released_at: number | null }>(
      "SELECT participant_id, released_at FROM handles WHERE space_id = ? AND folded = ?",
      spaceId,
      folded,
    );
    if (!row || row.participant_id === who.id) return false;
    return row.released_at === null || now - row.released_at < HANDLE_REST_MS;
  });
  db.run(
    "INSERT OR REPLACE INTO handles (space_id, folded, handle, participant_id) VALUES (?, ?, ?, ?)",
    spaceId,
    foldHandle(handle),
    handle,
    who.id,
  );
  return handle;
}

export function releaseHandle(db: Db, spaceId: string, participantId: string, now: number): void {
  db.run(
    "UPDATE handles SET released_at = ? WHERE space_id = ? AND participant_id = ? AND released_at IS NULL",
    now,
    spaceId,
    participantId,
  );
}

export function openStay(db: Db, row: Omit<StayRow, "left_seq" | "claimed_seq">, claimedSeq?: number): void {
  db.run(
    "INSERT INTO stays (space_id, participant_id, joined_seq, role, handle, claimed_seq) VALUES (?, ?, ?, ?, ?, ?)",
    row.space_id,
    row.participant_id,
    row.joined_seq,
    row.role,
    row.handle,
    claimedSeq ?? null,
  );
}

export function closeStay(db: Db, spaceId: string, participantId: string, seq: number): void {
  db.run(
    "UPDATE stays SET left_seq = ? WHERE space_id = ? AND participant_id = ? AND left_seq IS NULL",
    seq,
    spaceId,
    participantId,
  );
}
