/**
 * The rules of reducing once more, word by word and with no thought of speed: no indexes, and everything looked up in
 * the whole list each time. The reducer is held against it.
 */
import { STREAM_PAYLOADS, type StreamEventType } from "../../wire/context/event.ts";
import type { ContextItem } from "../../wire/context/item.ts";
import type { StreamEvent } from "./state.ts";

interface Known {
  items: { offset: number; item: ContextItem }[];
  covered: number;
  open: { offset: number; deadline: number; answer: number } | undefined;
  pending: number | undefined;
  /** Of those pending, the newest from outside. */
  external: number | undefined;
  /** Of what is open. */
  openFor: { trigger: number; external: number | undefined } | undefined;
  failures: number;
  paused: string | undefined;
  /** Every call there ever was. */
  calls: { id: string; answer: number; results: number[] }[];
  barrier: number;
}

const isSummary = (item: ContextItem) => item.role === "developer" && item.compaction !== undefined;
const ourselves = new Set<string | undefined>([undefined, "agent", "script"]);

/** CTX-4: the highest at or below the asked one that parts no call from its result, nor drops one without. */
function allowed(asked: number, calls: Known["calls"]): number {
  for (let b = asked; b > 0; b--) {
    const fine = calls.every(({ answer, results }) => {
      const newest = results.at(-1);
      const dropped = answer <= b;
      return dropped ? newest !== undefined && newest <= b : newest === undefined || newest > b;
    });
    if (fine) return b;
  }
  return 0;
}

/** What a log comes to, as far as a reader sees it. */
export function reference(events: readonly StreamEvent[]): Pick<Known, "items" | "covered" | "failures"> & {
  open: number | undefined;
  pending: number | undefined;
  paused: boolean;
} {
  const known: Known = {
    items: [],
    covered: 0,
    open: undefined,
    pending: undefined,
    external: undefined,
    openFor: undefined,
    failures: 0,
    paused: undefined,
    calls: [],
    barrier: 0,
  };
  for (const event of events) take(known, event);
  const { items, covered, failures, open, pending, paused } = known;
  return { items, covered, failures, open: open?.offset, pending, paused: paused !== undefined };
}

function take(known: Known, { offset, type, payload, at }: StreamEvent): void {
  if (!Object.hasOwn(STREAM_PAYLOADS, type)) return;
  const parsed = STREAM_PAYLOADS[type as StreamEventType].safeParse(payload);
  if (!parsed.success) return;
  const said = parsed.data as Record<string, unknown>;
  const answerable = known.open !== undefined && at < known.open.deadline;
  const isOpen = answerable && known.open?.offset === said.requestOffset;
  switch (type as StreamEventType) {
    case "context-item":
      takeItem(known, offset, at, payload as ContextItem);
      break;
    case "llm-request-requested":
      if (known.open || known.paused !== undefined || known.pending !== said.trigger) break;
      known.open = { offset, deadline: Date.parse(said.deadline as string), answer: 0 };
      known.openFor = { trigger: said.trigger as number, external: known.external };
      known.covered = offset;
      known.pending = undefined;
      known.external = undefined;
      break;
    case "llm-request-succeeded":
      if (!isOpen || !known.open) break;
      if (known.items.some((one) => one.offset === known.open?.answer))
        for (const id of (said.calls as string[] | undefined) ?? [])
          if (
            new RegExp(`^exe_${offsetOf(known.open)}_[1-9][0-9]*$`).test(id) &&
            !known.calls.some((c) => c.id === id)
          )
            known.calls.push({ id, answer: known.open.answer, results: [] });
      known.open = undefined;
      known.failures = 0;
      break;
    case "llm-request-failed":
      if (!isOpen) break;
      known.open = undefined;
      if (known.external !== undefined || said.reason === "context_full") break;
      known.failures += 1;
      known.external = known.openFor?.external;
      if (known.pending === undefined && known.failures < 3) known.pending = known.openFor?.trigger;
      if (known.pending === undefined) known.external = undefined;
      break;
    case "llm-request-cancelled":
      if (known.open?.offset === said.requestOffset) known.open = undefined;
      break;
    case "stream-paused":
      known.paused = said.reason as string;
      if (known.paused !== "stop") break;
      if (known.external !== undefined && known.external <= known.covered) known.external = undefined;
      known.pending = known.external;
      break;
    case "stream-resumed":
      known.paused = undefined;
      break;
    case "context-item-redacted": {
      const found = known.items.find((one) => one.offset === said.offset);
      if (!found) break;
      known.items = known.items.map((one) => {
        const alike = one.item.key === found.item.key && found.item.key !== undefined;
        const same = one === found || (alike && !isSummary(one.item) && !isSummary(found.item));
        if (!same) return one;
        const { files: _gone, ...item } = one.item;
        return { ...one, item: { ...item, content: "" } };
      });
      break;
    }
  }
}

const offsetOf = ({ offset }: { offset: number }) => offset;

function takeItem(known: Known, offset: number, at: number, item: ContextItem): void {
  if (item.role === "assistant" && item.llmRequestOffset !== undefined) {
    const { open } = known;
    if (!open || open.offset !== item.llmRequestOffset || at >= open.deadline) return;
    open.answer = offset;
    place(known, offset, item);
    return;
  }
  if (isSummary(item)) {
    const asked = item.compaction?.replacesHistoryThrough ?? 0;
    const b = asked < offset ? allowed(asked, known.calls) : 0;
    if (b <= known.barrier) return;
    known.barrier = b;
    known.calls = known.calls.filter(({ results }) => (results.at(-1) ?? offset) > b);
    const left = known.items.filter(
      (one) => !isSummary(one.item) && (one.item.role === "system" || one.offset > b),
    );
    const first = left.findIndex((one) => one.offset > b);
    known.items = left.toSpliced(first < 0 ? left.length : first, 0, { offset, item });
    return;
  }
  place(known, offset, item);
  const { actor } = item;
  const call = known.calls.find(({ id }) => id === item.key);
  const isResult = item.role === "developer" && actor?.type === "script" && actor.executionId === item.key;
  if (isResult || (call?.results.length ?? 0) > 0) call?.results.push(offset);
  const policy = item.llmRequestPolicy?.behaviour ?? "after-current-request";
  if ((item.role !== "user" && item.role !== "developer") || policy === "dont-trigger-request") return;
  if (policy === "interrupt-current-request") known.open = undefined;
  known.pending = offset;
  if (ourselves.has(actor?.type)) return;
  known.external = offset;
  known.failures = 0;
  if (known.paused === "stop" || known.paused === "turns") known.paused = undefined;
}

function place(known: Known, offset: number, item: ContextItem): void {
  const last = known.items.findLastIndex((one) => one.item.key === item.key && !isSummary(one.item));
  const old = known.items[last];
  const replaces =
    item.key !== undefined &&
    old !== undefined &&
    old.offset > known.covered &&
    !known.calls.some(({ answer }) => answer === old.offset);
  if (replaces) known.items[last] = { offset, item };
  else known.items.push({ offset, item });
}
