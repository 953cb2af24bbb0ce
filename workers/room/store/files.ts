/** A space's files by name, in versions (FILE-1), and what happens to bytes that nothing carries any more. */

import type { Db } from "../../kit/db.ts";
import { notFound } from "../../kit/result.ts";
import type { FileRef, LogRow, ParticipantRow } from "../types.ts";
import type { Writer } from "../writer.ts";

export interface FileRow {
  space_id: string;
  name: string;
  version: number;
  attachment_id: string;
  message_id: string;
  seq: number;
  by: string;
  at: number;
  replaces: string | null;
  superseded_seq: number | null;
}

/**
 * What a post may carry: the sender's own uploads, and files of spaces that it can read (ATT-5). A `replaces`
 * that is no version of that name here is dropped (FILE-1).
 */
export function checkFiles(
  w: Writer,
  spaceId: string,
  files: readonly { attachment_id: string; replaces?: string | undefined }[],
): FileRef[] {
  return files.map(({ attachment_id, replaces }) => {
    if (!mayUse(w.db, w.caller.participant, attachment_id)) notFound("attachment");
    const row = w.db.one<{ filename: string }>(
      "SELECT filename FROM attachments WHERE id = ?",
      attachment_id,
    );
    const made =
      replaces !== undefined &&
      w.db.one(
        "SELECT 1 FROM files WHERE space_id = ? AND name = ? AND attachment_id = ?",
        spaceId,
        row?.filename ?? "",
        replaces,
      ) !== undefined;
    return { attachment_id, ...(made ? { replaces } : {}) };
  });
}

/**
 * Whether somebody may see a message that carries an attachment, or uploaded it (ATT-5). Each question starts from
 * the asker's own rows: what is not theirs to see costs as many as what does not exist (ERR-3).
 */
export function mayUse(db: Db, who: ParticipantRow, attachmentId: string): boolean {
  const uploaded = "SELECT 1 FROM attachments INDEXED BY attachments_by WHERE uploaded_by = ? AND id = ?";
  if (db.one(uploaded, who.id, attachmentId)) return true;
  const here = db.one(
    `SELECT 1 FROM stays CROSS JOIN attachment_uses u ON u.attachment_id = ?2 AND u.space_id = stays.space_id
     WHERE stays.left_seq IS NULL AND stays.participant_id IN
       (SELECT ?1 UNION ALL SELECT id FROM participants WHERE harness_id = ?1) LIMIT 1`,
    who.id,
    attachmentId,
  );
  if (here || who.kind !== "person" || who.role === "guest") return here !== undefined;
  // A member of the workspace reads its open spaces (SPACE-6).
  return (
    db.one(
      `SELECT 1 FROM spaces INDEXED BY spaces_open
       CROSS JOIN attachment_uses u ON u.attachment_id = ? AND u.space_id = spaces.id
       WHERE spaces.visibility = 'open' LIMIT 1`,
      attachmentId,
    ) !== undefined
  );
}

/** Notes what a message carries; other bytes under a known name are its next version (FILE-1). */
export function carryFiles(w: Writer, row: LogRow, messageId: string, files: readonly FileRef[]): void {
  const spaceId = row.space_id ?? "";
  for (const { attachment_id, replaces } of files) {
    w.db.run(
      "INSERT OR IGNORE INTO attachment_uses (attachment_id, space_id, message_id) VALUES (?, ?, ?)",
      attachment_id,
      spaceId,
      messageId,
    );
    const now = w.db.one<{ filename: string; sha256: string }>(
      "SELECT filename, sha256 FROM attachments WHERE id = ?",
      attachment_id,
    );
    if (!now) continue;
    const current = w.db.one<FileRow & { sha256: string }>(
      `SELECT f.*, a.sha256 FROM files f JOIN attachments a ON a.id = f.attachment_id
       WHERE f.space_id = ? AND f.name = ? ORDER BY f.version DESC LIMIT 1`,
      spaceId,
      now.filename,
    );
    if (current?.sha256 === now.sha256) continue;
    if (current)
      w.db.run(
        "UPDATE files SET superseded_seq = ? WHERE space_id = ? AND name = ? AND version = ?",
        row.seq,
        spaceId,
        now.filename,
        current.version,
      );
    w.db.run(
      "INSERT INTO files (space_id, name, version, attachment_id, message_id, seq, by, at, replaces) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      spaceId,
      now.filename,
      (current?.version ?? 0) + 1,
      attachment_id,
      messageId,
      row.seq,
      row.actor_id,
      row.at,
      replaces ?? null,
    );
  }
}

/** Undoes {@link carryFiles} for a deleted message; bytes that nothing else carries are to be deleted (LOG-4). */
export function dropFiles(w: Writer, spaceId: string, messageId: string, files: readonly FileRef[]): void {
  for (const { attachment_id } of files) {
    w.db.run(
      "DELETE FROM attachment_uses WHERE attachment_id = ? AND message_id = ?",
      attachment_id,
      messageId,
    );
    const name = w.db.one<{ filename: string }>(
      "SELECT filename FROM attachments WHERE id = ?",
      attachment_id,
    )?.filename;
    if (name !== undefined) dropVersion(w, spaceId, messageId, name);
    forgetUnused(w, attachment_id);
  }
}

function dropVersion(w: Writer, spaceId: string, messageId: string, name: string): void {
  const gone = w.db.one<FileRow>(
    "SELECT * FROM files WHERE space_id = ? AND name = ? AND message_id = ?",
    spaceId,
    name,
    messageId,
  );
  if (!gone) return;
  const heir = heirOf(w.db, gone);
  if (heir)
    w.db.run(
      `UPDATE files SET attachment_id = ?, message_id = ?, seq = ?, by = ?, at = ?, replaces = NULL
       WHERE space_id = ? AND name = ? AND version = ?`,
      heir.attachment_id,
      heir.message_id,
      heir.seq,
      heir.by,
      heir.at,
      spaceId,
      name,
      gone.version,
    );
  else
    w.db.run(
      "DELETE FROM files WHERE space_id = ? AND name = ? AND version = ?",
      spaceId,
      name,
      gone.version,
    );
  // The version before it is followed by what took or followed the deleted one's place.
  const before = w.db.one<FileRow>(
    "SELECT * FROM files WHERE space_id = ? AND name = ? AND version < ? ORDER BY version DESC LIMIT 1",
    spaceId,
    name,
    gone.version,
  );
  if (before)
    w.db.run(
      "UPDATE files SET superseded_seq = ? WHERE space_id = ? AND name = ? AND version = ?",
      heir?.seq ?? gone.superseded_seq,
      spaceId,
      name,
      before.version,
    );
}

/** The first message that carries a version's bytes under its name, too: posting them again made no version. */
function heirOf(
  db: Db,
  of: FileRow,
): Pick<FileRow, "attachment_id" | "message_id" | "seq" | "by" | "at"> | undefined {
  return db.one(
    `SELECT u.attachment_id, u.message_id, log.seq, log.actor_id AS by, log.at
     FROM attachments own JOIN attachments a ON a.sha256 = own.sha256 AND a.filename = own.filename
     JOIN attachment_uses u ON u.attachment_id = a.id AND u.space_id = ?2
     JOIN messages m ON m.id = u.message_id AND m.edition = 1 JOIN log ON log.seq = m.seq
     WHERE own.id = ?1 AND log.seq > ?3 AND log.seq < ?4 ORDER BY log.seq LIMIT 1`,
    of.attachment_id,
    of.space_id,
    of.seq,
    of.superseded_seq ?? Number.MAX_SAFE_INTEGER,
  );
}

function forgetUnused(w: Writer, attachmentId: string): void {
  if (w.db.one("SELECT 1 FROM attachment_uses WHERE attachment_id = ? LIMIT 1", attachmentId)) return;
  const row = w.db.one<{ sha256: string }>("SELECT sha256 FROM attachments WHERE id = ?", attachmentId);
  if (!row) return;
  w.db.run("DELETE FROM attachments WHERE id = ?", attachmentId);
  if (w.db.one("SELECT 1 FROM attachments WHERE sha256 = ? LIMIT 1", row.sha256)) return;
  const blob = w.db.one<{ r2_key: string }>("SELECT r2_key FROM blobs WHERE sha256 = ?", row.sha256);
  w.db.run("DELETE FROM blobs WHERE sha256 = ?", row.sha256);
  if (!blob) return;
  w.db.run("INSERT OR REPLACE INTO bucket_debts (r2_key, due_at) VALUES (?, ?)", blob.r2_key, w.now);
  w.afterwards({ kind: "alarm", name: "bucket", at: w.now });
}

/** The newest files of a space at their current version, as of a seq when one is given (WIN-5). */
export function currentFiles(db: Db, spaceId: string, limit: number, asOf?: number): FileRow[] {
  if (asOf === undefined)
    return db.all(
      "SELECT * FROM files WHERE space_id = ? AND superseded_seq IS NULL ORDER BY seq DESC, name LIMIT ?",
      spaceId,
      limit,
    );
  return db.all(
    `SELECT * FROM (
       SELECT * FROM files WHERE space_id = ?1 AND superseded_seq IS NULL AND seq <= ?2
       UNION ALL
       SELECT * FROM files WHERE space_id = ?1 AND superseded_seq > ?2 AND seq <= ?2
     ) ORDER BY seq DESC, name LIMIT ?3`,
    spaceId,
    asOf,
    limit,
  );
}

/** One name's versions, newest first, from below a version (FILE-2). */
export function versionsOf(db: Db, spaceId: string, name: string, below: number, limit: number): FileRow[] {
  return db.all(
    "SELECT * FROM files WHERE space_id = ? AND name = ? AND version < ? ORDER BY version DESC LIMIT ?",
    spaceId,
    name,
    below,
    limit,
  );
}
