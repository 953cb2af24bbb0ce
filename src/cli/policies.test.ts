import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Ask, decidePolicy, type PolicyRule, validatePolicy } from "../shared/rules/policy.ts";
import type { RiskClass } from "../shared/wire/approval.ts";

const folder = new URL("../../docs/policies/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
const TRUSTED = "agt_01K4ZQPX000000000000000005";

function rulesOf(name: string): PolicyRule[] {
  const text = readFileSync(new URL(name, folder), "utf8").replaceAll("agt_AGENT", TRUSTED);
  const { rules } = JSON.parse(text) as { rules: PolicyRule[] };
  return rules;
}

/** What a policy makes of an action. */
function then(name: string, action: Ask["action"], risk: RiskClass[] = [], agent_id = TRUSTED): string {
  const policy = { version: 1, rules: rulesOf(name), classes: {} };
  return decidePolicy(policy, { action, risk, agent_id, space_id: "spc_1" }).then;
}

it.each(files)("POL-2: docs/policies/%s can be set as it is", (name) => {
  expect(validatePolicy(rulesOf(name), undefined)).toMatchObject({ ok: true });
});

it("POL-2: each is explained, and no other", () => {
  const readme = readFileSync(new URL("README.md", folder), "utf8");
  const named = [...readme.matchAll(/\]\(([\w-]+\.json)\)/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(files));
});

describe("POL-1: nothing leaves or costs money without a person", () => {
  it.each<[string, Ask["action"], RiskClass[], string]>([
    ["an e-mail", { kind: "email.send" }, [], "ask"],
    ["a payment of nothing that is said", { kind: "payment.send" }, [], "ask"],
    ["a cent", { kind: "cloud.rent", money_usd: 0.01 }, [], "ask"],
    ["a post elsewhere", { kind: "blog.post", external: true }, [], "ask"],
    ["somebody's data", { kind: "people.look" }, ["privacy"], "ask"],
    ["a deletion", { kind: "file.delete" }, [], "ask"],
    ["a thing that cannot be undone", { kind: "branch.push", irreversible: true }, [], "ask"],
    ["a secret", { kind: "secret.read" }, [], "ask"],
    ["a note", { kind: "note.write" }, [], "allow"],
  ])("%s", (_what, action, risk, expected) => {
    expect(then("nothing-leaves.json", action, risk)).toBe(expected);
  });
});

describe("POL-1: one agent is trusted inside the workspace", () => {
  it.each<[string, Ask["action"], string]>([
    ["a note", { kind: "note.write" }, "allow"],
    ["a deletion", { kind: "file.delete", irreversible: true }, "allow"],
    ["an e-mail", { kind: "email.send" }, "ask"],
    ["a post elsewhere", { kind: "blog.post", external: true }, "ask"],
    ["money", { kind: "cloud.rent", money_usd: 3 }, "ask"],
    ["a secret", { kind: "secret.read" }, "ask"],
  ])("%s", (_what, action, expected) => {
    expect(then("trust-inside.json", action)).toBe(expected);
    expect(then("trust-inside.json", action, [], "agt_01K4ZQPX000000000000000009")).toBe("ask");
  });
});

it("POL-1: everything asks, of the owners, for a day at most", () => {
  const policy = { version: 1, rules: rulesOf("everything-asks.json"), classes: {} };
  const ask = { action: { kind: "note.write" }, risk: [], agent_id: TRUSTED, space_id: "spc_1" };
  const decision = decidePolicy(policy, ask);
  expect(decision).toMatchObject({ rule: "everything", approvers: ["owner"], expires_in_max: 86_400 });
  expect(decision.then).toBe("ask");
});
