/** The frames of the socket itself: hello to sync (CONN), receipts, and what is never logged. */
import * as z from "zod";
import { approvalReceipt } from "./approval.ts";
import { seq, signal } from "./envelope.ts";
import { id } from "./ids.ts";
import { declaredAgent } from "./participant.ts";
import { participantKind, workspaceRole } from "./parts.ts";
import { questionReceipt } from "./question.ts";

/** The first frame of a connection, and the body of `POST /v1/hello` (CONN-2). */
export const hello = z.object({
  v: z.literal(1),
  type: z.literal("hello"),
  id: id("evt"),
  after_seq: seq.optional(),
  /** The budget of `message.new`'s context. What is over the server's own limit is served up to it. */
  context: z.object({ lines: z.int().nonnegative(), chars: z.int().nonnegative() }).optional(),
  agents: z.array(declaredAgent).max(50).optional(),
  can: z.array(z.enum(["pause", "batch"])).optional(),
});
export type Hello = z.infer<typeof hello>;

/** The participant behind a token, as it is told of itself. */
export const self = z.object({
  participant_id: z.string(),
  kind: participantKind,
  name: z.string(),
  role: workspaceRole.optional(),
  time_zone: z.string().optional(),
});
export const ownAgent = z.object({ agent_id: z.string(), name: z.string() });
export const ownSpace = z.object({
  space_id: z.string(),
  title: z.string(),
  visibility: z.enum(["private", "open"]),
  archived: z.boolean(),
  direct: z.array(z.string()).optional(),
});

/** The answer to `hello` (CONN-3). */
export const welcome = z.object({
  v: z.literal(1),
  type: z.literal("welcome"),
  of: z.string(),
  workspace_id: id("ws"),
  participant: self,
  agents: z.array(ownAgent).optional(),
  spaces: z.array(ownSpace),
  head_seq: seq,
  resume: z.enum(["replay", "reset"]),
  limits: z.object({ frame_bytes: z.int(), context_lines: z.int(), context_chars: z.int() }),
  ping_s: z.number(),
});
export type Welcome = z.infer<typeof welcome>;

export const caughtUp = z.object({ v: z.literal(1), type: z.literal("caught_up"), seq });
/** Asks a reader whether it keeps up (CONN-10). */
export const sync = z.object({ v: z.literal(1), type: z.literal("sync"), n: z.int().positive() });
export const synced = signal("synced", { n: z.int().positive() });
/** The last seq handled; cumulative, never goes back, answered by nothing (CONN-4). */
export const ack = signal("ack", { seq });
export const read = signal("read", { space_id: id("spc"), seq });
export const typing = signal("typing", { space_id: id("spc") });

/** What each client write is answered with (CONN-5). */
export const receipt = z.object({
  v: z.literal(1),
  type: z.literal("receipt"),
  of: z.string(),
  id: z.string(),
  seq: seq.optional(),
  duplicate: z.literal(true).optional(),
  message_id: z.string().optional(),
  space_id: z.string().optional(),
  agents: z.array(ownAgent).optional(),
  run: z.object({ state: z.enum(["working", "waiting", "paused", "ended"]) }).optional(),
  approval: approvalReceipt.optional(),
  question: questionReceipt.optional(),
  policy: z.object({ version: z.int().positive() }).optional(),
});
export type Receipt = z.infer<typeof receipt>;

/** Somebody writes in a space; it is over six seconds after the last of these (SPACE-8, CONN-11). */
export const typingNow = z.object({
  v: z.literal(1),
  type: z.literal("typing"),
  space_id: z.string(),
  participant_id: z.string(),
});
export const presence = z.object({
  v: z.literal(1),
  type: z.literal("presence"),
  participant_id: z.string(),
  online: z.boolean(),
});
/** A person's own read mark, told to all their connections (SPACE-8). */
export const readMark = z.object({
  v: z.literal(1),
  type: z.literal("read"),
  space_id: z.string(),
  seq,
});
