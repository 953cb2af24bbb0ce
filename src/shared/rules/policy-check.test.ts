import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asks, decide, rule, rules } from "./policy.cases.ts";
import { validatePolicy } from "./policy.ts";

const glob = (i: number) => `${"**.a.".repeat(9)}b${i}`;

function faultsOf(list: unknown, classes?: unknown): Record<string, string> {
  const checked = validatePolicy(list, classes);
  return checked.ok ? {} : Object.fromEntries(checked.faults.map(({ path, message }) => [path, message]));
}

describe("POL-2 a policy is validated as a whole", () => {
  test("POL-2 a good one is taken, an absent `when` and absent classes included", () => {
    const full = rule(
      "full",
      "ask",
      {
        action: ["email.*", "**.delete"],
        risk: ["financial"],
        external: true,
        irreversible: false,
        money_usd_over: 10,
        agent: "agt_01K4ZQPX000000000000000006",
        space: "spc_01K4ZQPX000000000000000006",
      },
      {
        approvers: ["owner", "any", "lead", "role:admin", "usr_01K4ZQPX000000000000000006"],
        expires_in_max: 3600,
        fallback: "allow",
        accept_risk: ["financial"],
        note: "why",
      },
    );
    const { when: _, ...bare } = rule("bare", "deny");
    expect(validatePolicy([full, bare], { "x.*": "legal" })).toEqual({
      ok: true,
      rules: [full, rule("bare", "deny")],
      classes: { "x.*": "legal" },
    });
    expect(validatePolicy([], undefined)).toEqual({ ok: true, rules: [], classes: {} });
  });

  test("POL-2 every fault is told at once, each at its path", () => {
    const faults = faultsOf(
      [
        { id: "a", when: { action: ["send*"], riks: [], risk: ["money"], external: "yes" }, do: "allow" },
        rule("b", "ask", { action: [], money_usd_over: -1, agent: "Scout", space: "" }),
        rule("b", "ask", {}, { approvers: ["Ann", "role:boss"], expires_in_max: 0, note: "n".repeat(1001) }),
        "rule",
        { ...rule("c", "ask"), id: "" },
      ],
      { "pay..": "financial", "x.*": "cheap" },
    );
    expect(Object.keys(faults).toSorted()).toEqual(
      [
        "rules.0.when.action.0",
        "rules.0.when.riks",
        "rules.0.when.risk.0",
        "rules.0.when.external",
        "rules.0.do",
        "rules.0.then",
        "rules.1.when.action",
        "rules.1.when.money_usd_over",
        "rules.1.when.agent",
        "rules.1.when.space",
        "rules.2.id",
        "rules.2.approvers.0",
        "rules.2.approvers.1",
        "rules.2.expires_in_max",
        "rules.2.note",
        "rules.3",
        "rules.4.id",
        "classes.pay..",
        "classes.x.*",
      ].toSorted(),
    );
    expect(faults["rules.0.do"]).toContain("there are id, when, then");
    expect(faults["rules.2.id"]).toContain("rules.1");
  });

  test("POL-2 names that every object has are unknown keys too", () => {
    const faults = faultsOf([JSON.parse('{"id":"a","then":"ask","constructor":1,"__proto__":{}}')]);
    expect(Object.keys(faults).toSorted()).toEqual(["rules.0.__proto__", "rules.0.constructor"]);
  });

  test.each([null, undefined, {}, "x", 7])("POL-2 %j is no list of rules", (list) => {
    expect(faultsOf(list)).toHaveProperty("rules");
  });

  test("POL-2 too many rules or classes are refused", () => {
    const many = Array.from({ length: 201 }, (_, i) => rule(`r${i}`, "ask", { action: [`a${i}`] }));
    expect(faultsOf(many)).toHaveProperty("rules");
    expect(faultsOf(many.slice(1))).toEqual({});
    const classes = Object.fromEntries(many.map(({ id }) => [id, "legal"]));
    expect(faultsOf([], classes)).toHaveProperty("classes");
  });

  test("POL-2 anything at all is answered, not thrown", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (list, classes) => {
        const checked = validatePolicy(list, classes);
        expect(checked.ok || checked.faults.length > 0).toBe(true);
      }),
    );
  });
});

describe("POL-2 a rule that can never match is told", () => {
  test.each([
    [{}, { action: ["email.send"] }, true],
    [{}, {}, true],
    [{ action: ["email.**"] }, { action: ["email.send", "email.draft.*"] }, true],
    [{ action: ["email.*", "file.*"] }, { action: ["file.read", "email.send"], external: true }, true],
    [{ action: ["email.*"] }, { action: ["email.send", "file.read"] }, false],
    [{ action: ["email.*"] }, {}, false],
    [{ action: ["**"] }, {}, true],
    [{ risk: ["legal", "privacy"] }, { risk: ["privacy"] }, true],
    [{ risk: ["legal"] }, { risk: ["privacy", "legal"] }, false],
    [{ risk: ["legal"] }, {}, false],
    [{ external: true }, { external: true, irreversible: true }, true],
    [{ external: true }, { external: false }, false],
    [{ external: true }, {}, false],
    [{ money_usd_over: 10 }, { money_usd_over: 10 }, true],
    [{ money_usd_over: 10 }, { money_usd_over: 5 }, false],
    [{ money_usd_over: 10 }, {}, false],
    [{ agent: "agt_a" }, { agent: "agt_a", space: "spc_a" }, true],
    [{ agent: "agt_a" }, { agent: "agt_b" }, false],
    [{ space: "spc_a" }, {}, false],
  ] as const)("POL-2 after %j a rule for %j never matches: %s", (first, second, never) => {
    const list = [rule("first", "ask", first as never), rule("second", "deny", second as never)];
    const faults = faultsOf(list);
    expect(Object.keys(faults)).toEqual(never ? ["rules.1"] : []);
    if (never) expect(faults["rules.1"]).toContain('"first"');
  });

  test("POL-2 a rule told to match never decides nothing", () => {
    fc.assert(
      fc.property(rules, fc.array(asks, { minLength: 10, maxLength: 10 }), (list, some) => {
        const dead = Object.entries(faultsOf(list)).flatMap(([path, message]) =>
          message.includes("never") ? [list[Number(path.split(".")[1])]?.id] : [],
        );
        for (const of of some) expect(dead).not.toContain(decide(list, of).rule ?? "none");
      }),
      { numRuns: 200 },
    );
  });

  test("POL-2 a hostile policy is checked in little time", () => {
    const globs = Array.from({ length: 50 }, (_, i) => glob(i));
    const list = Array.from({ length: 200 }, (_, i) =>
      rule(`r${i}`, "ask", { action: [glob(99), ...globs].slice(i === 0 ? 1 : 0, 50) }),
    );
    const start = performance.now();
    validatePolicy(list, undefined);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
