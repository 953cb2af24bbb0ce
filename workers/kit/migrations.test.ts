import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { newId, roomStub } from "../testing/client.ts";
import { openDb } from "./db.ts";
import { migrate, openMade } from "./migrations.ts";

test("AUTH-4 PERF-1: an object is looked at until it is made, and no more then", async () => {
  await runInDurableObject(roomStub(newId("ws")), (_, { storage }) => {
    const db = openDb(storage.sql);
    const made = openMade(db);
    expect([made(), made()]).toEqual([false, false]);
    migrate(storage, db, [{ sql: "CREATE TABLE one (n INTEGER)" }]);
    expect(made()).toBe(true);
    const { read } = db.counts;
    expect([made(), made(), db.counts.read - read]).toEqual([true, true, 0]);
    // What has slept looks again.
    expect(openMade(db)()).toBe(true);
  });
});
