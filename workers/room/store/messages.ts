/** Words, their editions, their search entries, and what files a message carries. */
import { wordTokens } from "../../../src/shared/rules/tokens.ts";
import type { StoredAttachment } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import type { FileRef, WordsRow } from "../types.ts";

/** The newest edition of a message, or undefined where there never was one. */
export function wordsOf(db: Db, messageId: string): WordsRow | undefined {
  return db.one("SELECT * FROM messages WHERE id = ? ORDER BY edition DESC LIMIT 1", messageId);
}

export function insertWords(db: Db, row: WordsRow & { text: string }): void {
  db.run(
    "INSERT INTO messages (id, edition, seq, at, text, mentions, files) VALUES (?, ?, ?, ?, ?, ?, ?)",
    row.id,
    row.edition,
    row.seq,
    row.at,
    row.text,
    row.mentions,
    row.files,
  );
}

/** What the index holds of a text: its tokens, so that Han, Kana and Thai are found by character. */
export function indexed(text: string): string {
  return wordTokens(text).join(" ");
}

export function indexWords(db: Db, seq: number, text: string): void {
  const words = indexed(text);
  if (words) db.run("INSERT INTO words (rowid, text) VALUES (?, ?)", seq, words);
}

/** The index keeps no copy of the text, so the old one is named to take it out. */
export function unindexWords(db: Db, seq: number, text: string): void {
  const words = indexed(text);
  if (words) db.run("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", seq, words);
}

/** Takes a message's words away for good: every edition and the search entry (LOG-4). */
export function eraseWords(db: Db, words: WordsRow, at: number): void {
  if (words.text !== null) unindexWords(db, words.seq, words.text);
  db.run("DELETE FROM messages WHERE id = ?", words.id);
  db.run(
    "INSERT INTO messages (id, edition, seq, at, text, mentions, files) VALUES (?, ?, ?, ?, NULL, '[]', '[]')",
    words.id,
    words.edition + 1,
    words.seq,
    at,
  );
}

interface AttachmentRow {
  id: string;
  filename: string;
  sha256: string;
  mime_type: string;
  byte_size: number;
  width: number | null;
  height: number | null;
  duration_ms: number | null;
  transcript: string | null;
}

/** A file's facts by its attachment. */
export function attachment(db: Db, id: string): StoredAttachment | undefined {
  const row = db.one<AttachmentRow>(
    `SELECT a.id, a.filename, a.transcript, b.* FROM attachments a JOIN blobs b ON b.sha256 = a.sha256 WHERE a.id = ?`,
    id,
  );
  if (!row) return undefined;
  return {
    attachment_id: row.id,
    filename: row.filename,
    mime_type: row.mime_type,
    byte_size: row.byte_size,
    sha256: row.sha256,
    ...(row.width === null ? {} : { width: row.width }),
    ...(row.height === null ? {} : { height: row.height }),
    ...(row.duration_ms === null ? {} : { duration_ms: row.duration_ms }),
    ...(row.transcript === null ? {} : { transcript: row.transcript }),
  };
}

/** The files of a message in the order they were attached. */
export function attachmentsOf(db: Db, words: WordsRow): StoredAttachment[] {
  return (JSON.parse(words.files) as FileRef[]).flatMap(({ attachment_id, replaces }) => {
    const found = attachment(db, attachment_id);
    return found ? [{ ...found, ...(replaces === undefined ? {} : { replaces }) }] : [];
  });
}
