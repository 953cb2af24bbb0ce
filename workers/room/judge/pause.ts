/** Pausing a space's agents: by a person, at a ceiling, or by the guard (GUARD-5, GUARD-7, SPEND-2). */

import { mostWithoutPerson } from "../../../src/shared/rules/guard.ts";
import { tellStop } from "../office/tell.ts";
import { participant } from "../store/participants.ts";
import { openRuns } from "../store/runs.ts";
import type { HaltedBecause, PausedBecause, RunRow } from "../types.ts";
import { cancelAsks } from "../verbs/settle.ts";
import type { Extras, Writer } from "../writer.ts";
import { exchangeOf, type PauseRow, pauseOf } from "./exchange.ts";
import { daySpend, spendFacts } from "./spend.ts";
import { watchRun } from "./watch.ts";

const SYSTEM = { kind: "system", id: "system" } as const;

const WORDS: Record<Exclude<PauseRow["cause"], "person">, string> = {
  spend:
    "This job has reached its ceiling, so the agents here are paused. Raise the ceiling or say something to go on.",
  day: "The workspace has reached its ceiling for today, so no agent is handed a turn. An owner or admin can raise it.",
  guard:
    "The agents here have talked to each other for long without a person, so they are paused. Say something to go on.",
};

/** Pauses a space's agents; one that is paused becomes lasting if this is. */
export function pauseAgents(
  w: Writer,
  spaceId: string,
  cause: PauseRow["cause"],
  lasting: boolean,
  main?: true,
): Extras | void {
  const before = pauseOf(w.db, spaceId);
  if (before && (before.lasting !== 0 || !lasting)) {
    // A pause that is there already, whoever asked for it, lets no turn spend past the ceiling (SPEND-3).
    if (cause === "spend" || cause === "day") haltRuns(w, spaceId, cause);
    return;
  }
  w.append("agents.paused", {
    spaceId,
    body: { cause, lasting, ...(cause === "person" ? {} : { because: whyPaused(w, spaceId, cause) }) },
    ...(main ? { main } : { actor: SYSTEM }),
  });
  w.db.run(
    "INSERT OR REPLACE INTO pauses (space_id, cause, lasting, told) VALUES (?, ?, ?, ?)",
    spaceId,
    cause,
    lasting ? 1 : 0,
    0,
  );
  if (cause === "person") return;
  w.append("notice.posted", {
    spaceId,
    actor: SYSTEM,
    body: { code: cause === "guard" ? "agents_paused" : "spend_ceiling", text: WORDS[cause], about: [] },
  });
  if (cause !== "guard") haltRuns(w, spaceId, cause);
}

function haltRuns(w: Writer, spaceId: string, cause: HaltedBecause["cause"]): void {
  for (const run of openRuns(w.db, spaceId)) haltRun(w, run, { cause });
}

/** What the room's own pause rests on (WHY-1). */
function whyPaused(w: Writer, spaceId: string, cause: Exclude<PauseRow["cause"], "person">): PausedBecause {
  if (cause === "spend") return spendFacts(w, spaceId);
  if (cause === "day") return { day: daySpend(w) };
  const { total } = exchangeOf(w.db, spaceId).state;
  return { total, most: mostWithoutPerson(w.workspace.settings.guard.hold) };
}

/** At a ceiling a running turn is paused where its harness can, else stopped (SPEND-3). */
function haltRun(w: Writer, run: RunRow, because: HaltedBecause): void {
  if (run.paused !== 0 || run.stopping_at !== null) return;
  if (canPause(w, run)) setPaused(w, run, true, because);
  else {
    stopRun(w, run, because);
    cancelAsks(w, run.id, "run_stopped");
  }
}

/** Whether a run's harness has said that it can pause (TURN-4). */
export function canPause(w: Writer, run: RunRow): boolean {
  const can = participant(w.db, run.harness_id)?.can;
  return can !== undefined && can !== null && (JSON.parse(can) as string[]).includes("pause");
}

/** Without a `because` a person asked for it. */
export function setPaused(w: Writer, run: RunRow, paused: boolean, because?: HaltedBecause): void {
  w.append(paused ? "run.paused" : "run.resumed", {
    spaceId: run.space_id,
    runId: run.id,
    ...byRoomOrPerson(run, because),
  });
  const how = paused ? (because ? BY_ROOM : BY_PERSON) : 0;
  w.db.run("UPDATE runs SET paused = ?, heard_at = ? WHERE id = ?", how, w.now, run.id);
}

/** Who paused a run: what the room paused at a ceiling goes on with the room (SPEND-2). */
const BY_PERSON = 1;
const BY_ROOM = 2;

/** The pause of a space is over: the runs that it paused go on. */
export function resumeHalted(w: Writer, spaceId: string, cause: PauseRow["cause"]): void {
  for (const run of openRuns(w.db, spaceId)) {
    if (run.paused !== BY_ROOM) continue;
    setPaused(w, run, false, { cause });
    watchRun(w, { ...run, paused: 0, heard_at: w.now });
  }
}

function byRoomOrPerson(run: RunRow, because: HaltedBecause | undefined) {
  const { agent_id } = run;
  return because
    ? { body: { agent_id, because }, actor: SYSTEM }
    : { body: { agent_id }, main: true as const };
}

/** How long a stopped run has to end by itself (TURN-4). */
export const STOP_MS = 30_000;

/** Asks a run to stop: its posts are for nobody from now on, and it ends within half a minute (TURN-4). */
export function stopRun(w: Writer, run: RunRow, because?: HaltedBecause): void {
  w.append("run.stopped", {
    spaceId: run.space_id,
    runId: run.id,
    ...byRoomOrPerson(run, because),
  });
  w.db.run("UPDATE runs SET stopping_at = ? WHERE id = ?", w.now, run.id);
  tellStop(w, run, because);
  w.afterwards({ kind: "alarm", name: "runs", at: w.now + STOP_MS });
  const agent = participant(w.db, run.agent_id)?.name ?? "An agent";
  const by = because ? "The room, at its ceiling," : w.caller.participant.name;
  w.append("notice.posted", {
    spaceId: run.space_id,
    actor: SYSTEM,
    body: { code: "run_stopped", text: `${by} stopped ${agent}.`, about: [run.agent_id, run.id] },
  });
}
