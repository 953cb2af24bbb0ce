/** What the board's decisions do to the queue: wakes and cancels (PIPE-1 to PIPE-3). */
import { isOpen } from "../../../src/shared/rules/item-states.ts";
import type { OfferFeedback } from "../../../src/shared/wire/agent/index.ts";
import type { Desk } from "../desk.ts";
import type { ItemRef, OfficeLetters, Origin, Ref, Thread, Wake } from "../letters.ts";
import { type ItemRow, item } from "../store/items.ts";
import { addJournal, addThread, refsOf, threadsOf } from "../store/parts.ts";
import { personRow } from "../store/person.ts";
import { round } from "../store/rounds.ts";
import { giveFeedback, makeItem, type NewFeedback, takesFeedback } from "./make.ts";
import { questionItem } from "./questions.ts";
import { moveTo } from "./states.ts";
import { noteRefs } from "./tell.ts";

/** A wake: a round on an own item, or a new item; the same decision again changes nothing (PIPE-3). */
export function takeWake(desk: Desk, wake: Wake): void {
  const { db } = desk;
  if (db.one("SELECT 1 FROM wakes WHERE key = ? AND event = ?", wake.key, wake.eventId)) return;
  const id = wokenBy(desk, wake)?.id ?? roundOn(desk, wake) ?? anew(desk, wake);
  db.run("INSERT INTO wakes (key, event, item) VALUES (?, ?, ?)", wake.key, wake.eventId, id);
  desk.toBoard("woken", { handle: desk.handle, eventId: wake.eventId, item: id });
}

/** An item that the same key made and that is still open: it is not made twice. */
function wokenBy(desk: Desk, wake: Wake): ItemRow | undefined {
  if (wake.feedback) return undefined;
  const row = desk.db.one<ItemRow>(
    "SELECT items.* FROM wakes JOIN items ON items.id = wakes.item WHERE wakes.key = ? ORDER BY items.id DESC LIMIT 1",
    wake.key,
  );
  const open = [row, filedAs(desk, wake)].find((one) => one && isOpen(one.state));
  if (open) noteRefs(desk, open.id, wake.refs);
  return open;
}

/** The work that a chat filed a ticket as: its assignment comes later, or is decided anew, and makes no other (CHAT-3). */
function filedAs(desk: Desk, { kind, subject }: Wake): ItemRow | undefined {
  const row = kind === "assigned" && subject ? workOn(desk, subject) : undefined;
  return row && refsOf(desk.db, row.id).some(({ source }) => source === "work_link") ? row : undefined;
}

/** Feedback on something of an own item is a round of that item (PIPE-2); its id. */
function roundOn(desk: Desk, wake: Wake): string | undefined {
  const said = saidBy(wake);
  if (!said) return undefined;
  const row = wake.origin ? inThread(desk, wake, wake.origin) : about(desk, wake);
  if (!row) return undefined;
  noteRefs(desk, row.id, wake.refs);
  if (wake.origin) addThread(desk.db, row.id, threadOf(wake.origin));
  giveFeedback(desk, row.id, said, {
    by: wake.rule,
    why: `${said.feedback.kind} by ${said.feedback.actor}`,
    ...(wake.priority === undefined ? {} : { priority: wake.priority }),
  });
  return row.id;
}

/** The feedback of a wake: what it carries, or a chat's words, which are one. */
function saidBy(wake: Wake): NewFeedback | undefined {
  const { eventId: event, kind, trigger, room, author } = wake;
  const more = { event, kind, trigger, ...(room && { room }), ...(author && { author }) };
  if (wake.feedback) {
    const { key, ...feedback } = wake.feedback;
    return { key, feedback: feedback satisfies OfferFeedback, ...more };
  }
  if (!wake.origin || wake.body === undefined) return undefined;
  const actor = wake.requester?.name ?? wake.origin.requester.name ?? wake.origin.requester.id;
  return { key: wake.key, feedback: { actor, kind: "chat", body: wake.body }, ...more };
}

/** An item's kind is its newest round's; what it is by itself is its first one's. */
const BEGAN_AS = "(SELECT kind FROM rounds WHERE rounds.item = items.id AND rounds.n = 1)";

/**
 * The newest own item that is about, or made, the wake's subject; for a pull request that nobody said was made in an
 * item, the one about the ticket that it is for.
 */
function about(desk: Desk, { subject, refs }: Wake): ItemRow | undefined {
  if (!subject || subject.type === "chat_thread") return undefined;
  const linked = refs.filter(({ type, role }) => type === "ticket" && role === "linked");
  for (const ref of [subject, ...(subject.type === "pr" ? linked : [])]) {
    const found = workOn(desk, ref);
    if (found) return found;
  }
  return undefined;
}

/** The newest own item that is about, or made, something, what is open first. */
export function workOn(desk: Desk, { type, ref }: Ref): ItemRow | undefined {
  return desk.db.one<ItemRow>(
    `SELECT items.* FROM refs JOIN items ON items.id = refs.item
       WHERE refs.type = ? AND refs.ref = ? AND refs.role IN ('trigger', 'subject', 'created', 'attached')
         AND items.state <> 'canceled' AND items.moving IS NULL
         AND ${BEGAN_AS} NOT IN ('review', 'question', 'chat', 'merge')
       ORDER BY items.state = 'done', items.id DESC LIMIT 1`,
    type,
    ref,
  );
}

/** The work that a thread belongs to, newest first: what is not itself a conversation before what is. */
function ofThread(desk: Desk, { channel, thread }: Thread): ItemRow | undefined {
  return desk.db.one<ItemRow>(
    `SELECT items.* FROM threads JOIN items ON items.id = threads.item WHERE threads.channel = ? AND threads.thread = ?
       ORDER BY ${BEGAN_AS} = 'chat', items.id DESC LIMIT 1`,
    channel,
    thread,
  );
}

/**
 * A message in a thread: feedback on the work of that thread if it waits for the writer (OFFER-9), else more of the
 * conversation that is still open in it.
 */
function inThread(desk: Desk, wake: Wake, origin: Origin): ItemRow | undefined {
  const work = ofThread(desk, origin);
  const writer = origin.requester.id;
  if (
    work?.state === "waiting" &&
    threadsOf(desk.db, work.id).some(({ requester }) => requester.id === writer) &&
    takesFeedback(desk, work.id)
  )
    return work;
  return desk.db.one<ItemRow>(
    `SELECT items.* FROM threads JOIN items ON items.id = threads.item WHERE threads.channel = ? AND threads.thread = ?
       AND items.kind = ? AND items.state IN ('queued', 'active', 'waiting') AND items.moving IS NULL
       ORDER BY items.id DESC LIMIT 1`,
    origin.channel,
    origin.thread,
    wake.kind,
  );
}

function threadOf({ channel, thread, requester, direct, participant }: Origin): Thread {
  return { channel, thread, requester, direct, participant };
}

/** A new item of a wake; a chat in the thread of earlier work is about that (OFFER-9). */
function anew(desk: Desk, wake: Wake): string {
  const { origin, requester, subject, question, body } = wake;
  const earlier = origin && ofThread(desk, origin);
  const said = saidBy(wake);
  const withAbout: Origin | undefined =
    origin && earlier
      ? {
          ...origin,
          about: {
            id: earlier.id,
            title: earlier.title,
            state: isOpen(earlier.state) ? "running" : "finished",
          },
        }
      : origin;
  const inherited: ItemRef[] = earlier
    ? refsOf(desk.db, earlier.id).map((ref) => ({ ...ref, role: "linked", source: `link:${earlier.id}` }))
    : [];
  const own: ItemRef[] = subject
    ? [{ ...subject, role: "subject", source: wake.eventId, addedAt: new Date(desk.now).toISOString() }]
    : [];
  // A chat's words are its feedback: its text is not also its body.
  const text = said && !wake.feedback ? undefined : (question?.text ?? body);
  const made = makeItem(desk, {
    kind: wake.kind,
    title: wake.title,
    trigger: wake.trigger,
    event: wake.eventId,
    by: wake.rule,
    why: `woken by ${wake.rule}`,
    refs: [...wake.refs, ...own, ...inherited],
    ...(text === undefined ? {} : { body: text }),
    ...(wake.priority === undefined ? {} : { priority: wake.priority }),
    ...(subject && { subject }),
    ...(withAbout && { origin: withAbout, threads: [threadOf(withAbout)] }),
    ...(requester && { requester }),
    ...(question && { question, ...(question.parentId !== undefined && { parentId: question.parentId }) }),
    ...(said && { feedback: [said] }),
  });
  if (personRow(desk.db).removed_at !== null)
    moveTo(desk, made.id, "blocked", {
      by: "office",
      mover: "office",
      why: `${desk.handle} is not in the team`,
    });
  return made.id;
}

/** What is queued or waits about something is canceled; what runs is told by a note (PIPE-1). */
export function takeCancel(desk: Desk, { ref, why, by }: OfficeLetters["cancel"]): void {
  const rows = desk.db.all<ItemRow>(
    `SELECT * FROM items WHERE subject_type = ? AND subject_ref = ? AND state IN ('queued', 'active', 'waiting', 'blocked')`,
    ref.type,
    ref.ref,
  );
  for (const row of rows) {
    if (row.state !== "active") moveTo(desk, row.id, "canceled", { by, mover: "office", why });
    else {
      addJournal(desk.db, {
        item: row.id,
        round: row.round,
        at: desk.now,
        author: "office",
        text: `${why} (${by})`,
      });
      desk.changed(row.id);
    }
  }
}

/** A room's message was edited or taken back: what was not offered yet follows it (NEW-7). */
export function messageChanged(
  desk: Desk,
  { messageId, text, deleted }: OfficeLetters["message_changed"],
): void {
  const rows = desk.db.all<{ n: number; item: string; round: number | null; feedback: string }>(
    "SELECT n, item, round, feedback FROM feedback WHERE room_message = ?",
    messageId,
  );
  for (const { n, item: id, round: of, feedback } of rows) {
    const row = item(desk.db, id);
    if (!row || of !== null) continue;
    if (text !== undefined) {
      const body: OfferFeedback = { ...(JSON.parse(feedback) as OfferFeedback), body: text };
      desk.db.run("UPDATE feedback SET feedback = ? WHERE n = ?", JSON.stringify(body), n);
    }
    if (deleted) desk.db.run("DELETE FROM feedback WHERE n = ?", n);
    if (row.state !== "queued") continue;
    const left = desk.db.one("SELECT 1 FROM feedback WHERE item = ?", id) !== undefined;
    const first = round(desk.db, id, row.round);
    if (deleted && !left && row.kind === "chat" && first?.accepted_at === null)
      moveTo(desk, id, "canceled", { by: "office", mover: "office", why: "the message was taken back" });
    else desk.db.run("UPDATE items SET rev = rev + 1 WHERE id = ?", id);
  }
}

/** Who asked needs no answer any more: what is not begun is not begun. */
export function takeWithdrawn(desk: Desk, { ask, by }: OfficeLetters["question_withdrawn"]): void {
  const row = questionItem(desk, ask);
  if (!row || row.state === "done" || row.state === "canceled") return;
  const why = `${by} needs no answer any more`;
  if (row.state !== "active") moveTo(desk, row.id, "canceled", { by, mover: "office", why });
  else
    addJournal(desk.db, { item: row.id, round: row.round, at: desk.now, author: "office", text: `${why}.` });
}
