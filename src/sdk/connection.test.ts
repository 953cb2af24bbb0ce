import { describe, expect, test } from "vitest";
import { FakeClock, FakeServer, fakeFetch, settle } from "../../test/sdk/fakes.ts";
import { type ConnectionOptions, openConnection, type Status } from "./connection.ts";

const url = "https://rooms.example.com";

function setUp(options: Partial<ConnectionOptions> = {}) {
  const clock = new FakeClock();
  const server = new FakeServer();
  const statuses: Status[] = [];
  const frames: { type: string }[] = [];
  const open = () =>
    openConnection({
      url,
      token: "bp_x",
      clock,
      WebSocket: server.WebSocket,
      onFrame: (frame) => frames.push(frame),
      onStatus: (status) => statuses.push(status),
      ...options,
    });
  const states = () => statuses.map((status) => status.state);
  return { clock, server, statuses, states, frames, open };
}

describe("CONN-2: the greeting", () => {
  test("AUTH-1: the token comes as a subprotocol, to the socket's address", async () => {
    const { server, open } = setUp();
    open();
    expect(server.socket.url).toBe("wss://rooms.example.com/v1/connect");
    expect(server.socket.protocols).toEqual(["bullpen.v1", "bearer.bp_x"]);
  });

  test("CONN-2: hello is the first frame, and nothing is sent before the welcome", async () => {
    const { server, states, frames, open } = setUp({ hello: () => ({ after_seq: 7 }) });
    const connection = open();
    expect(connection.send("early")).toBe(false);
    await settle();
    expect(server.socket.sent).toEqual([
      { v: 1, type: "hello", id: expect.stringMatching(/^evt_/), after_seq: 7 },
    ]);
    expect(states()).toEqual(["connecting", "open"]);
    expect(frames.map((frame) => frame.type)).toEqual(["welcome", "caught_up"]);
    expect(connection.send('{"type":"x"}')).toBe(true);
  });

  test("CONN-2: a hello that is refused for good is not said again", async () => {
    const { clock, server, statuses, open } = setUp();
    server.greets = false;
    open();
    await settle();
    server.socket.push({ type: "error", code: "invalid", message: "No.", retryable: false });
    await clock.advance(120_000);
    expect(statuses.at(-1)).toMatchObject({ state: "stopped", error: { code: "invalid" } });
    expect(server.sockets).toHaveLength(1);
  });

  test("CONN-2: one that is refused in passing is, and one that nobody answers too", async () => {
    const { clock, server, open } = setUp();
    server.greets = false;
    open();
    await settle();
    server.socket.push({ type: "error", code: "unavailable", message: "Later.", retryable: true });
    await clock.advance(250);
    expect(server.sockets).toHaveLength(2);
    await clock.advance(15_000 + 500);
    expect(server.sockets).toHaveLength(3);
  });

  test("BATCH-1: an array of frames is handed on one by one, in order", async () => {
    const { server, frames, open } = setUp();
    open();
    await settle();
    server.socket.push([{ type: "a" }, { type: "b" }]);
    server.socket.emit("message", { data: "{broken" });
    server.socket.emit("message", { data: new ArrayBuffer(3) });
    server.socket.push([null, 3, { type: "c" }]);
    expect(frames.slice(2)).toEqual([{ type: "a" }, { type: "b" }, { type: "c" }]);
  });

  test("CONN-10: sync is answered at once", async () => {
    const { server, open } = setUp();
    open();
    await settle();
    server.socket.push([{ v: 1, type: "sync", n: 4 }]);
    expect(server.socket.of("synced")).toEqual([{ v: 1, type: "synced", n: 4 }]);
  });
});

describe("CONN-6: liveness", () => {
  test("CONN-6: it pings as often as the welcome says and stays while something comes", async () => {
    const { clock, server, open } = setUp();
    open();
    await clock.advance(30_000 * 5 + 10_000 * 5);
    expect(server.sockets).toHaveLength(1);
    expect(server.socket.sent.filter((frame) => frame === "ping").length).toBeGreaterThanOrEqual(4);
  });

  test("CONN-6: a ping that nothing follows ends the connection, and a new one is opened", async () => {
    const { clock, server, states, open } = setUp();
    open();
    await settle();
    server.pongs = false;
    await clock.advance(30_000 + 10_000);
    expect(server.sockets[0]?.closedByClient).toEqual({ code: 4000, reason: "no pong" });
    expect(states().at(-1)).toBe("waiting");
    await clock.advance(250);
    expect(server.sockets).toHaveLength(2);
  });
});

describe("CONN-8: after the end of a connection", () => {
  test.each([
    [4400, "malformed"],
    [4401, "unauthenticated"],
    [4403, "forbidden"],
    [4409, "conflict"],
  ])("CONN-8: %i stops it, as %s", async (code, as) => {
    const { clock, server, statuses, open } = setUp();
    open();
    await settle();
    server.socket.drop(code, "because");
    await clock.advance(120_000);
    expect(server.sockets).toHaveLength(1);
    expect(statuses.at(-1)).toMatchObject({ state: "stopped", error: { code: as } });
  });

  test.each([1000, 1005, 1006, 1011, 1012, 4408])("CONN-8: after %i it comes back", async (code) => {
    const { clock, server, statuses, open } = setUp();
    open();
    await settle();
    server.socket.drop(code, "because");
    expect(statuses.at(-1)).toEqual({ state: "waiting", code, reason: "because", retryInMs: 250 });
    await clock.advance(250);
    expect(statuses.at(-1)).toMatchObject({ state: "open" });
  });

  test("CONN-8: waits grow while it fails, are longer when told to slow down, and start anew once it held", async () => {
    const { clock, server, statuses, open } = setUp();
    const waits = () => statuses.flatMap((status) => (status.state === "waiting" ? [status.retryInMs] : []));
    open();
    for (const code of [1012, 1012, 4429]) {
      await settle();
      server.socket.drop(code);
      await clock.advance(waits().at(-1) ?? 0);
    }
    await clock.advance(10_000);
    server.socket.drop(1012);
    expect(waits()).toEqual([250, 500, 15_000, 250]);
  });

  test("AUTH-8: after an upgrade that failed /v1/me tells whether to try again", async () => {
    let status = 503;
    const { calls, fetch } = fakeFetch({
      "GET /v1/me": () =>
        Response.json({ type: "error", code: "unauthenticated", message: "No." }, { status }),
    });
    const { clock, server, states, statuses, open } = setUp({ fetch });
    server.upgrade = "refuse";
    open();
    await clock.advance(0);
    expect(calls).toEqual([{ method: "GET", url: "/v1/me", authorization: "Bearer bp_x" }]);
    expect(states().at(-1)).toBe("waiting");
    status = 401;
    await clock.advance(120_000);
    expect(statuses.at(-1)).toMatchObject({ state: "stopped", error: { code: "unauthenticated" } });
    expect(calls).toHaveLength(2);
    expect(server.sockets).toHaveLength(2);
  });

  test("AUTH-8: with nobody answering it goes on trying", async () => {
    const { fetch } = fakeFetch({});
    const { clock, server, states, open } = setUp({ fetch });
    server.upgrade = "refuse";
    open();
    await clock.advance(60_000);
    expect(server.sockets.length).toBeGreaterThan(4);
    server.upgrade = "open";
    await clock.advance(30_000);
    expect(states().at(-1)).toBe("open");
  });

  test("CONN-8: closed by its owner it stays closed", async () => {
    const { clock, server, states, open } = setUp();
    const connection = open();
    await settle();
    connection.close();
    connection.close();
    await clock.advance(120_000);
    expect(states()).toEqual(["connecting", "open", "stopped"]);
    expect(server.socket.closedByClient?.code).toBe(1000);
    expect(connection.send("x")).toBe(false);
  });
});
