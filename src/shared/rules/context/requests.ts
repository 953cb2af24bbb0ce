/** What items and failures do to the next request (CTX-5, REQ-1, REQ-3, REQ-4, REQ-6). */
import type { ContextItem } from "../../wire/context/item.ts";
import type { StreamEvent, StreamState } from "./state.ts";

/** Attempts at one request, the first included (REQ-4). */
export const MAX_ATTEMPTS = 3;
const FIRST_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 60_000;
/** Turns without anybody from outside, after which the stream pauses itself (REQ-6). */
export const MAX_TURNS_ALONE = 100;

/** Why a stream that a person stopped is paused (REQ-3), and one that paused itself (REQ-6). */
export const STOP = "stop";
export const ALONE = "turns";
/** Why a request fails that fits no window: trying again changes nothing (REQ-8). */
export const CONTEXT_FULL = "context_full";

/** Actors from outside: whoever writes is somebody, not the agent's own loop (CTX-5). */
const OUTSIDE: ReadonlySet<string> = new Set(["user", "slack", "telegram", "email", "github", "integration"]);

/** Whether a pause ends with the next trigger from outside; one that somebody made on purpose does not (REQ-6). */
export function endsByItself(reason: string): boolean {
  return reason === STOP || reason === ALONE;
}

/** What an item does to the turn (CTX-5): `external` is somebody from outside, `own` the agent's own loop. */
export function triggerOf(item: ContextItem): "external" | "own" | undefined {
  if (item.role === "system" || item.role === "assistant") return undefined;
  if (item.llmRequestPolicy?.behaviour === "dont-trigger-request") return undefined;
  return item.actor !== undefined && OUTSIDE.has(item.actor.type) ? "external" : "own";
}

/** An item came that is no answer and no compaction: it may close what is open and ask for the next (CTX-5, REQ-3). */
export function afterTrigger(state: StreamState, { offset, at }: StreamEvent, item: ContextItem): void {
  const trigger = triggerOf(item);
  if (trigger === undefined) return;
  if (item.llmRequestPolicy?.behaviour === "interrupt-current-request") state.open = null;
  const old = state.pending;
  const since = old?.since ?? at;
  if (trigger === "own") {
    const external = old?.external ?? null;
    state.pending = { offset, external, since, notBefore: old?.notBefore ?? since, retry: false };
    return;
  }
  state.failures = 0;
  state.turnsAlone = 0;
  if (state.paused !== null && endsByItself(state.paused.reason)) state.paused = null;
  // Whoever writes while the office waits for the next try is not made to wait with it.
  const first = old?.retry === true ? at : since;
  state.pending = { offset, external: offset, since: first, notBefore: first, retry: false };
}

/**
 * The open request failed: it is asked for again after a while, unless somebody from outside asked for something
 * newer meanwhile, or it was tried often enough (REQ-4).
 */
export function afterFailure(state: StreamState, at: number, reason: string): void {
  const { open, pending } = state;
  const newer = pending !== null && pending.external !== null;
  if (open === null || newer || reason === CONTEXT_FULL) return;
  state.failures += 1;
  const notBefore = at + backoff(state.failures);
  if (pending !== null) state.pending = { ...pending, external: open.external, notBefore };
  else if (state.failures < MAX_ATTEMPTS)
    state.pending = {
      offset: open.trigger,
      external: open.external,
      since: at,
      notBefore,
      retry: true,
    };
}

/** How long after so many failures the next try waits, ms (REQ-4). */
export function backoff(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS);
}
