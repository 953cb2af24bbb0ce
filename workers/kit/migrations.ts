/**
 * The tables of an object, changed once and in order (OPS-6). A migration is never edited after it was
 * released: what changes later is a new one at the end of the list.
 */
import type { Db } from "./db.ts";

export interface Migration {
  /** Statements separated by semicolons. */
  sql: string;
}

/** Whether the object has ever been made: an unknown one must stay without tables (AUTH-4). */
export function isMade(db: Db): boolean {
  return db.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'") !== undefined;
}

/**
 * The same, remembered: what was made once stays so, and every call of an object asks. It is asked outside of
 * transactions alone, since one may be taken back with the tables that it made.
 */
export function openMade(db: Db): () => boolean {
  let made = false;
  return () => (made ||= isMade(db));
}

/**
 * Brings the tables up to the newest version. Throws when they are newer than this code knows: opening
 * them would harm what it does not understand.
 */
export function migrate(storage: DurableObjectStorage, db: Db, migrations: readonly Migration[]): void {
  storage.transactionSync(() => {
    db.run("CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY) STRICT");
    const at =
      db.one<{ version: number | null }>("SELECT max(version) AS version FROM migrations")?.version ?? 0;
    if (at > migrations.length)
      throw new Error(
        `stored data has version ${at}, this code knows ${migrations.length}: deploy the newer code`,
      );
    for (const [index, migration] of migrations.entries()) {
      if (index < at) continue;
      db.run(migration.sql);
      db.run("INSERT INTO migrations (version) VALUES (?)", index + 1);
    }
  });
}
