import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ApproverInput, type ApproverMember, resolveApprovers, workspaceOwners } from "./approvers.ts";

type More = Partial<ApproverMember>;
const person = (id: string, more: More = {}): ApproverMember => ({
  id,
  kind: "person",
  gone: false,
  ...more,
});
const agent = (id: string, more: More = {}): ApproverMember => ({ id, kind: "agent", gone: false, ...more });

const members: ApproverMember[] = [
  person("usr_boss", { workspace_role: "owner" }),
  person("usr_ops", { workspace_role: "admin" }),
  person("usr_far", { workspace_role: "member" }),
  person("usr_ann", { space_role: "owner", workspace_role: "member" }),
  person("usr_bo", { space_role: "member", workspace_role: "admin" }),
  person("usr_cy", { space_role: "guest", workspace_role: "guest" }),
  person("usr_old", { space_role: "owner", workspace_role: "owner", gone: true }),
  agent("agt_lead", { space_role: "member", harness_id: "hrn_one", lead: true }),
  agent("agt_two", { space_role: "member", harness_id: "hrn_two" }),
];

function resolve(input: Partial<ApproverInput> = {}) {
  return resolveApprovers({ members, matters: false, askerHarness: "hrn_two", ...input });
}
function idsOf(input: Partial<ApproverInput>): string[] {
  const found = resolve(input);
  return found.ok ? found.approvers : [found.path];
}

describe("APR-2 approvers are resolved to ids", () => {
  test.each([
    [["owner"], ["usr_ann"]],
    [["any"], ["usr_ann", "usr_bo"]],
    [["role:owner"], ["usr_boss", "usr_ann"]],
    [["role:admin"], ["usr_ops", "usr_bo"]],
    [["role:member"], ["usr_ann", "usr_bo"]],
    [["usr_far"], ["usr_far"]],
    [
      ["usr_bo", "any", "usr_bo"],
      ["usr_bo", "usr_ann"],
    ],
  ])("APR-2 %j is %j, from a harness and from policy alike", (names, ids) => {
    expect(resolve({ fromHarness: names })).toEqual({ ok: true, approvers: ids, source: "harness" });
    expect(resolve({ fromPolicy: names })).toEqual({ ok: true, approvers: ids, source: "policy" });
  });

  test("APR-2 policy's list goes before the harness's, that before the space's owners; an empty one is none", () => {
    const both = { fromPolicy: ["usr_bo"], fromHarness: ["usr_ann"] };
    expect(resolve(both)).toEqual({ ok: true, approvers: ["usr_bo"], source: "policy" });
    const owners = { ok: true, approvers: ["usr_ann"], source: "space-owners" };
    expect(resolve()).toEqual(owners);
    expect(resolve({ fromPolicy: [], fromHarness: [] })).toEqual(owners);
  });

  test("APR-2 guests and the removed are dropped from a harness's list, a policy may name guests", () => {
    expect(idsOf({ fromHarness: ["usr_cy", "usr_old", "usr_bo"] })).toEqual(["usr_bo"]);
    expect(idsOf({ fromHarness: ["role:guest", "usr_bo"] })).toEqual(["usr_bo"]);
    expect(idsOf({ fromPolicy: ["usr_cy", "usr_old"] })).toEqual(["usr_cy"]);
    expect(idsOf({ fromPolicy: ["role:guest"] })).toEqual(["usr_cy"]);
    expect(idsOf({ fromPolicy: ["any"] })).toEqual(["usr_ann", "usr_bo"]);
  });

  test.each(["lead", "role:boss", "role:", "agt_two", "hrn_two", "usr_nobody", "", "Owner"])(
    "APR-2 %j from a harness is invalid, and its place is told",
    (name) => {
      expect(resolve({ fromHarness: ["owner", name] })).toMatchObject({ ok: false, path: "approvers.1" });
      expect(resolve({ fromPolicy: ["owner"], fromHarness: [name] }).ok).toBe(false);
    },
  );

  test("APR-2 what a policy names and is no more means nobody", () => {
    expect(idsOf({ fromPolicy: ["usr_nobody", "agt_two", "role:boss", "usr_bo"] })).toEqual(["usr_bo"]);
  });

  test("APR-2 when nobody is left, the workspace's owners", () => {
    const owners = { ok: true, approvers: ["usr_boss"], source: "workspace-owners" };
    expect(resolve({ fromHarness: ["usr_cy"] })).toEqual(owners);
    expect(resolve({ fromPolicy: ["usr_old"] })).toEqual(owners);
    const lonely = members.filter(({ id }) => id !== "usr_ann");
    expect(resolve({ members: lonely })).toEqual(owners);
    expect(workspaceOwners(members)).toEqual(["usr_boss"]);
  });
});

describe("APR-2 the lead", () => {
  test("APR-2 a policy's lead is the space's lead agent", () => {
    expect(resolve({ fromPolicy: ["lead"] })).toEqual({
      ok: true,
      approvers: ["agt_lead"],
      source: "policy",
    });
  });

  test("APR-2 never for its own harness's asks", () => {
    expect(idsOf({ fromPolicy: ["lead"], askerHarness: "hrn_one" })).toEqual(["usr_boss"]);
    const own = [agent("hrn_solo", { kind: "harness", space_role: "member", lead: true }), ...members];
    expect(idsOf({ fromPolicy: ["lead"], askerHarness: "hrn_solo", members: own.slice(0, -2) })).toEqual([
      "usr_boss",
    ]);
  });

  test("APR-4 never for an ask that matters, not even beside a person", () => {
    expect(idsOf({ fromPolicy: ["lead"], matters: true })).toEqual(["usr_boss"]);
    expect(idsOf({ fromPolicy: ["lead", "usr_bo"], matters: true })).toEqual(["usr_bo"]);
    expect(idsOf({ fromPolicy: ["lead", "usr_bo"] })).toEqual(["agt_lead", "usr_bo"]);
  });
});

test("APR-2 APR-4 who decides is somebody there; a person, where it matters; no guest, for a harness", () => {
  const name = fc.constantFrom(
    "owner",
    "any",
    "lead",
    "role:owner",
    "role:guest",
    ...members.map((m) => m.id),
  );
  const names = fc.option(fc.array(name, { maxLength: 4 }), { nil: undefined });
  fc.assert(
    fc.property(names, names, fc.boolean(), (fromPolicy, fromHarness, matters) => {
      const found = resolve({ fromPolicy, fromHarness, matters });
      expect(resolve({ fromPolicy, fromHarness, matters })).toEqual(found);
      const who = found.ok ? found.approvers.map((id) => members.find((one) => one.id === id)) : [];
      expect(new Set(who).size).toBe(who.length);
      for (const one of who) {
        expect(one?.gone).toBe(false);
        expect([one?.kind, one?.id]).not.toEqual(["agent", "agt_two"]);
        expect(matters && one?.kind !== "person").toBe(false);
        expect(found.ok && found.source !== "policy" && one?.space_role === "guest").toBe(false);
      }
    }),
  );
});
