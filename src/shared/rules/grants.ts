import type { Action, RiskClass } from "../wire/approval.ts";
import { canonicalJson } from "./canonical.ts";
import { saysMoney } from "./policy.ts";

/** The longest that a standing grant holds (APR-7). */
export const GRANT_MS = 90 * 86_400_000;

/**
 * What a standing grant is for (APR-7): the agent, the whole action as it was allowed and its risk, in one text
 * that two asks share only if they are the same ask. Risk is a set: neither order nor a class said twice counts.
 */
export function grantKey(ask: { agent_id: string; action: Action; risk: readonly RiskClass[] }): string {
  const risk = [...new Set(ask.risk)].toSorted();
  return canonicalJson({ agent_id: ask.agent_id, action: ask.action, risk });
}

/** Whether a yes to this may be kept for later ones (APR-7): never where money is at stake. */
export function mayGrant(classes: readonly RiskClass[], action: Action): boolean {
  return !classes.includes("financial") && !saysMoney(action);
}
