/** The way of an agent's socket through the gateway, and what is said to who may not come in (OFF-2, AUTH-4). */

import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { CLOSE } from "../../src/shared/wire/agent/frame.ts";
import { type Any, call, newId, ORIGIN, type Workspace } from "../testing/client.ts";
import { Agent } from "../testing/office.ts";
import { agentToken, newTeam, tablesOf } from "../testing/team.ts";

let team: Workspace;
const tokens: { agent: string; elsewhere: string } = { agent: "", elsewhere: "" };
beforeAll(async () => {
  team = await newTeam();
  tokens.agent = await agentToken(team, "scout");
  tokens.elsewhere = await agentToken(await newTeam(), "scout");
});

const open = async (workspace: string, handle: string, address = newId("evt")): Promise<Agent> => {
  const url = `${ORIGIN}/v1/workspaces/${workspace}/people/${handle}/agent`;
  const { status, webSocket } = await exports.default.fetch(
    new Request(url, { headers: { upgrade: "websocket", "cf-connecting-ip": address } }),
  );
  if (!webSocket) throw new Error(`no socket: ${status}`);
  return new Agent(webSocket);
};
const hello = (person: string, token: string, more: object = {}) => ({
  person,
  token,
  protocolVersion: 3,
  agentVersion: "test",
  ...more,
});

/** Everything that is said to somebody, and how it ends; ids are random. */
const said = async (workspace: string, handle: string, frame: (handle: string) => unknown): Promise<Any> => {
  const agent = await open(workspace, handle);
  const given = frame(handle);
  agent.ws.send(given instanceof Uint8Array || typeof given === "string" ? given : JSON.stringify(given));
  const { code, reason } = await agent.closed;
  const frames = agent.frames.map(({ id: _id, payload, ...rest }) => ({
    ...rest,
    payload: { ...payload, message: payload.message.replaceAll(handle, "HANDLE") },
  }));
  return { code, reason, frames };
};
const frame = (payload: object, type = "hello") => ({ id: "f1", type, payload });
describe("the agent's socket", () => {
  test("OFF-2: without an upgrade it says what to do, whoever asks for whom", async () => {
    for (const path of [`${team.id}/people/scout`, `${team.id}/people/ghost`, "nonsense/people/x"]) {
      const { status, body } = await call("GET", `/v1/workspaces/${path}/agent`);
      expect([status, body.code]).toEqual([415, "unsupported"]);
      expect(body.message).toContain("WebSocket");
    }
  });

  test("OFF-2: a person's agent is welcomed by its office, by its token in the hello", async () => {
    const agent = await open(team.id, "scout");
    const welcome = await agent.ask("hello", hello("scout", tokens.agent));
    expect([welcome.type, welcome.payload.protocolVersion]).toEqual(["welcome", 3]);
    agent.ws.close(1000);
  });

  test("ITEM-3 ITEM-5: what an agent says of itself and its windows is shown with the person", async () => {
    const own = await newTeam(["scout"]);
    const agent = await open(own.id, "scout");
    await agent.must("hello", hello("scout", await agentToken(own, "scout")));
    const check = { name: "Tools", status: "fail", detail: "rg is missing", fix: "install it" };
    await agent.must("doctor_report", { checks: [check] });
    await agent.must("notes_changed", { change: "added", note: "The shop closes at six." });
    await agent.must("usage", { windows: [{ name: "five_hour", utilization: 0.25 }] });
    const person = async () => (await call("GET", "/v1/people/scout", { token: own.owner.token })).body;
    await expect.poll(async () => (await person()).usage).toEqual({ window: "five_hour", utilization: 0.25 });
    expect(await person()).toMatchObject({
      connected: true,
      doctor: { at: expect.any(String), checks: [check] },
      notes: [{ at: expect.any(String), change: "added", note: "The shop closes at six." }],
    });
    agent.ws.close(1000);
  });

  test("USE-3 QUEUE-4: a subscription paused without an end has none to show", async () => {
    const own = await newTeam(["scout"]);
    const { token } = own.owner;
    const paused = await call("POST", "/v1/subscriptions/max-1/pause", { token, body: { reason: "enough" } });
    expect(paused.body).toEqual({ subscription: "max-1", paused: true, people: ["scout"] });
    await call("POST", "/v1/people/scout/items", { token, body: { title: "Look" } });
    const person = async () => (await call("GET", "/v1/people/scout", { token })).body;
    await expect.poll(async () => (await person()).held).toEqual({ why: expect.stringContaining("enough") });
    expect((await person()).items[0].why_waiting).toMatch(/^Nothing is offered: .*enough\.$/);
    await call("POST", "/v1/subscriptions/max-1/resume", { token });
    await expect.poll(async () => (await person()).held).toBeUndefined();
  });

  const firsts: [string, (handle: string) => unknown, string, number][] = [
    ["a token that is none", (h) => frame(hello(h, "nonsense")), "auth_failed", CLOSE.auth_failed],
    [
      "a token of the workspace's owner",
      (h) => frame(hello(h, team.owner.token)),
      "auth_failed",
      CLOSE.auth_failed,
    ],
    [
      "a token of another workspace",
      (h) => frame(hello(h, tokens.elsewhere)),
      "auth_failed",
      CLOSE.auth_failed,
    ],
    ["another's handle", (_h) => frame(hello("mason", tokens.agent)), "auth_failed", CLOSE.auth_failed],
    [
      "version 2",
      (h) => frame(hello(h, "x", { protocolVersion: 2 })),
      "version_mismatch",
      CLOSE.version_mismatch,
    ],
    ["a hello with nothing in it", () => frame({}), "invalid_message", CLOSE.auth_failed],
    ["something else", () => frame({}, "roster"), "unauthenticated", CLOSE.auth_failed],
    ["no JSON", () => "{", "unauthenticated", CLOSE.auth_failed],
    ["bytes", () => new Uint8Array([1, 2]), "unauthenticated", CLOSE.auth_failed],
    ["more than 1 MiB", () => `"${"x".repeat(1_048_576)}"`, "unauthenticated", CLOSE.auth_failed],
  ];
  test.each(firsts)(
    "OFF-2 AUTH-4: %s is answered alike for who is there and who is not",
    async (_w, first, code, close) => {
      const there = await said(team.id, "scout", first);
      expect([there.code, there.frames.length, there.frames[0].payload.code]).toEqual([close, 1, code]);
      expect(await said(team.id, "ghost", first)).toEqual(there);
      expect(await said(newId("ws"), "scout", first)).toEqual(there);
      const nowhere = await said("nonsense", "scout", first);
      expect([nowhere.code, nowhere.frames[0].payload.code]).toEqual([close, code]);
    },
  );

  test("AUTH-7: bad tokens count against their address, alike for who is there and who is not", async () => {
    for (const handle of ["scout", "ghost"]) {
      const address = newId("evt");
      const fail = async () => {
        const agent = await open(team.id, handle, address);
        await agent.ask("hello", hello(handle, "nonsense"));
        await agent.closed;
      };
      for (let n = 0; n < 60; n += 10) await Promise.all(Array.from({ length: 10 }, fail));
      const answer = await call("GET", "/v1/me", { headers: { "cf-connecting-ip": address } });
      expect([handle, answer.status]).toEqual([handle, 429]);
      // Who has a good token comes in all the same.
      const agent = await open(team.id, "scout", address);
      expect((await agent.ask("hello", hello("scout", tokens.agent))).type).toBe("welcome");
      agent.ws.close(1000);
    }
  });

  // The wait is the platform's own timer, of another context than this one: it really takes so long.
  test("OFF-2: who says nothing for ten seconds is told so and turned away, there or not", async () => {
    const silent = await Promise.all([open(team.id, "scout"), open(team.id, "ghost")]);
    for (const { closed, frames } of silent) {
      expect(await closed).toEqual({ code: CLOSE.auth_failed, reason: "no hello in time" });
      expect(frames.map((f) => f.payload.code)).toEqual(["unauthenticated"]);
    }
  }, 30_000);

  test("OFF-2: nobody's office is made by asking for it", async () => {
    const workspace = newId("ws");
    await said(workspace, "scout", (h) => frame(hello(h, "x")));
    for (const stub of [env.OFFICE.getByName(`${workspace}/scout`), env.BOARD.getByName(workspace)])
      expect(await runInDurableObject(stub, (_: object, { storage }) => tablesOf(storage))).toEqual([]);
  });
});
