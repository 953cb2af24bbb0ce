/** How a stream's state must be run: the open request, and calls without a result (REQ-7, CTX-9). */
import { callsIn } from "../shared/rules/context/calls.ts";
import { triggerOf } from "../shared/rules/context/requests.ts";
import type { Entry, StreamState } from "../shared/rules/context/state.ts";
import type { WaitingCall } from "./carry.ts";
import type { RunView } from "./runner.ts";

/** An answer as it was appended. */
export interface AnswerAt {
  content: string;
  /** Ms. */
  at: number;
}

/** @param answerAt the answer at an offset; undefined when its words were taken away */
export function viewOf(
  state: StreamState,
  path: string,
  answerAt: (offset: number) => AnswerAt | undefined,
): RunView {
  const { open, calls } = state;
  return {
    open: open === null ? undefined : { offset: open.offset, at: open.at, deadline: open.deadline },
    calls: calls.flatMap(({ id, answer, result }): WaitingCall[] => {
      if (result !== null) return [];
      const made = answerAt(answer);
      const [call] = (made && callsIn(made.content, [id])) ?? [];
      const interrupted = interruptedAfter(state, answer);
      return [
        {
          id,
          path,
          answer,
          at: made?.at ?? 0,
          interrupted,
          // What was redacted is carried out no more, and has a result all the same.
          tool: call?.tool ?? "redacted",
          input: call?.input ?? {},
        },
      ];
    }),
    wasInterrupted: (request) => interruptedAfter(state, request) && !state.items.some(answers(request)),
  };
}

const answers =
  (request: number) =>
  ({ item }: Entry): boolean =>
    item.role === "assistant" && item.llmRequestOffset === request;

/** Whether an item that interrupts stands after an offset (CTX-5, REQ-3). */
function interruptedAfter({ items }: StreamState, offset: number): boolean {
  for (let i = items.length - 1; i >= 0; i--) {
    const entry = items[i] as Entry;
    if (entry.offset <= offset) continue;
    const { item } = entry;
    if (item.llmRequestPolicy?.behaviour === "interrupt-current-request" && triggerOf(item)) return true;
  }
  return false;
}
