/** Reads of asks, grants, the policy and the audit (APR, POL). */
import type * as z from "zod";
import { DEFAULT_CLASSES, decidePolicy, type PolicyDecision } from "../../../src/shared/rules/policy.ts";
import type * as http from "../../../src/shared/wire/http.ts";
import type { Action, ApprovalState, RiskClass } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { mustAdminister } from "../access/authenticate.ts";
import { type ApprovalRow, approversOf, decidedInput, requestOf } from "../store/approvals.ts";
import { type AuditItem, auditAfter, verifyAudit } from "../store/audit.ts";
import { type GrantRow, policyOf } from "../store/policy.ts";
import type { PageArgs, Reader } from "./index.ts";

/** A page of asks or records ends here, so that one answer stays small whatever they hold. */
const PAGE_CHARS = 4 * 1024 * 1024;

/**
 * Asks, newest first: those of a person's spaces and those that they may decide wherever they are (APR-2). A
 * harness reads those that it made, and those that its agents may decide.
 */
export function approvals(r: Reader, args: PageArgs & { state?: ApprovalState | undefined }) {
  const before = Number(args.cursor ?? Number.NaN) || Number.MAX_SAFE_INTEGER;
  const own = JSON.stringify([...r.viewer.own]);
  const rows = r.db.each<ApprovalRow>(
    `SELECT a.* FROM approvals a WHERE a.asked_seq < ?1 AND (?2 IS NULL OR a.state = ?2) AND (
       EXISTS (SELECT 1 FROM approval_viewers v WHERE v.approval_id = a.id
               AND v.participant_id IN (SELECT value FROM json_each(?3)))
       OR (?4 AND EXISTS (SELECT 1 FROM stays s WHERE s.space_id = a.space_id AND s.participant_id = ?5
               AND s.left_seq IS NULL))
     ) ORDER BY a.asked_seq DESC LIMIT ?6`,
    before,
    args.state ?? null,
    own,
    r.viewer.kind === "person" ? 1 : 0,
    r.viewer.id,
    args.limit + 1,
  );
  return sizedPage(
    rows,
    args.limit,
    (row) => itemOf(r, row),
    (row) => String(row.asked_seq),
  );
}

/** Cuts a page by its size as well as by its length. */
function sizedPage<R, T>(
  rows: Iterable<R>,
  limit: number,
  shown: (row: R) => T,
  cursorOf: (row: R) => string,
): { items: T[]; next?: string } {
  const items: T[] = [];
  let chars = 0;
  let last: R | undefined;
  for (const row of rows) {
    if (last !== undefined && (items.length === limit || chars > PAGE_CHARS))
      return { items, next: cursorOf(last) };
    const item = shown(row);
    chars += JSON.stringify(item).length;
    items.push(item);
    last = row;
  }
  return { items };
}

function itemOf(r: Reader, row: ApprovalRow): z.infer<typeof http.approvalItem> {
  return {
    approval_id: row.id,
    space_id: row.space_id,
    run_id: row.run_id,
    agent_id: row.agent_id,
    state: row.state,
    request: requestOf(row),
    approvers: approversOf(row),
    asked_seq: row.asked_seq,
    asked_at: new Date(row.asked_at).toISOString(),
    expires_at: new Date(row.expires_at).toISOString(),
    ...(row.rule === null ? {} : { rule: row.rule }),
    version: row.version,
    ...decidedOf(row),
    ...(row.harness_id === r.viewer.id && row.resume_token !== null
      ? { resume_token: row.resume_token }
      : {}),
  };
}

function decidedOf(row: ApprovalRow): Pick<z.infer<typeof http.approvalItem>, "decided"> {
  if (row.decision === null || row.via === null) return {};
  return {
    decided: {
      decision: row.decision,
      via: row.via,
      ...(row.decided_by === null ? {} : { by: row.decided_by }),
      at: new Date(row.decided_at ?? row.asked_at).toISOString(),
      ...decidedInput(row),
      ...(row.input === null ? {} : { edited: true as const }),
      ...(row.grant_id === null ? {} : { grant_id: row.grant_id }),
    },
  };
}

/** Grants that hold: of one's spaces or given by oneself; owners and admins see all of them (APR-7). */
export function grants(r: Reader, args: PageArgs) {
  mustBeMember(r);
  const { role } = r.caller.participant;
  const rows = r.db.all<GrantRow>(
    `SELECT g.* FROM grants g WHERE g.id > ?1 AND g.revoked_at IS NULL AND g.expires_at > ?2 AND (
       ?3 OR g.given_by = ?4 OR EXISTS (SELECT 1 FROM stays s WHERE s.space_id = g.space_id
         AND s.participant_id = ?4 AND s.left_seq IS NULL)
     ) ORDER BY g.id LIMIT ?5`,
    args.cursor ?? "",
    r.round.now,
    role === "owner" || role === "admin" ? 1 : 0,
    r.viewer.id,
    args.limit + 1,
  );
  return sizedPage(rows, args.limit, grantItem, (g) => g.id);
}

function grantItem(row: GrantRow): z.infer<typeof http.grantItem> {
  return {
    grant_id: row.id,
    agent_id: row.agent_id,
    action: JSON.parse(row.action) as Action,
    risk: JSON.parse(row.risk) as RiskClass[],
    approval_id: row.approval_id,
    space_id: row.space_id,
    by: row.given_by,
    at: new Date(row.given_at).toISOString(),
    expires_at: new Date(row.expires_at).toISOString(),
  };
}

/** The policy is for the workspace's people: what would pass unseen is not told to those who ask (SPACE-7). */
function mustBeMember(r: Reader): void {
  if (r.viewer.kind !== "person" || r.viewer.guest)
    refuse("forbidden", "Only members of the workspace read its policy and grants.");
}

export function policy(r: Reader, args: { version?: number | undefined }): z.infer<typeof http.policyAnswer> {
  mustBeMember(r);
  const found = policyOf(r.db, args.version);
  if (!found) notFound("policy version");
  return {
    version: found.version,
    rules: [...found.rules],
    classes: { ...found.classes, ...DEFAULT_CLASSES },
  };
}

/** What the policy would do with an ask, and why, without asking (POL-2). */
export function policyTry(r: Reader, asked: z.infer<typeof http.tryPolicy>): PolicyDecision {
  mustBeMember(r);
  const found = policyOf(r.db) ?? { version: 0, rules: [], classes: {} };
  return decidePolicy(found, {
    action: asked.action,
    risk: asked.risk,
    agent_id: asked.agent_id ?? "",
    space_id: asked.space_id ?? "",
  });
}

export function audit(r: Reader, args: PageArgs): { items: AuditItem[]; next?: string } {
  mustAdminister(r.caller);
  const rows = auditAfter(r.db, Number(args.cursor ?? 0) || 0, args.limit + 1);
  return sizedPage(
    rows,
    args.limit,
    (item) => item,
    (item) => String(item.n),
  );
}

export function auditVerify(r: Reader, _args: object): z.infer<typeof http.auditVerified> {
  mustAdminister(r.caller);
  const { ok, checked, first_fault } = verifyAudit(r.db);
  return { ok, checked, ...(first_fault === undefined ? {} : { first_fault }) };
}
