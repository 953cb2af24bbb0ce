/** What the office does next with a stream, or when (REQ-1, REQ-4, REQ-5, REQ-6, REQ-8). Pure: time is an argument. */
import { ALONE, MAX_TURNS_ALONE } from "./requests.ts";
import type { StreamState } from "./state.ts";
import { compactionBarrier, isOverfull, type Window } from "./tokens.ts";

/** What comes at once is answered at once: counted from the first input (REQ-1). */
export const DEBOUNCE_MS = 250;
/** How long a request stays open (REQ-5). */
export const DEADLINE_MS = 10 * 60_000;

export type Step =
  /** Append `llm-request-requested` with this trigger; `full`: and at once its failure, `context_full` (REQ-8). */
  | { do: "open"; trigger: number; full: boolean }
  /** Append `llm-request-cancelled` for what is past its deadline (REQ-5). */
  | { do: "expire"; request: number }
  /** Append `stream-paused` (REQ-6). */
  | { do: "pause"; reason: string }
  /** The prompt does not fit: nothing is opened before a compaction came or failed (REQ-8). */
  | { do: "compact"; through: number }
  /** Look again by then, ms: not before. */
  | { do: "wait"; until: number }
  | { do: "nothing" };

/** The one next step. After it was carried out, and after every append, it is asked again. */
export function nextStep(state: StreamState, now: number, model: Window): Step {
  const { open, pending, paused } = state;
  if (open !== null)
    return now < open.deadline
      ? { do: "wait", until: open.deadline }
      : { do: "expire", request: open.offset };
  if (pending === null || paused !== null) return { do: "nothing" };
  const due = Math.max(pending.since + DEBOUNCE_MS, pending.notBefore);
  if (now < due) return { do: "wait", until: due };
  if (pending.external === null && !pending.retry && state.turnsAlone >= MAX_TURNS_ALONE)
    return { do: "pause", reason: ALONE };
  if (!isOverfull(state, model)) return { do: "open", trigger: pending.offset, full: false };
  const through = compactionBarrier(state, model.failed);
  return through === undefined
    ? { do: "open", trigger: pending.offset, full: true }
    : { do: "compact", through };
}
