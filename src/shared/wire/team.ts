/** The team's config (TEAM-4): one document, validated whole, defaults filled in. */
import * as z from "zod";
import { id } from "./ids.ts";

/** A handle is an address for ever (TEAM-3). */
export const handle = z.string().regex(/^[a-z][a-z0-9-]{1,31}$/, {
  error: "is 2 to 32 of a-z, 0-9 and -, beginning with a letter",
});
const text = z.string().min(1).max(500);
/** Whom the sources of work call by which name: `{github: "anna"}`. */
const identities = z.record(z.string().min(1).max(40), z.string().min(1).max(200));

const human = z.strictObject({
  name: text.describe("What the team calls them."),
  user: id("usr").optional().describe("Who they are in this workspace's rooms, `usr_…`."),
  lead: z.boolean().default(false).describe("Whether they are told what concerns nobody in particular."),
  identities: identities.default({}).describe("Their names elsewhere, by source."),
});

const role = z.strictObject({
  title: text.describe("What people read."),
  summary: text.optional().describe("One line on what the role does."),
});

const person = z.strictObject({
  handle: handle.describe("Their address, for ever: 2 to 32 of a-z, 0-9 and -."),
  name: text.describe("The name of their agent in rooms."),
  role: text.describe("One of `roles`."),
  model: text.optional().describe("The model that their agent runs on."),
  runtime: text.optional().describe("The runtime that their agent uses."),
  subscription: text.optional().describe("Who shares one shares its usage windows (USE-3)."),
  identities: identities.default({}).describe("Their names elsewhere, by source."),
});

const repository = z.strictObject({
  repo: z
    .string()
    .regex(/^[\w.-]+\/[\w.-]+$/, { error: "has the form owner/name" })
    .describe("`owner/name`."),
  base: text.default("main").describe("The branch that merges go into."),
  bots: z.array(text).default([]).describe("Bots that wake people all the same (PIPE-5)."),
});

const schedule = z.strictObject({
  id: z
    .string()
    .regex(/^[\w-]{1,60}$/, { error: "is letters, digits, _ or -, 60 at most" })
    .describe("Its own name: a due time is worked on once (OFFER-9)."),
  person: handle.describe("Whose queue it goes into."),
  cron: text.describe("Five fields: minute, hour, day of month, month, day of week."),
  zone: text.default("UTC").describe("An IANA time zone."),
  title: text.describe("What the item is called."),
  body: z.string().max(4000).default("").describe("What is to be done."),
});

const kinds = ["chat", "question", "merge", "review_feedback", "review", "assigned"] as const;
/** The kinds of work that the default rules make. */
export const itemKind = z.enum(kinds);

/** An op of a rule, before it has a key: `{ticket}` and the like are filled in of the event. */
const ruleOp = z.looseObject({
  op: z
    .enum(["move", "assign", "comment", "parent", "link_pr", "link_doc"])
    .describe("Beside it stand the fields of `schemas/op`; no `key`."),
});

/** A rule of the team's own, before the default ones (PIPE-1). */
export const teamRule = z.strictObject({
  id: z
    .string()
    .regex(/^[\w.-]{1,60}$/, { error: "is letters, digits, _, . or -, 60 at most" })
    .describe("Its own name, as traces say it."),
  on: z.union([text, z.array(text).min(1)]).describe("Event types; `*` stands for any part."),
  when: z
    .strictObject({
      actor: z
        .union([text, z.array(text)])
        .optional()
        .describe("Handles, names or logins."),
      repo: z
        .union([text, z.array(text)])
        .optional()
        .describe("`owner/name`."),
      ticket: z
        .union([text, z.array(text)])
        .optional()
        .describe("Keys of tickets."),
      person: z
        .union([handle, z.array(handle)])
        .optional()
        .describe("Whose ticket or pull request it is."),
      trusted: z.boolean().optional().describe("Whether the actor is trusted (PIPE-5)."),
      text: text.optional().describe("Words that the event's text has in it, case aside."),
    })
    .default({})
    .describe("All of it must fit; what is left out fits everything."),
  // oxlint-disable-next-line unicorn/no-thenable -- the rule's own word; it is data and never awaited
  then: z.enum(["wake", "act", "ignore"]).describe("What is decided."),
  kind: text.optional().describe("With wake: the kind of the work."),
  to: handle.optional().describe("With wake or act: who; else whose ticket or pull request it is."),
  ops: z.array(ruleOp).optional().describe("With act: what is done."),
  stop: z.boolean().default(false).describe("Whether no later rule decides."),
});
export type TeamRule = z.infer<typeof teamRule>;

const positive = z.int().positive();
const priorities = { chat: 10, question: 15, merge: 20, review_feedback: 30, review: 40, assigned: 50 };

const pipeline = z.strictObject({
  context: z
    .strictObject({
      items: positive.max(200).default(20).describe("Tickets, pull requests, documents and threads."),
      comments: positive.max(100).default(10).describe("Comments of a ticket."),
      reviews: positive.max(100).default(20).describe("Review comments of the ticket being worked on."),
      threads: positive.max(100).default(20).describe("Unresolved review threads of a pull request."),
      messages: positive.max(100).default(20).describe("Messages of a chat thread."),
      body_chars: positive.max(20_000).default(4000).describe("Characters of one text."),
    })
    .prefault({})
    .describe("How much of what the office knows an offer carries (OFFER-4)."),
  priorities: z
    .strictObject({
      chat: z.int().default(priorities.chat).describe("A message of a conversation."),
      question: z.int().default(priorities.question).describe("A teammate's question."),
      merge: z
        .int()
        .default(priorities.merge)
        .describe("A pull request to merge, or one whose merge broke something."),
      review_feedback: z.int().default(priorities.review_feedback).describe("Feedback on own work."),
      review: z.int().default(priorities.review).describe("A pull request to review."),
      assigned: z.int().default(priorities.assigned).describe("A ticket, a schedule, or work given by hand."),
    })
    .prefault({})
    .describe("A smaller number runs first (QUEUE-2)."),
  max_wait_hours: z
    .number()
    .positive()
    .max(720)
    .default(4)
    .describe("Nothing new goes ahead of what has waited so long (QUEUE-2)."),
  chat_lane: z.boolean().default(false).describe("One chat or question beside one other item (QUEUE-3)."),
  rules: z
    .array(teamRule)
    .max(100)
    .default([])
    .describe("The team's own rules, in order, before the default ones (PIPE-1)."),
});

const model = z.strictObject({
  window: positive.describe("Tokens that it takes, those of its answer included."),
  output: positive
    .optional()
    .describe("Tokens that an answer may take: left out, 16,000, and a quarter of the window at most."),
  api: z
    .enum(["chat", "responses"])
    .default("chat")
    .describe("The form in which its endpoint is asked: Chat Completions, which each has, or Responses."),
});

const price = z.strictObject({
  input: z.number().nonnegative().describe("Tokens in."),
  output: z.number().nonnegative().describe("Tokens out."),
  cache_read: z.number().nonnegative().default(0).describe("Tokens read from the cache."),
  cache_creation: z.number().nonnegative().default(0).describe("Tokens written to the cache."),
});

export const team = z
  .strictObject({
    version: z.literal(1).default(1).describe("The form of this document."),
    key: z
      .string()
      .regex(/^[A-Z]{2,5}$/, { error: "is 2 to 5 capital letters" })
      .default("BP")
      .describe("The prefix of ticket keys: 2 to 5 capitals."),
    notify: id("spc").optional().describe("The space for notices to people, `spc_…` (QUEUE-6)."),
    humans: z.array(human).max(500).default([]).describe("Whom the team trusts (PIPE-5)."),
    roles: z
      .record(z.string().min(1).max(40), role)
      .default({})
      .describe("What people are for, by a name of yours."),
    people: z.array(person).max(200).default([]).describe("The agent teammates."),
    models: z
      .record(z.string().min(1).max(500), model)
      .default({})
      .describe("What models take, by their names: one that is not here has 128,000 tokens (REQ-8)."),
    repositories: z.array(repository).max(200).default([]).describe("The code that the team works on."),
    tracker: z
      .strictObject({
        kind: z
          .enum(["board", "events"])
          .default("board")
          .describe(
            "`board`: the tickets here. `events`: another tracker, whose events come with a hook token.",
          ),
      })
      .prefault({})
      .describe("Where tickets are (WORK-3, WORK-4)."),
    knowledge: z
      .strictObject({
        kind: z
          .enum(["none", "events"])
          .default("none")
          .describe("`events`: a knowledge base, whose events come with a hook token."),
      })
      .prefault({})
      .describe("Where documents are (WORK-4)."),
    secrets: z
      .record(z.string().regex(/^[a-z][a-z0-9_]{0,59}$/), z.enum(["office", "agent"]))
      .default({})
      .describe("Names only: the office's values are set apart (SECRET-1)."),
    schedules: z.array(schedule).max(200).default([]).describe("Work that comes by the clock (OFFER-9)."),
    pipeline: pipeline.prefault({}).describe("What becomes of events, and what an offer carries."),
    policies: z
      .strictObject({
        usage: z
          .strictObject({
            pause_at: z
              .number()
              .positive()
              .max(1)
              .default(0.9)
              .describe("From this part of a usage window nothing new is offered (USE-3)."),
          })
          .prefault({}),
        merge: z
          .strictObject({
            by: z.enum(["author", "human"]).default("author").describe("Who merges what is ready."),
            approvals: z.int().nonnegative().max(20).default(1).describe("How many it needs."),
            agents_approve: z.boolean().default(false).describe("Whether a teammate's counts (PIPE-5)."),
          })
          .prefault({}),
        merge_checks: z
          .strictObject({
            timeout_minutes: positive
              .max(10_080)
              .default(60)
              .describe("How long checks of a merge commit may run."),
          })
          .prefault({}),
        stuck_minutes: positive
          .max(10_080)
          .default(60)
          .describe("No sign of an item for so long is stuck (OFF-10)."),
        agent_events: positive
          .max(1000)
          .default(16)
          .describe("So many events by agents without a human's are recorded only (PIPE-2)."),
      })
      .prefault({})
      .describe("What holds for everybody."),
    usage: z
      .strictObject({
        track_cost: z.boolean().default(false).describe("Whether tickets add up what they used (USE-2)."),
        prices: z.record(z.string(), price).default({}).describe("USD for a million tokens, by model."),
      })
      .prefault({})
      .describe("What is kept of tokens and cost (USE-1)."),
  })
  .describe("The config of a workspace's team, with its defaults.");
/** The config with every default filled in. */
export type Team = z.infer<typeof team>;
export type TeamPerson = Team["people"][number];
export type TeamHuman = Team["humans"][number];
