/** message.post, message.edit, message.delete, message.heard. */
import { type Addressees, decideAddressees } from "../../../src/shared/rules/addressing.ts";
import { findMentions } from "../../../src/shared/rules/mentions.ts";
import { byteLength } from "../../../src/shared/rules/text.ts";
import type { Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { keepAct } from "../judge/exchange.ts";
import { pickedUpMessages } from "../judge/pickups.ts";
import { afterPost, decidePost } from "../judge/post.ts";
import { tellChanged, threadOf, turnHere } from "../office/chat.ts";
import { carryFiles, checkFiles, dropFiles } from "../store/files.ts";
import { factAt } from "../store/log.ts";
import { eraseWords, indexWords, insertWords, unindexWords, wordsOf } from "../store/messages.ts";
import { noteHeard } from "../store/runs.ts";
import { isIn, type MemberRow, members, stay } from "../store/spaces.ts";
import type { FileRef, LogRow, PostedBody, RunRow, SpaceRow, WordsRow } from "../types.ts";
import type { Extras, Writer } from "../writer.ts";
import { finishRun } from "./finish.ts";
import { openRunOf } from "./runs.ts";
import { administers, inSpace } from "./standing.ts";

const TEXT_BYTES = 64 * 1024;
const MAX_FILES = 20;

export function post(w: Writer, event: Verb<"message.post">): Extras | void {
  const files = event.attachments ?? [];
  checkText(event.text);
  if (files.length > MAX_FILES)
    refuse("invalid", `A message carries at most ${MAX_FILES} attachments. Say it in several messages.`);
  if (event.text.trim() === "" && files.length === 0)
    refuse("invalid", "A message needs text or an attachment.", {
      details: [{ path: "text", message: "is empty" }],
    });
  const { space, stay: own } = inSpace(w, event.space_id);
  if (space.archived) refuse("conflict", "This space is archived. Bring it back first: space.unarchive.");
  const run = event.run_id === undefined ? ownTurn(w, space) : openRunOf(w, event.run_id);
  if (run && run.space_id !== space.id)
    refuse("invalid", "This run is in another space. Post where it runs.");
  if (run) noteHeard(w.db, run.id, w.now);

  // NO_REPLY says that the agent had nothing to add: the run ends and nobody is told anything (ADDR-6).
  if (run && files.length === 0 && event.text.trim().toUpperCase() === "NO_REPLY") {
    finishRun(w, run, "no_reply", { cause: "no_reply" });
    return;
  }

  const answered = event.reply_to === undefined ? undefined : answeredMessage(w, space, event.reply_to);
  const checkedFiles = checkFiles(w, space.id, files);
  const here = members(w.db, space.id);
  const { ids: mentions, everyone } = findMentions(
    event.text,
    here.map((m) => ({ id: m.id, handle: m.handle ?? undefined })),
  );
  const decided = decideAddressees({
    sender: {
      id: w.actor.id,
      kind: personOrAgent(w),
      guest: own.role === "guest" || w.caller.participant.role === "guest",
    },
    members: here.map((m) => ({
      id: m.id,
      kind: m.kind,
      addressable: m.withdrawn === 0 && m.removed_at === null && m.office_paused === 0,
    })),
    mentions,
    everyone,
    replyToAuthor: answered && { id: authorNow(space, answered) },
  });

  const messageId = w.clock.mint("msg");
  const posting = { space, here, decided, run, said: { messageId, text: event.text, files: checkedFiles } };
  const decision = decidePost(w, posting);
  const body: PostedBody = {
    message_id: messageId,
    role: own.role,
    ...(w.caller.participant.role === null ? {} : { workspace_role: w.caller.participant.role }),
    ...(event.reply_to === undefined ? {} : { reply_to: event.reply_to }),
    ...(answered === undefined ? {} : threadField(w, answered)),
    ...(event.session_ref === undefined ? {} : { session_ref: event.session_ref }),
    ...decision.facts,
  };
  const row = w.append("message.posted", {
    spaceId: space.id,
    runId: run?.id,
    body,
    main: true,
    line: true,
    receipt: { message_id: messageId },
  });
  insertWords(w.db, {
    id: messageId,
    edition: 1,
    seq: row.seq,
    at: w.now,
    text: event.text,
    mentions: JSON.stringify(mentions),
    files: JSON.stringify(checkedFiles),
  });
  indexWords(w.db, row.seq, event.text);
  carryFiles(w, row, messageId, checkedFiles);
  if (row.harness_id !== null)
    w.db.run(
      "INSERT OR REPLACE INTO spoke (space_id, harness_id, since_seq) VALUES (?, ?, ?)",
      space.id,
      row.harness_id,
      run?.delivered_seq ?? row.seq,
    );
  noticeUnreachable(w, row, here, unanswered(space, here, decided));
  afterPost(w, posting, row, decision);
}

/** Where the thread of a reply begins, if not with the message that it answers. */
function threadField(w: Writer, answered: LogRow): Pick<PostedBody, "thread"> {
  const body = JSON.parse(answered.body) as PostedBody;
  const thread = threadOf(w.db, body.message_id, body);
  return thread === body.message_id ? {} : { thread };
}

/** The turn that a person of the team is in here: its own token names no runs, its office keeps them (CHAT-2). */
function ownTurn(w: Writer, of: SpaceRow): RunRow | undefined {
  const { kind, id } = w.caller.participant;
  return kind === "agent" ? turnHere(w.db, id, of.id) : undefined;
}

/** Who was meant and cannot be asked: whoever is mentioned, and in a conversation of two the other (ADDR-5). */
function unanswered(
  of: SpaceRow,
  here: readonly MemberRow[],
  { rule, unreachable }: Addressees,
): readonly string[] {
  if (of.direct === null || rule === "person-mentioned" || unreachable.length > 0) return unreachable;
  const agents = here.filter((m) => m.kind !== "person");
  const [only, ...more] = agents;
  return only && more.length === 0 && here.length === 2 && only.office_paused !== 0 ? [only.id] : [];
}

function checkText(text: string): void {
  const bytes = byteLength(text);
  if (bytes > TEXT_BYTES)
    refuse(
      "too_large",
      `A message's text is at most 64 KiB; this one has ${bytes} bytes. Send the rest as a file.`,
    );
}

function personOrAgent(w: Writer): "person" | "agent" | "harness" {
  return w.actor.kind === "system" ? "harness" : w.actor.kind;
}

/** The message that a reply names, deleted or not; elsewhere and unknown read alike (REPLY-1). */
function answeredMessage(w: Writer, space: SpaceRow, messageId: string): LogRow {
  const words = wordsOf(w.db, messageId);
  const row = words && factAt(w.db, words.seq);
  if (row?.space_id !== space.id)
    refuse("invalid", "reply_to names no message of this space. Leave it out, or name one that is here.", {
      details: [{ path: "reply_to", message: "is no message of this space" }],
    });
  return row;
}

/** Who is asked by a reply: the agent that claimed the space stands in for its harness's earlier words (SPACE-3). */
function authorNow(space: SpaceRow, answered: LogRow): string {
  return answered.actor_id === space.harness_id && space.claimed_by !== null
    ? space.claimed_by
    : answered.actor_id;
}

/** An agent that cannot be asked is said to be so, once, in the room (ADDR-5). */
function noticeUnreachable(
  w: Writer,
  row: LogRow,
  here: readonly MemberRow[],
  unreachable: readonly string[],
): void {
  for (const id of unreachable) {
    const who = here.find((m) => m.id === id);
    const name = who?.name ?? id;
    const why = who && who.withdrawn === 0 && who.office_paused !== 0 ? "is paused" : "was withdrawn";
    w.append("notice.posted", {
      spaceId: row.space_id ?? undefined,
      actor: { kind: "system", id: "system" },
      body: { code: "not_reachable", text: `${name} ${why} and was not asked.`, about: [id] },
    });
  }
}

/** A message in a space of the caller's: its log row and its newest words. Deleted ones are `gone`. */
function standingMessage(w: Writer, messageId: string): { row: LogRow; words: WordsRow & { text: string } } {
  const words = wordsOf(w.db, messageId);
  const row = words && factAt(w.db, words.seq);
  if (!words || !row?.space_id || !isIn(w.db, row.space_id, w.caller.participant.id)) notFound("message");
  if (words.text === null) refuse("gone", "This message was deleted.");
  return { row, words: { ...words, text: words.text } };
}

function isAuthor(w: Writer, row: LogRow): boolean {
  return row.actor_id === w.caller.participant.id || row.harness_id === w.caller.participant.id;
}

export function edit(w: Writer, event: Verb<"message.edit">): void {
  checkText(event.text);
  const { row, words } = standingMessage(w, event.message_id);
  if (!isAuthor(w, row)) refuse("forbidden", "Only its author may edit a message.");
  if (event.text.trim() === "" && words.files === "[]")
    refuse("invalid", "A message without files needs text. Delete it instead: message.delete.");
  const spaceId = row.space_id ?? "";
  const { ids: mentions } = findMentions(
    event.text,
    members(w.db, spaceId).map((m) => ({ id: m.id, handle: m.handle ?? undefined })),
  );
  const edition = words.edition + 1;
  w.append("message.edited", {
    spaceId,
    body: { message_id: words.id, edition },
    main: true,
    receipt: { message_id: words.id },
  });
  unindexWords(w.db, words.seq, words.text);
  insertWords(w.db, { ...words, edition, at: w.now, text: event.text, mentions: JSON.stringify(mentions) });
  indexWords(w.db, words.seq, event.text);
  tellChanged(w, words.id);
}

export function remove(w: Writer, event: Verb<"message.delete">): void {
  const { row, words } = standingMessage(w, event.message_id);
  const spaceId = row.space_id ?? "";
  const owns = stay(w.db, spaceId, w.actor.id)?.role === "owner" && w.caller.participant.kind === "person";
  if (!isAuthor(w, row) && !owns && !administers(w))
    refuse(
      "forbidden",
      "Only its author, the space's owner, or an owner or admin in it may delete a message.",
    );
  w.append("message.deleted", {
    spaceId,
    body: { message_id: words.id },
    main: true,
    receipt: { message_id: words.id },
  });
  // Taking words back is no act, but saying them was one (GUARD-1).
  if (row.actor_kind === "person") keepAct(w.db, spaceId, { seq: row.seq, at: row.at, by: row.actor_id });
  eraseWords(w.db, words, w.now);
  w.db.run("DELETE FROM lines WHERE space_id = ? AND seq = ?", spaceId, words.seq);
  dropFiles(w, spaceId, words.id, JSON.parse(words.files) as FileRef[]);
  tellChanged(w, words.id);
}

export function heard(w: Writer, event: Verb<"message.heard">): void {
  const run = openRunOf(w, event.run_id);
  for (const [index, messageId] of event.message_ids.entries()) {
    const words = wordsOf(w.db, messageId);
    if (!words || factAt(w.db, words.seq)?.space_id !== run.space_id)
      refuse("invalid", "A run hears messages of its own space.", {
        details: [{ path: `message_ids.${index}`, message: "is no message of the run's space" }],
      });
  }
  noteHeard(w.db, run.id, w.now);
  pickedUpMessages(w, run.agent_id, event.message_ids);
  w.append("message.heard", {
    spaceId: run.space_id,
    runId: run.id,
    body: { message_ids: event.message_ids },
    main: true,
  });
}
