/** Messages: what clients say, what the log keeps, what harnesses are delivered. */
import * as z from "zod";
import { event, instant, verb } from "./envelope.ts";
import { id } from "./ids.ts";
import { attachment, context, exchange, replyingTo, room, sender, storedAttachment } from "./parts.ts";

/** Says something in a space (LOG-7). Text or a file must be there; limits are LIMIT-1's. */
export const messagePost = verb("message.post", {
  space_id: id("spc"),
  text: z.string().default(""),
  attachments: z.array(z.object({ attachment_id: id("att"), replaces: id("att").optional() })).optional(),
  reply_to: id("msg").optional(),
  session_ref: z.string().min(1).max(200).optional(),
});
export const messageEdit = verb("message.edit", { message_id: id("msg"), text: z.string() });
export const messageDelete = verb("message.delete", { message_id: id("msg") });
/** Says that a run has read messages that were not for it; both verb and fact (TURN-3). */
export const messageHeard = verb("message.heard", {
  run_id: id("run"),
  message_ids: z.array(id("msg")).min(1).max(100),
});

/** A message as people are told it. A deleted one has no words and no files. */
export const messagePosted = event("message.posted", {
  message_id: id("msg"),
  from: sender,
  text: z.string(),
  attachments: z.array(storedAttachment).optional(),
  mentions: z.array(z.string()).optional(),
  reply_to: z.string().optional(),
  session_ref: z.string().optional(),
  addressed_to: z.array(z.string()),
  held: z.literal(true).optional(),
  edited_at: instant.optional(),
  deleted: z.literal(true).optional(),
});
export const messageEdited = event("message.edited", {
  message_id: id("msg"),
  text: z.string(),
  mentions: z.array(z.string()),
  edited_at: instant,
  deleted: z.literal(true).optional(),
});
export const messageDeleted = event("message.deleted", { message_id: id("msg") });
/** As `message.heard` is sent back: the fact that a run heard (TURN-3). */
export const messageHeardFact = event("message.heard", {
  run_id: id("run"),
  message_ids: z.array(id("msg")),
});
/** A message handed to agents after it was said: once held, or nobody's turn (NEW-9, LEAD-2). */
export const messageHanded = event("message.handed", {
  message_id: id("msg"),
  takers: z.array(z.string()),
  lead: z.literal(true).optional(),
});
export const fileTranscribed = event("file.transcribed", {
  message_id: id("msg"),
  attachment_id: id("att"),
  transcript: z.string(),
});

const delivered = {
  message_id: id("msg"),
  from: sender,
  text: z.string(),
  attachments: z.array(attachment).optional(),
  mentions: z.array(z.string()).optional(),
  reply_to: z.string().optional(),
  replying_to: replyingTo.optional(),
  session_ref: z.string().optional(),
  addressed_to: z.array(z.string()).optional(),
  for: z.array(z.string()).optional(),
  working_turns: z.array(z.object({ agent_id: z.string(), run_id: z.string() })).optional(),
};

/** A message that is a turn for this harness (NEW-1). Complete to the last field of the contract. */
export const messageNew = event("message.new", {
  ...delivered,
  context: context.optional(),
  room: room.optional(),
  exchange: exchange.optional(),
  handed: z.literal(true).optional(),
  lead: z.literal(true).optional(),
});
export type MessageNew = z.infer<typeof messageNew>;

/** A message of a space where this harness has a member, and which is no turn of its (NEW-1, NEW-5). */
export const messageOverheard = event("message.overheard", {
  ...delivered,
  held: z.literal(true).optional(),
});
export type MessageOverheard = z.infer<typeof messageOverheard>;
