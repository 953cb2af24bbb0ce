/** Offers: what goes out, when, and with what (OFFER-1 to OFFER-5, CHAT-2, USE-3). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { JOURNAL_BYTES } from "../../src/shared/rules/offer-bounds.ts";
import { byteLength } from "../../src/shared/rules/text.ts";
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
  itemOf,
  later,
  patch,
  queue,
  STANDS,
  seen,
  take,
  until,
  wake,
} from "../testing/office.ts";
import type { OfferAsk } from "./letters.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
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

  test("PIPE-1: which item a wake became, and that an item was canceled, is told for the traces", async () => {
    fakeCalls((ask) => (ask.subject ? { stands: false, why: "BP-1 is done." } : STANDS));
    const desk = await anOffice();
    const agent = await connected(desk);
    const feedback = { actor: "Anna", kind: "comment" as const, body: "x" };
    const [first, second, third] = [newId("evt"), newId("evt"), newId("evt")];
    await wake(desk, {
      eventId: first,
      subject: { type: "ticket", ref: "BP-1" },
      feedback: { key: "1", ...feedback },
    });
    await eventually(() =>
      expect(lettersNow(desk, "board", "canceled")).toMatchObject([
        {
          events: [first],
          why: "BP-1 is done.",
          item: lettersNow(desk, "board", "woken")[0].item,
        },
      ]),
    );
    // What came while it ran is canceled with it; what the agent has done already is not.
    await wake(desk, {
      eventId: second,
      refs: [{ type: "ticket", ref: "BP-2", role: "subject", source: second }],
    });
    const { workItem } = await agent.offer();
    await agent.must("accept", { workItemId: workItem.id, runtime: "script", model: "m" });
    await wake(desk, {
      eventId: third,
      subject: { type: "ticket", ref: "BP-2" },
      feedback: { key: "3", ...feedback },
    });
    await patch(desk, workItem.id, { status: "blocked" });
    await patch(desk, workItem.id, { status: "canceled" });
    await eventually(() =>
      expect(lettersNow(desk, "board", "canceled").slice(1)).toEqual([
        { handle: "scout", item: workItem.id, events: [third], why: "canceled by Anna" },
      ]),
    );
    expect(lettersNow(desk, "board", "woken").slice(1)).toEqual([
      { handle: "scout", eventId: second, item: workItem.id },
      { handle: "scout", eventId: third, item: workItem.id },
    ]);
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
    await eventually(() => expect(lettersNow(desk, "room", "notice")[0]?.text).toContain("declined 5 times"));
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
