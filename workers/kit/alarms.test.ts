import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { newWorkspace, roomStub } from "../testing/client.ts";
import { type Alarms, openAlarms } from "./alarms.ts";
import { type Db, openDb } from "./db.ts";

const faults: unknown[] = [];

/** Alarms over the tables of a real object, with what the platform was asked to do. */
async function withAlarms(
  work: (alarms: Alarms, db: Db, armed: () => Promise<number | null>) => Promise<void>,
) {
  const { id } = await newWorkspace();
  await runInDurableObject(roomStub(id), async (_, { storage }) => {
    const db = openDb(storage.sql);
    await work(
      openAlarms(storage, db, (error) => faults.push(error)),
      db,
      async () => {
        // Arming is the last thing of a turn.
        await Promise.resolve();
        return storage.getAlarm();
      },
    );
    await storage.deleteAlarm();
  });
}

function due(db: Db) {
  return db.all<{ name: string; due_at: number }>("SELECT name, due_at FROM alarms ORDER BY due_at");
}

function failing(name: string): void {
  if (name === "a") throw new Error("not now");
}

const LATER = 4_000_000_000_000;

describe("named alarms", () => {
  test("the earliest name is armed, and an earlier time of a name stays", async () => {
    await withAlarms(async (alarms, db, armed) => {
      alarms.by("a", LATER + 20);
      alarms.by("b", LATER + 10);
      expect(await armed()).toBe(LATER + 10);
      alarms.by("a", LATER + 30);
      alarms.by("a", LATER + 5);
      expect(await armed()).toBe(LATER + 5);
      expect(due(db)).toEqual([
        { name: "a", due_at: LATER + 5 },
        { name: "b", due_at: LATER + 10 },
      ]);
    });
  });

  test("a time that the platform cannot arm for waits in the table, behind the farthest that it can", async () => {
    await withAlarms(async (alarms, db, armed) => {
      alarms.by("far", 8_640_000_000_000_000);
      expect(await armed()).toBe(6_000_000_000_000);
      expect(due(db)).toEqual([{ name: "far", due_at: 8_640_000_000_000_000 }]);
      alarms.by("near", LATER);
      expect(await armed()).toBe(LATER);
    });
  });

  test("what is due is fired, by name and in order; what the work sets anew comes later", async () => {
    await withAlarms(async (alarms, db, armed) => {
      for (const [name, at] of [
        ["b", 2],
        ["a", 1],
        ["c", LATER],
      ] as const)
        alarms.by(name, at);
      const fired: string[] = [];
      await alarms.fire(10, async (name) => {
        fired.push(name);
        await Promise.resolve();
        if (name === "a") alarms.by("a", LATER + 1);
      });
      expect(fired).toEqual(["a", "b"]);
      expect(due(db)).toEqual([
        { name: "c", due_at: LATER },
        { name: "a", due_at: LATER + 1 },
      ]);
      expect(await armed()).toBe(LATER);
    });
  });

  test("an alarm of a transaction that is undone is none, and the next is armed all the same", async () => {
    const { id } = await newWorkspace();
    await runInDurableObject(roomStub(id), async (_, { storage }) => {
      const db = openDb(storage.sql);
      const alarms = openAlarms(storage, db, (error) => faults.push(error));
      const undone = () =>
        storage.transactionSync(() => {
          alarms.by("a", LATER);
          throw new Error("undone");
        });
      expect(undone).toThrow("undone");
      alarms.by("b", LATER + 10);
      await Promise.resolve();
      expect(await storage.getAlarm()).toBe(LATER + 10);
      await storage.deleteAlarm();
    });
  });

  test("what fails is due again ever later, the rest is done, and the fault is told", async () => {
    await withAlarms(async (alarms, db, armed) => {
      faults.length = 0;
      alarms.by("a", LATER + 1);
      alarms.by("b", LATER + 2);
      const waits: number[] = [];
      let now = LATER + 10;
      for (let i = 0; i < 8; i++) {
        await alarms.fire(now, failing);
        const [a, ...rest] = due(db);
        expect(rest).toEqual([]);
        expect(await armed()).toBe(a?.due_at);
        waits.push((a?.due_at ?? 0) - now);
        now = a?.due_at ?? 0;
      }
      expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
      expect(faults).toHaveLength(8);
      await alarms.fire(now, () => {});
      expect(due(db)).toEqual([]);
      alarms.by("a", now + 1);
      await alarms.fire(now + 1, failing);
      expect(due(db)).toEqual([{ name: "a", due_at: now + 1001 }]);
    });
  });
});
