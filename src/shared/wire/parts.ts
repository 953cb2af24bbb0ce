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
export const sender = z.object({
  participant_id: z.string(),
  kind: participantKind,
  display_name: z.string(),
  role: spaceRole,
  workspace_role: workspaceRole.optional(),
});
export type Sender = z.infer<typeof sender>;

/** What is known of a file's bytes. */
const bytes = {
  mime_type: z.string(),
  byte_size: z.number(),
  sha256: z.string(),
  width: z.number().optional(),
  height: z.number().optional(),
  duration_ms: z.number().optional(),
};

/** A file of a message as a person sees it: it is fetched by id with the session (ATT-9). */
export const storedAttachment = z.object({
  attachment_id: z.string(),
  filename: z.string(),
  ...bytes,
  transcript: z.string().optional(),
  replaces: z.string().optional(),
});
export type StoredAttachment = z.infer<typeof storedAttachment>;

/** A file of a message as a harness is sent it, with a URL for its token (ATT-4). */
export const attachment = z.object({
  ...storedAttachment.shape,
  url: z.string(),
  url_expires_at: z.string(),
});
export type Attachment = z.infer<typeof attachment>;

/** Who a line is by, as they are called now. */
export const lineFrom = z.object({
  id: z.string(),
  kind: z.enum(["person", "harness", "agent", "system"]),
  name: z.string(),
  role: spaceRole.optional(),
  workspace_role: workspaceRole.optional(),
});
export type LineFrom = z.infer<typeof lineFrom>;

const lineFields = {
  message_id: z.string().optional(),
  text: z.string().optional(),
  transcript: z.string().optional(),
  files: z.array(z.string()).optional(),
  addressed_to: z.array(z.string()).optional(),
  held: z.literal(true).optional(),
  name: z.string().optional(),
  previous: z.string().optional(),
  title: z.string().optional(),
};

/** One line of a room's history (WIN-3). */
export const line = z.object({
  seq,
  at: instant,
  kind: z.enum(["said", "joined", "left", "renamed", "archived", "unarchived"]),
  from: lineFrom,
  ...lineFields,
});
export type Line = z.infer<typeof line>;

/** The message that a reply answers, as the room reads it now (REPLY-1 to REPLY-3). */
export const replyingTo = z.object({
  seq,
  at: instant,
  kind: z.literal("said"),
  from: lineFrom,
  ...lineFields,
  message_id: z.string(),
  edited: z.literal(true).optional(),
  deleted: z.literal(true).optional(),
  before: z.array(line).optional(),
  attachments: z.array(attachment).optional(),
});
export type ReplyingTo = z.infer<typeof replyingTo>;

/** One version of a room's file (FILE-1). */
export const file = z.object({
  name: z.string(),
  version: z.int().positive(),
  attachment_id: z.string(),
  ...bytes,
  by: z.object({
    id: z.string(),
    kind: z.enum(["person", "harness", "agent", "system"]),
    name: z.string(),
  }),
  at: instant,
  message_id: z.string().optional(),
  replaces: z.string().optional(),
  url: z.string().optional(),
  url_expires_at: z.string().optional(),
});
export type File = z.infer<typeof file>;

/** What the room's job has spent against what the room allows (SPEND-1). */
export const spend = z.object({
  ceiling_usd: z.number(),
  spent_usd: z.number(),
  since_seq: seq,
  uncounted_runs: z.int().nonnegative(),
});

/** What was said in the room before a message (WIN-1). */
export const context = z.object({
  lines: z.array(line),
  since_seq: seq,
  truncated: z.boolean(),
  before: seq,
  files: z.array(file).optional(),
  spend: spend.optional(),
});
export type Context = z.infer<typeof context>;

/** Somebody in the room (NOTE-1). */
export const roomMember = z.object({
  participant_id: z.string(),
  kind: participantKind,
  name: z.string(),
  harness: z.string().optional(),
  handle: z.string().optional(),
  lead: z.literal(true).optional(),
  time_zone: z.string().optional(),
});
export type RoomMember = z.infer<typeof roomMember>;

/** Who is in the room and what each taker of a turn is told of it (NOTE-1 to NOTE-3). */
export const room = z.object({
  members: z.array(roomMember),
  notes: z.record(z.string(), z.string()),
  rules: z.record(z.string(), z.string()).optional(),
  working: z
    .array(
      z.object({ participant_id: z.string(), minutes: z.int().nonnegative(), step: z.string().optional() }),
    )
    .optional(),
  idle: z.array(z.object({ participant_id: z.string(), minutes: z.int().nonnegative() })).optional(),
});
export type Room = z.infer<typeof room>;

/** How the agents' talk in the room stands (GUARD-2). */
export const exchange = z.object({
  count: z.int().nonnegative(),
  since: z.object({
    kind: z.enum(["person", "work", "start"]),
    seq,
    at: instant.optional(),
    by: z.string().optional(),
    made: z.enum(["file", "question", "approval"]).optional(),
    file: z.string().optional(),
  }),
  minutes: z.number(),
  person_looking: z.boolean().nullable(),
  person: z.string().optional(),
  repeats: z.array(
    z.object({
      message_id: z.string(),
      by: z.string(),
      kind: z.enum(["file", "words"]),
      file: z.string().optional(),
    }),
  ),
  circling: z.boolean(),
  also_for: z.array(z.string()),
  stage: z.enum(["quiet", "nudge", "warning", "held"]),
  allowance: z.number().optional(),
  paused: z.boolean(),
  note: z.string(),
});
export type Exchange = z.infer<typeof exchange>;
