/** Messages that an agent reports, and what else it tells and asks beside its rounds (CHAT-1, ITEM-3 to ITEM-5, WORK-5). */
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
  queue,
  seen,
  take,
} from "../testing/office.ts";
import { evicted } from "../testing/time.ts";
import { CALLS } from "./calls.ts";
import type { RoomMessage } from "./letters.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});

async function world(): Promise<{ desk: Desk; agent: Agent }> {
  const desk = await anOffice();
  return { desk, agent: await connected(desk) };
}
const message = (more: object = {}) => ({
  messageId: newId("msg"),
  channel: "C1",
  thread: "T1",
  text: "Please look into the shop.",
  author: { id: "U1", name: "Anna" },
  direct: false,
  participant: true,
  ...more,
});
const file = {
  id: "F1",
  name: "plan.pdf",
  mimetype: "application/pdf",
  size: 5,
  url: "https://chat.test/F1",
};
const code = async (agent: Agent, type: string, payload: object): Promise<string> =>
  (await agent.ask(type, payload)).payload.code;

describe("chat_message", () => {
  test("CHAT-1: is an event of the board, once for each message of a channel", async () => {
    const { desk, agent } = await world();
    const one = message({ files: [file] });
    expect(await agent.must("chat_message", one)).toEqual({ repeated: false });
    expect(await agent.must("chat_message", one)).toEqual({ repeated: true });
    await evicted(desk);
    expect(await agent.must("chat_message", { ...one, text: "Otherwise." })).toEqual({ repeated: true });
    expect(await agent.must("chat_message", { ...one, channel: "C2" })).toEqual({ repeated: false });
    const events = await letters(desk, "board", "event", 2);
    expect(events[0]).toMatchObject({
      type: "chat.message",
      source: "office",
      actor: { id: "U1", name: "Anna", kind: "human" },
      chat: {
        message: one.messageId,
        channel: "C1",
        thread: "T1",
        text: one.text,
        to: "scout",
        files: [file],
      },
    });
    expect(events[0].id).not.toBe(events[1].id);
  });

  test("CHAT-1: a message at the top begins its own thread; a file without words is one", async () => {
    const { desk, agent } = await world();
    const top = message({ text: "", files: [file], thread: undefined });
    await agent.must("chat_message", top);
    expect((await letters(desk, "board", "event"))[0].chat).toMatchObject({
      thread: top.messageId,
      text: "",
    });
  });

  test("CHAT-1: of a room it is what the room has, if the agent may see it", async () => {
    const { desk, agent } = await world();
    const stored: RoomMessage = {
      text: "What was said.",
      author: { id: "usr_b", name: "Bo", kind: "human" },
      at: "2026-11-30T10:00:00.000Z",
      thread: "msg_first",
      direct: true,
      files: [],
    };
    const channel = newId("spc");
    vi.spyOn(CALLS, "roomMessage").mockImplementation(async (_env, _workspace, handle, space, id) =>
      space === channel && id === "msg_1" && handle === "scout"
        ? { ok: true, value: stored }
        : { ok: false, error: { code: "not_found", message: "There is no such message." } },
    );
    await agent.must(
      "chat_message",
      message({ channel, messageId: "msg_1", text: "Forged.", author: { id: "usr_boss" } }),
    );
    expect((await letters(desk, "board", "event"))[0]).toMatchObject({
      at: stored.at,
      actor: { id: "usr_b", name: "Bo" },
      chat: { text: "What was said.", thread: "msg_first", direct: true },
    });
    expect(await code(agent, "chat_message", message({ channel, messageId: "msg_2" }))).toBe("not_found");
    expect(lettersNow(desk, "board", "event")).toHaveLength(1);
  });

  test("CHAT-1: long words are cut to what is kept; what is no message is refused", async () => {
    const { desk, agent } = await world();
    await agent.must("chat_message", message({ text: "é".repeat(60_000) }));
    expect((await letters(desk, "board", "event"))[0].chat.text).toHaveLength(32_768);
    for (const bad of [
      { messageId: "" },
      { channel: "x".repeat(501) },
      { author: { id: "" } },
      { text: " " },
      { files: Array.from({ length: 51 }, () => file) },
      { files: [{ ...file, url: "x".repeat(2001) }] },
    ])
      expect(await code(agent, "chat_message", message(bad))).toBe("invalid");
    for (const bad of [{ direct: "no" }, { author: "Anna" }, { files: [{ ...file, size: 1.5 }] }])
      expect(await code(agent, "chat_message", message(bad))).toBe("invalid_message");
    expect(lettersNow(desk, "board", "event")).toHaveLength(1);
  });

  test("CHAT-1 RECALL-1: it is found by its words and its author, once, also when the board sends it too", async () => {
    const { desk, agent } = await world();
    await agent.must("chat_message", message());
    const [event] = await letters(desk, "board", "event");
    await desk.letter("moment", {
      id: newId("evt"),
      at: event.at,
      kind: "chat.message",
      ref: { type: "chat_thread", ref: "C1/T1" },
      who: "Anna",
      text: event.chat.text,
    });
    const { moments } = await agent.must("recall", { query: "shop", with: "U1", limit: 5 });
    expect(moments).toMatchObject([
      { kind: "chat.message", who: "Anna", where: { type: "chat_thread", ref: "C1/T1" } },
    ]);
  });
});

test("NEW-7 RECALL-1: what was edited or taken back in a room is found so, or not at all", async () => {
  const { desk, agent } = await world();
  for (const [messageId, text] of [
    ["msg_1", "The blue door."],
    ["msg_2", "The red door."],
  ] as const) {
    const eventId = newId("evt");
    await desk.letter("wake", {
      key: messageId,
      eventId,
      rule: "chat.message",
      kind: "chat",
      title: text,
      trigger: "human",
      refs: [],
      body: text,
      origin: {
        channel: "spc_1",
        thread: messageId,
        requester: { id: "usr_a" },
        direct: false,
        participant: true,
      },
      room: { spaceId: "spc_1", messageId },
    });
    await desk.letter("moment", {
      id: eventId,
      at: new Date().toISOString(),
      kind: "chat.message",
      ref: { type: "chat_thread", ref: `spc_1/${messageId}` },
      text,
    });
  }
  const found = async (query: string): Promise<string[]> =>
    (await agent.must("recall", { query, limit: 9 })).moments
      .filter((m: Any) => m.kind === "chat.message")
      .map((m: Any) => m.excerpt);
  expect(await found("door")).toHaveLength(2);
  await desk.letter("message_changed", { messageId: "msg_1", text: "The green door." });
  await desk.letter("message_changed", { messageId: "msg_2", deleted: true });
  expect(await found("door")).toEqual(["The green door."]);
  expect(await found("blue or red")).toEqual([]);
});

describe("what an agent asks of the board", () => {
  test("ITEM-3 ITEM-4: roster, current work, pull requests and usage are the board's answers", async () => {
    const { agent } = await world();
    const roster = { members: [{ handle: "scout", name: "Scout", role: "dev", status: "idle" as const }] };
    vi.spyOn(CALLS, "roster").mockResolvedValue({ ok: true, value: roster });
    vi.spyOn(CALLS, "currentWork").mockResolvedValue({ ok: true, value: { text: "é".repeat(20_000) } });
    vi.spyOn(CALLS, "ticketPrs").mockResolvedValue({ ok: true, value: { ticket: "BP-1", prs: [] } });
    expect(await agent.must("roster")).toEqual(roster);
    expect((await agent.must("current_work")).text).toHaveLength(8192);
    expect(await agent.must("ticket_prs", { headRef: "bp-1", title: "", body: "" })).toEqual({
      ticket: "BP-1",
      prs: [],
    });
  });

  test("ITEM-4 WORK-5: what is over a limit is clamped to it", async () => {
    const { agent } = await world();
    const prList = vi.spyOn(CALLS, "prList").mockResolvedValue({ ok: true, value: { prs: [], more: 0 } });
    const ciLog = vi
      .spyOn(CALLS, "ciLog")
      .mockResolvedValue({ ok: true, value: { repo: "acme/shop", steps: [] } });
    for (const limit of [0, 7, 1_000_000]) await agent.must("pr_list", { state: "open", limit });
    for (const lines of [-1, 7, 1_000_000]) await agent.must("ci_log", { url: "https://x.test", lines });
    expect(prList.mock.calls.map(([, , asked]) => asked.limit)).toEqual([1, 7, 100]);
    expect(ciLog.mock.calls.map(([, , asked]) => asked.lines)).toEqual([1, 7, 1000]);
  });

  test("OFF-4: the board's refusals are the agent's, with their codes; out of reach is failed", async () => {
    const { agent } = await world();
    vi.spyOn(console, "error").mockImplementation(() => {});
    const ticketUsage = vi.spyOn(CALLS, "ticketUsage");
    for (const [theirs, ours] of [
      ["not_found", "not_found"],
      ["invalid", "invalid"],
      ["unsupported", "unsupported"],
      ["internal", "failed"],
    ] as const) {
      ticketUsage.mockResolvedValueOnce({ ok: false, error: { code: theirs, message: "Because." } });
      expect((await agent.ask("ticket_usage", { ticket: "BP-1" })).payload).toEqual({
        code: ours,
        message: "Because.",
      });
    }
    ticketUsage.mockRejectedValueOnce(new Error("out of reach"));
    expect(await code(agent, "ticket_usage", { ticket: "BP-1" })).toBe("failed");
    expect(await code(agent, "ticket_usage", {})).toBe("invalid_message");
    expect(await code(agent, "pr_list", { state: "odd", limit: 1 })).toBe("invalid_message");
  });
});

const found = () =>
  vi.spyOn(CALLS, "find").mockImplementation(async (_env, _workspace, _handle, target) =>
    target === "bp-7"
      ? {
          ok: true,
          value: {
            ref: { type: "ticket", ref: "BP-7" },
            subject: { type: "ticket", ref: "BP-7" },
            open: true,
          },
        }
      : { ok: false, error: { code: "not_found", message: "There is no such ticket." } },
  );

describe("documents, notes and the doctor", () => {
  const doc = { id: "D1", title: "Plan", url: "https://docs.test/D1" };
  test("ITEM-5: a linked document is the person's, of the ticket named or the item's own, and refers to it", async () => {
    found();
    const { desk, agent } = await world();
    const id = await queue(desk, "Work", { ticket: "BP-1" });
    await take(agent, id);
    await agent.must("doc_link", { workItemId: id, doc, ticket: "bp-7" });
    expect(await letters(desk, "board", "made")).toMatchObject([
      { handle: "scout", item: id, doc, ticket: "BP-7" },
    ]);
    await agent.must("doc_link", { workItemId: id, doc: { ...doc, title: "The plan" } });
    expect((await letters(desk, "board", "made", 2))[1]).toMatchObject({
      doc: { title: "The plan" },
      ticket: "BP-1",
    });
    const refs: Any[] = (await letters(desk, "board", "refs")).flatMap((letter) => letter.refs);
    expect(refs.filter(({ type }) => type === "doc")).toMatchObject([
      { type: "doc", ref: "D1", role: "created", source: "doc_link" },
    ]);
  });

  test("ITEM-5: a document of no ticket that there is, or no document, is refused", async () => {
    found();
    const { desk, agent } = await world();
    const id = await queue(desk, "Work");
    await take(agent, id);
    const link = (more: object) => code(agent, "doc_link", { workItemId: id, doc, ...more });
    expect(await link({ ticket: "BP-999" })).toBe("not_found");
    expect(await link({ workItemId: "itm_none" })).toBe("unknown_item");
    expect(await link({ doc: { ...doc, id: "" } })).toBe("invalid");
    for (const url of ["javascript:alert(1)", "/D1", `https://${"x".repeat(2000)}`])
      expect(await link({ doc: { ...doc, url } })).toBe("invalid");
    expect(await link({ doc: "D1" })).toBe("invalid_message");
    expect(lettersNow(desk, "board", "made")).toEqual([]);
  });

  test("ITEM-5: notes are kept and shown; their page is a document", async () => {
    const { desk, agent } = await world();
    await agent.must("notes_changed", { change: "added", note: "Oak is hard." });
    await agent.must("notes_changed", { change: "migrated", count: 3, doc });
    expect((await seen(desk)).notes).toMatchObject([
      { change: "added", note: "Oak is hard." },
      { change: "migrated", count: 3 },
    ]);
    const [made] = await letters(desk, "board", "made");
    expect(made).toMatchObject({ handle: "scout", doc });
    expect(made.item).toBeUndefined();
    expect(await code(agent, "notes_changed", { change: "added", note: "x".repeat(16_385) })).toBe("invalid");
    expect(await code(agent, "notes_changed", { change: "added", workItemId: "itm_none" })).toBe(
      "unknown_item",
    );
    expect(await code(agent, "notes_changed", { change: "eaten" })).toBe("invalid_message");
  });

  test("ITEM-5: the doctor's report is kept in place of the last, and shown", async () => {
    const { desk, agent } = await world();
    const check = { name: "Tools", status: "warn", detail: "git is old", fix: "update it" };
    await agent.must("doctor_report", { checks: [check, check] });
    await agent.must("doctor_report", { checks: [check] });
    await evicted(desk);
    expect((await seen(desk)).doctor.checks).toEqual([check]);
    const many = Array.from({ length: 201 }, () => check);
    expect(await code(agent, "doctor_report", { checks: many })).toBe("invalid");
    expect(await code(agent, "doctor_report", { checks: [{ ...check, status: "fine" }] })).toBe(
      "invalid_message",
    );
  });
});

test("CHAT-2: what is said while a chat runs makes its next round", async () => {
  const { desk, agent } = await world();
  const chat = await chatting(desk, agent);
  await said(desk, { text: "And the window.", thread: chat.origin.thread });
  const from = agent.frames.length;
  await handback(agent, chat.id);
  const { context } = await take(agent, chat.id, from);
  expect(context.feedback).toMatchObject([{ kind: "chat", body: "And the window." }]);
});
