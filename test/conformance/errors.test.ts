/** Errors and limits: one form, the right status, nothing cut silently (ERR, LIMIT). */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ERROR_STATUS } from "../../src/shared/wire/errors.ts";
import {
  type Any,
  call,
  connect,
  eventsOf,
  get,
  headOf,
  newAgents,
  newFastWorkspace,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  post,
  refused,
  say,
  secretOf,
  send,
  verb,
} from "./kit.ts";

test("ERR-1 ERR-2 each code has its status, over HTTP and on the socket the same object", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const said = await say(owner, space, "x");
  await send(owner, "message.delete", { message_id: said.message_id });
  const cases: [keyof typeof ERROR_STATUS, Any, Any][] = [
    ["malformed", owner, { ...verb(""), type: null }],
    ["invalid", owner, verb("message.post", { space_id: space, text: 7 })],
    ["unknown_type", owner, verb("no.such.type")],
    ["run_required", team, verb("run.step", { text: "x" })],
    ["unknown_run", team, verb("run.step", { text: "x", run_id: newId("run") })],
    ["forbidden", team, verb("space.create", { title: "Mine" })],
    ["not_found", owner, verb("message.post", { space_id: newId("spc"), text: "x" })],
    ["conflict", owner, verb("member.add", { space_id: space, participant_id: owner.id })],
    ["gone", owner, verb("message.edit", { message_id: said.message_id, text: "y" })],
    ["too_large", owner, verb("message.post", { space_id: space, text: "x".repeat(70_000) })],
  ];
  const sockets = new Map([
    [owner, await connect(owner)],
    [team, await connect(team)],
  ]);
  for (const [code, by, frame] of cases) {
    const { status, body } = await post(by, "/v1/events", frame);
    expect([code, status, body.code]).toEqual([code, ERROR_STATUS[code], code]);
    expect(body).toMatchObject({ type: "error", of: frame.id, retryable: false });
    expect(await sockets.get(by)?.ask(frame)).toEqual(body);
  }
});

test("ERR-2 what is no JSON, no route, no socket has its own code, with a sentence", async () => {
  const { owner } = await newWorkspace();
  const { token } = owner;
  const codes: [string, number, string][] = [];
  const take = ({ status, body }: { status: number; body: Any }) =>
    codes.push([body.code, status, typeof body.message]);
  take(await call("POST", "/v1/events", { token, raw: "{" }));
  take(await call("POST", "/v1/events", { token }));
  take(await call("POST", "/v1/events", { token, raw: new Uint8Array([0x22, 0xff, 0xfe, 0x22]) }));
  take(await get(owner, "/v1/no-such-route"));
  take(await call("PATCH", "/v1/spaces", { token }));
  take(await get(owner, "/v1/connect"));
  expect(codes).toEqual([
    ["malformed", 400, "string"],
    ["malformed", 400, "string"],
    ["malformed", 400, "string"],
    ["not_found", 404, "string"],
    ["not_found", 404, "string"],
    ["unsupported", 415, "string"],
  ]);
});

test("LIMIT-1 a text is 64 KiB of UTF-8: the last byte fits, one more is too_large, nothing is cut", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const fits = ["x".repeat(65_536), "é".repeat(32_768), "😀".repeat(16_384), `${"漢".repeat(21_845)}x`];
  for (const text of fits) await say(owner, space, text);
  const said = (await eventsOf(owner)).filter((e) => e.type === "message.posted");
  expect(said.map((e) => e.text)).toEqual(fits);
  const head = await headOf(owner);
  for (const text of fits) {
    const error = await refused(owner, "message.post", { space_id: space, text: `${text}x` });
    expect(error.code).toBe("too_large");
    expect(error.message).toMatch(/64 KiB/);
    const edit = await refused(owner, "message.edit", { message_id: said[0].message_id, text: `${text}x` });
    expect(edit.code).toBe("too_large");
  }
  expect(await headOf(owner)).toBe(head);
});

test("LIMIT-1 a message carries 20 attachments and says so", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const attachments = Array.from({ length: 21 }, () => ({ attachment_id: newId("att") }));
  const error = await refused(owner, "message.post", { space_id: space, text: "x", attachments });
  expect(error.code).toMatch(/^(invalid|too_large)$/);
  expect(error.message).toMatch(/\b20\b/);
});

const event = async (by: Any, type: string, fields: object) =>
  (await post(by, "/v1/events", verb(type, fields))).status;

test("LIMIT-1 a name is 80 characters, counted as people count, wherever one is given", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby");
  const invite = await post(owner, "/v1/invites", { uses: 50 });
  const join = async (display_name: string) =>
    (
      await call("POST", "/v1/invites/redeem", {
        body: { secret: secretOf(invite.body.link), display_name, idempotency_key: randomUUID() },
      })
    ).status;
  const places: Record<string, (name: string) => Promise<number>> = {
    title: (title) => event(owner, "space.create", { title }),
    rename: (title) => event(owner, "space.rename", { space_id: space, title }),
    own: (name) => event(owner, "participant.rename", { name }),
    agent: (name) => event(team, "agent.declare", { agents: [{ name, agent_id: team.agents[0] }] }),
    harness: async (name) => (await post(owner, "/v1/harnesses", { name })).status,
    person: join,
  };
  for (const [place, give] of Object.entries(places)) {
    for (const name of ["n".repeat(80), "漢".repeat(80), "😀".repeat(80)])
      expect([place, await give(name)]).toEqual([
        place,
        expect.toSatisfy((s: number) => s === 200 || s === 201),
      ]);
    for (const name of [
      "n".repeat(81),
      "😀".repeat(81),
      "",
      "   ",
      "\u0000",
      "a\u202eb",
      "a\nb\u0007",
      "\u200b",
    ])
      expect([place, name, await give(name)]).toEqual([place, name, 422]);
  }
});

test("LIMIT-1 a space has 200 members at most, by whatever door they come", async () => {
  const { owner } = await newFastWorkspace();
  const space = await newSpace(owner, "Lobby");
  const invite = await post(owner, "/v1/invites", { uses: 300, space_ids: [space] });
  const redeem = (n: number) =>
    call("POST", "/v1/invites/redeem", {
      body: { secret: secretOf(invite.body.link), display_name: `P${n}`, idempotency_key: `k${n}` },
    });
  for (let n = 1; n < 200; n += 20) {
    const some = Array.from({ length: Math.min(20, 200 - n) }, (_, i) => redeem(n + i));
    for (const { status } of await Promise.all(some)) expect(status).toBe(201);
  }
  const members = async () => (await get(owner, `/v1/spaces/${space}`)).body.members;
  expect(await members()).toBe(200);
  const late = await newPerson(owner, "Late");
  const error = await refused(owner, "member.add", { space_id: space, participant_id: late.id });
  expect(error.code).toMatch(/^(invalid|too_large)$/);
  expect(error.message).toMatch(/\b200\b/);
  const { status, body } = await redeem(200);
  expect([status, body.message]).toEqual([422, expect.stringMatching(/\b200\b/)]);
  expect(await members()).toBe(200);
});

test("LIMIT-1 a space has 50 agents at most, and a harness declares 50", async () => {
  const { owner } = await newFastWorkspace();
  const names = Array.from({ length: 50 }, (_, i) => `Agent${i}`);
  const team = await newAgents(owner, "Many", ...names);
  const over = await refused(team, "agent.declare", { agents: [{ name: "OneMore" }] });
  expect(over.code).toBe("invalid");
  expect(over.message).toMatch(/\b50\b/);
  const space = await newSpace(owner, "Lobby", team.agents);
  const extra = await newHarness(owner, "Extra");
  const error = await refused(owner, "member.add", { space_id: space, participant_id: extra.id });
  expect(error.code).toMatch(/^(invalid|too_large)$/);
  expect(error.message).toMatch(/\b50\b/);
  const bob = await newPerson(owner, "Bob");
  await send(owner, "member.add", { space_id: space, participant_id: bob.id });
});
