/** Flow control: long backlogs, readers that answer late or not at all, batches (CONN-10, CONN-4, BATCH). */
import { beforeAll, expect, test } from "vitest";
import {
  type Any,
  connect,
  eventsOf,
  flood,
  headOf,
  newAgents,
  newFastWorkspace,
  newHarness,
  newId,
  newSpace,
  open,
  type Party,
  type Socket,
  say,
  verb,
  type Workspace,
} from "./kit.ts";

/** A log that is longer than four syncs, in a workspace that every test here reads. */
let made: Workspace;
let space: string;
const BACKLOG = 4600;

beforeAll(async () => {
  made = await newFastWorkspace();
  space = await newSpace(made.owner, "Lobby");
  await flood(made.owner, space, BACKLOG);
}, 60_000);

/** Says hello and answers each sync as it comes, up to a number of them. */
async function reader(by: Party, answers: number, more: object = {}): Promise<Socket> {
  const socket = await open(by.token);
  let left = answers;
  let from = 0;
  const answering = async () => {
    while (left > 0) {
      const sync = await socket.type("sync", from);
      from = socket.frames.indexOf(sync) + 1;
      left -= 1;
      socket.send({ v: 1, type: "synced", n: sync.n });
    }
  };
  answering().catch(() => {
    // It was closed: whoever reads it notices.
  });
  await socket.ask({ v: 1, type: "hello", id: newId("evt"), after_seq: 0, ...more });
  return socket;
}

const syncsOf = (socket: Socket): number[] => socket.frames.filter((f) => f.type === "sync").map((f) => f.n);

test("CONN-10 after each thousand events comes a sync; who answers gets the whole backlog in order", async () => {
  const socket = await reader(made.owner, Number.POSITIVE_INFINITY);
  const caughtUp = await socket.type("caught_up");
  const seqs = socket.events().map((e) => e.seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  expect(caughtUp.seq).toBe(seqs.at(-1));
  expect(syncsOf(socket)).toEqual([1, 2, 3, 4]);
  const between = socket.frames.slice(
    0,
    socket.frames.findIndex((f) => f.type === "sync"),
  );
  expect(between.filter((f) => f.seq && f.actor)).toHaveLength(1000);
}, 60_000);

test("CONN-10 with four open nothing more is sent; a late answer brings the rest from the log", async () => {
  const { owner } = made;
  const stuck = await reader(owner, 0);
  await stuck.next((f) => f.type === "sync" && f.n === 4);
  await say(owner, space, "while it was stuck");
  // Its own writes are still confirmed, and others are not held up.
  expect(
    await stuck.ask(verb("message.post", { space_id: space, text: "from the stuck one" })),
  ).toMatchObject({
    type: "receipt",
  });
  const brisk = await reader(owner, Number.POSITIVE_INFINITY, { after_seq: (await headOf(owner)) - 1 });
  await brisk.next((f) => f.text === "from the stuck one");
  expect(stuck.events()).toHaveLength(4000);
  stuck.send({ v: 1, type: "synced", n: 4 });
  await stuck.type("caught_up");
  expect(stuck.events()).toEqual(await eventsOf(owner));
}, 60_000);

test("CONN-10 an answer to what was never asked opens nothing", async () => {
  const socket = await reader(made.owner, 0);
  await socket.next((f) => f.type === "sync" && f.n === 4);
  for (const n of [5, 99, Number.MAX_SAFE_INTEGER]) socket.send({ v: 1, type: "synced", n });
  await socket.fence();
  expect(socket.events()).toHaveLength(4000);
  expect(syncsOf(socket)).toEqual([1, 2, 3, 4]);
  for (const n of [0, -1, 1.5, "1", null]) {
    const id = newId("evt");
    expect(await socket.ask({ v: 1, type: "synced", id, n })).toMatchObject({
      type: "error",
      code: "invalid",
    });
  }
  socket.send({ v: 1, type: "synced", n: 1 });
  await socket.next((f) => f.n === 5 || f.type === "caught_up");
}, 60_000);

test("CONN-10 a sync comes after each mebibyte, too", async () => {
  const { owner } = await newFastWorkspace();
  const big = await newSpace(owner, "Big");
  for (let i = 0; i < 20; i += 1) await say(owner, big, `${i} ${"x".repeat(65_000)}`);
  const socket = await reader(owner, Number.POSITIVE_INFINITY);
  await socket.type("caught_up");
  const before = socket.frames.slice(
    0,
    socket.frames.findIndex((f) => f.type === "sync"),
  );
  const bytes = before.reduce((sum, f) => sum + JSON.stringify(f).length, 0);
  expect(syncsOf(socket)).toEqual([1]);
  expect(bytes).toBeGreaterThan(1024 * 1024 - 70_000);
  expect(bytes).toBeLessThan(1024 * 1024 + 140_000);
});

test("CONN-4 a harness that never acks is sent its backlog again, each time it comes", async () => {
  const { owner } = await newFastWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const lobby = await newSpace(owner, "Lobby", team.agents);
  await flood(owner, lobby, 50);
  const whole = await eventsOf(team);
  expect(whole.filter((e) => e.type === "message.new")).toHaveLength(50);
  for (let i = 0; i < 3; i += 1) expect((await connect(team)).events()).toEqual(whole);
});

test("CONN-4 more than 10,000 behind is a reset: caught_up follows at once, and no event", async () => {
  const { owner } = made;
  const harness = await newHarness(owner, "Sleeper");
  await flood(owner, space, 10_010 - (await headOf(owner)));
  const head = await headOf(owner);
  const edge = await reader(owner, 0, { after_seq: head - 10_000 });
  expect(edge.frames[0]).toMatchObject({ type: "welcome", resume: "replay", head_seq: head });
  const far = await reader(owner, 0, { after_seq: head - 10_001 });
  // A harness that never acked stands before the first event.
  const never = await reader(harness, 0, { after_seq: undefined });
  for (const socket of [far, never]) {
    expect(await socket.type("caught_up")).toMatchObject({ seq: head });
    expect(socket.frames.map((f) => f.resume ?? f.type)).toEqual(["reset", "caught_up"]);
  }
}, 120_000);

test("BATCH-1 arrays go only to who can take them, hold the same events in the same order, and fit a frame", async () => {
  const { owner } = made;
  const after_seq = (await headOf(owner)) - 200;
  const plain = await reader(owner, 9, { after_seq });
  const batched = await reader(owner, 9, { after_seq, can: ["batch"] });
  for (const socket of [plain, batched]) await socket.type("caught_up");
  expect(plain.arrays).toBe(0);
  expect(batched.arrays).toBeGreaterThan(0);
  expect(batched.events()).toEqual(plain.events());
});

test("BATCH-1 who can batch sends arrays: all or nothing, a receipt each, in order", async () => {
  const { owner } = await newFastWorkspace();
  const lobby = await newSpace(owner, "Lobby");
  const posts = (texts: string[]) => texts.map((text) => verb("message.post", { space_id: lobby, text }));
  const plain = await connect(owner);
  const from = plain.frames.length;
  plain.send(posts(["a", "b"]));
  expect(await plain.type("error", from)).toMatchObject({ code: "malformed" });

  const socket = await connect(owner, { can: ["batch"] });
  const head = await headOf(owner);
  const three = posts(["a", "b", "c"]);
  socket.send(three);
  await socket.next((f) => f.of === three[2].id);
  const receipts = socket.frames.filter((f) => f.type === "receipt");
  expect(receipts.map((r) => [r.of, r.seq])).toEqual(three.map((f: Any, i: number) => [f.id, head + 1 + i]));
  const broken = posts(["d", "", "f"]);
  socket.send(broken);
  expect(await socket.type("error")).toMatchObject({ code: "invalid", of: broken[1].id });
  const at = socket.frames.length;
  socket.send(posts(Array.from({ length: 101 }, () => "x")));
  expect(await socket.type("error", at)).toMatchObject({ code: "invalid" });
  expect(await headOf(owner)).toBe(head + 3);
});

test("BATCH-2 many writers at once are each confirmed once, in the log's order, and a lone one waits for nobody", async () => {
  const { owner } = await newFastWorkspace();
  const lobby = await newSpace(owner, "Lobby");
  const sockets = await Promise.all(Array.from({ length: 10 }, () => connect(owner)));
  const head = await headOf(owner);
  const receipts = await Promise.all(
    sockets.flatMap((socket, s) =>
      Array.from({ length: 20 }, (_, i) =>
        socket.ask(verb("message.post", { space_id: lobby, text: `${s} ${i}` })),
      ),
    ),
  );
  const seqs = receipts.map((r) => r.seq);
  expect(new Set(seqs).size).toBe(200);
  expect([Math.min(...seqs), Math.max(...seqs)]).toEqual([head + 1, head + 200]);
  for (let s = 0; s < sockets.length; s += 1) {
    const own = seqs.slice(s * 20, s * 20 + 20);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
  const lone = sockets[0] as Socket;
  expect(await lone.ask(verb("message.post", { space_id: lobby, text: "alone" }))).toMatchObject({
    seq: head + 201,
  });
});
