/** Rows of items (QUEUE-1). Every change of state goes through `moveTo` (queue/states.ts). */
import type { ItemState } from "../../../src/shared/rules/item-states.ts";
import type { Queued } from "../../../src/shared/rules/queue.ts";
import type { Db } from "../../kit/db.ts";
import type { Origin, Requester, Wake } from "../letters.ts";

export type Trigger = "human" | "agent" | "automation" | "schedule";

export interface ItemRow {
  id: string;
  kind: string;
  title: string;
  /** What was asked for when the item was made; every offer's journal begins with it. */
  body: string | null;
  state: ItemState;
  priority: number;
  trigger: Trigger;
  parent_id: string | null;
  subject_type: string | null;
  subject_ref: string | null;
  /** JSON: `Origin`, `Requester`, `Wake["question"]`. */
  origin: string | null;
  requester: string | null;
  question: string | null;
  /** The number of its newest round. */
  round: number;
  /** Counts up with every change that an offer would show. */
  rev: number;
  /** Where it stands in the queue; null when it is not queued, or moves to another office. */
  place: number | null;
  queued_at: number | null;
  declines: number;
  /** Not offered before, ms (OFFER-3). */
  not_before: number | null;
  interrupted: number;
  /** 1: the agent may still believe that it runs this, though it does not (OFFER-7). */
  held: number;
  /** JSON `{to, by, due}`: it goes to another office as soon as the agent has let go. */
  moving: string | null;
  session_id: string | null;
  progress: string | null;
  progress_at: number | null;
  /** When the agent last gave a sign of work, ms (OFF-10). */
  signed_at: number | null;
  /** Why it waits, is blocked or was canceled. */
  why: string | null;
  created_at: number;
  changed_at: number;
}

export function item(db: Db, id: string): ItemRow | undefined {
  return db.one<ItemRow>("SELECT * FROM items WHERE id = ?", id);
}

/** What the agent has: accepted and not ended. */
export function activeItems(db: Db): ItemRow[] {
  return db.all<ItemRow>("SELECT * FROM items WHERE state = 'active' ORDER BY changed_at, id");
}

/** Whether the agent has, or may believe it has, anything (QUEUE-3). */
export function isBusy(db: Db): boolean {
  return (
    db.one("SELECT 1 FROM items WHERE state = 'active'") !== undefined ||
    db.one("SELECT 1 FROM items WHERE held = 1") !== undefined
  );
}

/** What the agent may still be busy with, though it is no longer its (OFFER-7). */
export function heldItems(db: Db): ItemRow[] {
  return db.all<ItemRow>("SELECT * FROM items WHERE held = 1 ORDER BY id");
}

/** The queue in its order (QUEUE-2), and no more of it than that: it may be long, and each item wide. */
export function queueOrder(db: Db): Queued[] {
  return db.all<Queued>(
    `SELECT id, kind, priority, place, queued_at AS queuedAt, not_before AS notBefore
       FROM items WHERE place IS NOT NULL ORDER BY place`,
  );
}

/** Where an item stands in the queue, from 1; undefined for one that is not in it. */
export function positionOf(db: Db, row: ItemRow): number | undefined {
  if (row.place === null) return undefined;
  return db.one<{ n: number }>("SELECT count(*) AS n FROM items WHERE place <= ?", row.place)?.n;
}

/** Items that are not finished, in the order in which they run, then those that wait and are blocked (ITEM-4). */
export function openItems(db: Db): ItemRow[] {
  return db.all<ItemRow>(
    `SELECT * FROM items WHERE state IN ('active', 'queued', 'waiting', 'blocked') ORDER BY
       CASE state WHEN 'active' THEN 0 WHEN 'queued' THEN 1 WHEN 'waiting' THEN 2 ELSE 3 END,
       place IS NULL, place, changed_at, id`,
  );
}

export function originOf(row: ItemRow): Origin | undefined {
  return row.origin === null ? undefined : (JSON.parse(row.origin) as Origin);
}
export function requesterOf(row: ItemRow): Requester | undefined {
  return row.requester === null ? undefined : (JSON.parse(row.requester) as Requester);
}
export function questionOf(row: ItemRow): Wake["question"] {
  return row.question === null ? undefined : (JSON.parse(row.question) as Wake["question"]);
}

/** Changes columns of an item; `rev` counts up, so that an offer that is being made is made anew. */
export function change(
  db: Db,
  id: string,
  columns: Partial<Omit<ItemRow, "id" | "rev">>,
  options: { quietly?: boolean } = {},
): void {
  const set = Object.keys(columns).map((name) => `${name} = ?`);
  if (!options.quietly) set.push("rev = rev + 1");
  db.run(
    `UPDATE items SET ${set.join(", ")} WHERE id = ?`,
    ...Object.values<string | number | null>(columns),
    id,
  );
}
