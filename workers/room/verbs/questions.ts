/** question.ask, question.answer: what an agent asks people, answered once (ASK-1). */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../src/shared/rules/canonical.ts";
import type { Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { madeWork, personActed } from "../judge/acts.ts";
import { type QuestionRow, question, visibleQuestion } from "../store/approvals.ts";
import { participant } from "../store/participants.ts";
import { noteHeard } from "../store/runs.ts";
import { stay } from "../store/spaces.ts";
import type { Extras, Writer } from "../writer.ts";
import { mayAskNow } from "./approvals.ts";
import { ownRun } from "./runs.ts";
import { wentOn } from "./settle.ts";
import { mustBePerson } from "./standing.ts";

export function ask(w: Writer, event: Verb<"question.ask">): Extras | void {
  const run = ownRun(w, event.run_id);
  const to = typeof event.to === "string" ? [event.to] : event.to;
  const content = { text: event.text, options: event.options, to };
  const asked = createHash("sha256").update(canonicalJson(content)).digest("base64");
  const same = question(w.db, event.question_id);
  if (same) {
    if (same.harness_id !== run.harness_id || same.asked !== asked)
      refuse("conflict", "This question_id names another question already. Mint a new one.");
    return { question: standing(same) };
  }
  mayAskNow(w, run);
  for (const [index, id] of (to ?? []).entries())
    if (!stay(w.db, run.space_id, id))
      refuse("invalid", "A question is put to people of the run's space. Name one who is in it, or nobody.", {
        details: [{ path: `to.${index}`, message: "is no person of this space" }],
      });
  noteHeard(w.db, run.id, w.now);
  const row = w.append("question.asked", {
    spaceId: run.space_id,
    runId: run.id,
    body: { question_id: event.question_id },
    main: true,
    receipt: { question: { state: "open" } },
  });
  w.db.run(
    `INSERT INTO questions (id, space_id, run_id, agent_id, harness_id, asked, text, options, put_to, asked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    event.question_id,
    run.space_id,
    run.id,
    run.agent_id,
    run.harness_id,
    asked,
    event.text,
    event.options ? JSON.stringify(event.options) : null,
    to ? JSON.stringify(to) : null,
    w.now,
  );
  madeWork(w, run.space_id, row, { made: "question" });
}

/** How a question stands, for a harness that asks again because it was away. */
function standing(row: QuestionRow): NonNullable<Extras["question"]> {
  if (row.answer === null || row.answered_by === null) return { state: row.state };
  return { state: row.state, by: row.answered_by, text: row.answer };
}

export function answer(w: Writer, event: Verb<"question.answer">): void {
  mustBePerson(w);
  const me = w.caller.participant;
  const row = visibleQuestion(w.db, me.id, event.question_id);
  if (!row) notFound("question");
  mayAnswer(w, row);
  if (row.state === "answered")
    refuse("conflict", `${nameOf(w, row.answered_by)} has answered this question already.`);
  if (row.state === "cancelled")
    refuse("conflict", "The turn that asked this has ended. Nobody waits for it.");
  const options = row.options === null ? [] : (JSON.parse(row.options) as string[]);
  const option = options.indexOf(event.text);
  w.db.run(
    "UPDATE questions SET state = 'answered', answer = ?, answered_by = ?, answered_at = ? WHERE id = ?",
    event.text,
    me.id,
    w.now,
    row.id,
  );
  const fact = w.append("question.answered", {
    spaceId: row.space_id,
    runId: row.run_id,
    body: { question_id: row.id, by: me.id, ...(option < 0 ? {} : { option }) },
    main: true,
    receipt: { question: { state: "answered" } },
  });
  wentOn(w, row.run_id);
  personActed(w, row.space_id, fact);
}

/** Those it was put to; else, or once none of them is here any more, anyone of the space but guests. */
function mayAnswer(w: Writer, row: QuestionRow): void {
  const me = w.caller.participant;
  const put = row.put_to === null ? [] : (JSON.parse(row.put_to) as string[]);
  const there = put.filter((id) => stay(w.db, row.space_id, id));
  if (there.length > 0) {
    if (!there.includes(me.id)) refuse("forbidden", "This question was put to somebody else.");
  } else if (me.role === "guest" || stay(w.db, row.space_id, me.id)?.role === "guest")
    refuse("forbidden", "A guest answers only what was put to them. Ask a member of the space.");
}

function nameOf(w: Writer, id: string | null): string {
  return (id === null ? undefined : participant(w.db, id)?.name) ?? "Somebody";
}
