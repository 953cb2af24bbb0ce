/** Messages of a chat that the agent reads itself (CHAT-1). */
import { createHash } from "node:crypto";
import { firstBytes, firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { MAX_BODY_BYTES, type WorkEvent } from "../../../src/shared/wire/work.ts";
import { CALLS } from "../calls.ts";
import type { Desk } from "../desk.ts";
import { AgentRefused, asking, mustAgent } from "../handler.ts";
import type { RoomMessage } from "../letters.ts";
import { noteMoment } from "../moments.ts";

const LONGEST_ID = 500;
const LONGEST_NAME = 1000;
const LONGEST_URL = 2000;
const MOST_FILES = 50;

type Message = AgentPayload<"chat_message">;

function check({ messageId, channel, thread, author, files = [], text }: Message): void {
  for (const [name, id] of Object.entries({
    messageId,
    channel,
    thread: thread ?? "-",
    "author.id": author.id,
  }))
    if (id === "" || id.length > LONGEST_ID)
      throw new AgentRefused("invalid", `${name} has 1 to ${LONGEST_ID} characters.`);
  if (files.length > MOST_FILES) throw new AgentRefused("invalid", "A message has at most 50 files.");
  for (const file of files)
    if (file.id === "" || file.id.length > LONGEST_ID || file.url.length > LONGEST_URL)
      throw new AgentRefused("invalid", "A file's id has 1 to 500 characters, its url at most 2,000.");
  if (files.some(({ size }) => size < 0))
    throw new AgentRefused("invalid", "A file's size is its bytes: 0 or more.");
  if (text.trim() === "" && files.length === 0)
    throw new AgentRefused(
      "invalid",
      "The message has neither words nor files. Send one that says something.",
    );
}

function known(db: Desk["db"], { channel, messageId }: Message): boolean {
  return (
    db.one("SELECT 1 FROM chat_messages WHERE channel = ? AND message = ?", channel, messageId) !== undefined
  );
}

/** What the chat says of a message, or, of a room of this product, the room itself. */
function eventOf(desk: Desk, given: Message, room: RoomMessage | undefined): WorkEvent {
  const { handle } = desk;
  const files = (room?.files ?? given.files ?? []).map((file) => ({
    id: file.id,
    name: firstCodePoints(file.name, LONGEST_NAME / 2),
    mimetype: firstBytes(file.mimetype, 200),
    size: file.size,
    url: file.url,
  }));
  // Of any length, so its hash: the same message is the same event.
  const id = createHash("sha256").update(`${handle}\n${given.channel}\n${given.messageId}`).digest("hex");
  return {
    id: `chat:${id.slice(0, 40)}`,
    type: "chat.message",
    source: "office",
    at: room?.at ?? new Date(desk.now).toISOString(),
    actor: room?.author ?? {
      id: given.author.id,
      ...(given.author.name ? { name: firstCodePoints(given.author.name, 100) } : {}),
      kind: "human",
    },
    chat: {
      message: given.messageId,
      channel: given.channel,
      thread: room?.thread ?? given.thread ?? given.messageId,
      text: firstBytes(room?.text ?? given.text, MAX_BODY_BYTES),
      direct: room?.direct ?? given.direct,
      participant: given.participant,
      to: handle,
      ...(files.length === 0 ? {} : { files }),
    },
  };
}

export const chatMessage = asking<"chat_message", RoomMessage | undefined>(
  async ({ env, db, workspace, handle }, message) => {
    check(message);
    if (known(db, message) || !message.channel.startsWith("spc_")) return undefined;
    // A message of a room is what the room has, whatever an agent says of it.
    return mustAgent(await CALLS.roomMessage(env, workspace, handle, message.channel, message.messageId));
  },
  (desk, message, _frame, room) => {
    if (known(desk.db, message)) return { repeated: true };
    const event = eventOf(desk, message, room);
    const { chat, actor } = event;
    desk.db.run(
      "INSERT INTO chat_messages (channel, message, thread, event, at) VALUES (?, ?, ?, ?, ?)",
      message.channel,
      message.messageId,
      chat?.thread ?? message.messageId,
      event.id,
      desk.now,
    );
    // The board sends what is said in rooms, so that an edit there finds it.
    if (!room)
      noteMoment(desk, {
        id: event.id,
        at: desk.now,
        kind: "chat.message",
        text: chat?.text ?? "",
        ref: { type: "chat_thread", ref: `${message.channel}/${chat?.thread ?? message.messageId}` },
        who: actor.name ?? actor.id,
        whoIds: [actor.id],
      });
    desk.toBoard("event", event);
    return { repeated: false };
  },
);
