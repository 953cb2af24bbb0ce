/**
 * Letters between objects: written down in the sender's transaction, delivered at least once in the order of
 * writing, taken in once by number (design: objects talk by RPC through outboxes).
 */
import type { Alarms } from "./alarms.ts";
import type { Db } from "./db.ts";

/** `AUTOINCREMENT`: a number is never given again, also when the newest letter was delivered and is gone. */
export const OUTBOX_TABLES = `
CREATE TABLE outbox (
  n INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_target ON outbox (target, n);
CREATE TABLE outbox_waits (target TEXT PRIMARY KEY, tries INTEGER NOT NULL, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE inbox (source TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID`;

/** One letter as it travels. `kind` and `body` are the two objects' own affair. */
export interface Letter {
  n: number;
  kind: string;
  body: unknown;
}

/** The alarm's name: the object's `alarm()` calls {@link Outbox.drain} for it. */
export const OUTBOX_ALARM = "outbox";
/** Letters of one call: a receiver's transaction stays short. */
const BATCH = 50;
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
  /** Hands letters over; resolves once the receiver has taken them for good, throws otherwise. */
  send(target: string, letters: Letter[]): Promise<void>;
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
        const letters = db
          .all<{ n: number; kind: string; body: string }>(
            "SELECT n, kind, body FROM outbox WHERE target = ? ORDER BY n LIMIT ?",
            target,
            BATCH,
          )
          .map((row) => ({ n: row.n, kind: row.kind, body: JSON.parse(row.body) as unknown }));
        const last = letters.at(-1);
        if (last === undefined) return;
        // Should this object die while it waits, the alarm sends again.
        wait(target, 0);
        await need.send(target, letters);
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

/**
 * Takes letters in, each once: those at or below the newest number of their sender were taken before. Call it
 * inside one transaction with everything that the letters cause.
 */
export function takeIn(
  db: Db,
  source: string,
  letters: readonly Letter[],
  take: (letter: Letter) => void,
): void {
  let newest = db.one<{ n: number }>("SELECT n FROM inbox WHERE source = ?", source)?.n ?? 0;
  const before = newest;
  for (const letter of letters) {
    if (letter.n <= newest) continue;
    take(letter);
    newest = letter.n;
  }
  if (newest > before) db.run("INSERT OR REPLACE INTO inbox (source, n) VALUES (?, ?)", source, newest);
}
