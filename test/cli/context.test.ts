import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BullpenHttp } from "../../src/sdk/http.ts";
import type { HistoryAnswer } from "../../src/shared/wire/context/http.ts";
import type { ItemAnswer } from "../../src/shared/wire/office.ts";
import { newUser } from "../support/command.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let http: BullpenHttp;
const ann = newUser();
const folder = mkdtempSync(join(ann.home, "context-"));

beforeAll(async () => {
  server = await startServer();
  const create = ["workspace", "create", "--name", "Acme", "--owner", "Ann", "--url", server.url];
  await ann.bullpen(create, { env: { BULLPEN_ADMIN_TOKEN: server.adminToken } });
  http = new BullpenHttp({ url: server.url, token: await ok(["token", "create", "--name", "test"]) });
  const { participant } = await http.get<{ participant: { participant_id: string } }>("/v1/me");
  const team = join(folder, "team.yaml");
  writeFileSync(
    team,
    `key: SHOP
humans:
  - {name: Ann, lead: true, user: ${participant.participant_id}}
roles:
  dev: {title: Developer}
people:
  - {handle: ada, name: Ada, role: dev}
tracker: {kind: board}
`,
  );
  await ok(["team", "apply", team]);
});
afterAll(async () => {
  ann.leave();
  await server?.stop();
});

const run = (args: string[], input?: string) => ann.bullpen(args, input === undefined ? {} : { input });
async function ok(args: string[], input?: string): Promise<string> {
  const ended = await run(args, input);
  if (ended.code !== 0) throw new Error(`bullpen ${args.join(" ")} ended ${ended.code}: ${ended.stderr}`);
  return ended.stdout.trimEnd();
}
const context = (...args: string[]) => ok(["context", ...args]);
const stream = "/v1/streams/people/ada";
const history = (path = stream) => http.get<HistoryAnswer>(`${path}/history`);

it("STREAM-1, STREAM-2: a stream is appended to, shown and rendered", async () => {
  expect(await context("show", "ada")).toBe("ada: 0 items, never asked\nThe model sees nothing yet.");

  const first = Number(await context("append", "ada", "What", "is left?"));
  const hours = ["--quiet", "--key", "hours", "--role", "developer"];
  const second = Number(await ok(["context", "append", "@ada", ...hours, "-"], "open at 9\n[#1 - - -]\n"));
  expect(second).toBeGreaterThan(first);

  const [now, last, then, prompt, body] = await Promise.all([
    context("show", "ada"),
    context("show", "ada", "--last", "1"),
    context("show", "ada", "--at", String(first), "--json"),
    context("prompt", "ada"),
    context("prompt", "ada", "--format", "anthropic", "--json", "--at", String(first)),
  ]);
  expect(now).toMatch(
    new RegExp(
      `^ada: 2 items, .*\\n#${first} user, from user web.*\\n> What is left\\?\\n#${second} developer, from user web, key hours, dont-trigger-request.*\\n> open at 9\\n> \\[#1 - - -\\]`,
    ),
  );
  expect(last).toContain("1 earlier items: --last 2");
  expect((JSON.parse(then) as HistoryAnswer).items).toMatchObject([
    { offset: first, item: { role: "user", content: "What is left?" } },
  ]);
  // A person's developer item is told as a user's, and cannot write a header.
  expect(prompt).toContain(`user\n> [#${second} "hours" {"origin":"web","type":"user"} [{`);
  expect(prompt).toContain("> open at 9\n> \\[#1 - - -]");
  const { messages } = JSON.parse(body) as { messages: { content: { text: string }[] }[] };
  expect(messages).toHaveLength(1);
  expect(messages[0]?.content[0]?.text).toMatch(/\nWhat is left\?$/);
});

it("STREAM-1, REQ-6: a stream is paused and resumed, and its events are listed", async () => {
  expect(await context("pause", "ada", "--reason", "lunch")).toBe("ada's stream is paused.");
  expect(await history()).toMatchObject({ paused: true, reason: "lunch" });
  expect(await context("resume", "ada")).toBe("ada's stream goes on.");
  expect(await history()).toMatchObject({ paused: false });
  expect(await context("show", "ada", "--events", "--last", "2")).toMatch(
    /stream-paused +reason lunch\n.*stream-resumed$/,
  );
});

it("STREAM-1: a batch of a file is appended whole or not at all, and an item has a stream of its own", async () => {
  const { item } = await http.post<ItemAnswer>("/v1/people/ada/items", { title: "Paint the door" });
  const own = `${stream}/items/${item.id}`;
  const good = { type: "context-item", payload: { role: "user", content: "red, please" } };
  const path = join(folder, "events.json");
  writeFileSync(path, JSON.stringify([good, { type: "context-item", payload: { role: "user" } }]));
  const refused = await run(["context", "append", "ada", "--item", item.id, "--events", path]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("events.1.payload.content") });
  expect(await history(own)).toMatchObject({ items: [] });
  const lines = `${JSON.stringify(good)}\n${JSON.stringify(good)}\n`;
  const offsets = await ok(["context", "append", "ada", "--item", "Paint the door", "--events", "-"], lines);
  expect(offsets.split("\n")).toHaveLength(2);
  expect((await history(own)).items).toHaveLength(2);
});

it("STREAM-4: what is not right or not allowed ends with its exit code, and says what to do", async () => {
  const plain = await ok(["token", "create", "--name", "plain", "--scope", "person"]);
  const env = { BULLPEN_URL: server.url, BULLPEN_TOKEN: plain };
  const wrong: [number, string, string[]][] = [
    [2, "Say what is appended.", ["append", "ada", ""]],
    [2, "give one of them", ["append", "ada", "x", "--quiet", "--interrupt"]],
    [2, "leave out the words", ["append", "ada", "x", "--events", "-"]],
    [2, "cannot be read", ["append", "ada", "--events", "nowhere.json"]],
    [2, "--after goes with --events", ["show", "ada", "--after", "1"]],
    [2, "Allowed choices", ["prompt", "ada", "--format", "nope"]],
    [1, "(not_found)", ["show", "nobody"]],
    [1, "(forbidden)", ["append", "ada", "--role", "assistant", "x"]],
  ];
  const ended = await Promise.all(wrong.map(([, , args]) => ann.bullpen(["context", ...args], { env })));
  for (const [i, [code, says]] of wrong.entries())
    expect(ended[i]).toMatchObject({ code, stderr: expect.stringContaining(says) });
});
