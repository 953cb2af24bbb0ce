/** Asking a teammate or a human, and answering (ITEM-2). */
import { askFault, chainOf } from "../../../src/shared/rules/questions.ts";
import { byteLength } from "../../../src/shared/rules/text.ts";
import { asked as askedOf } from "../../../src/shared/rules/who.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import type { Desk, Look } from "../desk.ts";
import { AgentRefused, asking, mustAgent } from "../handler.ts";
import type { AskAnswer } from "../letters.ts";
import { noteOwn } from "../moments.ts";
import { answerTo, keepAnswer, questionOf } from "../questions.ts";
import { moveTo } from "../queue/states.ts";
import { itemEvent } from "../queue/tell.ts";
import { activeItems, type ItemRow, item, questionOf as questionItem } from "../store/items.ts";
import { changeRound, round } from "../store/rounds.ts";
import { ownItem, runningItem } from "./own.ts";

const LONGEST_QUESTION = 16_384;
const LONGEST_ANSWER = 65_536;

type Ask = AgentPayload<"ask">;

/** What the question is about: the item named, else the one that the agent is at work on. */
function about({ db }: Pick<Look, "db">, { workItemId }: Ask): ItemRow | undefined {
  if (workItemId !== undefined) return item(db, workItemId);
  return activeItems(db).at(-1);
}

function check({ question, to }: Ask): void {
  if (question.trim() === "" || byteLength(question) > LONGEST_QUESTION)
    throw new AgentRefused("invalid", "A question has words, and at most 16 KiB of them.");
  if (to.trim() === "" || to.length > 500)
    throw new AgentRefused("not_found", "Say whom to ask: a handle, a name or a role. roster has them.");
}

const RING =
  "They wait for this answer themselves, so asking them goes in a ring. Decide it, or ask somebody else.";
const SELF = "That is you. Ask a teammate or a human: roster has them.";

function checkRing(chain: readonly string[], to: string): void {
  const fault = askFault(chain, to);
  if (fault) throw new AgentRefused("invalid", fault === "self" ? SELF : RING);
}

function checkOpen(row: ItemRow | undefined): void {
  if (row?.state === "done" || row?.state === "canceled")
    throw new AgentRefused(
      "invalid",
      `This item is ${row.state}: an answer would reach nobody. Ask from an open one.`,
    );
}

interface Put {
  /** The item that it was asked for. */
  of: string | undefined;
  answer: AskAnswer | undefined;
}

async function put(look: Look, payload: Ask): Promise<Put> {
  check(payload);
  const row = about(look, payload);
  // Whose it is the handler says.
  if (payload.workItemId !== undefined && (!row || row.moving !== null))
    return { of: undefined, answer: undefined };
  checkOpen(row);
  const chain = chainOf(row && questionItem(row), look.handle);
  const to = askedOf(look.team, payload.to);
  checkRing(chain, to);
  const { id, row: known } = questionOf(look.db, look.handle, row?.id, to, payload.question);
  if (known) return { of: row?.id, answer: undefined };
  const answer = mustAgent(
    await CALLS.ask(look.env, look.workspace, {
      id,
      from: look.handle,
      to,
      question: payload.question,
      ...(row ? { item: row.id } : {}),
      chain,
    }),
  );
  return { of: row?.id, answer };
}

export const ask = asking<"ask", Put>(put, (desk, payload, _frame, { of, answer }) => {
  if (payload.workItemId !== undefined) ownItem(desk, payload.workItemId);
  const to = askedOf(desk.team, payload.to);
  const { id, row } = questionOf(desk.db, desk.handle, of, to, payload.question);
  if (row) return stands(desk, id);
  if (!answer) throw new AgentRefused("failed", "The question could not be put now. Ask again.");
  desk.db.run(
    "INSERT INTO asks (id, item, to_whom, to_kind, text, state, asked_at) VALUES (?, ?, ?, ?, ?, 'pending', ?)",
    id,
    of ?? null,
    answer.to,
    answer.kind,
    payload.question,
    desk.now,
  );
  // It may have ended while the board was asked.
  const row2 = of === undefined ? undefined : item(desk.db, of);
  if (row2?.state === "done" || row2?.state === "canceled") {
    desk.db.run("UPDATE asks SET state = 'canceled' WHERE id = ?", id);
    desk.toBoard("question_canceled", { ask: id, to: answer.to });
  }
  return stands(desk, id);
});

function stands(desk: Desk, id: string): AgentPayload<"ask_result"> {
  const row = desk.db.one<{ to_whom: string; state: string; answer: string | null }>(
    "SELECT to_whom, state, answer FROM asks WHERE id = ?",
    id,
  );
  if (row?.state !== "answered" || row.answer === null)
    return { id, to: row?.to_whom ?? "", status: "pending" };
  desk.db.run("UPDATE asks SET seen = 1 WHERE id = ?", id);
  return { id, to: row.to_whom, status: "answered", answer: row.answer };
}

/** Answers the question that an own item is, and ends it (ITEM-2). */
export function answer(desk: Desk, said: AgentPayload<"answer">): Record<string, never> {
  const row = ownItem(desk, said.questionId);
  if (!questionItem(row))
    throw new AgentRefused("invalid", "This item is no question. Hand it back with what came of it.");
  if (said.answer.trim() === "" || byteLength(said.answer) > LONGEST_ANSWER)
    throw new AgentRefused("invalid", "An answer has words, and at most 64 KiB of them.");
  const before = answerTo(desk.db, row.id);
  if (before === said.answer) return {};
  if (before !== undefined)
    throw new AgentRefused("invalid", "This question was answered already, with other words.");
  if (row.state !== "waiting" && row.state !== "blocked") runningItem(desk, row.id);
  endAnswered(desk, row, said.answer);
  return {};
}

/** The item is done with its answer; the hand-back of the round is still to come, with its usage. */
function endAnswered(desk: Desk, row: ItemRow, answer: string): void {
  const wasActive = row.state === "active";
  keepAnswer(desk, row.id, answer);
  moveTo(desk, row.id, "done", {
    by: desk.handle,
    mover: "agent",
    why: "answered",
    ended: "done",
    text: answer,
  });
  changeRound(desk.db, row.id, row.round, { summary: answer });
  const ended = round(desk.db, row.id, row.round);
  if (wasActive && ended) itemEvent(desk, "item.ended", row, ended, "done");
  noteOwn(desk, row, "outcome", `${row.id}/${row.round}`, answer);
}
