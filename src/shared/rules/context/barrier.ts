/** How far a compaction reaches, and what it leaves (CTX-4). */
import type { ContextItem } from "../../wire/context/item.ts";
import { type Barrier, type Call, type Entry, isCompaction } from "./state.ts";

/**
 * The highest barrier at or below the asked one that parts no call from its result and drops none that is still
 * without one (CTX-4, CTX-9); 0: there is none.
 * @param calls in the order of their answers
 */
export function barrierFor(calls: readonly Call[], asked: number): number {
  let through = asked;
  // From the newest answer down: once it was lowered, a later answer lies above it and can no longer be parted.
  for (let i = calls.length - 1; i >= 0; i--) {
    const { answer, result } = calls[i] as Call;
    if (answer <= through && (result === null || through < result)) through = answer - 1;
  }
  return through;
}

/**
 * The barrier that a compaction item puts in force; undefined: it does nothing, since it is at or past its own
 * offset, or at or below the one in force (CTX-4).
 */
export function barrierOf(
  state: { calls: readonly Call[]; barrier: Barrier | null },
  offset: number,
  item: ContextItem,
): Barrier | undefined {
  const asked = item.compaction?.replacesHistoryThrough ?? 0;
  if (asked >= offset) return undefined;
  const through = barrierFor(state.calls, asked);
  return through > (state.barrier?.through ?? 0) ? { through, offset } : undefined;
}

/**
 * What stands after a compaction: system items, what came after the barrier, and the summary in front of that. An
 * earlier summary gives way to the one that is in force now.
 */
export function compacted(items: readonly Entry[], through: number, summary: Entry): Entry[] {
  const left: Entry[] = [];
  let placed = false;
  for (const entry of items) {
    const cameAfter = entry.offset > through;
    if (isCompaction(entry.item) || (!cameAfter && entry.item.role !== "system")) continue;
    if (cameAfter && !placed) {
      left.push(summary);
      placed = true;
    }
    left.push(entry);
  }
  if (!placed) left.push(summary);
  return left;
}
