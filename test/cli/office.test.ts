import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BullpenHttp } from "../../src/sdk/http.ts";
import type { PersonAnswer, TicketAnswer, TraceAnswer, WorkEventItem } from "../../src/shared/wire/office.ts";
import { newUser, type User } from "../support/command.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let http: BullpenHttp;
let TEAM: string;
const ann = newUser();
const folder = mkdtempSync(join(ann.home, "team-"));

const team = (user: string) => `key: SHOP
humans:
  - {name: Ann, lead: true, user: ${user}}
roles:
  dev: {title: Developer}
people:
  - {handle: scout, name: Scout, role: dev, subscription: max-1}
  - {handle: mason, name: Mason, role: dev, subscription: max-1}
secrets: {github_token: office}
tracker: {kind: board}
`;

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

beforeAll(async () => {
  server = await startServer();
  const create = ["workspace", "create", "--name", "Acme", "--owner", "Ann", "--url", server.url];
  await ann.bullpen(create, { env: { BULLPEN_ADMIN_TOKEN: server.adminToken } });
  const token = await ok(["token", "create", "--name", "test"]);
  http = new BullpenHttp({ url: server.url, token });
  TEAM = team(
    (await http.get<{ participant: { participant_id: string } }>("/v1/me")).participant.participant_id,
  );
});
afterAll(async () => {
  ann.leave();
  await server?.stop();
});

async function ok(args: string[], input?: string, user: User = ann): Promise<string> {
  const ended = await user.bullpen(args, input === undefined ? {} : { input });
  if (ended.code !== 0) throw new Error(`bullpen ${args.join(" ")} ended ${ended.code}: ${ended.stderr}`);
  return ended.stdout.trimEnd();
}

async function json<T>(args: string[]): Promise<T> {
  return JSON.parse(await ok([...args, "--json"])) as T;
}

const as = (token: string, args: string[]) =>
  ann.bullpen(args, { env: { BULLPEN_URL: server.url, BULLPEN_TOKEN: token } });
const queueOf = (handle: string) => http.get<PersonAnswer>(`/v1/people/${handle}`);
/** Starting a command takes a while, and none of these waits for another. */
const all = (...runs: string[][]) => Promise.all(runs.map((args) => ann.bullpen(args)));

describe("the team", () => {
  it("TEAM-1: is checked, shown before it is set, set, and changed on the version that was seen", async () => {
    expect(await ann.bullpen(["people"])).toMatchObject({ code: 0, stdout: "" });
    const path = file("team.yaml", TEAM);
    expect(await ok(["team", "check", path])).toContain("is right: 2 agents, 1 human, 0 repositories.");
    const dry = await ann.bullpen(["team", "apply", path, "--dry-run"]);
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("+ people.scout\n+ people.mason\n"),
    });
    expect(dry.stdout).toContain("~ key: BP → SHOP");
    expect(dry.stderr).toContain("Nothing was changed");
    expect(await ok(["team", "apply", path])).toContain("This is version 1 of the team.");
    expect(await ok(["team", "apply", path])).toBe("Nothing changes: version 1 stands.");
    const shown = await ok(["team", "show"]);
    expect(shown).toContain("key: SHOP\n");
    const merged = file("next.yaml", shown.replace("by: author", "by: human"));
    expect(await ok(["team", "apply", merged])).toBe(
      "~ policies.merge.by: author → human\nThis is version 2 of the team.",
    );
    expect(await json(["team", "show"])).toMatchObject({
      version: 2,
      team: { policies: { merge: { by: "human" } } },
    });
  });

  it("TEAM-1: faults are told by file, line and path, those that only the server knows too", async () => {
    const bad = await ann.bullpen(["team", "apply", file("bad.yaml", `${TEAM}nonsense: 1\n`)]);
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).toMatch(/bad\.yaml:11: .*nonsense/);
    const nowhere = await ann.bullpen([
      "team",
      "apply",
      file("space.yaml", `notify: spc_01K4ZQPX000000000000000001\n${TEAM}`),
    ]);
    expect(nowhere.code).toBe(1);
    expect(nowhere.stderr).toMatch(/space\.yaml:1: notify: is no space of this workspace/);
    expect(await json(["team", "show"])).toMatchObject({ version: 2 });
  });

  it("SECRET-1: a secret comes from standard input, never from the command line", async () => {
    expect(await ok(["secret", "set", "github_token"], "ghp_hush\n")).toMatch(/^github_token is set/);
    const [argument, empty, nameless] = await Promise.all([
      ann.bullpen(["secret", "set", "github_token", "ghp_hush"]),
      ann.bullpen(["secret", "set", "github_token"], { input: "" }),
      ann.bullpen(["secret", "set", "Nope"], { input: "x" }),
    ]);
    expect([argument.code, empty.code, nameless.code]).toEqual([2, 2, 1]);
    expect(nameless.stderr).toContain("(invalid)");
  });
});

describe("a queue", () => {
  it("QUEUE-4: takes work, shows why it waits, and is worked by number, title and id", async () => {
    const [paint, oil] = [
      await ok(["assign", "scout", "Paint", "the", "door", "--priority", "40"]),
      await ok(["assign", "@scout", "Oil the hinges", "--body", "-"], "All three.\n"),
    ];
    expect(await ok(["people"])).toMatch(/scout +Scout +dev +offline +2/);
    expect(await ok(["queue", "scout"])).toMatch(
      /#1 queued +Paint the door \(assigned, priority 40\).*\n +scout's agent is not connected\.\n +#2 queued +Oil/,
    );
    expect(await ok(["queue", "place", "scout", "#2", "--next"])).toBe(
      "Oil the hinges is number 1 in the queue.",
    );
    expect(await ok(["queue", "stop", "scout", "paint the door", "--reason", "no paint"])).toBe(
      "Paint the door is canceled.",
    );
    expect(await ok(["queue", "item", "scout", paint])).toMatch(/queued → canceled +Ann +.*no paint/);
    expect(await ok(["queue", "requeue", "scout", paint])).toBe("Paint the door is queued.");
    expect(await ok(["queue", "move", "scout", paint, "mason"])).toBe("Paint the door is mason's now.");
    expect((await queueOf("scout")).items.filter(({ state }) => state === "queued").map((i) => i.id)).toEqual(
      [oil],
    );
    await expect
      .poll(async () => (await queueOf("mason")).items.map((i) => i.id), { timeout: 10_000 })
      .toEqual([paint]);
    const [refused, ghost, nowhere, unknown] = await all(
      ["queue", "finish", "scout", "#1"],
      ["queue", "ghost"],
      ["queue", "place", "scout", "#1"],
      ["queue", "stop", "scout", "#7"],
    );
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/canceled.*\(invalid\)/s) });
    expect(ghost).toMatchObject({ code: 1, stderr: expect.stringContaining("(not_found)") });
    expect(nowhere?.code).toBe(2);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining(oil) });
  });

  it("QUEUE-4: is paused and goes on, alone or with who shares the subscription", async () => {
    expect(await ok(["queue", "pause", "scout", "--for", "2h", "--reason", "lunch"])).toBe(
      "scout is offered nothing new.",
    );
    expect(await ok(["queue", "scout"])).toMatch(/paused by Ann until .*: lunch/);
    expect(await ok(["people"])).toMatch(/scout +Scout +dev +paused/);
    expect(await ok(["queue", "resume", "scout"])).toBe("scout is offered work again (offline).");
    expect(await ok(["subscription", "pause", "max-1"])).toBe("max-1 is paused; shared by scout, mason.");
    await expect
      .poll(async () => (await queueOf("mason")).held, { timeout: 10_000 })
      .toMatchObject({ why: expect.stringContaining("max-1") });
    expect(await ok(["subscription", "resume", "max-1"])).toBe("max-1 goes on; shared by scout, mason.");
    expect(
      await ann.bullpen(["queue", "pause", "scout", "--for", "1h", "--until", "2030-01-01"]),
    ).toMatchObject({
      code: 2,
    });
  });

  it("QUEUE-4: is watched: each change is shown as it comes, until Ctrl-C", async () => {
    const watching = ann.follow(["queue", "mason", "--watch", "--json"]);
    const people = ann.follow(["people", "--watch"]);
    await watching.line("Paint the door");
    await http.post("/v1/people/mason/items", { title: "Sand it" });
    await watching.line("Sand it");
    await people.line(/mason/);
    await http.post("/v1/people/mason/pause", { reason: "tea" });
    await watching.line('"reason":"tea"');
    await people.line(/mason +Mason +dev +paused/);
    for (const command of [watching, people]) {
      command.signal("SIGINT");
      expect(await command.ended).toMatchObject({ code: 0, stderr: "" });
    }
    await http.post("/v1/people/mason/resume");
    expect(await ann.bullpen(["queue", "ghost", "--watch"])).toMatchObject({ code: 1 });
  });
});

describe("tickets and their traces", () => {
  it("WORK-3 PIPE-1: a ticket is made, shown, changed and said something about, and its trace tells whom it woke", async () => {
    const key = await ok(
      ["ticket", "new", "Blue", "door", "--assignee", "scout", "--description", "-"],
      "Navy.\n",
    );
    expect(key).toBe("SHOP-1");
    const part = await ok(["ticket", "new", "Hinges", "--parent", key]);
    expect(await ok(["ticket", "comment", key, "And", "oil", "it"])).toBe("Said.");
    const shown = await ok(["ticket", "show", key.toLowerCase()]);
    expect(shown).toMatch(/^SHOP-1 Blue door\nstatus +ready\nassignee +scout\nparts +SHOP-2\n/);
    expect(shown).toMatch(/> Navy\.[^]*Ann .*\n> And oil it/);
    expect(await ok(["ticket", "list", "--assignee", "scout"])).toMatch(/SHOP-1 +ready +scout +Blue door/);
    await expect
      .poll(async () => (await queueOf("scout")).items, { timeout: 10_000 })
      .toContainEqual(expect.objectContaining({ ticket: key, state: "queued" }));
    const events = await json<WorkEventItem[]>(["trace", "--type", "ticket.assigned"]);
    expect(events).toMatchObject([{ type: "ticket.assigned", about: key }]);
    const id = events[0]?.event_id ?? "";
    const trace = await json<TraceAnswer>(["trace", id]);
    expect(trace.decisions).toContainEqual(expect.objectContaining({ decision: "wake", person: "scout" }));
    expect(await ok(["trace", id])).toMatch(/^ticket\.assigned SHOP-1 by Ann[^]*wake assigned scout: /);
    expect(await ok(["trace"])).toContain(id);
    const changed = await json<TicketAnswer>([
      "ticket",
      "set",
      part,
      "--parent",
      "none",
      "--status",
      "active",
    ]);
    expect(changed).toMatchObject({ key: part, status: "active" });
    expect(changed.parent).toBeUndefined();
    const wrong = await all(
      ["ticket", "set", part],
      ["ticket", "set", part, "--status", "sung"],
      ["ticket", "show", "SHOP-99"],
      ["trace", "evt_none"],
    );
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 1, 1]);
  });

  it("WORK-4 TEAM-2: tokens for an agent and for a tool do what they are for, and no more", async () => {
    const agent = await ok(["token", "create", "--person", "scout"]);
    expect((await as(agent, ["people"])).stdout).toContain("mason");
    expect(await as(agent, ["assign", "mason", "x"])).toMatchObject({ code: 1 });
    const hook = await ok(["token", "create", "--hook", "jira", "--types", "ticket.created,ticket.closed"]);
    expect(await as(hook, ["people"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(forbidden)"),
    });
    const wrong = await all(
      ["token", "create", "--hook", "jira"],
      ["token", "create", "--types", "ticket.created"],
      ["token", "create", "--person", "scout", "--for", "me"],
      ["token", "create", "--person", "scout", "--scope", "admin"],
      ["token", "create", "--person", "ghost"],
    );
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2, 1]);
    const list = await ok(["token", "list"]);
    expect(list).toContain("agent of scout");
    expect(list).toContain("hook of jira: ticket.created,ticket.closed");
  });
});

it("PIPE-4: nothing that others wrote steers the terminal", async () => {
  const hostile = "\u001b]0;pwned\u0007\u001b[2J\u009b31mred\r\nfake: line\u202e";
  const { key } = await http.post<TicketAnswer>("/v1/tickets", { title: hostile, assignee: "mason" });
  const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/; // oxlint-disable-line no-control-regex
  for (const { code, stdout } of await all(["ticket", "show", key], ["ticket", "show", key, "--json"])) {
    expect(code).toBe(0);
    expect(stdout).toContain("fake: line");
    expect(stdout).not.toMatch(steering);
    expect(stdout).not.toMatch(/^fake: line/m);
  }
});
