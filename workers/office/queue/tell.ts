/** What an office writes down and tells others of an item: its history, references, events, and the people (QUEUE-6). */
import type { WorkEvent } from "../../../src/shared/wire/work.ts";
import type { Desk } from "../desk.ts";
import type { ItemRef } from "../letters.ts";
import type { ItemRow } from "../store/items.ts";
import { addRefs, refsOf, threadsOf } from "../store/parts.ts";
import type { RoundRow } from "../store/rounds.ts";

/** Writes a change of an item into its history (QUEUE-1). */
export function note(
  desk: Desk,
  item: string,
  change: { by: string; was: string | null; became: string; why: string },
): void {
  desk.db.run(
    "INSERT INTO history (item, at, by, was, became, why) VALUES (?, ?, ?, ?, ?, ?)",
    item,
    desk.now,
    change.by,
    change.was,
    change.became,
    change.why,
  );
  desk.changed(item);
}

/** Adds what an item refers to; the board is told what is new (RECALL-1). */
export function noteRefs(desk: Desk, item: string, refs: readonly ItemRef[]): void {
  const fresh = addRefs(desk.db, item, refs);
  if (fresh.length > 0) desk.toBoard("refs", { handle: desk.handle, item, refs: fresh });
}

/** Keys of the tickets that an item is about. */
export function ticketsOf(desk: Desk, row: ItemRow): string[] {
  const own = row.subject_type === "ticket" && row.subject_ref !== null ? [row.subject_ref] : [];
  const refs = refsOf(desk.db, row.id)
    .filter(({ type, role }) => type === "ticket" && role !== "linked" && role !== "inferred")
    .map(({ ref }) => ref);
  return [...new Set([...own, ...refs])];
}

/** An event of an item's round (PIPE-1): accepted, or ended with a status. */
export function itemEvent(
  desk: Desk,
  type: "item.accepted" | "item.ended",
  row: ItemRow,
  round: RoundRow,
  status?: string,
): void {
  const event: WorkEvent = {
    id: `${row.id}/${round.n}/${type.slice("item.".length)}`,
    type,
    at: new Date(desk.now).toISOString(),
    source: "office",
    actor: { id: desk.handle, kind: "agent" },
    item: {
      id: row.id,
      round: round.n,
      person: desk.handle,
      kind: round.kind,
      tickets: ticketsOf(desk, row),
      ...(status === undefined ? {} : { status }),
      ...(round.before === null ? {} : { before: JSON.parse(round.before) }),
    },
  };
  desk.toBoard("event", event);
}

/**
 * Tells a human, once a cause: the requester in the item's threads of our own rooms, else every lead, in the space
 * for notices (QUEUE-6).
 */
export function tellHumans(desk: Desk, cause: string, item: string | undefined, text: string): void {
  const fresh = desk.db.run(
    "INSERT INTO told (cause, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
    cause,
    desk.now,
  );
  if (fresh === 0) return;
  const threads = item === undefined ? [] : threadsOf(desk.db, item);
  const rooms = threads.filter(({ channel }) => channel.startsWith("spc_"));
  if (rooms.length > 0) {
    desk.toRoom("notice", {
      spaceIds: [...new Set(rooms.map(({ channel }) => channel))],
      code: "office",
      text,
      about: [...new Set([...rooms.map(({ requester }) => requester.id), desk.handle])],
    });
    return;
  }
  const { notify, humans } = desk.team;
  if (notify === undefined) return;
  const leads = humans.flatMap(({ lead, user }) => (lead && user !== undefined ? [user] : []));
  desk.toRoom("notice", { spaceIds: [notify], code: "office", text, about: [...leads, desk.handle] });
}

/** The same cause may be told again. */
export function untold(desk: Desk, cause: string): void {
  desk.db.run("DELETE FROM told WHERE cause = ?", cause);
}
