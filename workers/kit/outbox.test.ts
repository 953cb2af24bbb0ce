import { runInDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newWorkspace, roomStub } from "../testing/client.ts";
import { openAlarms } from "./alarms.ts";
import { type Db, openDb } from "./db.ts";
import { type Letter, OUTBOX_TABLES, type Outbox, openOutbox, takeIn } from "./outbox.ts";
import { refuse } from "./result.ts";

interface Post {
  db: Db;
  storage: DurableObjectStorage;
  outbox: Outbox;
  /** The same tables with nothing in memory: what an eviction leaves. */
  reopen(): Outbox;
  /** What the receivers took, in order. */
  taken: string[];
  /** Characters of each call. */
  calls: number[];
  /** Letters with these words throw when they are taken. */
  poison: Set<string>;
  /** What the next calls do instead of delivering. */
  faults: ("before" | "after" | "ok")[];
  now: number;
}

/** An outbox over the tables of a real object, and receivers that take in by number. */
async function withOutbox(work: (post: Post) => Promise<void>): Promise<void> {
  const { id } = await newWorkspace();
  await runInDurableObject(roomStub(id), async (_, { storage }) => {
    const db = openDb(storage.sql);
    for (const table of ["outbox", "outbox_waits", "inbox", "inbox_aside"])
      db.run(`DROP TABLE IF EXISTS ${table}`);
    db.run(OUTBOX_TABLES);
    db.run("DELETE FROM alarms");
    const post: Post = {
      db,
      storage,
      taken: [],
      calls: [],
      poison: new Set(),
      faults: [],
      now: 4_000_000_000_000,
      outbox: undefined as never,
      reopen: () =>
        openOutbox({
          db,
          alarms: openAlarms(storage, db, () => {}),
          now: () => post.now,
          fault: () => {},
          async send(target, letters: Letter[]) {
            const fault = post.faults.shift() ?? "ok";
            post.calls.push(JSON.stringify(letters.map((l) => (l.body as { text: string }).text)).length);
            if (fault === "before") throw new Error("out of reach");
            const take = ({ body }: Letter) => {
              const { text } = body as { text: string };
              db.run("INSERT OR REPLACE INTO alarms (name, due_at) VALUES (?, 1)", `took ${text}`);
              if (text === "refused") refuse("conflict", "not this one");
              if (post.poison.has(text)) throw new Error("a fault of ours");
              post.taken.push(text);
            };
            const needs = { db, storage, now: () => post.now, take, fault: () => {} };
            const all = storage.transactionSync(() => takeIn(needs, target, letters));
            await Promise.resolve();
            if (fault === "after") throw new Error("the answer was lost");
            return all;
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

/** Drains as the alarm does, until nothing waits, and counts how often. */
async function drained(post: Post, most: number): Promise<number> {
  for (let calls = 0; calls <= most; calls += 1) {
    if (!post.db.one("SELECT 1 FROM outbox")) return calls;
    await post.outbox.drain();
    post.now += 60_000;
  }
  throw new Error("letters wait for ever");
}

test("CHAT-2: a letter whose taking always throws is put aside after eight tries, and those behind it arrive", async () => {
  await withOutbox(async (post) => {
    post.poison.add("bad");
    for (const text of ["first", "bad", "last"]) post.outbox.post("a", "note", { text });
    await post.outbox.drain();
    expect(post.taken).toEqual(["first"]);
    // What it wrote before it threw is undone, and what was taken before it is not.
    expect(post.db.all("SELECT name FROM alarms WHERE name LIKE 'took %'")).toEqual([{ name: "took first" }]);
    expect(await drained(post, 7)).toBe(7);
    expect(post.taken).toEqual(["first", "last"]);
    expect(post.db.all("SELECT source, kind, body FROM inbox_aside")).toEqual([
      { source: "a", kind: "note", body: '{"text":"bad"}' },
    ]);
  });
});

test("CHAT-2: a letter that throws once is taken when it is sent again, in its place", async () => {
  await withOutbox(async (post) => {
    post.poison.add("late");
    for (const text of ["late", "behind"]) post.outbox.post("a", "note", { text });
    await post.outbox.drain();
    expect(post.taken).toEqual([]);
    post.poison.clear();
    await post.outbox.drain();
    expect(post.taken).toEqual(["late", "behind"]);
    expect(post.db.all("SELECT tries FROM inbox")).toEqual([{ tries: 0 }]);
  });
});

test("CHAT-2: a letter that the rules refuse changes nothing and is not sent again", async () => {
  await withOutbox(async (post) => {
    for (const text of ["refused", "next"]) post.outbox.post("a", "note", { text });
    await post.outbox.drain();
    expect(post.taken).toEqual(["next"]);
    expect(post.db.one("SELECT 1 FROM outbox")).toBeUndefined();
    expect(post.db.all("SELECT name FROM alarms WHERE name LIKE 'took %'")).toEqual([{ name: "took next" }]);
  });
});

test("CHAT-2: letters of many megabytes go in calls of a few", async () => {
  await withOutbox(async (post) => {
    const texts = ["a", "b", "c", "d", "e"].map((letter) => letter.repeat(1_800_000));
    for (const text of texts) post.outbox.post("a", "note", { text });
    await post.outbox.drain();
    expect(post.calls.length).toBeGreaterThan(1);
    expect(Math.max(...post.calls)).toBeLessThanOrEqual(4_000_000);
    expect(post.taken).toEqual(texts);
  });
});
