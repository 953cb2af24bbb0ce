/** Where items stand in the queue (QUEUE-2). */
import { indexFor, indexOfPosition, placeAt, type Queued } from "../../../src/shared/rules/queue.ts";
import type { Desk } from "../desk.ts";
import { change, queueOrder } from "../store/items.ts";

/** What an item's kind weighs, unless somebody said otherwise. A kind of the team's own is as urgent as assigned work. */
export function priorityOf(desk: Desk, kind: string): number {
  const { priorities } = desk.team.pipeline;
  return Object.hasOwn(priorities, kind) ? priorities[kind as keyof typeof priorities] : priorities.assigned;
}

/** Puts an item among the queued: by its number, or first (OFFER-5). Hands back its place. */
export function placeOf(
  desk: Desk,
  id: string,
  priority: number,
  where: "by_priority" | "first" | "last",
): number {
  const others = othersThan(desk, id);
  const maxWaitMs = desk.team.pipeline.max_wait_hours * 3_600_000;
  const index =
    where === "first"
      ? 0
      : where === "last"
        ? others.length
        : indexFor(others, priority, desk.now, maxWaitMs);
  return settle(desk, others, index);
}

/** Moves a queued item; false when `relativeTo` is not in the queue. */
export function place(
  desk: Desk,
  id: string,
  position: "next" | "last" | "before" | "after",
  relativeTo: string | undefined,
): boolean {
  const others = othersThan(desk, id);
  const index = indexOfPosition(others, position, relativeTo);
  if (index === undefined) return false;
  change(desk.db, id, { place: settle(desk, others, index) }, { quietly: true });
  desk.changed(id);
  return true;
}

function othersThan(desk: Desk, id: string): Queued[] {
  return queueOrder(desk.db).filter((one) => one.id !== id);
}

function settle(desk: Desk, others: readonly Queued[], index: number): number {
  const { place: at, moved } = placeAt(others, index);
  for (const one of moved) change(desk.db, one.id, { place: one.place }, { quietly: true });
  return at;
}
