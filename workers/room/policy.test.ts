/** The policy (POL), standing grants (APR-7) and the audit chain (APR-8). */
/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { verifyChain } from "../../src/shared/rules/audit.ts";
import { type Asking, ask, askingRoom, decide, events, get, read, runOf } from "../testing/asks.ts";
import { type Any, call, newPerson, type Party, refused, roomStub, send } from "../testing/client.ts";
import { pass } from "../testing/judge.ts";

const DAY = 86_400;

async function setPolicy(room: Asking, rules: object[], more: object = {}): Promise<number> {
  return (await send(room.owner, "policy.set", { rules, ...more })).policy.version;
}

async function tried(by: Party, body: object): Promise<Any> {
  return (await call("POST", "/v1/policy/try", { token: by.token, body })).body;
}

test("POL-1 the first rule that matches decides, and without one a person is asked", async () => {
  const room = await askingRoom();
  const rules = [
    { id: "never", when: { action: ["shell.**"] }, then: "deny" },
    { id: "here", when: { action: ["file.*"], space: room.space, agent: room.ids.Scout }, then: "allow" },
    { id: "other", when: { action: ["file.*"] }, then: "ask", approvers: [room.bob.id], expires_in_max: 60 },
  ];
  expect(await setPolicy(room, rules)).toBe(1);
  const allowed = await ask(room);
  expect(allowed).toMatchObject({ state: "allowed", via: "policy", rule: "here", version: 1, approvers: [] });
  const told = await room.socket.next((f) => f.type === "approval.decided" && f.approval_id === allowed.id);
  expect(told).toMatchObject({ decision: "allow", via: "policy", rule: "here", version: 1 });
  expect(told).not.toHaveProperty("by");
  expect(told.actor.kind).toBe("system");
  const denied = await ask(room, { action: { kind: "shell.run.sudo" } });
  expect(denied).toMatchObject({ state: "denied", via: "policy", rule: "never" });
  const otter = { ...room, run: await runOf(room, "Otter") };
  const asked = await ask(otter);
  expect(asked).toMatchObject({ state: "pending", rule: "other", approvers: [room.bob.id] });
  expect(Date.parse(asked.expires_at) - Date.now()).toBeLessThanOrEqual(60_000);
  const none = await ask(room, { action: { kind: "tea.make" } });
  expect(none).toMatchObject({ state: "pending", version: 1 });
  expect(none).not.toHaveProperty("rule");
  // A decided ask is over: nobody decides it again.
  const late = { approval_id: denied.id, decision: "allow" };
  const error = await refused(room.owner, "approval.decide", late);
  expect(error).toMatchObject({ code: "conflict" });
  expect(error.message).toContain("The policy");
});

test("POL-2 the whole list is validated, has a version, and past decisions keep theirs", async () => {
  const room = await askingRoom();
  const faulty: [object[], string][] = [
    [[{ id: "a", when: {}, then: "allow", mood: "good" }], "rules.0"],
    [[{ id: "a", when: { action: ["pay*"] }, then: "ask" }], "rules.0.when.action.0"],
    [[{ id: "a", when: {}, then: "perhaps" }], "rules.0.then"],
    [
      [
        { id: "a", when: { action: ["file.*"] }, then: "ask" },
        { id: "b", when: { action: ["file.write"] }, then: "deny" },
      ],
      "rules.1",
    ],
    [
      [
        { id: "a", when: { action: ["x"] }, then: "ask" },
        { id: "a", when: {}, then: "ask" },
      ],
      "rules.1.id",
    ],
  ];
  for (const [rules, path] of faulty) {
    const error = await refused(room.owner, "policy.set", { rules });
    expect(error.code).toBe("invalid");
    expect(error.details.map((d: Any) => d.path)).toContain(path);
  }
  expect((await get(room.owner, "/v1/policy")).version).toBe(0);
  const first = [{ id: "yes", when: { action: ["file.*"] }, then: "allow" }];
  await setPolicy(room, first);
  const { id } = await ask(room);
  await setPolicy(room, [{ id: "no", when: { action: ["file.*"] }, then: "deny" }]);
  expect(await read(room.owner, id)).toMatchObject({ state: "allowed", rule: "yes", version: 1 });
  expect(await ask(room)).toMatchObject({ state: "denied", rule: "no", version: 2 });
  expect((await get(room.bob, "/v1/policy?version=1")).rules).toEqual(first);
  expect((await call("GET", "/v1/policy?version=9", { token: room.bob.token })).status).toBe(404);
  const changed = (await events(room.bob)).filter((e) => e.type === "policy.changed");
  expect(changed.map((e) => e.version)).toEqual([1, 2]);
});

test("POL-2 SPACE-7 owners and admins set the policy; members read and try it, guests and harnesses do not", async () => {
  const room = await askingRoom();
  const guest = await newPerson(room.owner, "Gus", "guest", [room.space]);
  for (const by of [room.bob, room.harness, guest])
    expect((await refused(by, "policy.set", { rules: [] })).code).toBe("forbidden");
  const rules = [{ id: "mail", when: { action: ["email.*"] }, then: "deny", note: "No mail this week." }];
  await setPolicy(room, rules);
  const body = { action: { kind: "email.send" }, risk: [] };
  const answer = await tried(room.bob, body);
  expect(answer).toMatchObject({
    then: "deny",
    rule: "mail",
    version: 1,
    classes: ["external_communication"],
  });
  expect(answer.why).toContain("mail");
  expect((await events(room.owner)).filter((e) => e.type.startsWith("approval."))).toEqual([]);
  const paths = ["/v1/policy", "/v1/grants"];
  for (const by of [guest, room.harness]) {
    for (const path of paths) expect((await call("GET", path, { token: by.token })).status).toBe(403);
    expect((await call("POST", "/v1/policy/try", { token: by.token, body })).status).toBe(403);
  }
  expect((await events(guest)).some((e) => e.type === "policy.changed")).toBe(false);
});

test("POL-3 APR-4 a careless glob lets nothing through that matters", async () => {
  const room = await askingRoom();
  await setPolicy(room, [{ id: "all", when: { action: ["**"] }, then: "allow" }]);
  const serious = [
    { action: { kind: "payment.send", money_usd: 5 } },
    { action: { kind: "notes.delete" } },
    { action: { kind: "email.send" } },
    { action: { kind: "secret.read" } },
    { action: { kind: "a.b", external: true } },
    { action: { kind: "a.b", irreversible: true } },
    { action: { kind: "a.b", money_usd: 1 } },
    { risk: ["legal"] },
    { action: { kind: "Payment.Send" } },
  ];
  for (const more of serious) expect((await ask(room, more)).state).toBe("pending");
  expect((await ask(room)).state).toBe("allowed");
  const accepted = {
    id: "mail",
    when: { action: ["email.*"] },
    then: "allow",
    accept_risk: ["external_communication"],
  };
  await setPolicy(room, [accepted]);
  expect((await ask(room, { action: { kind: "email.send" } })).state).toBe("allowed");
  expect((await ask(room, { action: { kind: "email.send" }, risk: ["legal"] })).state).toBe("pending");
});

test("POL-4 the policy adds classes to an ask; owners extend the map and take nothing from it", async () => {
  const room = await askingRoom();
  const { classes } = await get(room.owner, "/v1/policy");
  expect(classes).toMatchObject({
    "payment.*": "financial",
    "*.delete": "destructive",
    "secret.*": "credential",
  });
  await setPolicy(room, [], { classes: { "wire.*": "financial" } });
  const { id } = await ask(room, { action: { kind: "wire.send" }, risk: ["external"] });
  expect((await read(room.bob, id)).request.risk.toSorted()).toEqual(["external", "financial"]);
  // Left out, the map stays; what it says by default cannot be turned into something else.
  await setPolicy(room, []);
  expect((await get(room.owner, "/v1/policy")).classes).toMatchObject({ "wire.*": "financial" });
  const tame = { rules: [], classes: { "payment.*": "privacy" } };
  expect((await refused(room.owner, "policy.set", tame)).code).toBe("invalid");
  // A financial ask that says no amount exceeds every amount.
  await setPolicy(room, [{ id: "big", when: { money_usd_over: 1000 }, then: "deny" }]);
  expect((await ask(room, { action: { kind: "payment.send" } })).state).toBe("denied");
  expect((await ask(room, { action: { kind: "payment.send", money_usd: 10 } })).state).toBe("pending");
});

test("APR-7 a standing yes makes a grant for exactly that ask, and no other", async () => {
  const room = await askingRoom();
  const fields = { lasts: "standing", action: { kind: "file.write", input: { b: 1, a: [2] } } };
  const first = await ask(room, fields);
  const { grant_id } = await decide(room.owner, first.id, "allow");
  expect(grant_id).toMatch(/^grt_/);
  // The same in canonical JSON is the same ask.
  const same = await ask(room, { action: { kind: "file.write", input: { a: [2], b: 1 } } });
  expect(same).toMatchObject({ state: "allowed", via: "grant", grant_id });
  const others = [
    { action: { kind: "file.write", input: { a: [2], b: 2 } } },
    { action: { kind: "file.write", input: { a: [2], b: 1, c: null } } },
    { action: { kind: "file.write2", input: { a: [2], b: 1 } } },
    { action: { ...fields.action, external: true } },
    { action: fields.action, risk: ["privacy"] },
  ];
  for (const more of others) expect((await ask(room, more)).state).toBe("pending");
  const otter = { ...room, run: await runOf(room, "Otter") };
  expect((await ask(otter, fields)).state).toBe("pending");
  const grants = (await get(room.bob, "/v1/grants")).items;
  expect(grants).toHaveLength(1);
  expect(grants[0]).toMatchObject({
    grant_id,
    agent_id: room.ids.Scout,
    by: room.owner.id,
    action: fields.action,
  });
  expect(Date.parse(grants[0].expires_at) - Date.parse(grants[0].at)).toBe(90 * DAY * 1000);
  const made = (await events(room.bob)).find((e) => e.type === "grant.made");
  expect(made).toMatchObject({ grant_id, approval_id: first.id });
});

test("APR-7 an edited yes grants what was allowed, a no and a yes once grant nothing", async () => {
  const room = await askingRoom();
  const standing = { lasts: "standing", editable: true };
  await decide(room.owner, (await ask(room, standing)).id, "deny");
  await decide(room.owner, (await ask(room)).id, "allow");
  expect((await ask(room)).state).toBe("pending");
  const input = { path: "drafts.md" };
  await decide(room.owner, (await ask(room, standing)).id, "allow", { input });
  expect((await ask(room)).state).toBe("pending");
  expect((await ask(room, { action: { kind: "file.write", input } })).via).toBe("grant");
});

test("APR-7 policy's deny goes before a grant, a grant before the rest of the policy", async () => {
  const room = await askingRoom();
  const { grant_id } = await decide(room.owner, (await ask(room, { lasts: "standing" })).id, "allow");
  await setPolicy(room, [{ id: "ask", when: { action: ["file.*"] }, then: "ask" }]);
  expect(await ask(room)).toMatchObject({ state: "allowed", via: "grant", grant_id });
  await setPolicy(room, [{ id: "no", when: { action: ["file.*"] }, then: "deny" }]);
  expect(await ask(room)).toMatchObject({ state: "denied", via: "policy", rule: "no" });
});

test("APR-7 no grant is made where money is at stake, and the card says so", async () => {
  const room = await askingRoom();
  for (const more of [
    { action: { kind: "tea.buy", money_usd: 3 } },
    { action: { kind: "payment.send" } },
    { risk: ["financial"] },
  ]) {
    const { id } = await ask(room, { lasts: "standing", ...more });
    expect((await read(room.bob, id)).request.lasts).toBe("once");
    expect(await decide(room.owner, id, "allow")).not.toHaveProperty("grant_id");
    expect((await ask(room, more)).state).toBe("pending");
  }
  expect((await get(room.owner, "/v1/grants")).items).toEqual([]);
});

test("APR-7 a grant is taken back by who gave it, an owner or an admin, and ends by itself", async () => {
  const room = await askingRoom();
  const outsider = await newPerson(room.owner, "Out");
  const give = async (by: Party) =>
    (await decide(by, (await ask(room, { lasts: "standing", approvers: [by.id] })).id, "allow")).grant_id;
  const grant_id = await give(room.bob);
  const cleo = await newPerson(room.owner, "Cleo");
  await send(room.owner, "member.add", { space_id: room.space, participant_id: cleo.id });
  expect((await refused(cleo, "grant.revoke", { grant_id })).code).toBe("forbidden");
  expect((await refused(outsider, "grant.revoke", { grant_id })).code).toBe("not_found");
  expect((await refused(room.harness, "grant.revoke", { grant_id })).code).toBe("forbidden");
  expect((await get(outsider, "/v1/grants")).items).toEqual([]);
  await send(room.bob, "grant.revoke", { grant_id });
  expect((await refused(room.bob, "grant.revoke", { grant_id })).code).toBe("conflict");
  expect((await get(room.bob, "/v1/grants")).items).toEqual([]);
  const second = await give(room.bob);
  expect(second).not.toBe(grant_id);
  await send(room.owner, "grant.revoke", { grant_id: second });
  await give(room.bob);
  await pass(room.workspace, 90 * DAY + 1);
  const later = { ...room, run: await runOf(room, "Scout") };
  expect((await ask(later)).state).toBe("pending");
  // Bob's session is over by now.
  expect((await get(room.owner, "/v1/grants")).items).toEqual([]);
});

/** One of each: asked, routed, edited, decided, expired, cancelled, granted, revoked, the policy changed. */
async function eventful(): Promise<Asking> {
  const room = await askingRoom();
  await setPolicy(room, [{ id: "no", when: { action: ["shell.*"] }, then: "deny" }]);
  await ask(room, { action: { kind: "shell.run" } });
  const routed = await ask(room, { editable: true, preview: { format: "plain", body: "Write it" } });
  await send(room.owner, "approval.route", { approval_id: routed.id, to: room.bob.id });
  await decide(room.bob, routed.id, "allow", { input: { path: "b.md" } });
  const { grant_id } = await decide(room.owner, (await ask(room, { lasts: "standing" })).id, "allow");
  await ask(room);
  await send(room.owner, "grant.revoke", { grant_id });
  await ask(room, { expires_in: 30 });
  await pass(room.workspace, 31);
  const { id } = await ask(room);
  await send(room.harness, "approval.cancel", { approval_id: id });
  return room;
}

test("APR-8 every step is in the audit: who, when, what they saw, chained by hashes", async () => {
  const room = await eventful();
  const { items } = await get(room.owner, "/v1/audit?limit=200");
  expect(items.map((i: Any) => i.n)).toEqual(items.map((_: Any, i: number) => i + 1));
  const kinds = new Map<string, Any>(items.map((i: Any) => [i.type, i]));
  expect([...kinds.keys()].toSorted()).toEqual([
    "approval.cancelled",
    "approval.decided",
    "approval.expired",
    "approval.requested",
    "approval.routed",
    "grant.made",
    "grant.revoked",
    "policy.changed",
  ]);
  expect(kinds.get("policy.changed")).toMatchObject({ by: room.owner.id, subject: "policy 1" });
  expect(kinds.get("approval.expired")).toMatchObject({ by: "system", detail: { decision: "deny" } });
  const routed = kinds.get("approval.routed");
  const mine = items.filter((i: Any) => i.subject === routed.subject);
  expect(mine.map((i: Any) => i.by)).toEqual([room.ids.Scout, room.owner.id, room.bob.id]);
  expect(new Set(mine.map((i: Any) => i.saw)).size).toBe(1);
  expect(mine[0].saw).toMatch(/^[0-9a-f]{64}$/);
  // Whoever has the list can check it without the server.
  const { createHash } = await import("node:crypto");
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  expect(verifyChain(items, sha256).ok).toBe(true);
  expect(await get(room.owner, "/v1/audit/verify")).toEqual({ ok: true, checked: items.length });
  const page = await get(room.owner, "/v1/audit?limit=3");
  expect(page.items).toEqual(items.slice(0, 3));
  expect((await get(room.owner, `/v1/audit?limit=3&cursor=${page.next}`)).items).toEqual(items.slice(3, 6));
  for (const by of [room.bob, room.harness])
    for (const path of ["/v1/audit", "/v1/audit/verify"])
      expect((await call("GET", path, { token: by.token })).status).toBe(403);
});

test("APR-8 a changed, missing or cut-off record is named by verify", async () => {
  const room = await eventful();
  const { checked } = await get(room.owner, "/v1/audit/verify");
  const harm = (query: string) =>
    runInDurableObject(roomStub(room.workspace), (_room: unknown, ctx: DurableObjectState) => {
      ctx.storage.sql.exec(query);
    });
  const fault = async () => (await get(room.owner, "/v1/audit/verify")).first_fault;
  await harm("CREATE TABLE kept AS SELECT * FROM audit");
  const mend = () => harm("DELETE FROM audit; INSERT INTO audit SELECT * FROM kept");
  const harms: [string, number][] = [
    ["UPDATE audit SET by = 'usr_somebody' WHERE n = 4", 4],
    ["UPDATE audit SET detail = '{' WHERE n = 5", 5],
    ["UPDATE audit SET at = at + 1 WHERE n = 1", 1],
    ["UPDATE audit SET at = 9e15 WHERE n = 2", 2],
    ["UPDATE audit SET saw = NULL WHERE n = 3", 3],
    ["DELETE FROM audit WHERE n = 6", 6],
    [`DELETE FROM audit WHERE n = ${checked}`, checked],
    ["DELETE FROM audit", 1],
  ];
  for (const [query, n] of harms) {
    await harm(query);
    expect([query, await fault()]).toEqual([query, n]);
    await mend();
    expect(await fault()).toBeUndefined();
  }
});
