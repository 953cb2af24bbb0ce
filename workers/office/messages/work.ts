/** The agent's own items: lists, states, moves (ITEM-4, OFFER-7, QUEUE-2). */
import { firstThatFit, MOST_ANSWER } from "../../../src/shared/rules/frame-fit.ts";
import { cannotMove, type ItemState } from "../../../src/shared/rules/item-states.ts";
import type { AgentPayload, WorkBrief } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import type { Desk, Look } from "../desk.ts";
import { AgentRefused } from "../handler.ts";
import { place } from "../queue/place.ts";
import { moveTo } from "../queue/states.ts";
import { tellHumans } from "../queue/tell.ts";
import { type ItemRow, item, openItems, requesterOf } from "../store/items.ts";
import { refsOf } from "../store/parts.ts";
import { leftTo, ownItem } from "./own.ts";

const MAX_ASKED = 500;
const LAST_FINISHED = 20;

/** An item in short, with the ticket and the pull request that it is about. */
export function briefOf(desk: Desk, row: ItemRow, current?: string): WorkBrief {
  const refs = refsOf(desk.db, row.id).filter(({ role }) => role !== "linked" && role !== "mentioned");
  const find = (type: "ticket" | "pr") =>
    refs.find((ref) => ref.type === type && ref.ref === row.subject_ref) ??
    refs.find((ref) => ref.type === type);
  const [ticket, pr] = [find("ticket"), find("pr")];
  const number = pr && Number(pr.ref.split("#").at(-1));
  return {
    id: row.id,
    title: row.title,
    status: row.state,
    kind: row.kind,
    ...(ticket && {
      ticketKey: ticket.ref,
      ...(ticket.title !== undefined && { ticketTitle: ticket.title }),
    }),
    ...(pr && {
      pr: pr.ref,
      ...(Number.isSafeInteger(number) && number !== undefined && { prNumber: number }),
      ...(pr.title !== undefined && { prTitle: pr.title }),
      ...(pr.url !== undefined && { prUrl: pr.url }),
    }),
    ...(row.id === current && { current: true }),
  };
}

/** The items that finished last, newest first. */
export function lastFinished(desk: Desk): ItemRow[] {
  return desk.db.all<ItemRow>(
    `SELECT * FROM (SELECT * FROM items WHERE state = 'done' ORDER BY changed_at DESC LIMIT ${LAST_FINISHED})
     UNION ALL SELECT * FROM (SELECT * FROM items WHERE state = 'canceled' ORDER BY changed_at DESC LIMIT ${LAST_FINISHED})
     ORDER BY changed_at DESC, id DESC LIMIT ${LAST_FINISHED}`,
  );
}

/** What a list of items may take of a frame. */
const LIST_BYTES = MOST_ANSWER - 1024;

/** Items in short, as many of the first as fit. */
export function briefsOf(
  desk: Desk,
  rows: readonly ItemRow[],
  bytes: number = LIST_BYTES,
  current?: string,
): WorkBrief[] {
  const briefs = function* () {
    for (const row of rows) yield briefOf(desk, row, current);
  };
  return firstThatFit(briefs(), bytes);
}

/** The open items in the order they run, then the last finished, as many as fit (ITEM-4). */
export function workList(
  desk: Desk,
  { workItemId }: AgentPayload<"work_list">,
): AgentPayload<"work_list_result"> {
  const open = openItems(desk.db).filter(({ moving }) => moving === null);
  return { items: briefsOf(desk, [...open, ...lastFinished(desk)], LIST_BYTES, workItemId) };
}

/** Which of these are somebody else's, as the board knows (ITEM-4). */
export async function others(look: Look, { workItemIds }: AgentPayload<"work_status">): Promise<string[]> {
  if (workItemIds.length > MAX_ASKED) return [];
  const unknown = [...new Set(workItemIds)].filter((id) => id.startsWith("itm_") && !item(look.db, id));
  if (unknown.length === 0) return [];
  return CALLS.itemsOfOthers(look.env, look.workspace, look.handle, unknown);
}

/** How a list of items stands, in the order asked (ITEM-4). */
export function workStatus(
  desk: Desk,
  { workItemIds }: AgentPayload<"work_status">,
  _frame: unknown,
  elsewhere: readonly string[],
): AgentPayload<"work_status_result"> {
  if (workItemIds.length > MAX_ASKED)
    throw new AgentRefused("invalid", `Ask about ${MAX_ASKED} items at most at a time.`);
  const theirs = new Set(elsewhere);
  return {
    items: workItemIds.map((workItemId) => {
      const row = item(desk.db, workItemId);
      if (row && row.moving === null) return { workItemId, state: row.state };
      const isTheirs = row || leftTo(desk, workItemId) || theirs.has(workItemId);
      return { workItemId, state: isTheirs ? "not_yours" : "unknown" };
    }),
  };
}

/** The agent changes the state of an own item (OFFER-7). */
export function workMove(
  desk: Desk,
  { workItemId, status }: AgentPayload<"work_move">,
): AgentPayload<"work_move_result"> {
  const row = ownItem(desk, workItemId);
  if (row.state !== status) {
    const to: ItemState = status;
    const fault = cannotMove(row.state, to, "agent");
    if (fault !== undefined) throw new AgentRefused("invalid", fault);
    moveTo(desk, row.id, to, { by: desk.handle, mover: "agent", why: `${desk.handle} made it ${to}` });
    if (to === "canceled") tellCanceled(desk, row);
  }
  return { item: briefOf(desk, ownItem(desk, workItemId)) };
}

/** Who asked is told that the agent itself canceled what they asked for. */
function tellCanceled(desk: Desk, row: ItemRow): void {
  if (requesterOf(row)?.kind === "agent") return;
  tellHumans(desk, `canceled ${row.id} ${row.round}`, row.id, `${desk.handle} canceled "${row.title}".`);
}

/** Moves an own queued item to another place (QUEUE-2). */
export function workPlace(
  desk: Desk,
  { workItemId, position, relativeTo }: AgentPayload<"work_place">,
): AgentPayload<"work_move_result"> {
  const row = ownItem(desk, workItemId);
  if (row.state !== "queued")
    throw new AgentRefused("invalid", `This item is ${row.state}: only a queued one has a place.`);
  const relative = position === "before" || position === "after";
  if (relative && (relativeTo === undefined || relativeTo === workItemId))
    throw new AgentRefused("invalid", `${position} needs relativeTo: another queued item.`);
  if (relative && relativeTo !== undefined) {
    const other = ownItem(desk, relativeTo);
    if (other.state !== "queued")
      throw new AgentRefused("invalid", `relativeTo is ${other.state}: it has no place in the queue.`);
  }
  place(desk, row.id, position, relative ? relativeTo : undefined);
  return { item: briefOf(desk, ownItem(desk, workItemId)) };
}
