/** Sockets that follow a stream (STREAM-2). */
import { beforeEach, describe, expect, test } from "vitest";
import {
  type Agent,
  ANNA,
  anOffice,
  connected,
  type Desk,
  eventually,
  fakeCalls,
  queue,
  seen,
} from "../../testing/office.ts";
import {
  agentOf,
  anItem,
  append,
  aStreamed,
  BEN,
  eventsOf,
  follow,
  refusal,
  upgrade,
} from "../../testing/streams.ts";
import { evicted, later } from "../../testing/time.ts";
import { MAX_FOLLOWERS } from "./live.ts";

beforeEach(() => fakeCalls());

const quiet = (content: string) =>
  anItem({ content, llmRequestPolicy: { behaviour: "dont-trigger-request" } });
const many = (count: number) => Array.from({ length: count }, (_, i) => quiet(`${i}`));
const offsets = (socket: Agent) => socket.frames.filter((f) => f.type === "event").map((f) => f.event.offset);
const has = (socket: Agent, content: string) =>
  socket.next((f) => f.type === "event" && f.event.payload.content === content);
const caughtUp = (socket: Agent) => socket.next((f) => f.type === "caught_up");
const synced = (socket: Agent, n: number) => socket.ws.send(JSON.stringify({ type: "synced", n }));

/** Answers every sync at once, as a reader that keeps up does. */
function keepUp(socket: Agent): void {
  socket.ws.addEventListener("message", ({ data }) => {
    const { type, n } = JSON.parse(String(data));
    if (type === "sync") synced(socket, n);
  });
}

const ended = async (desk: Desk, end: () => Promise<unknown>, sockets: Agent[]) => {
  await Promise.all(sockets.map(caughtUp));
  await evicted(desk);
  await end();
  return Promise.all(sockets.map(async ({ closed }) => (await closed).code));
};
const code = async (response: Response) => (await response.json<{ code: string }>()).code;

describe("following", () => {
  test("STREAM-2: what is stored is replayed, then it has caught up, then what comes follows", async () => {
    const desk = await anOffice();
    await append(desk, ANNA, [quiet("a"), quiet("b"), { ...quiet("c"), idempotencyKey: "k" }]);
    const socket = await follow(desk, BEN, 1);
    expect(await caughtUp(socket)).toEqual({ type: "caught_up", offset: 3 });
    await append(desk, ANNA, [quiet("d")]);
    await has(socket, "d");
    expect(socket.frames.map((f) => f.type)).toEqual(["event", "event", "caught_up", "event"]);
    expect(socket.frames.filter((f) => f.type === "event").map((f) => f.event)).toEqual(
      await eventsOf(desk, 1),
    );
  });

  test("STREAM-2: of a stream without events, and from a place that it does not have yet", async () => {
    const desk = await anOffice();
    const item = await queue(desk, "Work");
    const [own, of, ahead] = [
      await follow(desk, BEN),
      await follow(desk, BEN, 0, item),
      await follow(desk, BEN, 1000),
    ];
    for (const socket of [own, of, ahead])
      expect(await caughtUp(socket)).toEqual({ type: "caught_up", offset: 0 });
    await append(desk, ANNA, [quiet("of the item")], item);
    await append(desk, ANNA, [quiet("of the person")]);
    await Promise.all([has(own, "of the person"), has(ahead, "of the person"), has(of, "of the item")]);
    expect([offsets(own), offsets(of), offsets(ahead)]).toEqual([[1], [1], [1]]);
    expect(of.frames.some((f) => f.event?.payload.content === "of the person")).toBe(false);
  });

  test("STREAM-2: it outlives the object's memory, and nothing comes twice or is left out", async () => {
    const desk = await aStreamed();
    const socket = await follow(desk, agentOf(desk));
    await caughtUp(socket);
    for (let i = 0; i < 4; i++) {
      await evicted(desk);
      await append(desk, ANNA, [quiet(`${i}`), quiet(`${i}, too`)]);
    }
    await evicted(desk);
    await append(desk, ANNA, [anItem({ content: "a question" })]);
    await later(desk, 300);
    await socket.next((f) => f.event?.type === "llm-request-requested");
    expect(offsets(socket)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("STREAM-2: what was refused is not sent", async () => {
    const desk = await anOffice();
    const socket = await follow(desk, BEN);
    await caughtUp(socket);
    await refusal(desk, BEN, [quiet("no"), anItem({ role: "system", content: "no" })]);
    await append(desk, ANNA, [quiet("yes")]);
    await has(socket, "yes");
    expect(offsets(socket)).toEqual([1]);
  });

  test("STREAM-2: it is another socket than the agent's: neither counts as the other", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const followers = await Promise.all(Array.from({ length: 25 }, () => follow(desk, BEN)));
    await Promise.all(followers.map(caughtUp));
    await evicted(desk);
    expect((await agent.ask("ping")).type).toBe("pong");
    followers[0]?.ws.close(1000, "done");
    await followers[0]?.closed;
    await append(desk, ANNA, [quiet("a")]);
    await Promise.all(followers.slice(1).map((socket) => has(socket, "a")));
    expect((await seen(desk)).connected).toBe(true);
    expect((await agent.ask("ping")).type).toBe("pong");
    // Nor does the agent's own socket carry what streams do.
    expect(agent.frames.some((f) => JSON.stringify(f).includes("context-item"))).toBe(false);
    agent.ws.close(1000, "done");
    await eventually(async () => expect((await seen(desk)).connected).toBe(false));
    await append(desk, ANNA, [quiet("b")]);
    await Promise.all(followers.slice(1).map((socket) => has(socket, "b")));
  });
});

describe("flow", () => {
  test("STREAM-2: with four unanswered syncs nothing more is sent, after the answer the rest comes", async () => {
    const desk = await anOffice();
    for (let i = 0; i < 6; i++) await append(desk, ANNA, many(1000));
    const socket = await follow(desk, BEN);
    await socket.next((f) => f.type === "sync" && f.n === 4);
    expect(offsets(socket)).toHaveLength(4000);
    await evicted(desk);
    await append(desk, ANNA, [quiet("meanwhile")]);
    expect(offsets(socket)).toHaveLength(4000);
    synced(socket, 2);
    await socket.next((f) => f.type === "sync" && f.n === 6);
    expect(offsets(socket)).toHaveLength(6000);
    synced(socket, 6);
    await caughtUp(socket);
    expect(offsets(socket)).toEqual(Array.from({ length: 6001 }, (_, i) => i + 1));
  });

  test("STREAM-2: an answer to what was never asked changes nothing", async () => {
    const desk = await anOffice();
    for (let i = 0; i < 5; i++) await append(desk, ANNA, many(1000));
    const socket = await follow(desk, BEN);
    await socket.next((f) => f.type === "sync" && f.n === 4);
    for (const n of [9, 0, -1]) synced(socket, n);
    synced(socket, 1);
    await caughtUp(socket);
    // Answered before: four are still open.
    synced(socket, 1);
    await append(desk, ANNA, [quiet("more")]);
    expect(offsets(socket)).toHaveLength(5000);
    synced(socket, 5);
    await has(socket, "more");
    expect(offsets(socket)).toHaveLength(5001);
  });

  test("STREAM-2: a slow reader is closed with 4408, slows nobody, and catches up when it comes again", async () => {
    const desk = await anOffice();
    for (let i = 0; i < 5; i++) await append(desk, ANNA, many(1000));
    const slow = await follow(desk, BEN);
    const quick = await follow(desk, BEN);
    keepUp(quick);
    await Promise.all([slow.next((f) => f.n === 4), caughtUp(quick)]);
    await append(desk, ANNA, [quiet("live")]);
    await has(quick, "live");
    await evicted(desk);
    await later(desk, 31_000);
    expect(await slow.closed).toMatchObject({ code: 4408 });
    const last = offsets(slow).at(-1);
    expect(last).toBe(4000);
    const again = await follow(desk, BEN, last);
    keepUp(again);
    expect(await caughtUp(again)).toEqual({ type: "caught_up", offset: 5001 });
    expect(offsets(again)).toEqual(Array.from({ length: 1001 }, (_, i) => 4001 + i));
    await append(desk, ANNA, [quiet("still there")]);
    await has(quick, "still there");
  });

  test("STREAM-2: large events are counted by their bytes", async () => {
    const desk = await anOffice();
    for (let i = 0; i < 20; i++) await append(desk, ANNA, [quiet("x".repeat(250_000))]);
    const socket = await follow(desk, BEN);
    await socket.next((f) => f.n === 4);
    const sent = offsets(socket).length;
    expect(sent).toBeLessThanOrEqual(20);
    expect(sent).toBeGreaterThanOrEqual(16);
  });
});

describe("the end", () => {
  test("AUTH-3: a token that ends closes its sockets, and no others", async () => {
    const desk = await anOffice();
    const other = { ...BEN, tokenId: ANNA.tokenId };
    const [gone, stays] = [await follow(desk, BEN), await follow(desk, other)];
    const end = () => desk.letter("token_revoked", { tokenId: BEN.tokenId });
    expect(await ended(desk, end, [gone])).toEqual([4401]);
    await append(desk, ANNA, [quiet("a")]);
    await has(stays, "a");
  });

  test("STREAM-2: who left the workspace or became a guest, and an agent that left the team, follow no more", async () => {
    const desk = await anOffice();
    const anna = await follow(desk, ANNA);
    const gone = () => desk.letter("follower_gone", { participantId: BEN.participantId });
    expect(await ended(desk, gone, [await follow(desk, BEN)])).toEqual([4403]);
    const agent = await follow(desk, agentOf(desk));
    expect(await ended(desk, () => desk.letter("removed", { by: "Anna" }), [agent])).toEqual([4403]);
    await append(desk, ANNA, [quiet("a")]);
    await has(anna, "a");
  });

  test("STREAM-2: whoever says anything but synced is closed with 4400", async () => {
    const desk = await anOffice();
    for (const said of [
      "hello",
      "{}",
      "[]",
      "null",
      '{"type":"synced"}',
      '{"type":"synced","n":"1"}',
      "x".repeat(2000),
    ]) {
      const socket = await follow(desk, BEN);
      socket.ws.send(said);
      expect(await socket.closed).toMatchObject({ code: 4400 });
    }
    const socket = await follow(desk, BEN);
    socket.ws.send(new Uint8Array([1, 2, 3]));
    expect(await socket.closed).toMatchObject({ code: 4400 });
  });

  test("STREAM-2: nobody follows who may not read, nor what is not there, nor more than so many at once", async () => {
    const desk = await anOffice();
    expect(await code(await upgrade(desk, { ...BEN, role: "guest" }))).toBe("forbidden");
    expect(await code(await upgrade(desk, { ...agentOf(desk), handle: "bob" }))).toBe("not_found");
    expect(await code(await upgrade(desk, BEN, 0, "itm_01K4ZQPX000000000000000001"))).toBe("not_found");
    const sockets = await Promise.all(Array.from({ length: MAX_FOLLOWERS }, () => follow(desk, BEN)));
    expect(await code(await upgrade(desk, BEN))).toBe("rate_limited");
    sockets[0]?.ws.close(1000, "done");
    await sockets[0]?.closed;
    await eventually(async () => expect((await upgrade(desk, BEN)).status).toBe(101));
  });
});
