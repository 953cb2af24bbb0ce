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
  user: id("usr").optional().describe("Who they are in this workspace's rooms."),
  lead: z.boolean().default(false).describe("Whether they are told what concerns nobody in particular."),
  identities: identities.default({}).describe("Their names elsewhere, by source."),
});

const role = z.strictObject({
  title: text.describe("What people read."),
  summary: text.optional().describe("One line on what the role does."),
});

const person = z.strictObject({
  handle: handle.describe("Their address, for ever."),
  name: text.describe("The name of their agent in rooms."),
  role: text.describe("One of `roles`."),
  model: text.optional().describe("The model that their agent runs on."),
  runtime: text.optional().describe("The runtime that their agent uses."),
  subscription: text.optional().describe("Who shares one shares its usage windows (USE-3)."),
  identities: identities.default({}).describe("Their names elsewhere, by source."),
});

const repository = z.strictObject({
  repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/, { error: "has the form owner/name" }),
  base: text.default("main").describe("The branch that merges go into."),
  bots: z.array(text).default([]).describe("Bots that wake people all the same (PIPE-5)."),
});

const schedule = z.strictObject({
  id: z.string().regex(/^[\w-]{1,60}$/, { error: "is letters, digits, _ or -, 60 at most" }),
  person: handle,
  cron: text.describe("Five fields: minute, hour, day of month, month, day of week."),
  zone: text.default("UTC").describe("An IANA time zone."),
  title: text,
  body: z.string().max(4000).default(""),
});

const kinds = ["chat", "question", "merge", "review_feedback", "review", "assigned"] as const;
/** The kinds of work that the default rules make. */
export const itemKind = z.enum(kinds);

/** An op of a rule, before it has a key: `{ticket}` and the like are filled in of the event. */
const ruleOp = z.looseObject({ op: z.enum(["move", "assign", "comment", "parent", "link_pr", "link_doc"]) });

/** A rule of the team's own, before the default ones (PIPE-1). */
export const teamRule = z.strictObject({
  id: z.string().regex(/^[\w.-]{1,60}$/, { error: "is letters, digits, _, . or -, 60 at most" }),
  on: z.union([text, z.array(text).min(1)]).describe("Event types; `*` stands for any part."),
  when: z
    .strictObject({
      actor: z
        .union([text, z.array(text)])
        .optional()
        .describe("Handles, names or logins."),
      repo: z.union([text, z.array(text)]).optional(),
      ticket: z.union([text, z.array(text)]).optional(),
      person: z
        .union([handle, z.array(handle)])
        .optional()
        .describe("Whose ticket or pull request it is."),
      trusted: z.boolean().optional(),
      text: text.optional().describe("Words that the event's text has in it, case aside."),
    })
    .default({}),
  // oxlint-disable-next-line unicorn/no-thenable -- the rule's own word; it is data and never awaited
  then: z.enum(["wake", "act", "ignore"]),
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
      items: positive.max(200).default(20),
      comments: positive.max(100).default(10),
      reviews: positive.max(100).default(20),
      threads: positive.max(100).default(20),
      messages: positive.max(100).default(20),
      body_chars: positive.max(20_000).default(4000),
    })
    .prefault({})
    .describe("How much of what the office knows an offer carries (OFFER-4)."),
  priorities: z
    .strictObject({
      chat: z.int().default(priorities.chat),
      question: z.int().default(priorities.question),
      merge: z.int().default(priorities.merge),
      review_feedback: z.int().default(priorities.review_feedback),
      review: z.int().default(priorities.review),
      assigned: z.int().default(priorities.assigned),
    })
    .prefault({})
    .describe("A smaller number runs first (QUEUE-2)."),
  max_wait_hours: z.number().positive().max(720).default(4),
  chat_lane: z.boolean().default(false).describe("One chat or question beside one other item (QUEUE-3)."),
  rules: z.array(teamRule).max(100).default([]),
});

const price = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cache_read: z.number().nonnegative().default(0),
  cache_creation: z.number().nonnegative().default(0),
});

export const team = z
  .strictObject({
    version: z.literal(1).default(1),
    key: z
      .string()
      .regex(/^[A-Z]{2,5}$/, { error: "is 2 to 5 capital letters" })
      .default("BP")
      .describe("The prefix of ticket keys."),
    notify: id("spc").optional().describe("The space for notices to people (QUEUE-6)."),
    humans: z.array(human).max(500).default([]).describe("Whom the team trusts (PIPE-5)."),
    roles: z.record(z.string().min(1).max(40), role).default({}),
    people: z.array(person).max(200).default([]).describe("The agent teammates."),
    repositories: z.array(repository).max(200).default([]),
    tracker: z.strictObject({ kind: z.enum(["board", "events"]).default("board") }).prefault({}),
    knowledge: z.strictObject({ kind: z.enum(["none", "events"]).default("none") }).prefault({}),
    secrets: z
      .record(z.string().regex(/^[a-z][a-z0-9_]{0,59}$/), z.enum(["office", "agent"]))
      .default({})
      .describe("Names only; the values are PUT /v1/secrets/:name (SECRET-1)."),
    schedules: z.array(schedule).max(200).default([]),
    pipeline: pipeline.prefault({}),
    policies: z
      .strictObject({
        usage: z.strictObject({ pause_at: z.number().positive().max(1).default(0.9) }).prefault({}),
        merge: z
          .strictObject({
            by: z.enum(["author", "human"]).default("author"),
            approvals: z.int().nonnegative().max(20).default(1),
            agents_approve: z.boolean().default(false),
          })
          .prefault({}),
        merge_checks: z.strictObject({ timeout_minutes: positive.max(10_080).default(60) }).prefault({}),
        stuck_minutes: positive.max(10_080).default(60),
        agent_events: positive.max(1000).default(16),
      })
      .prefault({}),
    usage: z
      .strictObject({
        track_cost: z.boolean().default(false),
        prices: z.record(z.string(), price).default({}).describe("USD for a million tokens, by model."),
      })
      .prefault({}),
  })
  .describe("The config of a workspace's team, with its defaults.");
/** The config with every default filled in. */
export type Team = z.infer<typeof team>;
export type TeamPerson = Team["people"][number];
export type TeamHuman = Team["humans"][number];
