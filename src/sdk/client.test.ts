import { describe, expect, test } from "vitest";
import { FakeClock, FakeServer, fakeFetch, SCOUT, SPACE, settle } from "../../test/sdk/fakes.ts";
import type { Status } from "./connection.ts";
import { connectHarness, type HarnessOptions } from "./harness.ts";
import { connectPerson, type PersonOptions } from "./person.ts";

function setUp() {
  const clock = new FakeClock();
  const server = new FakeServer();
  const errors: Error[] = [];
  const statuses: Status[] = [];
  const shared = {
    url: "https://rooms.example.com",
    token: "bp_x",
    clock,
    WebSocket: server.WebSocket,
    fetch: fakeFetch({}).fetch,
    onError: (error: Error) => errors.push(error),
    onStatus: (status: Status) => statuses.push(status),
  };
  const harness = (options: Partial<HarnessOptions> = {}) =>
    connectHarness({ ...shared, onTurn: () => undefined, ...options });
  const person = (options: Partial<PersonOptions> = {}) => connectPerson({ ...shared, ...options });
  return { clock, server, errors, statuses, harness, person };
}

const post = { space_id: SPACE, text: "hello" };

describe("CONN-4: resuming", () => {
  test("CONN-4: a new connection goes on after the last seq that arrived, and nothing is handled twice", async () => {
    const { clock, server, harness } = setUp();
    const seen: unknown[] = [];
    const overheard: string[] = [];
    harness({
      onEvent: (frame) => "seq" in frame && "id" in frame && frame.type !== "receipt" && seen.push(frame.seq),
      onOverheard: (message) => overheard.push(message.text),
    });
    await settle();
    server.overhear("one");
    server.append({ type: "member.joined" });
    server.overhear("two");
    server.socket.push(server.log);
    server.socket.drop(1012);
    server.overhear("three", {}, { away: true });
    await clock.advance(250);
    expect(server.socket.of("hello")[0]?.["after_seq"]).toBe(3);
    server.socket.push(server.log);
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(overheard).toEqual(["one", "two", "three"]);
  });

  test("CONN-4: afterSeq says where to begin; without it the server's cursor does", async () => {
    const { server, harness } = setUp();
    harness({ afterSeq: 12 });
    harness();
    await settle();
    expect(server.sockets.map((socket) => socket.of("hello")[0]?.["after_seq"])).toEqual([12, undefined]);
  });

  test("QUEUE-4: who asks for the office says so on every connection, and nobody else does", async () => {
    const { clock, server, person } = setUp();
    person({ office: true });
    person();
    await settle();
    const [watching, other] = server.sockets;
    server.socket.drop(1012);
    watching?.drop(1012);
    await clock.advance(5000);
    expect(other?.of("watch")).toEqual([]);
    expect(watching?.of("watch")).toMatchObject([{ office: true }]);
    expect(server.sockets.slice(2).flatMap((socket) => socket.of("watch"))).toHaveLength(1);
  });

  test("CONN-4: a reset starts anew where the server is, also lower, and says so", async () => {
    const { clock, server, statuses, person } = setUp();
    const seen: unknown[] = [];
    const one = person({
      afterSeq: 500,
      onEvent: (frame) => frame.type === "message.new" && seen.push(frame.seq),
    });
    server.resume = "reset";
    server.seq = 20;
    await settle();
    expect(statuses.at(-1)).toMatchObject({ state: "open", welcome: { resume: "reset" } });
    expect(one.lastSeq).toBe(20);
    server.say("live");
    expect(seen).toEqual([21]);
    server.resume = "replay";
    server.socket.drop();
    await clock.advance(250);
    expect(server.socket.of("hello")[0]?.["after_seq"]).toBe(21);
  });

  test("CONN-2: agents are declared once, so that a renamed one is not made anew", async () => {
    const { clock, server, harness } = setUp();
    harness({ agents: [{ name: "Scout" }], context: { lines: 5, chars: 500 }, can: ["pause"] });
    await settle();
    server.socket.drop(1012);
    await clock.advance(250);
    const [first, second] = server.sockets.map((socket) => socket.of("hello")[0]);
    expect(first).toMatchObject({
      agents: [{ name: "Scout" }],
      context: { lines: 5, chars: 500 },
      can: ["batch", "pause"],
    });
    expect(second).not.toHaveProperty("agents");
  });
});

describe("CONN-4: acknowledging", () => {
  test("CONN-4: acks are gathered, and a message counts only once its run has started", async () => {
    const { clock, server, harness } = setUp();
    server.onWrite = (frame) => (frame.type === "run.start" ? "ignored" : undefined);
    harness();
    await clock.advance(1000);
    server.append({ type: "space.renamed" });
    server.append({ type: "space.renamed" });
    await clock.advance(1000);
    expect(server.socket.of("ack").map((ack) => ack["seq"])).toEqual([2]);
    server.say("work", { for: [SCOUT] });
    server.append({ type: "space.renamed" });
    await clock.advance(5000);
    expect(server.cursor).toBe(2);
    const start = server.socket.of("run.start")[0];
    server.socket.push({ v: 1, type: "receipt", of: start?.id, id: start?.id, seq: 5 });
    await clock.advance(1000);
    expect(server.cursor).toBe(4);
  });

  test("CONN-4: an overheard message counts once its handler has finished, also when it throws", async () => {
    const { clock, server, errors, harness } = setUp();
    const handled = Promise.withResolvers<void>();
    harness({ onOverheard: () => handled.promise });
    await settle();
    server.overhear("psst");
    await clock.advance(1000);
    expect(server.cursor).toBe(0);
    handled.reject(new Error("disk full"));
    await clock.advance(1000);
    expect(server.cursor).toBe(1);
    expect(errors.map((error) => error.message)).toEqual(["disk full"]);
  });

  test("CONN-4: a turn whose run never started is delivered to the next life", async () => {
    const { clock, server, harness } = setUp();
    const texts: string[] = [];
    server.onWrite = () => "ignored";
    const first = harness();
    await settle();
    server.say("work", { for: [SCOUT] });
    await clock.advance(1000);
    const closing = first.close({ timeoutMs: 100 });
    await clock.advance(100);
    await closing;
    server.onWrite = () => undefined;
    harness({ onTurn: (turn) => void texts.push(turn.message.text) });
    await settle();
    expect(texts).toEqual(["work"]);
  });

  test("CONN-4: a person's connection moves the shared cursor only when asked to", async () => {
    const { clock, server, person } = setUp();
    person();
    await settle();
    server.append({ type: "space.renamed" });
    await clock.advance(1000);
    expect(server.socket.of("ack")).toEqual([]);
    person({ acks: true });
    await clock.advance(1000);
    expect(server.socket.of("ack")).toMatchObject([{ seq: 1 }]);
  });
});

describe("ENV-4: writes", () => {
  test("ENV-4: a write has an id and a key, and resolves with its receipt", async () => {
    const { server, person } = setUp();
    const one = person();
    const receipt = await one.send("message.post", post);
    const [frame] = server.writes;
    expect(frame).toMatchObject({ v: 1, type: "message.post", text: "hello" });
    expect(frame?.id).toMatch(/^evt_/);
    expect(frame?.idempotency_key).toBe(frame?.id);
    expect(receipt).toMatchObject({ of: frame?.id, seq: 1 });
  });

  test("ENV-4: one whose receipt was lost goes out again with the same id and key, and is one write", async () => {
    const { clock, server, person } = setUp();
    const one = person();
    server.onWrite = () => "lost";
    const write = one.send("message.post", post);
    await settle();
    server.onWrite = () => undefined;
    server.socket.drop(1006);
    await clock.advance(250);
    await expect(write).resolves.toMatchObject({ duplicate: true, seq: 1 });
    expect(server.writes).toHaveLength(1);
    const [first, second] = server.sockets.flatMap((socket) => socket.of("message.post"));
    expect(second).toEqual(first);
  });

  test("ENV-4: writes of a space arrive in the order they were made, across breaks", async () => {
    const { clock, server, person } = setUp();
    const one = person();
    const texts = Array.from({ length: 12 }, (_, n) => `n${n}`);
    const all = Promise.all(texts.map((text) => one.send("message.post", { ...post, text })));
    let taken = 0;
    server.onWrite = () => {
      taken += 1;
      if (taken % 3 === 0) queueMicrotask(() => server.socket.drop(1012));
      return taken % 3 === 0 ? "lost" : undefined;
    };
    await clock.advance(60_000);
    await all;
    expect(server.writes.map((frame) => frame["text"])).toEqual(texts);
  });

  test("ENV-4: a caller may bring the key", async () => {
    const { server, person } = setUp();
    const one = person();
    await one.send("message.post", post, { idempotencyKey: "mine" });
    await expect(one.send("message.post", post, { idempotencyKey: "mine" })).resolves.toMatchObject({
      duplicate: true,
    });
    expect(server.writes[0]?.idempotency_key).toBe("mine");
  });

  test("CONN-1: a frame over the limit is refused here, as the server could not say which it was", async () => {
    const { server, person } = setUp();
    const one = person();
    await settle();
    const write = one.send("message.post", { ...post, text: "é".repeat(600_000) });
    await expect(write).rejects.toMatchObject({ code: "too_large" });
    expect(server.socket.of("message.post")).toEqual([]);
  });

  test("ERR-1: an error that answers no write is told, and a handler that throws breaks nothing", async () => {
    const { server, errors, person } = setUp();
    person({
      onEvent: (frame) => {
        if (frame.type === "message.new") throw new Error("mine");
      },
    });
    await settle();
    server.socket.push({ type: "error", code: "malformed", message: "Not JSON.", retryable: false });
    server.say("hello");
    expect(errors.map((error) => error.message)).toEqual(["Not JSON.", "mine"]);
  });

  test("CONN-8: when the server ends it for good, every write is refused and closed says why", async () => {
    const { server, person } = setUp();
    const one = person();
    await settle();
    server.onWrite = () => "ignored";
    const write = one.send("message.post", post);
    server.socket.drop(4401, "revoked");
    await expect(write).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(one.closed).resolves.toMatchObject({ code: "unauthenticated" });
    await expect(one.send("message.post", post)).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("SPACE-8: typing and read are said once and not kept", async () => {
    const { server, person } = setUp();
    const one = person();
    expect(one.signal("typing", { space_id: SPACE })).toBe(false);
    await settle();
    expect(one.signal("read", { space_id: SPACE, seq: 3 })).toBe(true);
    expect(server.socket.of("read")).toMatchObject([{ v: 1, space_id: SPACE, seq: 3 }]);
    expect(server.socket.of("typing")).toEqual([]);
  });
});
