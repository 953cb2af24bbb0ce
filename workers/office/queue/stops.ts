/** What stops work from outside: a run's stop, and usage windows (CHAT-2, USE-3). */
import type { Desk } from "../desk.ts";
import type { OfficeLetters } from "../letters.ts";
import { item } from "../store/items.ts";
import { changePerson } from "../store/person.ts";
import { moveTo } from "./states.ts";

/**
 * The run of a chat item was stopped: by a person, which cancels the item, or at a ceiling, which blocks it, so that
 * a person can queue it again.
 */
export function takeStopRun(desk: Desk, { runId, by, because }: OfficeLetters["stop_run"]): void {
  const of = desk.db.one<{ item: string; n: number }>(
    "SELECT item, n FROM rounds WHERE run_id = ? ORDER BY n DESC",
    runId,
  );
  const row = of && item(desk.db, of.item);
  if (!row || of.n !== row.round || row.moving !== null) return;
  if (because !== undefined) {
    if (row.state !== "active" && row.state !== "queued" && row.state !== "waiting") return;
    moveTo(desk, row.id, "blocked", {
      by: by.name,
      mover: "office",
      why: `stopped at a ceiling of ${because}`,
    });
    return;
  }
  if (row.state === "done" || row.state === "canceled") return;
  moveTo(desk, row.id, "canceled", { by: by.name, mover: "person", why: `stopped by ${by.name}` });
}

/** Usage windows hold offers until then, or no longer (USE-3). */
export function takeHold(desk: Desk, { until, why }: OfficeLetters["hold"]): void {
  const hold = until === undefined ? null : JSON.stringify({ until, ...(why === undefined ? {} : { why }) });
  changePerson(desk.db, { hold });
}
