/** How rounds end, and what is said twice (OFFER-6, OFF-8, OFF-9). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters, lettersNow } from "../testing/letters.ts";
import {
  type Agent,
  ANNA,
  anOffice,
  connected,
  eventually,
  fakeCalls,
  handback,
  handbackOf,
  itemOf,
  patch,
  queue,
  STANDS,
  take,
} from "../testing/office.ts";
import { CALLS } from "./calls.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const code = async (agent: Agent, type: string, payload: object) =>
  (await agent.ask(type, payload)).payload.code;

/** A person with an agent on an item. */
async function atWork(more: object = {}, item: object = {}) {
  const desk = await anOffice(more);
  const agent = await connected(desk);
  const id = await queue(desk, "A", item);
  await take(agent, id);
  return { desk, agent, id };
}

const found = (more: object) => ({
  ok: true as const,
  value: { open: true, subject: { type: "x", ref: "x" }, ...more },
});

const sayFrame = async (by: Agent, frame: Any) => {
  const from = by.frames.length;
  by.ws.send(JSON.stringify(frame));
  expect((await by.next((f) => f.replyTo === frame.id, from)).type).toBe("ack");
};

describe("hand-backs", () => {
  test.each([
    ["done", "done", "done"],
    ["silent", "done", "silent"],
    ["waiting", "waiting", "waiting"],
    ["blocked", "blocked", "blocked"],
  ])("OFFER-6: %s makes it %s, and the board is told", async (status, state, ended) => {
    const { desk, agent, id } = await atWork({}, { ticket: "BP-1" });
    await handback(agent, id, { status });
    expect(await itemOf(desk, id)).toMatchObject({ state, summary: "It is done." });
    await eventually(() => {
      const events = lettersNow(desk, "board", "event");
      expect(events.map((e) => [e.id, e.type, e.item.status])).toEqual([
        [`${id}/1/accepted`, "item.accepted", undefined],
        [`${id}/1/ended`, "item.ended", ended],
      ]);
      expect(events[1].item).toMatchObject({
        person: "scout",
        kind: "assigned",
        tickets: ["BP-1"],
        round: 1,
      });
    });
  });

  test("OFFER-6: a fail blocks it and tells who asked", async () => {
    const { desk, agent, id } = await atWork();
    await agent.must("fail", { workItemId: id, reason: "no brush" });
    expect(await itemOf(desk, id)).toMatchObject({ state: "blocked", why_waiting: "no brush" });
    expect(await agent.must("chat_report", { workItemId: id, kind: "blocked" })).toMatchObject({
      post: true,
      direct: ANNA.participantId,
    });
  });

  test("OFFER-6: done without anything to review is blocked, and the journal says why", async () => {
    const { desk, agent, id } = await atWork();
    await handback(agent, id, { toReview: [] });
    expect((await itemOf(desk, id)).state).toBe("blocked");
    await patch(desk, id, { status: "queued" });
    const offer = await agent.next((f) => f.type === "offer", agent.frames.length - 1);
    expect(offer.payload.context.journal.at(-1).text).toContain("there is nothing to review");
  });

  test.each([
    ["a kind that ends without", { kind: "review" }, undefined, "done"],
    ["a pull request opened in it", { pr: true }, undefined, "done"],
    ["its ticket closed", { ticket: "BP-1" }, found({ open: false }), "done"],
    ["its ticket still open", { ticket: "BP-1" }, found({}), "blocked"],
  ])("OFFER-6: reviewable or not: %s", async (_what, how: Any, board, state) => {
    if (board) vi.spyOn(CALLS, "find").mockResolvedValue(board as Any);
    const { pr, ...item } = how;
    const { desk, agent, id } = await atWork({}, item);
    if (pr)
      await agent.must("work_made", { workItemId: id, pr: { repo: { owner: "a", name: "b" }, number: 1 } });
    await handback(agent, id, { toReview: undefined });
    expect((await itemOf(desk, id)).state).toBe(state);
  });

  test("OFFER-6: the board out of reach: failed, nothing is changed, and the same may be said again", async () => {
    const find = vi.spyOn(CALLS, "find").mockRejectedValue(new Error("out of reach"));
    const { desk, agent, id } = await atWork({}, { ticket: "BP-1" });
    const frame = { id: newId("evt"), type: "handback", payload: handbackOf(id, { toReview: [] }) };
    agent.ws.send(JSON.stringify(frame));
    expect((await agent.next((f) => f.replyTo === frame.id)).payload.code).toBe("failed");
    expect((await itemOf(desk, id)).state).toBe("active");
    find.mockResolvedValue(found({ open: false }) as Any);
    const from = agent.frames.length;
    agent.ws.send(JSON.stringify(frame));
    expect((await agent.next((f) => f.replyTo === frame.id, from)).type).toBe("ack");
  });

  test("OFFER-6: silent says how the round found the ticket", async () => {
    const ticket = {
      key: "BP-1",
      title: "T",
      status: "ready",
      comments: [],
      why: { role: "subject" as const, source: "x" },
    };
    fakeCalls(() => ({ ...STANDS, wake: { tickets: [ticket], prs: [], docs: [], chats: [] } }));
    const { desk, agent, id } = await atWork({}, { ticket: "BP-1" });
    await handback(agent, id, { status: "silent" });
    await eventually(() =>
      expect(lettersNow(desk, "board", "event").at(-1).item).toMatchObject({
        status: "silent",
        before: { "BP-1": "ready" },
      }),
    );
  });

  test("OFF-8: the same hand-back again is acked, also on the next connection; another is invalid", async () => {
    const { desk, agent, id } = await atWork();
    await handback(agent, id);
    await handback(agent, id);
    const again = await connected(desk);
    await handback(again, id);
    expect(await code(again, "handback", handbackOf(id, { summary: "Other." }))).toBe("invalid");
    expect(await code(again, "fail", { workItemId: id, reason: "no" })).toBe("invalid");
    await again.must("accept", { workItemId: id, runtime: "claude", model: "m" });
    expect(await itemOf(desk, id)).toMatchObject({ state: "done", round: 1 });
  });

  test("OFF-8: a journal or progress line is a repeat when it is the latest, or its frame and text came before", async () => {
    const { desk, agent, id } = await atWork();
    const frames = ["one", "two"].map((text) => ({
      id: newId("evt"),
      type: "journal",
      payload: { workItemId: id, text },
    }));
    for (const frame of frames) await sayFrame(agent, frame);
    const again = await connected(desk);
    for (const frame of frames) await sayFrame(again, frame);
    await sayFrame(again, { ...frames[1], id: newId("evt") });
    await sayFrame(again, { ...frames[0], id: newId("evt") });
    await handback(again, id, { status: "waiting", summary: "" });
    await patch(desk, id, { status: "queued" });
    const { context } = (await again.next((f) => f.type === "offer")).payload;
    expect(context.journal.map((l: Any) => l.text)).toEqual(["one", "two", "one"]);
  });

  test("OFF-9: another's item is answered exactly as one that does not exist", async () => {
    const [desk, bob] = [await anOffice(), await anOffice({}, newId("ws"), "bob")];
    const theirs = await queue(bob, "B");
    const agent = await connected(desk);
    const types: [string, object][] = [
      ["accept", { runtime: "r", model: "m" }],
      ["decline", { reason: "" }],
      ["progress", { text: "x" }],
      ["journal", { text: "x" }],
      ["session", { sessionId: "s" }],
      ["handback", handbackOf("")],
      ["fail", { reason: "x" }],
      ["work_made", { ticket: "BP-1" }],
      ["work_move", { status: "blocked" }],
      ["work_place", { position: "next" }],
      ["heartbeat", {}],
    ];
    for (const [type, payload] of types) {
      const [a, b] = [
        await agent.ask(type, { ...payload, workItemId: theirs }),
        await agent.ask(type, { ...payload, workItemId: newId("itm") }),
      ];
      expect([type, a.payload]).toEqual([type, b.payload]);
      expect(a.payload.code).toBe("unknown_item");
    }
  });
});
