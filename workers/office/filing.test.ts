/** Filing a chat's request as work (CHAT-3, CHAT-4). */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { chatting, said } from "../testing/chat.ts";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters, letters, lettersNow } from "../testing/letters.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  fakeCalls,
  handback,
  itemOf,
  queue,
  seen,
  take,
  wake,
} from "../testing/office.ts";
import { evicted } from "../testing/time.ts";
import { CALLS } from "./calls.ts";
import type { Found } from "./letters.ts";

const ticket = (key: string, more: Partial<Found> = {}): Found => ({
  ref: { type: "ticket", ref: key },
  subject: { type: "ticket", ref: key, title: `Ticket ${key}`, url: `https://tracker.test/${key}` },
  open: true,
  status: "ready",
  ...more,
});
const pr = (n: number, more: Partial<Found> = {}): Found => ({
  ref: { type: "pr", ref: `acme/shop#${n}` },
  subject: { type: "pr", ref: `acme/shop#${n}`, title: `Change ${n}`, state: "open", own: true },
  open: true,
  owner: "scout",
  ...more,
});
const FOUND: Record<string, Found> = {
  "BP-1": ticket("BP-1"),
  "bp-1": ticket("BP-1"),
  "BP-2": ticket("BP-2"),
  "BP-3": ticket("BP-3", { owner: "bob" }),
  "BP-4": ticket("BP-4", { open: false, status: "done" }),
  "BP-5": ticket("BP-5", { owner: "scout" }),
  "7": pr(7, { ticket: "BP-1" }),
  "8": pr(8, { inReview: true }),
  "9": pr(9, { open: false }),
  D1: { ref: { type: "doc", ref: "D1" }, subject: { type: "doc", ref: "D1" }, open: true, owner: "scout" },
};

beforeEach(() => {
  fakeCalls();
  catchLetters();
  vi.spyOn(CALLS, "find").mockImplementation(async (_env, _workspace, _handle, target) => {
    const value = FOUND[target];
    if (target === "12")
      return { ok: false, error: { code: "invalid", message: "12 may be a/b#12, c/d#12." } };
    return value
      ? { ok: true, value }
      : { ok: false, error: { code: "not_found", message: `There is no ${target}.` } };
  });
});

async function chat(more: object = {}): Promise<{ desk: Desk; agent: Agent; id: string; origin: Any }> {
  const desk = await anOffice();
  const agent = await connected(desk);
  return { desk, agent, ...(await chatting(desk, agent, more)) };
}
const code = async (agent: Agent, type: string, payload: object): Promise<string> =>
  (await agent.ask(type, payload)).payload.code;

describe("CHAT-3: work_queue", () => {
  test("CHAT-3: an idle person's filed work starts next, in the chat's thread, for who asked", async () => {
    const { desk, agent, id, origin } = await chat();
    const filed = await agent.must("work_queue", {
      workItemId: id,
      title: "Fix the door",
      body: "It creaks.",
    });
    expect(filed).toMatchObject({
      item: { title: "Fix the door", status: "queued", kind: "assigned" },
      waiting: false,
      work: [],
    });
    const from = agent.frames.length;
    await handback(agent, id);
    const offer = await take(agent, filed.item.id, from);
    expect(offer.workItem).toMatchObject({ title: "Fix the door", trigger: "human", origin });
    expect(offer.context.journal[0].text).toBe("It creaks.");
    await handback(agent, filed.item.id);
    const report = await agent.must("chat_report", { workItemId: filed.item.id, kind: "result" });
    expect(report).toMatchObject({ post: true, requester: "usr_anna", threads: [origin] });
    expect((await seen(desk)).items.every((i: Any) => i.state === "done")).toBe(true);
  });

  test("CHAT-3: a busy person's stands last and waits; `work` has the others in the order they run", async () => {
    const { desk, agent, id } = await chat();
    const urgent = await queue(desk, "Urgent", { priority: 1 });
    const low = await queue(desk, "Low", { priority: 900 });
    const filed = await agent.must("work_queue", { workItemId: id, title: "Fix the door" });
    expect(filed.waiting).toBe(true);
    expect(filed.work.map((w: Any) => w.id)).toEqual([urgent, low]);
    expect((await itemOf(desk, filed.item.id)).position).toBe(3);
    const from = agent.frames.length;
    await agent.must("work_place", { workItemId: filed.item.id, position: "next" });
    await handback(agent, id);
    expect((await agent.offer(from)).workItem.id).toBe(filed.item.id);
  });

  test("CHAT-3: one filing a title and message; the same again is the first answer, over an eviction too", async () => {
    const { desk, agent, id } = await chat();
    const first = await agent.must("work_queue", { workItemId: id, title: "Fix the door" });
    await evicted(desk);
    expect(await agent.must("work_queue", { workItemId: id, title: "  fix THE  door" })).toEqual(first);
    expect((await seen(desk)).items).toHaveLength(2);
    expect(await code(agent, "work_check", { workItemId: id, request: "Fix the door" })).toBe("invalid");
    await agent.must("work_check", { workItemId: id, request: "Fix the window" });
    expect(await code(agent, "work_link", { workItemId: id, ticket: "BP-1", request: "fix the door" })).toBe(
      "invalid",
    );
  });

  test("CHAT-3: a later message may file the same title again", async () => {
    const { desk, agent, id, origin } = await chat();
    const first = await agent.must("work_queue", { workItemId: id, title: "Fix the door" });
    await handback(agent, id, { status: "waiting", toReview: undefined });
    await take(agent, first.item.id);
    const from = agent.frames.length;
    await handback(agent, first.item.id);
    await said(desk, { text: "It creaks again.", thread: origin.thread });
    await take(agent, id, from);
    const second = await agent.must("work_queue", { workItemId: id, title: "Fix the door" });
    expect(second.item.id).not.toBe(first.item.id);
  });

  test("CHAT-3: an interrupted round goes on with what its message filed", async () => {
    const { desk, agent, id } = await chat();
    const first = await agent.must("work_queue", { workItemId: id, title: "Fix the door" });
    await handback(agent, id, { status: "interrupted", toReview: undefined });
    const again = await connected(desk);
    await take(again, id);
    expect(await again.must("work_queue", { workItemId: id, title: "Fix the door" })).toEqual(first);
  });

  test("SPEND-1 CHAT-3: filed from a space, a job begins there", async () => {
    const { desk, agent, id } = await chat({ channel: "spc_1" });
    await agent.must("work_queue", { workItemId: id, title: "Fix the door" });
    await agent.must("work_queue", { workItemId: id, title: "Fix the door" });
    expect(await letters(desk, "room", "brief")).toEqual([{ spaceId: "spc_1" }]);
  });
});

describe("CHAT-3: work_link and work_file_for", () => {
  test("CHAT-3: a ticket is filed as an item about it, and its assignment wakes nobody again", async () => {
    const { desk, agent, id, origin } = await chat();
    const filed = await agent.must("work_link", { workItemId: id, ticket: "bp-1", request: "Fix the door" });
    expect(filed).toMatchObject({
      url: "https://tracker.test/BP-1",
      item: { title: "Ticket BP-1", ticketKey: "BP-1", ticketTitle: "Ticket BP-1" },
      waiting: false,
    });
    await wake(desk, {
      key: "assigned:BP-1:scout",
      title: "Ticket BP-1",
      subject: { type: "ticket", ref: "BP-1" },
    });
    expect(
      (await seen(desk)).items.filter((i: Any) => i.ticket === "BP-1" && i.kind === "assigned"),
    ).toHaveLength(1);
    const from = agent.frames.length;
    await handback(agent, id);
    const offer = await take(agent, filed.item.id, from);
    expect(offer.workItem).toMatchObject({ subject: { type: "ticket", ref: "BP-1" }, origin });
  });

  test("CHAT-3: a ticket that already has an item gets the chat's thread", async () => {
    const { desk, agent, id, origin } = await chat();
    await wake(desk, {
      key: "assigned:BP-1:scout",
      title: "Ticket BP-1",
      subject: { type: "ticket", ref: "BP-1" },
    });
    const there = (await seen(desk)).items.find((i: Any) => i.title === "Ticket BP-1").id;
    const filed = await agent.must("work_link", { workItemId: id, ticket: "BP-1", request: "Fix the door" });
    expect(filed.item.id).toBe(there);
    const from = agent.frames.length;
    await handback(agent, id);
    await take(agent, there, from);
    await handback(agent, there);
    expect((await agent.must("chat_report", { workItemId: there, kind: "result" })).threads).toEqual([
      origin,
    ]);
  });

  test("CHAT-3: the same title with another ticket, another's ticket, a closed one, or none, is refused", async () => {
    const { agent, id } = await chat();
    const link = (key: string, request: string) =>
      code(agent, "work_link", { workItemId: id, ticket: key, request });
    await agent.must("work_link", { workItemId: id, ticket: "BP-1", request: "One" });
    expect(await link("BP-2", "one")).toBe("invalid");
    expect(await link("BP-3", "Three")).toBe("invalid");
    expect(await link("BP-4", "Four")).toBe("invalid");
    expect(await link("7", "A pull request")).toBe("not_found");
    expect(await link("BP-999", "None")).toBe("not_found");
    expect(await link("BP-2", " ")).toBe("invalid");
    expect(await link("BP-2", "x".repeat(501))).toBe("invalid");
  });

  test("CHAT-3: a ticket for somebody else is recorded, and makes no work here", async () => {
    const { desk, agent, id } = await chat();
    const payload = { workItemId: id, ticket: "BP-3", request: "For Bob", assignee: "bob" };
    await agent.must("work_file_for", payload);
    await agent.must("work_file_for", { ...payload, request: "for BOB" });
    expect((await seen(desk)).items).toHaveLength(1);
    expect(await code(agent, "work_check", { workItemId: id, request: "For bob" })).toBe("invalid");
    expect(await code(agent, "work_file_for", { ...payload, assignee: "ada" })).toBe("invalid");
    expect(await code(agent, "work_file_for", { ...payload, ticket: "BP-2" })).toBe("invalid");
    expect(await code(agent, "work_file_for", { ...payload, request: "Other", assignee: " " })).toBe(
      "invalid",
    );
    expect(await code(agent, "work_file_for", { ...payload, request: "Other", ticket: "BP-999" })).toBe(
      "not_found",
    );
  });
});

const requests = (workItemId: string): [string, object][] => [
  ["work_check", { workItemId, request: "x" }],
  ["work_link", { workItemId, ticket: "BP-1", request: "x" }],
  ["work_file_for", { workItemId, ticket: "BP-1", request: "x", assignee: "bob" }],
  ["work_queue", { workItemId, title: "x" }],
  ["work_attach", { workItemId, target: "BP-5" }],
];
test("CHAT-3: from a chat that is active only, and from one's own", async () => {
  const { desk, agent, id } = await chat();
  await handback(agent, id);
  const plain = await queue(desk, "Plain");
  await take(agent, plain);
  for (const [of, expected] of [
    [id, "invalid"],
    [plain, "invalid"],
    ["itm_none", "unknown_item"],
  ] as const)
    for (const [type, payload] of requests(of))
      expect([type, await code(agent, type, payload)]).toEqual([type, expected]);
  for (const [type] of requests(plain)) expect(await code(agent, type, {})).toBe("invalid_message");
  expect(lettersNow(desk, "room", "brief")).toEqual([]);
});

/** Own work about something, handed back with a status. */
async function work(
  desk: Desk,
  agent: Agent,
  ref: { type: "ticket" | "pr"; ref: string },
  status: string,
): Promise<string> {
  const from = agent.frames.length;
  await wake(desk, { title: `Work on ${ref.ref}`, subject: ref });
  const { workItem } = await agent.offer(from);
  await take(agent, workItem.id, from);
  await handback(agent, workItem.id, { status, ...(status === "done" ? {} : { toReview: undefined }) });
  return workItem.id;
}

describe("CHAT-4: work_attach", () => {
  test("CHAT-4 REPORT-3: the message is feedback of a round on it, and the thread is the work's too", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const there = await work(desk, agent, { type: "ticket", ref: "BP-1" }, "waiting");
    const { id, origin } = await chatting(desk, agent, { text: "Also oil the hinges." });
    const attached = await agent.must("work_attach", { workItemId: id, target: "bp-1" });
    expect(attached).toMatchObject({
      url: "https://tracker.test/BP-1",
      item: { id: there, status: "queued" },
      waiting: false,
      attached: { ticket: { type: "ticket", ref: "BP-1" } },
    });
    expect(await agent.must("work_attach", { workItemId: id, target: "BP-1" })).toEqual(attached);
    const from = agent.frames.length;
    await handback(agent, id, { status: "silent", toReview: undefined });
    const offer = await take(agent, there, from);
    expect(offer.workItem.kind).toBe("review_feedback");
    expect(offer.context.feedback).toMatchObject([
      { kind: "chat", actor: "Anna", body: "Also oil the hinges." },
    ]);
    await handback(agent, there, { status: "waiting", toReview: undefined });
    expect((await agent.must("chat_report", { workItemId: there, kind: "result" })).threads).toEqual([
      origin,
    ]);
    const next = agent.frames.length;
    await said(desk, { text: "And the lock.", thread: origin.thread });
    expect((await agent.offer(next)).workItem.id).toBe(there);
  });

  test("CHAT-4: a pull request by its number, with its ticket; what to add may be said apart", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const there = await work(desk, agent, { type: "pr", ref: "acme/shop#7" }, "done");
    const { id } = await chatting(desk, agent, { text: "Yes, that one." });
    const attached = await agent.must("work_attach", { workItemId: id, target: "7", request: "Rename it." });
    expect(attached).toMatchObject({
      item: { id: there, pr: "acme/shop#7" },
      attached: { pr: { ref: "acme/shop#7" }, ticket: { type: "ticket", ref: "BP-1" } },
    });
    const from = agent.frames.length;
    await handback(agent, id);
    expect((await take(agent, there, from)).context.feedback).toMatchObject([{ body: "Rename it." }]);
  });

  test("CHAT-4: own work without an item becomes one", async () => {
    const { agent, id } = await chat({ text: "Also this." });
    const { item } = await agent.must("work_attach", { workItemId: id, target: "BP-5" });
    const from = agent.frames.length;
    await handback(agent, id);
    const offer = await take(agent, item.id, from);
    expect(offer.workItem.subject).toEqual({ type: "ticket", ref: "BP-5" });
    expect(offer.context.feedback).toMatchObject([{ body: "Also this." }]);
  });

  test("CHAT-4: with other work queued it waits; in review it needs the requester's word", async () => {
    const { desk, agent, id } = await chat();
    const attach = (more: object) => agent.ask("work_attach", { workItemId: id, target: "8", ...more });
    expect((await attach({})).payload.code).toBe("invalid");
    expect((await attach({ confirmed: false })).payload.message).toContain("confirmed");
    await queue(desk, "Other");
    expect((await attach({ confirmed: true })).payload).toMatchObject({
      waiting: true,
      work: [{ title: "Other" }],
    });
  });

  test("CHAT-4: another's work, finished work, no work, an ambiguous name, and nothing to add", async () => {
    const { agent, id } = await chat({ text: "x" });
    const attach = (target: string, more: object = {}) =>
      code(agent, "work_attach", { workItemId: id, target, ...more });
    for (const target of ["BP-3", "BP-2", "BP-4", "9", "12"])
      expect([target, await attach(target)]).toEqual([target, "invalid"]);
    for (const target of ["BP-999", "D1"])
      expect([target, await attach(target)]).toEqual([target, "not_found"]);
    expect(await attach("BP-5", { request: " " })).toBe("invalid");
    expect(await attach("BP-5", { request: "x".repeat(65_537) })).toBe("invalid");
  });

  test("USE-2 CHAT-4: the chat refers to what it was attached to", async () => {
    const { desk, agent, id } = await chat();
    await agent.must("work_attach", { workItemId: id, target: "BP-5" });
    await handback(agent, id, { usage: [{ session: newId("evt"), models: {} }] });
    expect(await letters(desk, "board", "used")).toMatchObject([
      { item: id, kind: "chat", tickets: ["BP-5"] },
    ]);
  });
});
