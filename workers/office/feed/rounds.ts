/**
 * The rounds of the office's own agent: what is offered becomes items of a stream, and the answer that its model
 * gives ends the round (CTX-7). A chat's stream is the person's own, other work has one for each item.
 */
import { promptForItem } from "../../../src/agent/prompt.ts";
import {
  type Author,
  feedbackItem,
  messageItem,
  officeItem,
} from "../../../src/shared/rules/context/feed.ts";
import { runnerOf } from "../../../src/shared/rules/context/runner.ts";
import type { AgentPayload, OfferFeedback } from "../../../src/shared/wire/agent/index.ts";
import type { AppendEvent, ContextItem } from "../../../src/shared/wire/context/index.ts";
import type { Desk } from "../desk.ts";
import { accept } from "../messages/round.ts";
import { offerOf } from "../queue/offer.ts";
import { activeItems, change, type ItemRow, item as itemRow, originOf } from "../store/items.ts";
import { type FeedbackRow, pendingFeedback } from "../store/parts.ts";
import { round } from "../store/rounds.ts";
import type { Ended, StreamHook } from "../streams/hooks.ts";
import type { StreamName } from "../streams/paths.ts";
import { giveBack, HOUSE } from "./house.ts";
import { itemEvent, whoEvents } from "./messages.ts";
import { feed, occurrencesOf, stateOf } from "./streams.ts";

export interface HouseRound {
  item: string;
  round: number;
  /** Whether its stream is the item's own. */
  own: number;
  /** The offset from which on a request is about it. */
  since: number;
  /** How often the model was told that it must end it otherwise. */
  told: number;
  /** JSON `RoundAnswer`, until it is handed back. */
  ended: string | null;
}
/** What ended the round: an answer, or that there is none. */
export type RoundAnswer = { answer: string; at: number } | { fault: string };

/** The alarm that hands back what ended, should the object die before it does. */
export const HOUSE_ALARM = "house";
const SOON_MS = 5000;

const houseRounds = (desk: Desk): HouseRound[] =>
  desk.db.all<HouseRound>("SELECT * FROM house_rounds ORDER BY item");

export function endedRounds(desk: Pick<Desk, "db">): HouseRound[] {
  return desk.db.all<HouseRound>("SELECT * FROM house_rounds WHERE ended IS NOT NULL ORDER BY item");
}
export function dropRound(desk: Desk, item: string): void {
  desk.db.run("DELETE FROM house_rounds WHERE item = ?", item);
}
export function streamOf(desk: Pick<Desk, "handle">, of: Pick<HouseRound, "item" | "own">): StreamName {
  return of.own === 1 ? { handle: desk.handle, item: of.item } : { handle: desk.handle };
}

/** The office's own agent accepts what it is offered, and its stream is given what there is to do. */
export function takeOffer(desk: Desk, offer: AgentPayload<"offer">): void {
  const { id } = offer.workItem;
  const row = itemRow(desk.db, id);
  const numbers = JSON.parse(offerOf(desk.db, id)?.feedback ?? "[]") as number[];
  if (!row) return;
  const person = desk.team.people.find((one) => one.handle === desk.handle);
  accept(desk, {
    workItemId: id,
    runtime: runnerOf(desk.team, desk.handle) ?? "resident",
    model: person?.model ?? "default",
  });
  const feedback = numbers.flatMap(
    (n) => desk.db.one<FeedbackRow>("SELECT * FROM feedback WHERE n = ?", n) ?? [],
  );
  const chat = row.kind === "chat";
  const of = { item: id, own: chat ? 0 : 1 };
  const stream = streamOf(desk, of);
  const items = chat ? messagesOf(desk, row, feedback) : workOf(offer, row, feedback);
  const fresh = items.filter(({ n }) => n === undefined || !wasFed(desk, n));
  const since = feedStream(desk, stream, row, fresh);
  const early = feedback.filter(({ n }) => wasFed(desk, n));
  for (const { n } of early) desk.db.run("DELETE FROM house_fed WHERE n = ?", n);
  const from = Math.min(
    ...[since, ...early.map((one) => offsetOf(desk, stream, one))].filter((n) => n !== undefined),
  );
  desk.db.run(
    "INSERT OR REPLACE INTO house_rounds (item, round, own, since, told, ended) VALUES (?, ?, ?, ?, 0, NULL)",
    id,
    row.round,
    of.own,
    Number.isFinite(from) ? from : 1,
  );
  // What interrupted the round before this one was answered in that: nothing more is to be said.
  if (since === undefined && isIdle(desk, stream)) endRound(desk, id, { answer: "NO_REPLY", at: 0 });
}

interface Fed {
  /** The feedback that it is. */
  n?: number;
  item: ContextItem;
}

/** Appends the items, the last of which asks for a request; the first one's offset. */
function feedStream(desk: Desk, stream: StreamName, row: ItemRow, items: readonly Fed[]): number | undefined {
  if (items.length === 0 && round(desk.db, row.id, row.round)?.events !== "[]") return undefined;
  const events: AppendEvent[] = items.map(({ item }) => itemEvent(item));
  const again = items.every(({ item }) => wasAsked(desk, stream, item));
  // Whoever queued it again wants it to go on, though nothing new is said.
  if (again)
    events.push(
      itemEvent(officeItem(`Go on with "${row.title}": it was queued again.`, "after-current-request")),
    );
  const who = whoEvents(desk, stream);
  return feed(desk, stream, [...who, ...events])[who.length];
}

/** Whether a request has covered this very item: an update with the same words asks for nothing by itself. */
function wasAsked(desk: Desk, stream: StreamName, item: ContextItem): boolean {
  const last = item.key === undefined ? undefined : occurrencesOf(desk, stream, item.key).at(-1);
  return last !== undefined && last.item.content === item.content;
}

function offsetOf(desk: Desk, stream: StreamName, row: FeedbackRow): number | undefined {
  return occurrencesOf(desk, stream, row.room_message ?? `feedback:${row.key}`).at(-1)?.offset;
}

function wasFed(desk: Desk, n: number): boolean {
  return desk.db.one("SELECT 1 FROM house_fed WHERE n = ?", n) !== undefined;
}

function isIdle(desk: Desk, stream: StreamName): boolean {
  const { pending, open } = stateOf(desk, stream);
  return pending === null && open === null;
}

function authorOf(row: FeedbackRow, feedback: OfferFeedback): Author {
  if (row.author !== null) return JSON.parse(row.author) as Author;
  return { id: feedback.actor, source: row.room_message === null ? "unknown" : "room" };
}

/** The messages of a chat's round; each asks for an answer. */
function messagesOf(desk: Desk, row: ItemRow, feedback: readonly FeedbackRow[]): Fed[] {
  return feedback.map((one) => ({ n: one.n, item: messageOf(desk, row, one, "after-current-request") }));
}

function messageOf(
  desk: Desk,
  row: ItemRow,
  one: FeedbackRow,
  behaviour: "after-current-request" | "interrupt-current-request",
): ContextItem {
  const said = JSON.parse(one.feedback) as OfferFeedback;
  const origin = originOf(row);
  const messageId = one.room_message;
  if (messageId === null) return feedbackItem(one.key, said, authorOf(one, said), behaviour);
  return messageItem(
    {
      messageId,
      spaceId: one.room_space ?? origin?.channel ?? "",
      thread: origin?.thread ?? messageId,
      text: said.body,
      author: authorOf(one, said),
      ...(origin?.files && origin.thread === messageId && { files: origin.files }),
    },
    behaviour,
    desk.workspace,
  );
}

/** Other work: the item as text, which marks what others wrote, then each feedback with who gave it. */
function workOf(offer: AgentPayload<"offer">, row: ItemRow, feedback: readonly FeedbackRow[]): Fed[] {
  const { feedback: _, ...context } = offer.context;
  const text = promptForItem({ ...offer, context });
  const policy = feedback.length === 0 ? "after-current-request" : "dont-trigger-request";
  const work: ContextItem = {
    role: "user",
    content: text,
    key: `round:${row.round}`,
    llmRequestPolicy: { behaviour: policy },
  };
  return [
    { item: work },
    ...feedback.map((one) => {
      const said = JSON.parse(one.feedback) as OfferFeedback;
      return {
        n: one.n,
        item: feedbackItem(one.key, said, authorOf(one, said), "after-current-request"),
      };
    }),
  ];
}

/** A correction by who is being answered interrupts the answer; it is a round of its own all the same (CTX-7). */
export function interruptRounds(desk: Desk): void {
  for (const of of houseRounds(desk)) {
    const row = itemRow(desk.db, of.item);
    if (of.own === 1 || of.ended !== null || row?.state !== "active") continue;
    const asker = originOf(row)?.requester.id;
    for (const one of pendingFeedback(desk.db, of.item)) {
      const said = JSON.parse(one.feedback) as OfferFeedback;
      if (one.room_message === null || wasFed(desk, one.n) || authorOf(one, said).id !== asker) continue;
      feed(desk, streamOf(desk, of), [itemEvent(messageOf(desk, row, one, "interrupt-current-request"))]);
      desk.db.run("INSERT INTO house_fed (n) VALUES (?)", one.n);
    }
  }
}

/** Rounds that others ended are stopped in their streams too (REQ-3). */
export function stopRounds(desk: Desk): void {
  for (const of of houseRounds(desk)) {
    const row = itemRow(desk.db, of.item);
    if (row?.state === "active" && row.round === of.round) continue;
    dropRound(desk, of.item);
    const byAgent = round(desk.db, of.item, of.round)?.outcome !== null && row !== undefined;
    // Told in the same breath, it goes on with nothing (OFFER-7).
    if (row) change(desk.db, of.item, { held: 0 }, { quietly: true });
    if (!byAgent) stopStream(desk, streamOf(desk, of), row?.why ?? "it went to somebody else");
  }
}

/** The office's own agent is no more: what it is on goes back into the queue. */
export function closeHouse(desk: Desk): void {
  for (const of of houseRounds(desk)) {
    stopStream(desk, streamOf(desk, of), "the office does not run this agent any more");
    dropRound(desk, of.item);
  }
  for (const { id } of activeItems(desk.db))
    giveBack(desk, id, "the office does not run this agent any more");
}

function stopStream(desk: Desk, stream: StreamName, why: string): void {
  feed(desk, stream, [
    itemEvent(officeItem(`This work was stopped: ${why}.`, "interrupt-current-request")),
    { type: "stream-paused", payload: { reason: "stop" } },
  ]);
}

/** Notes what ended a round: it is handed back after the commit (endings.ts). */
export function endRound(desk: Desk, item: string, how: RoundAnswer): void {
  desk.db.run("UPDATE house_rounds SET ended = ? WHERE item = ?", JSON.stringify(how), item);
  desk.alarm(HOUSE_ALARM, desk.now + SOON_MS);
}

/** The model is told that it cannot end the round so. */
export function tellModel(desk: Desk, of: HouseRound, text: string): void {
  desk.db.run("UPDATE house_rounds SET ended = NULL, told = told + 1 WHERE item = ?", of.item);
  feed(desk, streamOf(desk, of), [itemEvent(officeItem(text, "after-current-request"))]);
}

/** The rounds that a stream's requests are about. */
function roundsOn(desk: Desk, stream: StreamName): HouseRound[] {
  return houseRounds(desk).filter((of) =>
    of.own === 1 ? stream.item === of.item : stream.item === undefined,
  );
}

/** What requests come to, for the rounds that they are about. */
export const ROUNDS: StreamHook = {
  ended(desk, ended: Ended) {
    for (const of of roundsOn(desk, ended.stream)) {
      if (ended.request < of.since || of.ended !== null) continue;
      const how = answerOf(desk, ended);
      if (how) endRound(desk, of.item, how);
      else if (desk.connection?.id === HOUSE)
        change(desk.db, of.item, { signed_at: desk.now }, { quietly: true });
    }
  },
  paused(desk, stream, reason) {
    if (reason === undefined || reason === "stop") return;
    for (const of of roundsOn(desk, stream))
      if (of.ended === null) endRound(desk, of.item, { fault: `The stream paused: ${reason}.` });
  },
};

/** What ended the round, if the request did: calls go on, and a failure that is tried again is none yet (REQ-4). */
function answerOf(desk: Desk, ended: Ended): RoundAnswer | undefined {
  const { outcome, answer, calls, by, reason, stream } = ended;
  if (outcome === "succeeded")
    return calls.length > 0 ? undefined : { answer: answer?.content ?? "", at: answer?.offset ?? by };
  if (outcome === "interrupted" || !isIdle(desk, stream)) return undefined;
  return {
    fault:
      outcome === "failed"
        ? `The model did not answer: ${reason ?? "unknown"}.`
        : "The model did not answer in time.",
  };
}
