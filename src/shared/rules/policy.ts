import type { Action, RiskClass } from "../wire/approval.ts";
import type { PolicyClasses, PolicyRule } from "../wire/policy.ts";
import { matchesGlob } from "./globs.ts";
import { quoted } from "./note-words.ts";

export { matchesGlob } from "./globs.ts";
export { type PolicyFault, validatePolicy } from "./policy-check.ts";
export type { PolicyRule, RiskClass };

/** A workspace's policy as it was set; `classes` are what its owners added to the default ones. */
export interface Policy {
  version: number;
  rules: readonly PolicyRule[];
  classes: PolicyClasses;
}

/** What verbs are, whatever a policy says: owners extend this and take nothing from it (POL-4). */
export const DEFAULT_CLASSES: PolicyClasses = {
  "payment.*": "financial",
  "*.delete": "destructive",
  "email.*": "external_communication",
  "secret.*": "credential",
};

/** An ask as policy judges it; `agent_name` is only for the eyes, rules name ids. */
export interface Ask {
  action: Action;
  risk: readonly RiskClass[];
  agent_id: string;
  agent_name?: string | undefined;
  space_id: string;
  lasts?: "once" | "standing" | undefined;
}

/** The classes of an ask (POL-4): its own, and those that its verb has; each once. */
export function classesOf(policy: Pick<Policy, "classes">, ask: Pick<Ask, "action" | "risk">): RiskClass[] {
  const { kind } = ask.action;
  const mapped = [...Object.entries(DEFAULT_CLASSES), ...Object.entries(policy.classes)].flatMap(
    ([glob, one]) => (matchesGlob(glob, kind) ? [one] : []),
  );
  return [...new Set([...ask.risk, ...mapped])];
}

// All but privacy (APR-4).
const MATTERING: ReadonlySet<RiskClass> = new Set<RiskClass>([
  "financial",
  "destructive",
  "irreversible",
  "credential",
  "legal",
  "external",
  "external_communication",
]);

/** Whether a class by itself makes an ask matter (APR-4). */
export function classMatters(one: RiskClass): boolean {
  return MATTERING.has(one);
}

/** Whether an ask must reach a person (APR-4): by its classes, or by what its action says of itself. */
export function matters(classes: readonly RiskClass[], action: Action): boolean {
  return risksOf(classes, action).length > 0;
}

/** Whether an action says money: an amount of nothing is none. */
export function saysMoney(action: Action): boolean {
  return action.money_usd !== undefined && !(action.money_usd <= 0);
}

/** The classes that make an ask matter, those included that its action says without naming the class. */
function risksOf(classes: readonly RiskClass[], action: Action): RiskClass[] {
  const risks = new Set(classes.filter(classMatters));
  if (action.external && !risks.has("external_communication")) risks.add("external");
  if (action.irreversible) risks.add("irreversible");
  if (saysMoney(action)) risks.add("financial");
  return [...risks];
}

/** What the policy makes of an ask; the optional fields are the deciding rule's, for an ask that is put to somebody. */
export interface PolicyDecision {
  then: "allow" | "ask" | "deny";
  /** The rule that decided; absent when none matched. */
  rule?: string;
  version: number;
  classes: RiskClass[];
  approvers?: string[];
  expires_in_max?: number;
  fallback?: "deny" | "allow";
  why: string;
}

/**
 * What becomes of an ask (POL-1): the first rule that matches decides, and without one a person is asked. A rule
 * that would allow what matters asks instead unless its `accept_risk` names every class that makes it matter
 * (POL-3). Where money is at stake its `fallback: "allow"` needs `financial` named, too: silence must not pay.
 */
export function decidePolicy(policy: Policy, ask: Ask): PolicyDecision {
  const classes = classesOf(policy, ask);
  const { version } = policy;
  const verb = quoted(ask.action.kind, 200);
  for (const rule of policy.rules) {
    const because = matched(rule, ask, classes);
    if (because === undefined) continue;
    const accepted = rule.accept_risk ?? [];
    const open = risksOf(classes, ask.action).filter((risk) => !accepted.includes(risk));
    const refused = rule.then === "allow" && open.length > 0;
    const paysInSilence = rule.fallback === "allow" && open.includes("financial");
    const then = refused ? "ask" : rule.then;
    const fallback = refused || paysInSilence ? "deny" : rule.fallback;
    const why = [`POL-1: rule ${quoted(rule.id, 80)} of version ${version} matches ${verb}${because}.`];
    if (refused) why.push(`POL-3: it would allow it, but its accept_risk does not name ${open.join(", ")}.`);
    else if (then === "ask" && paysInSilence)
      why.push("POL-3: its fallback allows, but its accept_risk does not name financial.");
    return {
      // oxlint-disable-next-line unicorn/no-thenable -- the wire's own word; the answer is never awaited
      then,
      rule: rule.id,
      version,
      classes,
      ...(then === "ask" && rule.approvers !== undefined ? { approvers: rule.approvers } : {}),
      ...(then === "ask" && rule.expires_in_max !== undefined ? { expires_in_max: rule.expires_in_max } : {}),
      ...(then === "ask" && fallback !== undefined ? { fallback } : {}),
      why: why.join(" "),
    };
  }
  const why = `POL-1: no rule of version ${version} matches ${verb}, so a person is asked.`;
  // oxlint-disable-next-line unicorn/no-thenable -- as above
  return { then: "ask", version, classes, why };
}

/** By which of its conditions a rule matches an ask, in words; `undefined` when it does not. */
function matched(rule: PolicyRule, ask: Ask, classes: readonly RiskClass[]): string | undefined {
  const { when } = rule;
  const { action } = ask;
  const facts: string[] = [];
  if (when.action) {
    const glob = when.action.find((one) => matchesGlob(one, action.kind));
    if (glob === undefined) return undefined;
    facts.push(`by ${glob}`);
  }
  if (when.risk) {
    const hit = classes.filter((one) => when.risk?.includes(one));
    if (hit.length === 0) return undefined;
    facts.push(`as ${hit.join(", ")}`);
  }
  for (const flag of ["external", "irreversible"] as const) {
    if (when[flag] === undefined) continue;
    if (when[flag] !== (action[flag] ?? false)) return undefined;
    facts.push(when[flag] ? `being ${flag}` : `not being ${flag}`);
  }
  if (when.money_usd_over !== undefined) {
    const amount = action.money_usd;
    // No amount could be any amount (POL-4).
    const exceeds = amount === undefined ? classes.includes("financial") : !(amount <= when.money_usd_over);
    if (!exceeds) return undefined;
    facts.push(`with ${amount === undefined ? "no amount said" : `$${amount}`} over $${when.money_usd_over}`);
  }
  if (when.agent !== undefined) {
    if (when.agent !== ask.agent_id) return undefined;
    facts.push(`from ${ask.agent_name === undefined ? when.agent : quoted(ask.agent_name, 80)}`);
  }
  if (when.space !== undefined) {
    if (when.space !== ask.space_id) return undefined;
    facts.push(`in ${when.space}`);
  }
  return facts.length === 0 ? "" : ` ${facts.join(", ")}`;
}
