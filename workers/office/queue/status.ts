/** How the person is, as the board and who watches are told (QUEUE-4, ITEM-3). */
import type { Desk } from "../desk.ts";
import type { PersonState, PersonStatus } from "../letters.ts";
import { activeItems } from "../store/items.ts";
import { changePerson, pauseOf, personRow } from "../store/person.ts";

export function statusOf(desk: Desk): Omit<PersonStatus, "at" | "changed"> {
  const { db, handle, now, connection } = desk;
  const first = activeItems(db)[0];
  const queued = db.one<{ n: number }>("SELECT count(*) AS n FROM items WHERE place IS NOT NULL")?.n ?? 0;
  const status: PersonState =
    connection && first ? "working" : pauseOf(db, now) ? "paused" : connection ? "idle" : "offline";
  return {
    handle,
    status,
    ...(first && {
      current: first.title,
      item: { id: first.id, kind: first.kind, title: first.title, state: first.state },
    }),
    queued,
  };
}

/** Tells the board when it changed, or when items did. */
export function tellStatus(desk: Desk, changed: ReadonlySet<string>): void {
  const status = statusOf(desk);
  const told = JSON.stringify(status);
  if (changed.size === 0 && personRow(desk.db).told === told) return;
  changePerson(desk.db, { told });
  desk.toBoard("status", {
    ...status,
    ...(changed.size > 0 && { changed: [...changed] }),
    at: desk.now,
  });
}
