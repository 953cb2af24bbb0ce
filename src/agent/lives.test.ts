import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { held, Life, setUp } from "../../test/sdk/agent-kit.ts";
import { settle } from "../../test/sdk/fakes.ts";
import type { Item } from "./item.ts";

describe("OFFER-5: items over connections and lives", () => {
  it("a lost connection does not disturb what runs", async () => {
    const { items, onItem, end } = held();
    const { office, connect, clock } = setUp({ onItem });
    await connect().ready;
    const item = office.queue("itm_1");
    await settle();
    office.socket.drop();
    await clock.advance(1000);
    expect(items[0]?.signal.aborted).toBe(false);
    end(0, "done");
    await settle();
    expect(items).toHaveLength(1);
    expect(item.outcomes).toMatchObject([{ payload: { status: "done" } }]);
  });

  it("an item whose context is lost goes back, and comes again whole on a new connection", async () => {
    const seen: Item[] = [];
    const { office, connect } = setUp({ onItem: (item) => void seen.push(item) });
    const item = office.queue("itm_1");
    item.state = "active";
    await connect().ready;
    await settle();
    await settle();
    expect(item.outcomes).toMatchObject([
      { payload: { status: "interrupted" } },
      { payload: { status: "silent" } },
    ]);
    expect(office.sockets).toHaveLength(2);
    expect(seen.map(({ offer }) => offer.interrupted)).toEqual([true]);
  });

  it("leaving hands back what runs as interrupted, and accepts nothing more", async () => {
    const { items, onItem, break: breakOff } = held();
    const { office, connect, clock } = setUp({ onItem });
    const agent = connect();
    await agent.ready;
    const item = office.queue("itm_1");
    office.queue("itm_2");
    await settle();
    const closing = agent.close();
    await settle();
    expect(items[0]?.signal.reason).toMatchObject({ code: "closed" });
    breakOff(0, new Error("aborted"));
    await clock.advance(100);
    await closing;
    expect(item.outcomes).toMatchObject([{ payload: { status: "interrupted" } }]);
    expect(items).toHaveLength(1);
    expect(await agent.closed).toBeUndefined();
    expect(office.sockets).toHaveLength(1);
  });

  it("leaving does not wait for a handler that does not listen, and takes a result that came in time", async () => {
    const first = held();
    const one = setUp({ onItem: first.onItem });
    const agent = one.connect();
    await agent.ready;
    const deaf = one.office.queue("itm_1");
    await settle();
    const closing = agent.close({ timeoutMs: 5000 });
    await one.clock.advance(5000);
    await closing;
    expect(deaf.outcomes).toMatchObject([{ payload: { status: "interrupted" } }]);
    const second = held();
    const two = setUp({ onItem: second.onItem });
    const other = two.connect();
    await other.ready;
    const quick = two.office.queue("itm_1");
    await settle();
    const leaving = other.close();
    await settle();
    second.end(0, "just in time");
    await settle();
    await leaving;
    expect(quick.outcomes).toMatchObject([{ payload: { status: "done", summary: "just in time" } }]);
  });

  it("nothing keeps the process of an agent that has left", async () => {
    const { items, onItem } = held();
    const { office, connect, clock } = setUp({ onItem });
    const agent = connect();
    await agent.ready;
    office.queue("itm_1");
    await settle();
    void agent.workList({}, { timeoutMs: 3_600_000 }).catch(() => {});
    const closing = agent.close({ timeoutMs: 1000 });
    await clock.advance(1000);
    await closing;
    expect(items).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("AGENT-2, OFF-3: who is replaced ends its handlers and leaves the items to its successor", async () => {
    const { items, onItem, end } = held();
    const { office, connect, store, clock } = setUp({ onItem });
    const agent = connect();
    await agent.ready;
    office.queue("itm_1");
    await settle();
    office.socket.drop(4409, "replaced");
    end(0, "too late");
    await clock.advance(600_000);
    expect(items[0]?.signal.reason).toMatchObject({ code: "replaced" });
    expect(JSON.parse(store.text ?? "{}")).toMatchObject({ outbox: [] });
    expect(office.sockets).toHaveLength(1);
  });

  it("OFF-8: connections that drop at any frame lose nothing and double nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12), { maxLength: 6 }), async (cuts) => {
        const { office, room, clock, connect, errors } = setUp({
          async onItem(item) {
            await item.journal(`line of ${item.id}`);
            return `did ${item.id}`;
          },
        });
        const left = [...cuts];
        let frames = 0;
        office.onFrame = () => {
          if (left.length === 0 || frames++ < (left[0] ?? 0)) return undefined;
          left.shift();
          frames = 0;
          // What was sent arrives or not; the answer does not.
          const socket = office.socket;
          queueMicrotask(() => socket.drop());
          return cuts.length % 2 === 0 ? undefined : "lost";
        };
        connect();
        for (const id of ["itm_1", "itm_2"]) office.queue(id);
        for (let n = 0; n < 60; n++) await clock.advance(2000);
        for (const id of ["itm_1", "itm_2"]) {
          const item = office.items.get(id);
          const done = item?.outcomes.filter(({ payload }) => payload["status"] === "done");
          expect(done).toHaveLength(1);
          expect(room.said.filter(({ text }) => text === `did ${id}`)).toHaveLength(1);
        }
        expect(office.reports.size).toBe(0);
        expect(errors).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });
});

describe("OFF-8: repeats and what is new", () => {
  it("AGENT-2: what an earlier life left is answered before anything is accepted", async () => {
    const { office, connect, store, clock } = setUp();
    office.onFrame = (frame) => (frame.type === "handback" ? "lost" : undefined);
    const life = new Life(office.WebSocket, Number.POSITIVE_INFINITY);
    connect({ webSocket: life.WebSocket, clock: life.clock(clock), store });
    office.queue("itm_1");
    await settle();
    const [sent] = office.socket.of("handback");
    life.kill();
    office.queue("itm_2");
    let asked = 0;
    office.onFrame = (frame) =>
      frame.type === "handback" && asked++ === 0
        ? { type: "error", payload: { code: "failed", message: "Later." } }
        : undefined;
    // The item is active, and `resume` names it: its hand-back is on its way, so it is not interrupted.
    connect();
    for (let n = 0; n < 30; n++) await clock.advance(1000);
    const types = office.socket.sent.map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual(["hello", "handback", "handback"]);
    expect(types.filter((type) => type === "accept")).toHaveLength(1);
    expect(office.socket.of("handback").slice(0, 2)).toEqual([sent, sent]);
    expect(office.items.get("itm_1")?.outcomes).toMatchObject([{ payload: { status: "done" } }]);
    expect(office.items.get("itm_2")?.outcomes).toHaveLength(1);
  });
});
