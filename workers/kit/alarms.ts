/**
 * Named alarms on the one that the platform gives an object. A fired alarm is spent, so a name's row goes
 * only after its work is done, and the next physical one is set last.
 */
import type { Db } from "./db.ts";

export const ALARMS_TABLE =
  "CREATE TABLE alarms (name TEXT PRIMARY KEY, due_at INTEGER NOT NULL) STRICT, WITHOUT ROWID";

/** The platform refuses to arm for a time after 2189: what is due later is looked at again then. */
const FARTHEST = 6_000_000_000_000;
/** What throws is tried again ever later: the platform's own retries end after six, ours do not. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

export interface Alarms {
  /** Makes sure that `name` fires at `dueAt` (ms) or before; an earlier one of that name stays. */
  by(name: string, dueAt: number): void;
  clear(name: string): void;
  /** Runs what is due, name by name, and arms the next. What throws is told as a fault and tried again later. */
  fire(now: number, work: (name: string) => Promise<void> | void): Promise<void>;
  /** Arms the physical alarm from the table: on every start. */
  rearm(): void;
}

export function openAlarms(storage: DurableObjectStorage, db: Db, fault: (error: unknown) => void): Alarms {
  /** How often each name threw, one time after the other. */
  const failures = new Map<string, number>();
  let armed: number | undefined;
  /** While alarms are fired: the time up to which they are. */
  let firing: number | undefined;
  const rearm = () => {
    const first = db.one<{ due_at: number | null }>("SELECT min(due_at) AS due_at FROM alarms")?.due_at;
    if (first === null || first === undefined) return;
    const next = Math.min(first, FARTHEST);
    if (armed !== undefined && armed <= next) return;
    armed = next;
    void storage.setAlarm(next);
  };
  let soon = false;
  /**
   * Arms at the end of this turn, still durable with what it did: armed inside a transaction that is undone, the
   * physical alarm would be gone and its time still remembered.
   */
  const rearmSoon = () => {
    if (soon) return;
    soon = true;
    queueMicrotask(() => {
      soon = false;
      if (firing === undefined) rearm();
    });
  };
  return {
    rearm,
    by(name, dueAt) {
      const row = db.one<{ due_at: number }>("SELECT due_at FROM alarms WHERE name = ?", name);
      // What is being fired is spent: its work may set the name anew, for later.
      if (row && row.due_at <= dueAt && row.due_at > (firing ?? 0)) return;
      db.run("INSERT OR REPLACE INTO alarms (name, due_at) VALUES (?, ?)", name, dueAt);
      rearmSoon();
    },
    clear(name) {
      db.run("DELETE FROM alarms WHERE name = ?", name);
    },
    async fire(now, work) {
      armed = undefined;
      firing = now;
      for (const { name, due_at } of db.all<{ name: string; due_at: number }>(
        "SELECT name, due_at FROM alarms WHERE due_at <= ? ORDER BY due_at",
        now,
      )) {
        try {
          await work(name);
          failures.delete(name);
          db.run("DELETE FROM alarms WHERE name = ? AND due_at = ?", name, due_at);
        } catch (error) {
          fault(error);
          const before = failures.get(name) ?? 0;
          failures.set(name, before + 1);
          const again = now + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(before, 10));
          db.run("UPDATE alarms SET due_at = ? WHERE name = ? AND due_at = ?", again, name, due_at);
        }
      }
      firing = undefined;
      rearm();
    },
  };
}
