/** Pieces that several messages share: senders, attachments, lines, files, what a room tells a turn. */
import * as z from "zod";
import { instant, seq } from "./envelope.ts";

export const spaceRole = z.enum(["owner", "member", "guest"]);
export type SpaceRole = z.infer<typeof spaceRole>;
export const workspaceRole = z.enum(["owner", "admin", "member", "guest"]);
export type WorkspaceRole = z.infer<typeof workspaceRole>;
export const participantKind = z.enum(["person", "harness", "agent"]);
export type ParticipantKind = z.infer<typeof participantKind>;

/** Who said a message, and with what standing when it was said (NEW-4). */
export const sender = z
  .object({
    participant_id: z.string(),
    kind: participantKind,
    display_name: z.string(),
    role: spaceRole.describe("The standing in the space when it was said."),
    workspace_role: workspaceRole.optional().describe("Of a person: the standing in the workspace then."),
  })
  .meta({ id: "Sender", description: "Who said it, and with what standing." });
export type Sender = z.infer<typeof sender>;

const length = z.int().positive().optional();
/** What is known of a file's bytes. */
const bytes = {
  mime_type: z.string().describe("Found out from the bytes."),
  byte_size: z.int().nonnegative(),
  sha256: z.string().describe("Hexadecimal, in lower case."),
  width: length.describe("Of an image or video, in pixels."),
  height: length.describe("Of an image or video, in pixels."),
  duration_ms: z.int().nonnegative().optional().describe("Of audio or video."),
};

/** A file of a message as a person sees it: it is fetched by id with the session (ATT-9). */
export const storedAttachment = z
  .object({
    attachment_id: z.string(),
    filename: z.string(),
    ...bytes,
    transcript: z.string().optional().describe("What is said in a voice note."),
    replaces: z.string().optional().describe("The attachment of the version that it was made from."),
  })
  .meta({ id: "StoredAttachment", description: "A file of a message. A person fetches it by its id." });
export type StoredAttachment = z.infer<typeof storedAttachment>;

const signed = {
  url: z.string().describe("Where its bytes are, for the token that was sent this, until it expires."),
  url_expires_at: instant,
};

/** A file of a message as a harness is sent it, with a URL for its token (ATT-4). */
export const attachment = z
  .object({ ...storedAttachment.shape, ...signed })
  .meta({ id: "Attachment", description: "A file of a message, with a URL to fetch it." });
export type Attachment = z.infer<typeof attachment>;

const authorKind = z.enum(["person", "harness", "agent", "system"]);
/** Who a line is by, as they are called now. */
export const lineFrom = z
  .object({
    id: z.string(),
    kind: authorKind,
    name: z.string().describe("What they are called now."),
    role: spaceRole.optional(),
    workspace_role: workspaceRole.optional(),
  })
  .meta({ id: "LineFrom", description: "Who a line is by." });
export type LineFrom = z.infer<typeof lineFrom>;

const lineFields = {
  message_id: z.string().optional(),
  text: z.string().optional(),
  transcript: z.string().optional().describe("What its voice notes say."),
  files: z.array(z.string()).optional().describe("The names of its files."),
  addressed_to: z.array(z.string()).optional(),
  held: z.literal(true).optional(),
  name: z.string().optional().describe("Of a renaming: what somebody is called since."),
  previous: z.string().optional().describe("Of a renaming: what it was before."),
  title: z.string().optional().describe("Of a space's renaming: its title since."),
};

/** One line of a room's history (WIN-3). */
export const line = z
  .object({
    seq,
    at: instant,
    kind: z.enum(["said", "joined", "left", "renamed", "archived", "unarchived"]),
    from: lineFrom,
    ...lineFields,
  })
  .meta({ id: "Line", description: "One line of a space's history." });
export type Line = z.infer<typeof line>;

/** The message that a reply answers, as the room reads it now (REPLY-1 to REPLY-3). */
export const replyingTo = z
  .object({
    seq,
    at: instant,
    kind: z.literal("said"),
    from: lineFrom,
    ...lineFields,
    message_id: z.string(),
    edited: z.literal(true).optional(),
    deleted: z.literal(true).optional().describe("It was taken back: it has no words and no files."),
    before: z
      .array(line)
      .optional()
      .describe("What was said just before it, where the context is too short."),
    attachments: z.array(attachment).optional(),
  })
  .meta({ id: "ReplyingTo", description: "The message that this one answers, as it reads now." });
export type ReplyingTo = z.infer<typeof replyingTo>;

/** One version of a room's file (FILE-1). */
export const file = z
  .object({
    name: z.string(),
    version: z.int().positive(),
    attachment_id: z.string(),
    ...bytes,
    by: z.object({ id: z.string(), kind: authorKind, name: z.string() }),
    at: instant,
    message_id: z.string().optional(),
    replaces: z.string().optional().describe("The attachment of the version that it was made from."),
    url: signed.url.optional(),
    url_expires_at: signed.url_expires_at.optional(),
  })
  .meta({ id: "File", description: "One version of a space's file." });
export type File = z.infer<typeof file>;

/** What the room's job has spent against what the room allows (SPEND-1). */
export const spend = z
  .object({
    ceiling_usd: z.number().nonnegative().describe("What the job may spend."),
    spent_usd: z.number().nonnegative().describe("What its runs have reported."),
    since_seq: seq.describe("Where the job began."),
    uncounted_runs: z.int().nonnegative().describe("Runs of it that ended without a report."),
  })
  .meta({ id: "Spend", description: "What the job under way has spent, in US dollars." });

/** What was said in the room before a message (WIN-1). */
export const context = z
  .object({
    lines: z.array(line).describe("Oldest first."),
    since_seq: seq.describe("Where the lines could begin: this harness had its say there."),
    truncated: z.boolean().describe("Whether older lines since then were left out."),
    before: seq.describe("The cursor with which `GET /v1/spaces/{id}/context` goes further back."),
    files: z.array(file).optional().describe("The space's newest files, each at its current version."),
    spend: spend.optional(),
  })
  .meta({ id: "Context", description: "What was said in the space before." });
export type Context = z.infer<typeof context>;

/** Somebody in the room (NOTE-1). */
export const roomMember = z
  .object({
    participant_id: z.string(),
    kind: participantKind,
    name: z.string(),
    harness: z.string().optional().describe("Of an agent: the harness that runs it."),
    handle: z.string().optional().describe("What follows the @ in a mention."),
    lead: z.literal(true).optional().describe("Unclaimed work goes to this agent."),
    time_zone: z.string().optional().describe("Of a person: an IANA name."),
  })
  .meta({ id: "RoomMember", description: "Somebody in the space." });
export type RoomMember = z.infer<typeof roomMember>;

const minutes = z.int().nonnegative();
/** Who is in the room and what each taker of a turn is told of it (NOTE-1 to NOTE-3). */
export const room = z
  .object({
    members: z.array(roomMember).describe("People first, then agents, each by name."),
    notes: z
      .record(z.string(), z.string())
      .describe("For each taker of the turn: what to tell its model now."),
    rules: z
      .record(z.string(), z.string())
      .optional()
      .describe("For each taker: the end of its note, which stays the same from turn to turn."),
    working: z
      .array(z.object({ participant_id: z.string(), minutes, step: z.string().optional() }))
      .optional()
      .describe("Agents with a turn going, for how long, and what they said last of it."),
    idle: z
      .array(z.object({ participant_id: z.string(), minutes }))
      .optional()
      .describe("Other agents that have had a turn here, and how long ago it ended."),
  })
  .meta({ id: "Room", description: "Who is in the space, and what to tell each taker of the turn." });
export type Room = z.infer<typeof room>;

/** How the agents' talk in the room stands (GUARD-2). */
export const exchange = z
  .object({
    count: z
      .int()
      .nonnegative()
      .describe("Messages from agents for agents since `since`, this one included."),
    since: z
      .object({
        kind: z.enum(["person", "work", "start"]),
        seq,
        at: instant.optional(),
        by: z.string().optional(),
        made: z.enum(["file", "question", "approval"]).optional().describe("Of work: what was new."),
        file: z.string().optional(),
      })
      .describe("What the count starts from: a person's act, an agent's new work, or the space's beginning."),
    minutes: z.number().nonnegative().describe("How long ago that was."),
    person_looking: z
      .boolean()
      .nullable()
      .describe("Whether some person of the space has read so far; null when nobody ever said."),
    person: z.string().optional(),
    repeats: z
      .array(
        z.object({
          message_id: z.string(),
          by: z.string(),
          kind: z.enum(["file", "words"]),
          file: z.string().optional(),
        }),
      )
      .describe("Messages that say again what was said, or bring a file that was there."),
    circling: z.boolean().describe("Whether the agents go round in a circle."),
    also_for: z.array(z.string()).describe("Other agents whose turn the same message is."),
    stage: z.enum(["quiet", "nudge", "warning", "held"]),
    allowance: z.number().optional().describe("How many more such messages pass before they are held."),
    paused: z.boolean().describe("Whether the space's agents are paused."),
    note: z.string().describe("What to tell the model about all this."),
  })
  .meta({ id: "Exchange", description: "How long the agents of the space have talked among themselves." });
export type Exchange = z.infer<typeof exchange>;
