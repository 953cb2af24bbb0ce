import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Agent, type AgentOptions, connectAgent, fileStore, type Item } from "../src/agent/index.ts";
import { connectPerson, type PersonConnection, type ServerEvent } from "../src/sdk/index.ts";
import type { PersonAnswer, TicketAnswer } from "../src/shared/wire/office.ts";
import { newUser, type Running, root } from "./support/command.ts";
import {
  createWorkspace,
  startServer,
  type TestServer,
  type TestWorkspace,
  write,
} from "./support/server.ts";

const worker = join(root, "test/support/fake-worker.mjs");
const user = newUser();
const folder = mkdtempSync(join(tmpdir(), "bullpen-agents-"));
let server: TestServer;
let workspace: TestWorkspace;
let lobby: string;
let room: PersonConnection;
const events: ServerEvent[] = [];
const arrived = new EventTarget();
const running = new Set<Running>();
const agents = new Set<Agent>();

/** Each test has a person of its own, so that what one leaves over is nothing to another. */
const PEOPLE = ["ada", "milo", "rosa", "tove", "ivan", "kira"] as const;
type Person = (typeof PEOPLE)[number];
const nameOf = (handle: Person): string => handle[0]?.toUpperCase() + handle.slice(1);

beforeAll(async () => {
  server = await startServer();
  workspace = await createWorkspace(server);
  lobby = await workspace.addSpace("Lobby");
  await workspace.http.put("/v1/team", {
    notify: lobby,
    humans: [{ name: "Olive", user: workspace.ownerId, lead: true }],
    roles: { dev: { title: "Developer" } },
    people: PEOPLE.map((handle) => ({ handle, name: nameOf(handle), role: "dev", model: "m-1" })),
  });
  const { items } = await workspace.http.get<{ items: { participant_id: string; kind: string }[] }>(
    "/v1/participants",
  );
  for (const { participant_id, kind } of items)
    if (kind === "agent") await write(workspace.http, "member.add", { space_id: lobby, participant_id });
  room = connectPerson({
    url: server.url,
    token: workspace.token,
    onEvent(frame) {
      if (!("seq" in frame) || !("ts" in frame)) return;
      events.push(frame);
      arrived.dispatchEvent(new Event("one"));
    },
  });
  await room.ready;
});
afterEach(async () => {
  for (const one of running) one.signal("SIGTERM");
  await Promise.all([...agents].map((agent) => agent.close()));
  await Promise.all([...running].map((one) => one.ended));
  running.clear();
  agents.clear();
});
afterAll(async () => {
  room?.close();
  await server?.stop();
  user.leave();
  rmSync(folder, { recursive: true, force: true });
});

/** The first message that fits, of those that have come and those to come. */
function said(fits: (event: Extract<ServerEvent, { type: "message.posted" }>) => boolean) {
  return new Promise<Extract<ServerEvent, { type: "message.posted" }>>((resolve) => {
    const look = (): void => {
      for (const event of events)
        if (event.type === "message.posted" && fits(event)) {
          arrived.removeEventListener("one", look);
          resolve(event);
          return;
        }
    };
    arrived.addEventListener("one", look);
    look();
  });
}

async function tell(text: string): Promise<string> {
  return (await write(workspace.http, "message.post", { space_id: lobby, text })).message_id ?? "";
}

async function tokenOf(person: Person): Promise<string> {
  const asked = { person, scopes: ["agent"] };
  return (await workspace.http.post<{ token: string }>("/v1/tokens", asked)).token;
}

function connect(handle: Person, token: string, more: Partial<AgentOptions>): Agent {
  const agent = connectAgent({
    url: server.url,
    handle,
    token,
    store: fileStore(join(folder, handle)),
    onItem: () => undefined,
    ...more,
  });
  agents.add(agent);
  return agent;
}

/** `bullpen agent`, as the owner of the workspace types it. */
async function cli(person: Person, args: string[] = [], env: Record<string, string> = {}): Promise<Running> {
  const command = ["agent", "--person", person, ...args, "--", process.execPath, worker];
  const signedIn = { BULLPEN_URL: server.url, BULLPEN_TOKEN: workspace.token, ...env };
  const one = user.follow(command, { env: signedIn });
  running.add(one);
  await one.line(/is connected|"connected"/);
  return one;
}

/** `bullpen agent` that comes to nothing. */
const as = (person: string, env: Record<string, string> = {}) =>
  user.bullpen(["agent", "--person", person, "--", "true"], {
    env: { BULLPEN_URL: server.url, BULLPEN_TOKEN: workspace.token, ...env },
  });

const queueOf = (person: Person) => workspace.http.get<PersonAnswer>(`/v1/people/${person}`);

describe("connectAgent against a real office", () => {
  it("CHAT-2, REPORT-3: a message in a room ends in a reply by the agent itself, in its thread", async () => {
    const seen: Item[] = [];
    const agent = connect("ada", await tokenOf("ada"), {
      async onItem(item) {
        seen.push(item);
        await item.progress("looking");
        await item.journal("It is fine.");
        return "All is well.";
      },
    });
    expect((await agent.ready).team).toMatchObject({ people: expect.any(Array) });
    const asked = await tell("@Ada how is it going?");
    const reply = await said(({ text }) => text.includes("All is well."));
    expect(reply).toMatchObject({ reply_to: asked, from: { kind: "agent", display_name: "Ada" } });
    expect(seen).toMatchObject([{ kind: "chat", offer: { workItem: { trigger: "human" } } }]);
    expect(seen[0]?.prompt).toContain("> | @Ada how is it going?");
    const { items } = await queueOf("ada");
    expect(items).toMatchObject([
      { state: "done", progress: "looking", summary: "All is well.", model: "m-1" },
    ]);
  });

  it("WORK-3, OFFER-6: a ticket of the board is work, and ends with it", async () => {
    const agent: Agent = connect("milo", await tokenOf("milo"), {
      async onItem(item) {
        const key = item.offer.workItem.subject?.ref ?? "";
        await agent.http.patch(`/v1/tickets/${key}`, { status: "done" });
        await write(agent.http, "message.post", { space_id: lobby, text: `${key} is painted.` });
        return { summary: "Painted.", toReview: [key] };
      },
    });
    await agent.ready;
    const { key } = await workspace.http.post<TicketAnswer>("/v1/tickets", {
      title: "Paint the door",
      assignee: "milo",
    });
    await said(({ text }) => text === `${key} is painted.`);
    expect(await workspace.http.get(`/v1/tickets/${key}`)).toMatchObject({ status: "done" });
    await agent.close();
    expect((await queueOf("milo")).items).toMatchObject([
      { state: "done", ticket: key, summary: "Painted." },
    ]);
  });

  it("OFF-3, OFF-2: a successor takes its place for good; a bad token is told as one", async () => {
    const token = await tokenOf("milo");
    const first = connect("milo", token, { store: fileStore(join(folder, "milo-1")) });
    await first.ready;
    const second = connect("milo", token, { store: fileStore(join(folder, "milo-2")) });
    await second.ready;
    expect(await first.closed).toMatchObject({ code: "replaced" });
    const wrong = connect("ada", token, { store: fileStore(join(folder, "wrong")) });
    expect(await wrong.closed).toMatchObject({ code: "auth_failed" });
    const stranger = connect("rosa", `${token.slice(0, -4)}AAAA`, { store: fileStore(join(folder, "s")) });
    expect(await stranger.closed).toMatchObject({ code: "auth_failed" });
  });

  it("OFFER-7: a person stops what runs, and the handler hears of it with their words", async () => {
    const begun = Promise.withResolvers<Item>();
    const agent = connect("rosa", await tokenOf("rosa"), {
      onItem(item) {
        begun.resolve(item);
        return new Promise(() => {});
      },
    });
    await agent.ready;
    await workspace.http.post("/v1/people/rosa/items", { title: "Wait for ever" });
    const item = await begun.promise;
    await workspace.http.patch(`/v1/people/rosa/items/${item.id}`, { status: "canceled" });
    await item.progress("still here").catch(() => {});
    expect(item.signal.reason).toMatchObject({
      code: "unknown_item",
      message: expect.stringContaining("Olive"),
    });
  });
});

describe("AGENT-1: bullpen agent", () => {
  it("makes its token once, for this user alone, and posts what the command prints", async () => {
    const one = await cli("tove");
    await tell("@Tove fix the login");
    await said(({ text, from }) => from.display_name === "Tove" && text === 'Did "@Tove fix the login"');
    await one.line("done itm_");
    const file = join(user.home, "config/bullpen/agents.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { agents: kept } = JSON.parse(readFileSync(file, "utf8"));
    expect(kept).toMatchObject([{ person: "tove", workspace_id: workspace.workspaceId }]);
    expect(one.stdout() + one.stderr()).not.toContain(kept[0].token);
    one.signal("SIGINT");
    expect(await one.ended).toMatchObject({ code: 0 });
    await cli("tove");
    expect(JSON.parse(readFileSync(file, "utf8")).agents).toEqual(kept);
  });

  it("OFFER-6: a command that fails tells who asked why, and --json tells a supervisor", async () => {
    const one = await cli("tove", ["--json"]);
    await tell("@Tove crash, please");
    await said(({ text }) => text.includes("exit code 3") && text.includes("no access"));
    const lines = one.stdout().trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).event).slice(0, 3)).toEqual(["connected", "took", "ended"]);
  });

  it("OFFER-5: killed in the middle of an item, the next one gets it again, and it is done once", async () => {
    const first = await cli("ivan");
    await tell("@Ivan stay a while");
    const pid = Number((await first.line("working ")).split(" ").at(-1));
    first.child.kill("SIGKILL");
    await first.ended;
    process.kill(pid, "SIGKILL");
    const again: string[] = [];
    const { agents: kept } = JSON.parse(readFileSync(join(user.home, "config/bullpen/agents.json"), "utf8"));
    const { token } = kept.find((one: { person: string }) => one.person === "ivan");
    const stateDir = join(user.home, `config/bullpen/agents/${workspace.workspaceId}-ivan`);
    const agent = connect("ivan", token, {
      store: fileStore(stateDir),
      onItem(item) {
        again.push(`${item.title}: ${String(item.offer.interrupted)}`);
        return "Done at last.";
      },
    });
    await agent.ready;
    await said(({ text }) => text === "Done at last.");
    expect(again).toEqual(["@Ivan stay a while: true"]);
  });

  it("Ctrl-C hands back what runs, and it comes first when the agent is back", async () => {
    const first = await cli("kira");
    await tell("@Kira stay a while");
    await first.line("working ");
    await tell("@Kira speaks for itself");
    first.signal("SIGINT");
    expect(await first.ended).toMatchObject({ code: 0 });
    const { items } = await queueOf("kira");
    expect(items.map(({ title, state, position }) => [title, state, position])).toEqual([
      ["@Kira stay a while", "queued", 1],
      ["@Kira speaks for itself", "queued", 2],
    ]);
    await workspace.http.patch(`/v1/people/kira/items/${items[0]?.id}`, { status: "canceled" });
    const second = await cli("kira");
    // Inside of it `bullpen item` hands back, in the office's name for it.
    await second.line("0: Handed back.");
    const { items: now } = await queueOf("kira");
    expect(now.find(({ title }) => title.includes("speaks"))).toMatchObject({
      state: "waiting",
      summary: "handed over by itself",
    });
  }, 120_000);

  it("says what is wrong with who it is to be", async () => {
    expect(await as("nobody")).toMatchObject({ code: 1, stderr: expect.stringContaining("no such person") });
    expect(await as("../ada")).toMatchObject({ code: 2 });
    const milo = await tokenOf("milo");
    expect(await as("ada", { BULLPEN_TOKEN: milo })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("does not take this token"),
    });
  });
});

describe("an office that is killed", () => {
  it("OFF-7: what an agent does meanwhile is handed back when the office is there again", async () => {
    const finish = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const states: string[] = [];
    const agent = connect("ada", await tokenOf("ada"), {
      onStatus: ({ state }) => states.push(state),
      onItem() {
        begun.resolve();
        return finish.promise;
      },
    });
    await agent.ready;
    await tell("@Ada something slow");
    await begun.promise;
    const { persistTo, url } = server;
    await server.kill();
    finish.resolve("Slow, but done.");
    server = await startServer({ persistTo, port: Number(new URL(url).port) });
    await said(({ text }) => text === "Slow, but done.");
    expect(states).toContain("waiting");
    const { items } = await queueOf("ada");
    expect(items.filter(({ title }) => title.includes("slow"))).toMatchObject([{ state: "done", round: 1 }]);
    // The state was ours to keep until now.
    rmSync(persistTo, { recursive: true, force: true });
  });
});
