/** Telling who asked how an item ended (REPORT-1 to REPORT-3). */
import { beforeEach, describe, expect, test } from "vitest";
import { type Chat, chatting } from "../testing/chat.ts";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters } from "../testing/letters.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  fakeCalls,
  handback,
  handbackOf,
  patch,
  queue,
  take,
  wake,
} from "../testing/office.ts";
import { evicted, later } from "../testing/time.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});

async function world(): Promise<{ desk: Desk; agent: Agent }> {
  const desk = await anOffice();
  return { desk, agent: await connected(desk) };
}
const asked = async (agent: Agent, workItemId: string, kind: string, more: object = {}): Promise<Any> =>
  (await agent.ask("chat_report", { workItemId, kind }, more)).payload;
const reports = (agent: Agent): Any[] =>
  agent.frames.flatMap((f) => (f.type === "reports" ? f.payload.reports : []));
async function gone(agent: Agent): Promise<void> {
  agent.ws.close();
  await agent.closed;
}
/** A chat that the agent handed back. */
async function ended(desk: Desk, agent: Agent, more: object = {}): Promise<Chat> {
  const chat = await chatting(desk, agent);
  await handback(agent, chat.id, more);
  return chat;
}

describe("REPORT-1: what is granted", () => {
  test("REPORT-1: once an ending and kind, with whom, where and the links", async () => {
    const { desk, agent } = await world();
    const { id, origin } = await chatting(desk, agent);
    const ack = await asked(agent, id, "ack");
    expect(ack).toEqual({ post: true, requester: "usr_anna", links: [], threads: [origin] });
    expect((await asked(agent, id, "ack")).post).toBe(false);
    await agent.must("work_made", {
      workItemId: id,
      pr: { repo: { owner: "acme", name: "shop" }, number: 7, url: "https://code.test/7" },
    });
    await handback(agent, id);
    const result = await asked(agent, id, "result");
    expect(result).toEqual({
      post: true,
      requester: "usr_anna",
      links: [{ url: "https://code.test/7", title: "acme/shop#7" }],
      threads: [origin],
    });
    for (const kind of ["result", "blocked", "failed", "ack"])
      expect([kind, (await asked(agent, id, kind)).post]).toEqual([kind, false]);
  });

  test("REPORT-1: the same frame again gets the same answer, over a reconnect and an eviction too", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent);
    const frame = { id: newId("evt") };
    const first = await agent.ask("chat_report", { workItemId: id, kind: "result" }, frame);
    expect(first.payload.post).toBe(true);
    await agent.must("ping");
    await evicted(desk);
    agent.say("chat_report", { workItemId: id, kind: "result" }, frame);
    const answers = await agent.next((f) => f.replyTo === frame.id && f.id !== first.id);
    expect(answers.payload).toEqual(first.payload);
    const again = await connected(desk);
    expect(await asked(again, id, "result", frame)).toEqual(first.payload);
    expect((await asked(again, id, "result")).post).toBe(false);
  });

  test("REPORT-1: of what has not ended, or not so, nothing is told", async () => {
    const { desk, agent } = await world();
    const { id } = await chatting(desk, agent);
    for (const kind of ["result", "blocked", "failed"])
      expect((await asked(agent, id, kind)).code).toBe("invalid");
    await handback(agent, id, { status: "interrupted", toReview: undefined });
    expect((await asked(agent, id, "result")).code).toBe("invalid");
    expect((await asked(agent, "itm_none", "ack")).code).toBe("unknown_item");
    expect((await asked(agent, id, "soon")).code).toBe("invalid_message");
  });

  test("REPORT-1: what ends silently, or where nobody asked, is told nobody", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent, { status: "silent", toReview: undefined });
    expect(await asked(agent, id, "result")).toEqual({ post: false, links: [] });
    const plain = await queue(desk, "Plain");
    await take(agent, plain);
    expect((await asked(agent, plain, "ack")).post).toBe(false);
    await handback(agent, plain);
    expect((await asked(agent, plain, "result")).post).toBe(false);
    await gone(agent);
    expect((await connected(desk)).frames[0].payload.reports).toBeUndefined();
  });

  test("REPORT-1: each ending of an item is told", async () => {
    const { desk, agent } = await world();
    const { id, origin } = await chatting(desk, agent);
    await handback(agent, id, { status: "waiting", toReview: undefined, summary: "Which shop?" });
    expect((await asked(agent, id, "result")).post).toBe(true);
    const from = agent.frames.length;
    await wake(desk, { kind: "chat", body: "The blue one.", origin, title: "x" });
    await take(agent, id, from);
    await handback(agent, id);
    expect((await asked(agent, id, "result")).post).toBe(true);
    expect((await asked(agent, id, "result")).post).toBe(false);
  });
});

describe("REPORT-3: where it goes", () => {
  test("REPORT-3: a blocked item without a thread is told who asked, directly; a teammate is not", async () => {
    const { desk, agent } = await world();
    for (const [kind, direct] of [
      ["human", "usr_bo"],
      ["agent", undefined],
    ] as const) {
      const from = agent.frames.length;
      await wake(desk, { title: kind, requester: { id: "usr_bo", kind } });
      const { payload } = await agent.next(
        (f) => f.type === "offer" && f.payload.workItem.title === kind,
        from,
      );
      const { id } = payload.workItem;
      await take(agent, id, from);
      await agent.must("fail", { workItemId: id, reason: "No tools." });
      const answer = await asked(agent, id, "failed");
      expect(answer.post).toBe(direct !== undefined);
      expect(answer.direct).toBe(direct);
      expect(answer.threads).toBeUndefined();
    }
  });
});

describe("REPORT-2: what is queued", () => {
  test("REPORT-2: the connection ended before the agent's next frame: queued once, under the grant's frame id", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent, { summary: "The shop is fine." });
    const frame = newId("evt");
    expect((await asked(agent, id, "result", { id: frame })).post).toBe(true);
    await gone(agent);
    const again = await connected(desk);
    const [report, ...more] = again.frames[0].payload.reports;
    expect(more).toEqual([]);
    expect(report).toMatchObject({ id: frame, workItemId: id, kind: "result", text: "The shop is fine." });
    expect((await asked(again, id, "result", { id: frame })).post).toBe(false);
    await again.must("report_posted", { workItemId: id, id: frame });
    await again.must("report_posted", { workItemId: id, id: frame });
    expect((await asked(again, id, "result", { id: frame })).post).toBe(false);
    await gone(again);
    expect((await connected(desk)).frames[0].payload.reports).toBeUndefined();
  });

  test("REPORT-2: a frame after the grant, and it counts as posted, also over an eviction between them", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent);
    expect((await asked(agent, id, "result")).post).toBe(true);
    await evicted(desk);
    await agent.must("heartbeat");
    await gone(agent);
    const again = await connected(desk);
    expect(again.frames[0].payload.reports).toBeUndefined();
    expect((await asked(again, id, "result")).post).toBe(false);
  });

  test("REPORT-2 OFF-7: an eviction between the grant and the end of its connection loses nothing", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent);
    const frame = newId("evt");
    await asked(agent, id, "result", { id: frame });
    await evicted(desk, "close");
    const again = await connected(desk);
    expect(again.frames[0].payload.reports).toMatchObject([{ id: frame }]);
  });

  test("REPORT-2 OFF-3: a newer connection ends the older one, and its grant with it", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent);
    const frame = newId("evt");
    await asked(agent, id, "result", { id: frame });
    const newer = await connected(desk);
    expect(newer.frames[0].payload.reports).toMatchObject([{ id: frame, workItemId: id }]);
  });

  test("REPORT-2: nobody asked for a minute, and the office does; from then on `chat_report` is no", async () => {
    const { desk, agent } = await world();
    const { id, origin } = await ended(desk, agent, { summary: "The shop is fine." });
    await later(desk, 59_000, agent);
    expect(reports(agent)).toEqual([]);
    await later(desk, 2000, agent);
    expect(reports(agent)).toEqual([
      {
        id: expect.stringMatching(/^rpt_/),
        workItemId: id,
        kind: "result",
        text: "The shop is fine.",
        requester: "usr_anna",
        links: [],
        threads: [origin],
      },
    ]);
    expect((await asked(agent, id, "result")).post).toBe(false);
  });

  test("REPORT-2 OFF-7: again after a minute, doubling to an hour, until it is confirmed, over evictions", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent);
    await later(desk, 61_000, agent);
    for (const [minutes, count] of [
      [1, 2],
      [1, 2],
      [1, 3],
      [2, 3],
    ] as const) {
      await evicted(desk);
      await later(desk, minutes * 60_000 + 500, agent);
      expect(reports(agent)).toHaveLength(count);
    }
    await agent.must("report_posted", { workItemId: id, id: reports(agent)[0].id });
    await later(desk, 30 * 60_000, agent);
    expect(reports(agent)).toHaveLength(3);
  });

  test("REPORT-2: a hand-back whose connection ended at once is told on the next", async () => {
    const { desk, agent } = await world();
    const { id } = await chatting(desk, agent);
    await agent.must("fail", { workItemId: id, reason: "No tools." });
    await gone(agent);
    const again = await connected(desk);
    expect(again.frames[0].payload.reports).toMatchObject([
      { workItemId: id, kind: "blocked", text: "No tools." },
    ]);
  });

  test("REPORT-2: confirming what is not there is not found", async () => {
    const { desk, agent } = await world();
    const { id } = await ended(desk, agent);
    expect((await agent.ask("report_posted", { workItemId: id, id: "rpt_none" })).payload.code).toBe(
      "not_found",
    );
    expect((await agent.ask("report_posted", { workItemId: "itm_none", id: "x" })).payload.code).toBe(
      "unknown_item",
    );
    expect((await agent.ask("report_posted", { workItemId: id })).payload.code).toBe("invalid_message");
  });

  test("OFF-8: the same hand-back again makes no second report", async () => {
    const { desk, agent } = await world();
    const { id } = await chatting(desk, agent);
    const payload = handbackOf(id);
    await agent.must("handback", payload);
    await agent.must("handback", payload);
    await later(desk, 61_000, agent);
    expect(reports(agent)).toHaveLength(1);
  });

  test("OFF-5: many long reports come in a welcome that fits 1 MiB, and in frames after it", async () => {
    const { desk, agent } = await world();
    const summary = "\u0001".repeat(65_000);
    for (let n = 0; n < 4; n++) await ended(desk, agent, { summary });
    await gone(agent);
    const again = await connected(desk);
    await again.must("ping");
    const all = [...again.frames[0].payload.reports, ...reports(again)];
    expect(new Set(all.map(({ workItemId }) => workItemId)).size).toBe(4);
    for (const frame of again.frames) expect(JSON.stringify(frame).length).toBeLessThanOrEqual(1_048_576);
  });

  test("REPORT-2: an item that went to a teammate is still reported by who ended it", async () => {
    const { desk, agent } = await world();
    const { id, origin } = await ended(desk, agent, { status: "blocked", toReview: undefined });
    await patch(desk, id, { person: "bob" });
    await gone(agent);
    const again = await connected(desk);
    expect(again.frames[0].payload.reports).toMatchObject([
      { workItemId: id, kind: "blocked", threads: [origin] },
    ]);
  });
});
