/**
 * Where a runner begins: the state of a stream as it can be read over HTTP, so that a long stream need not be read
 * from its start. From there on the reducer takes every event, as in the office itself.
 */
import { callId, callsIn } from "../shared/rules/context/calls.ts";
import { type Call, type Entry, empty, type StreamState } from "../shared/rules/context/state.ts";
import { streamEvent } from "../shared/wire/context/event.ts";
import type { StoredEvent } from "./follow.ts";
import type { ContextStream } from "./stream.ts";
import type { AnswerAt } from "./view.ts";

type Readable = Pick<ContextStream, "read" | "history">;

export interface Seed {
  state: StreamState;
  /** Answers with calls that wait. */
  answers: Map<number, AnswerAt>;
}

export async function seedOf(stream: Readable): Promise<Seed> {
  const { head } = await stream.read({ after: Number.MAX_SAFE_INTEGER, limit: 1 });
  if (head === 0) return { state: empty(), answers: new Map() };
  const { items, covered, pending, open, paused, reason = "" } = await stream.history(head);
  const state: StreamState = { ...empty(), head, items, covered };
  if (pending) {
    const since = Date.parse(pending.since);
    const external = pending.external ? pending.offset : null;
    state.pending = { offset: pending.offset, external, since, notBefore: since, retry: false };
  }
  if (open) {
    const answer = items.findLast(({ item }) => item.llmRequestOffset === open.offset)?.offset ?? null;
    const at = Date.parse((await eventAt(stream, open.offset))?.at ?? open.deadline);
    const { offset, trigger } = open;
    state.open = { offset, trigger, external: null, deadline: Date.parse(open.deadline), at, answer };
  }
  if (paused) state.paused = { offset: head, at: 0, reason };
  const answers = new Map<number, AnswerAt>();
  for (const entry of items) await addCalls(stream, state, answers, entry);
  return { state, answers };
}

/** Calls of an answer that have no result, where its settlement names them: a quoted block is no call (CTX-9). */
async function addCalls(
  stream: Readable,
  state: StreamState,
  answers: Map<number, AnswerAt>,
  { offset, item }: Entry,
): Promise<void> {
  const request = item.role === "assistant" ? item.llmRequestOffset : undefined;
  if (request === undefined) return;
  const results = new Map(
    state.items.flatMap(({ offset: at, item: { key, actor } }) =>
      actor?.type === "script" && actor.executionId === key ? [[key, at] as const] : [],
    ),
  );
  const calls: Call[] = [];
  for (let n = 1; callsIn(item.content, [callId(request, n)]) !== undefined; n++) {
    const id = callId(request, n);
    calls.push({ id, answer: offset, by: null, result: results.get(id) ?? null });
  }
  if (calls.every(({ result }) => result !== null)) return;
  const { events } = await stream.read({ after: offset - 1, limit: 20 });
  const named = new Set<string>();
  for (const event of events) {
    const read = streamEvent.safeParse(event);
    if (!read.success || read.data.type !== "llm-request-succeeded") continue;
    const { requestOffset, calls: ids = [] } = read.data.payload;
    if (requestOffset === request) for (const id of ids) named.add(id);
  }
  state.calls.push(...calls.filter(({ id }) => named.has(id)));
  answers.set(offset, { content: item.content, at: Date.parse(events[0]?.at ?? "") || 0 });
}

async function eventAt(stream: Readable, offset: number): Promise<StoredEvent | undefined> {
  const { events } = await stream.read({ after: offset - 1, limit: 1 });
  return events[0];
}
