/** What the room keeps of uploads: debts, sweeps and deletions (ATT-1, ATT-3, LOG-4). */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { newSpace, newWorkspace, ORIGIN, type Party, roomStub, say, send } from "../testing/client.ts";
import { bytesOf, debtsOf, fetchFile, keysOf, sweep, uploaded } from "../testing/files.ts";
import { sql } from "../testing/room.ts";
import { UPLOAD_MS } from "./uploads.ts";

const HOUR = 3_600_000;

async function credential(by: Party) {
  const [, , ulid, secret = ""] = /^bp_([^_]+)_([^_]+)_(.+)$/.exec(by.token) ?? [];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  const secretHash = [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("");
  return { tokenId: `tok_${ulid}`, secretHash, origin: ORIGIN };
}

function path(of: { attachment_id: string }): string {
  return `/v1/attachments/${of.attachment_id}`;
}

/** Begins an upload and goes no further. */
async function begin(workspaceId: string, by: Party): Promise<string> {
  const begun = await roomStub(workspaceId).uploadBegin(await credential(by), { filename: "a.bin" });
  if (!begun.ok) throw new Error(begun.error.message);
  return begun.value.key;
}

async function finish(workspaceId: string, by: Party, key: string, sha256 = "0".repeat(64)) {
  const file = { key, filename: "a.bin", mime_type: "application/octet-stream", byte_size: 4, sha256 };
  return roomStub(workspaceId).uploadFinish(await credential(by), file);
}

describe("debts to the bucket", () => {
  test("ATT-1 an upload is a debt from before its first byte until it is taken in", async () => {
    const { id, owner } = await newWorkspace();
    const before = Date.now();
    const key = await begin(id, owner);
    const [debt] = await debtsOf(id);
    expect(debt).toMatchObject({ r2_key: key, upload_id: null });
    expect(debt!.due_at - before).toBeGreaterThanOrEqual(UPLOAD_MS);
    expect(debt!.due_at - Date.now()).toBeLessThanOrEqual(UPLOAD_MS);
    expect(await sql(id, "SELECT due_at FROM alarms WHERE name = 'bucket'")).toEqual([
      { due_at: debt!.due_at },
    ]);
    expect(await finish(id, owner, key)).toMatchObject({ ok: true });
    expect(await debtsOf(id)).toEqual([]);
  });

  test("ATT-1 what a gateway left behind when it died is swept out, object or parts", async () => {
    const { id, owner } = await newWorkspace();
    const whole = await begin(id, owner);
    await env.FILES.put(whole, "left behind");
    const inParts = await begin(id, owner);
    const upload = await env.FILES.createMultipartUpload(inParts);
    await upload.uploadPart(1, bytesOf(5 * 1024 * 1024));
    const noted = await roomStub(id).uploadInParts(await credential(owner), inParts, upload.uploadId);
    expect(noted).toEqual({ ok: true, value: null });
    const completed = await begin(id, owner);
    const done = await env.FILES.createMultipartUpload(completed);
    await roomStub(id).uploadInParts(await credential(owner), completed, done.uploadId);
    await done.complete([await done.uploadPart(1, "a small last part")]);
    const nothing = await begin(id, owner);
    expect((await debtsOf(id)).map((d) => d.r2_key)).toEqual([whole, inParts, completed, nothing].toSorted());

    await sweep(id);
    expect(await debtsOf(id)).toEqual([]);
    expect(await keysOf(id)).toEqual([]);
    await expect(upload.uploadPart(2, "x")).rejects.toThrow("10024");
    expect(await sql(id, "SELECT * FROM alarms WHERE name = 'bucket'")).toEqual([]);
  });

  test("ATT-1 a sweep takes what is due, leaves the rest, and comes again for it", async () => {
    const { id, owner } = await newWorkspace();
    const kept = await uploaded(owner, "kept");
    const keys = [await begin(id, owner), await begin(id, owner)];
    for (const key of keys) await env.FILES.put(key, "left behind");
    const later = Date.now() + HOUR;
    await sql(id, "UPDATE bucket_debts SET due_at = ?", later);
    await sql(id, "UPDATE bucket_debts SET due_at = 1 WHERE r2_key = ?", keys[0]);
    await sql(id, "INSERT OR REPLACE INTO alarms (name, due_at) VALUES ('bucket', 1)");
    await runDurableObjectAlarm(roomStub(id));
    expect(await keysOf(id)).toEqual([`${id}/${kept.attachment_id.slice(4)}`, keys[1] ?? ""]);
    expect(await sql(id, "SELECT name, due_at FROM alarms")).toEqual([{ name: "bucket", due_at: later }]);
    // A second alarm for the same changes nothing.
    await runDurableObjectAlarm(roomStub(id));
    expect(await debtsOf(id)).toMatchObject([{ r2_key: keys[1], due_at: later }]);
    expect(await keysOf(id)).toHaveLength(2);
  });

  test("ATT-1 more than one sweep takes is swept by the next", async () => {
    const { id, owner } = await newWorkspace();
    await begin(id, owner);
    await sql(
      id,
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 149)
       INSERT INTO bucket_debts (r2_key, due_at) SELECT '${id}/' || i, 1 FROM n`,
    );
    await sweep(id);
    expect(await debtsOf(id)).toEqual([]);
  });

  test("ATT-1 an upload that ends too late, twice, or was never begun is refused", async () => {
    const { id, owner } = await newWorkspace();
    const late = await begin(id, owner);
    await sql(id, "UPDATE bucket_debts SET due_at = ?", Date.now() - 1);
    const twice = await begin(id, owner);
    expect((await finish(id, owner, twice)).ok).toBe(true);
    for (const key of [late, twice, `${id}/never`, ""])
      expect(await finish(id, owner, key)).toMatchObject({ ok: false, error: { code: "unavailable" } });
    expect(await sql(id, "SELECT count(*) AS n FROM attachments")).toEqual([{ n: 1 }]);
  });

  test("ATT-3 the second copy of the same bytes is due at once", async () => {
    const { id, owner } = await newWorkspace();
    const first = await begin(id, owner);
    const second = await begin(id, owner);
    expect(await finish(id, owner, first)).toMatchObject({ ok: true, value: { key: first } });
    expect(await finish(id, owner, second)).toMatchObject({ ok: true, value: { key: first } });
    await sweep(id);
    expect(await sql(id, "SELECT r2_key FROM blobs")).toEqual([{ r2_key: first }]);
    expect(await debtsOf(id)).toEqual([]);
  });

  test("LOG-4 the bytes go with the last message that carries them", async () => {
    const { id, owner } = await newWorkspace();
    const space = await newSpace(owner, "Lobby");
    const one = await uploaded(owner, "the bytes", "one.txt");
    const two = await uploaded(owner, "the bytes", "two.txt");
    const first = await say(owner, space, "", { attachments: [{ attachment_id: one.attachment_id }] });
    const second = await say(owner, space, "", { attachments: [{ attachment_id: two.attachment_id }] });
    await send(owner, "message.delete", { message_id: first.message_id });
    await sweep(id);
    expect((await fetchFile(path(one), owner)).status).toBe(404);
    expect((await fetchFile(path(two), owner)).status).toBe(200);
    await send(owner, "message.delete", { message_id: second.message_id });
    await sweep(id);
    expect((await fetchFile(path(two), owner)).status).toBe(404);
    expect(await keysOf(id)).toEqual([]);
    // The same bytes may come again.
    const again = await uploaded(owner, "the bytes");
    expect((await fetchFile(path(again), owner)).status).toBe(200);
  });
});
