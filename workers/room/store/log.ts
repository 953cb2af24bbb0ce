/** The log: appending facts and reading them back. */
import type { Actor, FactType } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";
import type { LogRow } from "../types.ts";

/** What a write leaves beside its main fact, so that its repeat is known (ENV-4). */
export interface WriteMark {
  sender: string;
  key: string;
  hash: string;
  /** The receipt's own fields, as JSON. */
  receipt: string;
}

export interface NewFact {
  id: string;
  type: FactType;
  at: number;
  spaceId?: string | undefined;
  runId?: string | undefined;
  actor: Actor;
  body: object;
  mark?: WriteMark | undefined;
}

const COLUMNS = "seq, id, type, at, space_id, run_id, actor_kind, actor_id, harness_id, body";

export function headSeq(db: Db): number {
  return db.one<{ seq: number | null }>("SELECT max(seq) AS seq FROM log")?.seq ?? 0;
}

/** Appends a fact under the next seq (ENV-3). The caller holds the transaction. */
export function append(db: Db, seq: number, fact: NewFact): LogRow {
  const row: LogRow = {
    seq,
    id: fact.id,
    type: fact.type,
    at: fact.at,
    space_id: fact.spaceId ?? null,
    run_id: fact.runId ?? null,
    actor_kind: fact.actor.kind,
    actor_id: fact.actor.id,
    harness_id: fact.actor.kind === "harness" ? fact.actor.id : (fact.actor.harness_id ?? null),
    body: JSON.stringify(fact.body),
  };
  db.run(
    `INSERT INTO log (${COLUMNS}, sender, key, hash, receipt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.seq,
    row.id,
    row.type,
    row.at,
    row.space_id,
    row.run_id,
    row.actor_kind,
    row.actor_id,
    row.harness_id,
    row.body,
    fact.mark?.sender ?? null,
    fact.mark?.key ?? null,
    fact.mark?.hash ?? null,
    fact.mark?.receipt ?? null,
  );
  return row;
}

export function addLine(db: Db, spaceId: string, seq: number): void {
  db.run("INSERT INTO lines (space_id, seq) VALUES (?, ?)", spaceId, seq);
}

export function factAt(db: Db, seq: number): LogRow | undefined {
  return db.one(`SELECT ${COLUMNS} FROM log WHERE seq = ?`, seq);
}

export function factById(db: Db, id: string): LogRow | undefined {
  return db.one(`SELECT ${COLUMNS} FROM log WHERE id = ?`, id);
}

/** Facts after a seq, oldest first. */
export function factsAfter(db: Db, seq: number, limit: number): LogRow[] {
  return db.all(`SELECT ${COLUMNS} FROM log WHERE seq > ? ORDER BY seq LIMIT ?`, seq, limit);
}

export interface EarlierWrite {
  id: string;
  seq: number;
  hash: string;
  receipt: string;
}

/** The write that a sender's key already names, if any (ENV-4). */
export function writeByKey(db: Db, sender: string, key: string): EarlierWrite | undefined {
  return db.one("SELECT id, seq, hash, receipt FROM log WHERE sender = ? AND key = ?", sender, key);
}

/** The lines of a space below a seq, newest first, row by row (WIN-1). */
export function linesBefore(
  db: Db,
  spaceId: string,
  before: number,
  after: number,
): IterableIterator<LogRow> {
  const columns = COLUMNS.split(", ").map((c) => `log.${c}`);
  return db.each(
    `SELECT ${columns.join(", ")} FROM lines JOIN log ON log.seq = lines.seq
     WHERE lines.space_id = ? AND lines.seq < ? AND lines.seq > ? ORDER BY lines.seq DESC`,
    spaceId,
    before,
    after,
  );
}

/** The lines of a space above a seq, oldest first, row by row. */
export function linesAfter(db: Db, spaceId: string, after: number): IterableIterator<LogRow> {
  const columns = COLUMNS.split(", ").map((c) => `log.${c}`);
  return db.each(
    `SELECT ${columns.join(", ")} FROM lines JOIN log ON log.seq = lines.seq
     WHERE lines.space_id = ? AND lines.seq > ? ORDER BY lines.seq`,
    spaceId,
    after,
  );
}

/** A fact with what a write left beside it (ENV-4): what an export takes along. */
export type WholeRow = LogRow & {
  sender: string | null;
  key: string | null;
  hash: string | null;
  receipt: string | null;
};

/** Whole facts after a seq and up to another, oldest first. */
export function wholeFacts(db: Db, after: number, upTo: number, limit: number): WholeRow[] {
  return db.all(
    `SELECT ${COLUMNS}, sender, key, hash, receipt FROM log WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    after,
    upTo,
    limit,
  );
}
