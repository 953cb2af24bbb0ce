import { runInDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newWorkspace, roomStub } from "../testing/client.ts";
import { openAlarms } from "./alarms.ts";
import { type Db, openDb } from "./db.ts";
import { type Letter, OUTBOX_TABLES, type Outbox, openOutbox, takeIn } from "./outbox.ts";

interface Post {
  db: Db;
  storage: DurableObjectStorage;
  outbox: Outbox;
  /** The same tables with nothing in memory: what an eviction leaves. */
  reopen(): Outbox;
  /** What the receivers took, in order. */
  taken: string[];
  /** What the next calls do instead of delivering. */
  faults: ("before" | "after" | "ok")[];
  now: number;
}

/** An outbox over the tables of a real object, and receivers that take in by number. */
async function withOutbox(work: (post: Post) => Promise<void>): Promise<void> {
  const { id } = await newWorkspace();
  await runInDurableObject(roomStub(id), async (_, { storage }) => {
    const db = openDb(storage.sql);
    for (const table of ["outbox", "outbox_waits", "inbox"]) db.run(`DROP TABLE IF EXISTS ${table}`);
    db.run(OUTBOX_TABLES);
    db.run("DELETE FROM alarms");
    const post: Post = {
      db,
      storage,
      taken: [],
      faults: [],
      now: 4_000_000_000_000,
      outbox: undefined as never,
      reopen: () =>
        openOutbox({
          db,
          alarms: openAlarms(storage, db),
          now: () => post.now,
          fault: () => {},
          async send(target, letters: Letter[]) {
            const fault = post.faults.shift() ?? "ok";
            if (fault === "before") throw new Error("out of reach");
            takeIn(db, target, letters, ({ body }) => void post.taken.push((body as { text: string }).text));
            await Promise.resolve();
            if (fault === "after") throw new Error("the answer was lost");
          },
        }),
    };
    post.outbox = post.reopen();
    await work(post);
    await storage.deleteAlarm();
  });
}

test("CHAT-2: letters arrive in the order of writing, each once, also when calls fail or answers are lost", async () => {
  await withOutbox(async (post) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("before", "after", "ok", "evicted"), { maxLength: 12 }),
        fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 12 }),
        async (happens, targets) => {
          post.taken.length = 0;
          targets.forEach((target, i) => {
            post.outbox.post(target, "note", { text: `${target}${i}` });
          });
          for (const what of happens) {
            if (what === "evicted") post.outbox = post.reopen();
            else post.faults.push(what);
            await post.outbox.drain();
          }
          post.faults.length = 0;
          await post.outbox.drain();
          for (const target of ["a", "b"]) {
            const wanted = targets.flatMap((t, i) => (t === target ? [`${t}${i}`] : []));
            expect(post.taken.filter((text) => text.startsWith(target))).toEqual(wanted);
          }
          expect(post.db.one<{ n: number }>("SELECT count(*) AS n FROM outbox")?.n).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

test("CHAT-2: a letter that was written before a crash is left to the alarm", async () => {
  await withOutbox(async (post) => {
    post.faults.push("before");
    post.storage.transactionSync(() => post.outbox.post("a", "note", { text: "kept" }));
    // The alarm is set before anything is awaited, so that it is durable with the letter.
    const drained = post.outbox.drain();
    expect(post.db.one("SELECT 1 FROM alarms WHERE name = 'outbox'")).toBeDefined();
    await drained;
    expect(await post.storage.getAlarm()).not.toBeNull();
    await post.reopen().drain();
    expect(post.taken).toEqual(["kept"]);
  });
});

test("CHAT-2: a transaction that is undone leaves no letter", async () => {
  await withOutbox(async (post) => {
    const undone = () =>
      post.storage.transactionSync(() => {
        post.outbox.post("a", "note", { text: "no" });
        throw new Error("undone");
      });
    expect(undone).toThrow("undone");
    await post.outbox.drain();
    expect(post.taken).toEqual([]);
  });
});

test("CHAT-2: one that is out of reach is tried again ever later, and holds up nobody else", async () => {
  await withOutbox(async (post) => {
    const waits: number[] = [];
    post.outbox.post("a", "note", { text: "a" });
    for (let i = 0; i < 9; i += 1) {
      post.faults.push("before");
      await post.outbox.drain();
      const due =
        post.db.one<{ due_at: number }>("SELECT due_at FROM outbox_waits WHERE target = 'a'")?.due_at ?? 0;
      waits.push(due - post.now);
      post.now = due;
    }
    expect(waits.slice(0, 3)).toEqual([1000, 2000, 4000]);
    expect(waits.at(-1)).toBe(60_000);
    post.faults.push("before", "ok");
    post.outbox.post("b", "note", { text: "b" });
    await post.outbox.drain();
    expect(post.taken).toEqual(["b"]);
  });
});

test("CHAT-2: who drains while letters are under way waits until its own are taken", async () => {
  await withOutbox(async (post) => {
    post.outbox.post("a", "note", { text: "first" });
    const first = post.outbox.drain();
    post.outbox.post("a", "note", { text: "second" });
    await post.outbox.drain();
    expect(post.taken).toEqual(["first", "second"]);
    await first;
  });
});
