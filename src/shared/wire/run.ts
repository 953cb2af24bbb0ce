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

/** Of TURN-4. */
export const runPause = verb("run.pause", { run_id: id("run") }).describe("A person asks a run to pause.");
export const runResume = verb("run.resume", { run_id: id("run") }).describe("A person lets a run go on.");
export const runStop = verb("run.stop", { run_id: id("run") }).describe(
  "A person stops a run. It ends within half a minute.",
);
/** Of GUARD-5. */
export const agentsPause = verb("agents.pause", {
  space_id: id("spc"),
  lasting: z
    .boolean()
    .default(false)
    .describe("Until `agents.resume` alone, and for people's words as well."),
}).describe("Holds back what agents of a space say to each other, until a person acts there.");
export const agentsResume = verb("agents.resume", { space_id: id("spc") }).describe(
  "Lets the agents of a space go on.",
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

const ofTurn = { ...ofRun, agent_id: z.string() };
export const runPaused = fact("run.paused", ofTurn).describe("A run was asked to pause.");
export const runResumed = fact("run.resumed", ofTurn).describe("A run was let go on.");
export const runStopped = fact("run.stopped", ofTurn).describe("A run was asked to stop.");
/** As the run's harness is sent a person's wish or the room's own (TURN-4, SPEND-3). */
export const runPauseSent = fact("run.pause", ofTurn).describe("Pause this run, if you can.");
export const runResumeSent = fact("run.resume", ofTurn).describe("Go on with this run.");
export const runStopSent = fact("run.stop", ofTurn).describe("Stop this run now and say `run.end`.");
/** Why a space's agents were paused: a person, the ceiling of the job or the day, or the guard (GUARD-7). */
export const pauseCause = z.enum(["person", "spend", "day", "guard"]);
export const agentsPaused = fact("agents.paused", {
  space_id: id("spc"),
  cause: pauseCause,
  lasting: z.boolean(),
}).describe("What agents of the space say to each other is held from here on.");
export const agentsResumed = fact("agents.resumed", { space_id: id("spc") }).describe(
  "The agents of the space go on.",
);

/** Every code a room's notice may have (LOG-8). The list is closed. */
export const NOTICE_CODES = [
  "not_reachable",
  "signed_in",
  "run_stopped",
  "run_failed",
  "not_picked_up",
  "agents_paused",
  "spend_ceiling",
  "held_by_pause",
  "office",
  "brief",
] as const;
export const noticePosted = fact("notice.posted", {
  code: z.enum(NOTICE_CODES),
  text: z.string().describe("A sentence for people."),
  about: z.array(z.string()).describe("The participants, messages or runs that it is about."),
}).describe("The room itself says something. It is no message, and no line of a context.");
