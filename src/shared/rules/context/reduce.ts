/**
 * From events to what a model sees and what is asked of it next: pure, and total against any input (CTX-6). No clock:
 * what depends on time is decided from the events' own `at`, and in `next.ts`.
 */
import { STREAM_PAYLOADS, type StreamPayloads } from "../../wire/context/event.ts";
import type { ContextItem } from "../../wire/context/item.ts";
import { barrierOf, compacted } from "./barrier.ts";
import { fits } from "./fits.ts";
import { afterFailure, afterTrigger, STOP } from "./requests.ts";
import { type Entry, empty, isCompaction, type StreamEvent, type StreamState } from "./state.ts";

/** A state that is being worked on: changed in place, so that many events cost no copies. */
export interface Draft {
  readonly state: StreamState;
  /** Where the last occurrence of a key stands, as long as no request covers it (CTX-2). */
  readonly keys: Map<string, number>;
  /** Where a call stands in the list. */
  readonly calls: Map<string, number>;
}

/** A draft that leaves the state as it is. */
export function draftOf(from: StreamState): Draft {
  const state = { ...from, items: from.items.slice(), calls: from.calls.slice() };
  const draft: Draft = { state, keys: new Map(), calls: new Map() };
  indexKeys(draft);
  indexCalls(draft);
  return draft;
}

/** What the events come to, from a state on; that state stays as it is. */
export function reduce(events: Iterable<StreamEvent>, from: StreamState = empty()): StreamState {
  const draft = draftOf(from);
  for (const event of events) step(draft, event);
  return draft.state;
}

/** One event more. For many use {@link reduce}: each call costs a copy of the list. */
export function apply(state: StreamState, event: StreamEvent): StreamState {
  return reduce([event], state);
}

type Handlers = {
  [T in keyof StreamPayloads]: (draft: Draft, event: StreamEvent, of: StreamPayloads[T]) => void;
};
const HANDLERS: Handlers = {
  "context-item": onItem,
  "llm-request-requested": onRequested,
  "llm-request-succeeded": onSucceeded,
  "llm-request-failed": ({ state }, { at }, { requestOffset, reason }) => {
    if (!isOpen(state, requestOffset, at)) return;
    afterFailure(state, at, reason);
    state.open = null;
  },
  "llm-request-cancelled": ({ state }, _event, { requestOffset }) => {
    // Past its deadline too: that is when the office writes it (REQ-5).
    if (state.open?.offset === requestOffset) state.open = null;
  },
  "stream-paused": ({ state }, { offset, at }, { reason }) => {
    state.paused = { offset, at, reason };
    // The stop's own item asked for nothing; what came from outside meanwhile still waits (REQ-3, REQ-6).
    const { pending, covered } = state;
    if (reason !== STOP || pending === null) return;
    const external = pending.external ?? 0;
    state.pending = external > covered ? { ...pending, offset: external } : null;
  },
  "stream-resumed": ({ state }) => {
    state.paused = null;
    state.turnsAlone = 0;
  },
  "context-item-redacted": ({ state }, _event, { offset }) => redact(state, offset),
};

/** Each type with the check of its payload, made once. */
const TABLE = new Map(
  Object.entries(HANDLERS).map(([type, handle]) => {
    const check = fits(STREAM_PAYLOADS[type as keyof StreamPayloads]);
    return [type, { check, handle: handle as (draft: Draft, event: StreamEvent, of: unknown) => void }];
  }),
);

/**
 * Takes one event into a draft. What is broken, of no known type, or not newer than what was read is passed over
 * (CTX-1).
 */
export function step(draft: Draft, event: StreamEvent): void {
  const { state } = draft;
  if (typeof event !== "object" || event === null) return;
  const { offset, type, payload, at } = event;
  if (!Number.isSafeInteger(offset) || offset <= state.head || !Number.isFinite(at)) return;
  state.head = offset;
  const row = TABLE.get(type);
  if (row?.check(payload)) row.handle(draft, event, payload);
}

/** Whether a request can still be answered: it is the open one, and not past its deadline (CTX-3, REQ-5). */
export function isOpen(state: StreamState, request: number, at: number): boolean {
  return state.open?.offset === request && at < state.open.deadline;
}

function onItem(draft: Draft, event: StreamEvent, item: ContextItem): void {
  const { state } = draft;
  const { offset } = event;
  if (item.role === "assistant" && item.llmRequestOffset !== undefined) {
    if (!isOpen(state, item.llmRequestOffset, event.at) || state.open === null) return;
    put(draft, offset, item);
    state.open = { ...state.open, answer: offset };
  } else if (isCompaction(item)) compact(draft, offset, item);
  else {
    put(draft, offset, item);
    noteResult(draft, offset, item);
    afterTrigger(state, event, item);
  }
}

/** Where the item goes: in place of what it updates while no request covers that, else at the end (CTX-2). */
function put({ state, keys }: Draft, offset: number, item: ContextItem): void {
  const place = item.key === undefined ? undefined : keys.get(item.key);
  if (place !== undefined) {
    state.items[place] = { offset, item };
    return;
  }
  if (item.key !== undefined) keys.set(item.key, state.items.length);
  state.items.push({ offset, item });
}

function compact(draft: Draft, offset: number, item: ContextItem): void {
  const { state } = draft;
  const barrier = barrierOf(state, offset, item);
  if (barrier === undefined) return;
  const { through } = barrier;
  state.barrier = barrier;
  state.items = compacted(state.items, through, { offset, item });
  state.calls = state.calls.filter(({ result }) => result === null || result > through);
  // It counted what is gone.
  state.measured = null;
  indexKeys(draft);
  indexCalls(draft);
}

/** A result is known by who made it, and stands for one call; whatever takes its key later stands for it (CTX-9). */
function noteResult({ state, calls }: Draft, offset: number, item: ContextItem): void {
  const at = item.key === undefined ? undefined : calls.get(item.key);
  const call = at === undefined ? undefined : state.calls[at];
  if (at === undefined || !call) return;
  const own =
    item.role === "developer" && item.actor?.type === "script" && item.actor.executionId === item.key;
  if (own || call.result !== null) state.calls[at] = { ...call, result: offset };
}

function onRequested(
  { state, keys }: Draft,
  { offset, at }: StreamEvent,
  { trigger, deadline }: StreamPayloads["llm-request-requested"],
): void {
  const { pending } = state;
  // An intent whose trigger has moved on is none (REQ-1).
  if (state.open !== null || state.paused !== null || pending?.offset !== trigger) return;
  const { external, retry } = pending;
  state.open = { offset, trigger, external, deadline: Date.parse(deadline), at, answer: null };
  state.covered = offset;
  state.pending = null;
  if (external === null && !retry) state.turnsAlone += 1;
  keys.clear();
}

function onSucceeded(
  draft: Draft,
  { at, by }: StreamEvent,
  { requestOffset, usage, calls }: StreamPayloads["llm-request-succeeded"],
): void {
  const { state } = draft;
  const { open } = state;
  if (open === null || !isOpen(state, requestOffset, at)) return;
  state.open = null;
  state.failures = 0;
  // Of a prompt that a compaction has replaced since, the count says nothing.
  if (usage && open.offset > (state.barrier?.offset ?? 0)) {
    const tokens = usage.inputTokens + usage.outputTokens - (usage.reasoningOutputTokens ?? 0);
    state.measured = { request: open.offset, answer: open.answer, tokens: Math.max(tokens, 0) };
  }
  const { answer } = open;
  const item = answer === null ? undefined : state.items.findLast((entry) => entry.offset === answer)?.item;
  if (answer === null || !item) return;
  for (const id of calls ?? []) {
    if (draft.calls.has(id) || !isCallOf(open.offset, id)) continue;
    draft.calls.set(id, state.calls.length);
    state.calls.push({ id, answer, by: by ?? null, result: null });
    // What has calls is not replaced any more: a call would lose its words (CTX-9).
    if (item.key !== undefined) draft.keys.delete(item.key);
  }
}

/** Whether an id is that of a call in the answer to a request: `exe_<request offset>_<n>`, n from 1 (CTX-9). */
export function isCallOf(request: number, id: string): boolean {
  const prefix = `exe_${request}_`;
  return id.startsWith(prefix) && /^[1-9]\d*$/.test(id.slice(prefix.length));
}

/** An item without its words and files: what is left of it once it was redacted (STREAM-5). */
export function blank(item: ContextItem): ContextItem {
  const { files: _files, ...rest } = item;
  return { ...rest, content: "" };
}

/**
 * Blanks what is seen of an item: by its offset, and by its key wherever it stands. Occurrences that were replaced
 * are in the stored events alone, which the office blanks, too: it reads the state anew from those.
 */
function redact(state: StreamState, offset: number): void {
  const found = state.items.find((entry) => entry.offset === offset)?.item;
  if (!found) return;
  const key = isCompaction(found) ? undefined : found.key;
  state.items = state.items.map((entry) => {
    const same = key !== undefined && entry.item.key === key && !isCompaction(entry.item);
    return same || entry.offset === offset ? { ...entry, item: blank(entry.item) } : entry;
  });
}

/** Whatever no request covers stands at the end of the list, but for a summary, which has no key (CTX-2, CTX-4). */
function indexKeys({ state: { items, covered, calls }, keys }: Draft): void {
  keys.clear();
  const withCalls = new Set(calls.map(({ answer }) => answer));
  const isCovered = ({ offset, item }: Entry) => offset <= covered && !isCompaction(item);
  for (let i = items.findLastIndex(isCovered) + 1; i < items.length; i++) {
    const { offset, item } = items[i] as Entry;
    if (item.key === undefined || isCompaction(item)) continue;
    if (withCalls.has(offset)) keys.delete(item.key);
    else keys.set(item.key, i);
  }
}

function indexCalls({ state, calls }: Draft): void {
  calls.clear();
  for (const [i, { id }] of state.calls.entries()) calls.set(id, i);
}
