/** Runs: an agent's turn from start to end (TURN), and the room's own notices (LOG-8). */
import * as z from "zod";
import { fact, verb } from "./envelope.ts";
import { id } from "./ids.ts";

export const outcome = z.enum(["done", "failed", "stopped", "no_reply"]);
export type Outcome = z.infer<typeof outcome>;
/** US dollars so far, a total (SPEND-4). */
const cost = z.number().nonnegative().max(10_000).describe("US dollars so far, in all.");
const tokens = z.int().nonnegative();

export const runStart = verb("run.start", {
  run_id: id("run"),
  space_id: id("spc"),
  agent_id: id("agt", "hrn").optional().describe("Whose turn it is; left out, the harness's own."),
  message_ids: z.array(id("msg")).max(100).default([]).describe("The messages it takes, newest last."),
}).describe("An agent begins a turn. The same `run_id` again is the same run.");
export const runStep = verb("run.step", {
  run_id: id("run"),
  text: z.string().min(1).max(500).describe("What it does now, in a few words."),
  step_id: z.string().min(1).max(200).optional(),
}).describe("Says what a run is doing.");
export const runUsage = verb("run.usage", {
  run_id: id("run"),
  cost_usd: cost.optional(),
  input_tokens: tokens.optional(),
  output_tokens: tokens.optional(),
}).describe("Says what a run has used so far: totals, not what was added.");
export const runEnd = verb("run.end", { run_id: id("run"), outcome, cost_usd: cost.optional() }).describe(
  "Ends a run.",
);

const ofRun = { space_id: id("spc"), run_id: id("run") };
export const runStarted = fact("run.started", {
  ...ofRun,
  agent_id: z.string(),
  message_ids: z.array(z.string()).describe("The messages it takes, newest last."),
}).describe("An agent's turn began.");
export const runStepped = fact("run.stepped", {
  ...ofRun,
  text: z.string(),
  step_id: z.string().optional(),
}).describe("A run said what it is doing.");
export const runUsed = fact("run.used", {
  ...ofRun,
  cost_usd: cost.optional(),
  input_tokens: tokens.optional(),
  output_tokens: tokens.optional(),
}).describe("A run reported what it has used so far, in all.");
export const runEnded = fact("run.ended", {
  ...ofRun,
  agent_id: z.string(),
  outcome,
  cost_usd: cost.optional(),
}).describe("A run is over.");

/** Every code a room's notice may have (LOG-8). The list is closed. */
export const NOTICE_CODES = ["not_reachable", "signed_in", "harness_gone"] as const;
export const noticePosted = fact("notice.posted", {
  code: z.enum(NOTICE_CODES),
  text: z.string().describe("A sentence for people."),
  about: z.array(z.string()).describe("The participants, messages or runs that it is about."),
}).describe("The room itself says something. It is no message, and no line of a context.");
