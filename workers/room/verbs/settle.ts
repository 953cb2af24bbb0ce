/** How an ask ends: decided, expired, cancelled; and what becomes of it when an approver is lost (APR). */
import { GRANT_MS } from "../../../src/shared/rules/grants.ts";
import type { CancelReason, Decision } from "../../../src/shared/wire/index.ts";
import { watchRun } from "../judge/watch.ts";
import { tellDecided, tellUnanswered } from "../office/tell.ts";
import {
  type ApprovalRow,
  addViewers,
  approversOf,
  isWaiting,
  type QuestionRow,
  requestOf,
} from "../store/approvals.ts";
import { addAudit, sightOf } from "../store/audit.ts";
import { owners } from "../store/participants.ts";
import { grantFor, insertGrant } from "../store/policy.ts";
import { noteHeard, run } from "../store/runs.ts";
import type { LogRow } from "../types.ts";
import type { Extras, Writer } from "../writer.ts";

const SYSTEM = { kind: "system", id: "system" } as const;
/** So many asks expire in one alarm; the rest follow at once. */
const MAX_EXPIRED = 200;

export interface Outcome {
  decision: Decision;
  via: NonNullable<ApprovalRow["via"]>;
  /** The person or agent that decided. */
  by?: string;
  /** The input as the approver changed it (APR-5). */
  edited?: { input: unknown };
  grantId?: string;
}

/** What an approver of an ask is shown, as a hash (APR-8). */
export function sightOfAsk(row: ApprovalRow): string {
  const { preview, action } = requestOf(row);
  return sightOf({ preview, input: action.input });
}

/** Ends an open ask with a decision: the row, the fact, the record. `main` when a frame asked for it. */
export function settle(w: Writer, row: ApprovalRow, outcome: Outcome, main?: true): LogRow {
  const expired = outcome.via === "expiry";
  const state = expired ? "expired" : outcome.decision === "allow" ? "allowed" : "denied";
  const { decision, via, by, edited, grantId } = outcome;
  const rule = row.rule === null ? {} : { rule: row.rule };
  const body = {
    approval_id: row.id,
    decision,
    ...(expired ? {} : { via, ...rule, version: row.version }),
    ...(by === undefined ? {} : { by }),
    ...(edited ? { edited: true } : {}),
    ...(grantId === undefined ? {} : { grant_id: grantId }),
  };
  const settled: ApprovalRow = {
    ...row,
    state,
    decision,
    via,
    decided_by: by ?? null,
    decided_at: w.now,
    input: edited ? JSON.stringify(edited.input) : null,
    grant_id: grantId ?? null,
  };
  const fact = w.append(expired ? "approval.expired" : "approval.decided", {
    spaceId: row.space_id,
    runId: row.run_id,
    body,
    ...(main ? { main, receipt: { approval: standingOf(settled) } } : {}),
    ...(by === undefined ? { actor: SYSTEM } : {}),
  });
  w.db.run(
    `UPDATE approvals SET state = ?, decision = ?, via = ?, decided_by = ?, decided_seq = ?, decided_at = ?,
     input = ?, grant_id = ? WHERE id = ?`,
    state,
    decision,
    via,
    settled.decided_by,
    fact.seq,
    w.now,
    settled.input,
    settled.grant_id,
    row.id,
  );
  const inputs = edited ? { asked: requestOf(row).action.input ?? null, allowed: edited.input } : {};
  addAudit(w, {
    type: fact.type,
    by: by ?? SYSTEM.id,
    subject: row.id,
    saw: sightOfAsk(row),
    detail: { ...body, via, ...inputs },
  });
  wentOn(w, row.run_id);
  tellDecided(w, settled);
  return fact;
}

/** How an ask stands, on the receipt of who asked, decided or routed. */
export function standingOf(row: ApprovalRow): NonNullable<Extras["approval"]> {
  return {
    state: row.state,
    approvers: approversOf(row),
    fallback: row.fallback,
    expires_at: new Date(row.expires_at).toISOString(),
    ...(row.decision === null ? {} : { decision: row.decision }),
    ...(row.via === null ? {} : { via: row.via }),
    ...(row.rule === null ? {} : { rule: row.rule }),
    version: row.version,
    ...(row.grant_id === null ? {} : { grant_id: row.grant_id }),
  };
}

/** A run that waits no longer: its clocks start anew (TURN-5). */
export function wentOn(w: Writer, runId: string): void {
  const going = run(w.db, runId);
  if (!going || going.ended_seq !== null || isWaiting(w.db, runId)) return;
  noteHeard(w.db, runId, w.now);
  watchRun(w, { ...going, heard_at: w.now });
}

/** The grant that a standing yes makes once the decision is written, or the one that holds already (APR-7). */
export function grantOf(
  w: Writer,
  row: ApprovalRow,
  by: string,
  edited: Outcome["edited"],
): { id: string; make(): void } {
  const request = requestOf(row);
  const action = { ...request.action, ...(edited ? { input: edited.input } : {}) };
  const ask = { agent_id: row.agent_id, action, risk: request.risk };
  const same = grantFor(w.db, ask, w.now);
  if (same) return { id: same.id, make: () => undefined };
  const id = w.clock.mint("grt");
  const expiresAt = w.now + GRANT_MS;
  const make = () => {
    insertGrant(w.db, { ...ask, id, approvalId: row.id, spaceId: row.space_id, by, now: w.now, expiresAt });
    const body = {
      grant_id: id,
      agent_id: row.agent_id,
      approval_id: row.id,
      expires_at: new Date(expiresAt).toISOString(),
    };
    const fact = w.append("grant.made", { spaceId: row.space_id, body });
    addAudit(w, { type: fact.type, by, subject: id, saw: sightOfAsk(row), detail: body });
  };
  return { id, make };
}

/** Ends a run's open asks and questions: it ended, or was stopped (APR-9, TURN-4). */
export function cancelAsks(w: Writer, runId: string, reason: CancelReason): void {
  const open = w.db.all<ApprovalRow>(
    "SELECT * FROM approvals WHERE run_id = ? AND state = 'pending' ORDER BY asked_seq",
    runId,
  );
  for (const row of open) cancelAsk(w, row, reason);
  const unanswered = w.db.all<Pick<QuestionRow, "ask" | "put_to">>(
    "UPDATE questions SET state = 'cancelled' WHERE run_id = ? AND state = 'open' RETURNING ask, put_to",
    runId,
  );
  tellUnanswered(w, unanswered);
}

/** Takes an open ask back; nobody can decide it any more. */
export function cancelAsk(w: Writer, row: ApprovalRow, reason: CancelReason, main?: true): void {
  w.db.run("UPDATE approvals SET state = 'cancelled', decided_at = ? WHERE id = ?", w.now, row.id);
  const fact = w.append("approval.cancelled", {
    spaceId: row.space_id,
    runId: row.run_id,
    body: { approval_id: row.id, reason },
    ...(main
      ? { main, receipt: { approval: standingOf({ ...row, state: "cancelled" }) } }
      : { actor: SYSTEM }),
  });
  addAudit(w, {
    type: fact.type,
    by: main ? w.actor.id : SYSTEM.id,
    subject: row.id,
    saw: sightOfAsk(row),
    detail: { approval_id: row.id, reason },
  });
  tellDecided(w, { ...row, state: "cancelled" });
}

/** The alarm: what is due falls to its fallback, and the next is looked at in time (APR-6). */
export function expireAsks(w: Writer): void {
  const due = w.db.all<ApprovalRow>(
    "SELECT * FROM approvals INDEXED BY approvals_due WHERE state = 'pending' AND expires_at <= ? ORDER BY expires_at LIMIT ?",
    w.now,
    MAX_EXPIRED,
  );
  for (const row of due) settle(w, row, { decision: row.fallback, via: "expiry" });
  const next = w.db.one<{ at: number | null }>(
    "SELECT min(expires_at) AS at FROM approvals INDEXED BY approvals_due WHERE state = 'pending'",
  )?.at;
  if (next !== null && next !== undefined)
    w.afterwards({ kind: "alarm", name: "approvals", at: Math.max(next, w.now + 1) });
}

/**
 * Somebody left a space, was removed, withdrawn or made a guest: they decide nothing there any more. Where they
 * were the last approver the workspace's owners take over (APR-2). Called after the change is written.
 */
export function approverLost(w: Writer, participantId: string, spaceId?: string): void {
  const open = w.db.all<ApprovalRow>(
    "SELECT * FROM approvals WHERE state = 'pending' AND (?1 IS NULL OR space_id = ?1) ORDER BY asked_seq",
    spaceId ?? null,
  );
  for (const row of open) {
    const before = approversOf(row);
    if (!before.includes(participantId)) continue;
    const left = before.filter((id) => id !== participantId);
    const approvers = left.length > 0 ? left : owners(w.db).map((o) => o.id);
    changeApprovers(w, row, approvers, { from: participantId });
  }
}

/** Gives the right to decide to others; who had it still sees the ask. */
export function changeApprovers(
  w: Writer,
  row: ApprovalRow,
  approvers: string[],
  moved: { from: string; to?: string; main?: true },
): void {
  const { main, ...who } = moved;
  const kept = JSON.stringify(approvers);
  w.db.run("UPDATE approvals SET approvers = ? WHERE id = ?", kept, row.id);
  addViewers(w.db, row.id, approvers);
  const body = { approval_id: row.id, ...who, approvers };
  const fact = w.append("approval.routed", {
    spaceId: row.space_id,
    runId: row.run_id,
    body,
    ...(main ? { main, receipt: { approval: standingOf({ ...row, approvers: kept }) } } : { actor: SYSTEM }),
  });
  addAudit(w, {
    type: fact.type,
    by: main ? w.actor.id : SYSTEM.id,
    subject: row.id,
    saw: sightOfAsk(row),
    detail: body,
  });
}
