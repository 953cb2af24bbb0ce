/** Bodies and answers of the Office's HTTP routes (shapes.md "Office"): people, queues, tickets, the team, events. */
import * as z from "zod";
import { ticketStatus } from "./agent/ops.ts";
import { instant } from "./envelope.ts";
import { id } from "./ids.ts";
import { pageQuery } from "./query.ts";
import { handle, team } from "./team.ts";
import { workEvent, workEventType } from "./work.ts";

const title = z.string().trim().min(1).max(500);
/** Text of people that is kept (WORK-1): 64 KiB. */
const words = z.string().max(65_536);
const reason = z
  .string()
  .trim()
  .min(1)
  .max(4096)
  .optional()
  .describe("Why; it is shown and stands in the history.");

const idempotency_key = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe("The sender's name for this request: the same key and body again is the same request (ENV-4).");

// ---- the team (TEAM-1) and its secrets (SECRET-1) ----------------------------------------------------

/** The largest document of a team's config, in bytes (OFF-5). */
export const MAX_TEAM_BYTES = 262_144;
/** How a document of the team's config may be sent, and what is read as which form (TEAM-1). */
export const TEAM_FORMATS = {
  "application/json": "json",
  "application/yaml": "yaml",
  "text/yaml": "yaml",
  "text/x-yaml": "yaml",
} as const;

/** The config as it stands, with its defaults, and its version: what `If-Match` takes (TEAM-1). */
export const teamAnswer = z.object({ team, version: z.int().nonnegative() });
export type TeamAnswer = z.infer<typeof teamAnswer>;

/** A secret's name, as `secrets` of the config has it. */
export const secretName = z.string().regex(/^[a-z][a-z0-9_]{0,59}$/, {
  error: "is 1 to 60 of a-z, 0-9 and _, beginning with a letter",
});
export const putSecret = z.object({ value: z.string().min(1).max(16_384) });

// ---- people and their queues (QUEUE-4) ---------------------------------------------------------------

export const personState = z.enum(["idle", "working", "paused", "offline"]);

/** The busiest usage window that was reported within the hour (ITEM-3). */
export const busiestWindow = z.object({
  window: z.string(),
  utilization: z.number().describe("1 is the limit."),
  resets_at: z.string().optional(),
});

/** A person of the team, as the list has them (ITEM-3). */
export const personItem = z.object({
  handle: z.string(),
  name: z.string(),
  role: z.string(),
  status: personState,
  current: z.string().optional().describe("What they are on: an item's title."),
  usage: busiestWindow.optional(),
  queued: z.int().nonnegative().describe("How many items wait to be offered."),
  subscription: z.string().optional(),
  /** Taken out of the team: the history stays (TEAM-3). */
  removed: z.literal(true).optional(),
});
export type PersonItem = z.infer<typeof personItem>;

/** The states of an item (QUEUE-1). */
export const itemState = z.enum(["queued", "active", "waiting", "blocked", "done", "canceled"]);
export type ItemState = z.infer<typeof itemState>;

/** One change of an item: who did what when, and why (QUEUE-1). */
export const itemChange = z.object({
  at: instant,
  from: itemState.optional().describe("Left out where the item began."),
  to: itemState.describe("The state from then on; the same as `from` where it only moved."),
  by: z.string().describe("A person's name, a handle, or the rule that did it."),
  why: z.string().optional(),
});

/** An item of a person's queue, as people see it. */
export const officeItem = z.object({
  id: id("itm"),
  kind: z.string(),
  title: z.string(),
  state: itemState,
  priority: z.number().describe("A smaller number runs first (QUEUE-2)."),
  position: z.int().positive().optional().describe("Its place among the queued, the next one 1."),
  offered: z.boolean().describe("An offer is out and not accepted."),
  accepted: z.boolean().describe("The agent took it, in this round."),
  round: z.int().nonnegative().describe("How many times it was taken up."),
  progress: z.string().optional().describe("What the agent last said of it. Data from the agent."),
  progress_at: instant.optional(),
  why_waiting: z.string().optional().describe("Why it is not worked on now, in a sentence."),
  stuck: z.string().optional().describe("What looks wrong, and since when (OFF-10)."),
  ticket: z.string().optional(),
  pr: z.string().optional().describe("`owner/repo#n`."),
  parent_id: z.string().optional().describe("For a question: the asker's item."),
  requester: z.object({ id: z.string(), name: z.string().optional() }).optional(),
  runtime: z.string().optional(),
  model: z.string().optional(),
  summary: z.string().optional().describe("What the last round handed back. Data from the agent."),
  links: z.array(z.object({ url: z.string(), title: z.string().optional() })).optional(),
  created_at: instant,
  history: z.array(itemChange).describe("The newest last; at most 100 of them."),
});
export type OfficeItem = z.infer<typeof officeItem>;
export const itemAnswer = z.object({ item: officeItem });
export type ItemAnswer = z.infer<typeof itemAnswer>;

/** What the agent checked of its own surroundings, as it last said (ITEM-5). */
const doctorCheck = z.object({
  name: z.string(),
  status: z.enum(["ok", "warn", "fail"]),
  detail: z.string(),
  fix: z.string().optional(),
});
/** What became of the agent's own notes (ITEM-5). Data from the agent. */
const noteChange = z.object({
  at: instant,
  change: z.enum(["added", "updated", "removed", "migrated", "edit_ignored"]),
  note: z.string().optional(),
  count: z.int().optional(),
  doc: z.object({ id: z.string(), title: z.string(), url: z.string() }).optional(),
  edit: z.object({ author: z.string(), at: z.string(), version: z.string() }).optional(),
  item: z.string().optional(),
});

/** A person with their queue: the open items in the order they run, then the 20 last finished (ITEM-4). */
export const personAnswer = z.object({
  ...personItem.shape,
  connected: z.boolean().describe("Whether their agent is connected now."),
  paused: z
    .object({ by: z.string(), reason: z.string().optional(), until: instant.optional(), at: instant })
    .optional(),
  held: z
    .object({ until: instant.optional(), why: z.string() })
    .optional()
    .describe("Usage windows, or a pause of the subscription, hold offers (USE-3)."),
  doctor: z.object({ at: instant, checks: z.array(doctorCheck) }).optional(),
  notes: z.array(noteChange).describe("The last changes, at most 20, the newest last."),
  items: z.array(officeItem),
});
export type PersonAnswer = z.infer<typeof personAnswer>;

/** Work for a person, given by hand. */
export const addItem = z.object({
  title,
  kind: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,39}$/, { error: "is 1 to 40 of a-z, 0-9 and _, beginning with a letter" })
    .default("assigned"),
  priority: z.int().min(-1000).max(1000).optional().describe("Left out: its kind's own (QUEUE-2)."),
  body: words.optional().describe("What is to be done, in as many words as it needs."),
  ticket: z.string().min(1).max(500).optional().describe("The ticket that it is about, by its key."),
  idempotency_key,
});
export type AddItem = z.infer<typeof addItem>;

/** A change to an item by people: stop, end, re-queue, move within the queue or to somebody else. */
export const patchItem = z
  .object({
    status: z.enum(["queued", "blocked", "done", "canceled"]).optional().describe("A stop is `canceled`."),
    position: z.enum(["next", "last", "before", "after"]).optional(),
    relativeTo: id("itm").optional().describe("With `before` and `after`: which item."),
    person: handle.optional().describe("Moves it to this person's queue (OFFER-7)."),
    reason,
  })
  .refine(
    (asked) => asked.status !== undefined || asked.position !== undefined || asked.person !== undefined,
    {
      error: "needs a status, a position or a person",
    },
  )
  .refine(
    ({ position, relativeTo }) =>
      (position === "before" || position === "after") === (relativeTo !== undefined),
    { error: "goes with position before or after, and they need it", path: ["relativeTo"] },
  );
export type PatchItem = z.infer<typeof patchItem>;

/** A pause of a person or a subscription; without an end it holds until it is resumed (QUEUE-4). */
export const pausePerson = z.object({ reason, until: instant.optional() });
export type PausePerson = z.infer<typeof pausePerson>;
export const statusAnswer = z.object({ status: personState });
export type StatusAnswer = z.infer<typeof statusAnswer>;
/** A subscription that people share, and who does (USE-3). */
export const subscriptionAnswer = z.object({
  subscription: z.string(),
  paused: z.boolean(),
  until: instant.optional(),
  people: z.array(z.string()).describe("Handles of who shares it."),
});
export type SubscriptionAnswer = z.infer<typeof subscriptionAnswer>;

// ---- tickets (WORK-3) --------------------------------------------------------------------------------

/** A name that a source knows, or a handle of the team. */
const assignee = z.string().min(1).max(200);
const ticketKey = z.string().min(1).max(500);

export const createTicket = z.object({
  title,
  description: words.optional(),
  assignee: assignee.optional().describe("A handle of the team, or a human's name."),
  parent: ticketKey.optional().describe("The ticket that it is a part of."),
  status: ticketStatus.optional().describe("Left out: `ready` with an assignee, else `backlog`."),
  idempotency_key,
});
export type CreateTicket = z.infer<typeof createTicket>;

export const patchTicket = z
  .object({
    title: title.optional(),
    description: words.optional(),
    assignee: assignee.nullable().optional().describe("null: nobody."),
    parent: ticketKey.nullable().optional().describe("null: no part of another."),
    status: ticketStatus.optional(),
  })
  .refine((asked) => Object.values(asked).some((value) => value !== undefined), {
    error: "needs something to change: title, description, assignee, parent or status",
  });
export type PatchTicket = z.infer<typeof patchTicket>;

export const commentTicket = z.object({
  body: words.refine((text) => text.trim() !== "", { error: "has no words in it" }),
  idempotency_key,
});
export type CommentTicket = z.infer<typeof commentTicket>;

export const ticketsQuery = pageQuery.extend({
  status: ticketStatus.optional().describe("Only tickets in this status."),
  assignee: assignee.optional().describe("Only tickets of this handle or name."),
});
export type TicketsQuery = z.infer<typeof ticketsQuery>;

/** A ticket in a list, the last changed first. */
export const ticketItem = z.object({
  key: z.string(),
  title: z.string(),
  status: ticketStatus.optional(),
  assignee: z.string().optional(),
  parent: z.string().optional(),
  url: z.string().optional(),
  source: z.string().describe("`board`, or the tracker that it is of."),
  created_at: instant,
  updated_at: instant,
});
export type TicketItem = z.infer<typeof ticketItem>;

export const ticketComment = z.object({
  id: z.string(),
  author: z.string(),
  at: instant,
  body: z.string(),
  url: z.string().optional(),
});
export type TicketComment = z.infer<typeof ticketComment>;

/** A ticket with what belongs to it. The latest 200 comments, oldest first. */
export const ticketAnswer = z.object({
  ...ticketItem.shape,
  description: z.string().optional(),
  children: z.array(z.string()).describe("Keys of the tickets that are parts of it."),
  prs: z.array(
    z.object({
      ref: z.string().describe("`owner/repo#n`."),
      title: z.string().optional(),
      url: z.string().optional(),
      state: z.enum(["open", "closed", "merged"]),
    }),
  ),
  docs: z.array(z.object({ id: z.string(), title: z.string().optional(), url: z.string().optional() })),
  comments: z.array(ticketComment),
  more_comments: z.int().positive().optional().describe("Earlier ones left out."),
});
export type TicketAnswer = z.infer<typeof ticketAnswer>;

// ---- events and their traces (WORK-4, PIPE-1) --------------------------------------------------------

export const eventTaken = z.object({
  event_id: z.string(),
  duplicate: z.literal(true).optional().describe("It was taken before, and nothing was done."),
});
export type EventTaken = z.infer<typeof eventTaken>;

/** What a webhook's delivery became (WORK-2). */
export const hookTaken = z.object({
  event_ids: z.array(z.string()).describe("None when it was nothing of the team's."),
  duplicate: z.literal(true).optional().describe("It was taken before, and nothing was done."),
});

export const workEventsQuery = pageQuery.extend({
  type: workEventType.optional().describe("Only events of this type."),
});
export type WorkEventsQuery = z.infer<typeof workEventsQuery>;

/** An event in a list, the newest first. */
export const workEventItem = z.object({
  event_id: z.string(),
  type: workEventType,
  source: z.string(),
  at: instant,
  actor: z.string(),
  trusted: z.boolean().describe("Whether who did it may wake anybody (PIPE-5)."),
  about: z.string().optional().describe("A ticket's key, `owner/repo#n`, a document's id, …"),
  decided: z.array(z.string()).describe("What it led to, in short: `wake scout`, `ignore`."),
});
export type WorkEventItem = z.infer<typeof workEventItem>;

/** One decision of the pipeline, and why (PIPE-1). */
export const workDecision = z.object({
  rule: z.string().describe("A rule of the team's own, or of the table."),
  decision: z.string().describe("`wake`, `round`, `act`, `cancel`, `note`, `ignore`, …"),
  kind: z.string().optional(),
  person: z.string().optional(),
  item: z.string().optional(),
  act: z.string().optional(),
  why: z.string(),
  at: instant,
  result: z
    .object({ ok: z.boolean(), results: z.array(z.string()), error: z.string().optional(), at: instant })
    .optional()
    .describe("For an act: what the agent said came of it (ACT-2)."),
});
export type WorkDecision = z.infer<typeof workDecision>;

export const traceAnswer = z.object({
  event: workEvent.extend({
    event_id: z.string(),
    taken_at: instant.describe("When the board took it."),
    by: z.string().describe("Who did it, as the team calls them."),
    trusted: z.boolean().describe("Whether they may wake anybody (PIPE-5)."),
    trust: z.string().describe("Why they may, or may not."),
  }),
  decisions: z.array(workDecision),
});
export type TraceAnswer = z.infer<typeof traceAnswer>;
