/** What looks stuck (OFF-10): shown, a human told once a stretch, and nothing ends by itself. */
import type { Db } from "../../kit/db.ts";
import type { Desk } from "../desk.ts";
import type { ItemRow } from "../store/items.ts";
import { tellHumans } from "./tell.ts";

/** An offer without an answer for so long looks stuck. */
export const UNANSWERED_MS = 300_000;
/** What waits for so long looks stuck. */
export const WAITS_TOO_LONG_MS = 7 * 86_400_000;

interface Stuck {
  row: ItemRow;
  /** When the stretch began, ms. */
  since: number;
  /** From when on it counts as stuck. */
  from: number;
  what: string;
}

/** Everything that is stuck or may become so. */
function candidates(db: Db, connected: boolean, stuckMs: number): Stuck[] {
  const all: Stuck[] = [];
  if (connected) {
    for (const row of db.all<ItemRow>("SELECT * FROM items WHERE state = 'active'")) {
      const since = row.signed_at ?? row.changed_at;
      all.push({ row, since, from: since + stuckMs, what: "no sign of work" });
    }
    for (const row of db.all<ItemRow & { first_at: number }>(
      "SELECT items.*, offers.first_at FROM offers JOIN items ON items.id = offers.item",
    ))
      all.push({
        row,
        since: row.first_at,
        from: row.first_at + UNANSWERED_MS,
        what: "the offer is not answered",
      });
  }
  for (const row of db.all<ItemRow>("SELECT * FROM items WHERE state = 'waiting'"))
    all.push({ row, since: row.changed_at, from: row.changed_at + WAITS_TOO_LONG_MS, what: "waits" });
  return all;
}

/** What is stuck now, in words, by item. */
export function stuckItems(desk: Pick<Desk, "db" | "now" | "connection" | "team">): Map<string, string> {
  const ms = desk.team.policies.stuck_minutes * 60_000;
  const now = candidates(desk.db, desk.connection !== undefined, ms).filter(({ from }) => from <= desk.now);
  return new Map(
    now.map(({ row, since, what }) => [row.id, `${what} since ${new Date(since).toISOString()}`]),
  );
}

/** Tells of what has become stuck, and looks again when the next may be. */
export function tellStuck(desk: Desk): void {
  const ms = desk.team.policies.stuck_minutes * 60_000;
  let next: number | undefined;
  for (const { row, since, from, what } of candidates(desk.db, desk.connection !== undefined, ms)) {
    if (from > desk.now) {
      next = Math.min(next ?? from, from);
      continue;
    }
    const minutes = Math.round((desk.now - since) / 60_000);
    // One stretch is one cause: with the next sign another begins.
    tellHumans(
      desk,
      `stuck ${row.id} ${since}`,
      row.id,
      `${desk.handle} looks stuck on "${row.title}": ${what} for ${minutes} minutes. Stop it, queue it again, or wait.`,
    );
    desk.changed(row.id);
  }
  if (next !== undefined) desk.alarm("stuck", next);
}
