/** Finding the item that a message names: an item that is another's does not exist (OFF-9, OFFER-7). */
import type { Desk } from "../desk.ts";
import { AgentRefused } from "../handler.ts";
import { change, type ItemRow, item } from "../store/items.ts";
import { type RoundRow, round } from "../store/rounds.ts";

const NO_SUCH = "There is no such work item of yours. work_list names those that there are.";

/** An own item, in whatever state. */
export function ownItem(desk: Desk, id: string): ItemRow {
  const row = item(desk.db, id);
  if (row && row.moving === null) return row;
  const { to, by } = row ? goesTo(row) : (leftTo(desk, id) ?? { to: undefined, by: "" });
  if (to === undefined) throw new AgentRefused("unknown_item", NO_SUCH);
  throw new AgentRefused("unknown_item", `${by} moved this item to ${to}. Stop working on it.`, letGo(id));
}

/** An own item that the agent accepted and has not handed back. */
export function runningItem(desk: Desk, id: string): ItemRow {
  const row = ownItem(desk, id);
  if (row.state === "active") return row;
  const last = acceptedRound(desk, row);
  if (last?.ended === "stopped")
    throw new AgentRefused(
      "unknown_item",
      `${row.why ?? "This was stopped"}. Stop working on it.`,
      letGo(id),
    );
  throw new AgentRefused(
    "invalid",
    `This item is ${row.state}, not active. Accept it when it is offered before you report on it.`,
  );
}

/** The newest round that was accepted: what the agent can still be speaking of. */
export function acceptedRound(desk: Desk, row: ItemRow): RoundRow | undefined {
  const newest = round(desk.db, row.id, row.round);
  if (newest && newest.accepted_at !== null) return newest;
  return desk.db.one<RoundRow>(
    "SELECT * FROM rounds WHERE item = ? AND accepted_at IS NOT NULL ORDER BY n DESC LIMIT 1",
    row.id,
  );
}

export interface Moving {
  to: string;
  by: string;
  /** When it leaves though nobody let go of it. */
  due: number;
  /** It could not leave: when that is tried again. */
  again?: number;
}
export function goesTo(row: ItemRow): Moving {
  return JSON.parse(row.moving ?? "{}") as Moving;
}

/** Where an item that was here went; its round, 0 when the agent had none of it, and that round's outcome. */
export function leftTo(
  desk: Desk,
  id: string,
): { to: string; by: string; round: number; outcome: string | null } | undefined {
  return desk.db.one('SELECT target AS "to", by, round, outcome FROM left_items WHERE item = ?', id);
}

/** The agent was told that the item is no longer its: it counts as free (OFFER-7). */
export function letGo(id: string): (desk: Desk) => void {
  return (desk) => change(desk.db, id, { held: 0 }, { quietly: true });
}
