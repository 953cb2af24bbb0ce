/** Approvals: what an agent asks a person before it acts (APR). */
import * as z from "zod";
import { verb } from "./envelope.ts";
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

/** What is to be done, as policy and the approver judge it. */
export const action = z.object({
  kind: z.string().min(1).max(200),
  input: z.unknown().optional(),
  external: z.boolean().optional(),
  irreversible: z.boolean().optional(),
  money_usd: z.number().nonnegative().optional(),
});

export const approvalRequest = z.object({
  ...verb("approval.request", {}).shape,
  // The contract lets the envelope's optional fields be absent in what is stored and shown.
  idempotency_key: z.string().min(1).max(200).optional(),
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
  fallback: z.enum(["deny", "allow"]).optional(),
  approvers: z.array(z.string()).optional(),
  editable: z.boolean().optional(),
  resume_token: z.string().optional(),
});
