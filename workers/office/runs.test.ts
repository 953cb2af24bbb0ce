/** Work that runs in a room, and questions that end there or are withdrawn (CHAT-2, ITEM-2). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { allLetters, catchLetters, lettersNow } from "../testing/letters.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  eventually,
  fakeCalls,
  handback,
  itemOf,
  patch,
  seen,
  take,
  wake,
} from "../testing/office.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const asked = async (agent: Agent, type: string, payload: object) => (await agent.ask(type, payload)).payload;

const runs = (desk: Desk): Any[] =>
  allLetters(desk, "room")
    .filter(({ kind }) => kind.startsWith("run_"))
    .map(({ kind, body }) => [kind, body.runId, body.outcome ?? body.text ?? body.messageIds]);

describe("a chat of our rooms", () => {
  const requester = { id: newId("usr"), name: "Max" };
  /** A message of a room as the board passes it on. */
  async function said(desk: Desk, text: string, more: { thread?: string; channel?: string } = {}) {
    const message = newId("msg");
    const channel = more.channel ?? newId("spc");
    const origin = { channel, thread: more.thread ?? message, requester, direct: false, participant: true };
    await wake(desk, {
      key: `${channel}/${message}`,
      kind: "chat",
      title: text,
      origin,
      subject: { type: "chat_thread", ref: `${channel}/${origin.thread}` },
      requester: { ...requester, kind: "human" },
      feedback: { key: `chat:${message}`, actor: "Max", kind: "chat", body: text },
      room: { spaceId: channel, messageId: message },
    });
    return { message, channel, thread: origin.thread };
  }

  test.each([
    ["done", "done"],
    ["waiting", "done"],
    ["silent", "no_reply"],
    ["blocked", "failed"],
  ])("CHAT-2: its round is a run of the room: %s ends it as %s", async (status, outcome) => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const { message } = await said(desk, "hello");
    const { id } = (await agent.offer()).workItem;
    await take(agent, id);
    await agent.must("progress", { workItemId: id, text: "thinking" });
    await handback(agent, id, { status });
    await eventually(() => expect(runs(desk).at(-1)?.[0]).toBe("run_end"));
    const [[, runId]] = runs(desk);
    expect(runs(desk).filter(([kind]: Any) => kind !== "run_usage")).toEqual([
      ["run_start", runId, [message]],
      ["run_step", runId, "thinking"],
      ["run_end", runId, outcome],
    ]);
  });

  test("CHAT-2: interrupted keeps it open, and the next round goes on in it", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    await said(desk, "hello");
    const { id } = (await agent.offer()).workItem;
    await take(agent, id);
    await handback(agent, id, { status: "interrupted", summary: "" });
    const again = await connected(desk);
    const offer = await take(again, id);
    expect(offer.context.feedback.map((f: Any) => f.body)).toEqual(["hello"]);
    await handback(again, id);
    await eventually(() => expect(runs(desk).at(-1)?.[0]).toBe("run_end"));
    expect(new Set(runs(desk).map(([, runId]: Any) => runId)).size).toBe(1);
    expect(runs(desk).filter(([kind]: Any) => kind === "run_end").length).toBe(1);
  });

  test("CHAT-2: run.stop cancels the item, a ceiling blocks it", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    for (const because of [undefined, "spend"] as const) {
      await said(desk, `hello ${because}`);
      const offer = await agent.next(
        (f) => f.type === "offer" && f.payload.workItem.title === `hello ${because}`,
      );
      const { id } = offer.payload.workItem;
      await take(agent, id);
      await eventually(() => expect(runs(desk).at(-1)?.[0]).toBe("run_start"));
      const runId = runs(desk).at(-1)[1];
      const by = { id: requester.id, name: "Max" };
      await desk.letter("stop_run", { runId, by, ...(because && { because }) });
      expect((await itemOf(desk, id)).state).toBe(because ? "blocked" : "canceled");
      const refused = await asked(agent, "progress", { workItemId: id, text: "on" });
      expect(refused.code).toBe("unknown_item");
      expect(refused.message).toContain(because ? "ceiling" : "stopped by Max");
      await eventually(() => expect(runs(desk).at(-1)).toEqual(["run_end", runId, "stopped"]));
    }
  });

  test("CHAT-2: more in the thread while it runs is the next round; another thread another item", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const first = await said(desk, "one");
    const { id } = (await agent.offer()).workItem;
    await take(agent, id);
    const second = await said(desk, "two", first);
    await said(desk, "elsewhere");
    const from = agent.frames.length;
    await handback(agent, id);
    // Behind what came before its next round was queued.
    await agent.next((f) => f.type === "offer", from);
    expect((await seen(desk)).items.map((i: Any) => [i.title, i.round])).toEqual([
      ["elsewhere", 1],
      ["one", 2],
    ]);
    await eventually(() => expect(runs(desk).length).toBeGreaterThan(1));
    const other = agent.frames.findLast((f) => f.type === "offer").payload.workItem.id;
    await take(agent, other);
    await handback(agent, other);
    const offer = await take(agent, id, agent.frames.length - 1);
    expect(offer.context.feedback.map((f: Any) => f.body)).toEqual(["two"]);
    await eventually(() => expect(runs(desk).at(-1)[2]).toEqual([second.message]));
  });

  test("NEW-7: a message that was edited is offered as it is now; one taken back is not", async () => {
    const desk = await anOffice();
    const one = await said(desk, "one");
    await desk.letter("message_changed", { messageId: one.message, text: "one, better" });
    const two2 = await said(desk, "two");
    await desk.letter("message_changed", { messageId: two2.message, deleted: true });
    const agent = await connected(desk);
    expect((await agent.offer()).context.feedback[0].body).toBe("one, better");
    expect((await seen(desk)).items.map((i: Any) => i.state)).toEqual(["queued", "canceled"]);
  });

  test("QUEUE-1: what is canceled before it ran ends in the room as stopped", async () => {
    const desk = await anOffice();
    await said(desk, "hello");
    const [{ id }] = (await seen(desk)).items;
    await patch(desk, id, { status: "canceled" });
    await eventually(() => expect(runs(desk).map(([kind]: Any) => kind)).toEqual(["run_start", "run_end"]));
  });
});

const ask = (id: string) => ({ id, from: "bob", chain: ["bob"], text: "Which colour?" });

describe("a question", () => {
  test("ITEM-2: withdrawn before it was begun it is canceled", async () => {
    const desk = await anOffice();
    const id = newId("qst");
    await wake(desk, { kind: "question", title: "Q", question: ask(id) });
    await desk.letter("question_withdrawn", { ask: id, by: "bob" });
    expect((await seen(desk)).items).toMatchObject([
      { state: "canceled", why_waiting: "bob needs no answer any more" },
    ]);
  });

  test.each([["blocked"], ["canceled"]])(
    "ITEM-2: one that ends %s without an answer is told to who asked",
    async (how) => {
      const desk = await anOffice();
      const agent = await connected(desk);
      const id = newId("qst");
      await wake(desk, { kind: "question", title: "Q", question: ask(id) });
      const item = (await agent.offer()).workItem.id;
      expect((await agent.offer()).context.journal[0].text).toBe("Which colour?");
      await take(agent, item);
      if (how === "blocked") await handback(agent, item, { status: "blocked", summary: "I do not know." });
      else await patch(desk, item, { status: "canceled" });
      await eventually(() => {
        const why = how === "blocked" ? "I do not know." : "stopped by Anna";
        expect(lettersNow(desk, "board", "question_canceled")).toEqual([{ ask: id, to: "scout", why }]);
      });
    },
  );
});
