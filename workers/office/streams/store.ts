/**
 * Rows of streams. An event's row number holds its stream and its offset, so that it costs one row and is found by
 * offset without an index (schema/streams.ts).
 */
import type { Db } from "../../kit/db.ts";
import { notFound } from "../../kit/result.ts";
import { item as itemRow } from "../store/items.ts";

/** Offsets of one stream; ids of streams stay under 2^21, so that row numbers are exact as doubles. */
const SPAN = 2 ** 32;

/** An event as it is stored; `payload` is JSON. */
export interface EventRow {
  offset: number;
  type: string;
  payload: string;
  at: number;
  /** Who appended it, one spelling a writer; empty: the office. */
  sender: string;
  idem: string | null;
}

interface Row extends Omit<EventRow, "offset"> {
  n: number;
}
const COLUMNS = "n, type, payload, at, sender, idem";
const rowOf = ({ n, ...rest }: Row): EventRow => ({ offset: n % SPAN, ...rest });

/** A person's own stream is there as soon as they are, an item's as soon as it is, or was (STREAM-2). */
export function mustExist(db: Db, item: string): void {
  if (item !== "" && itemRow(db, item) === undefined && streamId(db, item) === undefined) notFound("stream");
}

/** The id of a stream that was appended to; `item` is empty for the person's own. */
export function streamId(db: Db, item: string): number | undefined {
  return db.one<{ id: number }>("SELECT id FROM streams WHERE item = ?", item)?.id;
}

export function makeStream(db: Db, item: string): number {
  db.run("INSERT INTO streams (item) VALUES (?)", item);
  return streamId(db, item) as number;
}

/** The item of a stream's id, empty for the person's own. */
export function itemOfStream(db: Db, stream: number): string | undefined {
  return db.one<{ item: string }>("SELECT item FROM streams WHERE id = ?", stream)?.item;
}

export function streamIds(db: Db): number[] {
  return db.all<{ id: number }>("SELECT id FROM streams ORDER BY id").map(({ id }) => id);
}

/** The newest offset; 0 where nothing was appended. */
export function headOf(db: Db, stream: number): number {
  const row = db.one<{ n: number }>(
    "SELECT n FROM stream_events WHERE n > ? AND n < ? ORDER BY n DESC LIMIT 1",
    stream * SPAN,
    (stream + 1) * SPAN,
  );
  return row ? row.n % SPAN : 0;
}

export function eventAt(db: Db, stream: number, offset: number): EventRow | undefined {
  const row = db.one<Row>(`SELECT ${COLUMNS} FROM stream_events WHERE n = ?`, stream * SPAN + offset);
  return row && rowOf(row);
}

/** Events after an offset and up to another, in order, read only as far as they are asked for. */
export function* eventsAfter(db: Db, stream: number, after: number, upto = SPAN - 1): Generator<EventRow> {
  const rows = db.each<Row>(
    `SELECT ${COLUMNS} FROM stream_events WHERE n > ? AND n <= ? ORDER BY n`,
    stream * SPAN + Math.min(after, SPAN - 1),
    stream * SPAN + Math.min(upto, SPAN - 1),
  );
  for (const row of rows) yield rowOf(row);
}

/** The events at these offsets, in order; one read an event. */
export function* eventsAt(db: Db, stream: number, offsets: readonly number[]): Generator<EventRow> {
  const rows = db.each<Row>(
    `SELECT n, e.type, payload, e.at, sender, idem
     FROM json_each(?) AS wanted CROSS JOIN stream_events AS e ON n = ? + wanted.value`,
    JSON.stringify(offsets),
    stream * SPAN,
  );
  for (const row of rows) yield rowOf(row);
}

export interface NewEvent {
  offset: number;
  type: string;
  payload: string;
  at: number;
  sender: string;
  idem?: string | undefined;
  itemKey?: string | undefined;
}

export function insertEvent(db: Db, stream: number, event: NewEvent): void {
  db.run(
    "INSERT INTO stream_events (n, stream, type, payload, at, sender, idem, item_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    stream * SPAN + event.offset,
    stream,
    event.type,
    event.payload,
    event.at,
    event.sender,
    event.idem ?? null,
    event.itemKey ?? null,
  );
}

/** The event that a sender appended under a key. */
export function eventOfKey(
  db: Db,
  stream: number,
  sender: string,
  idem: string,
): (EventRow & { redacted: boolean }) | undefined {
  const row = db.one<Row & { redacted: number }>(
    `SELECT ${COLUMNS}, redacted FROM stream_events WHERE stream = ? AND sender = ? AND idem = ?`,
    stream,
    sender,
    idem,
  );
  if (!row) return undefined;
  const { redacted, ...rest } = row;
  return { ...rowOf(rest), redacted: redacted === 1 };
}

/** Offsets of every occurrence of a keyed item (CTX-2). */
export function offsetsOfItemKey(db: Db, stream: number, key: string): number[] {
  return db
    .all<{ n: number }>(
      "SELECT n FROM stream_events WHERE stream = ? AND item_key = ? ORDER BY n",
      stream,
      key,
    )
    .map(({ n }) => n % SPAN);
}

/** The streams in which a keyed item stands. */
export function streamsOfItemKey(db: Db, key: string): number[] {
  return db
    .all<{ stream: number }>(
      "SELECT DISTINCT stream FROM stream_events WHERE item_key = ? ORDER BY stream",
      key,
    )
    .map(({ stream }) => stream);
}

/** Puts another payload in place of one that was redacted (STREAM-5). */
export function blankEvent(db: Db, stream: number, offset: number, payload: string): void {
  db.run("UPDATE stream_events SET payload = ?, redacted = 1 WHERE n = ?", payload, stream * SPAN + offset);
}

// ---- reduced states, as caches ------------------------------------------------------------------------

/** The newest state at or below an offset, in its parts. */
export function storedState(db: Db, stream: number, at: number): { upto: number; body: string } | undefined {
  const upto = db.one<{ upto: number }>(
    "SELECT upto FROM stream_states WHERE stream = ? AND upto <= ? ORDER BY upto DESC, part LIMIT 1",
    stream,
    at,
  )?.upto;
  if (upto === undefined) return undefined;
  const parts = db.all<{ body: string }>(
    "SELECT body FROM stream_states WHERE stream = ? AND upto = ? ORDER BY part",
    stream,
    upto,
  );
  return { upto, body: parts.map(({ body }) => body).join("") };
}

export function storeState(db: Db, stream: number, upto: number, parts: readonly string[]): void {
  for (const [part, body] of parts.entries())
    db.run(
      "INSERT OR REPLACE INTO stream_states (stream, upto, part, body) VALUES (?, ?, ?, ?)",
      stream,
      upto,
      part,
      body,
    );
}

export function dropStates(db: Db, stream: number): void {
  db.run("DELETE FROM stream_states WHERE stream = ?", stream);
}
