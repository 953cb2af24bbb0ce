/** What an agent's frames and the office's answers may hold, whatever is in them (OFF-1, OFF-4, ITEM-1, USE-1). */
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { codePoints } from "../../src/shared/rules/text.ts";
import { chatting } from "../testing/chat.ts";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters, letters } from "../testing/letters.ts";
import {
  type Agent,
  ANNA,
  anOffice,
  connected,
  type Desk,
  fakeCalls,
  handback,
  handbackOf,
  itemOf,
  patch,
  queue,
  seen,
  take,
  wake,
} from "../testing/office.ts";
import { CALLS } from "./calls.ts";
import type { Office } from "./office.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});

const LIMIT = 1_048_576;
const code = async (agent: Agent, type: string, payload: object): Promise<string> =>
  (await agent.ask(type, payload)).payload.code;

async function atWork(): Promise<{ desk: Desk; agent: Agent; id: string }> {
  const desk = await anOffice();
  const agent = await connected(desk);
  const id = await queue(desk, "A");
  await take(agent, id);
  return { desk, agent, id };
}
/** The size of every frame that comes from now on. */
function sizes(agent: Agent): number[] {
  const all: number[] = [];
  agent.ws.addEventListener("message", ({ data }) => {
    all.push(new TextEncoder().encode(String(data)).length);
  });
  return all;
}

describe("frames", () => {
  test("OFF-1 OFF-4: what nests too deep is a bad payload, and is answered by its id", async () => {
    const { agent } = await atWork();
    for (const depth of [70, 400_000]) {
      const id = newId("evt");
      agent.ws.send(`{"id":"${id}","type":"ping","payload":{"x":${"[".repeat(depth)}${"]".repeat(depth)}}}`);
      const answer = await agent.next((f) => f.replyTo === id);
      expect(answer.payload).toMatchObject({ code: "invalid_message", message: /64 levels/ });
    }
    agent.ws.send(`{"id":"x","type":"ping","payload":${"[".repeat(400_000)}`);
    expect((await agent.next((f) => f.payload.code === "malformed")).replyTo).toBeUndefined();
    expect((await agent.ask("ping")).type).toBe("pong");
  });

  test("OFF-1: what has no usable id is answered without one", async () => {
    const { agent } = await atWork();
    for (const id of ["", 7, null, "x".repeat(201)]) {
      const from = agent.frames.length;
      agent.ws.send(JSON.stringify({ id, type: "ping", payload: {} }));
      const answer = await agent.next((f) => f.type === "error", from);
      expect(answer.payload.code).toBe("invalid_message");
      expect(Object.keys(answer)).not.toContain("replyTo");
    }
  });
});

describe("answers fit a frame", () => {
  test("OFF-1: one that would not is refused, and the connection stays", async () => {
    const { agent } = await atWork();
    vi.spyOn(CALLS, "itemsOfOthers").mockResolvedValue([]);
    const came = sizes(agent);
    const workItemIds = Array.from({ length: 500 }, (_, n) => `${n}${"x".repeat(2080)}`);
    const { payload } = await agent.ask("work_status", { workItemIds });
    expect(payload).toMatchObject({ code: "invalid", message: /Ask for less/ });
    expect((await agent.ask("ping")).type).toBe("pong");
    expect(Math.max(...came)).toBeLessThanOrEqual(LIMIT);
  });

  test("OFF-1 ITEM-4: work_list has as many of the first as fit; a filing shows as many of them", async () => {
    const desk = await anOffice({ pipeline: { chat_lane: true } });
    const agent = await connected(desk);
    await runInDurableObject(desk.stub, (office: Office) => {
      for (let n = 0; n < 560; n++)
        office.addItem(ANNA, { title: `${n} ${"🙂".repeat(490)}`, kind: "assigned" });
    });
    const came = sizes(agent);
    const { items } = await agent.must("work_list");
    expect(items.length).toBeGreaterThan(400);
    expect(items.map((i: Any) => Number(i.title.split(" ")[0]))).toEqual(items.map((_: Any, n: number) => n));
    const chat = await chatting(desk, agent);
    const { work } = await agent.must("work_queue", { workItemId: chat.id, title: "More" });
    expect(work.length).toBeGreaterThan(10);
    expect(work).toEqual(items.slice(0, work.length));
    expect(Math.max(...came)).toBeLessThanOrEqual(LIMIT);
  });

  test("OFF-1 WORK-5: a log's steps have the same number of last lines, as many as fit", async () => {
    const { agent } = await atWork();
    const lines = Array.from({ length: 1000 }, (_, n) => `${n} ${"é".repeat(490)}`);
    const steps = ["build", "test", "deploy"].map((name) => ({ name, lines, omitted: 7 }));
    vi.spyOn(CALLS, "ciLog").mockResolvedValue({ ok: true, value: { repo: "acme/shop", steps } });
    const came = sizes(agent);
    const found = await agent.must("ci_log", { url: "https://github.com/acme/shop/runs/1", lines: 1000 });
    for (const step of found.steps) {
      expect(step.lines.at(-1)).toBe(lines.at(-1));
      expect(step.lines.length + step.omitted).toBe(1007);
      expect(step.lines.length).toBeGreaterThan(200);
    }
    expect(Math.max(...came)).toBeLessThanOrEqual(LIMIT);
  });
});

const report = (more: object) => ({ windows: [{ name: "five_hour", utilization: 0.5, ...more }] });
const made = (workItemId: string, owner: string, name: string) => ({
  workItemId,
  pr: { repo: { owner, name }, number: 1 },
});

describe("what is taken", () => {
  test("ITEM-1: a link's label is cut, and no reason to refuse the work", async () => {
    const { desk, agent, id } = await atWork();
    const links = Array.from({ length: 200 }, (_, n) => ({
      url: `https://x.test/${n}`,
      title: "🙂".repeat(1000),
    }));
    await handback(agent, id, { links });
    await handback(agent, id, { links });
    const item = await itemOf(desk, id);
    expect(item.links.map(({ title }: Any) => codePoints(title))).toEqual(links.map(() => 500));
    expect(JSON.stringify(item)).not.toMatch(/\\ud[89ab]/);
  });

  test("ITEM-5: what is said of an edit of notes is short", async () => {
    const { desk, agent } = await atWork();
    const edit = { author: "a", at: "2026-05-31", version: "v".repeat(500) };
    await agent.must("notes_changed", { change: "edit_ignored", edit });
    for (const field of Object.keys(edit)) {
      const notes = { change: "edit_ignored", edit: { ...edit, [field]: "x".repeat(501) } };
      expect(await code(agent, "notes_changed", notes)).toBe("invalid");
    }
    expect((await seen(desk)).notes).toHaveLength(1);
  });

  test("ITEM-1 USE-3: a window is used by no less than nothing, and resets at a time of ISO 8601", async () => {
    const { desk, agent } = await atWork();
    for (const more of [{ utilization: -1 }, { resetsAt: "2026" }, { resetsAt: "+275760-09-13T00:00:00Z" }])
      expect(await code(agent, "usage", report(more))).toBe("invalid");
    await agent.must("usage", report({ resetsAt: "2026-05-31T09:00:00.123456+00:00" }));
    expect(await letters(desk, "board", "windows", 1)).toHaveLength(1);
  });

  test("ITEM-1: a repository is named by names", async () => {
    const { agent, id } = await atWork();
    for (const [owner, name] of [
      ["..", ".."],
      ["acme", ".."],
      [".", "shop"],
    ] as const)
      expect(await code(agent, "work_made", made(id, owner, name))).toBe("invalid");
    await agent.must("work_made", made(id, "acme", ".github"));
  });

  test("CHAT-1: a file's type is cut between characters, and its size is one", async () => {
    const { desk, agent } = await atWork();
    const file = { id: "F", name: "n", mimetype: `${"x".repeat(199)}🙂`, size: 5, url: "https://x.test/F" };
    const message = (more: object) => ({
      messageId: newId("msg"),
      channel: "C1",
      text: "Look.",
      author: { id: "U1" },
      direct: true,
      participant: true,
      files: [{ ...file, ...more }],
    });
    expect(await code(agent, "chat_message", message({ size: -1 }))).toBe("invalid");
    await agent.must("chat_message", message({}));
    const events = await letters(desk, "board", "event", 2);
    const event = events.find(({ type }) => type === "chat.message");
    expect(event?.chat?.files?.[0]?.mimetype).toBe("x".repeat(199));
  });

  test("OFFER-3 OFF-4: the reasons of an agent are cut between characters", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    const offer = await agent.next((f) => f.type === "offer");
    const message = `x${"🙂".repeat(3000)}`;
    agent.say("error", { code: "failed", message }, { replyTo: offer.id });
    await agent.ask("ping");
    const [, declined] = (await itemOf(desk, id)).history;
    expect(declined.why).toMatch(/^declined: x(?:🙂)+$/u);
  });
});

describe("usage", () => {
  const MOST = Number.MAX_SAFE_INTEGER;
  const all = { inputTokens: MOST, outputTokens: MOST, cacheReadTokens: MOST, cacheCreationTokens: MOST };
  const models = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`m${n}`, all]));
  const usage = (round: number) =>
    Array.from({ length: 20 }, (_, n) => ({ session: `${round} ${n}`, models }));

  test("USE-1 CHAT-2: totals beyond counting are taken, and what is told of them can be counted", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const room = { spaceId: "spc_1", messageId: "msg_1" };
    const origin = {
      channel: "spc_1",
      thread: "msg_1",
      requester: { id: "usr_a" },
      direct: false,
      participant: true,
    };
    await wake(desk, { kind: "chat", title: "Look", body: "Look.", origin, room });
    const { workItem } = await agent.offer();
    await take(agent, workItem.id);
    await agent.must("handback", handbackOf(workItem.id, { usage: usage(1) }));
    const [run] = await letters(desk, "room", "run_usage", 1);
    const [used] = await letters(desk, "board", "used", 1);
    const counts = [run?.inputTokens, run?.outputTokens, ...used.models.map((m: Any) => m.inputTokens)];
    expect(counts).toHaveLength(102);
    for (const count of counts) expect(count).toSatisfy(Number.isSafeInteger);
  });

  test("USE-1: a model has a name of at most 200 characters", async () => {
    const { agent, id } = await atWork();
    const long = [{ session: "s", models: { ["m".repeat(201)]: all } }];
    expect(await code(agent, "handback", handbackOf(id, { usage: long }))).toBe("invalid");
    await handback(agent, id, { usage: [{ session: "s", models: { ["m".repeat(200)]: all } }] });
  });
});

test("OFF-8: of an item's progress nothing is kept beyond its round but the last line", async () => {
  const { desk, agent, id } = await atWork();
  const kept = () =>
    runInDurableObject(desk.stub, (_, { storage }) =>
      storage.sql.exec("SELECT kind FROM said WHERE item = ? ORDER BY kind", id).toArray(),
    );
  for (let n = 0; n < 5; n++) await agent.must("progress", { workItemId: id, text: `line ${n}` });
  await agent.must("journal", { workItemId: id, text: "a note" });
  expect(await kept()).toHaveLength(6);
  await handback(agent, id, { status: "waiting", toReview: undefined });
  expect(await kept()).toEqual([{ kind: "journal" }]);
  await patch(desk, id, { status: "queued" });
  expect((await itemOf(desk, id)).progress).toBe("line 4");
});
