/** The order of a person's queue, and what of it is offered next (QUEUE-2, QUEUE-3, OFFER-3). */

/** A queued item as far as its order goes. */
export interface Queued {
  id: string;
  kind: string;
  /** A smaller number runs first. */
  priority: number;
  /** Where it stands: smaller is earlier. */
  place: number;
  /** Ms; null: since before anybody knows. */
  queuedAt: number | null;
  /** Not offered before, ms. */
  notBefore: number | null;
}

/** Between two neighbours there is room for twenty more before all are numbered anew. */
const STEP = 2 ** 20;

/**
 * Where a new item goes among those that are queued, in order: behind the last with the same or a smaller number,
 * and never ahead of one that has waited for so long (QUEUE-2).
 */
export function indexFor(queue: readonly Queued[], priority: number, now: number, maxWaitMs: number): number {
  const last = queue.findLastIndex(
    (one) => one.priority <= priority || (one.queuedAt ?? 0) <= now - maxWaitMs,
  );
  return last + 1;
}

/** Where an item goes when somebody places it among the others (`work_place`); undefined: `relativeTo` is not there. */
export function indexOfPosition(
  others: readonly Queued[],
  position: "next" | "last" | "before" | "after",
  relativeTo: string | undefined,
): number | undefined {
  if (position === "next") return 0;
  if (position === "last") return others.length;
  const at = others.findIndex(({ id }) => id === relativeTo);
  if (at === -1) return undefined;
  return position === "before" ? at : at + 1;
}

/**
 * The place of an item at an index among the others. Where two neighbours leave no room everybody is numbered
 * anew: `moved` has the others' new places.
 */
export function placeAt(
  others: readonly Queued[],
  index: number,
): { place: number; moved: { id: string; place: number }[] } {
  const before = others[index - 1]?.place;
  const after = others[index]?.place;
  if (before === undefined && after === undefined) return { place: 0, moved: [] };
  if (after === undefined) return { place: (before ?? 0) + STEP, moved: [] };
  if (before === undefined) return { place: after - STEP, moved: [] };
  const middle = Math.floor((before + after) / 2);
  if (middle > before && middle < after) return { place: middle, moved: [] };
  return {
    place: index * STEP,
    moved: others.map(({ id }, i) => ({ id, place: (i < index ? i : i + 1) * STEP })),
  };
}

/** What can run beside each other: with a chat lane one chat or question beside one other item (QUEUE-3). */
export type Lane = "main" | "chat";
export function laneOf(kind: string, chatLane: boolean): Lane {
  return chatLane && (kind === "chat" || kind === "question") ? "chat" : "main";
}

/** What is offered next: the first whose lane is free and that was not declined just now. */
export function nextOf<T extends Queued>(
  queue: readonly T[],
  taken: ReadonlySet<Lane>,
  chatLane: boolean,
  now: number,
): T | undefined {
  return queue.find((one) => (one.notBefore ?? 0) <= now && !taken.has(laneOf(one.kind, chatLane)));
}

/** The fifth decline in a row blocks an item (OFFER-3). */
export const MAX_DECLINES = 5;
/** How long a declined item is not offered again, after so many declines in a row (OFFER-3). */
export function declineWaitMs(declines: number): number {
  return Math.min(60_000 * 2 ** (declines - 1), 15 * 60_000);
}
