/** question.ask, question.answer: what an agent asks people, answered once (ASK-1). */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../src/shared/rules/canonical.ts";
import type { Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { madeWork, personActed } from "../judge/acts.ts";
import { tellAnswered } from "../office/tell.ts";
import { type QuestionRow, question, visibleQuestion } from "../store/approvals.ts";
import { participant } from "../store/participants.ts";
import { noteHeard, run } from "../store/runs.ts";
import { stay } from "../store/spaces.ts";
import type { Extras, Writer } from "../writer.ts";
import { mayAskNow } from "./approvals.ts";
import { finishRun } from "./finish.ts";
import { ownRun } from "./runs.ts";
import { wentOn } from "./settle.ts";
import { mustBePerson } from "./standing.ts";

export function ask(w: Writer, event: Verb<"question.ask">): Extras | void {
  const of = ownRun(w, event.run_id);
  const to = typeof event.to === "string" ? [event.to] : event.to;
  const content = { text: event.text, options: event.options, to };
  const asked = createHash("sha256").update(canonicalJson(content)).digest("base64");
  const same = question(w.db, event.question_id);
  if (same) {
    if (same.harness_id !== of.harness_id || same.asked !== asked)
      refuse("conflict", "This question_id names another question already. Mint a new one.");
    return { question: standing(same) };
  }
  mayAskNow(w, of);
  for (const [index, id] of (to ?? []).entries())
    if (!stay(w.db, of.space_id, id))
      refuse("invalid", "A question is put to people of the run's space. Name one who is in it, or nobody.", {
        details: [{ path: `to.${index}`, message: "is no person of this space" }],
      });
  noteHeard(w.db, of.id, w.now);
  const row = w.append("question.asked", {
    spaceId: of.space_id,
    runId: of.id,
    body: { question_id: event.question_id },
    main: true,
    receipt: { question: { state: "open" } },
  });
  w.db.run(
    `INSERT INTO questions (id, space_id, run_id, agent_id, harness_id, asked, text, options, put_to, asked_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    event.question_id,
    of.space_id,
    of.id,
    of.agent_id,
    of.harness_id,
    asked,
    event.text,
    event.options ? JSON.stringify(event.options) : null,
    to ? JSON.stringify(to) : null,
    w.now,
  );
  madeWork(w, of.space_id, row, { made: "question" });
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
  if (row.ask === null) return;
  // The turn only waited for this (ITEM-2).
  tellAnswered(w, row, event.text);
  const waited = run(w.db, row.run_id);
  if (waited && waited.ended_seq === null) finishRun(w, waited, "done", { cause: "answered" });
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
