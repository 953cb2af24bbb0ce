/** Messages: what clients say, what the log keeps, what harnesses are delivered. */
import * as z from "zod";
import { event, fact, instant, verb } from "./envelope.ts";
import { id } from "./ids.ts";
import { attachment, context, exchange, replyingTo, room, sender, storedAttachment } from "./parts.ts";

const sessionRef = z.string().describe("A harness's own mark, passed on untouched.");
const deleted = z.literal(true).describe("It was taken back since: it has no words and no files.");

/** Limits are LIMIT-1's, and looked at where a message is written (LOG-7). */
export const messagePost = verb("message.post", {
  space_id: id("spc"),
  text: z.string().default("").describe("At most 64 KiB. An agent with nothing to say says `NO_REPLY`."),
  attachments: z
    .array(
      z.object({
        attachment_id: id("att").describe("From the upload."),
        replaces: id("att").optional().describe("The version of the same file that it was made from."),
      }),
    )
    .optional()
    .describe("At most 20."),
  reply_to: id("msg").optional().describe("The message of this space that it answers."),
  session_ref: sessionRef.min(1).max(200).optional(),
}).describe("Says something in a space: text, files, or both.");
export const messageEdit = verb("message.edit", { message_id: id("msg"), text: z.string() }).describe(
  "Changes the words of one's own message. Nobody is addressed anew.",
);
export const messageDelete = verb("message.delete", { message_id: id("msg") }).describe(
  "Takes back a message with its words and its files.",
);
/** Says that a run has read messages that were not for it; both verb and fact (TURN-3). */
export const messageHeard = verb("message.heard", {
  run_id: id("run"),
  message_ids: z.array(id("msg")).min(1).max(100),
}).describe("Says that a run has read messages that came while it was going.");

const inSpace = { space_id: id("spc") };
const held = z.literal(true).optional().describe("It waits for a person to act in the space.");
const mentions = z.array(z.string()).describe("Who is mentioned in the text, by id, in order.");

/** A message as people are told it (LOG-1). */
export const messagePosted = fact("message.posted", {
  ...inSpace,
  message_id: id("msg"),
  from: sender,
  text: z.string(),
  attachments: z.array(storedAttachment).optional(),
  mentions: mentions.optional(),
  reply_to: z.string().optional().describe("The message that it answers."),
  session_ref: sessionRef.optional(),
  addressed_to: z.array(z.string()).describe("Whose turn it is, by id; nobody's when empty."),
  held,
  edited_at: instant.optional().describe("When its words last changed."),
  deleted: deleted.optional(),
}).describe("A message, with its words as they are now.");
export const messageEdited = fact("message.edited", {
  ...inSpace,
  message_id: id("msg"),
  text: z.string(),
  mentions,
  edited_at: instant,
  deleted: deleted.optional(),
}).describe("A message has other words. No turn begins by it.");
export const messageDeleted = fact("message.deleted", { ...inSpace, message_id: id("msg") }).describe(
  "A message was taken back.",
);
/** As `message.heard` is sent back: the fact that a run heard (TURN-3). */
export const messageHeardFact = fact("message.heard", {
  ...inSpace,
  run_id: id("run"),
  message_ids: z.array(id("msg")),
}).describe("A run has read messages that came while it was going.");
/** Of NEW-9 and LEAD-2. */
export const messageHanded = fact("message.handed", {
  ...inSpace,
  message_id: id("msg"),
  takers: z.array(z.string()).describe("The agents whose turn it is now."),
  lead: z.literal(true).optional().describe("Handed to the room's lead: it was nobody's turn."),
}).describe("A message was handed to agents after it was said: it was held, or nobody's turn.");
export const fileTranscribed = fact("file.transcribed", {
  ...inSpace,
  message_id: id("msg"),
  attachment_id: id("att"),
  transcript: z.string(),
}).describe("A voice note of a message has its transcript now. No turn begins by it.");

const delivered = {
  message_id: id("msg"),
  from: sender,
  text: z.string(),
  attachments: z.array(attachment).optional(),
  mentions: mentions.optional(),
  reply_to: z.string().optional().describe("The message that it answers."),
  replying_to: replyingTo.optional(),
  session_ref: sessionRef.optional(),
  addressed_to: z.array(z.string()).optional().describe("Whose turn it is, of whatever harness, by id."),
  for: z
    .array(z.string())
    .optional()
    .describe("The agents of this harness whose turn it is; none for one that declares no agents."),
  working_turns: z
    .array(z.object({ agent_id: z.string(), run_id: z.string() }))
    .optional()
    .describe("This harness's other agents that have a turn going in the space."),
};

/** Complete to the last field of the contract (NEW-1). */
export const messageNew = event("message.new", {
  ...delivered,
  context: context.optional(),
  room: room.optional(),
  exchange: exchange.optional(),
  handed: z.literal(true).optional().describe("It comes a second time, now as a turn."),
  lead: z.literal(true).optional().describe("It was nobody's and came to its taker as the lead."),
}).describe("A message that is a turn for this harness, with what an agent needs to answer it.");
export type MessageNew = z.infer<typeof messageNew>;

/** What goes with a turn does not go with this (NEW-5). */
export const messageOverheard = event("message.overheard", {
  ...delivered,
  held,
}).describe("A message of a space where this harness has a member, and which is no turn for it.");
export type MessageOverheard = z.infer<typeof messageOverheard>;
