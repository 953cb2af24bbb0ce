/**
 * Letters between objects: written down in the sender's transaction, delivered at least once in the order of
 * writing, taken in once by number (design: objects talk by RPC through outboxes).
 */
import type { Alarms } from "./alarms.ts";
import type { Db } from "./db.ts";
import { Refused } from "./result.ts";

/** `AUTOINCREMENT`: a number is never given again, also when the newest letter was delivered and is gone. */
export const OUTBOX_TABLES = `
CREATE TABLE outbox (
  n INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_target ON outbox (target, n);
CREATE TABLE outbox_waits (target TEXT PRIMARY KEY, tries INTEGER NOT NULL, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE inbox (
  source TEXT PRIMARY KEY, n INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE inbox_aside (
  source TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (source, n)
) STRICT`;

/** One letter as it travels. `kind` and `body` are the two objects' own affair. */
export interface Letter {
  n: number;
  kind: string;
  body: unknown;
}

/** The alarm's name: the object's `alarm()` calls {@link Outbox.drain} for it. */
export const OUTBOX_ALARM = "outbox";
/** Letters of one call: a receiver's transaction stays short, and the call far below what RPC carries (32 MiB). */
const BATCH = 50;
const BATCH_BYTES = 4_000_000;
/** How often a letter whose taking throws is tried: some two minutes, as {@link OutboxNeeds.send} backs off. */
const TRIES = 8;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 60_000;

export interface Outbox {
  /**
   * Writes a letter down, inside the caller's transaction. Nothing is sent and no alarm is set yet: one that was
   * set in a transaction that is undone would be gone, and its time still remembered.
   */
  post(target: string, kind: string, body: object): void;
  /**
   * Sends what waits, target by target, each in order. Call it in the same turn as the commit, so that both are
   * durable together, and from the alarm. Resolves once what waited was taken, or could not be sent.
   */
  drain(): Promise<void>;
}

export interface OutboxNeeds {
  db: Db;
  alarms: Alarms;
  now(): number;
  /** Hands letters over; whether the receiver has taken them all for good. What was not is sent again. */
  send(target: string, letters: Letter[]): Promise<boolean>;
  /** What became of a letter, once it was delivered: still before it is struck out. */
  delivered?(target: string, letter: Letter): void;
  fault(error: unknown): void;
}

export function openOutbox(need: OutboxNeeds): Outbox {
  const { db, alarms } = need;
  const sending = new Map<string, Promise<void>>();

  /** Whoever drains while letters are under way waits for those and for its own, which follow them. */
  const drainOne = async (target: string): Promise<void> => {
    const under = sending.get(target);
    if (under) return under;
    const done = Promise.withResolvers<void>();
    sending.set(target, done.promise);
    try {
      for (;;) {
        const letters = batchFor(db, target);
        const last = letters.at(-1);
        if (last === undefined) return;
        // Should this object die while it waits, the alarm sends again.
        wait(target, 0);
        if (!(await need.send(target, letters))) throw new Error("a letter was not taken");
        for (const letter of letters) need.delivered?.(target, letter);
        db.run("DELETE FROM outbox WHERE target = ? AND n <= ?", target, last.n);
        db.run("DELETE FROM outbox_waits WHERE target = ?", target);
      }
    } catch (error) {
      need.fault(error);
      const tries =
        db.one<{ tries: number }>("SELECT tries FROM outbox_waits WHERE target = ?", target)?.tries ?? 0;
      wait(target, tries + 1);
    } finally {
      // In the turn that found no more letters: one that is written later finds nobody under way.
      sending.delete(target);
      done.resolve();
    }
  };

  const wait = (target: string, tries: number): void => {
    const due = need.now() + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries, 10));
    db.run(
      "INSERT INTO outbox_waits (target, tries, due_at) VALUES (?1, ?2, ?3) ON CONFLICT (target) DO UPDATE SET tries = max(?2, tries), due_at = ?3",
      target,
      tries,
      due,
    );
    alarms.by(OUTBOX_ALARM, due);
  };

  return {
    post(target, kind, body) {
      db.run("INSERT INTO outbox (target, kind, body) VALUES (?, ?, ?)", target, kind, JSON.stringify(body));
    },
    async drain() {
      const targets = db.all<{ target: string }>("SELECT DISTINCT target FROM outbox");
      await Promise.all(targets.map(({ target }) => drainOne(target)));
      const next = db.one<{ due: number | null }>("SELECT min(due_at) AS due FROM outbox_waits")?.due;
      // One whose time is past is on its way already: should that call never end, the alarm finds it again.
      if (next) alarms.by(OUTBOX_ALARM, Math.max(next, need.now() + FIRST_WAIT_MS));
    },
  };
}

/** The oldest letters to somebody: one at least, then as many as fit. */
function batchFor(db: Db, target: string): Letter[] {
  const letters: Letter[] = [];
  let bytes = 0;
  for (const row of db.each<{ n: number; kind: string; body: string }>(
    "SELECT n, kind, body FROM outbox WHERE target = ? ORDER BY n LIMIT ?",
    target,
    BATCH,
  )) {
    bytes += row.body.length;
    if (letters.length > 0 && bytes > BATCH_BYTES) break;
    letters.push({ n: row.n, kind: row.kind, body: JSON.parse(row.body) as unknown });
  }
  return letters;
}

export interface InboxNeeds {
  db: Db;
  storage: DurableObjectStorage;
  now(): number;
  /** What a letter does. What it wrote is undone when it throws: what it left in memory is the caller's to undo. */
  take(letter: Letter): void;
  /** A taking that threw, other than by a refusal. */
  fault(error: unknown): void;
}

/**
 * Takes letters in, each once: those at or below the newest number of their sender were taken before. Call it
 * inside one transaction with everything that the letters cause. What the rules refuse is refused for good and
 * changes nothing. One whose taking throws is tried again with those behind it, since they may rest on it; after
 * eight tries it is put aside into `inbox_aside`, so that a fault of ours in one letter does not hold up the rest
 * for ever.
 *
 * @returns whether all were taken: if not, the sender is to try again
 */
export function takeIn(need: InboxNeeds, source: string, letters: readonly Letter[]): boolean {
  const { db } = need;
  const row = db.one<{ n: number; tries: number }>("SELECT n, tries FROM inbox WHERE source = ?", source);
  const known = row?.n ?? 0;
  let newest = known;
  let tries = row?.tries ?? 0;
  for (const letter of letters) {
    if (letter.n <= newest) continue;
    if (!takeOne(need, letter)) {
      tries += 1;
      if (tries < TRIES) {
        db.run("INSERT OR REPLACE INTO inbox (source, n, tries) VALUES (?, ?, ?)", source, newest, tries);
        return false;
      }
      putAside(need, source, letter);
    }
    tries = 0;
    newest = letter.n;
  }
  if (newest > known) db.run("INSERT OR REPLACE INTO inbox (source, n) VALUES (?, ?)", source, newest);
  return true;
}

function takeOne(need: InboxNeeds, letter: Letter): boolean {
  try {
    need.storage.transactionSync(() => need.take(letter));
    return true;
  } catch (error) {
    if (error instanceof Refused) return true;
    need.fault(error);
    return false;
  }
}

function putAside(need: InboxNeeds, source: string, { n, kind, body }: Letter): void {
  console.error(JSON.stringify({ at: new Date().toISOString(), event: "letter.put_aside", kind }));
  need.db.run(
    "INSERT OR REPLACE INTO inbox_aside (source, n, kind, body, at) VALUES (?, ?, ?, ?, ?)",
    source,
    n,
    kind,
    JSON.stringify(body),
    need.now(),
  );
}
