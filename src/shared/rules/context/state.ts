/**
 * What a stream's events come to (CTX-1): plain JSON, so that a state is its own snapshot. Nothing here is words but
 * the items themselves; whatever depends on their length is counted when it is asked for, so that taking words away
 * changes nothing else (STREAM-5).
 */
import type { ContextItem } from "../../wire/context/item.ts";

/** One stored event, its payload parsed. Nothing is trusted of it: old data may be broken (CTX-1). */
export interface StreamEvent {
  offset: number;
  type: string;
  payload: unknown;
  /** When it was appended, ms. */
  at: number;
  /** Who appended it, one spelling a writer (trust.ts); absent: the office. */
  by?: string;
}

/** An item where it stands: its place is its index in the list. */
export interface Entry {
  /** Of its latest update (CTX-4). */
  offset: number;
  item: ContextItem;
}

/** What asks for a request, and when (REQ-1). */
export interface Pending {
  /** The newest trigger (CTX-5). */
  offset: number;
  /** The newest trigger from outside among what is not answered yet; null: the agent is alone with itself. */
  external: number | null;
  /** When the first input came, ms: the debounce counts from there (REQ-1). */
  since: number;
  /** Not opened before, ms: a failure waits (REQ-4). */
  notBefore: number;
  /** It was tried before, and nothing new asks for it: no turn of its own (REQ-4). */
  retry: boolean;
}

/** The one request that is open (REQ-1). */
export interface OpenRequest {
  offset: number;
  trigger: number;
  /** As {@link Pending.external} when it was opened. */
  external: number | null;
  deadline: number;
  at: number;
  /** The offset of the answer that counts, until it is settled (CTX-3). */
  answer: number | null;
}

/** A call of an answer that counts (CTX-9). */
export interface Call {
  id: string;
  /** The offset of the answer that holds it. */
  answer: number;
  /** Who settled that answer, as in {@link StreamEvent.by}; null: the office. Only they bring its result. */
  by: string | null;
  /** The offset of its result; null: there is none yet. */
  result: number | null;
}

export interface Pause {
  /** Of the event that paused it. */
  offset: number;
  at: number;
  reason: string;
}

/** What a provider counted of one request (REQ-8). */
export interface Measured {
  /** Of the request: the count is of the history up to there. */
  request: number;
  /** Of its answer, which is counted too; null: it had none. */
  answer: number | null;
  tokens: number;
}

/** The compaction in force (CTX-4). */
export interface Barrier {
  /** What stood at or below it is gone; it may be lower than the one asked for. */
  through: number;
  /** Of the item with the summary. */
  offset: number;
}

export interface StreamState {
  /** The newest offset that was read. */
  head: number;
  /** Every item that a model sees, in order (CTX-1). */
  items: Entry[];
  /** The newest request that was opened, however it ended; 0: none (CTX-2). */
  covered: number;
  pending: Pending | null;
  open: OpenRequest | null;
  /** Failures one after the other (REQ-4). */
  failures: number;
  /** Turns since somebody from outside asked for one (REQ-6). */
  turnsAlone: number;
  paused: Pause | null;
  /** Calls that a barrier must not part from their results, with those still without one (CTX-4). */
  calls: Call[];
  measured: Measured | null;
  barrier: Barrier | null;
}

/** A stream to which nothing was appended. */
export function empty(): StreamState {
  return {
    head: 0,
    items: [],
    covered: 0,
    pending: null,
    open: null,
    failures: 0,
    turnsAlone: 0,
    paused: null,
    calls: [],
    measured: null,
    barrier: null,
  };
}

/** Whether an item is a compaction's summary: on other roles than developer the field is inert (CTX-4). */
export function isCompaction(item: ContextItem): boolean {
  return item.role === "developer" && item.compaction !== undefined;
}

/** The items that a model sees, in order, each with the offset of its latest update (STREAM-2). */
export function historyOf(state: StreamState): { offset: number; item: ContextItem }[] {
  return state.items.map(({ offset, item }) => ({ offset, item }));
}
