/** A message of a room as one of the team's agents may see it (CHAT-1): its stored words are what counts. */
import type { Db } from "../../kit/db.ts";
import { notFound } from "../../kit/result.ts";
import type { RoomMessage } from "../../office/letters.ts";
import { factAt } from "../store/log.ts";
import { attachmentsOf, wordsOf } from "../store/messages.ts";
import { officeAgent } from "../store/office.ts";
import { isGone } from "../store/participants.ts";
import { space, stay } from "../store/spaces.ts";
import type { PostedBody } from "../types.ts";
import { authorOf, spokenText, threadOf } from "./chat.ts";

/** The message, if it is in a space of that person's agent; else it does not exist, deleted or not (ERR-3). */
export function roomMessage(db: Db, handle: string, spaceId: string, messageId: string): RoomMessage {
  const agent = officeAgent(db, handle);
  const of = agent && !isGone(agent) && stay(db, spaceId, agent.id) ? space(db, spaceId) : undefined;
  const words = of && wordsOf(db, messageId);
  const said = words && factAt(db, words.seq);
  if (!of || !words || said?.space_id !== of.id || words.text === null) notFound("message");
  return {
    text: spokenText(db, words),
    author: authorOf(db, said),
    at: new Date(said.at).toISOString(),
    thread: threadOf(db, messageId, JSON.parse(said.body) as PostedBody),
    files: attachmentsOf(db, words).map((file) => ({
      id: file.attachment_id,
      name: file.filename,
      mimetype: file.mime_type,
      size: file.byte_size,
      url: "",
    })),
    direct: of.direct !== null,
  };
}
