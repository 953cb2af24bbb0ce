import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { openDb } from "../kit/db.ts";
import { migrate } from "../kit/migrations.ts";
import { newId, roomStub } from "../testing/client.ts";
import { ROOM_MIGRATIONS } from "./schema.ts";

/** How many of the room's migrations were released before there was an office. */
const RELEASED = 2;

test("OPS-6 a room from before the office is brought up to date, its rows as they were", async () => {
  await runInDurableObject(roomStub(newId("ws")), (_, { storage }) => {
    const db = openDb(storage.sql);
    migrate(storage, db, ROOM_MIGRATIONS.slice(0, RELEASED));
    db.run("INSERT INTO participants (id, kind, name, created_at) VALUES ('hrn_1', 'harness', 'Crew', 1)");
    db.run(
      "INSERT INTO participants (id, kind, name, harness_id, created_at) VALUES ('agt_1', 'agent', 'Ping', 'hrn_1', 1)",
    );
    db.run(
      "INSERT INTO tokens (id, participant_id, hash, scopes, name, created_at) VALUES ('tok_1', 'hrn_1', 'h', '[\"harness\"]', 'Crew', 1)",
    );
    migrate(storage, db, ROOM_MIGRATIONS);
    expect(db.all("SELECT id, name, office_handle, office_paused FROM participants ORDER BY id")).toEqual([
      { id: "agt_1", name: "Ping", office_handle: null, office_paused: 0 },
      { id: "hrn_1", name: "Crew", office_handle: null, office_paused: 0 },
    ]);
    expect(db.all("SELECT id, scopes, source, types FROM tokens")).toEqual([
      { id: "tok_1", scopes: '["harness"]', source: null, types: null },
    ]);
    expect(db.all("SELECT * FROM outbox")).toEqual([]);
  });
});
