/** Approvals: what an agent asks a person before it acts (APR). */
import * as z from "zod";
import { fact, instant, verb } from "./envelope.ts";
import { id } from "./ids.ts";

export const riskClass = z.enum([
  "external",
  "external_communication",
  "irreversible",
  "destructive",
  "financial",
  "credential",
  "privacy",
  "legal",
]);
export type RiskClass = z.infer<typeof riskClass>;

/** What is to be done, as policy and the approver judge it. */
export const action = z.object({
  kind: z.string().min(1).max(200),
  input: z.unknown().optional(),
  external: z.boolean().optional(),
  irreversible: z.boolean().optional(),
  money_usd: z.number().nonnegative().optional(),
});
export type Action = z.infer<typeof action>;

export const fallback = z.enum(["deny", "allow"]);
export const decision = z.enum(["allow", "deny"]);
export type Decision = z.infer<typeof decision>;
/** What decided: a person, the policy (or the lead agent that it named), a standing grant, the time. */
export const decidedVia = z.enum(["person", "policy", "grant", "expiry"]);
export const approvalState = z.enum(["pending", "allowed", "denied", "expired", "cancelled"]);
export type ApprovalState = z.infer<typeof approvalState>;

/** What an ask says of itself, apart from when it expires and what is only its harness's. */
const asked = {
  approval_id: id("apr"),
  step_id: z.string().optional(),
  action,
  question: z.string().optional(),
  effect: z.string().optional(),
  lasts: z.enum(["once", "standing"]).optional(),
  preview: z
    .object({
      format: z.enum(["markdown", "plain", "diff", "json", "table"]),
      body: z.string(),
      title: z.string().optional(),
    })
    .optional(),
  risk: z.array(riskClass),
  sources: z
    .array(
      z.object({ kind: z.enum(["external", "internal"]), label: z.string(), url: z.string().optional() }),
    )
    .optional(),
  expires_in: z.number(),
  fallback: fallback.optional(),
  approvers: z.array(z.string()).optional(),
  editable: z.boolean().optional(),
};

export const approvalRequest = z
  .object({
    ...verb("approval.request", {}).shape,
    // The contract lets the envelope's optional fields be absent in what is stored and shown.
    idempotency_key: z.string().min(1).max(200).optional(),
    ...asked,
    resume_token: z.string().optional(),
  })
  .describe("An agent asks before it acts. Its run waits until somebody, a policy or the clock decides.");

/** The longest that an ask may stay open, in seconds (APR-1). */
export const MAX_EXPIRES_S = 30 * 86_400;
/** The same as a harness sends it: with a key, and within bounds (APR-1). */
export const approvalAsk = verb("approval.request", {
  ...asked,
  expires_in: z.number().min(1).max(MAX_EXPIRES_S),
  approvers: z.array(z.string().min(1).max(200)).max(50).optional(),
  resume_token: z.string().min(1).max(4096).optional(),
}).describe(
  "Asks before acting. The same `approval_id` again is the same ask and is answered with how it stands.",
);
export const approvalDecide = verb("approval.decide", {
  approval_id: id("apr"),
  decision,
  /** The input as allowed, where the ask is editable (APR-5). */
  input: z.unknown().optional(),
}).describe("An approver decides an ask, once.");
/** Hands the right to decide on to one person of the space (APR-3). */
export const approvalRoute = verb("approval.route", { approval_id: id("apr"), to: id("usr") }).describe(
  "Hands one's right to decide on to one person of the space.",
);
export const approvalCancel = verb("approval.cancel", { approval_id: id("apr") }).describe(
  "A harness takes its ask back.",
);

/** What the policy said of an ask: which rule of which version (POL-2). */
const judged = { rule: z.string().optional(), version: z.int().nonnegative().optional() };

/** An ask as it is shown: the classes that policy adds among its own, the approvers as ids, no resume_token. */
export const shownAsk = z.object({ ...asked, fallback, approvers: z.array(z.string()) });
export type ShownAsk = z.infer<typeof shownAsk>;

export const approvalRequested = fact("approval.requested", {
  ...shownAsk.shape,
  agent_id: z.string(),
  expires_at: instant,
  ...judged,
}).describe("An agent asks before it acts, with the approvers as ids and the classes that the policy adds.");
export const approvalRouted = fact("approval.routed", {
  approval_id: id("apr"),
  /** Whose right it was: who routed, or who was lost as an approver (APR-2). */
  from: z.string(),
  /** Who was given it; absent where an approver was lost. */
  to: z.string().optional(),
  /** Who may decide from now on. */
  approvers: z.array(z.string()),
}).describe("The right to decide was handed on, or an approver was lost.");
export const approvalDecided = fact("approval.decided", {
  approval_id: id("apr"),
  decision,
  via: decidedVia,
  by: z.string().optional(),
  /** The action's input as it was decided on: what the approver made of it, where they changed it (APR-5). */
  input: z.unknown().optional(),
  edited: z.literal(true).optional(),
  ...judged,
  grant_id: z.string().optional(),
  /** Only to the harness that asked (APR-10). */
  resume_token: z.string().optional(),
}).describe("An ask was decided.");
/** As people are told of an expiry; its harness is sent `approval.decided` via expiry (APR-6). */
export const approvalExpired = fact("approval.expired", { approval_id: id("apr"), decision }).describe(
  "Nobody decided an ask in time, so its fallback did.",
);
export const cancelReason = z.enum(["harness", "run_ended", "run_stopped"]);
export type CancelReason = z.infer<typeof cancelReason>;
export const approvalCancelled = fact("approval.cancelled", {
  approval_id: id("apr"),
  reason: cancelReason,
}).describe("An ask was taken back, or its run is over.");

/** How an ask stands, on the receipt of who asked or decided (APR-1). */
export const approvalReceipt = z.object({
  state: approvalState,
  approvers: z.array(z.string()),
  fallback,
  expires_at: instant.optional(),
  decision: decision.optional(),
  via: decidedVia.optional(),
  ...judged,
  grant_id: z.string().optional(),
});

export const grantMade = fact("grant.made", {
  grant_id: id("grt"),
  agent_id: z.string(),
  approval_id: id("apr"),
  expires_at: instant,
}).describe("A standing yes: the same ask again is allowed at once.");
export const grantRevoked = fact("grant.revoked", { grant_id: id("grt"), agent_id: z.string() }).describe(
  "A standing yes was taken back.",
);
export const grantRevoke = verb("grant.revoke", { grant_id: id("grt") }).describe(
  "Takes a standing yes back.",
);
