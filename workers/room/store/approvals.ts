/** Asks and questions as they are stored: who may see them, and what still waits for people. */
import type { ApprovalState, Decision, QuestionState, ShownAsk } from "../../../src/shared/wire/index.ts";
import type { Db } from "../../kit/db.ts";

export interface ApprovalRow {
  id: string;
  space_id: string;
  run_id: string;
  agent_id: string;
  harness_id: string;
  /** The hash of what the harness sent: the same id with the same content is the same ask (APR-1). */
  asked: string;
  /** JSON: a {@link ShownAsk}, as it stood when it was asked. */
  request: string;
  resume_token: string | null;
  matters: number;
  /** JSON: the ids of those who may decide now. */
  approvers: string;
  fallback: Decision;
  asked_seq: number;
  asked_at: number;
  expires_at: number;
  rule: string | null;
  version: number;
  state: ApprovalState;
  decision: Decision | null;
  via: "person" | "policy" | "grant" | "expiry" | null;
  decided_by: string | null;
  decided_seq: number | null;
  decided_at: number | null;
  /** JSON: the action's input as the approver changed it; null where it stands as asked (APR-5). */
  input: string | null;
  grant_id: string | null;
}

export interface QuestionRow {
  id: string;
  space_id: string;
  run_id: string;
  agent_id: string;
  harness_id: string;
  asked: string;
  text: string;
  /** JSON, or null: free text. */
  options: string | null;
  /** JSON: the people it was put to, or null: anyone but guests. */
  put_to: string | null;
  asked_at: number;
  state: QuestionState;
  answer: string | null;
  answered_by: string | null;
  answered_at: number | null;
  /** The question at the board that it is (ITEM-2). */
  ask: string | null;
}

export function approval(db: Db, id: string): ApprovalRow | undefined {
  return db.one("SELECT * FROM approvals WHERE id = ?", id);
}

/** Stores an ask that was just made. */
export function insertApproval(db: Db, row: ApprovalRow): void {
  db.run(
    `INSERT INTO approvals (id, space_id, run_id, agent_id, harness_id, asked, request, resume_token, matters,
       approvers, fallback, asked_seq, asked_at, expires_at, rule, version)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.space_id,
    row.run_id,
    row.agent_id,
    row.harness_id,
    row.asked,
    row.request,
    row.resume_token,
    row.matters,
    row.approvers,
    row.fallback,
    row.asked_seq,
    row.asked_at,
    row.expires_at,
    row.rule,
    row.version,
  );
}

/** What was asked, without what only its harness may see (APR-10). */
export function requestOf(row: ApprovalRow): ShownAsk {
  return JSON.parse(row.request) as ShownAsk;
}

export function approversOf(row: ApprovalRow): string[] {
  return JSON.parse(row.approvers) as string[];
}

/** The input that was decided on: as asked, or as the approver changed it (APR-5). */
export function decidedInput(row: ApprovalRow): { input?: unknown } {
  const input = row.input === null ? requestOf(row).action.input : (JSON.parse(row.input) as unknown);
  return input === undefined ? {} : { input };
}

/**
 * An ask that somebody may see: in a space they are in, or one they see wherever they are (APR-2). One that
 * is not theirs is looked up by the same seeks as one that does not exist (ERR-3).
 */
export function visibleApproval(db: Db, viewerId: string, id: string): ApprovalRow | undefined {
  return (
    db.one(
      // CROSS: the viewers are sought first, or the ask itself would be read to find that it is not theirs.
      `SELECT a.* FROM approval_viewers v CROSS JOIN approvals a ON a.id = v.approval_id
       WHERE v.participant_id = ? AND v.approval_id = ?`,
      viewerId,
      id,
    ) ??
    db.one(
      `SELECT a.* FROM stays s CROSS JOIN approvals a INDEXED BY approvals_space ON a.space_id = s.space_id AND a.id = ?
       WHERE s.participant_id = ? AND s.left_seq IS NULL`,
      id,
      viewerId,
    )
  );
}

export function isViewer(db: Db, viewerId: string, approvalId: string): boolean {
  return (
    db.one(
      "SELECT 1 FROM approval_viewers WHERE participant_id = ? AND approval_id = ?",
      viewerId,
      approvalId,
    ) !== undefined
  );
}

export function addViewers(db: Db, approvalId: string, ids: readonly string[]): void {
  for (const id of ids)
    db.run(
      "INSERT OR IGNORE INTO approval_viewers (participant_id, approval_id) VALUES (?, ?)",
      id,
      approvalId,
    );
}

/** Who left a space sees nothing more of it: the asks that were put to them there neither (CONN-12). */
export function forgetViewer(db: Db, id: string, spaceId: string): void {
  db.run(
    `DELETE FROM approval_viewers WHERE participant_id = ?
     AND approval_id IN (SELECT id FROM approvals WHERE space_id = ?)`,
    id,
    spaceId,
  );
}

export function question(db: Db, id: string): QuestionRow | undefined {
  return db.one("SELECT * FROM questions WHERE id = ?", id);
}

/** A question in a space that somebody is in. */
export function visibleQuestion(db: Db, viewerId: string, id: string): QuestionRow | undefined {
  return db.one(
    `SELECT q.* FROM stays s CROSS JOIN questions q INDEXED BY questions_space ON q.space_id = s.space_id AND q.id = ?
     WHERE s.participant_id = ? AND s.left_seq IS NULL`,
    id,
    viewerId,
  );
}

/**
 * Whether a run waits for people: an ask or a question of it is open, or was answered while its harness was
 * away, so that it has not been sent the answer yet (TURN-5).
 */
export function isWaiting(db: Db, runId: string): boolean {
  return (
    db.one(
      `SELECT 1 FROM approvals a JOIN participants p ON p.id = a.harness_id
       WHERE a.run_id = ?1 AND (a.state = 'pending' OR a.decided_at >= p.gone_at)
       UNION ALL
       SELECT 1 FROM questions q JOIN participants p ON p.id = q.harness_id
       WHERE q.run_id = ?1 AND (q.state = 'open' OR q.answered_at >= p.gone_at) LIMIT 1`,
      runId,
    ) !== undefined
  );
}
