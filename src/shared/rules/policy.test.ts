import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { riskClass } from "../wire/approval.ts";
import { ask, asks, decide, risks, rule, rules } from "./policy.cases.ts";
import { type Ask, classesOf, classMatters, decidePolicy, matters, type RiskClass } from "./policy.ts";

const everything = (accept: RiskClass[] = []) => [
  rule("careless", "allow", { action: ["**"] }, { accept_risk: accept }),
];
const wait = (accept: RiskClass[]) => [rule("wait", "ask", {}, { fallback: "allow", accept_risk: accept })];

describe("POL-1 the first rule that matches decides", () => {
  test("POL-1 no match asks, and names no rule", () => {
    expect(decide([], ask("file.read"))).toEqual({
      // oxlint-disable-next-line unicorn/no-thenable -- the wire's own word
      then: "ask",
      version: 3,
      classes: [],
      why: 'POL-1: no rule of version 3 matches "file.read", so a person is asked.',
    });
  });

  test("POL-1 in order, and the decision names rule and version (POL-2)", () => {
    const list = [
      rule("no-mail", "deny", { action: ["mail.*"] }),
      rule("reads", "allow", { action: ["x", "*.read"] }),
      rule("rest", "ask", {}, { approvers: ["any"], expires_in_max: 60, fallback: "allow", note: "n" }),
    ];
    const denied = decide(list, ask("mail.read"));
    expect([denied.then, denied.rule, denied.version]).toEqual(["deny", "no-mail", 3]);
    const allowed = decide(list, ask("file.read"));
    expect(allowed.then).toBe("allow");
    expect(allowed).toMatchObject({
      rule: "reads",
      why: 'POL-1: rule "reads" of version 3 matches "file.read" by *.read.',
    });
    expect(decide(list, ask("file.write"))).toEqual({
      // oxlint-disable-next-line unicorn/no-thenable -- the wire's own word
      then: "ask",
      rule: "rest",
      version: 3,
      classes: [],
      approvers: ["any"],
      expires_in_max: 60,
      fallback: "allow",
      why: 'POL-1: rule "rest" of version 3 matches "file.write".',
    });
  });

  test.each([
    [{ risk: ["privacy" as const, "legal" as const] }, ask("a", {}, ["legal"]), true],
    [{ risk: ["privacy" as const] }, ask("a", {}, ["legal"]), false],
    [{ risk: ["financial" as const] }, ask("payment.send"), true],
    [{ external: true }, ask("a", { external: true }), true],
    [{ external: true }, ask("a"), false],
    [{ external: false }, ask("a"), true],
    [{ external: false }, ask("a", { external: true }), false],
    [{ irreversible: true }, ask("a", { irreversible: true }), true],
    [{ irreversible: false }, ask("a", { irreversible: true }), false],
    [{ money_usd_over: 100 }, ask("a", { money_usd: 100 }), false],
    [{ money_usd_over: 100 }, ask("a", { money_usd: 100.01 }), true],
    [{ money_usd_over: 0 }, ask("a"), false],
    [{ agent: "agt_scout" }, ask("a"), true],
    [{ agent: "agt_other" }, ask("a"), false],
    [{ space: "spc_den" }, ask("a"), true],
    [{ space: "spc_other" }, ask("a"), false],
    [{ action: ["a"], external: true, agent: "agt_scout" }, ask("a", { external: true }), true],
    [{ action: ["b"], external: true, agent: "agt_scout" }, ask("a", { external: true }), false],
  ])("POL-1 %j and %j match: %s", (when, of, matches) => {
    expect(decide([rule("r", "deny", when)], of).rule).toBe(matches ? "r" : undefined);
  });

  test("POL-1 an agent is named by its id, not by what it calls itself", () => {
    const of = { ...ask("a"), agent_name: "agt_trusted" };
    expect(decide([rule("r", "allow", { agent: "agt_trusted" })], of).then).toBe("ask");
    expect(decide([rule("r", "allow", { agent: "agt_scout" })], of).why).toContain('from "agt_trusted"');
  });

  test("POL-1 deciding twice decides the same, and later rules change nothing", () => {
    fc.assert(
      fc.property(rules, rules, asks, (list, more, of) => {
        const first = decide(list, of);
        expect(decide(list, of)).toEqual(first);
        if (first.rule !== undefined) expect(decide([...list, ...more], of)).toEqual(first);
      }),
    );
  });
});

describe("POL-3 what matters is allowed only by a rule that names it", () => {
  test("POL-3 a careless glob lets no money through", () => {
    for (const of of [ask("payment.send"), ask("a", { money_usd: 1 }), ask("a", {}, ["financial"])]) {
      const asked = decide(everything(), of);
      expect([asked.then, asked.rule, asked.fallback]).toEqual(["ask", "careless", "deny"]);
      expect(asked.why).toContain("POL-3");
      expect(asked.why).toContain("financial");
      expect(decide(everything(["financial"]), of).then).toBe("allow");
    }
    expect(decide(everything(), ask("file.read", { money_usd: 0 }, ["privacy"])).then).toBe("allow");
  });

  test("POL-3 every class is named, and what the action says of itself", () => {
    const mail = ask("email.send", { external: true, irreversible: true }, ["irreversible"]);
    expect(decide(everything(["external_communication"]), mail).then).toBe("ask");
    expect(decide(everything(["external_communication", "irreversible"]), mail).then).toBe("allow");
    expect(decide(everything(), ask("a", { external: true })).why).toContain("external");
    expect(decide(everything(["external"]), ask("a", { external: true })).then).toBe("allow");
  });

  test("POL-3 nothing that matters is allowed with a class of it not named", () => {
    fc.assert(
      fc.property(rules, asks, (list, of) => {
        const decided = decide(list, of);
        const accepted = list.find(({ id }) => id === decided.rule)?.accept_risk ?? [];
        const risky: RiskClass[] = decided.classes.filter(classMatters);
        if (of.action.money_usd) risky.push("financial");
        const open = risky.filter((one) => !accepted.includes(one));
        expect(decided.then === "allow" ? open : []).toEqual([]);
        expect(decided.fallback === "allow" ? open : []).not.toContain("financial");
      }),
      { numRuns: 500 },
    );
  });

  test("POL-3 money is not paid in silence: `fallback: allow` needs `financial` named", () => {
    expect(decide(wait([]), ask("payment.send")).fallback).toBe("deny");
    expect(decide(wait(["financial"]), ask("payment.send")).fallback).toBe("allow");
    expect(decide(wait([]), ask("email.send")).fallback).toBe("allow");
  });
});

describe("POL-4 classes", () => {
  test.each([
    ["payment.transfer", ["financial"]],
    ["file.delete", ["destructive"]],
    ["email.send", ["external_communication"]],
    ["secret.read", ["credential"]],
    ["email.delete", ["destructive", "external_communication"]],
    ["file.read", []],
  ])("POL-4 %s is %j by default", (kind, classes) => {
    expect(classesOf({ classes: {} }, ask(kind))).toEqual(classes);
  });

  test("POL-4 owners extend the default classes and take nothing from them", () => {
    const classes = { "deploy.**": "irreversible", "email.*": "privacy" } as const;
    expect(classesOf({ classes }, ask("deploy.now.all"))).toEqual(["irreversible"]);
    expect(classesOf({ classes }, ask("email.send"))).toEqual(["external_communication", "privacy"]);
  });

  test("POL-4 a harness only adds: its classes come first, and none is hidden by them", () => {
    fc.assert(
      fc.property(asks, risks, (of, risk) => {
        const bare = classesOf({ classes: {} }, { ...of, risk: [] });
        const all = classesOf({ classes: {} }, { ...of, risk });
        expect(all.slice(0, risk.length)).toEqual(risk);
        expect(new Set(all)).toEqual(new Set([...risk, ...bare]));
      }),
    );
  });

  test("POL-4 a financial ask without an amount exceeds every `money_usd_over`", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true }), (over) => {
        const big = [rule("big", "deny", { money_usd_over: over })];
        expect(decide(big, ask("payment.send")).then).toBe("deny");
        expect(decide(big, ask("pay", {}, ["financial"])).then).toBe("deny");
        expect(decide(big, ask("pay")).then).toBe("ask");
      }),
    );
  });
});

const says: [RiskClass[], Partial<Ask["action"]>, boolean][] = [
  [["privacy"], {}, false],
  [[], {}, false],
  [[], { external: false, irreversible: false, money_usd: 0 }, false],
  [[], { external: true }, true],
  [[], { irreversible: true }, true],
  [[], { money_usd: 0.01 }, true],
];
const mattering = riskClass.options.filter((one) => one !== "privacy");
test.each([...says, ...mattering.map((one): (typeof says)[number] => [[one, "privacy"], {}, true])])(
  "APR-4 an ask of %j that says %j matters: %s",
  (classes, action, whether) => {
    expect(matters(classes, { kind: "a", ...action })).toBe(whether);
  },
);

test("POL-2 a policy change never changes a past decision, which carries all it was made of", () => {
  const policy = { version: 1, rules: [rule("r", "allow")], classes: {} };
  const decided = decidePolicy(policy, ask("file.read"));
  const kept = structuredClone(decided);
  decidePolicy({ version: 2, rules: [rule("r", "deny")], classes: {} }, ask("file.read"));
  expect(decided).toEqual(kept);
  expect(decided.version).toBe(1);
});
