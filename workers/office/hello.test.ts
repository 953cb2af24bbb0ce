/** An agent's first frame: who is let in, who is turned away, and how much is kept meanwhile (OFF-2, OFF-5). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CLOSE } from "../../src/shared/wire/agent/frame.ts";
import { type Any, newId } from "../testing/client.ts";
import {
  type Agent,
  anOffice,
  aToken,
  connected,
  eventually,
  fakeCalls,
  helloOf,
  opened,
  queue,
  take,
  until,
} from "../testing/office.ts";
import { CALLS } from "./calls.ts";
import { Office } from "./office.ts";

beforeEach(() => fakeCalls());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const hello = (desk: Any, more: object) => ({ id: "1", type: "hello", payload: helloOf(desk, more) });

describe("hello", () => {
  test("OFF-5: a right hello is welcomed with the team's config, defaults filled in, and what to resume", async () => {
    const agent = await connected(await anOffice());
    const welcome = agent.frames[0];
    expect(welcome.payload).toMatchObject({ protocolVersion: 3, heartbeatMs: 30_000, resume: [] });
    expect(welcome.payload.team.pipeline.max_wait_hours).toBe(4);
  });

  test("OFF-5: resume names active items only", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await queue(desk, "B");
    const again = await connected(desk);
    expect(again.frames[0].payload.resume).toEqual([id]);
  });

  const refusals: [string, (desk: Any) => unknown, string, number][] = [
    ["another frame", () => ({ id: "1", type: "ping", payload: {} }), "unauthenticated", 4401],
    ["no JSON", () => "hello", "unauthenticated", 4401],
    ["a frame over 1 MiB", () => `"${"x".repeat(1_048_576)}"`, "unauthenticated", 4401],
    ["a bad token", (d) => hello(d, { token: "nonsense" }), "auth_failed", 4401],
    ["a token nobody has", (d) => hello(d, { token: aToken(d.workspace, "") }), "auth_failed", 4401],
    ["a teammate's token", (d) => hello(d, { token: aToken(d.workspace, "bob") }), "auth_failed", 4401],
    [
      "a token of another workspace",
      (d) => hello(d, { token: aToken(newId("ws"), "scout") }),
      "auth_failed",
      4401,
    ],
    ["another person's name", (d) => hello(d, { person: "bob" }), "auth_failed", 4401],
    ["version 2", (d) => hello(d, { protocolVersion: 2 }), "version_mismatch", 4426],
    ["a payload that is none", () => ({ id: "1", type: "hello", payload: {} }), "invalid_message", 4401],
  ];
  test.each(refusals)("OFF-2: %s first", async (_what, frame, code, close) => {
    const desk = await anOffice();
    const agent = await opened(desk);
    const said = frame(desk);
    agent.ws.send(typeof said === "string" ? said : JSON.stringify(said));
    expect((await agent.next((f) => f.type === "error")).payload.code).toBe(code);
    expect((await agent.closed).code).toBe(close);
  });

  test("OFF-2: no hello within 10 seconds", async () => {
    const agent = await opened(await anOffice());
    expect((await agent.closed).code).toBe(4401);
    expect(agent.frames[0].payload.code).toBe("unauthenticated");
  });

  test("OFF-2: a second hello is invalid, and the connection stays", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    expect((await agent.ask("hello", helloOf(desk))).payload.code).toBe("invalid");
    expect((await agent.ask("ping")).type).toBe("pong");
  });

  test("OFF-1: what is sent without waiting for the welcome is taken after it, in order", async () => {
    const desk = await anOffice();
    const agent = await opened(desk);
    agent.say("hello", helloOf(desk));
    const [a, b] = [agent.say("ping"), agent.say("heartbeat")];
    await agent.next((f) => f.replyTo === b);
    expect(agent.frames.map((f) => f.type)).toEqual(["welcome", "pong", "ack"]);
    expect(agent.frames[1].replyTo).toBe(a);
  });

  test("OFF-4: the token cannot be checked now: failed, and hello may be said again", async () => {
    const desk = await anOffice();
    const agent = await opened(desk);
    vi.mocked(CALLS.identify).mockRejectedValueOnce(new Error("out of reach"));
    expect((await agent.ask("hello", helloOf(desk))).payload.code).toBe("failed");
    expect((await agent.ask("hello", helloOf(desk))).type).toBe("welcome");
  });
});

/** Checks of tokens wait until the gate is opened. */
function slowChecks(): { asked: number; open: boolean } {
  const gate = { asked: 0, open: false };
  const at = vi.mocked(CALLS.identify).getMockImplementation();
  vi.mocked(CALLS.identify).mockImplementation(async (...args) => {
    gate.asked += 1;
    await until(() => gate.open);
    if (!at) throw new Error("nobody answers");
    return at(...args);
  });
  return gate;
}
const asked = (gate: { asked: number }, times: number) => eventually(() => expect(gate.asked).toBe(times));

describe("too many", () => {
  test("OFF-2: of more than 20 that said nothing the oldest makes room, and may come again", async () => {
    const desk = await anOffice();
    const sockets: Agent[] = [];
    for (let n = 0; n < 21; n++) sockets.push(await opened(desk));
    expect((await sockets[0]!.closed).code).toBe(CLOSE.crowded);
    expect(sockets[0]!.frames).toEqual([]);
    expect((await sockets[1]!.ask("hello", helloOf(desk))).type).toBe("welcome");
  });

  test("OFF-2: whose hello is being checked is not crowded out, whoever opens how many", async () => {
    const desk = await anOffice();
    const gate = slowChecks();
    const agent = await opened(desk);
    const id = agent.say("hello", helloOf(desk));
    await asked(gate, 1);
    const strangers: Agent[] = [];
    for (let n = 0; n < 40; n++) strangers.push(await opened(desk));
    for (const one of strangers.slice(0, 21)) expect((await one.closed).code).toBe(CLOSE.crowded);
    gate.open = true;
    expect((await agent.next((f) => f.replyTo === id)).type).toBe("welcome");
    expect((await strangers.at(-1)!.ask("hello", helloOf(desk))).type).toBe("welcome");
  });

  test("OFF-2: while 20 hellos are being checked, who comes is told to come again", async () => {
    const desk = await anOffice();
    const gate = slowChecks();
    const agents: Agent[] = [];
    for (let n = 0; n < 20; n++) {
      const agent = await opened(desk);
      agent.say("hello", helloOf(desk));
      agents.push(agent);
    }
    await asked(gate, 20);
    const late = await opened(desk);
    expect(await late.closed).toEqual({
      code: CLOSE.crowded,
      reason: "too many connections without hello: try again",
    });
    gate.open = true;
    await Promise.all(agents.map((agent) => agent.next((f) => f.type === "welcome")));
    expect((await connected(desk)).frames[0].type).toBe("welcome");
  });

  test("OFF-2: a hello that came in time is not late, however long its check takes", async () => {
    const desk = await anOffice();
    const gate = slowChecks();
    const [agent, silent] = [await opened(desk), await opened(desk)];
    const id = agent.say("hello", helloOf(desk));
    await asked(gate, 1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_001 });
    await opened(desk);
    expect((await silent.closed).code).toBe(CLOSE.auth_failed);
    gate.open = true;
    expect((await agent.next((f) => f.replyTo === id)).type).toBe("welcome");
  });

  test("OFF-2: a token that could not be checked has another 10 seconds", async () => {
    const desk = await anOffice();
    const agent = await opened(desk);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 9000 });
    vi.mocked(CALLS.identify).mockRejectedValueOnce(new Error("out of reach"));
    expect((await agent.ask("hello", helloOf(desk))).payload.code).toBe("failed");
    vi.setSystemTime(Date.now() + 9000);
    await opened(desk);
    expect((await agent.ask("hello", helloOf(desk))).type).toBe("welcome");
  });
});

/** Waits until the office has heard so many frames. */
function hearing(): (count: number) => Promise<void> {
  const heard = vi.spyOn(Office.prototype, "webSocketMessage");
  return (count) => eventually(() => expect(heard.mock.calls.length).toBe(count));
}
const big = (size: number) => ({ workItemId: "x".repeat(size) });

describe("before the welcome", () => {
  test("OFF-2: as much as is kept is taken after it", async () => {
    const desk = await anOffice();
    const [gate, heard] = [slowChecks(), hearing()];
    const agent = await opened(desk);
    agent.say("hello", helloOf(desk));
    await asked(gate, 1);
    const pings = Array.from({ length: 100 }, () => agent.say("ping"));
    await heard(101);
    gate.open = true;
    await agent.next((f) => f.replyTo === pings.at(-1));
    expect(agent.frames.map((f) => f.type)).toEqual(["welcome", ...pings.map(() => "pong")]);
  });

  test.each([
    ["frames", Array.from({ length: 101 }, () => ({}))],
    ["bytes", [big(600_000), big(600_000)]],
  ])("OFF-2: too many %s: told so, closed with 1008, and nobody is replaced", async (_what, payloads) => {
    const desk = await anOffice();
    const old = await connected(desk);
    const [gate, heard] = [slowChecks(), hearing()];
    const agent = await opened(desk);
    const id = agent.say("hello", helloOf(desk));
    for (const payload of payloads) agent.say("heartbeat", payload);
    await heard(payloads.length + 1);
    gate.open = true;
    expect(await agent.closed).toEqual({ code: CLOSE.hasty, reason: "too much before the welcome" });
    expect(agent.frames).toMatchObject([{ type: "error", replyTo: id, payload: { code: "failed" } }]);
    expect((await old.ask("ping")).type).toBe("pong");
  });

  test("OFF-2 AUTH-4: whose token is bad is told that alone, however much they sent", async () => {
    const desk = await anOffice();
    const [gate, heard] = [slowChecks(), hearing()];
    const agent = await opened(desk);
    agent.say("hello", helloOf(desk, { token: aToken(desk.workspace, "") }));
    for (let n = 0; n < 200; n++) agent.say("ping");
    await heard(201);
    gate.open = true;
    expect((await agent.closed).code).toBe(CLOSE.auth_failed);
    expect(agent.frames.map((f) => f.payload.code)).toEqual(["auth_failed"]);
  });
});
