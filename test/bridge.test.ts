import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectPerson, type PersonConnection, type ServerEvent } from "../src/sdk/index.ts";
import type { FactType } from "../src/shared/wire/index.ts";
import { newUser, type Running, root } from "./support/command.ts";
import { isAlive } from "./support/processes.ts";
import { startServer, type TestServer, write } from "./support/server.ts";

const agentFile = join(root, "test/support/fake-agent.mjs");
const fake = [process.execPath, agentFile];
const ann = newUser();
let server: TestServer;
let lobby: string;
let room: PersonConnection;
const events: ServerEvent[] = [];
const arrived = new EventTarget();
const running = new Set<Running>();

beforeAll(async () => {
  server = await startServer();
  const create = ["workspace", "create", "--name", "Acme", "--owner", "Ann", "--url", server.url];
  await ann.bullpen(create, { env: { BULLPEN_ADMIN_TOKEN: server.adminToken } });
  lobby = (await ann.bullpen(["space", "create", "Lobby"])).stdout.trim();
  room = connectPerson({
    url: server.url,
    token: profile().token,
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
  await Promise.all([...running].map((one) => one.ended));
  running.clear();
});
afterAll(async () => {
  room?.close();
  ann.leave();
  await server?.stop();
});

function configFile(name: string): string {
  return join(ann.home, "config/bullpen", name);
}

function profile(): { token: string } {
  const { profiles } = JSON.parse(readFileSync(configFile("profiles.json"), "utf8"));
  return Object.values(profiles)[0] as { token: string };
}

type Event<T extends FactType> = Extract<ServerEvent, { type: T }>;

function ofType<T extends FactType>(list: ServerEvent[], type: T): Event<T>[] {
  return list.filter((event): event is Event<T> => event.type === type);
}

/** The first event of this type that fits, of those that have come since, and those to come. */
function next<T extends FactType>(type: T, fits: (event: Event<T>) => boolean, since = 0): Promise<Event<T>> {
  return new Promise((resolve) => {
    const look = (): void => {
      const found = events.find(
        (one) => (one.seq ?? 0) > since && one.type === type && fits(one as Event<T>),
      );
      if (!found) return;
      arrived.removeEventListener("one", look);
      resolve(found as Event<T>);
    };
    arrived.addEventListener("one", look);
    look();
  });
}

const now = (): number => events.at(-1)?.seq ?? 0;

async function bridge(args: string[], env: Record<string, string> = {}): Promise<Running> {
  const one = ann.follow(["bridge", "--space", "Lobby", ...args], { env });
  running.add(one);
  await one.line("Say something");
  return one;
}

/** Says something to an agent, and answers what came of it. */
async function say(text: string, attachments: { attachment_id: string }[] = []) {
  const since = now();
  const { message_id = "" } = await write(room.http, "message.post", { space_id: lobby, text, attachments });
  const started = await next("run.started", (run) => run.message_ids.includes(message_id), since);
  const { run_id, agent_id } = started;
  const mine = (event: { run_id?: string | undefined }): boolean => event.run_id === run_id;
  return {
    since,
    run_id,
    agent_id,
    mine,
    async ended() {
      const { outcome } = await next("run.ended", mine, since);
      const of = events.filter((event) => mine(event as { run_id?: string }));
      const said = ofType(of, "message.posted");
      const steps = ofType(of, "run.stepped");
      const used = ofType(of, "run.used");
      return { outcome, said, words: said.map((one) => one.text), steps: steps.map((one) => one.text), used };
    },
  };
}

describe("a command-line agent in a room", () => {
  it("BRIDGE-1: the first start makes a harness and keeps it for this user; the next is the same agent", async () => {
    const first = await bridge(["--name", "Scout", "--", ...fake]);
    expect(first.stdout()).toContain("Scout is here, in Acme, for the first time.");
    expect(first.stdout()).toContain("bullpen post 'Lobby' '@Scout hello' --profile acme");
    const turn = await say("@Scout hello");
    expect(await turn.ended()).toMatchObject({ outcome: "done", words: ["Hello!"] });
    const file = configFile("bridges.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.stdout() + first.stderr()).not.toContain(
      JSON.parse(readFileSync(file, "utf8")).bridges[0].token,
    );

    first.signal("SIGTERM");
    expect(await first.ended).toMatchObject({ code: 0 });
    running.delete(first);
    const second = await bridge(["--name", "Scout", "--", ...fake]);
    expect(second.stdout()).not.toContain("for the first time");
    const again = await say("@Scout hello again");
    expect(again.agent_id).toBe(turn.agent_id);
    expect(await again.ended()).toMatchObject({ outcome: "done", words: ["Hello!"] });
  });

  it("BRIDGE-1: a crash of the command ends its turn with a short reason, and the next is taken", async () => {
    const one = await bridge(["--name", "Scout", "--", ...fake]);
    expect(await (await say("@Scout crash")).ended()).toMatchObject({
      outcome: "failed",
      words: ["I could not answer: the command ended with exit code 3."],
      steps: [],
    });
    // What stood in its standard error is the operator's.
    expect(one.stderr()).toContain("a stack trace");
    expect(await (await say("@Scout hello")).ended()).toMatchObject({ words: ["Hello!"] });
    expect(await (await say("@Scout quiet")).ended()).toMatchObject({ outcome: "no_reply", words: [] });
  });

  it("BRIDGE-1: a crash of the bridge: started again it says what was left undone, and takes what came", async () => {
    const one = await bridge(["--name", "Scout", "--", ...fake]);
    const turn = await say("@Scout stay");
    const [, , leader] = (await one.line(/^grandchild \d+/)).split(" ");
    one.signal("SIGKILL");
    await one.ended;
    running.delete(one);
    // Nobody is left to do it.
    process.kill(-Number(leader), "SIGKILL");
    const since = now();
    const away = await write(room.http, "message.post", { space_id: lobby, text: "@Scout hello?" });
    await bridge(["--name", "Scout", "--", ...fake]);
    expect(await turn.ended()).toMatchObject({
      outcome: "failed",
      words: ["I was interrupted, and have not finished this."],
    });
    const run = await next("run.started", (of) => of.message_ids.includes(away.message_id ?? ""), since);
    const said = await next("message.posted", (of) => of.run_id === run.run_id, since);
    expect(said.text).toBe("Hello!");
  });

  it("BRIDGE-1: files of the message come in a folder, and what is left in the other goes with the reply", async () => {
    await bridge(["--name", "Scout", "--", ...fake]);
    const { attachment_id } = await room.upload("a,b\n1,2\n", { filename: "table.csv" });
    const { said, words } = await (await say("@Scout files", [{ attachment_id }])).ended();
    expect(words).toEqual(["copied table.csv"]);
    const files = said[0]?.attachments ?? [];
    expect(files.map(({ filename }) => filename)).toEqual(["made.txt", "table.csv"]);
    const made = await room.download(files[0] ?? { attachment_id: "" });
    expect(await made.text()).toBe("made here");
  });

  it("BRIDGE-1: lines of standard error are steps where that is asked for", async () => {
    await bridge(["--name", "Scout", "--steps-from-stderr", "--", ...fake]);
    expect(await (await say("@Scout steps")).ended()).toMatchObject({ words: ["read"], steps: ["reading"] });
  });

  it("TURN-4 BRIDGE-1: a stopped run's process dies with its grandchildren, and says nothing more", async () => {
    const one = await bridge(["--name", "Scout", "--", ...fake]);
    const turn = await say("@Scout stay");
    const pid = Number((await one.line(/^grandchild \d+/)).split(" ")[1]);
    expect(isAlive(pid)).toBe(true);
    await write(room.http, "run.stop", { run_id: turn.run_id });
    expect(await turn.ended()).toMatchObject({ outcome: "stopped", words: [] });
    expect(isAlive(pid)).toBe(false);
  });

  it("BRIDGE-1: a turn has a time limit", async () => {
    const one = await bridge(["--name", "Scout", "--timeout", "2s", "--", ...fake]);
    const turn = await say("@Scout stay");
    const pid = Number((await one.line(/^grandchild \d+/)).split(" ")[1]);
    expect(await turn.ended()).toMatchObject({
      outcome: "failed",
      words: ["I could not answer: it took too long, and was stopped."],
    });
    expect(isAlive(pid)).toBe(false);
  });

  it("BRIDGE-1: Ctrl-C ends the turns going, with their processes", async () => {
    const one = await bridge(["--name", "Scout", "--", ...fake]);
    const turn = await say("@Scout stay");
    const pid = Number((await one.line(/^grandchild \d+/)).split(" ")[1]);
    one.signal("SIGINT");
    expect(await one.ended).toMatchObject({ code: 0 });
    running.delete(one);
    expect(await turn.ended()).toMatchObject({ outcome: "stopped", words: [] });
    expect(isAlive(pid)).toBe(false);
  });

  it.each([
    [
      "claude-tools",
      "Beans and leeks. The leeks were sown on 3 March.",
      { cost_usd: 0.0421, output_tokens: 240 },
    ],
    ["codex-tools", "Sow in March, 15 cm apart. The plan is in `plan.md`.", { output_tokens: 130 }],
  ])(
    "BRIDGE-1: events as in a recorded run (%s) are steps, cost and the reply",
    async (name, reply, usage) => {
      const stream = join(root, `test/fixtures/streams/${name}.ndjson`);
      await bridge(["--name", "Scout", "--stream-json", "--", ...fake, stream]);
      const { outcome, words, steps, used } = await (await say("@Scout recorded")).ended();
      expect({ outcome, words }).toEqual({ outcome: "done", words: [reply] });
      expect(steps.length).toBeGreaterThan(1);
      expect(used.at(-1)).toMatchObject(usage);
    },
  );

  it("BRIDGE-1: an agent that says it failed has failed", async () => {
    const stream = join(root, "test/fixtures/streams/claude-not-signed-in.ndjson");
    await bridge(["--name", "Scout", "--stream-json", "--", ...fake, stream]);
    expect(await (await say("@Scout recorded")).ended()).toMatchObject({
      outcome: "failed",
      words: ["I could not answer: Not logged in · Please run /login."],
    });
    expect(await (await say("@Scout hello")).ended()).toMatchObject({
      words: ["I could not answer: it printed no events that the bridge understands."],
    });
  });
});

describe("approvals from inside a turn", () => {
  it("APR-5 BRIDGE-1: the command waits until a person decides, and is given the input as it was allowed", async () => {
    await bridge(["--name", "Scout", "--", ...fake]);
    const turn = await say("@Scout ask");
    const asked = await next("approval.requested", turn.mine, turn.since);
    expect(asked).toMatchObject({ action: { kind: "email.send", external: true }, question: "Send it?" });
    const { approval_id } = asked;
    const input = { to: "ann@example.com" };
    await write(room.http, "approval.decide", { approval_id, decision: "allow", input });
    expect((await turn.ended()).words).toEqual(['exit 0: {"to":"ann@example.com"}']);
  });

  it("BRIDGE-1: a no is exit code 1", async () => {
    await bridge(["--name", "Scout", "--", ...fake]);
    const turn = await say("@Scout ask");
    const { approval_id } = await next("approval.requested", turn.mine, turn.since);
    await write(room.http, "approval.decide", { approval_id, decision: "deny" });
    expect((await turn.ended()).words[0]).toMatch(/^exit 1: .*Denied \(person\)/);
  });

  it("APR-9 BRIDGE-1: a stop takes the ask back", async () => {
    await bridge(["--name", "Scout", "--", ...fake]);
    const turn = await say("@Scout ask");
    const { approval_id } = await next("approval.requested", turn.mine, turn.since);
    await write(room.http, "run.stop", { run_id: turn.run_id });
    await next("approval.cancelled", (of) => of.approval_id === approval_id, turn.since);
    expect(await turn.ended()).toMatchObject({ outcome: "stopped", words: [] });
  });
});

describe("with a harness's own token", () => {
  it("BRIDGE-1: it is that harness, and its command is not given the token", async () => {
    const token = (await ann.bullpen(["harness", "create", "builder"])).stdout.trim();
    const env = { BULLPEN_TOKEN: token, BULLPEN_URL: server.url };
    const one = ann.follow(["bridge", "--name", "Mason", "--", ...fake], { env });
    running.add(one);
    expect(await one.line("Put it into a space")).toContain("bullpen member add SPACE 'Mason'");
    await ann.bullpen(["member", "add", "Lobby", "Mason"]);
    expect((await (await say("@Mason environment")).ended()).words).toEqual([
      "BULLPEN_AGENT_ID BULLPEN_ASK_TOKEN BULLPEN_ASK_URL BULLPEN_BIN BULLPEN_IN BULLPEN_OUT BULLPEN_RUN_ID " +
        "BULLPEN_SPACE_ID BULLPEN_TURN_FILE",
    ]);
  });

  it("BRIDGE-1: a command that is not there is told to the operator, and to the room without its place", async () => {
    const one = await bridge(["--name", "Scout", "--", "/opt/no-such-agent", "-p"]);
    expect((await (await say("@Scout hello")).ended()).words).toEqual([
      "I could not answer: the command could not be started.",
    ]);
    expect(one.stderr()).toContain("/opt/no-such-agent could not be started");
  });

  it("BRIDGE-1: a space that is not there leaves no harness behind; a wrong command line is one", async () => {
    const before = await ann.bullpen(["token", "list"]);
    expect(await ann.bullpen(["bridge", "--name", "New", "--space", "Nowhere", "--", "x"])).toMatchObject({
      code: 1,
    });
    expect((await ann.bullpen(["token", "list"])).stdout).toBe(before.stdout);
    expect(await ann.bullpen(["bridge", "--name", "New"])).toMatchObject({ code: 2 });
    expect(await ann.bullpen(["ask-approval", "--action", "x"])).toMatchObject({ code: 2 });
  });
});
