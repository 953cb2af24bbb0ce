import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Action } from "../wire/approval.ts";
import { grantKey, mayGrant } from "./grants.ts";
import { risks } from "./policy.cases.ts";

const json = fc.jsonValue({ maxDepth: 3 });
const action: fc.Arbitrary<Action> = fc.record(
  { kind: fc.constantFrom("a.b", "a.c"), input: json, external: fc.boolean() },
  { requiredKeys: ["kind"] },
);
const asked = fc.record({ agent_id: fc.constantFrom("agt_a", "agt_b"), action, risk: risks });

/** What a grant compares, as data: JSON's view of it. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const key = (more: Partial<Action>) =>
  grantKey({ agent_id: "agt_a", action: { kind: "k", ...more }, risk: [] });

describe("APR-7 standing grants", () => {
  test("APR-7 a grant never allows another input, action, agent or risk", () => {
    fc.assert(
      fc.property(asked, asked, (one, other) => {
        const same =
          one.agent_id === other.agent_id &&
          new Set([...one.risk, ...other.risk]).size === one.risk.length &&
          one.risk.length === other.risk.length;
        if (grantKey(one) !== grantKey(other)) return;
        expect(same).toBe(true);
        expect(plain(one.action)).toEqual(plain(other.action));
      }),
      { numRuns: 1000 },
    );
  });

  test("APR-7 the same ask again has the same key, whatever the order of its keys and classes", () => {
    fc.assert(
      fc.property(asked, (one) => {
        const again = {
          agent_id: one.agent_id,
          risk: [...one.risk.toReversed(), ...one.risk],
          action: Object.fromEntries(Object.entries(one.action).toReversed()) as Action,
        };
        expect(grantKey(again)).toBe(grantKey(structuredClone(one)));
      }),
    );
  });

  test.each([
    [{ input: { to: "a" } }, { input: { to: "b" } }],
    [{ input: 1 }, { input: "1" }],
    [{ input: null }, {}],
    [{ input: { a: 1 } }, { input: { a: 1, b: null } }],
    [{ external: false }, {}],
    [{ money_usd: 0 }, {}],
  ])("APR-7 %j is not %j", (one, other) => {
    expect(key(one)).not.toBe(key(other));
  });

  test("APR-7 none is made with money or for the class financial", () => {
    expect(mayGrant([], { kind: "k" })).toBe(true);
    expect(mayGrant(["destructive", "external"], { kind: "k", external: true, money_usd: 0 })).toBe(true);
    expect(mayGrant(["financial"], { kind: "k" })).toBe(false);
    expect(mayGrant([], { kind: "k", money_usd: 0.01 })).toBe(false);
    expect(mayGrant([], { kind: "k", money_usd: Number.NaN })).toBe(false);
  });
});
