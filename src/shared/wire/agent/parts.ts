/** What several messages of the agent protocol have in common. */
import * as z from "zod";

/** A link worth opening. */
export const link = z.object({ url: z.string(), title: z.string().optional() });
export type Link = z.infer<typeof link>;

/** Somebody of the chat. */
export const requester = z.object({ id: z.string(), name: z.string().optional() });
export type Requester = z.infer<typeof requester>;

/** Why it belongs to the work (OFFER-8). */
export const why = z.object({
  role: z.enum(["trigger", "subject", "created", "attached", "mentioned", "inferred", "linked"]),
  source: z.string(),
  addedAt: z.string().optional(),
});
export type Why = z.infer<typeof why>;

/** A thread of a chat in which an item is answered. */
export const thread = z.object({
  channel: z.string(),
  thread: z.string(),
  requester: requester,
  direct: z.boolean(),
  participant: z.boolean(),
});
export type Thread = z.infer<typeof thread>;

/** What an item is about. */
export const subject = z.object({
  type: z.string(),
  ref: z.string(),
  title: z.string().optional(),
  url: z.string().optional(),
  headRef: z.string().optional(),
  baseRef: z.string().optional(),
  state: z.enum(["open", "closed", "merged"]).optional(),
  draft: z.boolean().optional(),
  own: z.boolean().optional(),
});
export type Subject = z.infer<typeof subject>;

/** Tokens and cost, added up. */
export const totals = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  cacheReadTokens: z.int(),
  cacheCreationTokens: z.int(),
  tokens: z.int(),
  costUsd: z.number(),
  runs: z.int(),
});
export type Totals = z.infer<typeof totals>;

/** A part of the totals, by its key. */
export const share = z.object({ key: z.string(), totals: totals });
export type Share = z.infer<typeof share>;

/** What is to be told the requester (REPORT-2). */
export const report = z.object({
  id: z.string(),
  workItemId: z.string(),
  kind: z.enum(["result", "blocked"]),
  text: z.string(),
  requester: z.string().optional(),
  links: z.array(link),
  threads: z.array(thread).optional(),
  direct: z.string().optional(),
});
export type Report = z.infer<typeof report>;

/** A file of a chat message; the bytes are fetched from `url`. */
export const chatFile = z.object({
  id: z.string(),
  name: z.string(),
  mimetype: z.string(),
  size: z.int(),
  url: z.string(),
});
export type ChatFile = z.infer<typeof chatFile>;

/** A check that failed. */
export const failedCheck = z.object({ name: z.string(), url: z.string().optional() });
export type FailedCheck = z.infer<typeof failedCheck>;

/** The end of a failed step's log: data from the run, never instructions. */
export const step = z.object({ name: z.string(), lines: z.array(z.string()), omitted: z.int() });
export type Step = z.infer<typeof step>;

/** A model's running total in a session. */
export const modelUsage = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cacheReadTokens: z.int().nonnegative(),
  cacheCreationTokens: z.int().nonnegative(),
  costUsd: z.number().nonnegative().optional(),
});
export type ModelUsage = z.infer<typeof modelUsage>;

/** A runtime session's running totals by model (USE-1). */
export const sessionUsage = z.object({ session: z.string(), models: z.record(z.string(), modelUsage) });
export type SessionUsage = z.infer<typeof sessionUsage>;

/** A document of the knowledge base. */
export const docRef = z.object({ id: z.string(), title: z.string(), url: z.string() });
export type DocRef = z.infer<typeof docRef>;

/** An item in short. */
export const workBrief = z.object({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  kind: z.string().optional(),
  ticketKey: z.string().optional(),
  ticketTitle: z.string().optional(),
  pr: z.string().optional(),
  prNumber: z.int().optional(),
  prTitle: z.string().optional(),
  prUrl: z.string().optional(),
  current: z.boolean().optional(),
});
export type WorkBrief = z.infer<typeof workBrief>;
