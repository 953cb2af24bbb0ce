/**
 * Reduced states (STREAM-3): a cache in memory of each stream's newest, and rows from which older and forgotten ones
 * are worked out. A state here holds items without their words, which are read from their events when somebody needs
 * them: so it is small however long the items are, and a redaction finds nothing in it to blank (STREAM-5).
 */
import { reduce } from "../../../src/shared/rules/context/reduce.ts";
import {
  type Entry,
  empty,
  type StreamEvent,
  type StreamState,
} from "../../../src/shared/rules/context/state.ts";
import type { ContextItem } from "../../../src/shared/wire/context/item.ts";
import type { Db } from "../../kit/db.ts";
import { isRecord } from "../../room/parse.ts";
import { type EventRow, eventsAfter, eventsAt, headOf, storedState, storeState } from "./store.ts";

/** A state is stored after so many events, or half as many as it has items if they are more: it costs each event little. */
const STATE_EVERY = 256;
/** Characters of one part of a stored state: under 2 MB as UTF-8, whatever they are. */
const PART_CHARS = 400_000;
/** Items of all states that are kept in memory. */
const MAX_HELD_ITEMS = 200_000;

export interface StatesMemory {
  /** By stream, the one that was used last at the end. */
  readonly held: Map<number, Held>;
}
export interface Held {
  readonly state: StreamState;
  /** The offset up to which it is stored. */
  readonly stored: number;
}

/** The state of a stream at its head. */
export function stateAtHead(db: Db, memory: StatesMemory, stream: number): Held {
  const held = memory.held.get(stream) ?? read(db, stream, headOf(db, stream));
  hold(memory, stream, held);
  return held;
}

/** The state as of an offset: worked out anew, unless it is that of the head. */
export function stateAt(db: Db, memory: StatesMemory, stream: number, at: number): StreamState {
  const newest = memory.held.get(stream)?.state;
  return newest && newest.head <= at ? newest : read(db, stream, at).state;
}

function read(db: Db, stream: number, at: number): Held {
  const from = storedState(db, stream, at);
  const stored = from?.upto ?? 0;
  const before = from ? (JSON.parse(from.body) as StreamState) : empty();
  return { state: reduce(lightEvents(eventsAfter(db, stream, stored, at)), before), stored };
}

/** Rows as the reducer takes them, without words: whatever else they have decides as before whether they count. */
export function* lightEvents(rows: Iterable<EventRow>): Generator<StreamEvent> {
  for (const { offset, type, payload: json, at, sender } of rows) {
    let payload: unknown = JSON.parse(json);
    if (isRecord(payload) && typeof payload["content"] === "string") payload = { ...payload, content: "" };
    yield { offset, type, payload, at, ...(isPlatform(sender) ? {} : { by: sender }) };
  }
}

/** The office's own, and what an admin's token wrote as the platform, with keys of its own (STREAM-4). */
const isPlatform = (sender: string) => sender === "" || sender.startsWith(PLATFORM);
export const PLATFORM = "platform ";

/** Keeps what a batch made of a state: without words, and stored when enough was appended since it last was. */
export function keep(db: Db, memory: StatesMemory, stream: number, state: StreamState, before: Held): void {
  const light = { ...state, items: state.items.map(withoutWords) };
  const due = state.head - before.stored >= Math.max(STATE_EVERY, state.items.length / 2);
  if (due) storeState(db, stream, state.head, partsOf(storedForm(light)));
  hold(memory, stream, { state: light, stored: due ? state.head : before.stored });
}

function withoutWords(entry: Entry): Entry {
  return entry.item.content === "" ? entry : { ...entry, item: { ...entry.item, content: "" } };
}

/** A state as it is stored: of its items only what decides about later ones. */
function storedForm(state: StreamState): string {
  const items = state.items.map(({ item: { role, key, compaction }, ...entry }) => {
    const item: ContextItem = {
      role,
      content: "",
      ...(key !== undefined && { key }),
      ...(compaction && { compaction }),
    };
    return { ...entry, item };
  });
  return JSON.stringify({ ...state, items });
}

/** A text in parts that a row can hold each; no pair of a character is parted. */
export function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PART_CHARS, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

function hold(memory: StatesMemory, stream: number, coming: Held): void {
  memory.held.delete(stream);
  memory.held.set(stream, coming);
  let items = 0;
  for (const { state } of memory.held.values()) items += state.items.length;
  for (const [oldest, { state }] of memory.held) {
    if (items <= MAX_HELD_ITEMS || oldest === stream) return;
    memory.held.delete(oldest);
    items -= state.items.length;
  }
}

/** Items with their words, in the order given: one row read an item (STREAM-3). */
export function* wordsOf(
  db: Db,
  stream: number,
  entries: readonly Pick<Entry, "offset">[],
): Generator<{ offset: number; json: string }> {
  for (let at = 0; at < entries.length; at += 1000) {
    const offsets = entries.slice(at, at + 1000).map(({ offset }) => offset);
    for (const { offset, payload } of eventsAt(db, stream, offsets)) yield { offset, json: payload };
  }
}

/** The same state, with the words of those items that are asked for. */
export function withWords(
  db: Db,
  stream: number,
  state: StreamState,
  wanted: (entry: Entry) => boolean,
): StreamState {
  const items = new Map<number, ContextItem>();
  for (const { offset, json } of wordsOf(db, stream, state.items.filter(wanted)))
    items.set(offset, JSON.parse(json) as ContextItem);
  if (items.size === 0) return state;
  return {
    ...state,
    items: state.items.map((entry) => ({ ...entry, item: items.get(entry.offset) ?? entry.item })),
  };
}
