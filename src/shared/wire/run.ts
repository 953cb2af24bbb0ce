/** Runs: an agent's turn from start to end (TURN), and the room's own notices (LOG-8). */
import * as z from "zod";
import { event, verb } from "./envelope.ts";
import { id } from "./ids.ts";

export const outcome = z.enum(["done", "failed", "stopped", "no_reply"]);
export type Outcome = z.infer<typeof outcome>;
/** US dollars so far, a total (SPEND-4). */
const cost = z.number().nonnegative().max(10_000);
const tokens = z.int().nonnegative();

export const runStart = verb("run.start", {
  run_id: id("run"),
  space_id: id("spc"),
  agent_id: id("agt", "hrn").optional(),
  message_ids: z.array(id("msg")).max(100).default([]),
});
export const runStep = verb("run.step", {
  run_id: id("run"),
  text: z.string().min(1).max(500),
  step_id: z.string().min(1).max(200).optional(),
});
export const runUsage = verb("run.usage", {
  run_id: id("run"),
  cost_usd: cost.optional(),
  input_tokens: tokens.optional(),
  output_tokens: tokens.optional(),
});
export const runEnd = verb("run.end", { run_id: id("run"), outcome, cost_usd: cost.optional() });

/** What a person asks of a turn, and what its harness is sent (TURN-4). */
export const runPause = verb("run.pause", { run_id: id("run") });
export const runResume = verb("run.resume", { run_id: id("run") });
export const runStop = verb("run.stop", { run_id: id("run") });
/** Holds back everything between agents in a space; `lasting` until `agents.resume` alone (GUARD-5). */
export const agentsPause = verb("agents.pause", { space_id: id("spc"), lasting: z.boolean().default(false) });
export const agentsResume = verb("agents.resume", { space_id: id("spc") });

export const runStarted = event("run.started", {
  run_id: id("run"),
  agent_id: z.string(),
  message_ids: z.array(z.string()),
});
export const runStepped = event("run.stepped", {
  run_id: id("run"),
  text: z.string(),
  step_id: z.string().optional(),
});
export const runUsed = event("run.used", {
  run_id: id("run"),
  cost_usd: z.number().optional(),
  input_tokens: z.number().optional(),
  output_tokens: z.number().optional(),
});
export const runEnded = event("run.ended", {
  run_id: id("run"),
  agent_id: z.string(),
  outcome,
  cost_usd: z.number().optional(),
});

export const runPaused = event("run.paused", { run_id: id("run"), agent_id: z.string() });
export const runResumed = event("run.resumed", { run_id: id("run"), agent_id: z.string() });
export const runStopped = event("run.stopped", { run_id: id("run"), agent_id: z.string() });
/** As the run's harness is sent a person's wish or the room's own (TURN-4, SPEND-3). */
const wish = { run_id: id("run"), agent_id: z.string() };
export const runPauseSent = event("run.pause", wish);
export const runResumeSent = event("run.resume", wish);
export const runStopSent = event("run.stop", wish);
/** Why a space's agents were paused: a person, the ceiling of the job or the day, or the guard (GUARD-5, GUARD-7). */
export const pauseCause = z.enum(["person", "spend", "day", "guard"]);
export const agentsPaused = event("agents.paused", {
  space_id: id("spc"),
  cause: pauseCause,
  lasting: z.boolean(),
});
export const agentsResumed = event("agents.resumed", { space_id: id("spc") });

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
] as const;
export const noticePosted = event("notice.posted", {
  code: z.enum(NOTICE_CODES),
  text: z.string(),
  /** The participants, messages or runs that it is about. */
  about: z.array(z.string()),
});
