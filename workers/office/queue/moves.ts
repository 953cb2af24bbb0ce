/** An item goes to another office whole (OFFER-7, TEAM-3): rows, and nothing of its run. */
import type { SqlValue } from "../../kit/db.ts";
import type { Desk } from "../desk.ts";
import type { MovedItem, OfficeLetters } from "../letters.ts";
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

/** Sends on what the agent has let go of, and what nobody let go of in time. */
export function releaseDue(desk: Desk): void {
  for (const row of desk.db.all<ItemRow>("SELECT * FROM items WHERE moving IS NOT NULL")) {
    const { due } = goesTo(row);
    if (row.held === 0 || due <= desk.now) release(desk, row.id);
    else desk.alarm("moving", due);
  }
}

/** The item leaves: a letter with its rows, and a line here that says where it went. */
export function release(desk: Desk, id: string): void {
  const row = mustItem(desk, id);
  const { to, by } = goesTo(row);
  const ran = round(desk.db, id, row.round);
  // Their answers would come here: whoever goes on asks anew.
  cancelQuestions(desk, id);
  const named = JSON.stringify(namedBy(desk, id));
  const rows: MovedItem["rows"] = {};
  for (const [table, { of, own }] of Object.entries(TABLES)) {
    rows[table] = desk.db
      .all<Record<string, SqlValue>>(`SELECT * FROM ${table} WHERE ${of} = ? ORDER BY 1, 2`, id)
      .map((one) => Object.fromEntries(Object.entries(one).filter(([column]) => column !== own)));
    desk.db.run(`DELETE FROM ${table} WHERE ${of} = ?`, id);
  }
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
  desk.toOffice(to, "moved", { item: { id, from: desk.handle, rows } });
  desk.changed(id);
}

/** An item comes from another office: it is queued here by its number, for a round of its own (OFFER-7). */
export function takeMoved(desk: Desk, { item: moved }: OfficeLetters["moved"]): void {
  const { db } = desk;
  if (item(db, moved.id)) return;
  db.run("DELETE FROM left_items WHERE item = ?", moved.id);
  for (const table of Object.keys(TABLES))
    for (const row of moved.rows[table] ?? []) {
      const columns = Object.keys(row);
      db.run(
        `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
        ...Object.values(row),
      );
    }
  const row = mustItem(desk, moved.id);
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

/** Words that follow an item to where it went (OFFER-7). */
export function takeNote(desk: Desk, { item: id, author, text, at }: OfficeLetters["note"]): void {
  const row = item(desk.db, id);
  if (!row) return;
  addJournal(desk.db, { item: id, round: row.round, at, author, text });
  // An offer that is out has it too.
  change(desk.db, id, {});
  desk.changed(id);
}
