import { MAX_EXPIRES_S, riskClass } from "../wire/approval.ts";
import type { PolicyClasses, PolicyRule } from "../wire/policy.ts";
import { coversGlob, globFault } from "./globs.ts";
import { quoted } from "./note-words.ts";

/** What is wrong with a policy as it was sent, and where: `rules.2.when.action.0`. */
export interface PolicyFault {
  path: string;
  message: string;
}

type Tell = (path: string, message: string) => void;
type Check = (value: unknown, path: string, tell: Tell) => void;

const MOST_RULES = 200;
const MOST_CLASSES = 200;
const MOST_IN_LIST = 50;
// Two hostile rules cost 2,500 comparisons of globs; a check that stops early only tells less.
const MOST_COMPARED = 20_000;

const RISKS: readonly string[] = riskClass.options;
const APPROVER = /^(owner|any|lead|role:(owner|admin|member|guest)|usr_\w+)$/;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const must =
  (holds: (value: unknown) => boolean, message: string): Check =>
  (value, path, tell) => {
    if (!holds(value)) tell(path, message);
  };
const text = (most: number): Check =>
  must(
    (value) => typeof value === "string" && value.trim() !== "" && value.length <= most,
    `must be a text of at most ${most} characters`,
  );
const oneOf = (words: readonly string[]): Check =>
  must((value) => words.includes(value as string), `must be one of ${words.join(", ")}`);
const like = (pattern: RegExp, message: string): Check =>
  must((value) => typeof value === "string" && pattern.test(value), message);
const truth = must((value) => typeof value === "boolean", "must be true or false");
const atLeast = (least: number): Check =>
  must((value) => Number.isFinite(value) && (value as number) >= least, `must be a number from ${least}`);
const listOf =
  (item: Check): Check =>
  (value, path, tell) => {
    if (!Array.isArray(value)) tell(path, "must be a list");
    else if (value.length === 0) tell(path, "is empty, which nothing can match: leave it out to mean any");
    else if (value.length > MOST_IN_LIST) tell(path, `may have at most ${MOST_IN_LIST} entries`);
    else for (const [i, one] of value.entries()) item(one, `${path}.${i}`, tell);
  };
const glob: Check = (value, path, tell) => {
  const fault = globFault(value);
  if (fault !== undefined) tell(path, fault);
};

/** An object of these fields and no others; all but the required ones may be left out. */
const fields =
  (checks: Record<string, Check>, required: readonly string[]): Check =>
  (value, path, tell) => {
    if (!isRecord(value)) return tell(path, "must be an object");
    for (const [key, inner] of Object.entries(value)) {
      const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
      if (!check) tell(`${path}.${key}`, `is unknown: there are ${Object.keys(checks).join(", ")}`);
      else if (inner !== undefined) check(inner, `${path}.${key}`, tell);
    }
    for (const key of required) if (value[key] === undefined) tell(`${path}.${key}`, "is missing");
  };

const checkRule = fields(
  {
    id: text(80),
    when: fields(
      {
        action: listOf(glob),
        risk: listOf(oneOf(RISKS)),
        external: truth,
        irreversible: truth,
        money_usd_over: atLeast(0),
        agent: like(/^(agt|hrn)_\w+$/, "must be the id of an agent (agt_…) or a harness (hrn_…)"),
        space: like(/^spc_\w+$/, "must be the id of a space (spc_…)"),
      },
      [],
    ),
    // oxlint-disable-next-line unicorn/no-thenable -- the wire's own word; it is a table and never awaited
    then: oneOf(["allow", "ask", "deny"]),
    approvers: listOf(
      like(APPROVER, "must be owner, any, lead, role:owner|admin|member|guest, or a person's id (usr_…)"),
    ),
    expires_in_max: must(
      (value) => Number.isFinite(value) && (value as number) >= 1 && (value as number) <= MAX_EXPIRES_S,
      `must be a number of seconds from 1 to ${MAX_EXPIRES_S}`,
    ),
    fallback: oneOf(["deny", "allow"]),
    accept_risk: (value, path, tell) => {
      // An empty list here accepts nothing, as none does.
      if (!Array.isArray(value) || value.length > 0) listOf(oneOf(RISKS))(value, path, tell);
    },
    note: must(
      (value) => typeof value === "string" && value.length <= 1000,
      "must be a text of at most 1000 characters",
    ),
  },
  ["id", "then"],
);

/**
 * Whether a policy may be set (POL-2), with every fault at once: unknown keys, wrong values, bad globs, ids used
 * twice, and rules that can never match because an earlier one always does first. The last is never told wrongly,
 * but a rule that only several earlier ones together leave nothing to is not seen. An absent `when` matches all.
 */
export function validatePolicy(
  rules: unknown,
  classes: unknown,
): { ok: true; rules: PolicyRule[]; classes: PolicyClasses } | { ok: false; faults: PolicyFault[] } {
  const faults: PolicyFault[] = [];
  const tell: Tell = (path, message) => faults.push({ path, message });
  const good = checkRules(rules, tell);
  const mapped = checkClasses(classes, tell);
  return faults.length === 0 ? { ok: true, rules: good, classes: mapped } : { ok: false, faults };
}

function checkRules(rules: unknown, tell: Tell): PolicyRule[] {
  const good: PolicyRule[] = [];
  if (!Array.isArray(rules)) tell("rules", "must be a list of rules");
  else if (rules.length > MOST_RULES) tell("rules", `may have at most ${MOST_RULES} rules`);
  else {
    const places = new Map<unknown, number>();
    const compared = { count: 0 };
    for (const [i, rule] of (rules as unknown[]).entries()) {
      let faulty = false;
      checkRule(rule, `rules.${i}`, (path, message) => {
        faulty = true;
        tell(path, message);
      });
      const id = isRecord(rule) ? rule["id"] : undefined;
      const same = places.get(id);
      if (id !== undefined && same !== undefined) tell(`rules.${i}.id`, `is the id of rules.${same} too`);
      else places.set(id, i);
      if (faulty) continue;
      const one = { ...(rule as PolicyRule), when: (rule as Partial<PolicyRule>).when ?? {} };
      const first = good.find((earlier) => alwaysFirst(earlier.when, one.when, compared));
      if (first)
        tell(
          `rules.${i}`,
          `can never match: rule ${quoted(first.id, 80)} stands before it and matches all it does`,
        );
      good.push(one);
    }
  }
  return good;
}

function checkClasses(classes: unknown, tell: Tell): PolicyClasses {
  if (classes === undefined) return {};
  if (!isRecord(classes)) tell("classes", "must be an object of globs, each with its class");
  else if (Object.keys(classes).length > MOST_CLASSES)
    tell("classes", `may have at most ${MOST_CLASSES} globs`);
  else {
    for (const [key, value] of Object.entries(classes)) {
      glob(key, `classes.${key}`, tell);
      oneOf(RISKS)(value, `classes.${key}`, tell);
    }
    return { ...classes } as PolicyClasses;
  }
  return {};
}

type When = PolicyRule["when"];

/** Whether every ask that `later` matches is surely matched by `earlier`: condition by condition. */
function alwaysFirst(earlier: When, later: When, compared: { count: number }): boolean {
  for (const key of ["external", "irreversible", "agent", "space"] as const)
    if (earlier[key] !== undefined && earlier[key] !== later[key]) return false;
  const over = earlier.money_usd_over;
  if (over !== undefined && !(later.money_usd_over !== undefined && later.money_usd_over >= over))
    return false;
  if (earlier.risk && !later.risk?.every((one) => earlier.risk?.includes(one))) return false;
  const wide = earlier.action;
  if (!wide) return true;
  return (later.action ?? ["**"]).every((narrow) =>
    wide.some((glob) => {
      compared.count += 1;
      return compared.count <= MOST_COMPARED && coversGlob(glob, narrow);
    }),
  );
}
