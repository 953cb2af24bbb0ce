/** What a batch did to requests, told to the hooks one after the other (hooks.ts). */
import { triggerOf } from "../../../src/shared/rules/context/requests.ts";
import type { NewEvent } from "../../../src/shared/rules/context/settle.ts";
import { isCompaction, type StreamState } from "../../../src/shared/rules/context/state.ts";
import type { ContextItem } from "../../../src/shared/wire/context/item.ts";
import type { Desk } from "../desk.ts";
import type { Ended } from "./hooks.ts";
import type { StreamName } from "./paths.ts";
import { eventAt } from "./store.ts";

interface Open {
  offset: number;
  trigger: number;
  answer: { offset: number; content: string } | undefined;
}

/** @param after the state with the whole batch */
export function tellHooks(
  desk: Desk,
  of: { stream: StreamName; id: number },
  before: StreamState,
  batch: readonly NewEvent[],
  after: StreamState,
): void {
  const { stream } = of;
  let open =
    before.open &&
    ({
      offset: before.open.offset,
      trigger: before.open.trigger,
      answer: storedAnswer(desk, of.id, before.open.answer),
    } as Open | null);
  const end = (by: number, more: Pick<Ended, "outcome"> & Partial<Ended>) => {
    if (open === null) return;
    const { offset: request, trigger, answer } = open;
    open = null;
    const ended: Ended = { stream, request, trigger, by, calls: [], ...(answer && { answer }), ...more };
    for (const hook of desk.streams.hooks) hook.ended?.(desk, ended);
  };
  for (const event of batch) {
    const { offset } = event;
    switch (event.type) {
      case "context-item":
        if (open && event.payload.role === "assistant" && event.payload.llmRequestOffset === open.offset)
          open = { ...open, answer: { offset, content: event.payload.content } };
        if (interrupts(event.payload)) end(offset, { outcome: "interrupted" });
        break;
      case "llm-request-requested":
        // One whose trigger had moved on opens nothing (REQ-1).
        if (open !== null || after.covered < offset) break;
        open = { offset, trigger: event.payload.trigger, answer: undefined };
        for (const hook of desk.streams.hooks)
          hook.opened?.(desk, {
            stream,
            request: offset,
            trigger: event.payload.trigger,
            deadline: Date.parse(event.payload.deadline),
          });
        break;
      case "llm-request-succeeded": {
        const { calls = [], usage } = event.payload;
        end(offset, { outcome: "succeeded", calls, ...(usage && { usage }) });
        break;
      }
      case "llm-request-failed":
        end(offset, { outcome: "failed", reason: event.payload.reason });
        break;
      case "llm-request-cancelled":
        end(offset, { outcome: "cancelled" });
        break;
      case "stream-paused":
        for (const hook of desk.streams.hooks) hook.paused?.(desk, stream, event.payload.reason);
        break;
      case "stream-resumed":
        for (const hook of desk.streams.hooks) hook.paused?.(desk, stream, undefined);
        break;
      case "context-item-redacted":
        break;
    }
  }
}

function interrupts(item: ContextItem): boolean {
  return (
    item.llmRequestPolicy?.behaviour === "interrupt-current-request" &&
    !isCompaction(item) &&
    triggerOf(item) !== undefined
  );
}

function storedAnswer(desk: Desk, stream: number, offset: number | null): Open["answer"] {
  const row = offset === null ? undefined : eventAt(desk.db, stream, offset);
  return row && { offset: row.offset, content: (JSON.parse(row.payload) as ContextItem).content };
}
