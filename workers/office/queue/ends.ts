/** How the agent ends a round: hand-back and fail, in time, again, or late (OFF-8, OFFER-5 to OFFER-7). */

import { stateAfter } from "../../../src/shared/rules/item-states.ts";
import { firstCodePoints } from "../../../src/shared/rules/text.ts";
import type { Link, SessionUsage } from "../../../src/shared/wire/agent/index.ts";
import type { Desk } from "../desk.ts";
import { AgentRefused, type FrameOf } from "../handler.ts";
import { acceptedRound, leftTo } from "../messages/own.ts";
import { noteOwn } from "../moments.ts";
import { hasUnseenAnswer } from "../questions.ts";
import { noteEnding } from "../reports.ts";
import { change, type ItemRow, item, requesterOf } from "../store/items.ts";
import { addJournal, pendingFeedback } from "../store/parts.ts";
import { changePerson } from "../store/person.ts";
import { changeRound, type RoundEnd, type RoundRow, round } from "../store/rounds.ts";
import { takeUsage } from "../usage.ts";
import { moveTo } from "./states.ts";
import { itemEvent, tellHumans } from "./tell.ts";

/** What the agent says at the end of a round. */
export interface Ending {
  workItemId: string;
  status: "done" | "waiting" | "blocked" | "silent" | "interrupted" | "failed";
  text: string;
  links: readonly Link[];
  usage: readonly SessionUsage[] | undefined;
}

/** Takes the end of a round. `reviewable`: there is something to review, where the kind needs it (OFFER-6). */
export function takeEnding(desk: Desk, ending: Ending, frame: FrameOf, reviewable: boolean): void {
  const row = item(desk.db, ending.workItemId);
  if (!row) return lateElsewhere(desk, ending, frame);
  if (row.state === "active") return endNow(desk, row, ending, frame, reviewable);
  const last = acceptedRound(desk, row);
  if (last?.outcome === frame.hash) return;
  // It ended otherwise than by this: taken away, moved to another state, or answered.
  if (last?.ended !== null && last?.outcome === null) return takeLate(desk, row, last, ending, frame);
  throw new AgentRefused(
    "invalid",
    `This item is ${row.state}: only an active one is handed back, and its last outcome was another.`,
  );
}

function endNow(desk: Desk, row: ItemRow, ending: Ending, frame: FrameOf, reviewable: boolean): void {
  const { db, handle } = desk;
  const { status, text } = ending;
  const { state, ended, evidence } =
    status === "failed"
      ? { state: "blocked" as const, ended: "failed" as const, evidence: true }
      : stateAfter(status, reviewable);
  takeUsage(desk, row.id, row.round, ending.usage);
  keepOutcome(desk, row, row.round, ending, frame);
  const say = (author: string, line: string) =>
    addJournal(db, { item: row.id, round: row.round, at: desk.now, author, text: line });
  if (text !== "") say(handle, text);
  noteOwn(desk, row, "outcome", `${row.id}/${row.round}`, text);
  if (!evidence)
    say(
      "office",
      "Handed back as done, taken as blocked: there is nothing to review. Open a pull request, link a document, close the ticket, or say in toReview what there is.",
    );
  const lost = status === "interrupted" && lostItsContext(desk, row);
  moveTo(desk, row.id, state, {
    by: handle,
    mover: "agent",
    why: whyOf(status, evidence, text),
    ended,
    text,
    ...(state === "queued" && { where: "first" }),
  });
  // A shutting down agent is offered nothing more; one that only lost an item's context gets it again (OFFER-5).
  if (status === "interrupted" && !lost) changePerson(db, { quiet: desk.connection?.id ?? null });
  const of = round(db, row.id, row.round);
  if (of) itemEvent(desk, "item.ended", row, of, ended);
  tellOfEnding(desk, row, ended, evidence, text);
  goOn(desk, row.id);
}

/** Whether the agent said nothing of the item on this connection before it gave it back (OFFER-5). */
function lostItsContext(desk: Desk, row: ItemRow): boolean {
  const { connection } = desk;
  return round(desk.db, row.id, row.round)?.touched_on !== connection?.id && connection?.on !== row.id;
}

function whyOf(status: Ending["status"], evidence: boolean, text: string): string {
  if (!evidence) return "handed back as done without anything to review";
  if (status === "done" || status === "silent") return `handed back as ${status}`;
  if (status === "interrupted") return "the agent was cut short";
  const line = firstCodePoints(text.replace(/\s+/g, " ").trim(), 300);
  return line === "" ? `handed back as ${status}` : line;
}

function tellOfEnding(desk: Desk, row: ItemRow, ended: RoundEnd, evidence: boolean, text: string): void {
  // What it waits for, whoever asked is to know too.
  if (ended === "done" || ended === "waiting") noteEnding(desk, row.id, "result", text);
  if (ended === "blocked" || ended === "failed") {
    const why = evidence ? text : `${text}\n\n(There was nothing to review.)`;
    noteEnding(desk, row.id, "blocked", why);
    if (requesterOf(row) === undefined)
      tellHumans(
        desk,
        `blocked ${row.id} ${row.round}`,
        row.id,
        `${desk.handle} is blocked on "${row.title}".`,
      );
  }
}

/** What came while it ran makes the next round at once; so does an answer that it waits for (PIPE-2, ITEM-2). */
export function goOn(desk: Desk, id: string): void {
  const row = item(desk.db, id);
  if (!row || row.state === "queued" || row.state === "active" || row.state === "canceled") return;
  const pending = pendingFeedback(desk.db, id);
  if (pending.length > 0)
    moveTo(desk, id, "queued", { by: "office", mover: "office", why: "feedback came while it ran" });
  else if (row.state === "waiting" && hasUnseenAnswer(desk.db, id))
    moveTo(desk, id, "queued", { by: "office", mover: "office", why: "an answer came while it ran" });
}

function keepOutcome(desk: Desk, row: ItemRow, n: number, ending: Ending, frame: FrameOf): void {
  changeRound(desk.db, row.id, n, {
    summary: ending.text,
    links: JSON.stringify(ending.links),
    outcome: frame.hash,
  });
}

/**
 * The end of a round that was taken from the agent before (OFFER-7), or ended by its answer (ITEM-2): kept, and
 * nothing ends by it.
 */
function takeLate(desk: Desk, row: ItemRow, of: RoundRow, ending: Ending, frame: FrameOf): void {
  takeUsage(desk, row.id, of.n, ending.usage);
  keepOutcome(desk, row, of.n, ending, frame);
  if (ending.text !== "")
    addJournal(desk.db, {
      item: row.id,
      round: of.n,
      at: desk.now,
      author: desk.handle,
      text: of.ended === "done" ? ending.text : `Handed back after it was ${of.ended}: ${ending.text}`,
    });
  // If it goes elsewhere it leaves with the end of this work.
  change(desk.db, row.id, { held: 0 }, { quietly: true });
}

/** The same, where the item went to another office already: its words follow it. */
function lateElsewhere(desk: Desk, ending: Ending, frame: FrameOf): void {
  const left = leftTo(desk, ending.workItemId);
  if (!left) throw new AgentRefused("unknown_item", "There is no such work item of yours.");
  if (left.outcome === frame.hash) return;
  if (left.outcome !== null || left.round === 0)
    throw new AgentRefused("unknown_item", `${left.by} moved this item to ${left.to}.`);
  takeUsage(desk, ending.workItemId, left.round, ending.usage);
  desk.db.run("UPDATE left_items SET outcome = ? WHERE item = ?", frame.hash, ending.workItemId);
  desk.toOffice(left.to, "note", {
    item: ending.workItemId,
    author: desk.handle,
    text: `Handed back after it was moved: ${ending.text}`,
    at: desk.now,
  });
}
