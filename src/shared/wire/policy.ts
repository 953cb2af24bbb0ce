/** The policy: what happens to an ask before any person is asked (POL). */
import * as z from "zod";
import { riskClass } from "./approval.ts";
import { fact, verb } from "./envelope.ts";

const ruleId = z.string().min(1).max(80);
const glob = z.string().min(1).max(200);

/** When a rule matches; what is left out matches everything. */
export const policyWhen = z.strictObject({
  action: z.array(glob).min(1).max(50).optional(),
  /** Any of these. */
  risk: z.array(riskClass).min(1).optional(),
  external: z.boolean().optional(),
  irreversible: z.boolean().optional(),
  money_usd_over: z.number().nonnegative().optional(),
  agent: z.string().min(1).max(200).optional(),
  space: z.string().min(1).max(200).optional(),
});

/** One rule of the ordered list: the first that matches decides (POL-1). */
export const policyRule = z.strictObject({
  id: ruleId,
  when: policyWhen.default({}),
  // oxlint-disable-next-line unicorn/no-thenable -- the rule's own word; it is data and never awaited
  then: z.enum(["allow", "ask", "deny"]),
  approvers: z.array(z.string().min(1).max(200)).min(1).max(50).optional(),
  /** Seconds: an ask may stay open no longer. */
  expires_in_max: z.number().min(1).optional(),
  fallback: z.enum(["deny", "allow"]).optional(),
  /** The classes that this rule may let through without a person (POL-3). */
  accept_risk: z.array(riskClass).optional(),
  note: z.string().max(1000).optional(),
});
export type PolicyRule = z.infer<typeof policyRule>;

/** Which classes a verb has, by glob (POL-4). */
export const policyClasses = z.record(glob, riskClass);
export type PolicyClasses = z.infer<typeof policyClasses>;

/** Replaces the whole list, and the classes where they are given (POL-2). */
export const policySet = verb("policy.set", {
  rules: z.array(policyRule).max(200),
  classes: policyClasses.optional(),
}).describe("Replaces the list of rules, whole. A fault anywhere changes nothing.");
export const policyChanged = fact("policy.changed", { version: z.int().positive() }).describe(
  "The policy has a new version.",
);
