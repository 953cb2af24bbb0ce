import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectHarness } from "../../src/sdk/index.ts";
import { type Ended, newUser, type User } from "../support/command.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
const ann = newUser();
const bob = newUser();
let ownerMade: Ended;
const ulid = "01M8MMR1XDW9QCB0CM10M2D5YW";

beforeAll(async () => {
  server = await startServer();
  const create = ["workspace", "create", "--name", "Acme Works", "--owner", "Ann", "--url", server.url];
  const made = await ann.bullpen(create, { env: { BULLPEN_ADMIN_TOKEN: server.adminToken } });
  ownerMade = made;
  await ok(ann, ["space", "create", "Lobby"]);
});
afterAll(async () => {
  for (const user of [ann, bob]) user.leave();
  await server?.stop();
});

/** Runs a command that must go well, and answers what it printed. */
async function ok(user: User, args: string[], input?: string): Promise<string> {
  const ended = await user.bullpen(args, input === undefined ? {} : { input });
  if (ended.code !== 0) throw new Error(`bullpen ${args.join(" ")} ended ${ended.code}: ${ended.stderr}`);
  return ended.stdout.trimEnd();
}

async function json<T>(user: User, args: string[]): Promise<T> {
  return JSON.parse(await ok(user, [...args, "--json"])) as T;
}

/** The frames of `tail --json`. */
function frames(stdout: string): { type: string; seq?: number; text?: string }[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
}

describe("coming in", () => {
  it("AUTH-5: the owner's token goes into a profile that nobody else can read", () => {
    expect(ownerMade).toMatchObject({ code: 0, stderr: "" });
    expect(ownerMade.stdout).not.toContain("bp_");
    const file = join(ann.home, "config/bullpen/profiles.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, "utf8")).toContain("acme-works");
  });

  it("AUTH-5: without the right admin token nothing is made", async () => {
    const create = ["workspace", "create", "--name", "X", "--owner", "Y", "--url", server.url];
    expect(await bob.bullpen(create)).toMatchObject({ code: 2 });
    expect(await bob.bullpen([...create, "--admin-token", "wrong"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(forbidden)"),
    });
  });

  it("AUTH-6: an invite lets one person in, into the spaces it names, and is gone then", async () => {
    const link = await ok(ann, ["invite", "--space", "lobby", "--expires", "1h"]);
    expect(link).toMatch(new RegExp(`^${server.url}/#invite=`));
    const joined = await bob.bullpen(["join", link, "--name", "Bob"]);
    expect(joined).toMatchObject({ code: 0, stdout: expect.stringContaining("You are Bob in Acme Works.") });
    expect(await ok(bob, ["members", "Lobby"])).toMatch(/@Ann +Ann +person +owner[^\n]*\n@Bob +Bob/);
    expect(await bob.bullpen(["join", link, "--name", "Bob"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(gone)"),
    });
  });

  it("AUTH-8: a sign-in link makes a second profile of the same person", async () => {
    const link = await ok(bob, ["sign-in-link"]);
    const before = await json<{ participant: { participant_id: string } }>(bob, ["whoami"]);
    await ok(bob, ["join", link, "--profile", "phone"]);
    const after = await json<{ participant: { participant_id: string }; profile: string }>(bob, ["whoami"]);
    expect(after).toMatchObject({ participant: before.participant, profile: "phone" });
    await ok(bob, ["profile", "use", "acme-works"]);
    expect(await ok(bob, ["sign-out", "--profile", "phone"])).toBe("Signed out.");
    expect(await ok(bob, ["profile", "list"])).not.toContain("phone");
  });

  it("AUTH-3: a revoked token is no good at once", async () => {
    const made = await json<{ token: string; token_id: string }>(ann, ["token", "create", "--name", "ci"]);
    const env = { BULLPEN_URL: server.url, BULLPEN_TOKEN: made.token };
    expect(await ann.bullpen(["whoami"], { env })).toMatchObject({ code: 0 });
    expect(await ok(ann, ["token", "list"])).toMatch(new RegExp(`${made.token_id} +ci`));
    await ok(ann, ["token", "revoke", made.token_id]);
    expect(await ann.bullpen(["whoami"], { env })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("(unauthenticated)"),
    });
  });
});

describe("saying and reading", () => {
  it("posts words as typed, from standard input, with files, in reply, and says what it made", async () => {
    const folder = mkdtempSync(join(ann.home, "files-"));
    writeFileSync(join(folder, "plan.md"), "# Plan\n");
    const first = await ok(ann, ["post", "Lobby", "hello", "@Bob"]);
    expect(first).toMatch(/^msg_/);
    await ok(bob, ["post", "lobby", "-", "--reply-to", first], "two\nlines\n");
    await ok(ann, ["post", "Lobby", "the plan", "--file", join(folder, "plan.md")]);
    const shown = await ok(bob, ["tail", "Lobby", "--no-follow"]);
    expect(shown).toContain("Ann: hello @Bob\n");
    expect(shown).toMatch(/Bob \(reply\): two\n {10}\| lines\n/);
    expect(shown).toMatch(/Ann: the plan\n {10}\| \[file\] plan.md, 7 B/);
    expect(await ok(bob, ["spaces"])).toMatch(/Lobby +2 +\d+ +1 for you/);
    expect(await ok(ann, ["context", "Lobby"])).toContain("[file]");
    expect(await ok(ann, ["search", "plan"])).toContain("[Lobby] Ann: ");
  });

  it("CONN-4: goes on after a seq with exactly what came since", async () => {
    await ok(ann, ["post", "Lobby", "before"]);
    const seq = frames(await ok(bob, ["tail", "--json", "--no-follow"])).at(-1)?.seq;
    for (const text of ["one", "two"]) await ok(ann, ["post", "Lobby", text]);
    const resumed = frames(await ok(bob, ["tail", "--json", "--no-follow", "--after", String(seq)]));
    expect(resumed.map((frame) => frame.type)).toEqual([
      "welcome",
      "message.posted",
      "message.posted",
      "caught_up",
    ]);
    expect(resumed.map((frame) => frame.text).filter(Boolean)).toEqual(["one", "two"]);
  });

  it("CONN-3: shows what is said as it is said, and ends well with Ctrl-C, also when it comes twice", async () => {
    const tail = bob.follow(["tail", "Lobby", "--last", "1"]);
    await tail.line("Ann: two");
    await ok(ann, ["post", "Lobby", "live"]);
    await tail.line("Ann: live");
    tail.signal("SIGINT");
    tail.signal("SIGINT");
    expect(await tail.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("ends well when its reader goes away", async () => {
    const tail = bob.follow(["tail", "--json", "--last", "1"]);
    await tail.line("caught_up");
    tail.child.stdout?.destroy();
    await ok(ann, ["post", "Lobby", "to nobody"]);
    expect(await tail.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("lets nothing that others wrote steer the terminal", async () => {
    const text =
      "\u001b]0;pwned\u0007\u001b[2J\u009b31mred\u001b[1A\r12:00:00  Ann: I agree\u202eevil\b\u0085x";
    await ok(bob, ["post", "Lobby", text]);
    const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/; // oxlint-disable-line no-control-regex
    for (const args of [
      ["tail", "Lobby", "--no-follow", "--last", "1"],
      ["context", "Lobby", "--lines", "1"],
      ["search", "agree"],
      ["tail", "--json", "--no-follow", "--last", "1"],
      ["context", "Lobby", "--lines", "1", "--json"],
    ]) {
      const shown = await ok(ann, args);
      expect(shown).toContain("agree");
      expect(shown).not.toMatch(steering);
      expect(shown).not.toMatch(/^12:00:00 {2}Ann/m);
    }
    const told = frames(await ok(ann, ["tail", "--json", "--no-follow", "--last", "1"]));
    expect(told.find((frame) => frame.type === "message.posted")?.text).toBe(text);
  });

  it("names the candidates when a title means several spaces", async () => {
    const ids = [await ok(ann, ["space", "create", "Twin"]), await ok(ann, ["space", "create", "Twin"])];
    const refused = await ann.bullpen(["post", "Twin", "hi"]);
    expect(refused.code).toBe(2);
    for (const id of ids) expect(refused.stderr).toContain(id);
    await ok(ann, ["space", "rename", ids[0] ?? "", "Elder twin"]);
    await ok(ann, ["post", "twin", "hi"]);
  });

  it("SPACE-7: adds and removes members, archives and brings back", async () => {
    await ok(ann, ["space", "create", "Annex", "--with", "@bob"]);
    await ok(bob, ["post", "Annex", "in"]);
    await ok(ann, ["member", "remove", "Annex", "Bob"]);
    expect(await bob.bullpen(["post", "Annex", "out"])).toMatchObject({ code: 1 });
    expect(await ok(ann, ["member", "add", "Annex", "Bob"])).toBe("Bob is in Annex.");
    await ok(ann, ["space", "archive", "Annex"]);
    expect(await bob.bullpen(["post", "Annex", "late"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("(conflict)"),
    });
    await ok(ann, ["space", "unarchive", "Annex"]);
    await ok(bob, ["post", "Annex", "again"]);
  });
});

describe("a harness", () => {
  it("HTTP-3, CONN-7: is watched without its socket being taken, and its agents can be spoken for", async () => {
    const { token } = await json<{ token: string }>(ann, ["harness", "create", "builder"]);
    const turns = Promise.withResolvers<string>();
    const harness = connectHarness({
      url: server.url,
      token,
      agents: [{ name: "Mason" }],
      onTurn({ message }) {
        turns.resolve(message.text);
        return "done";
      },
    });
    await harness.ready;
    await ok(ann, ["member", "add", "Lobby", "Mason"]);
    const env = { BULLPEN_URL: server.url, BULLPEN_TOKEN: token };
    const tail = ann.follow(["tail", "Lobby", "--json"], { env });
    await tail.line("caught_up");
    await ok(ann, ["post", "Lobby", "@Mason build it"]);
    await tail.line(/"type":"message\.new".*build it/);
    expect(await turns.promise).toBe("@Mason build it");
    tail.signal("SIGTERM");
    expect((await tail.ended).code).toBe(0);

    const said = await ann.bullpen(["post", "Lobby", "by hand", "--as", "mason"], { env });
    expect(said).toMatchObject({ code: 0 });
    expect(await ok(ann, ["tail", "Lobby", "--no-follow", "--last", "1"])).toContain("Mason: by hand");
    await harness.close();
    expect(await harness.closed).toBeUndefined();
  });
});

describe("exit codes", () => {
  it("1: the server refused, and its code is shown", async () => {
    const unknown = await ann.bullpen(["post", `spc_${ulid}`, "hi"]);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("(not_found)") });
  });

  it.each([
    [["post", "Lobby"]],
    [["post", "Lobby", "x", "--file", "/no/such/file"]],
    [["nonsense"]],
    [["join", "https://rooms.example.com/"]],
    [["whoami", "--url", "http://127.0.0.1:9"]],
  ])("2: the command line is not right: %j", async (args) => {
    expect((await ann.bullpen(args)).code).toBe(2);
  });

  it("3: not signed in, or with a token that is none", async () => {
    const nobody = newUser();
    expect(await nobody.bullpen(["whoami"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("bullpen join"),
    });
    const token = `bp_${ulid}_${ulid}_${"x".repeat(43)}`;
    const args = ["whoami", "--url", server.url, "--token", token];
    expect((await nobody.bullpen(args)).code).toBe(3);
    nobody.leave();
  });

  it("4: nothing answers there", async () => {
    const env = { BULLPEN_URL: "http://localhost:59999", BULLPEN_TOKEN: "bp_x" };
    expect(await ann.bullpen(["spaces"], { env })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("Is the server running? Start it with: npm start"),
    });
  });
});

it("CONN-9, HTTP-6: a tail outlives the server's crash and misses nothing", async () => {
  const tail = bob.follow(["tail", "Lobby", "--json", "--last", "0"]);
  await tail.line("caught_up");
  const { url, persistTo } = server;
  await server.kill();
  await tail.line("Connection lost");
  const port = Number(new URL(url).port);
  const again = await startServer({ persistTo, port });
  server = { ...again, stop: () => again.stop() };
  expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ ok: true });
  await ok(ann, ["post", "Lobby", "after the crash"]);
  await tail.line("after the crash");
  tail.signal("SIGINT");
  const ended = await tail.ended;
  expect(ended.code).toBe(0);
  const seqs = frames(ended.stdout).flatMap((frame) => (frame.type === "message.posted" ? [frame.seq] : []));
  expect(new Set(seqs).size).toBe(seqs.length);
});
