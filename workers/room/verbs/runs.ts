/** run.start, run.step, run.usage, run.end, and what people ask of runs: pause, resume, stop (TURN). */

import { checkIncrease } from "../../../src/shared/rules/spend.ts";
import type { Verb } from "../../../src/shared/wire/index.ts";
import { refuse } from "../../kit/result.ts";
import { canPause, pauseAgents, setPaused, stopRun } from "../judge/pause.ts";
import { pickedUpMessages } from "../judge/pickups.ts";
import { addCost, jobOf, spentOut } from "../judge/spend.ts";
import { watchRun } from "../judge/watch.ts";
import { tellStop } from "../office/tell.ts";
import { factAt } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import { participant } from "../store/participants.ts";
import { messagesOf, noteHeard, run, shownState, stateOf } from "../store/runs.ts";
import { stay } from "../store/spaces.ts";
import type { RunRow } from "../types.ts";
import type { Extras, Writer } from "../writer.ts";
import { finishRun } from "./finish.ts";
import { cancelAsks } from "./settle.ts";
import { inSpace, mustBePerson } from "./standing.ts";

/** `run.usage` still counts this long after the end (SPEND-3). */
const LATE_USAGE_MS = 86_400_000;

/** An open run of the caller's; another's and an ended one are answered alike (ENV-7). */
export function openRunOf(w: Writer, runId: string | undefined): RunRow {
  const found = ownRun(w, runId);
  if (found.ended_seq !== null) unknownRun();
  return found;
}

export function ownRun(w: Writer, runId: string | undefined): RunRow {
  if (runId === undefined) refuse("run_required", "This needs a run_id: start a run first, with run.start.");
  const found = run(w.db, runId);
  const me = w.caller.participant.id;
  if (!found || (found.harness_id !== me && found.agent_id !== me)) unknownRun();
  return found;
}

function unknownRun(): never {
  refuse("unknown_run", "There is no open run of yours with this id. Start one with run.start.");
}

type Start = Pick<Verb<"run.start">, "run_id" | "space_id" | "agent_id" | "message_ids">;

export function start(w: Writer, event: Start): Extras | void {
  if (w.caller.participant.kind !== "harness") refuse("forbidden", "Only a harness runs agents' turns.");
  const agentId = event.agent_id ?? w.actor.id;
  mustRun(w, agentId);
  const { space } = inSpace({ ...w, actor: { kind: "agent", id: agentId } }, event.space_id);
  const same = run(w.db, event.run_id);
  if (same) {
    if (
      same.harness_id !== w.caller.participant.id ||
      same.agent_id !== agentId ||
      same.space_id !== space.id
    )
      refuse("conflict", "This run_id names another run already. Mint a new one.");
    return { run: { state: shownState(stateOf(w.db, same, w.now)) } };
  }
  let delivered = 0;
  for (const [index, messageId] of event.message_ids.entries()) {
    const words = wordsOf(w.db, messageId);
    if (!words || factAt(w.db, words.seq)?.space_id !== space.id)
      refuse("invalid", "A run takes messages of its own space.", {
        details: [{ path: `message_ids.${index}`, message: "is no message of this space" }],
      });
    const taken = w.db.one<{ outcome: string | null }>(
      "SELECT runs.outcome FROM run_messages m JOIN runs ON runs.id = m.run_id WHERE m.message_id = ? AND m.agent_id = ?",
      messageId,
      agentId,
    );
    if (taken && taken.outcome !== "failed" && taken.outcome !== "stopped")
      refuse("conflict", `This agent has a run for ${messageId} already. A message has one run an agent.`);
    const handed = w.db.one<{ seq: number }>(
      "SELECT seq FROM handovers WHERE message_id = ? AND agent_id = ?",
      messageId,
      agentId,
    );
    delivered = Math.max(delivered, handed?.seq ?? words.seq);
  }
  if (spentOut(w, space.id) !== undefined)
    refuse(
      "conflict",
      "The room is at its spend ceiling: no turn is handed out until a person acts or raises it.",
    );
  begin(w, { ...event, space_id: space.id, agent_id: agentId }, delivered, true);
}

/** Begins a turn: the fact, its row, and what it takes is picked up. */
export function begin(w: Writer, of: Start & { agent_id: string }, delivered: number, main?: true): void {
  const { run_id, space_id, agent_id, message_ids } = of;
  const started = w.append("run.started", {
    spaceId: space_id,
    runId: run_id,
    body: { agent_id, message_ids },
    ...(main ? { main, receipt: { run: { state: "working" as const } } } : {}),
    actor: actorFor(w, agent_id),
  });
  w.db.run(
    `INSERT INTO runs (id, space_id, agent_id, harness_id, started_seq, started_at, delivered_seq, heard_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    run_id,
    space_id,
    agent_id,
    w.caller.participant.id,
    started.seq,
    w.now,
    delivered || started.seq,
    w.now,
  );
  for (const messageId of message_ids)
    w.db.run(
      "INSERT OR REPLACE INTO run_messages (message_id, agent_id, run_id) VALUES (?, ?, ?)",
      messageId,
      agent_id,
      run_id,
    );
  pickedUpMessages(w, agent_id, message_ids);
  const made = run(w.db, run_id);
  if (made) watchRun(w, made);
}

/** The agent must be the caller itself or one that it declared (ENV-5). */
function mustRun(w: Writer, agentId: string): void {
  if (agentId === w.caller.participant.id) return;
  const agent = participant(w.db, agentId);
  if (agent?.harness_id !== w.caller.participant.id || agent.withdrawn || agent.removed_at !== null)
    refuse(
      "forbidden",
      "You run yourself or agents that you declared. Declare it first, with agent.declare.",
    );
}

function actorFor(w: Writer, agentId: string) {
  const me = w.caller.participant.id;
  return agentId === me
    ? ({ kind: "harness", id: me } as const)
    : ({ kind: "agent", id: agentId, harness_id: me } as const);
}

export function step(w: Writer, event: Pick<Verb<"run.step">, "run_id" | "text" | "step_id">): void {
  const open = openRunOf(w, event.run_id);
  w.db.run("UPDATE runs SET step = ?, heard_at = ? WHERE id = ?", event.text, w.now, open.id);
  w.append("run.stepped", {
    spaceId: open.space_id,
    runId: open.id,
    body: { text: event.text, ...(event.step_id === undefined ? {} : { step_id: event.step_id }) },
    main: true,
  });
}

/** Takes a run's total so far, which never goes down; the increase is the job's (SPEND-1, SPEND-4). */
function takeCost(w: Writer, of: RunRow, costUsd: number | undefined): void {
  if (costUsd === undefined) return;
  const checked = checkIncrease(of.cost_micros, costUsd);
  if (!checked.ok)
    refuse("invalid", "A run's cost is its total so far and never goes down.", {
      details: [
        { path: "cost_usd", message: `is below the ${(of.cost_micros ?? 0) / 1_000_000} reported before` },
      ],
    });
  w.db.run("UPDATE runs SET cost_micros = ? WHERE id = ?", (of.cost_micros ?? 0) + checked.increase, of.id);
  // A late first cost takes the run out of those that its job could not count.
  const late =
    of.cost_micros === null && of.ended_seq !== null && of.ended_seq > jobOf(w.db, of.space_id).since_seq;
  addCost(w, of.space_id, checked.increase, late);
}

/** At the ceiling the room pauses the space's agents, in the transaction of the report (SPEND-3). */
function checkCeiling(w: Writer, spaceId: string): void {
  const out = spentOut(w, spaceId);
  if (out === "spend") pauseAgents(w, spaceId, out, false);
  if (out !== "day") return;
  // The day's ceiling is the workspace's: turns elsewhere are halted with these (SPEND-5).
  const going = w.db.all<{ space_id: string }>(
    "SELECT DISTINCT space_id FROM runs INDEXED BY runs_going WHERE ended_seq IS NULL",
  );
  for (const id of new Set([spaceId, ...going.map((run) => run.space_id)])) pauseAgents(w, id, out, true);
}

type Usage = Pick<Verb<"run.usage">, "run_id" | "cost_usd" | "input_tokens" | "output_tokens">;

export function usage(w: Writer, event: Usage): void {
  const mine = ownRun(w, event.run_id);
  if (mine.ended_at !== null && w.now - mine.ended_at > LATE_USAGE_MS) unknownRun();
  takeCost(w, mine, event.cost_usd);
  w.db.run(
    "UPDATE runs SET input_tokens = coalesce(?, input_tokens), output_tokens = coalesce(?, output_tokens) WHERE id = ?",
    event.input_tokens ?? null,
    event.output_tokens ?? null,
    mine.id,
  );
  if (mine.ended_seq === null) noteHeard(w.db, mine.id, w.now);
  const { cost_usd, input_tokens, output_tokens } = event;
  w.append("run.used", {
    spaceId: mine.space_id,
    runId: mine.id,
    body: { cost_usd, input_tokens, output_tokens },
    main: true,
  });
  checkCeiling(w, mine.space_id);
}

export function pause(w: Writer, event: Verb<"run.pause">): void {
  const going = othersRun(w, event.run_id);
  if (!canPause(w, going))
    refuse("conflict", "This agent's harness cannot pause. Stop the run instead: run.stop.");
  if (going.paused !== 0 || going.stopping_at !== null)
    refuse("conflict", "This run is paused or stopping already.");
  setPaused(w, going, true);
}

export function resume(w: Writer, event: Verb<"run.resume">): void {
  const going = othersRun(w, event.run_id);
  if (going.paused === 0) refuse("conflict", "This run is not paused.");
  setPaused(w, going, false);
  watchRun(w, { ...going, paused: 0, heard_at: w.now });
}

export function stop(w: Writer, event: Verb<"run.stop">): void {
  const going = othersRun(w, event.run_id, true);
  if (going.stopping_at !== null)
    refuse("conflict", "This run was asked to stop already. It ends within 30 seconds.");
  stopRun(w, going);
  cancelAsks(w, going.id, "run_stopped");
}

/** An open run in a space of the acting person; a guest only stops runs on their own message (SPACE-7, TURN-4). */
function othersRun(w: Writer, runId: string, stopping = false): RunRow {
  mustBePerson(w);
  const found = run(w.db, runId);
  if (!found || !stay(w.db, found.space_id, w.caller.participant.id) || found.ended_seq !== null)
    refuse("unknown_run", "There is no open run with this id in a space of yours.");
  if (stay(w.db, found.space_id, w.caller.participant.id)?.role !== "guest") return found;
  const own = messagesOf(w.db, found).some((messageId) => {
    const words = wordsOf(w.db, messageId);
    return words && factAt(w.db, words.seq)?.actor_id === w.caller.participant.id;
  });
  if (!stopping || !own) refuse("forbidden", "A guest stops only runs on their own message. Ask a member.");
  return found;
}

export function end(w: Writer, event: Pick<Verb<"run.end">, "run_id" | "outcome" | "cost_usd">): void {
  const open = openRunOf(w, event.run_id);
  takeCost(w, open, event.cost_usd);
  finishRun(w, open, event.outcome);
  checkCeiling(w, open.space_id);
}

/** Ends what somebody has going in a space, or everywhere: they left, were removed or withdrawn. */
export function endRunsOf(w: Writer, agentId: string, spaceId?: string): void {
  const going = w.db.all<RunRow>(
    "SELECT * FROM runs INDEXED BY runs_going WHERE agent_id = ?1 AND ended_seq IS NULL AND (?2 IS NULL OR space_id = ?2)",
    agentId,
    spaceId ?? null,
  );
  for (const row of going) {
    // Taken out of a room, a person of the team works on nothing of it; the withdrawn are its office's affair.
    if (spaceId !== undefined) tellStop(w, row);
    finishRun(w, row, "stopped", { cause: "left" });
  }
}
