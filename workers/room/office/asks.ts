/** Questions that a person of the team asks a human, in the direct space of the two (ITEM-2, ASK-1). */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../src/shared/rules/canonical.ts";
import { firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { RoomLetters } from "../../office/letters.ts";
import { madeWork } from "../judge/acts.ts";
import type { QuestionRow } from "../store/approvals.ts";
import { officeAgent, officeHarness } from "../store/office.ts";
import { isGone } from "../store/participants.ts";
import { run } from "../store/runs.ts";
import { finishRun } from "../verbs/finish.ts";
import * as runs from "../verbs/runs.ts";
import { writeAsOffice } from "../write.ts";
import { type Ledger, noneWritten, type Writer, type Written } from "../writer.ts";
import { directWith, personFor } from "./direct.ts";
import { tellCanceled } from "./tell.ts";

/** The longest question that is put to people (ASK-1). */
const MAX_TEXT = 8000;

/**
 * Puts the question where the human finds it, in a turn that only waits. Whom it cannot be put to will not answer,
 * and the board is told so. The same ask again is the same question.
 */
export function takeAsk(ledger: Ledger, of: RoomLetters["ask"]): Written {
  const { db } = ledger;
  const agent = officeAgent(db, of.handle);
  const harness = officeHarness(db);
  if (!agent || !harness || db.one("SELECT 1 FROM questions WHERE ask = ?", of.ask)) return noneWritten();
  const actor = { kind: "agent", id: agent.id, harness_id: harness.id } as const;
  return writeAsOffice(ledger, harness, actor, (w) => {
    const person = isGone(agent) ? undefined : personFor(w, agent.id, of.user);
    if (!person) {
      tellCanceled(w, of.ask, of.user, "They are a guest who shares no space with you.");
      return;
    }
    const space = directWith(w, agent, person);
    const runId = w.clock.mint("run");
    runs.begin(w, { run_id: runId, space_id: space.id, agent_id: agent.id, message_ids: [] }, 0);
    // Asking costs nothing, and a turn without a cost would count as one (SPEND-3).
    db.run("UPDATE runs SET cost_micros = 0 WHERE id = ?", runId);
    const questionId = w.clock.mint("qst");
    const text = firstCodePoints(of.text, MAX_TEXT);
    const row = w.append("question.asked", {
      spaceId: space.id,
      runId,
      body: { question_id: questionId },
    });
    const asked = createHash("sha256")
      .update(canonicalJson({ text, to: [person.id] }))
      .digest("base64");
    db.run(
      `INSERT INTO questions (id, space_id, run_id, agent_id, harness_id, asked, text, put_to, asked_at, ask)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      questionId,
      space.id,
      runId,
      agent.id,
      harness.id,
      asked,
      text,
      JSON.stringify([person.id]),
      w.now,
      of.ask,
    );
    madeWork(w, space.id, row, { made: "question" });
  });
}

/** The asker wants no answer any more. */
export function takeAskCanceled(ledger: Ledger, { ask }: RoomLetters["ask_canceled"]): Written {
  const { db } = ledger;
  const harness = officeHarness(db);
  const question = db.one<QuestionRow>("SELECT * FROM questions WHERE ask = ? AND state = 'open'", ask);
  const waits = question && run(db, question.run_id);
  if (!harness || !question || !waits) return noneWritten();
  const actor = { kind: "agent", id: question.agent_id, harness_id: harness.id } as const;
  return writeAsOffice(ledger, harness, actor, (w) => {
    // The board knows: it need not be told.
    db.run("UPDATE questions SET state = 'cancelled' WHERE id = ?", question.id);
    if (waits.ended_seq === null) finishRun(w, waits, "stopped", { cause: "taken_back" });
  });
}

/** Somebody left the workspace: what was put to them in their direct spaces is answered by nobody (SPACE-4). */
export function endAsksTo(w: Writer, personId: string): void {
  const open = w.db.all<{ run_id: string }>(
    `SELECT q.run_id FROM stays s CROSS JOIN questions q INDEXED BY questions_space ON q.space_id = s.space_id
     WHERE s.participant_id = ? AND q.ask IS NOT NULL AND q.state = 'open' AND q.put_to = ?`,
    personId,
    JSON.stringify([personId]),
  );
  for (const { run_id } of open) {
    const waits = run(w.db, run_id);
    if (waits && waits.ended_seq === null) finishRun(w, waits, "stopped", { cause: "left" });
  }
}
