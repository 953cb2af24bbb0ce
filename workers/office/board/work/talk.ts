/** How far agents have gone on among themselves since a trusted human's last word (PIPE-2). */
import { countsAsTalk, neverCounts } from "../../../../src/shared/rules/pipeline.ts";
import type { Who } from "../../../../src/shared/rules/trust.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";
import { refsOf } from "./refs.ts";

/** What an event's talk is counted on, the first of them for all. */
const thingsOf = (event: WorkEvent): { type: string; ref: string }[] =>
  refsOf(event).filter(({ type }) => type !== "chat_thread");

const nameOf = ({ type, ref }: { type: string; ref: string }): string => `${type}:${ref}`;

/** How an event counts in the talk on what it is about: `human` begins it anew. */
export function talkMark(event: WorkEvent, who: Who): "agent" | "human" | null {
  if (who.kind === "human" && who.trusted) return "human";
  return who.kind === "person" && countsAsTalk(event) ? "agent" : null;
}

const countOf = ({ db }: BoardLedger, about: string): number =>
  db.one<{ count: number }>("SELECT count FROM talk WHERE about = ?", about)?.count ?? 0;

function setCount({ db }: BoardLedger, about: string, count: number): void {
  if (count === 0) db.run("DELETE FROM talk WHERE about = ?", about);
  else db.run("INSERT OR REPLACE INTO talk (about, count) VALUES (?, ?)", about, count);
}

/** The item that a person took last. */
const itemOf = ({ db }: BoardLedger, handle: string): string | undefined =>
  db.one<{ item: string }>("SELECT item FROM at_work WHERE person = ?", handle)?.item;

export interface Talk {
  /** Events by agents that led here without a human's, this one included. */
  count: number;
  /** Which stretch of them it is: a human is told once for each. */
  stretch: string;
}

/**
 * What an event adds to the talk. An agent's goes on from the thing that it is about, or from the item that they are at
 * work on, whichever has gone further: a new ticket each time is the same talk.
 */
export function talkOf(ledger: BoardLedger, event: WorkEvent, who: Who): Talk {
  const things = thingsOf(event);
  const [first] = things;
  const stretch = first ? `${nameOf(first)}:${lastHuman(ledger, first)}` : "";
  if (talkMark(event, who) === "human") return { count: 0, stretch };
  const own = Math.max(0, ...things.map((thing) => countOf(ledger, nameOf(thing))));
  if (who.kind !== "person" || who.handle === undefined) return { count: own, stretch };
  const item = itemOf(ledger, who.handle);
  const led = item === undefined ? 0 : countOf(ledger, item);
  const count = Math.max(own, led) + (neverCounts(event) ? 0 : 1);
  return { count, stretch: stretch || `item:${item ?? who.handle}` };
}

function lastHuman({ db }: BoardLedger, { type, ref }: { type: string; ref: string }): number {
  const row = db.one<{ n: number | null }>(
    "SELECT max(n) AS n FROM event_refs WHERE type = ? AND ref = ? AND counts = 'human'",
    type,
    ref,
  );
  return row?.n ?? 0;
}

/** Keeps what an event added: on what it is about where it is talk or woke somebody, and for whom it woke. */
export function keepTalk(ledger: BoardLedger, event: WorkEvent, id: string, who: Who, { count }: Talk): void {
  if (event.type === "item.accepted" && event.item)
    ledger.db.run(
      "INSERT OR REPLACE INTO at_work (person, item) VALUES (?, ?)",
      event.item.person,
      event.item.id,
    );
  const woke =
    ledger.db.one("SELECT 1 FROM decisions WHERE event_id = ? AND decision = 'wake'", id) !== undefined;
  const mark = talkMark(event, who);
  if (mark !== null || (woke && who.kind === "person"))
    for (const thing of thingsOf(event)) setCount(ledger, nameOf(thing), count);
  if (woke) setCount(ledger, id, count);
}

/** The item that an event woke goes on from it. */
export function leadOn(ledger: BoardLedger, eventId: string, item: string): void {
  setCount(ledger, item, countOf(ledger, eventId));
}
