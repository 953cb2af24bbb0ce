/** Policies and asks that the tests of the policy share. */
import * as fc from "fast-check";
import { riskClass } from "../wire/approval.ts";
import { type Ask, decidePolicy, type PolicyRule, type RiskClass } from "./policy.ts";

export function rule(
  id: string,
  then: PolicyRule["then"],
  when: PolicyRule["when"] = {},
  more: Partial<PolicyRule> = {},
): PolicyRule {
  // oxlint-disable-next-line unicorn/no-thenable -- the wire's own word
  return { id, when, then, ...more };
}

export function ask(kind: string, action: Partial<Ask["action"]> = {}, risk: RiskClass[] = []): Ask {
  return { action: { kind, ...action }, risk, agent_id: "agt_scout", space_id: "spc_den" };
}

export function decide(rules: PolicyRule[], of: Ask, classes: Record<string, RiskClass> = {}) {
  return decidePolicy({ version: 3, rules, classes }, of);
}

const anyRisk = fc.constantFrom(...riskClass.options);
export const risks = fc.uniqueArray(anyRisk, { maxLength: 3 });
const kind = fc
  .array(fc.constantFrom("email", "payment", "file", "delete", "send"), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("."));
const glob = fc
  .array(fc.constantFrom("email", "payment", "delete", "*", "**"), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join("."));
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const money = fc.constantFrom(0, 1, 50, 100, 5000);

/** Leaves out what is undefined, as JSON does. */
function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as never;
}

export const asks: fc.Arbitrary<Ask> = fc
  .record({
    kind,
    external: maybe(fc.boolean()),
    irreversible: maybe(fc.boolean()),
    money_usd: maybe(money),
    risk: risks,
    agent_id: fc.constantFrom("agt_scout", "agt_ledger"),
    space_id: fc.constantFrom("spc_den", "spc_attic"),
  })
  .map(({ risk, agent_id, space_id, ...action }) => ({ action: present(action), risk, agent_id, space_id }));

const when = fc
  .record({
    action: maybe(fc.array(glob, { minLength: 1, maxLength: 2 })),
    risk: maybe(fc.uniqueArray(anyRisk, { minLength: 1, maxLength: 3 })),
    external: maybe(fc.boolean()),
    irreversible: maybe(fc.boolean()),
    money_usd_over: maybe(money),
    agent: maybe(fc.constantFrom("agt_scout", "agt_ledger")),
    space: maybe(fc.constantFrom("spc_den", "spc_attic")),
  })
  .map(present);

export const rules: fc.Arbitrary<PolicyRule[]> = fc
  .array(
    fc.record({
      verdict: fc.constantFrom<PolicyRule["then"]>("allow", "ask", "deny"),
      when: fc.oneof(fc.constant({}), when, when, when),
      accept_risk: risks,
      fallback: fc.constantFrom("allow" as const, "deny" as const),
    }),
    { maxLength: 6 },
  )
  .map((list) => list.map(({ verdict, when, ...more }, i) => rule(`r${i}`, verdict, when, more)));
