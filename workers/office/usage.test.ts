/** What rounds use, as the board and the rooms are told (USE-1, USE-3). */
import { beforeEach, expect, test } from "vitest";
import { chatting } from "../testing/chat.ts";
import { newId } from "../testing/client.ts";
import { catchLetters, letters, lettersNow } from "../testing/letters.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  fakeCalls,
  handbackOf,
  patch,
  queue,
  take,
  wake,
} from "../testing/office.ts";
import { evicted } from "../testing/time.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});

const totals = (inputTokens: number, more: object = {}) => ({
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheCreationTokens: 0,
  ...more,
});
const used = (session: string, inputTokens: number, more: object = {}, model = "m") => ({
  session,
  models: { [model]: totals(inputTokens, more) },
});

async function world(more: object = {}): Promise<{ desk: Desk; agent: Agent; id: string }> {
  const desk = await anOffice(more);
  const agent = await connected(desk);
  return { desk, agent, id: await queue(desk, "Work") };
}
/** The rounds of an item, each with its usage; what the board was told of each. */
async function rounds(desk: Desk, agent: Agent, id: string, ...usages: (object[] | undefined)[]) {
  for (const [n, usage] of usages.entries()) {
    if (n > 0) await patch(desk, id, { status: "queued" });
    const count = () => agent.frames.filter((f) => f.type === "offer").length;
    await agent.next((f) => f.type === "offer" && count() > n);
    await agent.must("accept", { workItemId: id, runtime: "claude", model: "m" });
    await agent.must(
      "handback",
      handbackOf(id, {
        status: "waiting",
        toReview: undefined,
        summary: `round ${n}`,
        ...(usage && { usage }),
      }),
    );
  }
  return letters(desk, "board", "used", usages.length);
}

test("USE-1: of a session's running totals what is new counts; a smaller one is the new baseline", async () => {
  const { desk, agent, id } = await world();
  const told = await rounds(
    desk,
    agent,
    id,
    [used("s1", 100)],
    [used("s1", 40)],
    [used("s1", 60)],
    [used("s1", 60)],
    undefined,
  );
  expect(told.map(({ models }) => models.map((m: { inputTokens: number }) => m.inputTokens))).toEqual([
    [100],
    [0],
    [20],
    [0],
    [],
  ]);
  expect(told.map(({ round, item, handle, kind }) => [round, item, handle, kind])).toEqual(
    [1, 2, 3, 4, 5].map((round) => [round, id, "scout", "assigned"]),
  );
});

test("USE-1: sessions and models of a round add up, and baselines outlive an eviction", async () => {
  const { desk, agent, id } = await world();
  await rounds(desk, agent, id, [
    used("s1", 10),
    used("s2", 5),
    { session: "s3", models: { n: totals(7), m: totals(1) } },
  ]);
  await evicted(desk);
  await patch(desk, id, { status: "queued" });
  await agent.next((f) => f.type === "offer" && agent.frames.filter((g) => g.type === "offer").length > 1);
  await agent.must("accept", { workItemId: id, runtime: "claude", model: "m" });
  await agent.must("fail", { workItemId: id, reason: "x", usage: [used("s1", 11), used("s2", 5)] });
  const told = await letters(desk, "board", "used", 2);
  expect(told[0].models).toMatchObject([
    { model: "m", inputTokens: 16 },
    { model: "n", inputTokens: 7 },
  ]);
  expect(told[1].models).toMatchObject([{ model: "m", inputTokens: 1 }]);
});

test("USE-1: the cost is the team's price, else the reported one, else nothing", async () => {
  const prices = { p: { input: 3, output: 15 } };
  const { desk, agent, id } = await world({ usage: { prices } });
  const [told] = await rounds(desk, agent, id, [
    used("s1", 1_000_000, { outputTokens: 100_000, costUsd: 99 }, "p"),
    used("s2", 1, { costUsd: 0.25 }, "q"),
    used("s3", 1, {}, "r"),
    used("s4", 1, {}, "constructor"),
  ]);
  expect(told.models.map((m: { model: string; costUsd: number }) => [m.model, m.costUsd])).toEqual([
    ["p", 4.5],
    ["q", 0.25],
    ["r", 0],
    ["constructor", 0],
  ]);
});

test("USE-1: the same hand-back again counts nothing twice", async () => {
  const { desk, agent, id } = await world();
  await take(agent, id);
  const payload = handbackOf(id, { usage: [used("s1", 100)] });
  await agent.must("handback", payload);
  await agent.must("handback", payload);
  await connected(desk).then((again) => again.must("handback", payload));
  await letters(desk, "board", "used");
  expect(lettersNow(desk, "board", "used")).toHaveLength(1);
});

test("OFFER-5 USE-1: a session of another item is invalid, and nothing ends by it", async () => {
  const { desk, agent, id } = await world();
  await rounds(desk, agent, id, [used("s1", 1)]);
  const other = await queue(desk, "Other");
  await take(agent, other);
  const refused = async (type: string, payload: object) => (await agent.ask(type, payload)).payload.code;
  expect(await refused("session", { workItemId: other, sessionId: "s1" })).toBe("invalid");
  expect(await refused("session", { workItemId: other, sessionId: "" })).toBe("invalid");
  expect(await refused("handback", handbackOf(other, { usage: [used("s1", 2)] }))).toBe("invalid");
  const many = Array.from({ length: 101 }, (_, n) => used(`x${n}`, 1));
  expect(await refused("handback", handbackOf(other, { usage: many }))).toBe("invalid");
  for (const bad of [{ inputTokens: -1 }, { inputTokens: 1.5 }, { costUsd: -1 }, { costUsd: "1" }])
    expect(await refused("handback", handbackOf(other, { usage: [used("s9", 1, bad)] }))).toBe(
      "invalid_message",
    );
  await agent.must("session", { workItemId: other, sessionId: "s2" });
  await agent.must("handback", handbackOf(other, { usage: [used("s2", 2)] }));
  expect((await letters(desk, "board", "used", 2))[1]).toMatchObject({
    item: other,
    models: [{ inputTokens: 2 }],
  });
});

test("USE-2: the tickets and pull requests that an item names are told with it", async () => {
  const { desk, agent } = await world();
  await wake(desk, {
    title: "Ticket",
    priority: 1,
    subject: { type: "ticket", ref: "BP-1" },
    refs: [
      { type: "ticket", ref: "BP-2", role: "linked", source: "link:BP-1" },
      { type: "ticket", ref: "BP-3", role: "attached", source: "x" },
      { type: "pr", ref: "acme/shop#7", role: "created", source: "work_made" },
    ],
  });
  for (const title of ["Work", "Ticket"]) {
    const { payload } = await agent.next((f) => f.type === "offer" && f.payload.workItem.title === title);
    await take(agent, payload.workItem.id);
    await agent.must("handback", handbackOf(payload.workItem.id));
  }
  expect((await letters(desk, "board", "used", 2))[1]).toMatchObject({
    tickets: ["BP-1", "BP-3"],
    prs: ["acme/shop#7"],
  });
});

test("CHAT-2 SPEND-4: a room's run is told its cost as a total over the rounds that it lasts", async () => {
  const desk = await anOffice();
  let agent = await connected(desk);
  await wake(desk, {
    kind: "chat",
    title: "Look",
    body: "Look.",
    origin: {
      channel: "spc_1",
      thread: "msg_1",
      requester: { id: "usr_a" },
      direct: false,
      participant: true,
    },
    room: { spaceId: "spc_1", messageId: "msg_1" },
  });
  const { workItem } = await agent.offer();
  await take(agent, workItem.id);
  const interrupted = {
    status: "interrupted",
    toReview: undefined,
    usage: [used("s1", 10, { costUsd: 0.5 })],
  };
  await agent.must("handback", handbackOf(workItem.id, interrupted));
  agent.ws.close();
  agent = await connected(desk);
  await take(agent, workItem.id);
  await agent.must("handback", handbackOf(workItem.id, { usage: [used("s1", 15, { costUsd: 0.75 })] }));
  const told = await letters(desk, "room", "run_usage", 2);
  expect(told.map(({ costUsd, inputTokens }) => [costUsd, inputTokens])).toEqual([
    [0.5, 10],
    [0.75, 15],
  ]);
  expect(new Set(told.map(({ runId }) => runId)).size).toBe(1);
  expect(lettersNow(desk, "room", "run_end")).toHaveLength(1);
});

test("OFFER-7 USE-1: a late hand-back's usage is kept", async () => {
  const { desk, agent, id } = await world();
  await take(agent, id);
  await patch(desk, id, { status: "canceled" });
  await agent.must("handback", handbackOf(id, { usage: [used("s1", 3)] }));
  expect(await letters(desk, "board", "used")).toMatchObject([{ item: id, models: [{ inputTokens: 3 }] }]);
});

test("OFFER-7 USE-2: what a moved item used counts for the tickets that it named", async () => {
  const { desk, agent } = await world();
  const id = await queue(desk, "Ticket", { ticket: "BP-1", priority: 1 });
  const first = await agent.offer();
  await take(agent, first.workItem.id);
  await agent.must("handback", handbackOf(first.workItem.id));
  await take(agent, id);
  await patch(desk, id, { person: "bob" });
  expect((await agent.ask("heartbeat", { workItemId: id })).payload.code).toBe("unknown_item");
  await agent.must("handback", handbackOf(id, { usage: [used("s1", 3)] }));
  expect((await letters(desk, "board", "used", 2))[1]).toMatchObject({
    item: id,
    kind: "assigned",
    tickets: ["BP-1"],
    models: [{ inputTokens: 3 }],
  });
});

test("USE-3 ITEM-1: usage windows are the board's, each report in place of the last", async () => {
  const { desk, agent } = await world();
  const windows = [{ name: "five_hour", utilization: 0.5, resetsAt: "2026-12-01T00:00:00Z" }];
  await agent.must("usage", { windows });
  expect(await letters(desk, "board", "windows")).toMatchObject([{ handle: "scout", windows }]);
  for (const bad of [{ resetsAt: "soon" }, { name: "x".repeat(201) }])
    expect((await agent.ask("usage", { windows: [{ ...windows[0], ...bad }] })).payload.code).toBe("invalid");
  const many = Array.from({ length: 51 }, () => windows[0]);
  expect((await agent.ask("usage", { windows: many })).payload.code).toBe("invalid");
  expect((await agent.ask("usage", {})).payload.code).toBe("invalid_message");
});

test("CHAT-2: a chat outside of rooms has no run", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const { id } = await chatting(desk, agent, { thread: newId("msg") });
  await agent.must("handback", handbackOf(id, { usage: [used("s1", 3)] }));
  await letters(desk, "board", "used");
  expect(lettersNow(desk, "room", "run_usage")).toEqual([]);
});
