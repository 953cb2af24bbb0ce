/** What is read of a stream: its events, its history, its prompt (STREAM-2). */
import type { StreamState } from "../../../src/shared/rules/context/state.ts";
import { empty } from "../../../src/shared/rules/context/state.ts";
import type { ContextItem } from "../../../src/shared/wire/context/item.ts";
import type { Db } from "../../kit/db.ts";
import { refuse } from "../../kit/result.ts";
import type { Desk } from "../desk.ts";
import { eventJson } from "./live.ts";
import { nameOf } from "./paths.ts";
import { type StatesMemory, stateAt, stateAtHead, wordsOf } from "./states.ts";
import { eventAt, eventsAfter, headOf, streamId } from "./store.ts";

/** So much of one page is read; what is more is the next page's. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** No model takes more than this: what renders a prompt holds it in memory. */
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;

export interface StreamAt {
  db: Db;
  memory: StatesMemory;
  /** The stream's item, empty for the person's own; it may have no events yet. */
  item: string;
}

/** A page of raw events, as JSON: it may be shorter than asked for, and is only empty at the stream's end. */
export function pageOf({ db, item }: StreamAt, after: number, limit: number): string {
  const stream = streamId(db, item);
  if (stream === undefined) return '{"events":[],"head":0}';
  const events: string[] = [];
  let size = 0;
  for (const row of eventsAfter(db, stream, after)) {
    const json = eventJson(row);
    size += json.length;
    if (events.length > 0 && size > PAGE_BYTES) break;
    events.push(json);
    if (events.length >= limit) break;
  }
  return `{"events":[${events.join(",")}],"head":${headOf(db, stream)}}`;
}

/** The reduced items as of an offset, as JSON in pieces; they are read as the answer is. */
export function historyOf(of: StreamAt, at?: number): Iterable<string> {
  const { stream, state } = stateOf(of, at);
  // Taken now: what is appended while the answer is read changes nothing of it.
  const items = [...state.items];
  const rest = JSON.stringify(restOf(state));
  return pieces();

  function* pieces(): Generator<string> {
    yield '{"items":[';
    let comma = "";
    if (stream !== undefined)
      for (const { offset, json } of wordsOf(of.db, stream, items)) {
        yield `${comma}{"offset":${offset},"item":${json}}`;
        comma = ",";
      }
    yield `],${rest.slice(1)}`;
  }
}

function restOf({ covered, pending, open, paused }: StreamState) {
  return {
    covered,
    ...(pending && {
      pending: {
        offset: pending.offset,
        external: pending.external !== null,
        since: iso(Math.max(pending.since, pending.notBefore)),
      },
    }),
    ...(open && { open: { offset: open.offset, trigger: open.trigger, deadline: iso(open.deadline) } }),
    paused: paused !== null,
    ...(paused && { reason: paused.reason }),
  };
}
const iso = (ms: number) => new Date(ms).toISOString();

/** What a stream's events came to by now, its items without their words (states.ts); for parts of the office. */
export function streamState({ db, streams }: Desk, path: string): StreamState {
  const name = nameOf(path);
  const stream = name && streamId(db, name.item ?? "");
  return stream === undefined ? empty() : stateAtHead(db, streams, stream).state;
}

function stateOf(
  { db, memory, item }: StreamAt,
  at?: number,
): { stream: number | undefined; state: StreamState } {
  const stream = streamId(db, item);
  if (stream === undefined) return { stream, state: empty() };
  return {
    stream,
    state: stateAt(db, memory, stream, Math.min(at ?? Number.MAX_SAFE_INTEGER, headOf(db, stream))),
  };
}

/** What a prompt is rendered from: the history up to an offset, and the request there, if it is one (REQ-2). */
export function promptParts(
  of: StreamAt,
  at?: number,
): { items: { offset: number; item: ContextItem }[]; request: { offset: number; at: number } | undefined } {
  const { stream, state } = stateOf(of, at);
  const items: { offset: number; item: ContextItem }[] = [];
  let size = 0;
  if (stream !== undefined)
    for (const { offset, json } of wordsOf(of.db, stream, state.items)) {
      size += json.length;
      if (size > MAX_PROMPT_BYTES)
        refuse(
          "too_large",
          `This history is over ${MAX_PROMPT_BYTES} bytes, and no model takes so much. A compaction makes it smaller; …/history reads it all.`,
        );
      items.push({ offset, item: JSON.parse(json) as ContextItem });
    }
  const asked = stream === undefined || at === undefined ? undefined : eventAt(of.db, stream, at);
  const request =
    asked?.type === "llm-request-requested" ? { offset: asked.offset, at: asked.at } : undefined;
  return { items, request };
}
