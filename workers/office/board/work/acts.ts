/** Acts: changes to tickets that the pipeline decided, made by the board itself or by a person's agent (ACT-1, ACT-2). */

import type { OpDraft } from "../../../../src/shared/rules/pipeline-types.ts";
import { firstCodePoints } from "../../../../src/shared/rules/text.ts";
import { OFFICE_ACTOR } from "../../../../src/shared/rules/trust.ts";
import type { Op } from "../../../../src/shared/wire/agent/ops.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLetters } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { onTrace } from "./carry.ts";
import { prRow, ticketRow } from "./store.ts";
import { takeEvent } from "./take.ts";
import { tell } from "./tell.ts";

interface Decided {
  rule: string;
  why: string;
  person?: string;
  ops: readonly OpDraft[];
}

/** Makes an act of the ops: those on the board's own tickets in this transaction, the others by the person's agent. */
export function makeAct(ledger: BoardLedger, eventId: string, { rule, why, person, ops }: Decided): void {
  const id = ledger.clock.mint("act");
  const keyed = ops.map((op, n) => ({ ...op, key: `${id}/${n + 1}` }));
  const onBoard = keyed.filter((op) => ledger.team.tracker.kind === "board" && !isOnDoc(op));
  const byAgent = keyed.filter((op) => !onBoard.includes(op));
  const known = ledger.team.people.some((p) => p.handle === person);
  if (onBoard.length === 0 && !known) {
    const nobody = `${why}; nobody of the team can make the change`;
    onTrace(ledger, eventId, { rule, decision: "ignore", why: nobody });
    return;
  }
  onTrace(ledger, eventId, { rule, decision: "act", act: id, why, ...(person ? { person } : {}) });
  const results = onBoard.map((op) => applyOp(ledger, op));
  const sent = known && person !== undefined && byAgent.length > 0;
  ledger.db.run(
    "INSERT INTO acts (id, event_id, person, ops, result, at) VALUES (?, ?, ?, ?, ?, ?)",
    id,
    eventId,
    person ?? null,
    JSON.stringify(sent ? byAgent : keyed),
    sent ? null : JSON.stringify({ ok: true, results, at: new Date(ledger.now).toISOString() }),
    ledger.now,
  );
  if (sent) ledger.toOffice(person, "act", { id, eventId, ops: byAgent });
}

const isOnDoc = (op: Op): boolean => op.op === "comment" && op.doc !== undefined;

/**
 * Applies an op to the board, as an event that leads to no further act.
 *
 * @param at when, ISO 8601: now, unless the ticket is another tracker's
 */
function applyOp(ledger: BoardLedger, op: Op, at = new Date(ledger.now).toISOString()): string {
  const ticket = op.ticket === undefined ? undefined : ticketRow(ledger, op.ticket);
  if (!ticket) return `skipped: there is no ticket ${op.ticket ?? ""}`;
  const { key } = ticket;
  const take = (type: WorkEvent["type"], more: Partial<WorkEvent>): void => {
    takeEvent(ledger, { id: op.key, source: "board", at, actor: { ...OFFICE_ACTOR }, type, ...more }, true);
  };
  switch (op.op) {
    case "move": {
      if (op.expect !== undefined && ticket.status !== null && ticket.status !== op.expect)
        return `skipped: ${key} is ${ticket.status}, not ${op.expect}`;
      if (ticket.status === op.to) return `skipped: ${key} is ${op.to} already`;
      const closes = op.to === "done" || op.to === "canceled";
      take(closes ? "ticket.closed" : "ticket.updated", { ticket: { key, status: op.to } });
      return `${key} is ${op.to}`;
    }
    case "assign": {
      if (op.expect !== undefined && ticket.assignee !== op.expect)
        return `skipped: ${key} is assigned to ${ticket.assignee ?? "nobody"}`;
      take(op.to === null ? "ticket.unassigned" : "ticket.assigned", { ticket: { key, assignee: op.to } });
      return `${key} is assigned to ${op.to ?? "nobody"}`;
    }
    case "comment":
      take("ticket.commented", {
        ticket: { key },
        comment: { id: op.key, body: op.body, ...(op.replyTo ? { reply_to: op.replyTo } : {}) },
      });
      return `commented on ${key}`;
    case "parent":
      take("ticket.updated", { ticket: { key, parent: op.parent } });
      return op.parent === null ? `${key} is under no ticket` : `${key} is under ${op.parent}`;
    case "link_pr": {
      if (prRow(ledger, op.pr)?.ticket === key) return `${op.pr} is linked to ${key}`;
      const [repo = "", number] = op.pr.split("#");
      take("pr.updated", { pr: { repo, number: Number(number) }, ticket: { key } });
      return `${op.pr} is linked to ${key}`;
    }
    case "link_doc":
      take("doc.updated", { doc: { ...op.doc, ticket: key } });
      return `${op.doc.title} is linked to ${key}`;
    case "set_field":
      return `skipped: the board counts what ${key} uses by itself`;
  }
}

/** An agent told what came of an act: the trace shows it, and what was made holds until the tracker says otherwise. */
export function takeActResult(ledger: BoardLedger, answer: BoardLetters["act_result"]): void {
  const act = ledger.db.one<{ event_id: string; person: string | null; ops: string; result: string | null }>(
    "SELECT event_id, person, ops, result FROM acts WHERE id = ?",
    answer.id,
  );
  if (!act || act.result !== null || act.person !== answer.handle) return;
  const { ok, results, error } = answer;
  const result = {
    ok,
    results,
    ...(error === undefined ? {} : { error }),
    at: new Date(ledger.now).toISOString(),
  };
  ledger.db.run("UPDATE acts SET result = ? WHERE id = ?", JSON.stringify(result), answer.id);
  const ops = JSON.parse(act.ops) as Op[];
  for (const [n, op] of ops.entries()) {
    // A line a change, in order: what stands after the last was not tried, what was skipped was not made.
    const line = results[n];
    if (line === undefined ? !ok : /^\s*skip/i.test(line)) continue;
    // A comment comes from its tracker, under the tracker's own id.
    if (op.op === "comment" || op.op === "set_field") continue;
    const ticket = op.ticket === undefined ? undefined : ticketRow(ledger, op.ticket);
    applyOp(ledger, op, new Date(ticket?.updated_at ?? ledger.now).toISOString());
  }
  if (ok) return;
  const failed = ops[results.length];
  const what = failed ? `${failed.op} of ${failed.ticket ?? "a document"}` : "a change";
  tell(
    ledger,
    `act:${answer.id}`,
    `${answer.handle}'s agent could not make ${what}: ${firstCodePoints(error ?? "it gave no reason", 500)}. Nobody tries it again.`,
  );
}
