/** The queue: its order, its states, and what people do to it, in a real office with a board that agrees. */
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters, lettersNow } from "../testing/letters.ts";
import {
  ANNA,
  anOffice,
  connected,
  type Desk,
  eventually,
  fakeCalls,
  handback,
  itemOf,
  later,
  patch,
  queue,
  seen,
  take,
  wake,
} from "../testing/office.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
afterEach(() => void vi.useRealTimers());

const offers = (agent: { frames: Any[] }) =>
  agent.frames.filter((f) => f.type === "offer").map((f) => f.payload.workItem.title);

const titles = async (desk: Desk) => (await seen(desk)).items.map((i: Any) => i.title);

describe("order", () => {
  test("QUEUE-2 QUEUE-3: items are offered one at a time, by priority, then in the order they came", async () => {
    const desk = await anOffice();
    const c = await queue(desk, "C", { priority: 60 });
    const a = await queue(desk, "A", { priority: 20 });
    const b = await queue(desk, "B", { priority: 20 });
    const agent = await connected(desk);
    for (const id of [a, b, c]) {
      await take(agent, id);
      await handback(agent, id);
    }
    expect(offers(agent)).toEqual(["A", "B", "C"]);
  });

  test("QUEUE-2: each kind has its own number, which the config changes", async () => {
    const desk = await anOffice({ pipeline: { priorities: { merge: 5 } } });
    for (const kind of ["assigned", "review", "review_feedback", "question", "chat", "merge"])
      await queue(desk, kind, { kind });
    expect(await titles(desk)).toEqual([
      "merge",
      "chat",
      "question",
      "review_feedback",
      "review",
      "assigned",
    ]);
  });

  test("QUEUE-2: nothing is put ahead of what waited for max_wait_hours", async () => {
    const desk = await anOffice();
    await queue(desk, "old");
    await queue(desk, "young");
    await later(desk, 4 * 3_600_000);
    await queue(desk, "urgent", { priority: 1 });
    expect(await titles(desk)).toEqual(["old", "young", "urgent"]);
  });

  test("QUEUE-2: people move items: next, last, before, after", async () => {
    const desk = await anOffice();
    const [a, b, c] = [await queue(desk, "A"), await queue(desk, "B"), await queue(desk, "C")];
    await patch(desk, c, { position: "next" });
    expect(await titles(desk)).toEqual(["C", "A", "B"]);
    await patch(desk, c, { position: "after", relativeTo: a });
    expect(await titles(desk)).toEqual(["A", "C", "B"]);
    await patch(desk, b, { position: "before", relativeTo: a });
    expect(await titles(desk)).toEqual(["B", "A", "C"]);
    const self = await patch(desk, a, { position: "after", relativeTo: a });
    expect(self.error.code).toBe("invalid");
  });

  test("QUEUE-2: an offer that is out is not taken back for something more urgent", async () => {
    const desk = await anOffice();
    const a = await queue(desk, "A");
    const agent = await connected(desk);
    await agent.next((f) => f.type === "offer");
    await queue(desk, "urgent", { priority: 1 });
    await agent.ask("ping");
    expect(offers(agent)).toEqual(["A"]);
    await take(agent, a);
  });

  test("QUEUE-2: a waiting item rejoins at its kind's number", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await queue(desk, "B", { priority: 60 });
    await handback(agent, id, { status: "waiting" });
    await agent.next((f) => f.type === "offer" && f.payload.workItem.title === "B");
    await patch(desk, id, { status: "queued" });
    expect(await titles(desk)).toEqual(["A", "B"]);
  });

  test("QUEUE-3: with a chat lane one chat runs beside one other item", async () => {
    const desk = await anOffice({ pipeline: { chat_lane: true } });
    const agent = await connected(desk);
    const work = await queue(desk, "work");
    await take(agent, work);
    const chat = await queue(desk, "chat", { kind: "chat" });
    await queue(desk, "question", { kind: "question" });
    await queue(desk, "more");
    await take(agent, chat);
    await agent.ask("ping");
    expect(offers(agent)).toEqual(["work", "chat"]);
    await handback(agent, work);
    await agent.next((f) => f.type === "offer" && f.payload.workItem.title === "more");
    expect(offers(agent)).toEqual(["work", "chat", "more"]);
  });

  test("QUEUE-5: finished items cost the next offer nothing", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const cost = async () => {
      const id = await queue(desk, "A");
      const before = await desk.stub.rowCounts();
      await take(agent, id);
      await handback(agent, id);
      const after = await desk.stub.rowCounts();
      return after.read - before.read;
    };
    // Recall's index merges its parts now and then: what counts is what an offer costs without that.
    const least = async () => Math.min(await cost(), await cost(), await cost(), await cost());
    await cost();
    const first = await least();
    for (let i = 0; i < 40; i++) {
      const id = await queue(desk, "filler");
      await patch(desk, id, { status: "canceled" });
    }
    expect(await least()).toBeLessThanOrEqual(first + 10);
  });
});

describe("states", () => {
  test("QUEUE-1: a change that cannot be says which are possible; every change is in the history", async () => {
    const desk = await anOffice();
    const id = await queue(desk, "A");
    const no = await patch(desk, id, { status: "done" });
    expect(no.error).toMatchObject({ code: "invalid" });
    expect(no.error.message).toContain("Possible: active, blocked, canceled");
    await patch(desk, id, { status: "canceled", reason: "not now" });
    await patch(desk, id, { status: "queued" });
    const { history, state } = await itemOf(desk, id);
    expect(state).toBe("queued");
    expect(history.map(({ from, to, by }: Any) => [from, to, by])).toEqual([
      [undefined, "queued", "Anna"],
      ["queued", "canceled", "Anna"],
      ["canceled", "queued", "Anna"],
    ]);
    expect(history[1].why).toBe("canceled by Anna: not now");
  });

  test("QUEUE-1: a person ends what waits or is blocked as done", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await handback(agent, id, { status: "blocked" });
    const answer = await patch(desk, id, { status: "done" });
    expect(answer.value.item.state).toBe("done");
  });
});

describe("people", () => {
  test("QUEUE-4: guests and agents do not work a queue; an agent's token reads it; a hook's neither", async () => {
    const { stub } = await anOffice();
    const agent = { ...ANNA, kind: "agent" as const, role: null, scopes: ["agent" as Any], handle: "bob" };
    const hook = { ...agent, hook: { source: "x", types: [] } };
    const may = async (who: typeof ANNA) => [
      ((await stub.person(who)) as Any).ok,
      ((await stub.addItem(who, { title: "x", kind: "assigned" })) as Any).ok,
      ((await stub.pause(who, {})) as Any).ok,
    ];
    expect(await may({ ...ANNA, role: "guest" })).toEqual([false, false, false]);
    expect(await may({ ...ANNA, role: "member" })).toEqual([true, true, true]);
    expect(await may(agent)).toEqual([true, false, false]);
    expect(await may(hook)).toEqual([false, false, false]);
    expect(await may({ ...agent, kind: "harness" as const, handle: undefined } as Any)).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("QUEUE-4: paused, nothing is offered, also not on reconnect; what is out is withdrawn, what runs goes on", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await queue(desk, "B");
    await desk.stub.pause(ANNA, { reason: "lunch" });
    await agent.must("progress", { workItemId: id, text: "on" });
    await handback(agent, id);
    const again = await connected(desk);
    await again.ask("ping");
    expect(offers(again)).toEqual([]);
    const { status, paused, items } = await seen(desk);
    expect([status, paused.reason]).toEqual(["paused", "lunch"]);
    expect(items[0].why_waiting).toBe("Anna paused scout: lunch.");
    await desk.stub.resume(ANNA);
    await again.next((f) => f.type === "offer");
    await eventually(() =>
      expect(lettersNow(desk, "room", "paused").map((p) => p.paused)).toEqual([true, false]),
    );
  });

  test("QUEUE-4: a pause with an end is over by itself", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    await queue(desk, "A");
    await agent.next((f) => f.type === "offer");
    await desk.stub.pause(ANNA, { until: new Date(Date.now() + 60_000).toISOString() });
    const from = agent.frames.length;
    await later(desk, 61_000, agent);
    await agent.next((f) => f.type === "offer", from);
    await eventually(() =>
      expect(lettersNow(desk, "room", "paused").at(-1)).toMatchObject({ paused: false }),
    );
  });

  test("QUEUE-4: an answer about a person has the first of the open items that fit, and the last finished", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const done = await queue(desk, "Done");
    await take(agent, done);
    await handback(agent, done);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push(await queue(desk, `${n}`));
    await runInDurableObject(desk.stub, (_, { storage }) => {
      // As by rounds that handed back blocked with a summary of 64 KiB: more than a call can carry.
      const many = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 700)";
      storage.sql.exec(
        `${many} INSERT INTO items (id, kind, title, state, priority, trigger, round, rev, created_at, changed_at)
           SELECT printf('itm_%026d', n), 'assigned', 'T', 'blocked', 50, '"human"', 1, 1, 0, 0 FROM c`,
      );
      storage.sql.exec(
        `${many} INSERT INTO rounds (item, n, kind, trigger, events, made_at, ended_at, ended, summary, links)
           SELECT printf('itm_%026d', n), 1, 'assigned', '"human"', '[]', 0, 1, 'blocked', ?, '[]' FROM c`,
        "s".repeat(65_536),
      );
    });
    const { items, queued } = await seen(desk);
    expect(queued).toBe(3);
    expect(items.slice(0, 3).map((i: Any) => i.id)).toEqual(ids);
    expect(items.at(-1).id).toBe(done);
    expect(items.length).toBeGreaterThan(50);
    expect(JSON.stringify(items).length).toBeLessThan(4.2 * 1024 * 1024);
  });

  test("QUEUE-4: the board is told how the person is, and which items changed", async () => {
    const desk = await anOffice();
    const id = await queue(desk, "A");
    const agent = await connected(desk);
    await take(agent, id);
    await handback(agent, id);
    await eventually(() => {
      const told = lettersNow(desk, "board", "status");
      expect(told.at(-1)).toMatchObject({ status: "idle", queued: 0 });
      expect(told.map((s) => s.status)).toEqual(expect.arrayContaining(["offline", "idle", "working"]));
      expect(told.find((s) => s.status === "working")).toMatchObject({
        current: "A",
        item: { id, state: "active" },
      });
      expect(told.every((s) => s.changed === undefined || s.changed.includes(id))).toBe(true);
    });
  });

  test("QUEUE-6: a human is told once a cause: in the item's thread, else every lead in the space for notices", async () => {
    const [notify, user] = [newId("spc"), newId("usr")];
    const desk = await anOffice({ notify, humans: [{ name: "Anna", user, lead: true }, { name: "Max" }] });
    const agent = await connected(desk);
    const plain = await queue(desk, "plain");
    await take(agent, plain);
    await agent.must("work_move", { workItemId: plain, status: "canceled" });
    const channel = newId("spc");
    const requester = { id: newId("usr"), name: "Max" };
    const origin = { channel, thread: newId("msg"), requester, direct: false, participant: true };
    await wake(desk, { kind: "chat", title: "chat", origin, requester: { ...requester, kind: "human" } });
    const offer = await agent.next((f) => f.type === "offer" && f.payload.workItem.title === "chat");
    const { id } = offer.payload.workItem;
    await agent.must("work_move", { workItemId: id, status: "canceled" });
    await eventually(() => {
      const told = lettersNow(desk, "room", "notice");
      expect(told.map((n) => [n.spaceIds, n.about])).toEqual([
        [[notify], [user, "scout"]],
        [[channel], [requester.id, "scout"]],
      ]);
    });
  });
});
