import { describe, expect, it } from "vitest";
import { held, setUp } from "../../test/sdk/agent-kit.ts";
import { TOKEN, WORKSPACE } from "../../test/sdk/fake-office.ts";
import { settle } from "../../test/sdk/fakes.ts";
import { AGENT_MESSAGES, ANSWERS } from "../shared/wire/agent/index.ts";
import { connectAgent } from "./agent.ts";
import { memoryStore } from "./store.ts";

describe("OFF-2: the connection", () => {
  it("goes to the person's address, and says hello before anything else", async () => {
    const { office, connect, states } = setUp({ agentVersion: "test/1" });
    const agent = connect();
    // The stand-in answers ack, which is no roster.
    await expect(agent.roster()).rejects.toMatchObject({ code: "failed" });
    expect(office.socket.url).toBe(`wss://office.example.com/v1/workspaces/${WORKSPACE}/people/ada/agent`);
    expect(office.socket.sent.slice(0, 2)).toMatchObject([
      {
        type: "hello",
        payload: { person: "ada", token: TOKEN, protocolVersion: 3, agentVersion: "test/1" },
      },
      { type: "roster", payload: {} },
    ]);
    expect((await agent.ready).heartbeatMs).toBe(30_000);
    expect(states).toEqual(["connecting", "open"]);
  });

  it.each([
    ["auth_failed", 4401],
    ["replaced", 4409],
    ["version_mismatch", 4426],
  ])("stops for good when it is refused as %s", async (code, close) => {
    const { office, connect, clock } = setUp();
    office.refuse = { code, close };
    const agent = connect();
    const asked = agent.roster().catch((error: unknown) => error);
    await clock.advance(600_000);
    expect(await agent.closed).toMatchObject({ code });
    await expect(agent.ready).rejects.toMatchObject({ code });
    expect(await asked).toMatchObject({ code });
    expect(office.sockets).toHaveLength(1);
  });

  it.each([4401, 4409, 4426])("stops for good when it is closed with %i later", async (code) => {
    const { office, connect, clock, states } = setUp();
    const agent = connect();
    await settle();
    office.socket.drop(code);
    await clock.advance(600_000);
    expect(await agent.closed).toBeInstanceOf(Error);
    expect(states.at(-1)).toBe("stopped");
    expect(office.sockets).toHaveLength(1);
  });

  it.each([0, -5, 1, 1e15])("OFF-6: an interval of %i ms floods nobody", async (heartbeatMs) => {
    const { office, connect, clock, errors } = setUp();
    office.heartbeatMs = heartbeatMs;
    connect();
    await settle();
    await clock.advance(10_000);
    expect(office.sockets).toHaveLength(1);
    expect(office.socket.of("heartbeat").length).toBeLessThanOrEqual(20);
    expect(errors).toEqual([]);
  });

  it.each([1012, 1013, 1008, 4408, 1006, 1011])("comes back after %i, with full jitter", async (code) => {
    const { office, connect, clock } = setUp();
    connect();
    await settle();
    office.socket.drop(code);
    await clock.advance(249);
    expect(office.sockets).toHaveLength(1);
    await clock.advance(1);
    expect(office.sockets).toHaveLength(2);
    office.greets = false;
    office.socket.drop(code);
    await clock.advance(499);
    expect(office.sockets).toHaveLength(2);
    await clock.advance(1);
    expect(office.sockets).toHaveLength(3);
  });

  it("tries again when nobody greets", async () => {
    const { office, connect, clock } = setUp();
    office.greets = false;
    connect();
    await clock.advance(15_250);
    expect(office.sockets.length).toBeGreaterThan(1);
  });

  it("says at once what cannot work", () => {
    const options = { url: "https://x.example", store: memoryStore(), onItem: () => undefined };
    expect(() => connectAgent({ ...options, handle: "ada", token: "nonsense" })).toThrow("no token");
    expect(() => connectAgent({ ...options, handle: "../bob", token: TOKEN })).toThrow("no handle");
  });

  it("needs a place for what must survive a crash", async () => {
    const { connect } = setUp();
    expect(await connect({ store: undefined }).closed).toMatchObject({
      message: expect.stringContaining("stateDir"),
    });
  });

  it("OFF-5: hands on the team's config, with its defaults, when it is another one", async () => {
    const teams: unknown[] = [];
    const { office, connect, clock } = setUp({ onTeam: (team) => teams.push(team) });
    office.team = { key: "BP" };
    connect();
    await settle();
    office.socket.drop();
    await clock.advance(30_000);
    office.team = { key: "AB" };
    office.socket.drop(1012);
    await clock.advance(30_000);
    expect(teams).toMatchObject([{ key: "BP", policies: { stuck_minutes: 60 } }, { key: "AB" }]);
  });
});

describe("OFF-6: signs of life", () => {
  it("beats on its own timer: for the item until its hand-back is acknowledged, and without one after", async () => {
    const { items, onItem, end } = held();
    const { office, connect, clock } = setUp({ onItem });
    connect();
    await settle();
    office.queue("itm_1");
    await settle();
    expect(items).toHaveLength(1);
    await clock.advance(21_000);
    expect(office.socket.of("heartbeat")).toMatchObject([{ payload: { workItemId: "itm_1" } }]);
    office.onFrame = (frame) => (frame.type === "handback" ? "lost" : undefined);
    end(0, "done");
    await clock.advance(21_000);
    expect(office.socket.of("heartbeat").at(-1)).toMatchObject({ payload: { workItemId: "itm_1" } });
    office.onFrame = () => undefined;
    office.socket.drop();
    await clock.advance(1000);
    await clock.advance(21_000);
    expect(office.items.get("itm_1")?.outcomes).toHaveLength(1);
    expect(office.socket.of("heartbeat").at(-1)?.payload).toEqual({});
  });

  it("answers a ping, and gives up an office that says nothing", async () => {
    const { office, connect, clock } = setUp();
    connect();
    await settle();
    office.push("ping", {}, "p1");
    await settle();
    expect(office.socket.of("pong")).toMatchObject([{ replyTo: "p1", payload: {} }]);
    office.onFrame = (frame) => (frame.type === "hello" ? undefined : "lost");
    await clock.advance(120_000);
    expect(office.sockets.length).toBeGreaterThan(1);
    expect(office.sockets[0]?.closedByClient).toBe(4000);
  });
});

describe("OFF-1: requests", () => {
  it("has a helper for every request of the protocol", () => {
    const agent = setUp().connect() as unknown as Record<string, unknown>;
    for (const type of Object.keys(ANSWERS)) {
      if (type === "hello" || type === "ping") continue;
      const name = type.replace(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
      expect([name, typeof agent[name]]).toEqual([name, "function"]);
    }
    expect(Object.keys(AGENT_MESSAGES)).toHaveLength(60);
  });

  it("answers are told apart by replyTo, and refusals have their code", async () => {
    const { office, connect } = setUp();
    const agent = connect();
    await agent.ready;
    office.onFrame = (frame) =>
      frame.type === "ticket_usage"
        ? { type: "error", payload: { code: "unsupported", message: "Not tracked." } }
        : undefined;
    const [listed, refused] = await Promise.allSettled([
      agent.workList({}),
      agent.ticketUsage({ ticket: "BP-1" }),
    ]);
    expect(listed).toMatchObject({ value: { items: [] } });
    expect(refused).toMatchObject({ reason: { code: "unsupported", message: "Not tracked." } });
  });

  it("sends again what was not answered, with the same id", async () => {
    const { office, connect, clock } = setUp();
    const agent = connect();
    await agent.ready;
    office.onFrame = (frame) => (frame.type === "work_list" ? "lost" : undefined);
    const asked = agent.workList();
    await settle();
    const [first] = office.socket.of("work_list");
    office.socket.drop();
    office.onFrame = () => undefined;
    await clock.advance(30_000);
    expect(office.socket.of("work_list")).toEqual([first]);
    expect(await asked).toEqual({ items: [] });
  });

  it("waits for no answer without end, and for none that nobody wants", async () => {
    const { office, connect, clock } = setUp();
    const agent = connect();
    await agent.ready;
    office.onFrame = (frame) => (frame.type === "current_work" ? "lost" : undefined);
    const leaving = new AbortController();
    const asked = Promise.allSettled([
      agent.currentWork({}, { timeoutMs: 5000 }),
      agent.currentWork({}, { signal: leaving.signal }),
    ]);
    leaving.abort();
    await clock.advance(5000);
    expect(await asked).toMatchObject([{ reason: { code: "timeout" } }, { reason: { code: "closed" } }]);
  });

  it("refuses here what the office could not read", async () => {
    const { connect } = setUp();
    const agent = connect();
    await agent.ready;
    await expect(agent.workStatus({ workItemIds: "itm_1" as never })).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining("workItemIds"),
    });
    await expect(agent.recall({ query: "x".repeat(1_100_000), limit: 1 })).rejects.toMatchObject({
      message: expect.stringContaining("1 MiB"),
    });
  });
});
