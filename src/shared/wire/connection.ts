/** The frames of the socket itself: hello to sync (CONN), receipts, and what is never logged. */
import * as z from "zod";
import { approvalReceipt } from "./approval.ts";
import { seq, signal } from "./envelope.ts";
import { id } from "./ids.ts";
import { declaredAgent } from "./participant.ts";
import { participantKind, workspaceRole } from "./parts.ts";
import { questionReceipt } from "./question.ts";

/** The first frame of a connection, and the body of `POST /v1/hello` (CONN-2). */
export const hello = z
  .object({
    v: z.literal(1),
    type: z.literal("hello"),
    id: id("evt"),
    after_seq: seq.optional().describe("The last `seq` handled. Left out: that of the last `ack`."),
    context: z
      .object({ lines: z.int().nonnegative(), chars: z.int().nonnegative() })
      .optional()
      .describe(
        "How much context a turn comes with, at most. More than the server's limit is served up to it.",
      ),
    agents: z.array(declaredAgent).max(50).optional().describe("A harness's agents, new or renamed."),
    can: z
      .array(z.enum(["pause", "batch"]))
      .optional()
      .describe("`pause`: runs can be paused. `batch`: a frame may be an array of frames."),
  })
  .describe("The first frame of a connection. What it leaves out stays as it was.");
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
export const welcome = z
  .object({
    v: z.literal(1),
    type: z.literal("welcome"),
    of: z.string().describe("The id of the `hello`."),
    workspace_id: id("ws"),
    participant: self,
    agents: z.array(ownAgent).optional().describe("The agents of this harness."),
    spaces: z.array(ownSpace),
    head_seq: seq.describe("The newest place in the log."),
    resume: z
      .enum(["replay", "reset"])
      .describe("`replay`: what was missed follows. `reset`: too much was; begin with the reads."),
    limits: z.object({
      frame_bytes: z.int().positive(),
      context_lines: z.int().nonnegative(),
      context_chars: z.int().nonnegative(),
    }),
    ping_s: z.number().positive().describe("Send `ping` when nothing else was sent for so many seconds."),
  })
  .describe("The answer to `hello`.");
export type Welcome = z.infer<typeof welcome>;

export const caughtUp = z
  .object({ v: z.literal(1), type: z.literal("caught_up"), seq })
  .describe("What was missed has been sent. From here on events are live.");
/** Of CONN-10. */
export const sync = z
  .object({ v: z.literal(1), type: z.literal("sync"), n: z.int().positive() })
  .describe("Asks whether the reader keeps up. It answers `synced` at once.");
export const synced = signal("synced", { n: z.int().positive() }).describe(
  "The answer to `sync`, with its `n`.",
);
/** Of CONN-4. */
export const ack = signal("ack", { seq }).describe(
  "All up to this place in the log is handled. It never goes back and is not answered.",
);
export const read = signal("read", { space_id: id("spc"), seq }).describe(
  "Moves one's read mark of a space. It never goes back.",
);
export const typing = signal("typing", { space_id: id("spc") }).describe(
  "One is writing in a space. Sent again every few seconds while it lasts.",
);
/** Of QUEUE-4. */
export const watch = signal("watch", {
  office: z.boolean().describe("Whether this connection is told what changes in the office."),
}).describe("Asks to be told what changes in the team's office, on this connection. For people but guests.");

/** What each client write is answered with (CONN-5). */
export const receipt = z
  .object({
    v: z.literal(1),
    type: z.literal("receipt"),
    of: z.string().describe("The id of the frame that this answers."),
    id: z.string().describe("The id of the event in the log."),
    seq: seq.optional().describe("Its place in the log; absent when nothing had to be written."),
    duplicate: z.literal(true).optional().describe("It was written before, under the same key."),
    message_id: z.string().optional(),
    space_id: z.string().optional(),
    agents: z.array(ownAgent).optional(),
    run: z.object({ state: z.enum(["working", "waiting", "paused", "ended"]) }).optional(),
    approval: approvalReceipt.optional(),
    question: questionReceipt.optional(),
    policy: z.object({ version: z.int().positive() }).optional(),
  })
  .describe("A write was taken and is stored. It comes before any event that the write causes.");
export type Receipt = z.infer<typeof receipt>;

/** Somebody writes in a space; it is over six seconds after the last of these (SPACE-8, CONN-11). */
export const typingNow = z
  .object({
    v: z.literal(1),
    type: z.literal("typing"),
    space_id: z.string(),
    participant_id: z.string(),
  })
  .describe("Somebody is writing in a space. Six seconds without another of these, and they are not.");
export const presence = z
  .object({
    v: z.literal(1),
    type: z.literal("presence"),
    participant_id: z.string(),
    online: z.boolean(),
  })
  .describe("Somebody with whom one shares a space came or went.");
/** A person's own read mark, told to all their connections (SPACE-8). */
export const readMark = z
  .object({
    v: z.literal(1),
    type: z.literal("read"),
    space_id: z.string(),
    seq,
  })
  .describe("One's own read mark of a space moved, on whatever connection.");
const names = z.array(z.string()).optional();
/** Something of the office changed (QUEUE-4): names only, what it is now is read. Not logged, not sent again. */
export const officeChanged = z
  .object({
    v: z.literal(1),
    type: z.literal("office.changed"),
    people: names.describe("Handles: GET /v1/people/<handle>."),
    items: names.describe("Items of those people's queues."),
    tickets: names.describe("Keys: GET /v1/tickets/<key>."),
    events: names.describe("Events with a new trace: GET /v1/work/events/<id>."),
    team: z.literal(true).optional().describe("The team's config: GET /v1/team."),
  })
  .describe("Something in the office changed, for who asked with `watch`. Read anew what you show of it.");
export type OfficeChanged = z.infer<typeof officeChanged>;
