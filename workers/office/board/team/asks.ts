/** Questions between teammates and to humans: whom each is for, and the way of its answer (ITEM-2). */

import { askTarget } from "../../../../src/shared/rules/ask-target.ts";
import { askFault } from "../../../../src/shared/rules/questions.ts";
import { firstCodePoints } from "../../../../src/shared/rules/text.ts";
import { refuse } from "../../../kit/result.ts";
import type { Address, AskAnswer, AskAsk, BoardLetters } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { takeEvent } from "../work/take.ts";
import { standingOf } from "./people.ts";

interface AskRow {
  id: string;
  asker: string;
  /** A handle, or a human's id in rooms. */
  target: string;
  kind: "person" | "human";
  ended_at: number | null;
}

const askRow = (ledger: BoardLedger, id: string) =>
  ledger.db.one<AskRow>("SELECT id, asker, target, kind, ended_at FROM asks WHERE id = ?", id);

/** Hands a question on to whom it is for (ITEM-2). The same id again is the same question, and changes nothing. */
export function ask(ledger: BoardLedger, asked: AskAsk): AskAnswer {
  const had = askRow(ledger, asked.id);
  if (had) return answerOf(ledger, had.kind, had.target);
  const chain = asked.chain.at(-1) === asked.from ? asked.chain : [...asked.chain, asked.from];
  const target = askTarget(asked.to, ledger.team, (handle) => standingOf(ledger, handle), chain);
  if (!target)
    refuse(
      "not_found",
      `There is nobody called ${firstCodePoints(asked.to, 100)} in the team. Ask the roster who is, and use a handle.`,
    );
  if (target.kind === "none") refuseRing(asked.to, "role");
  if (target.kind === "human") return askHuman(ledger, asked, target.human);
  const fault = askFault(chain, target.handle);
  if (fault) refuseRing(target.handle, fault);
  keep(ledger, asked, target.handle, "person");
  takeEvent(ledger, {
    id: asked.id,
    type: "question.asked",
    at: new Date(ledger.now).toISOString(),
    actor: { id: asked.from, kind: "agent" },
    source: "office",
    question: {
      id: asked.id,
      to: target.handle,
      text: asked.question,
      ...(asked.item === undefined ? {} : { item: asked.item }),
      chain,
    },
  });
  return { to: target.handle, kind: "person" };
}

function askHuman(
  ledger: BoardLedger,
  asked: AskAsk,
  human: { name: string; user?: string | undefined },
): AskAnswer {
  if (human.user === undefined)
    refuse(
      "invalid",
      `${human.name} is in no room of this workspace and cannot be asked here. Ask somebody else, or have the team's config name their user.`,
    );
  keep(ledger, asked, human.user, "human");
  ledger.toRoom("ask", { ask: asked.id, handle: asked.from, user: human.user, text: asked.question });
  return { to: human.name, kind: "human" };
}

function refuseRing(to: string, fault: "self" | "ring" | "role"): never {
  refuse(
    "invalid",
    fault === "self"
      ? "That is yourself. Ask somebody else, or decide it."
      : fault === "ring"
        ? `${to} waits for the work that this question is of: asking would go round in a ring. Ask somebody else.`
        : `Everybody with the role ${firstCodePoints(to, 100)} waits for the work that this question is of, or is yourself. Ask somebody else.`,
  );
}

function keep(ledger: BoardLedger, asked: AskAsk, target: string, kind: AskRow["kind"]): void {
  ledger.db.run(
    "INSERT INTO asks (id, asker, target, kind, at) VALUES (?, ?, ?, ?, ?)",
    asked.id,
    asked.from,
    target,
    kind,
    ledger.now,
  );
}

function answerOf({ team }: BoardLedger, kind: AskRow["kind"], target: string): AskAnswer {
  if (kind === "person") return { to: target, kind };
  return { to: team.humans.find((human) => human.user === target)?.name ?? target, kind };
}

/** Ends a question; false when it had ended before: the first answer counts. */
function end(ledger: BoardLedger, row: AskRow): boolean {
  if (row.ended_at !== null) return false;
  ledger.db.run("UPDATE asks SET ended_at = ? WHERE id = ?", ledger.now, row.id);
  return true;
}

/** An answer goes to who asked (ITEM-2). */
export function takeAnswered(ledger: BoardLedger, said: BoardLetters["answered"]): void {
  const row = askRow(ledger, said.ask);
  if (!row || !end(ledger, row)) return;
  ledger.toOffice(row.asker, "answer", { ask: row.id, answer: said.answer, by: said.by });
}

/** The asker wants no answer any more, or the one who was asked gives none (ITEM-2). */
export function takeCanceled(
  ledger: BoardLedger,
  said: BoardLetters["question_canceled"],
  from: Address,
): void {
  const row = askRow(ledger, said.ask);
  if (!row || !end(ledger, row)) return;
  const asker = `office/${row.asker}`;
  if (from !== asker)
    ledger.toOffice(row.asker, "answer", {
      ask: row.id,
      answer: said.why ?? "Nobody will answer this: the question was canceled.",
      by: row.kind === "person" ? row.target : answerOf(ledger, row.kind, row.target).to,
      canceled: true,
    });
  else if (row.kind === "human") ledger.toRoom("ask_canceled", { ask: row.id });
  else ledger.toOffice(row.target, "question_withdrawn", { ask: row.id, by: row.asker });
}
