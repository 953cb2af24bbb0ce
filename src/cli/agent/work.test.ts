import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeOffice, FakeRoom, TOKEN } from "../../../test/sdk/fake-office.ts";
import { root } from "../../../test/support/command.ts";
import { isAlive } from "../../../test/support/processes.ts";
import { connectAgent } from "../../agent/agent.ts";
import { memoryStore } from "../../agent/store.ts";
import { ItemDesk } from "./desk.ts";
import { type WorkOptions, workItem } from "./work.ts";

const worker = join(root, "test/support/fake-worker.mjs");
const bin = join(root, "bin/bullpen.mjs");
let desk: ItemDesk;
let leave: () => Promise<void>;

beforeEach(async () => {
  desk = await ItemDesk.open();
});
afterEach(async () => {
  await leave();
  desk.close();
});

/** An agent whose items are this command's, and an item that it has taken. */
async function take(title: string, more: Partial<WorkOptions> = {}, sessionId?: string) {
  const office = new FakeOffice();
  const lines: string[] = [];
  const ends: string[] = [];
  const agent = connectAgent({
    url: "https://office.example.com",
    handle: "ada",
    token: TOKEN,
    store: memoryStore(),
    webSocket: office.WebSocket,
    fetch: new FakeRoom().fetch,
    onError: (error) => lines.push(`error: ${error.message}`),
    onItem: (item) =>
      workItem(item, {
        command: [process.execPath, worker],
        cwd: undefined,
        mode: "per-turn",
        timeoutMs: undefined,
        env: { ...process.env, BULLPEN_TOKEN: "secret" },
        bin,
        model: "m-1",
        desk,
        agent,
        log: (line) => lines.push(line),
        onEnd: (how) => ends.push(how),
        ...more,
      }),
  });
  leave = () => agent.close({ timeoutMs: 5000 });
  await agent.ready;
  const item = office.queue("itm_1");
  Object.assign(item.offer["workItem"] as object, { title });
  if (sessionId !== undefined) item.offer["sessionId"] = sessionId;
  return {
    agent,
    office,
    item,
    lines,
    ends,
    outcome: () => vi.waitUntil(() => item.outcomes[0], { timeout: 15_000 }),
    line: (has: string) => vi.waitUntil(() => lines.find((one) => one.includes(has)), { timeout: 50_000 }),
  };
}

describe("AGENT-1: a command that works on an item", () => {
  it("hands back what it prints, without what colours it", async () => {
    const { outcome } = await take("Fix the login");
    expect(await outcome()).toMatchObject({
      type: "handback",
      payload: { status: "done", summary: 'Did "Fix the login"' },
    });
  });

  it("hands nothing on where there is nothing to say", async () => {
    const { outcome } = await take("be quiet");
    expect(await outcome()).toMatchObject({ payload: { status: "silent", summary: "" } });
  });

  it("fails with the last of what it complained of, without secrets and somebody's folders", async () => {
    const { outcome, lines } = await take("crash");
    const { type, payload } = await outcome();
    expect(type).toBe("fail");
    expect(payload["reason"]).toBe(
      "The command ended with exit code 3.\nreading plan.txt\ntoken=…\nno access",
    );
    expect(lines).toContain("reading /home/ada/secret/plan.txt");
  });

  it("fails when there is no such command, or when its time is up", async () => {
    const none = await take("anything", { command: [join(root, "no-such-command")] });
    expect((await none.outcome()).payload["reason"]).toContain("could not be started");
    await leave();
    const late = await take("stay", { timeoutMs: 300 });
    expect((await late.outcome()).payload["reason"]).toContain("took too long");
  });

  it("is given what is its own, and not the agent's token", async () => {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "bullpen-cwd-")));
    try {
      const { outcome } = await take("environment", { cwd }, "sess-1");
      expect((await outcome()).payload["summary"]).toBe(
        `BULLPEN_BIN BULLPEN_ITEM_ID BULLPEN_ITEM_SESSION BULLPEN_ITEM_TOKEN BULLPEN_ITEM_URL in ${cwd}`,
      );
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  it("a session that is no plain name stays out of its environment", async () => {
    const { outcome } = await take("environment", {}, "--resume; rm -rf ~");
    expect((await outcome()).payload["summary"]).not.toContain("BULLPEN_ITEM_SESSION");
  });

  it("speaks for its item, and what it hands back itself is the end", async () => {
    const { item, office, lines, ends, line } = await take("speaks");
    await line("handed back already");
    expect(item.outcomes).toMatchObject([
      { payload: { status: "waiting", summary: "handed over by itself" } },
    ]);
    await vi.waitUntil(() => office.socket.of("work_made").length > 0);
    expect(office.socket.of("work_made")).toMatchObject([
      { payload: { workItemId: "itm_1", pr: { repo: { owner: "acme", name: "shop" }, number: 12 } } },
    ]);
    expect(lines.slice(0, 2)).toEqual(["0: Noted.", "0: Handed back."]);
    expect(ends).toEqual(["waiting"]);
    await leave();
    expect(item.outcomes).toHaveLength(1);
  }, 60_000);

  it("OFFER-7: ends when a person stops the item, and nothing of it is handed back", async () => {
    const { agent, office, item, line } = await take("stay");
    const pid = Number((await line("working")).split(" ")[1]);
    office.stop("itm_1", "Anna");
    await agent.progress({ workItemId: "itm_1", text: "on it" }).catch(() => {});
    await vi.waitUntil(() => !isAlive(pid), { timeout: 10_000 });
    await leave();
    expect(item.outcomes).toEqual([]);
  }, 20_000);

  it("ends with the agent, which hands it back as interrupted", async () => {
    const { item, line } = await take("stay");
    const pid = Number((await line("working")).split(" ")[1]);
    await leave();
    expect(isAlive(pid)).toBe(false);
    expect(item.outcomes).toMatchObject([{ payload: { status: "interrupted" } }]);
  }, 20_000);

  it("OFFER-5, USE-1: its event stream tells session, steps, usage and the final words", async () => {
    const stream = join(root, "test/fixtures/streams/claude-tools.ndjson");
    const { outcome, office, item } = await take("stream", {
      command: [process.execPath, worker, stream],
      mode: "stream-json",
    });
    const { payload } = await outcome();
    const session = "5f0c2a6e-0000-4000-8000-000000000001";
    expect(payload).toMatchObject({
      summary: "Beans and leeks. The leeks were sown on 3 March.",
      usage: [
        {
          session,
          models: {
            "claude-sonnet-5": {
              inputTokens: 12,
              outputTokens: 240,
              cacheReadTokens: 15_000,
              cacheCreationTokens: 4800,
              costUsd: 0.0421,
            },
          },
        },
      ],
    });
    expect(office.socket.of("session")).toMatchObject([
      { payload: { workItemId: "itm_1", sessionId: session, model: "claude-sonnet-5" } },
    ]);
    expect(item.progress.length).toBeGreaterThan(0);
  });

  it("USE-1: Codex tells its session and its tokens, the cached ones apart", async () => {
    const stream = join(root, "test/fixtures/streams/codex-tools.ndjson");
    const { outcome } = await take("stream", {
      command: [process.execPath, worker, stream],
      mode: "stream-json",
    });
    expect((await outcome()).payload["usage"]).toEqual([
      {
        session: "0199f000-0000-7000-8000-000000000001",
        models: {
          "m-1": { inputTokens: 180, outputTokens: 130, cacheReadTokens: 24_400, cacheCreationTokens: 120 },
        },
      },
    ]);
  });
});
