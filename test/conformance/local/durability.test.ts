/** A server that dies between any two frames loses nothing that it confirmed or sent (ENV-3, ENV-4, ENV-8, CONN-9). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer, type TestServer } from "../../support/server.ts";
import { deployment } from "../deployment.ts";
import {
  type Agents,
  type Any,
  call,
  connect,
  eventsOf,
  get,
  newAgents,
  newFastWorkspace,
  newPerson,
  newSpace,
  type Party,
  post,
  type Socket,
  say,
  verb,
} from "../kit.ts";

const KILLS = 3;
const seed = Number(process.env["BULLPEN_SEED"] ?? Date.now() % 1_000_000);
const persistTo = mkdtempSync(join(tmpdir(), "bullpen-durability-"));
let server: TestServer;

/** A small generator with a seed (mulberry32). */
function randomFrom(start: number): (below: number) => number {
  let a = start;
  return (below) => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

async function start(): Promise<void> {
  server = await startServer({ persistTo });
  Object.assign(deployment, { url: server.url, adminToken: server.adminToken });
}

beforeAll(start, 60_000);
afterAll(async () => {
  await server.stop();
  rmSync(persistTo, { recursive: true, force: true });
});

interface Sent {
  by: Party;
  frame: Any;
  receipt?: Any;
}

/** Writes until the server is gone; each frame and what confirmed it is kept. */
async function writing(
  by: Party,
  next: () => Any,
  sent: Sent[],
  confirmed: () => void,
  socket?: Socket,
): Promise<void> {
  for (;;) {
    const one: Sent = { by, frame: next() };
    sent.push(one);
    try {
      one.receipt = socket
        ? await socket.ask(one.frame)
        : (await post(by, "/v1/events", one.frame)).body.receipts[0];
    } catch {
      return;
    }
    confirmed();
  }
}

/** Somebody who reads over one connection after another, each resuming where the last one broke off. */
interface Reader {
  by: Party;
  events: Any[];
  socket?: Socket;
}

async function resume(reader: Reader): Promise<void> {
  const after_seq = reader.events.at(-1)?.seq ?? 0;
  reader.socket = await connect(reader.by, { after_seq });
}

test(`ENV-3 ENV-4 ENV-8 CONN-9 BATCH-2 killed between any two frames, nothing confirmed or sent is lost (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const { owner } = await newFastWorkspace();
  const bob = await newPerson(owner, "Bob");
  const team: Agents = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  const readers: Reader[] = [owner, bob, team].map((by) => ({ by, events: [] }));
  const sent: Sent[] = [];
  let count = 0;
  const frame = (who: string) => () => {
    count += 1;
    const text = `${who} ${count} ${"x".repeat(random(400))}`;
    return random(10) === 0
      ? verb("space.rename", { space_id: space, title: `Lobby ${count}` })
      : verb("message.post", { space_id: space, text });
  };
  const asScout = () =>
    verb("message.post", {
      space_id: space,
      text: `scout ${(count += 1)}`,
      actor: { kind: "agent", id: team.agents[0] },
    });

  for (let kill = 1; kill <= KILLS; kill += 1) {
    for (const reader of readers) await resume(reader);
    const stopAt = 10 + random(60);
    let confirmed = 0;
    const dying = Promise.withResolvers<void>();
    const onConfirmed = () => {
      confirmed += 1;
      // Not at once after a receipt: anywhere between two frames.
      if (confirmed === stopAt) setImmediate(() => void server.kill().then(dying.resolve, dying.reject));
    };
    const [page, , harness] = readers.map((r) => r.socket);
    await Promise.all([
      writing(owner, frame("ada"), sent, onConfirmed, page),
      writing(bob, frame("bob"), sent, onConfirmed),
      writing(bob, frame("bob again"), sent, onConfirmed),
      writing(team, asScout, sent, onConfirmed, harness),
    ]);
    await dying.promise;
    for (const reader of readers) {
      await reader.socket?.closed;
      reader.events.push(...(reader.socket?.events() ?? []));
    }

    await start();
    const log = await eventsOf(owner);
    expect(log.map((e) => e.seq)).toEqual(log.map((_, i) => i + 1));
    const byId = new Map(log.map((e) => [e.id, e]));
    for (const {
      frame: { id },
      receipt,
    } of sent)
      if (receipt) expect([id, byId.get(receipt.id)?.seq]).toEqual([id, receipt.seq]);
    // Said again, each is what it was, or is taken now because its write never was.
    for (const one of sent) {
      const { status, body } = await post(one.by, "/v1/events", one.frame);
      expect(status).toBe(200);
      const [again] = body.receipts;
      expect(again).toMatchObject({ id: one.frame.id, of: one.frame.id });
      expect(again.duplicate === true).toBe(byId.has(one.frame.id));
      if (one.receipt)
        expect({ ...again, duplicate: undefined }).toEqual({ ...one.receipt, duplicate: undefined });
      one.receipt = again;
    }
    // What was sent had been committed: readers saw the log's beginning, event by event.
    for (const reader of readers) {
      const whole = await eventsOf(reader.by);
      expect(reader.events.map((e) => [e.seq, e.id])).toEqual(
        whole.slice(0, reader.events.length).map((e) => [e.seq, e.id]),
      );
    }
  }

  for (const reader of readers) {
    await resume(reader);
    await say(owner, space, "the end");
    await reader.socket?.next((f) => f.text === "the end");
    reader.events.push(...(reader.socket?.events() ?? []));
    expect(reader.events.map((e) => e.id)).toEqual((await eventsOf(reader.by)).map((e) => e.id));
  }
  expect(new Set(sent.map(({ frame: f }) => f.id)).size).toBe(sent.length);
  expect((await eventsOf(owner)).filter((e) => sent.some((s) => s.frame.id === e.id))).toHaveLength(
    sent.length,
  );
}, 120_000);

test("CONN-4 CONN-9 AUTH-3 acks, agents, budgets, marks and revoked tokens stand after a kill", async () => {
  const { owner } = await newFastWorkspace();
  const bob = await newPerson(owner, "Bob");
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  const socket = await connect(team, { context: { lines: 4, chars: 400 }, can: ["pause"] });
  const said = [await say(owner, space, "one"), await say(owner, space, "two")];
  await post(team, "/v1/events", { v: 1, type: "ack", seq: said[0].seq });
  await post(bob, "/v1/events", { v: 1, type: "read", space_id: space, seq: said[0].seq });
  const extra = (await post(owner, "/v1/tokens", { scopes: ["person"] })).body;
  expect((await call("DELETE", `/v1/tokens/${extra.token_id}`, { token: owner.token })).status).toBe(204);
  await server.kill();
  await socket.closed;
  await start();
  const again = await connect(team);
  expect(again.frames[0]).toMatchObject({
    resume: "replay",
    agents: [{ agent_id: team.agents[0], name: "Scout" }],
    limits: { context_lines: 4, context_chars: 400 },
  });
  expect(again.events().map((e) => e.text)).toEqual(["two"]);
  expect((await get(bob, `/v1/spaces/${space}`)).body).toMatchObject({ read_seq: said[0].seq, unread: 1 });
  expect((await call("GET", "/v1/me", { token: extra.token })).status).toBe(401);
}, 60_000);
