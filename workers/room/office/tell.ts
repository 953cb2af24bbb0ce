/** What the room tells the board and the offices of turns and questions: letters only (CHAT-2, ITEM-2). */
import type { OfficeLetters } from "../../office/letters.ts";
import type { ApprovalRow, QuestionRow } from "../store/approvals.ts";
import { officeRun } from "../store/office.ts";
import { isGone, participant } from "../store/participants.ts";
import type { HaltedBecause, RunRow } from "../types.ts";
import type { Writer } from "../writer.ts";
import { askStands } from "./stands.ts";

/** Tells the office that a turn of its person was asked to stop: it cancels or blocks the item (CHAT-2, SPEND-3). */
export function tellStop(w: Writer, row: RunRow, because?: HaltedBecause): void {
  const handle = participant(w.db, row.agent_id)?.office_handle;
  if (!handle) return;
  tellStopped(w, handle, officeRun(w.db, row.id), because);
}

/** The same by the office's own id of the run. */
export function tellStopped(w: Writer, handle: string, runId: string, because?: HaltedBecause): void {
  const { id, name } = w.caller.participant;
  const ceiling = because?.cause === "spend" || because?.cause === "day" ? because.cause : undefined;
  const letter: OfficeLetters["stop_run"] = ceiling
    ? { runId, by: { id: "system", name: "the room" }, because: ceiling }
    : { runId, by: { id, name } };
  w.toOffice(handle, "stop_run", letter);
}

/** An ask for leave of a person of the team was decided, or nobody will decide it: the call that asked has its result. */
export function tellDecided(w: Writer, row: ApprovalRow): void {
  const handle = participant(w.db, row.agent_id)?.office_handle;
  if (!handle || row.resume_token === null) return;
  w.toOffice(handle, "ask_decided", { state: row.resume_token, stands: askStands(w.db, row) });
}

/** A human answered: the board passes it on, once. */
export function tellAnswered(w: Writer, question: QuestionRow, answer: string): void {
  const agent = participant(w.db, question.agent_id);
  if (question.ask === null || !agent?.office_handle) return;
  const by = w.caller.participant.name;
  w.toBoard("answered", { ask: question.ask, from: agent.office_handle, answer, by });
}

/** Nobody will answer. */
export function tellCanceled(w: Writer, ask: string, to: string, why?: string): void {
  const who = participant(w.db, to);
  const here = who?.kind === "person" && !isGone(who);
  w.toBoard("question_canceled", {
    ask,
    to,
    why: here ? (why ?? "The question was taken off their list.") : "They are not in this workspace.",
  });
}

/** Questions of a run that ended before anybody answered: nobody will (APR-9). */
export function tellUnanswered(w: Writer, questions: readonly Pick<QuestionRow, "ask" | "put_to">[]): void {
  for (const { ask, put_to } of questions) {
    if (ask === null) continue;
    const [to] = JSON.parse(put_to ?? "[]") as string[];
    tellCanceled(w, ask, to ?? "");
  }
}
