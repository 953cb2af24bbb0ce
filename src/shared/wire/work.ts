/**
 * What happens around the team's work, in one form whatever it came from: the board's own doing, GitHub, another
 * tracker, a knowledge base, rooms, the offices (WORK-1, WORK-4, PIPE-1). A sender says what it knows.
 */
import * as z from "zod";
import { ticketStatus } from "./agent/ops.ts";
import { instant } from "./envelope.ts";

/** Longest text of a body that is kept, in bytes (WORK-1). */
export const MAX_BODY_BYTES = 65_536;
const short = z.string().min(1).max(500);
const url = z.string().max(2000);
const body = z.string().max(MAX_BODY_BYTES * 4);

/** Every event type that a pipeline rule can be about. */
export const WORK_EVENT_TYPES = [
  "ticket.created",
  "ticket.updated",
  "ticket.assigned",
  "ticket.unassigned",
  "ticket.closed",
  "ticket.commented",
  "pr.opened",
  "pr.ready",
  "pr.updated",
  "pr.closed",
  "pr.merged",
  "pr.reviewed",
  "pr.commented",
  "pr.inline_commented",
  "pr.thread_resolved",
  "pr.thread_unresolved",
  "pr.review_requested",
  "pr.review_request_removed",
  "pr.checks_failed",
  "pr.ready_to_merge",
  "merge.checks_failed",
  "merge.timed_out",
  "check.updated",
  "push",
  "doc.linked",
  "doc.updated",
  "doc.commented",
  "chat.message",
  "question.asked",
  "item.accepted",
  "item.ended",
  "schedule.due",
] as const;
export const workEventType = z.enum(WORK_EVENT_TYPES);
export type WorkEventType = z.infer<typeof workEventType>;

/** Event types that only the office itself has: no token from outside says them (WORK-4). */
const OWN_TYPES: ReadonlySet<string> = new Set([
  "chat.message",
  "question.asked",
  "item.accepted",
  "item.ended",
  "schedule.due",
] satisfies WorkEventType[]);
/** A type that a hook's token may be made for. */
export const hookEventType = workEventType.refine((type) => !OWN_TYPES.has(type), {
  error: "is the office's own",
});
/** Where events come from, as a hook's token names it: a tracker, a code host, a knowledge base. */
export const hookSource = z
  .string()
  .regex(/^[a-z][a-z0-9._-]{0,39}$/, { error: "is 1 to 40 of a-z, 0-9, ., _ and -, beginning with a letter" })
  .refine((source) => !["board", "room", "office", "schedule"].includes(source), {
    error: "is the office's own",
  });

export const workActor = z.object({
  id: short.describe("Their name at the source: a login, a participant's id, a handle."),
  name: short.optional(),
  kind: z.enum(["human", "agent", "bot"]).optional(),
  /** What GitHub calls them towards the repository (PIPE-5). */
  association: z.string().max(40).optional(),
});
export const workTicket = z.object({
  key: short,
  title: z.string().max(1000).optional(),
  url: url.optional(),
  status: ticketStatus.optional(),
  assignee: short.nullable().optional(),
  parent: short.nullable().optional(),
  description: body.optional(),
});
export const workPr = z.object({
  repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
  number: z.int().positive(),
  title: z.string().max(1000).optional(),
  body: body.optional(),
  url: url.optional(),
  state: z.enum(["open", "closed", "merged"]).optional(),
  draft: z.boolean().optional(),
  author: short.optional(),
  author_kind: z.enum(["human", "agent", "bot"]).optional(),
  head: z.string().max(500).optional().describe("The branch that it is opened from."),
  head_sha: z.string().max(80).optional(),
  base: z.string().max(500).optional(),
  merge_sha: z.string().max(80).optional(),
  merged_by: short.optional(),
  mergeable: z.enum(["clean", "conflicting", "unknown"]).optional(),
  requested: z.array(short).max(100).optional().describe("Whose review is asked for."),
});
export const workDoc = z.object({
  id: short,
  title: z.string().max(1000).optional(),
  url: url.optional(),
  ticket: short.optional(),
});
export const workCheck = z.object({
  repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
  sha: z.string().max(80),
  app: z.string().max(200).default(""),
  name: short,
  run: z.string().max(80).optional().describe("Its number at the source: a newer run has a greater one."),
  status: z.enum(["pending", "success", "failure"]),
  url: url.optional(),
  summary: body.optional(),
});
export const workComment = z.object({
  id: short,
  body: body,
  url: url.optional(),
  path: z.string().max(1000).optional(),
  line: z.int().nullish(),
  thread: short.optional(),
  reply_to: short.optional(),
  review: short.optional().describe("The id of the review that it is part of."),
  deleted: z.literal(true).optional().describe("It was taken away; its body is empty."),
  anchor: z.string().max(4000).optional().describe("For a document: the text that it is on."),
});
export const workReview = z.object({
  id: short,
  state: z.enum(["approved", "changes_requested", "commented", "dismissed"]),
  body: body.optional(),
  sha: z.string().max(80).optional(),
  url: url.optional(),
});
export const workChat = z.object({
  message: short,
  channel: short,
  thread: short,
  text: body,
  direct: z.boolean(),
  participant: z.boolean(),
  to: short.describe("The handle that it is for."),
  files: z
    .array(
      z.object({
        id: short,
        name: z.string().max(1000),
        mimetype: z.string().max(200),
        size: z.int(),
        url: url,
      }),
    )
    .max(50)
    .optional(),
});

const given = {
  id: z.string().min(1).max(300).describe("The event's id at its source: the same id is the same event."),
  type: workEventType,
  at: instant.describe("When it happened, by the source's own clock."),
  actor: workActor,
  ticket: workTicket.optional(),
  pr: workPr.optional(),
  doc: workDoc.optional(),
  check: workCheck.optional(),
  comment: workComment.optional(),
  review: workReview.optional(),
};
/** A normalised event as another tracker, host or knowledge base sends it (WORK-4). */
export const workEventGiven = z.object(given).describe("Something that happened at another tool.");
export type WorkEventGiven = z.infer<typeof workEventGiven>;

/** An event as the board takes it: with where it came from, and what only we ourselves can say. */
export const workEvent = z.object({
  ...given,
  source: short.describe("`board`, `github`, `room`, `office`, `schedule`, or a hook token's source."),
  chat: workChat.optional(),
  /** `id` is the thread's first comment's; `host` the host's own name of it, to answer in and resolve by. */
  thread: z.object({ id: short, resolved: z.boolean(), host: short.optional() }).optional(),
  /** Whose review is asked for, or is no more. */
  reviewer: short.optional(),
  push: z.object({ repo: short, branch: z.string().max(500), sha: z.string().max(80) }).optional(),
  item: z
    .object({
      id: short,
      round: z.int(),
      person: short,
      kind: short,
      status: short.optional(),
      tickets: z.array(short),
      /** The status that the ticket had when the round began. */
      before: z.record(z.string(), ticketStatus).optional(),
    })
    .optional(),
  question: z
    .object({ id: short, to: short, text: body, item: short.optional(), chain: z.array(short) })
    .optional(),
  schedule: z.object({ id: short, due: instant, person: short, title: short, body: z.string() }).optional(),
});
export type WorkEvent = z.infer<typeof workEvent>;
