/** How much of a model's window a stream takes, and when it is summarised (REQ-8). */
import type { ContextItem } from "../../wire/context/item.ts";
import { byteLength } from "../text.ts";
import { barrierFor } from "./barrier.ts";
import type { Entry, StreamState } from "./state.ts";

/** A model that the config does not name has this window (REQ-8). */
export const DEFAULT_WINDOW = 128_000;
const BYTES_A_TOKEN = 3;
const TOKENS_AN_ITEM = 8;
const TOKENS_AN_IMAGE = 1600;

/** What a model can take, in tokens. */
export interface Window {
  window: number;
  /** What its answer may take of that. */
  output: number;
  /** The barrier of a compaction that was tried and failed: it is not tried again until there is a new one. */
  failed?: number;
  /** What {@link uncountedEntries} take; else it is counted from the state, which must hold their words then. */
  uncounted?: number;
}

/** What an item takes that no provider has counted yet, in tokens (REQ-8). */
export function estimate(item: ContextItem): number {
  const images = item.files?.filter(({ contentType }) => contentType.startsWith("image/")).length ?? 0;
  return Math.ceil(byteLength(item.content) / BYTES_A_TOKEN) + TOKENS_AN_ITEM + images * TOKENS_AN_IMAGE;
}

/** The items that no provider has counted yet (REQ-8). */
export function uncountedEntries({ items, measured }: StreamState): Entry[] {
  const { request, answer } = measured ?? { request: 0, answer: null };
  return items.filter(({ offset }) => offset > request && offset !== answer);
}

/** What the next prompt takes: what was reported, and an estimate of each item that is not counted there (REQ-8). */
export function promptTokens(state: StreamState, uncounted?: number): number {
  const rest = uncounted ?? uncountedEntries(state).reduce((sum, { item }) => sum + estimate(item), 0);
  return (state.measured?.tokens ?? 0) + rest;
}

/**
 * The barrier that a compaction would have: the measured request, else the newest (REQ-8); undefined where it would
 * take nothing away, or was tried and failed.
 */
export function compactionBarrier(state: StreamState, failed: number | undefined): number | undefined {
  const through = state.measured?.request ?? state.covered;
  const inForce = state.barrier?.through ?? 0;
  return through !== failed && barrierFor(state.calls, through) > inForce ? through : undefined;
}

/**
 * Whether a compaction is due, and with which barrier (REQ-8). The same until it is appended or named as failed: who
 * asks for it asks once.
 */
export function compactionDue(state: StreamState, model: Window): number | undefined {
  return promptTokens(state, model.uncounted) > model.window / 2
    ? compactionBarrier(state, model.failed)
    : undefined;
}

/** Whether the next prompt leaves no place for the answer (REQ-8). */
export function isOverfull(state: StreamState, { window, output, uncounted }: Window): boolean {
  return promptTokens(state, uncounted) > window - output;
}
