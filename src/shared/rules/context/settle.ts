/** What a batch may do to a stream as it stands: settlements, results, keys (STREAM-1, STREAM-4, REQ-3, CTX-9). */
import type { AppendEvent } from "../../wire/context/http.ts";
import { APPEND_LIMITS } from "../../wire/context/http.ts";
import type { ContextItem } from "../../wire/context/item.ts";
import type { Refusal } from "../../wire/errors.ts";
import { byteLength } from "../text.ts";
import { callsIn, resultFault } from "./calls.ts";
import { type Draft, draftOf, isOpen, step } from "./reduce.ts";
import type { StreamState } from "./state.ts";
import { spelled, type Writer } from "./trust.ts";

/** An event of a batch, stamped (trust.ts), with the offset that it will have. */
export type NewEvent = AppendEvent & { offset: number };

export type Judged =
  /** With the state after it; `offsets` grow in the batch's order. */
  { ok: true; state: StreamState } | { ok: false; index: number; refusal: Refusal };

/**
 * Whether a batch may be appended, all or nothing, and what the stream comes to with it. Repeats of what is stored
 * are answered before this is asked (STREAM-1).
 */
export function judge(
  state: StreamState,
  batch: readonly NewEvent[],
  at: number,
  writer: Writer,
  stream: string,
): Judged {
  const draft = draftOf(state);
  const by = spelled(writer);
  const settled = new Set<number>();
  for (const [index, event] of batch.entries()) {
    const refusal = refusalOf(draft, event, { at, writer, stream, settled });
    if (refusal) return { ok: false, index, refusal };
    step(draft, { ...event, at, ...(by === undefined ? {} : { by }) });
  }
  return { ok: true, state: draft.state };
}

interface About {
  at: number;
  writer: Writer;
  stream: string;
  /** Requests that this batch has settled. */
  settled: Set<number>;
}

function refusalOf(draft: Draft, event: NewEvent, about: About): Refusal | undefined {
  switch (event.type) {
    case "context-item":
      return itemRefusal(draft, event.payload, about);
    case "llm-request-succeeded":
      about.settled.add(event.payload.requestOffset);
      return closedRefusal(draft.state, event.payload.requestOffset, about.at) ?? callsRefusal(draft, event);
    case "llm-request-failed":
      about.settled.add(event.payload.requestOffset);
      return closedRefusal(draft.state, event.payload.requestOffset, about.at);
    case "llm-request-cancelled": {
      about.settled.add(event.payload.requestOffset);
      // Past the deadline the office alone writes it (REQ-5).
      const until = about.writer.kind === "office" ? Number.NEGATIVE_INFINITY : about.at;
      return closedRefusal(draft.state, event.payload.requestOffset, until);
    }
    default:
      return undefined;
  }
}

const conflict = (message: string): Refusal => ({ code: "conflict", message });
const invalid = (message: string): Refusal => ({ code: "invalid", message });
const forbidden = (message: string): Refusal => ({ code: "forbidden", message });

/** A settlement of what is not open settles nothing, and its batch goes with it (STREAM-1, REQ-3, REQ-5). */
function closedRefusal(state: StreamState, request: number, at: number): Refusal | undefined {
  if (isOpen(state, request, at)) return undefined;
  const { open } = state;
  const why =
    open?.offset === request
      ? "its deadline has passed"
      : open === null
        ? "no request is open"
        : `request ${open.offset} is`;
  return conflict(`Request ${request} is not open: ${why}. Read what came after it, and settle nothing.`);
}

/** The calls that a settlement names are those of its answer (CTX-9). */
function callsRefusal(
  { state }: Draft,
  event: NewEvent & { type: "llm-request-succeeded" },
): Refusal | undefined {
  const { calls = [], requestOffset } = event.payload;
  if (calls.length === 0) return undefined;
  if (new Set(calls).size < calls.length) return invalid("Each call is named once.");
  const numbered = calls.every((id, i) => id === `exe_${requestOffset}_${i + 1}`);
  if (!numbered)
    return invalid(`Calls are named in order, from exe_${requestOffset}_1: exe_<request offset>_<n>.`);
  const answer = state.items.findLast(({ offset }) => offset === state.open?.answer)?.item;
  if (answer && callsIn(answer.content, calls)) return undefined;
  return invalid(
    "Each call that is named is a block fenced as call in the answer, which stands before its settlement.",
  );
}

function itemRefusal(draft: Draft, item: ContextItem, about: About): Refusal | undefined {
  if (byteLength(item.content) > APPEND_LIMITS.contentBytes)
    return {
      code: "too_large",
      message: `An item's content is at most ${APPEND_LIMITS.contentBytes} bytes.`,
    };
  if (item.role === "assistant" && about.settled.has(item.llmRequestOffset ?? 0))
    return invalid("The answer stands before its settlement.");
  if (item.actor?.type === "script" && about.writer.kind !== "office") {
    const refusal = resultRefusal(draft, item, item.actor.executionId, about);
    if (refusal) return refusal;
  }
  return keyRefusal(draft, item, about.writer);
}

/** A script's item is the result of one call, the first, from whoever settled the answer (CTX-9). */
function resultRefusal(
  { state, calls }: Draft,
  item: ContextItem,
  id: string,
  { writer, stream }: About,
): Refusal | undefined {
  const call = state.calls[calls.get(id) ?? -1];
  if (call === undefined) return forbidden(`No answer that counts made the call ${id}.`);
  if ((call.by ?? undefined) !== spelled(writer))
    return forbidden(`The result of ${id} comes from who settled its answer.`);
  if (call.result !== null) return conflict(`The call ${id} has its result.`);
  if (item.key !== id) return invalid(`The key of a result is the call's id, ${id}.`);
  const [ref, ...more] = item.refs ?? [];
  const named =
    ref?.type === "event" &&
    more.length === 0 &&
    ref.streamPath === stream &&
    ref.offset === call.answer &&
    ref.eventType === "context-item";
  if (!named)
    return invalid(
      `A result refers to its answer: refs is [{"type":"event","streamPath":"${stream}","offset":${call.answer},"eventType":"context-item"}].`,
    );
  const fault = resultFault(item.content);
  if (fault !== undefined) return invalid(fault);
  const behaviour = item.llmRequestPolicy?.behaviour ?? "after-current-request";
  const waiting = state.calls.some((c) => c.answer === call.answer && c.result === null && c.id !== id);
  if (waiting && behaviour !== "dont-trigger-request")
    return invalid("Until the answer's last result, a result has the policy dont-trigger-request.");
  return undefined;
}

/** An update replaces what it updates: not what its writer could not have written (STREAM-4, CTX-2). */
function keyRefusal({ state, keys }: Draft, item: ContextItem, writer: Writer): Refusal | undefined {
  if (writer.kind === "office" || item.key === undefined) return undefined;
  const old = state.items[keys.get(item.key) ?? -1]?.item;
  if (old?.role !== "system") return undefined;
  return forbidden(`The key ${item.key} is that of a system item. Choose another.`);
}
