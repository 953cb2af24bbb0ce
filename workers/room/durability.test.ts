/** What an eviction or a restart between any two frames leaves as it was (CONN-9, ENV-8), and what time ends. */
import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type Any,
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  open,
  type Party,
  roomStub,
  type Socket,
  say,
  send,
  verb,
} from "../testing/client.ts";
import { as, declare, eventsOf, pulled, read, settled, sql } from "../testing/room.ts";

afterEach(() => void vi.useRealTimers());

/** Lets the object and the test read a later clock; timers stay real. */
function later(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}

async function aRoom() {
  const { id, owner } = await newWorkspace();
  const harness = await newHarness(owner, "Scouts");
  const [scout = ""] = await declare(harness, "Scout");
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [scout, bob.id]);
  return { id, owner, bob, harness, scout, space, stub: roomStub(id) };
}

const KINDS = {
  hibernated: async (id: string) => evictDurableObject(roomStub(id), { webSockets: "hibernate" }),
  closed: async (id: string) => evictDurableObject(roomStub(id), { webSockets: "close" }),
  aborted: async (_: string) => abortAllDurableObjects(),
} as const;
type Kind = keyof typeof KINDS;
const kinds = Object.keys(KINDS) as Kind[];

/** The frames of a conversation in order; each may be followed by an eviction. */
function conversation(room: Awaited<ReturnType<typeof aRoom>>) {
  const { owner, bob, harness, scout, space } = room;
  const run = newId("run");
  const said: string[] = [];
  const post = async (by: Party, text: string, more = {}) => {
    said.push((await say(by, space, text, more)).message_id);
  };
  return [
    async () => post(bob, "@Scout where is the report?"),
    async () =>
      void (await send(harness, "run.start", {
        run_id: run,
        space_id: space,
        agent_id: scout,
        message_ids: [said[0]],
      })),
    async () => void (await send(harness, "run.step", { run_id: run, text: "looking" })),
    async () => post(owner, "I had it yesterday"),
    async () => void (await send(harness, "message.heard", { run_id: run, message_ids: [said[1]] })),
    async () => post(harness, "Here it is", { ...as(scout), run_id: run, reply_to: said[0] }),
    async () => void (await send(harness, "run.end", { run_id: run, outcome: "done", cost_usd: 0.25 })),
    async () => void (await send(bob, "message.edit", { message_id: said[0], text: "@Scout where is it?" })),
    async () => void (await send(owner, "message.delete", { message_id: said[1] })),
    async () => void (await send(bob, "space.rename", { space_id: space, title: "Reports" })),
    async () => post(bob, "thanks, @Scout"),
  ];
}

describe("CONN-9 ENV-8: an eviction between any two frames", () => {
  test("loses nothing over HTTP, in every kind", async () => {
    for (const kind of kinds) {
      const room = await aRoom();
      const steps = conversation(room);
      const before = (await read(room.owner, "/v1/events?after=0&limit=1")).head_seq;
      for (const step of steps) {
        await step();
        await KINDS[kind](room.id);
      }
      const log = await sql(room.id, "SELECT seq, type FROM log ORDER BY seq");
      expect(log.map((r) => r.seq)).toEqual(log.map((_, i) => i + 1));
      expect(log.slice(before).map((r) => r.type)).toEqual([
        "message.posted",
        "run.started",
        "run.stepped",
        "message.posted",
        "message.heard",
        "message.posted",
        "run.ended",
        "message.edited",
        "message.deleted",
        "space.renamed",
        "message.posted",
      ]);
      const runs = await read(room.bob, `/v1/spaces/${room.space}/runs`);
      expect(runs.items).toMatchObject([
        { state: "ended", outcome: "done", step: "looking", cost_usd: 0.25 },
      ]);
    }
  });

  test("hibernating sockets are sent everything, once and in order, without a new hello", async () => {
    const quiet = await aRoom();
    const stirred = await aRoom();
    const seen: Record<string, Any[][]> = {};
    for (const [name, room] of Object.entries({ quiet, stirred })) {
      const sockets = [
        await connect(room.owner),
        await connect(room.bob),
        await connect(room.harness, { context: { lines: 2, chars: 500 } }),
      ];
      for (const step of conversation(room)) {
        if (room === stirred) await KINDS.hibernated(room.id);
        await step();
      }
      if (room === stirred) await KINDS.hibernated(room.id);
      const frames = await Promise.all(sockets.map(async (s) => eventsOf(await settled(s))));
      seen[name] = frames;
      for (const [i, by] of [room.owner, room.bob, room.harness].entries()) {
        const seqs = frames[i]!.map((f) => f.seq);
        expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
        // Only what was deleted since is not handed to a harness again.
        const gone = new Set(frames[i]!.flatMap((f) => (f.type === "message.deleted" ? f.message_id : [])));
        const kept = frames[i]!.filter((f) => f.for === undefined || !gone.has(f.message_id));
        expect((await pulled(by)).map((f) => f.seq)).toEqual(kept.map((f) => f.seq));
      }
    }
    expect(typesOf(seen["stirred"]!)).toEqual(typesOf(seen["quiet"]!));
    // The budget that the hello named was kept, too.
    const turn = seen["stirred"]![2]!.findLast((f) => f.type === "message.new");
    expect(turn.context.lines.length).toBeLessThanOrEqual(2);
  });

  test("a closed or broken connection resumes after what it had, with no gap and no repeat", async () => {
    for (const kind of ["closed", "aborted"] as const) {
      const room = await aRoom();
      const start = (await read(room.owner, "/v1/events?after=0&limit=1")).head_seq;
      const got: Record<string, Any[]> = { bob: [], harness: [] };
      const resume = async (who: "bob" | "harness") => {
        const after = got[who]!.at(-1)?.seq ?? start;
        return connect(room[who], { after_seq: after });
      };
      for (const step of conversation(room)) {
        const sockets = { bob: await resume("bob"), harness: await resume("harness") };
        await step();
        for (const who of ["bob", "harness"] as const)
          got[who]!.push(...eventsOf(await settled(sockets[who])));
        await KINDS[kind](room.id);
      }
      for (const who of ["bob", "harness"] as const) {
        const seqs = got[who]!.map((f) => f.seq);
        expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
        const handed = (await pulled(room[who], start)).map((f) => f.seq);
        expect(seqs).toEqual(expect.arrayContaining(handed));
      }
    }
  });

  test("identity, agents, cursor and budget are as they were", async () => {
    for (const kind of kinds) {
      const { id, bob, owner, harness, scout, space } = await aRoom();
      const socket = await connect(harness, { context: { lines: 1, chars: 40 }, can: ["pause"] });
      await say(bob, space, "one");
      await say(bob, space, "two");
      const head = (await read(owner, "/v1/events?after=0&limit=1")).head_seq;
      socket.send({ v: 1, type: "ack", seq: head });
      await settled(socket);
      await KINDS[kind](id);
      expect(await read(harness, "/v1/me")).toMatchObject({
        participant: { participant_id: harness.id, name: "Scouts" },
        agents: [{ agent_id: scout, name: "Scout" }],
      });
      await say(bob, space, "@Scout three");
      const again = await connect(harness);
      expect(again.frames[0]).toMatchObject({
        resume: "replay",
        limits: { context_lines: 1, context_chars: 40 },
      });
      const missed = eventsOf(again.frames);
      expect(missed.map((f) => f.type)).toEqual(["message.new"]);
      expect(missed[0].context.lines.map((l: Any) => l.text)).toEqual(["two"]);
    }
  });

  test("a repeat after a restart is answered with the first receipt (ENV-4)", async () => {
    for (const kind of kinds) {
      const { id, bob, space } = await aRoom();
      const event = verb("message.post", { space_id: space, text: "once" });
      const post = async () => (await call("POST", "/v1/events", { token: bob.token, body: event })).body;
      const first = (await post()).receipts[0];
      await KINDS[kind](id);
      expect((await post()).receipts[0]).toEqual({ ...first, duplicate: true });
    }
  });

  test("ID-1: ids minted after a restart are greater than those before", async () => {
    const { id, bob, space } = await aRoom();
    const ids: string[] = [];
    for (const kind of kinds) {
      ids.push((await say(bob, space, "before")).message_id);
      await KINDS[kind](id);
    }
    expect(ids).toEqual(ids.toSorted());
  });
});

describe("ENV-8: all of a write or none of it", () => {
  test("a refusal late in a batch leaves no row, and is answered with the frame at fault", async () => {
    const { id, bob, owner, space } = await aRoom();
    const tables = await sql(
      id,
      "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 4) <> '_cf_' AND name <> 'words'",
    );
    const dump = async () =>
      Promise.all(tables.map(async ({ name }) => [name, await sql(id, `SELECT * FROM "${name}"`)]));
    const page = await connect(owner);
    await say(bob, space, "first");
    await settled(page);
    const before = await dump();
    const batch = [
      verb("message.post", { space_id: space, text: "never said" }),
      verb("space.rename", { space_id: space, title: "Never" }),
      verb("message.post", { space_id: space, text: "" }),
    ];
    const { status, body } = await call("POST", "/v1/events", { token: bob.token, body: batch });
    expect([status, body.code, body.of]).toEqual([422, "invalid", batch[2].id]);
    expect(await dump()).toEqual(before);
    expect(eventsOf(await settled(page)).some((f) => f.text === "never said")).toBe(false);
    expect((await read(bob, "/v1/search?q=never")).items).toEqual([]);
  });

  test("a fault inside a write is internal, shows nothing, and leaves no row", async () => {
    const { id, bob, space, stub } = await aRoom();
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec(
        "CREATE TRIGGER broken BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'secret detail'); END",
      );
    });
    const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const log = await sql(id, "SELECT max(seq) AS head FROM log");
    const event = verb("message.post", { space_id: space, text: "words" });
    const { status, body } = await call("POST", "/v1/events", { token: bob.token, body: event });
    quiet.mockRestore();
    expect([status, body.code, body.retryable]).toEqual([500, "internal", true]);
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(await sql(id, "SELECT max(seq) AS head FROM log")).toEqual(log);
    await sql(id, "DROP TRIGGER broken");
    expect((await call("POST", "/v1/events", { token: bob.token, body: event })).status).toBe(200);
  });
});

describe("time", () => {
  test("CONN-2: who says no hello within ten seconds is closed with 4408, also after an eviction", async () => {
    const { id, bob, owner, stub } = await aRoom();
    const silent = await open(bob.token);
    later(4_000);
    const second = await open(owner.token);
    await KINDS.hibernated(id);
    await runDurableObjectAlarm(stub);
    expect(await isClosed(silent)).toBe(false);
    later(7_000);
    await runDurableObjectAlarm(stub);
    expect((await silent.closed).code).toBe(4408);
    expect(await isClosed(second)).toBe(false);
    // The later one has its own time, and its own alarm.
    later(4_000);
    await KINDS.hibernated(id);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect((await second.closed).code).toBe(4408);
    expect(await sql(id, "SELECT * FROM alarms")).toEqual([]);
  });

  test("CONN-10: a sync unanswered for 30 s closes with 4408, also after an eviction; an answered one does not", async () => {
    const { id, bob, space, stub } = await aRoom();
    await fill(id, space, bob.id, 1200);
    const slow = await open(bob.token);
    slow.send({ v: 1, type: "hello", id: newId("evt"), after_seq: 0 });
    await slow.next((f) => f.type === "caught_up");
    const quick = await open(bob.token);
    quick.send({ v: 1, type: "hello", id: newId("evt"), after_seq: 0 });
    const sync = await quick.next((f) => f.type === "sync");
    quick.send({ v: 1, type: "synced", n: sync.n });
    await settled(quick);
    await KINDS.hibernated(id);
    later(31_000);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect((await slow.closed).code).toBe(4408);
    expect(await isClosed(quick)).toBe(false);
  });

  test("CONN-10: with four syncs open nothing more is sent, and the rest comes after the answer", async () => {
    const { id, bob, owner, space } = await aRoom();
    await fill(id, space, bob.id, 4500);
    const slow = await open(bob.token);
    slow.send({ v: 1, type: "hello", id: newId("evt"), after_seq: 0 });
    await settled(slow);
    const syncs = slow.frames.filter((f) => f.type === "sync");
    expect(syncs.map((f) => f.n)).toEqual([1, 2, 3, 4]);
    expect(slow.frames.some((f) => f.type === "caught_up")).toBe(false);
    expect(eventsOf(slow.frames)).toHaveLength(4000);
    // Others are served, and what comes meanwhile waits its turn, also over an eviction.
    const page = await connect(owner, { after_seq: 4500 });
    await say(owner, space, "meanwhile");
    await KINDS.hibernated(id);
    await page.next((f) => f.text === "meanwhile");
    expect(eventsOf(await settled(slow))).toHaveLength(4000);
    for (const { n } of syncs) slow.send({ v: 1, type: "synced", n });
    await slow.next((f) => f.type === "caught_up");
    await say(owner, space, "after");
    await slow.next((f) => f.text === "after");
    const seqs = eventsOf(slow.frames).map((f) => f.seq);
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
    expect(seqs.slice(-500)).toEqual((await pulled(bob, 3000)).map((f) => f.seq).slice(-500));
  });

  test("CONN-6: a ping is answered while the object sleeps, and does not wake it", async () => {
    const { id, bob, space } = await aRoom();
    const page = await connect(bob);
    await settled(page);
    // Every object that starts asks for the automatic answer, so asking tells that one started.
    let starts = 0;
    const scope = globalThis as unknown as {
      WebSocketRequestResponsePair: typeof WebSocketRequestResponsePair;
    };
    const Pair = scope.WebSocketRequestResponsePair;
    class Counted extends Pair {
      constructor(request: string, response: string) {
        super(request, response);
        starts += 1;
      }
    }
    scope.WebSocketRequestResponsePair = Counted;
    try {
      await KINDS.hibernated(id);
      for (let i = 0; i < 3; i++) page.send("ping");
      await vi.waitFor(() => expect(page.frames.filter((f) => f.type === "pong")).toHaveLength(3));
      expect(starts).toBe(0);
      await say(bob, space, "awake");
      expect(starts).toBe(1);
    } finally {
      scope.WebSocketRequestResponsePair = Pair;
    }
  });
});

/** Many plain messages at once, as they stand in the tables. */
async function fill(id: string, space: string, by: string, count: number): Promise<void> {
  const head = (await sql(id, "SELECT max(seq) AS seq FROM log"))[0].seq;
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)";
  const messageId = "printf('msg_%026d', ?2 + i)";
  await sql(
    id,
    `${numbers} INSERT INTO log (seq, id, type, at, space_id, actor_kind, actor_id, body)
     SELECT ?2 + i, printf('evt_%026d', ?2 + i), 'message.posted', 1000, ?3, 'person', ?4,
       json_object('message_id', ${messageId}, 'role', 'member', 'addressed_to', json('[]'), 'why', 'nobody') FROM n`,
    count,
    head,
    space,
    by,
  );
  await sql(
    id,
    `${numbers} INSERT INTO messages (id, edition, seq, at, text, mentions, files)
     SELECT ${messageId}, 1, ?2 + i, 1000, 'line ' || i, '[]', '[]' FROM n`,
    count,
    head,
  );
}

function typesOf(frames: Any[][]): string[][] {
  return frames.map((fs) => fs.map((f) => f.type));
}

async function isClosed(socket: Socket): Promise<boolean> {
  const outcome = await Promise.race([socket.closed, scheduler.wait(20)]);
  return outcome !== undefined;
}
