/** Offers and rounds: what goes out, what comes back, what is late (OFFER-1 to OFFER-7, OFF-8 to OFF-10, ITEM-1, ITEM-4). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { JOURNAL_BYTES } from "../../src/shared/rules/offer-bounds.ts";
import { byteLength } from "../../src/shared/rules/text.ts";
import { type Any, newId } from "../testing/client.ts";
import {
  type Agent,
  ANNA,
  anOffice,
  captureLetters,
  connected,
  type Desk,
  eventually,
  fakeCalls,
  handback,
  handbackOf,
  itemOf,
  later,
  lettersOf,
  patch,
  queue,
  STANDS,
  seen,
  take,
  until,
  wake,
} from "../testing/office.ts";
import { CALLS } from "./calls.ts";
import type { OfferAsk } from "./letters.ts";

beforeEach(() => fakeCalls());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const titles = (agent: Agent, from = 0) =>
  agent.frames
    .slice(from)
    .filter((f) => f.type === "offer")
    .map((f) => f.payload.workItem.title);
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

const accepting = (workItemId: string) => ({ workItemId, runtime: "r", model: "m" });

const file = (id: string) => ({
  id,
  name: "a.png",
  mimetype: "image/png",
  size: 3,
  url: "https://elsewhere/a",
});

const found = (more: object) => ({
  ok: true as const,
  value: { open: true, subject: { type: "x", ref: "x" }, ...more },
});

const sayFrame = async (by: Agent, frame: Any) => {
  const from = by.frames.length;
  by.ws.send(JSON.stringify(frame));
  expect((await by.next((f) => f.replyTo === frame.id, from)).type).toBe("ack");
};

const told = (sent: Any, desk: Desk) => lettersOf(sent.room, desk, "notice").map((n) => n.text);

describe("offers", () => {
  test("OFFER-1: an offer comes again after each reconnect until it is accepted; accepting twice is harmless", async () => {
    const desk = await anOffice();
    const id = await queue(desk, "A", { body: "Make it blue." });
    for (let n = 0; n < 3; n++) {
      const agent = await connected(desk);
      const { workItem, context } = await agent.offer();
      expect(workItem).toEqual({ id, kind: "assigned", title: "A", priority: 50, trigger: "human" });
      expect(context.journal.map(({ author, text }: Any) => [author, text])).toEqual([
        ["Anna", "Make it blue."],
      ]);
    }
    const agent = await connected(desk);
    await take(agent, id);
    await agent.must("accept", { workItemId: id, runtime: "other", model: "m" });
    expect(await itemOf(desk, id)).toMatchObject({ state: "active", accepted: true, runtime: "claude" });
  });

  test("OFFER-1: accepting what was withdrawn, was never offered or is another's changes nothing", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const a = await queue(desk, "A");
    await agent.offer();
    const b = await queue(desk, "B");
    expect(await code(agent, "accept", accepting(b))).toBe("invalid");
    expect(await code(agent, "accept", accepting(newId("itm")))).toBe("unknown_item");
    await patch(desk, a, { status: "canceled" });
    expect(await code(agent, "accept", accepting(a))).toBe("invalid");
    expect((await itemOf(desk, a)).state).toBe("canceled");
  });

  test("OFFER-2: what no longer stands is canceled with its reason, and the next is offered", async () => {
    const asked: OfferAsk[] = [];
    fakeCalls((ask) => {
      asked.push(ask);
      return ask.subject?.ref === "BP-1" ? { stands: false, why: "BP-1 is closed" } : STANDS;
    });
    const desk = await anOffice();
    const agent = await connected(desk);
    const closed = await queue(desk, "closed", { ticket: "BP-1" });
    const open = await queue(desk, "open", { ticket: "BP-2" });
    await take(agent, open);
    expect(titles(agent)).toEqual(["open"]);
    expect(await itemOf(desk, closed)).toMatchObject({ state: "canceled", why_waiting: "BP-1 is closed" });
    expect(asked[0]).toMatchObject({
      handle: "scout",
      item: closed,
      kind: "assigned",
      trigger: "human",
      subject: { type: "ticket", ref: "BP-1" },
      refs: [{ type: "ticket", ref: "BP-1", role: "subject" }],
    });
  });

  test("OFFER-2: what changed while the board was asked is asked anew", async () => {
    const gate = { asked: 0, open: false };
    const desk = await anOffice();
    await queue(desk, "A");
    fakeCalls(async () => {
      gate.asked += 1;
      await until(() => gate.open);
      return STANDS;
    });
    const agent = await connected(desk);
    await eventually(() => expect(gate.asked).toBe(1));
    const first = (await seen(desk)).items[0];
    await patch(desk, first.id, { status: "canceled" });
    await queue(desk, "B");
    gate.open = true;
    await agent.offer();
    expect(titles(agent)).toEqual(["B"]);
  });

  test("OFFER-2: the board out of reach: the offer is made as soon as it answers", async () => {
    let up = false;
    fakeCalls(() => {
      if (!up) throw new Error("out of reach");
      return STANDS;
    });
    const desk = await anOffice();
    const agent = await connected(desk);
    await queue(desk, "A");
    await agent.ask("ping");
    expect(titles(agent)).toEqual([]);
    up = true;
    await later(desk, 61_000, agent);
    await agent.offer();
  });

  test("USE-3: usage holds new offers until then; what runs goes on", async () => {
    let until: number | undefined;
    fakeCalls(() => (until === undefined ? STANDS : { ...STANDS, holdUntil: until }));
    const { desk, agent, id } = await atWork();
    until = Date.now() + 3_600_000;
    await agent.must("progress", { workItemId: id, text: "on" });
    const b = await queue(desk, "B");
    await handback(agent, id);
    await eventually(async () =>
      expect((await itemOf(desk, b)).why_waiting).toMatch(/^Nothing is offered until/),
    );
    expect(titles(agent)).toEqual(["A"]);
    until = undefined;
    await later(desk, 3_600_001, agent);
    await agent.next((f) => f.type === "offer" && f.payload.workItem.id === b);
    await patch(desk, b, { status: "canceled" });
    await desk.letter("hold", { until: Date.now() + 3_600_000, why: "five_hour is at 95 %" });
    const c = await queue(desk, "C");
    await agent.ask("ping");
    expect((await itemOf(desk, c)).why_waiting).toContain("five_hour is at 95 %");
    await desk.letter("hold", {});
    await agent.next((f) => f.type === "offer" && f.payload.workItem.id === c);
  });

  test("OFFER-3: declined it keeps its place, is not offered for a minute, and the next is offered meanwhile", async () => {
    const desk = await anOffice();
    const [a, b] = [await queue(desk, "A"), await queue(desk, "B")];
    const agent = await connected(desk);
    await agent.offer();
    await agent.must("decline", { workItemId: a, reason: "no paint" });
    await agent.next((f) => f.type === "offer" && f.payload.workItem.id === b);
    // The ack was lost: once more.
    await agent.must("decline", { workItemId: a, reason: "no paint" });
    expect(await itemOf(desk, a)).toMatchObject({ state: "queued", position: 1 });
    await agent.must("decline", { workItemId: b, reason: "not mine" });
    await later(desk, 59_000, agent);
    await agent.ask("ping");
    expect(titles(agent)).toEqual(["A", "B"]);
    await later(desk, 2000, agent);
    await agent.next((f) => f.type === "offer" && f.payload.workItem.id === a, 5);
    expect(titles(agent)).toEqual(["A", "B", "A"]);
  });

  test("OFFER-3: the fifth decline blocks it with the reasons; an error to an offer is a decline", async () => {
    const sent = captureLetters();
    const notify = newId("spc");
    const desk = await anOffice({ notify });
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    for (let n = 1; n <= 5; n++) {
      await eventually(() => expect(titles(agent).length).toBe(n));
      const offer = agent.frames.findLast((f) => f.type === "offer");
      if (n % 2 === 0) await agent.must("decline", { workItemId: id, reason: `reason ${n}` });
      else agent.say("error", { code: "failed", message: `reason ${n}` }, { replyTo: offer.id });
      await agent.ask("ping");
      if (n < 5) await eventually(async () => expect((await itemOf(desk, id)).offered).toBe(false));
      if (n < 5) await later(desk, 15 * 60_000 + 1, agent);
    }
    const row = await itemOf(desk, id);
    expect(row.state).toBe("blocked");
    for (const n of [1, 2, 3, 4, 5]) expect(row.why_waiting).toContain(`reason ${n}`);
    await eventually(() =>
      expect(lettersOf(sent.room, desk, "notice")[0]?.text).toContain("declined 5 times"),
    );
  });

  test("OFFER-4: the journal's newest 64 KiB, the first line counts the rest; feedback that does not fit makes the next round", async () => {
    const { desk, agent, id } = await atWork();
    for (let n = 0; n < 10; n++)
      await agent.must("journal", { workItemId: id, text: `${n}`.padEnd(16_000, "x") });
    await agent.must("work_made", { workItemId: id, pr: { repo: { owner: "a", name: "b" }, number: 1 } });
    await handback(agent, id);
    const from = agent.frames.length;
    await desk.stub.pause(ANNA, {});
    for (let n = 0; n < 30; n++) {
      const comments = Array.from({ length: 100 }, (_, i) => ({
        id: `${n}/${i}`,
        path: "p".repeat(300),
        url: "u".repeat(500),
        body: "漢".repeat(1000),
      }));
      await wake(desk, {
        subject: { type: "pr", ref: "a/b#1" },
        kind: "review_feedback",
        feedback: { key: `r${n}`, actor: "anna", kind: "review", body: `${n}`, comments },
      });
    }
    await desk.stub.resume(ANNA);
    const seenKeys: string[] = [];
    for (let rounds = 0; seenKeys.length < 30; rounds++) {
      const frame = await agent.next(
        (f) => f.type === "offer",
        rounds === 0 ? from : agent.frames.length - 1,
      );
      expect(byteLength(JSON.stringify(frame))).toBeLessThanOrEqual(1_048_576);
      const { journal, feedback } = frame.payload.context;
      if (rounds === 0) {
        expect(journal[0].text).toMatch(/^\d+ earlier lines are left out\.$/);
        expect(journal.reduce((sum: number, l: Any) => sum + byteLength(l.text), 0)).toBeLessThan(
          JOURNAL_BYTES + 100,
        );
      }
      expect(feedback.length).toBeGreaterThan(0);
      seenKeys.push(...feedback.map((f: Any) => f.body));
      await agent.must("accept", { workItemId: id, runtime: "r", model: "m" });
      await handback(agent, id, { summary: `round ${rounds}` });
      expect(rounds).toBeLessThan(30);
      if (seenKeys.length < 30) await eventually(() => expect(agent.frames.at(-1).type).toBe("offer"));
    }
    expect(seenKeys).toEqual(Array.from({ length: 30 }, (_, n) => `${n}`));
  });

  test("OFFER-5: an interrupted item goes to the front with its session; nothing more on that connection", async () => {
    const { desk, agent, id } = await atWork();
    await agent.must("session", { workItemId: id, sessionId: "s-1" });
    await queue(desk, "urgent", { priority: 1 });
    await handback(agent, id, { status: "interrupted", summary: "" });
    await agent.ask("ping");
    expect(titles(agent)).toEqual(["A"]);
    const next = await connected(desk);
    const { payload } = await next.next((f) => f.type === "offer");
    expect(payload).toMatchObject({ workItem: { id }, sessionId: "s-1", interrupted: true });
    await take(next, id);
    await handback(next, id, { status: "waiting" });
    await patch(desk, id, { status: "queued" });
    const later2 = await connected(desk);
    expect(titles(later2).includes("A")).toBe(false);
  });

  test("OFFER-5: an agent that lost a resumed item's context hands it back and gets it again whole", async () => {
    const { desk, id } = await atWork({}, { body: "Make it blue." });
    const again = await connected(desk);
    expect(again.frames[0].payload.resume).toEqual([id]);
    await handback(again, id, { status: "interrupted", summary: "" });
    const offer = await take(again, id);
    expect(offer.context.journal[0].text).toBe("Make it blue.");
  });

  test("OFFER-5: sessionId is the item's; a new one replaces the old, another item's is refused", async () => {
    const { desk, agent, id } = await atWork();
    await agent.must("session", { workItemId: id, sessionId: "one" });
    await agent.must("session", { workItemId: id, sessionId: "two", model: "m-2026" });
    expect((await itemOf(desk, id)).model).toBe("m-2026");
    await handback(agent, id, { status: "waiting" });
    const b = await queue(desk, "B");
    await take(agent, b);
    expect(await code(agent, "session", { workItemId: b, sessionId: "two" })).toBe("invalid");
    await patch(desk, id, { status: "queued" });
    await handback(agent, b);
    const offer = await agent.next((f) => f.type === "offer" && f.payload.workItem.id === id, 5);
    expect(offer.payload.sessionId).toBe("two");
  });

  test("CHAT-2: files of our rooms are signed for the agent at each offer; others' are passed on", async () => {
    const desk = await anOffice();
    const requester = { id: newId("usr") };
    const att = newId("att");
    const base = { thread: newId("msg"), requester, direct: false, participant: true };
    await wake(desk, { kind: "chat", origin: { ...base, channel: newId("spc"), files: [file(att)] } });
    const agent = await connected(desk);
    const { files } = (await agent.offer()).workItem.origin;
    expect(files[0].url).toMatch(new RegExp(`^https://bullpen\\.test/v1/attachments/${att}\\?exp=\\d+&sig=`));
    await patch(desk, (await seen(desk)).items[0].id, { status: "canceled" });
    await wake(desk, { kind: "chat", origin: { ...base, channel: "C1", files: [file("F1")] } });
    const second = await agent.next((f) => f.type === "offer" && f.payload.workItem.origin.channel === "C1");
    expect(second.payload.workItem.origin.files[0].url).toBe("https://elsewhere/a");
  });
});

describe("hand-backs", () => {
  test.each([
    ["done", "done", "done"],
    ["silent", "done", "silent"],
    ["waiting", "waiting", "waiting"],
    ["blocked", "blocked", "blocked"],
  ])("OFFER-6: %s makes it %s, and the board is told", async (status, state, ended) => {
    const sent = captureLetters();
    const { desk, agent, id } = await atWork({}, { ticket: "BP-1" });
    await handback(agent, id, { status });
    expect(await itemOf(desk, id)).toMatchObject({ state, summary: "It is done." });
    await eventually(() => {
      const events = lettersOf(sent.board, desk, "event");
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
    const sent = captureLetters();
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
      expect(lettersOf(sent.board, desk, "event").at(-1).item).toMatchObject({
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

describe("what looks stuck", () => {
  const notify = newId("spc");

  test("OFF-10: no sign of work for stuck_minutes is shown, and told once a stretch", async () => {
    const sent = captureLetters();
    const { desk, agent, id } = await atWork({ notify, policies: { stuck_minutes: 10 } });
    await later(desk, 10 * 60_000 - 1000, agent);
    expect((await itemOf(desk, id)).stuck).toBeUndefined();
    await later(desk, 2000, agent);
    await later(desk, 60_000, agent);
    expect((await itemOf(desk, id)).stuck).toContain("no sign of work since");
    await agent.must("progress", { workItemId: id, text: "on" });
    expect(await itemOf(desk, id)).toMatchObject({ state: "active" });
    expect((await itemOf(desk, id)).stuck).toBeUndefined();
    await later(desk, 11 * 60_000, agent);
    await eventually(() => expect(told(sent, desk).length).toBe(2));
    expect(told(sent, desk)[0]).toContain('scout looks stuck on "A": no sign of work');
  });

  test("OFF-10: an offer without an answer comes again each minute, and counts as stuck after five", async () => {
    const sent = captureLetters();
    const desk = await anOffice({ notify });
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await agent.offer();
    for (let n = 0; n < 5; n++) await later(desk, 60_001, agent);
    await agent.ask("ping");
    expect(titles(agent).length).toBeGreaterThanOrEqual(5);
    expect(new Set(titles(agent))).toEqual(new Set(["A"]));
    await eventually(() => expect(told(sent, desk)).toMatchObject([expect.stringContaining("not answered")]));
    expect((await itemOf(desk, id)).stuck).toContain("not answered");
    await take(agent, id);
  });

  test("OFF-10: what waits for seven days; nothing ends by itself", async () => {
    const sent = captureLetters();
    const { desk, agent, id } = await atWork({ notify });
    await handback(agent, id, { status: "waiting" });
    await later(desk, 7 * 86_400_000 + 1000, agent);
    await eventually(() => expect(told(sent, desk)).toMatchObject([expect.stringContaining("waits")]));
    expect(await itemOf(desk, id)).toMatchObject({ state: "waiting" });
  });
});

describe("items", () => {
  test("ITEM-1: progress, journal, usage and work_made are recorded; over a limit is invalid", async () => {
    const sent = captureLetters();
    const { desk, agent, id } = await atWork();
    await agent.must("progress", { workItemId: id, text: "🙂".repeat(500) });
    await agent.must("usage", { windows: [{ name: "five_hour", utilization: 0.5 }] });
    await agent.must("work_made", {
      workItemId: id,
      ticket: "BP-7",
      pr: { repo: { owner: "acme", name: "shop" }, number: 7, url: "https://x/7" },
    });
    expect(await itemOf(desk, id)).toMatchObject({
      progress: "🙂".repeat(500),
      pr: "acme/shop#7",
      ticket: "BP-7",
    });
    const over: [string, object][] = [
      ["progress", { text: "x".repeat(501) }],
      ["journal", { text: "é".repeat(8193) }],
      ["fail", { reason: "x".repeat(4097) }],
      ["handback", { summary: "x".repeat(65_537), links: [], status: "done" }],
      ["handback", { summary: "", links: [{ url: "u".repeat(2001) }], status: "done" }],
      ["work_made", {}],
      ["work_made", { pr: { repo: { owner: "a b", name: "c" }, number: 1 } }],
    ];
    for (const [type, more] of over)
      expect([type, await code(agent, type, { workItemId: id, ...more })]).toEqual([type, "invalid"]);
    expect(await code(agent, "usage", { windows: [{ name: "x", utilization: 1, resetsAt: "soon" }] })).toBe(
      "invalid",
    );
    await eventually(() => {
      expect(lettersOf(sent.board, desk, "windows")).toMatchObject([{ windows: [{ utilization: 0.5 }] }]);
      expect(lettersOf(sent.board, desk, "made")).toMatchObject([
        { item: id, ticket: "BP-7", pr: { repo: "acme/shop", number: 7 } },
      ]);
      expect(
        lettersOf(sent.board, desk, "refs").flatMap((r) => r.refs.map((x: Any) => [x.ref, x.role])),
      ).toEqual([
        ["acme/shop#7", "created"],
        ["BP-7", "attached"],
      ]);
    });
  });

  test("ITEM-1: on an item that is not running nothing is recorded", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await agent.offer();
    for (const [type, more] of [
      ["progress", { text: "x" }],
      ["journal", { text: "x" }],
      ["session", { sessionId: "s" }],
    ] as const)
      expect(await code(agent, type, { workItemId: id, ...more })).toBe("invalid");
  });

  test("ITEM-4: work_list has the open items in the order they run, then the last finished", async () => {
    const { desk, agent, id } = await atWork();
    const done: string[] = [];
    for (let n = 0; n < 22; n++) {
      const other = await queue(desk, `done ${n}`);
      await patch(desk, other, { status: "canceled" });
      done.push(other);
    }
    const [c, b] = [await queue(desk, "C", { priority: 60 }), await queue(desk, "B", { ticket: "BP-2" })];
    const { items } = await agent.must("work_list", { workItemId: id });
    expect(items.slice(0, 3).map((i: Any) => i.id)).toEqual([id, b, c]);
    expect(items[0]).toEqual({ id, title: "A", status: "active", kind: "assigned", current: true });
    expect(items[1]).toMatchObject({ ticketKey: "BP-2" });
    expect(items.slice(3).map((i: Any) => i.id)).toEqual(done.toReversed().slice(0, 20));
  });

  test("ITEM-4: work_status answers in the order asked: own, another's, unknown; up to 500", async () => {
    const elsewhere = newId("itm");
    vi.spyOn(CALLS, "itemsOfOthers").mockImplementation(async (_e, _w, _h, ids) =>
      ids.filter((i) => i === elsewhere),
    );
    const { agent, id } = await atWork();
    const unknown = newId("itm");
    const { items } = await agent.must("work_status", { workItemIds: ["x", unknown, id, elsewhere, id] });
    expect(items.map((i: Any) => i.state)).toEqual(["unknown", "unknown", "active", "not_yours", "active"]);
    const many = Array.from({ length: 501 }, () => newId("itm"));
    expect(await code(agent, "work_status", { workItemIds: many })).toBe("invalid");
  });
});
