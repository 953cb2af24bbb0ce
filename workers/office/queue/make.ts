/** How an item comes to be, and how feedback comes to one (PIPE-2). */
import { firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { OfferFeedback } from "../../../src/shared/wire/agent/index.ts";
import type { Desk } from "../desk.ts";
import type { ItemRef, Origin, Ref, Requester, Thread, Wake } from "../letters.ts";
import { noteItem } from "../moments.ts";
import { type ItemRow, item, type Trigger } from "../store/items.ts";
import { addFeedback, addThread } from "../store/parts.ts";
import { placeOf, priorityOf } from "./place.ts";
import { joinRound, moveTo, mustItem } from "./states.ts";
import { note, noteRefs } from "./tell.ts";

/** A title is a line: longer ones are cut. */
const MAX_TITLE = 500;
/** More comments of one review are feedback of their own (OFFER-4: each entry must fit an offer). */
const MAX_COMMENTS = 100;

export interface NewItem {
  kind: string;
  title: string;
  /** What is asked: the journal of every offer begins with it. */
  body?: string;
  trigger: Trigger;
  priority?: number;
  parentId?: string;
  subject?: Ref;
  origin?: Origin;
  requester?: Requester;
  question?: Wake["question"];
  refs?: readonly ItemRef[];
  threads?: readonly Thread[];
  feedback?: readonly NewFeedback[];
  /** The event that made it. */
  event?: string;
  by: string;
  why: string;
  /** Last in the queue, whatever its number (CHAT-3). */
  last?: boolean;
}

export interface NewFeedback {
  key: string;
  event: string;
  kind: string;
  trigger: Trigger;
  feedback: OfferFeedback;
  room?: { spaceId: string; messageId: string };
  author?: Wake["author"];
}

/** Makes an item with its first round, in its place in the queue. */
export function makeItem(desk: Desk, made: NewItem): ItemRow {
  const { db, now } = desk;
  const id = desk.clock.mint("itm");
  const priority = made.priority ?? priorityOf(desk, made.kind);
  db.run(
    `INSERT INTO items (id, kind, title, body, state, priority, trigger, parent_id, subject_type, subject_ref, origin,
       requester, question, round, rev, place, queued_at, created_at, changed_at)
     VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, 1, 1, ?, ?, ?, ?)`,
    id,
    made.kind,
    oneLine(made.title),
    made.body ?? null,
    priority,
    made.trigger,
    made.parentId ?? null,
    made.subject?.type ?? null,
    made.subject?.ref ?? null,
    json(made.origin),
    json(made.requester),
    json(made.question),
    placeOf(desk, id, priority, made.last ? "last" : "by_priority"),
    now,
    now,
    now,
  );
  db.run(
    "INSERT INTO rounds (item, n, kind, trigger, events, made_at) VALUES (?, 1, ?, ?, ?, ?)",
    id,
    made.kind,
    made.trigger,
    JSON.stringify(made.event === undefined ? [] : [made.event]),
    now,
  );
  note(desk, id, { by: made.by, was: null, became: "queued", why: made.why });
  noteRefs(desk, id, made.refs ?? []);
  for (const thread of made.threads ?? []) addThread(db, id, thread);
  for (const one of made.feedback ?? []) keepFeedback(desk, id, one);
  if (made.feedback?.length) joinRound(desk, id);
  const row = mustItem(desk, id);
  noteItem(desk, row);
  return row;
}

function json(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function oneLine(title: string): string {
  const line = title.replace(/\s+/g, " ").trim();
  return line === "" ? "(no title)" : firstCodePoints(line, MAX_TITLE);
}

/**
 * Gives an item feedback: what is queued it joins, what runs gets it in the one round after its hand-back, and
 * everything else is queued for a new round. False when the key was taken in before (PIPE-3).
 */
export function giveFeedback(
  desk: Desk,
  id: string,
  given: NewFeedback,
  how: { by: string; why: string; priority?: number },
): boolean {
  if (!keepFeedback(desk, id, given)) return false;
  const row = mustItem(desk, id);
  if (row.state === "queued") joinRound(desk, id);
  else if (row.state !== "active")
    moveTo(desk, id, "queued", {
      by: how.by,
      mover: "office",
      why: how.why,
      next: {
        kind: given.kind,
        trigger: given.trigger,
        ...(how.priority === undefined ? {} : { priority: how.priority }),
      },
    });
  desk.changed(id);
  return true;
}

/** Keeps one entry of feedback; a long review is several, each with a part of its comments. */
function keepFeedback(desk: Desk, item: string, given: NewFeedback): boolean {
  const { comments, ...entry } = given.feedback;
  const row = {
    item,
    event: given.event,
    kind: given.kind,
    trigger: given.trigger,
    room_space: given.room?.spaceId ?? null,
    room_message: given.room?.messageId ?? null,
    author: given.author ? JSON.stringify(given.author) : null,
  };
  const parts = Math.max(1, Math.ceil((comments?.length ?? 0) / MAX_COMMENTS));
  let fresh = false;
  for (let n = 0; n < parts; n++) {
    const key = n === 0 ? given.key : `${given.key}#${n}`;
    const some = comments?.slice(n * MAX_COMMENTS, (n + 1) * MAX_COMMENTS);
    const body = n === 0 ? entry.body : `(${n + 1} of ${parts} parts of this review)`;
    fresh =
      addFeedback(desk.db, { ...row, key }, { ...entry, body, ...(some && { comments: some }) }) || fresh;
  }
  return fresh;
}

/** Whether an item can still be given feedback: a canceled one only a person brings back (QUEUE-1). */
export function takesFeedback(desk: Desk, id: string): boolean {
  const row = item(desk.db, id);
  return row !== undefined && row.state !== "canceled" && row.moving === null;
}
