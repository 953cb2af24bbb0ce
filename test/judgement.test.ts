import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ServerEvent } from "../src/sdk/index.ts";
import { connectHarness, type Harness, type Turn } from "../src/sdk/index.ts";
import { newUser, type Running, root, start, type User } from "./support/command.ts";
import {
  createWorkspace,
  startServer,
  type TestServer,
  type TestWorkspace,
  write,
} from "./support/server.ts";

// Each command is a process of its own, and some tests run a dozen.
vi.setConfig({ testTimeout: 120_000 });

const program = fileURLToPath(new URL("support/clerk.ts", import.meta.url));

let server: TestServer;
let workspace: TestWorkspace;
let spaceId: string;
let owner: User;
const running = new Set<Running>();
const harnesses = new Set<Harness>();

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  for (const process of running) process.signal("SIGKILL");
  for (const harness of harnesses) void harness.close({ timeoutMs: 0 });
  await server?.stop();
});

/** A fresh workspace, with its owner at a terminal. */
async function fresh(): Promise<void> {
  workspace = await createWorkspace(server);
  owner = newUser({ BULLPEN_URL: server.url, BULLPEN_TOKEN: workspace.token });
}

/** A command of the owner's that must go well, and what it printed. */
async function ok(...args: string[]): Promise<string> {
  const ended = await owner.bullpen(args);
  if (ended.code !== 0) throw new Error(`bullpen ${args.join(" ")} ended ${ended.code}: ${ended.stderr}`);
  return ended.stdout.trimEnd();
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await ok(...args, "--json")) as T;
}

/** The owner says something in the Lobby. */
async function say(text: string): Promise<void> {
  await write(workspace.http, "message.post", { space_id: spaceId, text });
}

function keep(process: Running): Running {
  running.add(process);
  void process.ended.then(() => running.delete(process));
  return process;
}

/** The first event that matches, waited for without a timer. */
async function event(match: (one: ServerEvent) => boolean): Promise<ServerEvent> {
  for (let after = 0; ; ) {
    const query = { after, wait: 25, limit: 200 };
    const page = await workspace.http.get<{ events: ServerEvent[]; next_after: number }>("/v1/events", query);
    const found = page.events.find(match);
    if (found) return found;
    after = page.next_after;
  }
}

/** The harness of test/support/clerk.ts in a space, the owner watching it; `again` starts it anew. */
async function clerk() {
  await fresh();
  const { token, http } = await workspace.addHarness("desk");
  const env = { BULLPEN_URL: server.url, BULLPEN_TOKEN: token };
  const again = async () => {
    const process = keep(start(globalThis.process.execPath, [program], { env }));
    await process.line("connection open");
    return process;
  };
  const process = await again();
  const { agents } = await http.get<{ agents: { agent_id: string }[] }>("/v1/me");
  spaceId = await workspace.addSpace("Lobby", [agents[0]?.agent_id ?? ""]);
  const tail = keep(owner.follow(["tail", "Lobby"]));
  await tail.line("Clerk joined");
  return { process, again, tail };
}

/** The command that the terminal says answers an ask, as its arguments. */
async function printed(tail: Running, name: string): Promise<string[]> {
  const line = await tail.line(new RegExp(`bullpen ${name} \\S+$`));
  return line.slice(line.indexOf(`${name} `)).split(" ");
}

interface RunItem {
  run_id: string;
  state: string;
  outcome?: string;
}

describe("APR-6: an approval over the deaths of its harness", () => {
  it("APR-5, APR-6: is answered by the printed command while the harness is dead, and its next life goes on", async () => {
    const { process, again, tail } = await clerk();
    await say("@Clerk mail Dana");
    await tail.line("Clerk asks: Mail Dana?");
    const [command = "", id = ""] = await printed(tail, "approve");
    await tail.line(/risk: external communication/);
    process.signal("SIGKILL");
    await process.ended;
    expect(await json("approvals")).toMatchObject([{ approval_id: id, state: "pending" }]);
    expect(await ok(command, id, "--input", '{"to":"dan"}')).toBe("Allowed.");
    await tail.line("Olive allowed with changes: Mail Dana?");
    await again();
    await tail.line('Clerk (reply): allow in a later life: {"to":"dan"}, draft 3');
    await event((one) => one.type === "run.ended");
    expect(await json<RunItem[]>("runs", "Lobby")).toMatchObject([{ state: "ended", outcome: "done" }]);

    const [grant] = await json<{ grant_id: string; action: object }[]>("grants");
    expect(grant?.action).toMatchObject({ kind: "email.send", input: { to: "dan" } });
    expect(await ok("revoke-grant", grant?.grant_id ?? "")).toBe("Taken back.");
    expect(await owner.bullpen([command, id])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Olive allowed this already"),
    });
    expect(await ok("audit", "verify")).toMatch(/^The audit is whole: \d+ records checked\.$/);
    expect(await ok("audit")).toMatch(/approval\.decided {2}Olive/);
  });

  it("APR-6: a harness that is told to end leaves its ask open; a refusal reaches its next life", async () => {
    const { process, again, tail } = await clerk();
    await say("@Clerk mail Dana");
    const refuse = await printed(tail, "refuse");
    process.signal("SIGTERM");
    expect(await process.ended).toMatchObject({ code: 0 });
    await again();
    expect(await ok(...refuse)).toBe("Denied.");
    await tail.line(/deny in a later life/);
  });

  it("APR-3, APR-6: is routed to another person, whose yes reaches the same life", async () => {
    const { tail } = await clerk();
    const bob = await workspace.addPerson("Bob");
    await write(workspace.http, "member.add", { space_id: spaceId, participant_id: bob.participantId });
    await say("@Clerk mail Dana");
    const [, id = ""] = await printed(tail, "approve");
    expect(await ok("route", id, "Bob")).toBe("Bob may answer it now.");
    expect(await owner.bullpen(["approve", id])).toMatchObject({ code: 1 });
    const env = { BULLPEN_TOKEN: bob.token };
    expect(await owner.bullpen(["approve", id], { env })).toMatchObject({ code: 0 });
    await tail.line("allow in the same life");
  });
});

describe("TURN-4, ASK-1: people's word in a turn", () => {
  it("TURN-4: a turn is paused, let go on and stopped from the terminal", async () => {
    const { process, tail } = await clerk();
    await say("@Clerk work");
    const run = (await process.line("works run_")).split(" ")[1] ?? "";
    await ok("pause", run);
    await process.line("paused");
    await tail.line("Olive paused Clerk");
    await ok("resume", run);
    await process.line("goes on");
    expect(await ok("stop", run)).toBe("Asked to stop.");
    await process.line("stopped");
    await tail.line("Olive stopped Clerk.");
    await event((one) => one.type === "run.ended");
    expect(await ok("runs", "Lobby")).toMatch(/Clerk +stopped/);
  });

  it("APR-9: a stop takes back what the turn asked", async () => {
    const { tail } = await clerk();
    await say("@Clerk mail Dana");
    const [, id = ""] = await printed(tail, "approve");
    const [run] = await json<RunItem[]>("runs", "Lobby");
    expect(run?.state).toBe("waiting");
    await ok("stop", run?.run_id ?? "");
    await tail.line("Asked no more: Mail Dana?");
    await tail.line("Clerk: stopped");
    expect(await ok("approvals", "--state", "cancelled")).toContain(id);
  });

  it("ASK-1: a question is answered from the terminal", async () => {
    const { tail } = await clerk();
    await say("@Clerk which one?");
    await tail.line("Clerk asks: Which one?");
    const answer = await tail.line(/bullpen answer qst_/);
    expect(await ok("answer", /qst_\w+/.exec(answer)?.[0] ?? "", "blue")).toBe("Answered.");
    await tail.line("blue it is, the 1");
  });
});

/** A policy to start from. */
function file(name: string): string {
  return join(root, "docs/policies", name);
}

it("POL-2: the policies to start from are set from their files, and tried", async () => {
  await clerk();
  expect(await ok("policy", "set", file("nothing-leaves.json"))).toBe("This is version 1 of the policy.");
  expect(await ok("policy", "try", "note.write")).toMatch(/^allow: POL-1: rule "inside"/);
  expect(await ok("policy", "try", "payment.send", "--money", "3")).toMatch(/^ask: /);
  expect(await owner.bullpen(["policy", "set", file("trust-inside.json")])).toMatchObject({ code: 2 });
  await ok("policy", "set", file("trust-inside.json"), "--agent", "Clerk");
  expect(await ok("policy", "try", "file.delete", "--agent", "Clerk")).toMatch(/^allow: /);
  await ok("policy", "set", file("everything-asks.json"));
  const policy = await ok("policy", "get");
  expect((await owner.bullpen(["policy", "set", "-"], { input: policy })).stdout).toContain("version 4");
  const bad = '[{"id": "x", "then": "maybe"}]';
  expect(await owner.bullpen(["policy", "set", "-"], { input: bad })).toMatchObject({ code: 1 });
});

/** Two agents in one space, each over a connection of its own harness; each turn is told to `onTurn`. */
async function pair(onTurn: (turn: Turn, other: string) => Promise<string> | string): Promise<void> {
  await fresh();
  const ids: string[] = [];
  for (const [name, other] of [
    ["Ping", "Pong"],
    ["Pong", "Ping"],
  ] as const) {
    const { token } = await workspace.addHarness(`${name}'s`);
    const harness = connectHarness({
      url: server.url,
      token,
      agents: [{ name }],
      // Runs that report no cost would be what stops them (SPEND-3).
      onTurn: async (turn) => ({ text: await onTurn(turn, other), cost_usd: 0.001 }),
    });
    harnesses.add(harness);
    ids.push(...((await harness.ready).agents ?? []).map(({ agent_id }) => agent_id));
  }
  spaceId = await workspace.addSpace("Lobby", ids);
}

const HOLD = 12;
async function setHold(): Promise<void> {
  await write(workspace.http, "settings.set", { settings: { guard: { stop: 6, hold: HOLD } } });
}

describe("GUARD-6: two agents that answer each other for ever", () => {
  it("GUARD-6: are handed fewer than the hold, and the next word is held for all to see", async () => {
    let handed = 0;
    await pair(({ message }, other) => {
      if (message.from.kind !== "person") handed += 1;
      return `@${other} have you thought of number ${crypto.randomUUID()}?`;
    });
    await setHold();
    await say("@Ping begin");
    const held = await event((one) => one.type === "message.posted" && one.held === true);
    // Both are done: whoever said the held word has nobody to answer it.
    expect(held).toMatchObject({ addressed_to: [] });
    expect(handed).toBe(HOLD - 1);
    const shown = await ok("tail", "Lobby", "--no-follow", "--json", "--last", "100");
    const frames = shown.split("\n").map((line) => JSON.parse(line) as { type: string; held?: boolean });
    const said = frames.filter((frame) => frame.type === "message.posted");
    expect(said.filter((frame) => frame.held)).toHaveLength(1);
    expect(said).toHaveLength(1 + HOLD);
  });

  it("GUARD-7: also with a new file each time, which resets the count: at four times the hold they are paused", async () => {
    let handed = 0;
    await pair(async (turn, other) => {
      if (turn.message.from.kind !== "person") handed += 1;
      await turn.attach(crypto.randomUUID(), { filename: `${crypto.randomUUID()}.txt` });
      return `@${other} look at this`;
    });
    await setHold();
    await say("@Ping begin");
    expect(await event((one) => one.type === "agents.paused")).toMatchObject({ cause: "guard" });
    await event((one) => one.type === "message.posted" && one.held === true);
    expect(handed).toBeLessThanOrEqual(4 * HOLD);
    expect(handed).toBeGreaterThan(HOLD);
  });

  it("GUARD-5: a pause holds what an agent says to another; resuming hands it on, once", async () => {
    const gate = Promise.withResolvers<string>();
    const got = Promise.withResolvers<Turn>();
    await pair((turn, other) => {
      if (turn.message.from.kind === "person") return gate.promise;
      got.resolve(turn);
      return `Thanks. (${other} is not addressed.)`;
    });
    await say("@Ping begin");
    await event((one) => one.type === "run.started");
    expect(await ok("pause", "Lobby")).toBe("The agents of Lobby are paused.");
    gate.resolve("@Pong your turn");
    await event((one) => one.type === "message.posted" && one.held === true);
    await ok("resume", "Lobby");
    const { message } = await got.promise;
    expect(message).toMatchObject({ text: "@Pong your turn", handed: true });
  });
});
