/** What belongs to an item beside its rounds: journal, feedback, references, threads, history. */
import type { OfferFeedback } from "../../../src/shared/wire/agent/index.ts";
import type { Db } from "../../kit/db.ts";
import type { ItemRef, Ref, Thread } from "../letters.ts";
import type { Trigger } from "./items.ts";

export interface JournalRow {
  n: number;
  item: string;
  round: number;
  at: number;
  author: string;
  text: string;
}
export interface FeedbackRow {
  n: number;
  item: string;
  key: string;
  /** The round that was offered it; null: none yet. */
  round: number | null;
  event: string;
  /** Of the wake that brought it: what a round that it makes is. */
  kind: string;
  trigger: Trigger;
  /** The room's message that it is, which a run answers (CHAT-2). */
  room_space: string | null;
  room_message: string | null;
  feedback: string;
  /** JSON `Author`: who gave it (CTX-7). */
  author: string | null;
}
export interface HistoryRow {
  at: number;
  by: string;
  was: string | null;
  became: string;
  why: string;
}

export function addJournal(
  db: Db,
  line: { item: string; round: number; at: number; author: string; text: string },
): number {
  db.run(
    "INSERT INTO journal (item, round, at, author, text) VALUES (?, ?, ?, ?, ?)",
    line.item,
    line.round,
    line.at,
    line.author,
    line.text,
  );
  return db.one<{ n: number }>("SELECT last_insert_rowid() AS n")?.n ?? 0;
}

/** The journal from its newest end, as far as it is read. */
export function journalBackwards(db: Db, item: string): IterableIterator<JournalRow> {
  return db.each<JournalRow>("SELECT * FROM journal WHERE item = ? ORDER BY n DESC", item);
}

export function latestLine(db: Db, item: string, author: string): JournalRow | undefined {
  return db.one<JournalRow>(
    "SELECT * FROM journal WHERE item = ? AND author = ? ORDER BY n DESC LIMIT 1",
    item,
    author,
  );
}

/** Adds feedback that no round was offered yet; false when the key was taken in before (PIPE-3). */
export function addFeedback(
  db: Db,
  row: Omit<FeedbackRow, "n" | "round" | "feedback">,
  body: OfferFeedback,
): boolean {
  return (
    db.run(
      `INSERT INTO feedback (item, key, event, kind, trigger, room_space, room_message, feedback, author)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      row.item,
      row.key,
      row.event,
      row.kind,
      row.trigger,
      row.room_space,
      row.room_message,
      JSON.stringify(body),
      row.author,
    ) > 0
  );
}

/** What no round was offered yet, oldest first. */
export function pendingFeedback(db: Db, item: string): FeedbackRow[] {
  return db.all<FeedbackRow>("SELECT * FROM feedback WHERE item = ? AND round IS NULL ORDER BY n", item);
}

/** The roles in the contract's order of precedence (OFFER-8). */
const ROLES: readonly ItemRef["role"][] = [
  "trigger",
  "subject",
  "created",
  "attached",
  "mentioned",
  "inferred",
  "linked",
];

/** Adds what an item refers to; of two roles the first in the contract's order stays. Hands back what is new. */
export function addRefs(db: Db, item: string, refs: readonly ItemRef[]): ItemRef[] {
  const fresh: ItemRef[] = [];
  for (const ref of refs) {
    const stands = db.one<{ role: ItemRef["role"]; title: string | null; url: string | null }>(
      "SELECT role, title, url FROM refs WHERE item = ? AND type = ? AND ref = ?",
      item,
      ref.type,
      ref.ref,
    );
    if (!stands) fresh.push(ref);
    const keeps = stands !== undefined && ROLES.indexOf(stands.role) <= ROLES.indexOf(ref.role);
    if (keeps) {
      if ((ref.title && ref.title !== stands.title) || (ref.url && ref.url !== stands.url))
        db.run(
          "UPDATE refs SET title = coalesce(?, title), url = coalesce(?, url) WHERE item = ? AND type = ? AND ref = ?",
          ref.title ?? null,
          ref.url ?? null,
          item,
          ref.type,
          ref.ref,
        );
      continue;
    }
    db.run(
      "INSERT OR REPLACE INTO refs (item, type, ref, role, source, added_at, title, url) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      item,
      ref.type,
      ref.ref,
      ref.role,
      ref.source,
      ref.addedAt ?? null,
      ref.title ?? stands?.title ?? null,
      ref.url ?? stands?.url ?? null,
    );
  }
  return fresh;
}

interface RefRow {
  type: Ref["type"];
  ref: string;
  role: ItemRef["role"];
  source: string;
  added_at: string | null;
  title: string | null;
  url: string | null;
}

export function refsOf(db: Db, item: string): ItemRef[] {
  return db
    .all<RefRow>("SELECT * FROM refs WHERE item = ? ORDER BY added_at, type, ref", item)
    .map((row) => ({
      type: row.type,
      ref: row.ref,
      role: row.role,
      source: row.source,
      ...(row.added_at === null ? {} : { addedAt: row.added_at }),
      ...(row.title === null ? {} : { title: row.title }),
      ...(row.url === null ? {} : { url: row.url }),
    }));
}

/** Links a thread to an item: its end is told there too (REPORT-3). */
export function addThread(db: Db, item: string, thread: Thread): void {
  const { channel, thread: of, requester, direct, participant } = thread;
  db.run(
    "INSERT OR REPLACE INTO threads (channel, thread, item, body) VALUES (?, ?, ?, ?)",
    channel,
    of,
    item,
    JSON.stringify({ channel, thread: of, requester, direct, participant }),
  );
}

/** Every thread that is linked to an item now. */
export function threadsOf(db: Db, item: string): Thread[] {
  return db
    .all<{ body: string }>("SELECT body FROM threads WHERE item = ? ORDER BY channel, thread", item)
    .map((row) => JSON.parse(row.body) as Thread);
}

export function historyOf(db: Db, item: string): HistoryRow[] {
  return db.all<HistoryRow>("SELECT at, by, was, became, why FROM history WHERE item = ? ORDER BY n", item);
}

/** Whether a frame with this text was taken for an item before; if not it is now (OFF-8). */
export function wasSaid(db: Db, item: string, kind: string, frame: { id: string; hash: string }): boolean {
  return (
    db.run(
      "INSERT INTO said (item, frame, kind, hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      item,
      frame.id,
      kind,
      frame.hash,
    ) === 0
  );
}

/** A round's lines of progress need not be known once it ended: only the last is kept, and none is taken any more. */
export function forgetProgress(db: Db, item: string): void {
  db.run("DELETE FROM said WHERE item = ? AND kind = 'progress'", item);
}
