/** The agent's connection: who is let in, what is answered, and what ends it (OFF-1 to OFF-7). */
import { beforeAll, describe, expect, test } from "vitest";
import { type Any } from "../testing/client.ts";
import { anOffice, connected, fakeCalls, helloOf, opened } from "../testing/office.ts";

beforeAll(() => fakeCalls());

const hello = (desk: Any, more: object) => ({ id: "1", type: "hello", payload: helloOf(desk, more) });

describe("hello", () => {
  test("OFF-5: a right hello is welcomed with the team's config, defaults filled in, and what to resume", async () => {
    const agent = await connected(await anOffice());
    const welcome = agent.frames[0];
    expect(welcome.payload).toMatchObject({ protocolVersion: 3, heartbeatMs: 30_000, resume: [] });
    expect(welcome.payload.team.pipeline.max_wait_hours).toBe(4);
  });

  const refusals: [string, (desk: Any) => unknown, string, number][] = [
    ["another frame", () => ({ id: "1", type: "ping", payload: {} }), "unauthenticated", 4401],
    ["no JSON", () => "hello", "unauthenticated", 4401],
    ["a bad token", (d) => hello(d, { token: "nonsense" }), "auth_failed", 4401],
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
});

test("OFF-6: a ping is answered pong, a heartbeat ack", async () => {
  const agent = await connected(await anOffice());
  expect((await agent.ask("ping")).type).toBe("pong");
  expect((await agent.ask("heartbeat")).type).toBe("ack");
});
