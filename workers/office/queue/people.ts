/** What people see of an office and do to it (QUEUE-4). Each runs in one transaction; refusals are `Refused`. */
import { firstThatFit } from "../../../src/shared/rules/frame-fit.ts";
import { cannotMove } from "../../../src/shared/rules/item-states.ts";
import { NO_END } from "../../../src/shared/rules/usage-windows.ts";
import type {
  AddItem,
  OfficeItem,
  PatchItem,
  PausePerson,
  PersonAnswer,
} from "../../../src/shared/wire/office.ts";
import { once } from "../../kit/once.ts";
import { notFound, refuse } from "../../kit/result.ts";
import type { Desk } from "../desk.ts";
import type { Identity, PersonState } from "../letters.ts";
import { shownOfAgent } from "../messages/knowledge.ts";
import { goesTo } from "../messages/own.ts";
import { lastFinished } from "../messages/work.ts";
import { type ItemRow, item, openItems, positionOf, queueOrder, requesterOf } from "../store/items.ts";
import { historyOf, refsOf } from "../store/parts.ts";
import { changePerson, holdOf, pauseOf, personRow } from "../store/person.ts";
import { linksOf, round } from "../store/rounds.ts";
import { makeItem } from "./make.ts";
import { moveToOffice } from "./moves.ts";
import { offerOf, withdraw } from "./offer.ts";
import { place } from "./place.ts";
import { moveTo } from "./states.ts";
import { statusOf } from "./status.ts";
import { stuckItems } from "./stuck.ts";

/** People but guests see and work queues; an agent's own token reads (QUEUE-4). */
export function mayRead(identity: Identity): void {
  if (isPerson(identity) || (identity.handle !== undefined && !identity.hook)) return;
  refuse("forbidden", "People of the workspace see queues, guests do not. Ask one of them.");
}
export function mayWork(identity: Identity): void {
  if (isPerson(identity)) return;
  refuse("forbidden", "People of the workspace work queues, guests and agents do not. Ask one of them.");
}
function isPerson({ kind, role, scopes }: Identity): boolean {
  return kind === "person" && role !== null && role !== "guest" && scopes.includes("person");
}

const iso = (ms: number) => new Date(ms).toISOString();
const MAX_HISTORY = 100;
/** What the open items may take of an answer: each may have a summary of 64 KiB, and there may be thousands. */
const OPEN_BYTES = 4 * 1024 * 1024;

/** An item as people see it. */
export function officeItem(
  desk: Desk,
  row: ItemRow,
  more: { position?: number; stuck?: string } = {},
): OfficeItem {
  const { db } = desk;
  const of = round(db, row.id, row.round);
  const told = round(db, row.id, of?.ended_at === null ? row.round - 1 : row.round);
  const refs = refsOf(db, row.id).filter(({ role }) => role !== "linked" && role !== "mentioned");
  const ticket = refs.find(({ type }) => type === "ticket")?.ref;
  const pr = refs.find(({ type }) => type === "pr")?.ref;
  const requester = requesterOf(row);
  const why = whyWaiting(desk, row);
  return {
    id: row.id,
    kind: row.kind,
    title: row.title,
    state: row.state,
    priority: row.priority,
    ...(more.position === undefined ? {} : { position: more.position }),
    offered: offerOf(db, row.id) !== undefined,
    accepted: of?.accepted_at !== null && of?.accepted_at !== undefined,
    round: row.round,
    ...(row.progress === null ? {} : { progress: row.progress }),
    ...(row.progress_at === null ? {} : { progress_at: iso(row.progress_at) }),
    ...(why === undefined ? {} : { why_waiting: why }),
    ...(more.stuck === undefined ? {} : { stuck: more.stuck }),
    ...(ticket === undefined ? {} : { ticket }),
    ...(pr === undefined ? {} : { pr }),
    ...(row.parent_id === null ? {} : { parent_id: row.parent_id }),
    ...(requester && {
      requester: { id: requester.id, ...(requester.name === undefined ? {} : { name: requester.name }) },
    }),
    ...(of && of.runtime !== null && { runtime: of.runtime }),
    ...(of && of.model !== null && { model: of.session_model ?? of.model }),
    ...(told && told.summary !== null && { summary: told.summary, links: linksOf(told) }),
    created_at: iso(row.created_at),
    history: historyOf(db, row.id)
      .slice(-MAX_HISTORY)
      .map(({ at, by, was, became, why: because }) => ({
        at: iso(at),
        ...(was === null ? {} : { from: was as OfficeItem["state"] }),
        to: became as OfficeItem["state"],
        by,
        why: because,
      })),
  };
}

/** Why an item is not worked on now, in a sentence. */
function whyWaiting(desk: Desk, row: ItemRow): string | undefined {
  if (row.moving !== null) return `It goes to ${goesTo(row).to} as soon as ${desk.handle} has let go of it.`;
  if (row.state === "waiting" || row.state === "blocked" || row.state === "canceled")
    return row.why ?? undefined;
  if (row.state !== "queued" || offerOf(desk.db, row.id)) return undefined;
  const pause = pauseOf(desk.db, desk.now);
  if (pause) return `${pause.by} paused ${desk.handle}${pause.reason ? `: ${pause.reason}` : ""}.`;
  const hold = holdOf(desk.db, desk.now);
  if (hold) {
    const until = hold.until < NO_END ? ` until ${iso(hold.until)}` : "";
    return `Nothing is offered${until}: ${hold.why ?? "usage"}.`;
  }
  if (row.not_before !== null && row.not_before > desk.now)
    return `It was declined, and is not offered again before ${iso(row.not_before)}.`;
  return desk.connection ? undefined : `${desk.handle}'s agent is not connected.`;
}

/** A person with their queue: the open items in the order they run, then the last finished. */
export function personAnswer(desk: Desk): PersonAnswer {
  const { db, handle, team, now } = desk;
  const person = personRow(db);
  const known = team.people.find((one) => one.handle === handle);
  const { status, current, queued } = statusOf(desk);
  const positions = new Map(queueOrder(db).map(({ id }, i) => [id, i + 1]));
  const stuck = stuckItems(desk);
  const pause = pauseOf(db, now);
  const hold = holdOf(db, now);
  return {
    handle,
    name: known?.name ?? handle,
    role: known?.role ?? "",
    status,
    ...(current === undefined ? {} : { current }),
    queued,
    ...(known?.subscription === undefined ? {} : { subscription: known.subscription }),
    ...(person.removed_at !== null && { removed: true as const }),
    connected: desk.connection !== undefined,
    ...(pause && {
      paused: {
        by: pause.by,
        at: iso(pause.at),
        ...(pause.reason === undefined ? {} : { reason: pause.reason }),
        ...(pause.until === undefined ? {} : { until: iso(pause.until) }),
      },
    }),
    ...(hold && {
      held: { ...(hold.until < NO_END ? { until: iso(hold.until) } : {}), why: hold.why ?? "usage" },
    }),
    ...shownOfAgent(desk),
    items: [...firstThatFit(shown(openItems(db)), OPEN_BYTES), ...shown(lastFinished(desk))],
  };

  function* shown(rows: readonly ItemRow[]): Generator<OfficeItem> {
    for (const row of rows) {
      const position = positions.get(row.id);
      const looks = stuck.get(row.id);
      yield officeItem(desk, row, {
        ...(position === undefined ? {} : { position }),
        ...(looks === undefined ? {} : { stuck: looks }),
      });
    }
  }
}

function one(desk: Desk, id: string): OfficeItem {
  const row = item(desk.db, id);
  if (!row) throw new Error("the item is gone");
  const position = positionOf(desk.db, row);
  return officeItem(desk, row, position === undefined ? {} : { position });
}

/** Work for a person, given by hand; once a key of whoever gives it (ENV-4). */
export function addItem(desk: Desk, identity: Identity, asked: AddItem): { item: OfficeItem } {
  const request = { sender: identity.participantId, at: desk.now, name: "item", asked };
  return once(desk.db, request, (body) => given(desk, identity, body));
}

function given(
  desk: Desk,
  identity: Identity,
  asked: Omit<AddItem, "idempotency_key">,
): { item: OfficeItem } {
  if (personRow(desk.db).removed_at !== null)
    refuse("conflict", `${desk.handle} is not in the team any more. Give the work to somebody who is.`);
  const at = iso(desk.now);
  const subject = asked.ticket === undefined ? undefined : { type: "ticket" as const, ref: asked.ticket };
  const made = makeItem(desk, {
    kind: asked.kind,
    title: asked.title,
    trigger: "human",
    by: identity.name,
    why: `given by ${identity.name}`,
    requester: { id: identity.participantId, name: identity.name, kind: "human" },
    ...(asked.body === undefined || asked.body === "" ? {} : { body: asked.body }),
    ...(asked.priority === undefined ? {} : { priority: asked.priority }),
    ...(subject && { subject, refs: [{ ...subject, role: "subject", source: "people", addedAt: at }] }),
  });
  return { item: one(desk, made.id) };
}

/** What a person does to an item: a state, a place, or another person (QUEUE-1, QUEUE-2, OFFER-7). */
export function patchItem(
  desk: Desk,
  identity: Identity,
  id: string,
  asked: PatchItem,
): { item: OfficeItem } {
  const row = item(desk.db, id);
  if (!row || row.moving !== null) notFound("item");
  const by = identity.name;
  const because = asked.reason === undefined ? "" : `: ${asked.reason}`;
  if (asked.person !== undefined && asked.person !== desk.handle) {
    if (asked.status !== undefined || asked.position !== undefined)
      refuse("invalid", "Move the item to the other person first; then change it in that queue.");
    if (!desk.team.people.some(({ handle }) => handle === asked.person))
      refuse("invalid", `${asked.person} is not in the team. Name a handle of the team.`);
    if (row.state === "done" || row.state === "canceled")
      refuse("invalid", `A ${row.state} item is not moved. Queue it again first: status queued.`);
    const before = { ...one(desk, id), state: "queued" as const };
    moveToOffice(desk, id, asked.person, by);
    const after = item(desk.db, id);
    return { item: after ? one(desk, id) : { ...before, accepted: false, offered: false } };
  }
  if (asked.status !== undefined && asked.status !== row.state) {
    const fault = cannotMove(row.state, asked.status, "person");
    if (fault !== undefined) refuse("invalid", fault);
    const word =
      asked.status === "canceled" ? (row.state === "active" ? "stopped" : "canceled") : asked.status;
    moveTo(desk, id, asked.status, {
      by,
      mover: "person",
      why: `${word} by ${by}${because}`,
    });
  }
  if (asked.position !== undefined) {
    if (item(desk.db, id)?.state !== "queued") refuse("invalid", "Only a queued item has a place.");
    if (asked.relativeTo === id || !place(desk, id, asked.position, asked.relativeTo))
      refuse("invalid", "relativeTo names another queued item of this person.");
  }
  return { item: one(desk, id) };
}

/** Nothing is offered until then, or until somebody resumes; what runs goes on (QUEUE-4). */
export function pause(desk: Desk, identity: Identity, asked: PausePerson): { status: PersonState } {
  const until = asked.until === undefined ? undefined : Date.parse(asked.until);
  if (until !== undefined && until <= desk.now)
    refuse("invalid", "until is over. Name a time to come, or leave it out.");
  changePerson(desk.db, {
    paused: JSON.stringify({
      by: identity.name,
      at: desk.now,
      ...(asked.reason === undefined ? {} : { reason: asked.reason }),
      ...(until === undefined ? {} : { until }),
    }),
  });
  // An agent that takes what is out anyway is told that it is withdrawn.
  withdraw(desk);
  if (until !== undefined) desk.alarm("paused", until);
  desk.toRoom("paused", { handle: desk.handle, paused: true });
  return { status: statusOf(desk).status };
}

export function resume(desk: Desk): { status: PersonState } {
  changePerson(desk.db, { paused: null });
  desk.toRoom("paused", { handle: desk.handle, paused: false });
  return { status: statusOf(desk).status };
}

/** A pause whose time is over ends by itself. */
export function pauseOver(desk: Desk): void {
  const { paused } = personRow(desk.db);
  if (paused === null) return;
  const still = pauseOf(desk.db, desk.now);
  if (!still) resume(desk);
  else if (still.until !== undefined) desk.alarm("paused", still.until);
}
