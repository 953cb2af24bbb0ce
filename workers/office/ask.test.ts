/** Questions to teammates and humans, and their answers (ITEM-2). */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters, letters, lettersNow } from "../testing/letters.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  fakeCalls,
  handback,
  handbackOf,
  itemOf,
  patch,
  queue,
  take,
  wake,
} from "../testing/office.ts";
import { evicted } from "../testing/time.ts";
import { CALLS } from "./calls.ts";
import type { AskAsk } from "./letters.ts";

const put: AskAsk[] = [];
let meanwhile: (() => Promise<unknown>) | undefined;

beforeEach(() => {
  fakeCalls();
  catchLetters();
  put.length = 0;
  meanwhile = undefined;
  vi.spyOn(CALLS, "ask").mockImplementation(async (_env, _workspace, asked) => {
    put.push(asked);
    await meanwhile?.();
    if (asked.to === "ghost")
      return { ok: false, error: { code: "not_found", message: "There is nobody called ghost." } };
    if (asked.to === "Anna") return { ok: true, value: { to: "Anna", kind: "human" } };
    return { ok: true, value: { to: asked.to === "dev" ? "bob" : asked.to, kind: "person" } };
  });
});

async function atWork(): Promise<{ desk: Desk; agent: Agent; id: string }> {
  const desk = await anOffice();
  const agent = await connected(desk);
  const id = await queue(desk, "Paint the door");
  await take(agent, id);
  return { desk, agent, id };
}
/** A question of Bob's that the agent is at work on. */
async function questioned(): Promise<{ desk: Desk; agent: Agent; id: string; ask: string }> {
  const desk = await anOffice();
  const agent = await connected(desk);
  const ask = newId("qst");
  await wake(desk, {
    kind: "question",
    title: "Question from bob",
    trigger: "agent",
    requester: { id: "bob", kind: "agent" },
    question: { id: ask, from: "bob", parentId: "itm_bobs", chain: ["ada", "bob"], text: "Which blue?" },
  });
  const { workItem } = await agent.offer();
  expect(workItem).toMatchObject({ kind: "question", parentId: "itm_bobs", trigger: "agent" });
  await take(agent, workItem.id);
  return { desk, agent, id: workItem.id, ask };
}
const code = async (agent: Agent, type: string, payload: object): Promise<string> =>
  (await agent.ask(type, payload)).payload.code;

describe("asking", () => {
  test("ITEM-2: is pending, of the active item, with the chain of who asks", async () => {
    const { agent, id } = await atWork();
    const asked = await agent.must("ask", { to: "bob", question: "Which blue?" });
    expect(asked).toEqual({
      id: expect.stringMatching(/^qst_0[0-9A-HJKMNP-TV-Z]{25}$/),
      to: "bob",
      status: "pending",
    });
    expect(put).toEqual([
      { id: asked.id, from: "scout", to: "bob", question: "Which blue?", item: id, chain: ["scout"] },
    ]);
  });

  test("ITEM-2: the same question, however it is spelled, is not put twice, over evictions too", async () => {
    const { desk, agent, id } = await atWork();
    const first = await agent.must("ask", { to: "bob", question: "Which blue?" });
    await evicted(desk);
    for (const asked of [
      { to: "@Bob", question: " which  BLUE? " },
      { to: "BOB", question: "Which blue?", workItemId: id },
    ])
      expect(await agent.must("ask", asked)).toEqual(first);
    expect(put).toHaveLength(1);
    expect((await agent.must("ask", { to: "bob", question: "Which red?" })).id).not.toBe(first.id);
  });

  test("ITEM-2 OFF-7: what the board took and the office lost is put again under the same id", async () => {
    const { agent } = await atWork();
    vi.spyOn(console, "error").mockImplementation(() => {});
    vi.mocked(CALLS.ask).mockRejectedValueOnce(new Error("out of reach"));
    const payload = { to: "bob", question: "Which blue?" };
    expect(await code(agent, "ask", payload)).toBe("failed");
    const { id } = await agent.must("ask", payload);
    expect(
      vi
        .mocked(CALLS.ask)
        .mock.calls.slice(-2)
        .map(([, , asked]) => asked.id),
    ).toEqual([id, id]);
  });

  test("ITEM-2: an answer makes it answered, and stands in the journal of later rounds", async () => {
    const { desk, agent, id } = await atWork();
    const payload = { to: "bob", question: "Which blue?" };
    const asked = await agent.must("ask", payload);
    await desk.letter("answer", { ask: asked.id, answer: "Navy.", by: "bob" });
    expect(await agent.must("ask", payload)).toEqual({ ...asked, status: "answered", answer: "Navy." });
    await desk.letter("answer", { ask: asked.id, answer: "Teal.", by: "bob" });
    expect((await agent.must("ask", payload)).answer).toBe("Navy.");
    await handback(agent, id, { status: "interrupted", toReview: undefined });
    const again = await connected(desk);
    const offer = await again.offer();
    expect(offer.context.journal).toMatchObject([
      { author: "bob", text: 'Answer to "Which blue?": Navy.' },
      { author: "scout" },
    ]);
  });

  test("ITEM-2: an item that waits for the answer is queued by it", async () => {
    const { desk, agent, id } = await atWork();
    const { id: ask } = await agent.must("ask", { to: "bob", question: "Which blue?" });
    await handback(agent, id, { status: "waiting", toReview: undefined });
    expect((await itemOf(desk, id)).state).toBe("waiting");
    const from = agent.frames.length;
    await desk.letter("answer", { ask, answer: "Navy.", by: "bob" });
    expect((await agent.offer(from)).workItem.id).toBe(id);
  });

  test("ITEM-2: an answer that came while it ran and was not seen needs no waiting for", async () => {
    const { desk, agent, id } = await atWork();
    const payload = { to: "bob", question: "Which blue?" };
    const { id: ask } = await agent.must("ask", payload);
    await desk.letter("answer", { ask, answer: "Navy.", by: "bob" });
    const from = agent.frames.length;
    await handback(agent, id, { status: "waiting", toReview: undefined });
    await take(agent, id, from);
    await agent.must("ask", payload);
    await handback(agent, id, { status: "waiting", toReview: undefined });
    expect((await itemOf(desk, id)).state).toBe("waiting");
  });

  test("ITEM-2: an answer that is quicker than the board's own is not lost", async () => {
    const { desk, agent } = await atWork();
    meanwhile = () => desk.letter("answer", { ask: put.at(-1)?.id ?? "", answer: "Navy.", by: "bob" });
    expect(await agent.must("ask", { to: "bob", question: "Which blue?" })).toMatchObject({
      status: "answered",
      answer: "Navy.",
      to: "bob",
    });
  });

  test("ITEM-2: nobody will answer: the asker is told so", async () => {
    const { desk, agent } = await atWork();
    const payload = { to: "bob", question: "Which blue?" };
    const { id: ask } = await agent.must("ask", payload);
    await desk.letter("answer", {
      ask,
      answer: "bob is not in the team any more.",
      by: "bob",
      canceled: true,
    });
    expect(await agent.must("ask", payload)).toMatchObject({
      status: "answered",
      answer: "bob is not in the team any more.",
    });
  });

  test("ITEM-2: the asker's item ended, and what nobody answered is asked no more", async () => {
    const { desk, agent, id } = await atWork();
    const first = await agent.must("ask", { to: "bob", question: "Which blue?" });
    const done = await agent.must("ask", { to: "Anna", question: "May I?" });
    await desk.letter("answer", { ask: done.id, answer: "Yes.", by: "Anna" });
    await handback(agent, id);
    expect(await letters(desk, "board", "question_canceled")).toEqual([{ ask: first.id, to: "bob" }]);
    expect(await code(agent, "ask", { to: "bob", question: "Which blue?", workItemId: id })).toBe("invalid");
    const from = agent.frames.length;
    await patch(desk, id, { status: "queued" });
    await take(agent, id, from);
    const again = await agent.must("ask", { to: "bob", question: "Which blue?" });
    expect(again).toMatchObject({ status: "pending" });
    expect(again.id).not.toBe(first.id);
  });

  test("ITEM-2: an item that ends while the board is asked takes its question with it", async () => {
    const { desk, agent, id } = await atWork();
    meanwhile = () => patch(desk, id, { status: "canceled" });
    expect(
      (await agent.ask("ask", { to: "bob", question: "Which blue?", workItemId: id })).payload.status,
    ).toBe("pending");
    expect(await letters(desk, "board", "question_canceled")).toMatchObject([{ to: "bob" }]);
  });

  test("ITEM-2: a question may be of no item", async () => {
    const agent = await connected(await anOffice());
    expect((await agent.must("ask", { to: "bob", question: "Free?" })).status).toBe("pending");
    expect(put[0]?.item).toBeUndefined();
  });

  test("ITEM-2: oneself, a ring, nobody, an item of others, and what is no question", async () => {
    const { agent } = await atWork();
    const ask = (more: object) => code(agent, "ask", { to: "bob", question: "Which blue?", ...more });
    expect(await ask({ to: "scout" })).toBe("invalid");
    expect(await ask({ to: "ghost" })).toBe("not_found");
    expect(await ask({ to: " " })).toBe("not_found");
    expect(await ask({ question: " " })).toBe("invalid");
    expect(await ask({ question: "x".repeat(16_385) })).toBe("invalid");
    expect(await ask({ workItemId: "itm_none" })).toBe("unknown_item");
    expect(await ask({ question: 1 })).toBe("invalid_message");
    expect(put.map(({ to }) => to)).toEqual(["ghost"]);
  });

  test("ITEM-2: whoever works on a question asks nobody who waits for it", async () => {
    const { agent } = await questioned();
    expect(await code(agent, "ask", { to: "bob", question: "Why?" })).toBe("invalid");
    await agent.must("ask", { to: "dev", question: "Why?" });
    expect(put[0]?.chain).toEqual(["ada", "bob", "scout"]);
  });
});

describe("answering", () => {
  test("ITEM-2: the answer goes to the board, and the item is done", async () => {
    const { desk, agent, id, ask } = await questioned();
    await agent.must("answer", { questionId: id, answer: "Navy." });
    expect(await letters(desk, "board", "answered")).toMatchObject([{ ask, answer: "Navy.", by: "scout" }]);
    expect((await itemOf(desk, id)).state).toBe("done");
  });

  test("ITEM-2 OFF-8: the same answer again is acked, another is invalid, and one letter left", async () => {
    const { desk, agent, id } = await questioned();
    await agent.must("answer", { questionId: id, answer: "Navy." });
    await evicted(desk);
    await agent.must("answer", { questionId: id, answer: "Navy." });
    expect(await code(agent, "answer", { questionId: id, answer: "Teal." })).toBe("invalid");
    expect(lettersNow(desk, "board", "answered")).toHaveLength(1);
  });

  test("ITEM-2 USE-1: the hand-back after the answer is acked, and its usage counts once", async () => {
    const { desk, agent, id } = await questioned();
    await agent.must("answer", { questionId: id, answer: "Navy." });
    const tokens = { inputTokens: 5, outputTokens: 1, cacheReadTokens: 0, cacheCreationTokens: 0 };
    const payload = handbackOf(id, { usage: [{ session: newId("evt"), models: { m: tokens } }] });
    await agent.must("handback", payload);
    await agent.must("handback", payload);
    expect((await letters(desk, "board", "used"))[0]).toMatchObject({
      item: id,
      models: [{ model: "m", inputTokens: 5 }],
    });
    expect(lettersNow(desk, "board", "used")).toHaveLength(1);
    expect(lettersNow(desk, "board", "answered")).toMatchObject([{ answer: "Navy." }]);
  });

  test("ITEM-2: done without an answer makes the summary the answer", async () => {
    const { desk, agent, id, ask } = await questioned();
    await handback(agent, id, { summary: "Navy it is.", toReview: undefined });
    expect(await letters(desk, "board", "answered")).toMatchObject([{ ask, answer: "Navy it is." }]);
    expect(await code(agent, "answer", { questionId: id, answer: "Teal." })).toBe("invalid");
  });

  test("ITEM-2: what is withdrawn before it began is canceled", async () => {
    const desk = await anOffice();
    const question = { id: newId("qst"), from: "bob", chain: ["bob"], text: "Which blue?" };
    await wake(desk, { kind: "question", title: "Question", question });
    await desk.letter("question_withdrawn", { ask: question.id, by: "bob" });
    const agent = await connected(desk);
    await queue(desk, "Next");
    expect((await agent.offer()).workItem.title).toBe("Next");
  });

  test("ITEM-2: an item of others, one that is no question, one not begun, and no words", async () => {
    const { agent, id } = await questioned();
    expect(await code(agent, "answer", { questionId: "itm_none", answer: "x" })).toBe("unknown_item");
    expect(await code(agent, "answer", { questionId: id, answer: " " })).toBe("invalid");
    expect(await code(agent, "answer", { questionId: id, answer: "x".repeat(65_537) })).toBe("invalid");
    expect(await code(agent, "answer", { questionId: id })).toBe("invalid_message");
    const work = await atWork();
    expect(await code(work.agent, "answer", { questionId: work.id, answer: "x" })).toBe("invalid");
  });
});

test("RECALL-1: a question's answer is found by its words, and by who gave it", async () => {
  const { desk, agent } = await atWork();
  const { id: ask } = await agent.must("ask", { to: "bob", question: "Which blue?" });
  await desk.letter("answer", { ask, answer: "Navy.", by: "bob" });
  const found = await agent.must("recall", { query: "navy", with: "bob", limit: 5 });
  expect(found.moments.map((m: Any) => [m.kind, m.who])).toEqual([["journal", "bob"]]);
});
