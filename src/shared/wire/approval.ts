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
export const action = z
  .object({
    kind: z.string().min(1).max(200).describe("The action as a dotted verb, such as `email.send`."),
    input: z.unknown().optional().describe("What it would be done with."),
    external: z.boolean().optional().describe("Whether it reaches beyond the workspace."),
    irreversible: z.boolean().optional().describe("Whether it cannot be taken back."),
    money_usd: z.number().nonnegative().optional().describe("What it would spend, in US dollars."),
  })
  .describe("What is to be done, as policy and the approver judge it.");

export const approvalRequest = z
  .object({
    ...verb("approval.request", {}).shape,
    // The contract lets the envelope's optional fields be absent in what is stored and shown.
    idempotency_key: z.string().min(1).max(200).optional(),
    approval_id: id("apr").describe("Minted by the harness: the same id again is the same request."),
    step_id: z.string().optional().describe("The step of the run that waits for it."),
    action,
    question: z.string().optional().describe("What the approver is asked, in a sentence."),
    effect: z.string().optional().describe("What happens if it is allowed."),
    lasts: z
      .enum(["once", "standing"])
      .optional()
      .describe("Whether a yes is for this time, or a grant for the same action later."),
    preview: z
      .object({
        format: z.enum(["markdown", "plain", "diff", "json", "table"]),
        body: z.string(),
        title: z.string().optional(),
      })
      .optional()
      .describe("What the approver is shown of it."),
    risk: z.array(riskClass).describe("What may go wrong. Policy may add to these, never take away."),
    sources: z
      .array(
        z.object({ kind: z.enum(["external", "internal"]), label: z.string(), url: z.string().optional() }),
      )
      .optional()
      .describe("Where what it rests on comes from."),
    expires_in: z.number().describe("Seconds until it is decided by `fallback`."),
    fallback: z.enum(["deny", "allow"]).optional(),
    approvers: z
      .array(z.string())
      .optional()
      .describe("Who may decide: ids of people, or `owner`, `any`, `role:<name>`."),
    editable: z.boolean().optional().describe("Whether the approver may change the action's input."),
    resume_token: z.string().optional().describe("Comes back with the decision, to this harness only."),
  })
  .describe("An agent asks before it acts. Its run waits until somebody, a policy or the clock decides.");
