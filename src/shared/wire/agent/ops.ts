/** The ops of an act, a closed set (ACT-1), published as `schemas/op/<op>.json`. */
import * as z from "zod";

/** The canonical statuses of a ticket. */
export const ticketStatus = z.enum(["backlog", "ready", "active", "review", "blocked", "done", "canceled"]);
export type TicketStatus = z.infer<typeof ticketStatus>;

/** `<act id>/<n>`: an agent makes a key's change once. */
const key = z.string().min(1).max(200).describe("The change's own name: it is made once.");
const ticket = z.string().min(1).describe("The ticket's key.");

export const moveOp = z
  .object({
    op: z.literal("move"),
    key,
    ticket,
    to: ticketStatus,
    expect: ticketStatus.optional().describe("Skipped when the ticket is not so."),
  })
  .describe("Moves a ticket to a status.");
export const assignOp = z
  .object({
    op: z.literal("assign"),
    key,
    ticket,
    to: z.string().min(1).nullable().describe("The assignee; null for nobody."),
    expect: z.string().min(1).nullable().optional().describe("Skipped when somebody else is assigned."),
  })
  .describe("Assigns a ticket.");
export const commentOp = z
  .object({
    op: z.literal("comment"),
    key,
    ticket: ticket.optional(),
    doc: z.string().min(1).optional().describe("The document's id."),
    body: z.string().min(1),
    replyTo: z.string().min(1).optional().describe("The comment that it answers."),
  })
  .refine((op) => (op.ticket === undefined) !== (op.doc === undefined), {
    error: "needs exactly one of ticket and doc",
  })
  .describe("Comments on a ticket or a document: exactly one of the two is named.");
export const parentOp = z
  .object({ op: z.literal("parent"), key, ticket, parent: z.string().min(1).nullable() })
  .describe("Puts a ticket under another; null takes it out.");
export const linkPrOp = z
  .object({
    op: z.literal("link_pr"),
    key,
    ticket,
    pr: z.string().min(1).describe("`owner/repo#n`."),
    url: z.string(),
    title: z.string(),
  })
  .describe("Links a pull request on a ticket.");
export const linkDocOp = z
  .object({
    op: z.literal("link_doc"),
    key,
    ticket,
    doc: z.object({ id: z.string().min(1), title: z.string(), url: z.string() }),
  })
  .describe("Links a document on a ticket.");
export const setFieldOp = z
  .object({
    op: z.literal("set_field"),
    key,
    ticket,
    field: z.enum(["tokens", "cost_usd", "runs"]),
    value: z.number().nonnegative(),
  })
  .describe("Writes what a ticket's work has used.");

export const OPS = {
  move: moveOp,
  assign: assignOp,
  comment: commentOp,
  parent: parentOp,
  link_pr: linkPrOp,
  link_doc: linkDocOp,
  set_field: setFieldOp,
} as const;
export type OpType = keyof typeof OPS;
export const op = z.discriminatedUnion("op", [
  moveOp,
  assignOp,
  commentOp,
  parentOp,
  linkPrOp,
  linkDocOp,
  setFieldOp,
]);
export type Op = z.infer<typeof op>;
