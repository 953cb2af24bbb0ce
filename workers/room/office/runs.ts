/** The rounds of chat items as turns in their rooms (CHAT-2): by the same rules as any harness's (TURN, SPEND). */

import { isCost, toUsd } from "../../../src/shared/rules/spend.ts";
import { firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { RoomLetters } from "../../office/letters.ts";
import { spentOut } from "../judge/spend.ts";
import { officeAgent, officeHarness, roomRun } from "../store/office.ts";
import { participant } from "../store/participants.ts";
import { noteHeard, run } from "../store/runs.ts";
import type { ParticipantRow, RunRow } from "../types.ts";
import * as runs from "../verbs/runs.ts";
import { writeAsOffice } from "../write.ts";
import { type Ledger, noneWritten, type Writer, type Written } from "../writer.ts";
import { tellStopped } from "./tell.ts";

const MAX_STEP = 500;

/**
 * A round began. Messages that have a run of this agent already are left out, and a run that the room had ended
 * goes on under a new id. At a ceiling no turn begins: the office is told, so that its item waits for a person.
 */
export function takeStart(ledger: Ledger, handle: string, of: RoomLetters["run_start"]): Written {
  const { db } = ledger;
  const agent = officeAgent(db, handle);
  const harness = officeHarness(db);
  if (!agent || !harness) return noneWritten();
  // An import leaves every harness gone until it comes back (LOG-6); this one is always here.
  db.run("UPDATE participants SET gone_at = NULL WHERE id = ? AND gone_at IS NOT NULL", harness.id);
  return writeAsOffice(ledger, harness, actorOf(agent), (w) => {
    const there = run(db, roomRun(db, of.runId));
    if (there?.ended_seq === null) return;
    const out = spentOut(w, of.spaceId);
    if (out) {
      tellStopped(w, handle, of.runId, { cause: out });
      return;
    }
    const runId = there ? w.clock.mint("run") : of.runId;
    if (there)
      db.run("INSERT OR REPLACE INTO office_runs (office_run, run_id) VALUES (?, ?)", of.runId, runId);
    const message_ids = of.messageIds.filter((id) => !hasRun(w, id, agent.id));
    runs.start(w, { run_id: runId, space_id: of.spaceId, agent_id: agent.id, message_ids });
  });
}

function hasRun(w: Writer, messageId: string, agentId: string): boolean {
  const taken = w.db.one<{ outcome: string | null }>(
    `SELECT runs.outcome FROM run_messages m JOIN runs ON runs.id = m.run_id
     WHERE m.message_id = ? AND m.agent_id = ?`,
    messageId,
    agentId,
  );
  return taken !== undefined && taken.outcome !== "failed" && taken.outcome !== "stopped";
}

/** What the agent is doing, from its `progress`. */
export function takeStep(ledger: Ledger, handle: string, of: RoomLetters["run_step"]): Written {
  const text = firstCodePoints(of.text, MAX_STEP);
  return ofRun(ledger, handle, of.runId, (w, { id, ended_seq }) => {
    if (ended_seq === null && text.trim() !== "") runs.step(w, { run_id: id, text });
  });
}

/** What the round has used so far, in all; a total that would go down is kept as it was (SPEND-4). */
export function takeUsage(ledger: Ledger, handle: string, of: RoomLetters["run_usage"]): Written {
  return ofRun(ledger, handle, of.runId, (w, row) =>
    runs.usage(w, {
      run_id: row.id,
      cost_usd: costOf(row, of.costUsd),
      input_tokens: of.inputTokens,
      output_tokens: of.outputTokens,
    }),
  );
}

/** The round is over. Of one that the room had ended before, the cost still counts for a day (SPEND-3). */
export function takeEnd(ledger: Ledger, handle: string, of: RoomLetters["run_end"]): Written {
  return ofRun(ledger, handle, of.runId, (w, row) => {
    const cost_usd = costOf(row, of.costUsd);
    if (row.ended_seq === null) runs.end(w, { run_id: row.id, outcome: of.outcome, cost_usd });
    else if (cost_usd !== undefined) runs.usage(w, { run_id: row.id, cost_usd });
  });
}

function costOf(row: RunRow, usd: number | undefined): number | undefined {
  if (!isCost(usd)) return undefined;
  return row.cost_micros === null ? usd : Math.max(usd, toUsd(row.cost_micros));
}

/** Acts on a run of this person's own; of any other nothing is done (AUTH-2). */
function ofRun(
  ledger: Ledger,
  handle: string,
  officeRunId: string,
  work: (w: Writer, row: RunRow) => void,
): Written {
  const { db } = ledger;
  const row = run(db, roomRun(db, officeRunId));
  const agent = row && participant(db, row.agent_id);
  const harness = officeHarness(db);
  if (!row || agent?.office_handle !== handle || !harness) return noneWritten();
  return writeAsOffice(ledger, harness, actorOf(agent), (w) => work(w, row));
}

function actorOf({ id, harness_id }: ParticipantRow) {
  return { kind: "agent", id, harness_id: harness_id ?? "" } as const;
}

/** Their agents were heard, so their turns go on (TURN-5). Writes no fact. */
export function hear(ledger: Ledger, officeRuns: readonly string[]): void {
  const { db, clock } = ledger;
  const harness = officeHarness(db);
  for (const id of officeRuns) {
    const row = run(db, roomRun(db, id));
    if (row && row.harness_id === harness?.id && row.ended_seq === null) noteHeard(db, row.id, clock.now());
  }
}
