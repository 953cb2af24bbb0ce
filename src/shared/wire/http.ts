/** Bodies and answers of the HTTP routes (shapes.md), beyond the events themselves. */
import * as z from "zod";
import { action, approvalState, decidedVia, decision, fallback, riskClass, shownAsk } from "./approval.ts";
import { hello, ownAgent, receipt, self } from "./connection.ts";
import { instant, seq } from "./envelope.ts";
import { id, participantId } from "./ids.ts";
import { settings } from "./participant.ts";
import { context, file, roomMember, sender, spaceRole, storedAttachment, workspaceRole } from "./parts.ts";
import { policyClasses, policyRule } from "./policy.ts";
import { outcome } from "./run.ts";
import { handle } from "./team.ts";
import { hookEventType, hookSource } from "./work.ts";

/** What a token may be used for (AUTH-2). */
export const scope = z.enum(["person", "harness", "agent", "hook", "admin"]);
export type Scope = z.infer<typeof scope>;

const idempotencyKey = z.string().min(1).max(200);
const name = z.string().min(1);

export const createWorkspace = z.object({ name, owner_name: name });
export const workspaceCreated = z.object({
  workspace_id: id("ws"),
  owner: z.object({ participant_id: id("usr"), name: z.string() }),
  token: z.string(),
});

/** Makes an empty workspace under that id, which takes an export of it (LOG-6). */
export const importWorkspace = z.object({ import: id("ws") });
export const importing = z.object({
  workspace_id: id("ws"),
  importing: z.literal(true),
  /** The line that it waits for: an import that broke off goes on from there. */
  next_line: z.int().positive(),
});
/** The import's last answer. The bytes of `files_missing` are sent one by one. */
export const imported = z.object({
  ...workspaceCreated.shape,
  files_missing: z.array(z.object({ sha256: z.string(), byte_size: z.int() })),
});

export const createInvite = z.object({
  role: z.enum(["admin", "member", "guest"]).default("member"),
  uses: z.int().min(1).max(1000).default(1),
  expires_in_s: z
    .int()
    .min(1)
    .max(7 * 86_400)
    .default(30 * 60),
  space_ids: z.array(id("spc")).max(50).default([]),
});
export const inviteCreated = z.object({ invite_id: id("inv"), link: z.string(), expires_at: instant });
export const redeemInvite = z.object({
  secret: z.string(),
  display_name: name,
  idempotency_key: idempotencyKey,
});
export const inviteRedeemed = z.object({
  participant: z.object({ participant_id: id("usr"), name: z.string(), role: workspaceRole }),
  workspace_id: id("ws"),
  token: z.string(),
});
export const createSignInLink = z.object({ participant_id: id("usr").optional() });
export const signInLinkCreated = z.object({ link: z.string(), expires_at: instant });
export const redeemSignInLink = z.object({ secret: z.string(), idempotency_key: idempotencyKey });

export const createHarness = z.object({ name });
export const harnessCreated = z.object({ participant_id: id("hrn"), token: z.string() });
export const createToken = z.object({
  participant_id: participantId.optional(),
  /** The handle of a person of the team: the token is for its agent, with the scope `agent` alone (TEAM-2). */
  person: handle.optional(),
  /** With the scope `hook` alone: where its events come from, and which types it may send (WORK-4). */
  source: hookSource.optional(),
  types: z.array(hookEventType).min(1).max(50).optional(),
  scopes: z.array(scope).min(1).max(5),
  name: z.string().min(1).max(80).optional(),
});
export const tokenCreated = z.object({ token_id: id("tok"), token: z.string() });
export const tokenItem = z.object({
  token_id: id("tok"),
  participant_id: z.string(),
  scopes: z.array(scope),
  name: z.string(),
  person: z.string().optional(),
  source: z.string().optional(),
  types: z.array(z.string()).optional(),
  session: z.literal(true).optional(),
  created_at: instant,
  last_used_at: instant.optional(),
});

export const me = z.object({
  participant: self,
  workspace_id: id("ws"),
  workspace_name: z.string(),
  scopes: z.array(scope),
  agents: z.array(ownAgent).optional(),
});
/** Somebody of the workspace: a person, a harness, or an agent with the harness that runs it. */
export const participantItem = self.extend({
  harness_id: z.string().optional(),
  /** The handle of the person of the team that this agent is (TEAM-2). */
  person: z.string().optional(),
});
export const putMe = z.object({ time_zone: z.string().min(1).max(64) });

/** A list's page; `next` is absent at the end (HTTP-2). */
export function page<S extends z.ZodType>(item: S) {
  return z.object({ items: z.array(item), next: z.string().optional() });
}

export const spaceItem = z.object({
  space_id: z.string(),
  title: z.string(),
  visibility: z.enum(["private", "open"]),
  archived: z.boolean(),
  direct: z.array(z.string()).optional(),
  lead: z.string().optional(),
  ceiling_usd: z.number().nullable(),
  members: z.int(),
  /** Whether the asker is in it; an open space is listed for those who are not, too. */
  joined: z.boolean(),
  read_seq: seq,
  unread: z.int(),
  mentioned: z.int(),
  last_seq: seq,
});
export const memberItem = z.object({
  ...roomMember.shape,
  role: spaceRole,
  workspace_role: workspaceRole.optional(),
  online: z.boolean().optional(),
});
export const contextAnswer = z.object({ context });
export const runItem = z.object({
  run_id: z.string(),
  agent_id: z.string(),
  message_ids: z.array(z.string()),
  state: z.enum(["working", "waiting", "paused", "ended"]),
  outcome: outcome.optional(),
  step: z.string().optional(),
  started_at: instant,
  ended_at: instant.optional(),
  cost_usd: z.number().optional(),
});
export const eventsAnswer = z.object({
  events: z.array(z.looseObject({ type: z.string(), id: z.string(), seq })),
  head_seq: seq,
  next_after: seq,
});
export const receiptsAnswer = z.object({ receipts: z.array(receipt) });
/** An ask and how it stands; `approvers` may decide it now, `request.approvers` could when it was made. */
export const approvalItem = z.object({
  approval_id: z.string(),
  space_id: z.string(),
  run_id: z.string(),
  agent_id: z.string(),
  state: approvalState,
  request: shownAsk,
  approvers: z.array(z.string()),
  asked_seq: seq,
  asked_at: instant,
  expires_at: instant,
  rule: z.string().optional(),
  version: z.int().nonnegative(),
  decided: z
    .object({
      decision,
      via: decidedVia,
      by: z.string().optional(),
      at: instant,
      input: z.unknown().optional(),
      edited: z.literal(true).optional(),
      grant_id: z.string().optional(),
    })
    .optional(),
  /** Only to the harness that asked (APR-10). */
  resume_token: z.string().optional(),
});
export const grantItem = z.object({
  grant_id: z.string(),
  agent_id: z.string(),
  action,
  risk: z.array(riskClass),
  approval_id: z.string(),
  space_id: z.string(),
  by: z.string(),
  at: instant,
  expires_at: instant,
});
export const policyAnswer = z.object({
  version: z.int().nonnegative(),
  rules: z.array(policyRule),
  classes: policyClasses,
});
export const tryPolicy = z.object({
  action,
  risk: z.array(riskClass).default([]),
  space_id: z.string().max(200).optional(),
  agent_id: z.string().max(200).optional(),
});
export const policyTried = z.object({
  // oxlint-disable-next-line unicorn/no-thenable -- the rule's own word; it is data and never awaited
  then: z.enum(["allow", "ask", "deny"]),
  rule: z.string().optional(),
  version: z.int().nonnegative(),
  classes: z.array(riskClass),
  approvers: z.array(z.string()).optional(),
  expires_in_max: z.number().optional(),
  fallback: fallback.optional(),
  why: z.string(),
});
/** A record of the audit: `hash` is the SHA-256 of the rest of it as canonical JSON (APR-8). */
export const auditItem = z.object({
  n: z.int().positive(),
  at: instant,
  type: z.string(),
  by: z.string(),
  subject: z.string(),
  saw: z.string().optional(),
  detail: z.record(z.string(), z.unknown()).optional(),
  prev: z.string(),
  hash: z.string(),
});
export const auditVerified = z.object({
  ok: z.boolean(),
  checked: z.int().nonnegative(),
  first_fault: z.int().positive().optional(),
});
/** One of the decisions behind an event (WHY-1). */
export const whyDecision = z.object({
  rule: z.string(),
  says: z.string(),
  facts: z.record(z.string(), z.unknown()),
});
export const whyAnswer = z.object({
  event_id: z.string(),
  type: z.string(),
  seq,
  decisions: z.array(whyDecision).min(1),
});
export const searchItem = z.object({
  message_id: z.string(),
  space_id: z.string(),
  seq,
  at: instant,
  from: sender,
  excerpt: z.string(),
});
export const attachmentUploaded = storedAttachment.omit({ replaces: true });
export const attachmentUrl = z.object({ url: z.string(), url_expires_at: instant });
export const settingsAnswer = settings;
export const helloBody = hello;
export const fileItem = file;
export const health = z.object({ ok: z.literal(true), version: z.string() });
