/**
 * Offers (OFFER-1 to OFFER-5, QUEUE-3). An offer is made in two steps: `dueOffer` finds what may be offered, the
 * board is asked, and `sendOffer` looks again, in the transaction that writes it down, whether that is still so.
 */
import { boundJournal, boundOffer } from "../../../src/shared/rules/offer-bounds.ts";
import { type Lane, laneOf } from "../../../src/shared/rules/queue.ts";
import { byteLength, firstBytes } from "../../../src/shared/rules/text.ts";
import {
  type AgentPayload,
  MAX_FRAME_BYTES,
  type OfferedItem,
  type OfferFeedback,
} from "../../../src/shared/wire/agent/index.ts";
import type { Db } from "../../kit/db.ts";
import { signUrl } from "../../kit/sign.ts";
import type { Connection, Desk } from "../desk.ts";
import type { OfferAnswer, OfferAsk, Origin } from "../letters.ts";
import { answersSeen } from "../questions.ts";
import { activeItems, heldItems, type ItemRow, item, originOf, requesterOf } from "../store/items.ts";
import { journalBackwards, pendingFeedback, refsOf } from "../store/parts.ts";
import { changePerson, holdOf, type PersonRow, pauseOf, personRow, teamOf } from "../store/person.ts";
import { changeRound, eventsOf, round } from "../store/rounds.ts";
import { moveTo } from "./states.ts";
import { UNANSWERED_MS } from "./stuck.ts";

/** An offer that is not answered comes again (OFF-10). */
export const AGAIN_MS = 60_000;
/** Signed URLs of files live so long (ATT-4). */
const FILE_URL_S = 600;
/** The request's text at the head of the journal; the rest of it is where it came from. */
const BODY_BYTES = 16_384;
/** The frame around an offer's context, besides what is measured. */
const AROUND = 4096;

export interface OfferRow {
  item: string;
  lane: Lane;
  /** The id of the newest frame that carried it. */
  frame: string;
  connection: string;
  /** The item's `rev` that the frame showed. */
  rev: number;
  first_at: number;
  sent_at: number;
  /** JSON: numbers of the feedback that the frame carried. */
  feedback: string;
}

export function offerOf(db: Db, item: string): OfferRow | undefined {
  return db.one<OfferRow>("SELECT * FROM offers WHERE item = ?", item);
}

/** What may be offered now, or when to look again. */
export type Due = { item: ItemRow; connection: string } | { at: number | undefined };

/** Finds what is to be offered: what is out and must come again, else the first that may run (QUEUE-3). */
export function dueOffer(db: Db, now: number, connection: Connection | undefined): Due {
  const person = personRow(db);
  if (!connection || !mayOffer(db, person, now, connection))
    return { at: earliest(pauseOf(db, now)?.until, holdOf(db, now)?.until) };
  const out = db.all<OfferRow>("SELECT * FROM offers ORDER BY first_at");
  let at: number | undefined;
  for (const offer of out) {
    const row = item(db, offer.item);
    const again = offer.sent_at + AGAIN_MS;
    if (row && (offer.connection !== connection.id || offer.rev !== row.rev || again <= now))
      return { item: row, connection: connection.id };
    at = earliest(at, again);
  }
  const chatLane = teamOf(person).pipeline.chat_lane;
  const taken = new Set<Lane>(out.map(({ lane }) => lane));
  for (const { kind } of [...activeItems(db), ...heldItems(db)]) taken.add(laneOf(kind, chatLane));
  if (taken.has("main") && (!chatLane || taken.has("chat"))) return { at };
  for (const row of db.each<ItemRow>("SELECT * FROM items WHERE place IS NOT NULL ORDER BY place")) {
    if (taken.has(laneOf(row.kind, chatLane))) continue;
    if ((row.not_before ?? 0) <= now) return { item: row, connection: connection.id };
    at = earliest(at, row.not_before ?? undefined);
  }
  return { at };
}

/** Paused, held, of an older config, or on its way out: nothing is offered (OFFER-2, OFFER-5, OFF-5, QUEUE-4). */
function mayOffer(db: Db, person: PersonRow, now: number, connection: Connection): boolean {
  return (
    person.removed_at === null &&
    person.team_version === connection.version &&
    person.quiet !== connection.id &&
    pauseOf(db, now) === undefined &&
    holdOf(db, now) === undefined
  );
}

function earliest(...times: (number | undefined)[]): number | undefined {
  const known = times.filter((t) => t !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** What the board is asked of an offer. */
export function askOf(db: Db, handle: string, row: ItemRow): OfferAsk {
  const of = round(db, row.id, row.round);
  return {
    handle,
    item: row.id,
    kind: row.kind,
    trigger: row.trigger,
    ...(row.subject_type !== null && row.subject_ref !== null
      ? { subject: { type: row.subject_type as "ticket", ref: row.subject_ref } }
      : {}),
    events: of ? eventsOf(of) : [],
    refs: refsOf(db, row.id),
    feedback: pendingFeedback(db, row.id).map((f) => JSON.parse(f.feedback) as OfferFeedback),
  };
}

/** Sends the offer that the board was asked about, if it is still the one that is due. */
export function sendOffer(
  desk: Desk,
  asked: { item: ItemRow; connection: string },
  answer: OfferAnswer,
): void {
  const { db, now, connection } = desk;
  const due = dueOffer(db, now, connection);
  if (!("item" in due) || !connection || due.connection !== asked.connection) return;
  if (due.item.id !== asked.item.id || due.item.rev !== asked.item.rev) return;
  const row = due.item;
  if (!answer.stands) {
    moveTo(desk, row.id, "canceled", { by: "office", mover: "office", why: answer.why });
    return;
  }
  const out = offerOf(db, row.id);
  if (answer.holdUntil !== undefined && answer.holdUntil > now && !out) {
    changePerson(db, { hold: JSON.stringify({ until: answer.holdUntil }) });
    return;
  }
  const feedback = pendingFeedback(db, row.id);
  const { payload, taken } = offerFrame(
    desk,
    connection,
    row,
    feedback.map(({ feedback: f }) => JSON.parse(f)),
    answer,
  );
  const frame = desk.tell("offer", payload);
  db.run(
    `INSERT OR REPLACE INTO offers (item, lane, frame, connection, rev, first_at, sent_at, feedback)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    laneOf(row.kind, desk.team.pipeline.chat_lane),
    frame,
    connection.id,
    row.rev,
    out?.first_at ?? now,
    now,
    JSON.stringify(feedback.slice(0, taken).map(({ n }) => n)),
  );
  answersSeen(db, row.id);
  keepBefore(desk, row, answer);
  desk.alarm("offer", now + AGAIN_MS);
  desk.alarm("stuck", now + UNANSWERED_MS);
  desk.changed(row.id);
}

/** The statuses of its tickets as the round finds them (OFFER-6). */
function keepBefore(desk: Desk, row: ItemRow, answer: OfferAnswer & { stands: true }): void {
  if (round(desk.db, row.id, row.round)?.before !== null) return;
  const found = (answer.wake?.tickets ?? []).flatMap(({ key, status }) =>
    status === undefined ? [] : [[key, status]],
  );
  if (found.length > 0)
    changeRound(desk.db, row.id, row.round, { before: JSON.stringify(Object.fromEntries(found)) });
}

function offerFrame(
  desk: Desk,
  connection: Connection,
  row: ItemRow,
  feedback: readonly OfferFeedback[],
  answer: OfferAnswer & { stands: true },
): { payload: AgentPayload<"offer">; taken: number } {
  const workItem: OfferedItem = {
    id: row.id,
    kind: row.kind,
    title: row.title,
    priority: row.priority,
    trigger: row.trigger,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
    ...(row.subject_type === null || row.subject_ref === null
      ? {}
      : { subject: { type: row.subject_type, ref: row.subject_ref } }),
  };
  const origin = originOf(row);
  if (origin) workItem.origin = signed(desk, connection, origin);
  const rest = {
    ...(row.session_id === null ? {} : { sessionId: row.session_id }),
    ...(row.interrupted === 1 && { interrupted: true }),
  };
  const { subjects, links, conversation, wake } = answer;
  const given = { subjects, links, ...(conversation && { conversation }), ...(wake && { wake }) };
  const room = MAX_FRAME_BYTES - AROUND - byteLength(JSON.stringify({ workItem, rest }));
  const { context, taken } = boundOffer(journalOf(desk, row, origin), feedback, given, room);
  return { payload: { workItem, context, ...rest }, taken };
}

function asLine(line: { at: number; author: string; text: string }) {
  return { at: new Date(line.at).toISOString(), author: line.author, text: line.text };
}

/** The item's journal, after that of the work that a chat is about (OFFER-9), the request's text first. */
function journalOf(desk: Desk, row: ItemRow, origin: Origin | undefined) {
  const { db } = desk;
  const about = origin?.about?.id;
  const ids = about === undefined ? [row.id] : [row.id, about];
  const lines = function* () {
    for (const id of ids) for (const line of journalBackwards(db, id)) yield asLine(line);
  };
  const total = ids.reduce(
    (sum, id) =>
      sum + (db.one<{ n: number }>("SELECT count(*) AS n FROM journal WHERE item = ?", id)?.n ?? 0),
    0,
  );
  const body = row.body === null ? "" : firstBytes(row.body, BODY_BYTES);
  const by = requesterOf(row);
  const request =
    body === ""
      ? undefined
      : asLine({ at: row.created_at, author: by?.name ?? by?.id ?? "office", text: body });
  return boundJournal(lines(), total, request);
}

/** Files of our own rooms are fetched with URLs that are signed for this agent, at each offer (CHAT-2). */
function signed(desk: Desk, connection: Connection, origin: Origin): Origin {
  if (!origin.files) return origin;
  const expires = Math.floor(desk.now / 1000) + FILE_URL_S;
  const files = origin.files.map((file) => {
    if (!origin.channel.startsWith("spc_") || !file.id.startsWith("att_")) return file;
    const { url } = signUrl(desk.signing, connection.origin, {
      workspaceId: desk.workspace,
      attachmentId: file.id,
      expires,
      tokenId: connection.tokenId,
    });
    return { ...file, url };
  });
  return { ...origin, files };
}

/** An offer is taken back: the agent's accept will be refused (OFFER-1). */
export function withdraw(desk: Desk, item?: string): void {
  if (item === undefined) desk.db.run("DELETE FROM offers");
  else desk.db.run("DELETE FROM offers WHERE item = ?", item);
}
