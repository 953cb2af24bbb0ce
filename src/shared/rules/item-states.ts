/** The states of an item and what leads from one to another (QUEUE-1). */

export const ITEM_STATES = ["queued", "active", "waiting", "blocked", "done", "canceled"] as const;
export type ItemState = (typeof ITEM_STATES)[number];

const NEXT: Readonly<Record<ItemState, readonly ItemState[]>> = {
  queued: ["active", "blocked", "canceled"],
  active: ["done", "waiting", "blocked", "queued", "canceled"],
  waiting: ["queued", "done", "blocked", "canceled"],
  blocked: ["queued", "done", "canceled"],
  done: ["queued"],
  canceled: ["queued"],
};

/** Who changes a state: a canceled item is queued again by a person alone. */
export type Mover = "person" | "agent" | "office";

/** The states that somebody may bring an item to. */
export function possible(from: ItemState, by: Mover): readonly ItemState[] {
  return from === "canceled" && by !== "person" ? [] : NEXT[from];
}

/** Why a change is not possible, and what is; undefined when it is. */
export function cannotMove(from: ItemState, to: ItemState, by: Mover): string | undefined {
  const may = possible(from, by);
  if (may.includes(to)) return undefined;
  if (may.length === 0) return "A canceled item is queued again by a person only. Ask one.";
  return `An item that is ${from} cannot become ${to}. Possible: ${may.join(", ")}.`;
}

/** Whether anything can still happen to it by itself. */
export function isOpen(state: ItemState): boolean {
  return state !== "done" && state !== "canceled";
}

/** Kinds of work that end without anything to review (OFFER-6). */
const ENDS_WITHOUT: ReadonlySet<string> = new Set(["question", "chat", "review", "merge"]);
export function endsWithout(kind: string): boolean {
  return ENDS_WITHOUT.has(kind);
}

/** What a hand-back brings an item to, before what is pending for it is looked at (OFFER-6). */
export function stateAfter(
  status: "done" | "waiting" | "blocked" | "silent" | "interrupted",
  reviewable: boolean,
): { state: ItemState; ended: "done" | "waiting" | "blocked" | "silent" | "interrupted"; evidence: boolean } {
  if (status === "done")
    return reviewable
      ? { state: "done", ended: "done", evidence: true }
      : { state: "blocked", ended: "blocked", evidence: false };
  if (status === "silent") return { state: "done", ended: "silent", evidence: true };
  if (status === "interrupted") return { state: "queued", ended: "interrupted", evidence: true };
  return { state: status, ended: status, evidence: true };
}
