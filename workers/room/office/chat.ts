/** Messages for the team's people, as letters: to the board as events, and to their offices when they change (CHAT-2). */
import type { WorkEvent } from "../../../src/shared/wire/work.ts";
import type { Db } from "../../kit/db.ts";
import { factAt } from "../store/log.ts";
import { attachmentsOf, wordsOf } from "../store/messages.ts";
import { participant } from "../store/participants.ts";
import { run } from "../store/runs.ts";
import type { MemberRow } from "../store/spaces.ts";
import type { LogRow, PostedBody, RunRow, SpaceRow, WordsRow } from "../types.ts";
import type { Writer } from "../writer.ts";

/** Replies from before threads were kept are followed this far. */
const MAX_FOLLOWED = 100;

export interface ForOffice {
  space: SpaceRow;
  here: readonly MemberRow[];
  messageId: string;
  takers: readonly string[];
  /** The delivery's own fact: the message's, or a hand-over's. */
  delivery: LogRow;
}

/**
 * Writes one event a taker of the office's: its id is the delivery's and the handle, so that it is the same event
 * however often it is sent. Where no such agent is addressed it costs nothing.
 */
export function tellBoard(w: Writer, { space, here, messageId, takers, delivery }: ForOffice): void {
  const handles = takers.flatMap((id) => here.find((m) => m.id === id)?.office_handle ?? []);
  if (handles.length === 0) return;
  const words = wordsOf(w.db, messageId);
  const said = words && factAt(w.db, words.seq);
  if (!words || !said || words.text === null) return;
  const body = JSON.parse(said.body) as PostedBody;
  // Signed by the office at each offer, for the token that will fetch it (ATT-4).
  const files = filesOf(w.db, words).map((file) => ({ ...file, url: "" }));
  const chat = {
    message: messageId,
    channel: space.id,
    thread: threadOf(w.db, messageId, body),
    text: spokenText(w.db, words),
    direct: space.direct !== null,
    // In a room everybody who writes in a thread is told of its answers.
    participant: true,
    ...(files.length > 0 ? { files } : {}),
  };
  for (const handle of handles)
    w.toBoard("event", {
      id: `${delivery.id}:${handle}`,
      type: "chat.message",
      source: "room",
      at: new Date(delivery.at).toISOString(),
      actor: authorOf(w.db, said),
      chat: { ...chat, to: handle },
    });
}

/**
 * Tells the offices that keep streams what was said where their agents are and was not for them (CTX-7). Where there
 * are none it costs nothing.
 */
export function tellOverheard(w: Writer, { space, here, messageId, takers, delivery }: ForOffice): void {
  const handles = here.flatMap((m) =>
    m.office_hears !== 0 &&
    m.office_handle !== null &&
    m.withdrawn === 0 &&
    m.id !== delivery.actor_id &&
    !takers.includes(m.id)
      ? m.office_handle
      : [],
  );
  if (handles.length === 0) return;
  const words = wordsOf(w.db, messageId);
  const said = words && factAt(w.db, words.seq);
  if (!words || !said || words.text === null) return;
  const body = JSON.parse(said.body) as PostedBody;
  const letter = {
    messageId,
    spaceId: space.id,
    thread: threadOf(w.db, messageId, body),
    text: spokenText(w.db, words),
    author: { ...authorOf(w.db, said), source: "room" },
    files: filesOf(w.db, words),
  };
  for (const handle of handles) w.toOffice(handle, "overheard", letter);
}

function filesOf(db: Db, words: WordsRow) {
  return attachmentsOf(db, words).map((file) => ({
    id: file.attachment_id,
    name: file.filename,
    mimetype: file.mime_type,
    size: file.byte_size,
  }));
}

/** Who said it: a person of the team by handle, anybody else by their id in rooms. */
export function authorOf(db: Db, said: LogRow): WorkEvent["actor"] {
  const who = participant(db, said.actor_id);
  return {
    id: who?.office_handle ?? said.actor_id,
    name: who?.name ?? said.actor_id,
    kind: said.actor_kind === "person" ? "human" : "agent",
  };
}

/** The words with what is said in voice notes: who reads them later hears nothing. */
export function spokenText(db: Db, words: WordsRow): string {
  const heard = attachmentsOf(db, words).flatMap((file) => file.transcript ?? []);
  return [words.text ?? "", ...heard].filter((part) => part !== "").join("\n");
}

/** The message that a reply chain began with: what an answer is given in (CHAT-2). */
export function threadOf(db: Db, messageId: string, body: Pick<PostedBody, "reply_to" | "thread">): string {
  let [at, of] = [messageId, body];
  for (let n = 0; n < MAX_FOLLOWED; n++) {
    if (of.thread !== undefined) return of.thread;
    if (of.reply_to === undefined) return at;
    at = of.reply_to;
    const words = wordsOf(db, at);
    const row = words && factAt(db, words.seq);
    if (!row) return at;
    of = JSON.parse(row.body) as PostedBody;
  }
  return at;
}

/** A message that was for people of the team was edited, deleted, or transcribed: their offices are told (NEW-7). */
export function tellChanged(w: Writer, messageId: string): void {
  const words = wordsOf(w.db, messageId);
  const said = words && factAt(w.db, words.seq);
  if (!words || !said) return;
  const { addressed_to } = JSON.parse(said.body) as PostedBody;
  const handles = w.db.all<{ office_handle: string; took: number }>(
    `SELECT office_handle, (id IN (SELECT value FROM json_each(?1))
       OR EXISTS (SELECT 1 FROM handovers WHERE message_id = ?2 AND agent_id = participants.id)) AS took
     FROM participants INDEXED BY participants_office WHERE office_handle IS NOT NULL AND (took OR office_hears <> 0)`,
    JSON.stringify(addressed_to),
    messageId,
  );
  if (handles.length === 0) return;
  const changed = {
    messageId,
    ...(words.text === null ? { deleted: true as const } : { text: spokenText(w.db, words) }),
  };
  if (handles.some(({ took }) => took !== 0)) w.toBoard("message_changed", changed);
  for (const { office_handle } of handles) w.toOffice(office_handle, "message_changed", changed);
}

/**
 * The turn that a person's agent is in here, by whichever of its messages: what it posts belongs to it (TURN-2). A
 * question that waits for its answer is none.
 */
export function turnHere(db: Db, agentId: string, spaceId: string): RunRow | undefined {
  const found = db.one<{ id: string }>(
    `SELECT id FROM runs INDEXED BY runs_going WHERE agent_id = ? AND ended_seq IS NULL AND space_id = ?
     AND NOT EXISTS (SELECT 1 FROM questions WHERE run_id = runs.id AND ask IS NOT NULL)
     ORDER BY started_seq DESC LIMIT 1`,
    agentId,
    spaceId,
  );
  return found && run(db, found.id);
}
