/** Imports as the tests in workerd make them. */
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { openDb } from "../kit/db.ts";
import { exchangeOf } from "../room/judge/exchange.ts";
import { jobOf } from "../room/judge/spend.ts";
import { ADMIN_TOKEN, type Any, call, ORIGIN, roomStub } from "./client.ts";

/** Takes a workspace's object away, as if it had never been: its id is free for an import. */
export async function wipe(workspaceId: string): Promise<void> {
  await runInDurableObject(roomStub(workspaceId), (_, { storage }) => storage.deleteAll());
  await evictDurableObject(roomStub(workspaceId));
}

export async function begin(workspaceId: string): Promise<Any> {
  return call("POST", "/v1/workspaces", { token: ADMIN_TOKEN, body: { import: workspaceId } });
}

export async function lines(workspaceId: string, text: string, from = 1, token = ADMIN_TOKEN): Promise<Any> {
  return call("POST", `/v1/workspaces/${workspaceId}/import?from=${from}`, { token, raw: text });
}

export async function bytes(workspaceId: string, sha256: string, raw: BodyInit): Promise<Any> {
  return call("PUT", `/v1/workspaces/${workspaceId}/files/${sha256}`, { token: ADMIN_TOKEN, raw });
}

/** A file's bytes as somebody gets them. */
export async function download(token: string, attachmentId: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  return exports.default.fetch(new Request(`${ORIGIN}/v1/attachments/${attachmentId}`, { headers }));
}

/** What no export has, or what begins afresh with an import. */
const NOT_EXPORTED = new Set([
  "alarms",
  "tokens",
  "links",
  "redemptions",
  "imports",
  "import_chunks",
  "bucket_debts",
  "pickups",
  "unclaimed",
  "acts",
  "exchanges",
  "jobs",
  "outbox",
  "outbox_waits",
  "inbox",
  "office_runs",
]);
const NOT_COMPARED = new Set(["gone_at", "r2_key", "missing", "resume_token", "ask"]);

/** Every table of a workspace, and the counts of the guard and the job as they stand now. */
export async function standing(workspaceId: string): Promise<Record<string, Any>> {
  return runInDurableObject(roomStub(workspaceId), (_, { storage: { sql } }) => {
    const tables = sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'words%'",
      )
      .toArray()
      .map((t) => t.name)
      .filter((name) => !NOT_EXPORTED.has(name) && !name.startsWith("_") && !name.startsWith("sqlite"));
    const all: Record<string, Any> = {};
    for (const name of tables)
      all[name] = sql
        .exec(`SELECT * FROM ${name}`)
        .toArray()
        .map((row) =>
          JSON.stringify(Object.fromEntries(Object.entries(row).filter(([k]) => !NOT_COMPARED.has(k)))),
        )
        .toSorted();
    const db = openDb(sql);
    for (const { id } of db.all<{ id: string }>("SELECT id FROM spaces"))
      all[id] = { exchange: exchangeOf(db, id).state, job: jobOf(db, id) };
    return all;
  });
}
