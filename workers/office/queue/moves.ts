/** An item goes to another office whole (OFFER-7, TEAM-3): rows, and nothing of its run. */
import { linesOf, pieces } from "../../../src/shared/rules/pieces.ts";
import type { SqlValue } from "../../kit/db.ts";
import type { Desk } from "../desk.ts";
import type { OfficeLetters } from "../letters.ts";
import { goesTo } from "../messages/own.ts";
import { noteItem } from "../moments.ts";
import { cancelQuestions } from "../questions.ts";
import { change, type ItemRow, item } from "../store/items.ts";
import { addJournal } from "../store/parts.ts";
import { round } from "../store/rounds.ts";
import { namedBy } from "../usage.ts";
import { placeOf } from "./place.ts";
import { endRound, moveTo, mustItem } from "./states.ts";
import { note } from "./tell.ts";

/** An agent that was told nothing yet may go on for so long before the item is queued elsewhere (OFFER-7). */
const LET_GO_MS = 120_000;
/** After so long an item that could not leave is tried again. */
const AGAIN_MS = 60_000;
/** Characters of a piece: as a letter it is three times as many bytes at most, and a row holds 2 MB. */
const PART_SIZE = 300_000;

type Row = Record<string, SqlValue>;

/** What travels: the tables, and the columns that number their rows here alone. */
const TABLES: Readonly<Record<string, { of: string; own?: string }>> = {
  items: { of: "id" },
  rounds: { of: "item" },
  feedback: { of: "item", own: "n" },
  history: { of: "item", own: "n" },
  journal: { of: "item", own: "n" },
  refs: { of: "item" },
  threads: { of: "item" },
};

/** Moves an item to a teammate: at once, or as soon as the agent that runs it has let go. */
export function moveToOffice(desk: Desk, id: string, to: string, by: string): void {
  const row = mustItem(desk, id);
  const ran = row.state === "active" || row.held === 1;
  if (row.state === "active") endRound(desk, row, "moved");
  desk.db.run("DELETE FROM offers WHERE item = ?", id);
  const due = desk.now + LET_GO_MS;
  change(desk.db, id, {
    state: "queued",
    place: null,
    queued_at: null,
    not_before: null,
    why: null,
    declines: 0,
    moving: JSON.stringify({ to, by, due }),
    held: ran ? 1 : 0,
    changed_at: desk.now,
  });
  note(desk, id, { by, was: row.state, became: "queued", why: `moved from ${desk.handle} to ${to}` });
  // An agent that is away may be on it all the same: it lets go with its next hello.
  if (ran) desk.alarm("moving", due);
  else release(desk, id);
}

/**
 * Sends on what the agent has let go of, and what nobody let go of in time. Each goes by itself: one that cannot stays
 * as it is, is tried again in a minute, and holds up no other.
 */
export function releaseDue(desk: Desk): void {
  for (const row of desk.db.all<ItemRow>("SELECT * FROM items WHERE moving IS NOT NULL")) {
    const moving = goesTo(row);
    const at = Math.max(row.held === 0 ? 0 : moving.due, moving.again ?? 0);
    if (at <= desk.now && desk.apart(() => release(desk, row.id))) continue;
    const next = at > desk.now ? at : desk.now + AGAIN_MS;
    if (next !== at)
      change(desk.db, row.id, { moving: JSON.stringify({ ...moving, again: next }) }, { quietly: true });
    desk.alarm("moving", next);
  }
}

/** The item leaves: letters with its rows, and a line here that says where it went. */
function release(desk: Desk, id: string): void {
  const row = mustItem(desk, id);
  const { to, by } = goesTo(row);
  const ran = round(desk.db, id, row.round);
  // Their answers would come here: whoever goes on asks anew.
  cancelQuestions(desk, id);
  const named = JSON.stringify(namedBy(desk, id));
  let parts = 0;
  for (const text of pieces(linesFor(desk, id), PART_SIZE))
    desk.toOffice(to, "moved_part", { item: id, n: parts++, text });
  desk.toOffice(to, "moved", { item: id, from: desk.handle, parts });
  for (const [table, { of }] of Object.entries(TABLES))
    desk.db.run(`DELETE FROM ${table} WHERE ${of} = ?`, id);
  desk.db.run("DELETE FROM said WHERE item = ?", id);
  desk.db.run(
    "INSERT OR REPLACE INTO left_items (item, target, by, at, round, kind, outcome, named) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    id,
    to,
    by,
    desk.now,
    ran?.accepted_at === null ? 0 : (ran?.n ?? 0),
    row.kind,
    ran?.outcome ?? null,
    named,
  );
  desk.changed(id);
}

/** Each row of an item as a line. */
function* linesFor(desk: Desk, id: string): Generator<string> {
  for (const [table, { of, own }] of Object.entries(TABLES))
    for (const row of desk.db.each<Row>(`SELECT * FROM ${table} WHERE ${of} = ? ORDER BY 1, 2`, id)) {
      if (own !== undefined) delete row[own];
      yield JSON.stringify([table, row]);
    }
}

/** A piece of an item that is on its way here: kept aside, since half an item is nobody's work. */
export function takePart({ db }: Desk, { item: id, n, text }: OfficeLetters["moved_part"]): void {
  if (n === 0) db.run("DELETE FROM arriving WHERE item = ?", id);
  db.run("INSERT OR REPLACE INTO arriving (item, n, text) VALUES (?, ?, ?)", id, n, text);
}

/** An item has come from another office: it is queued here by its number, for a round of its own (OFFER-7). */
export function takeMoved(desk: Desk, moved: OfficeLetters["moved"]): void {
  const { db } = desk;
  if (item(db, moved.item)) return;
  db.run("DELETE FROM left_items WHERE item = ?", moved.item);
  for (const line of linesOf(arrived(desk, moved))) {
    const [table, columns] = JSON.parse(line) as [string, Row];
    const names = Object.keys(columns);
    db.run(
      `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
      ...Object.values(columns),
    );
  }
  db.run("DELETE FROM arriving WHERE item = ?", moved.item);
  const row = mustItem(desk, moved.item);
  noteItem(desk, row);
  const last = round(db, row.id, row.round);
  const fresh = last !== undefined && last.accepted_at === null && last.ended_at === null;
  // A session is of the runtime that it ran on: the other agent has its own.
  change(db, row.id, { moving: null, held: 0, session_id: null, interrupted: 0, state: "blocked" });
  const { priority } = row;
  if (fresh) {
    change(db, row.id, {
      state: "queued",
      queued_at: desk.now,
      place: placeOf(desk, row.id, priority, "by_priority"),
    });
    note(desk, row.id, { by: moved.from, was: "queued", became: "queued", why: `came from ${moved.from}` });
    return;
  }
  moveTo(desk, row.id, "queued", {
    by: moved.from,
    mover: "office",
    why: `came from ${moved.from}`,
    next: { priority },
  });
}

/** The pieces of an item, in order. */
function* arrived({ db }: Desk, { item: id, parts }: OfficeLetters["moved"]): Generator<string> {
  let n = 0;
  for (const row of db.each<{ n: number; text: string }>(
    "SELECT n, text FROM arriving WHERE item = ? ORDER BY n",
    id,
  )) {
    if (row.n !== n) break;
    n += 1;
    yield row.text;
  }
  if (n !== parts) throw new Error("a piece of a moved item is missing");
}

/** Words that follow an item to where it went (OFFER-7). */
export function takeNote(desk: Desk, { item: id, author, text, at }: OfficeLetters["note"]): void {
  const row = item(desk.db, id);
  if (!row) return;
  addJournal(desk.db, { item: id, round: row.round, at, author, text });
  // An offer that is out has it too.
  change(desk.db, id, {});
  desk.changed(id);
}
