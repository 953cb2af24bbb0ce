/** The queue: its order, its states, and what people do to it, in a real office with a board that agrees. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import {
  ANNA,
  anOffice,
  captureLetters,
  connected,
  type Desk,
  eventually,
  fakeCalls,
  handback,
  itemOf,
  later,
  lettersOf,
  patch,
  queue,
  seen,
  take,
  wake,
  wakeOf,
} from "../testing/office.ts";

beforeEach(() => fakeCalls());
afterEach(() => void vi.useRealTimers());

const offers = (agent: { frames: Any[] }) =>
  agent.frames.filter((f) => f.type === "offer").map((f) => f.payload.workItem.title);
const titles = async (desk: Desk) => (await seen(desk)).items.map((i: Any) => i.title);

const said = (key: string, body = key) => ({ key, actor: "anna", kind: "comment" as const, body });

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
    const sent = captureLetters();
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
      expect(lettersOf(sent.room, desk, "paused").map((p) => p.paused)).toEqual([true, false]),
    );
  });

  test("QUEUE-4: a pause with an end is over by itself", async () => {
    const sent = captureLetters();
    const desk = await anOffice();
    const agent = await connected(desk);
    await queue(desk, "A");
    await agent.next((f) => f.type === "offer");
    await desk.stub.pause(ANNA, { until: new Date(Date.now() + 60_000).toISOString() });
    const from = agent.frames.length;
    await later(desk, 61_000, agent);
    await agent.next((f) => f.type === "offer", from);
    await eventually(() =>
      expect(lettersOf(sent.room, desk, "paused").at(-1)).toMatchObject({ paused: false }),
    );
  });

  test("QUEUE-4: the board is told how the person is, and which items changed", async () => {
    const sent = captureLetters();
    const desk = await anOffice();
    const id = await queue(desk, "A");
    const agent = await connected(desk);
    await take(agent, id);
    await handback(agent, id);
    await eventually(() => {
      const told = lettersOf(sent.board, desk, "status");
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
    const sent = captureLetters();
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
      const told = lettersOf(sent.room, desk, "notice");
      expect(told.map((n) => [n.spaceIds, n.about])).toEqual([
        [[notify], [user, "scout"]],
        [[channel], [requester.id, "scout"]],
      ]);
    });
  });
});

describe("rounds", () => {
  const pr = { type: "pr" as const, ref: "acme/shop#7" };

  test("PIPE-3: the same wake again changes nothing", async () => {
    const desk = await anOffice();
    const letter = wakeOf({ title: "once" });
    for (const again of [1, 2, 3]) await desk.letter("wake", { ...letter, title: `once ${again}` });
    expect(await titles(desk)).toEqual(["once 1"]);
  });

  test("PIPE-2: feedback on what an item made is a round of it, with its session and journal", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await agent.must("session", { workItemId: id, sessionId: "s1" });
    await agent.must("journal", { workItemId: id, text: "chose oak" });
    await agent.must("work_made", {
      workItemId: id,
      pr: { repo: { owner: "acme", name: "shop" }, number: 7 },
    });
    await handback(agent, id);
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const offer = await take(agent, id, agent.frames.length - 1);
    expect(offer).toMatchObject({ workItem: { id, kind: "review_feedback", priority: 30 }, sessionId: "s1" });
    expect(offer.context.feedback.map((f: Any) => f.body)).toEqual(["c1"]);
    expect(offer.context.journal.map((l: Any) => l.text)).toContain("chose oak");
    expect((await itemOf(desk, id)).round).toBe(2);
  });

  test("PIPE-2: feedback on a pull request that nobody said was made in an item is a round of its ticket's", async () => {
    const desk = await anOffice();
    const ticket = { type: "ticket" as const, ref: "BP-1" };
    await wake(desk, { subject: ticket, refs: [{ ...ticket, role: "trigger", source: "evt_1" }] });
    const linked = { ...ticket, role: "linked" as const, source: `link:${pr.ref}` };
    const refs = [{ ...pr, role: "trigger" as const, source: "evt_2" }, linked];
    await wake(desk, { kind: "review_feedback", subject: pr, refs, feedback: said("c1") });
    await wake(desk, {
      kind: "review_feedback",
      subject: { ...pr, ref: "acme/shop#99" },
      feedback: said("c2"),
    });
    const { items } = await seen(desk);
    expect(items).toHaveLength(2);
    expect(items.filter((i: Any) => i.ticket === "BP-1")).toMatchObject([
      { kind: "assigned", pr: pr.ref, round: 1 },
    ]);
  });

  test("PIPE-2: what comes while it is queued joins it, and an offer that is out is sent anew", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const first = (await agent.next((f) => f.type === "offer")).payload;
    const from = agent.frames.length;
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c2") });
    const { workItem, context } = (await agent.next((f) => f.type === "offer", from)).payload;
    expect(workItem.id).toBe(first.workItem.id);
    expect(context.feedback.map((f: Any) => f.body)).toEqual(["c1", "c2"]);
  });

  test("PIPE-2: what comes while it runs goes into one round after its hand-back", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const { id } = (await agent.next((f) => f.type === "offer")).payload.workItem;
    await take(agent, id);
    for (const key of ["c2", "c3", "c2"])
      await wake(desk, { kind: "review_feedback", subject: pr, feedback: said(key) });
    expect((await itemOf(desk, id)).round).toBe(1);
    const from = agent.frames.length;
    await handback(agent, id);
    const offer = await take(agent, id, from);
    expect(offer.context.feedback.map((f: Any) => f.body)).toEqual(["c2", "c3"]);
    expect((await seen(desk)).items.length).toBe(1);
  });

  test("PIPE-2: feedback on what was canceled is a new item", async () => {
    const desk = await anOffice();
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const [first] = (await seen(desk)).items;
    await patch(desk, first.id, { status: "canceled" });
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c2") });
    const { items } = await seen(desk);
    expect(items.map((i: Any) => i.state)).toEqual(["queued", "canceled"]);
  });

  test("OFFER-9: a reply in the thread of earlier work is a chat about it, unless that waits for the writer", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const requester = { id: newId("usr"), name: "Max" };
    const origin = { channel: "C1", thread: "T1", requester, direct: false, participant: true };
    const chat = (key: string, more: object = {}) =>
      wake(desk, {
        kind: "chat",
        title: key,
        origin,
        subject: { type: "chat_thread", ref: "C1/T1" },
        requester: { ...requester, kind: "human" },
        feedback: { key, actor: "Max", kind: "chat", body: key },
        ...more,
      });
    await chat("first");
    const { id } = (await agent.next((f) => f.type === "offer")).payload.workItem;
    await take(agent, id);
    await agent.must("journal", { workItemId: id, text: "noted" });
    await handback(agent, id, { status: "waiting" });
    let from = agent.frames.length;
    await chat("an answer");
    const again = await take(agent, id, from);
    expect(again.context.feedback.map((f: Any) => f.body)).toEqual(["an answer"]);
    await handback(agent, id, { status: "done" });
    from = agent.frames.length;
    await chat("one more thing");
    const next = (await agent.next((f) => f.type === "offer", from)).payload;
    expect(next.workItem.id).not.toBe(id);
    expect(next.workItem.origin.about).toEqual({ id, title: "first", state: "finished" });
    expect(next.context.journal.map((l: Any) => l.text)).toContain("noted");
  });

  test("PIPE-1: a cancel takes what is queued away, and is told what runs by a note", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const ticket = { type: "ticket" as const, ref: "BP-1" };
    await wake(desk, { subject: ticket, title: "runs" });
    const { id } = (await agent.next((f) => f.type === "offer")).payload.workItem;
    await take(agent, id);
    await wake(desk, { subject: ticket, title: "waits" });
    await desk.letter("cancel", {
      ref: ticket,
      why: "BP-1 was closed",
      eventId: newId("evt"),
      by: "ticket-closed",
    });
    const { items } = await seen(desk);
    expect(items.map((i: Any) => [i.title, i.state])).toEqual([
      ["runs", "active"],
      ["waits", "canceled"],
    ]);
    expect(items[1].why_waiting).toBe("BP-1 was closed");
    await handback(agent, id, { status: "interrupted" });
    const next = await connected(desk);
    const { context } = (await next.next((f) => f.type === "offer")).payload;
    expect(context.journal.map((l: Any) => l.text)).toContain("BP-1 was closed (ticket-closed)");
  });
});
