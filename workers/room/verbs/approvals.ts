/** approval.request, approval.decide, approval.route, approval.cancel (APR). */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../src/shared/rules/canonical.ts";
import { mayGrant } from "../../../src/shared/rules/grants.ts";
import { decidePolicy, matters, type PolicyDecision } from "../../../src/shared/rules/policy.ts";
import { byteLength } from "../../../src/shared/rules/text.ts";
import type { ShownAsk, Verb } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { madeWork, personActed } from "../judge/acts.ts";
import {
  type ApprovalRow,
  addViewers,
  approval,
  approversOf,
  insertApproval,
  requestOf,
  visibleApproval,
} from "../store/approvals.ts";
import { addAudit } from "../store/audit.ts";
import { participant } from "../store/participants.ts";
import { grantFor, policyOf } from "../store/policy.ts";
import { noteHeard } from "../store/runs.ts";
import { stay } from "../store/spaces.ts";
import type { RunRow } from "../types.ts";
import type { Extras, Writer } from "../writer.ts";
import { approversFor } from "./approvers.ts";
import { openRunOf, ownRun } from "./runs.ts";
import {
  cancelAsk,
  changeApprovers,
  grantOf,
  type Outcome,
  settle,
  sightOfAsk,
  standingOf,
} from "./settle.ts";

/** The most that an ask, or an input put in its place, may hold as JSON. */
const ASK_BYTES = 128 * 1024;

export function request(w: Writer, event: Verb<"approval.request">): Extras | void {
  const run = ownRun(w, event.run_id);
  if (event.space_id !== undefined && event.space_id !== run.space_id)
    refuse("invalid", "This run is in another space. Leave space_id out.");
  const { resume_token, ...content } = contentOf(event);
  // The token is left out of the hash, which others may read: nobody is to find it by guessing (APR-10).
  const asked = createHash("sha256").update(canonicalJson(content)).digest("base64");
  const same = approval(w.db, event.approval_id);
  if (same) {
    if (same.harness_id !== run.harness_id || same.asked !== asked)
      refuse("conflict", "This approval_id names another ask already. Mint a new one for a new ask.");
    // A process that was started again waits elsewhere: it is found by its newest token.
    if (resume_token !== undefined && resume_token !== same.resume_token)
      w.db.run("UPDATE approvals SET resume_token = ? WHERE id = ?", resume_token, same.id);
    return { approval: standingOf(same) };
  }
  mayAskNow(w, run);
  const policy = policyOf(w.db) ?? { version: 0, rules: [], classes: {} };
  const judged = decidePolicy(policy, {
    action: event.action,
    risk: event.risk,
    agent_id: run.agent_id,
    space_id: run.space_id,
    lasts: event.lasts,
  });
  // The harness's list is looked at even where nobody will be asked: what is wrong in it is told (APR-2).
  const approvers = approversFor(w, run, judged, event);
  const atOnce = decidedAtOnce(w, run, judged, event);
  const seconds = Math.min(event.expires_in, judged.expires_in_max ?? event.expires_in);
  const fallback = event.fallback === "allow" && judged.fallback === "allow" ? "allow" : "deny";
  const lasts = event.lasts === "standing" && !mayGrant(judged.classes, event.action) ? "once" : event.lasts;
  const shown: ShownAsk = {
    ...content,
    ...(lasts === undefined ? {} : { lasts }),
    risk: judged.classes,
    expires_in: seconds,
    fallback,
    approvers: atOnce ? [] : approvers,
  };
  const row: ApprovalRow = {
    id: event.approval_id,
    space_id: run.space_id,
    run_id: run.id,
    agent_id: run.agent_id,
    harness_id: run.harness_id,
    asked,
    request: JSON.stringify(shown),
    resume_token: resume_token ?? null,
    matters: matters(judged.classes, event.action) ? 1 : 0,
    approvers: JSON.stringify(shown.approvers),
    fallback,
    asked_seq: 0,
    asked_at: w.now,
    expires_at: w.now + Math.ceil(seconds * 1000),
    rule: judged.rule ?? null,
    version: judged.version,
    state: "pending",
    decision: null,
    via: null,
    decided_by: null,
    decided_seq: null,
    decided_at: null,
    input: null,
    grant_id: null,
  };
  put(w, row, shown, atOnce);
}

/** What an ask says, apart from its envelope: with other content an id is another ask's (APR-1). */
function contentOf(event: Verb<"approval.request">) {
  const { v: _v, id: _id, type: _type, ts: _ts, workspace_id: _ws, seq: _seq, actor: _actor, ...own } = event;
  const { idempotency_key: _key, space_id: _space, run_id: _run, ...content } = own;
  const bytes = byteLength(JSON.stringify(content));
  if (bytes > ASK_BYTES)
    refuse("too_large", `An ask is at most 128 KiB; this one has ${bytes} bytes. Preview less of it.`);
  return content;
}

/** Refuses where a run may not ask any more: it has ended, or was asked to stop (TURN-4). */
export function mayAskNow(w: Writer, run: RunRow): void {
  openRunOf(w, run.id);
  if (run.stopping_at !== null)
    refuse("conflict", "This run was asked to stop: it asks nothing any more. End it, with run.end.");
}

/** What needs nobody: a policy's deny before a grant, a grant before the rest of the policy (APR-7). */
function decidedAtOnce(
  w: Writer,
  run: RunRow,
  judged: PolicyDecision,
  event: Verb<"approval.request">,
): Outcome | undefined {
  if (judged.then === "deny") return { decision: "deny", via: "policy" };
  const ask = { agent_id: run.agent_id, action: event.action, risk: judged.classes };
  const grant = grantFor(w.db, ask, w.now);
  if (grant) return { decision: "allow", via: "grant", grantId: grant.id };
  return judged.then === "allow" ? { decision: "allow", via: "policy" } : undefined;
}

/** Stores an ask and says so; then it is decided at once, or people are waited for. */
function put(w: Writer, row: ApprovalRow, shown: ShownAsk, atOnce: Outcome | undefined): void {
  const state = atOnce === undefined ? "pending" : atOnce.decision === "allow" ? "allowed" : "denied";
  const told: ApprovalRow = { ...row, state, decision: atOnce?.decision ?? null, via: atOnce?.via ?? null };
  const fact = w.append("approval.requested", {
    spaceId: row.space_id,
    runId: row.run_id,
    body: { approval_id: row.id },
    main: true,
    receipt: { approval: standingOf({ ...told, grant_id: atOnce?.grantId ?? null }) },
  });
  insertApproval(w.db, { ...row, asked_seq: fact.seq });
  addViewers(w.db, row.id, [row.harness_id, ...shown.approvers]);
  addAudit(w, {
    type: fact.type,
    by: row.agent_id,
    subject: row.id,
    saw: sightOfAsk(row),
    detail: {
      action: shown.action.kind,
      risk: shown.risk,
      approvers: shown.approvers,
      fallback: row.fallback,
      rule: row.rule,
      version: row.version,
    },
  });
  noteHeard(w.db, row.run_id, w.now);
  if (atOnce) {
    settle(w, row, atOnce);
    return;
  }
  w.afterwards({ kind: "alarm", name: "approvals", at: row.expires_at });
  if (shown.approvers.some((id) => id.startsWith("usr_")))
    madeWork(w, row.space_id, fact, { made: "approval" });
}

/** An open ask that the caller may see and decide; refuses in words that say why not (APR-3). */
function decidable(w: Writer, approvalId: string): ApprovalRow {
  const row = visibleApproval(w.db, w.actor.id, approvalId);
  if (!row) notFound("approval");
  const mine = approversOf(row).includes(w.actor.id);
  if (!mine && (row.state === "pending" || w.actor.kind !== "person"))
    refuse("forbidden", "Only an approver of this ask may decide it or hand it on.");
  if (row.state !== "pending") alreadySettled(w, row);
  if (w.now >= row.expires_at) refuse("conflict", "This ask has expired. Nothing can be decided any more.");
  return row;
}

/** Says what was decided, and by whom (APR-3). */
function alreadySettled(w: Writer, row: ApprovalRow): never {
  if (row.decision === null)
    refuse("conflict", "This ask was cancelled, since its turn went on or ended without it.");
  const by = row.decided_by === null ? undefined : participant(w.db, row.decided_by);
  const who =
    by?.name ??
    { person: "Somebody", policy: "The policy", grant: "A grant", expiry: "Its expiry" }[row.via ?? "person"];
  const word = row.decision === "allow" ? "allowed" : "denied";
  refuse("conflict", `${who} ${word} this already. An ask is decided once.`, {
    details: [
      { path: "decision", message: row.decision },
      { path: "by", message: row.decided_by ?? row.via ?? "person" },
    ],
  });
}

export function decide(w: Writer, event: Verb<"approval.decide">): void {
  const row = decidable(w, event.approval_id);
  const person = w.actor.kind === "person";
  if (!person && row.matters !== 0)
    refuse("forbidden", "This ask matters, so a person decides it. Hand it on: approval.route.");
  const edited = editOf(row, event);
  const allowed = event.decision === "allow";
  const standing = allowed && person && requestOf(row).lasts === "standing";
  const granted = standing ? grantOf(w, row, w.actor.id, edited) : undefined;
  const fact = settle(
    w,
    row,
    {
      decision: event.decision,
      // An agent decides only where the policy names the lead, and by its leave.
      via: person ? "person" : "policy",
      by: w.actor.id,
      ...(edited ? { edited } : {}),
      ...(granted ? { grantId: granted.id } : {}),
    },
    true,
  );
  granted?.make();
  if (person && stay(w.db, row.space_id, w.actor.id)) personActed(w, row.space_id, fact);
}

function wrongInput(message: string): never {
  refuse("invalid", `The input does not go with this decision: it ${message}.`, {
    details: [{ path: "input", message }],
  });
}

/** The input that the approver put in place of the one asked, if it is another (APR-5). */
function editOf(row: ApprovalRow, event: Verb<"approval.decide">): { input: unknown } | undefined {
  if (event.input === undefined) return undefined;
  const request = requestOf(row);
  if (request.editable !== true) wrongInput("is of an ask that is not editable");
  if (event.decision !== "allow") wrongInput("is only for allowing");
  if (byteLength(JSON.stringify(event.input)) > ASK_BYTES) wrongInput("is over 128 KiB");
  const same = canonicalJson(event.input) === canonicalJson(request.action.input);
  return same ? undefined : { input: event.input };
}

export function route(w: Writer, event: Verb<"approval.route">): void {
  const row = decidable(w, event.approval_id);
  const { to } = event;
  const there = stay(w.db, row.space_id, to);
  const who = participant(w.db, to);
  if (to === w.actor.id || !there || there.role === "guest" || who?.role === "guest")
    refuse("invalid", "An ask is handed on to another person of its space who is no guest.", {
      details: [{ path: "to", message: "is no other person of this space, or a guest" }],
    });
  const left = approversOf(row).filter((id) => id !== w.actor.id && id !== to);
  changeApprovers(w, row, [...left, to], { from: w.actor.id, to, main: true });
}

export function cancel(w: Writer, event: Verb<"approval.cancel">): void {
  const me = w.caller.participant;
  const row = visibleApproval(w.db, me.id, event.approval_id);
  if (!row) notFound("approval");
  if (row.harness_id !== me.id) refuse("forbidden", "Only the harness that asked takes an ask back.");
  if (row.state !== "pending") alreadySettled(w, row);
  cancelAsk(w, row, "harness", true);
}
