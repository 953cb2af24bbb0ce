/** Uploads and downloads for the tests, and looks into the bucket. */

import { runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { vi } from "vitest";
import { type Any, call, ORIGIN, type Party, roomStub } from "./client.ts";
import { sql } from "./room.ts";

export function bytesOf(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  // xorshift: bytes that no signature and no UTF-8 fit, the same for a seed.
  const words = new Uint32Array(Math.ceil(length / 4));
  let x = seed;
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    words[i] = x;
  }
  const bytes = new Uint8Array(words.buffer, 0, length);
  if (length > 0) bytes[0] = 0xfe;
  return bytes;
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** A body without a length, in pieces; `end` may break it off. */
export function chunked(
  bytes: Uint8Array,
  pieceBytes = 64 * 1024,
  end: (controller: ReadableByteStreamController) => void | Promise<void> = (c) => c.close(),
): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      if (at >= bytes.byteLength) {
        await end(controller);
        controller.byobRequest?.respond(0);
        return;
      }
      controller.enqueue(bytes.slice(at, at + pieceBytes));
      at += pieceBytes;
    },
  });
}

export async function post(
  by: Party | undefined,
  content: BodyInit,
  filename = "file.bin",
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: Any }> {
  return call("POST", `/v1/attachments?filename=${encodeURIComponent(filename)}`, {
    ...(by ? { token: by.token } : {}),
    raw: content,
    headers,
  });
}

/** An upload that must succeed. */
export async function uploaded(by: Party, content: BodyInit, filename = "file.bin"): Promise<Any> {
  const { status, body } = await post(by, content, filename);
  if (status !== 201) throw new Error(`not uploaded: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** A file, as its bytes. */
export async function fetchFile(
  path: string,
  by?: Party,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<{ status: number; headers: Headers; bytes: Uint8Array }> {
  const response = await exports.default.fetch(
    new Request(new URL(path, ORIGIN), {
      method,
      headers: { ...(by ? { authorization: `Bearer ${by.token}` } : {}), ...headers },
    }),
  );
  return { status: response.status, headers: response.headers, bytes: await response.bytes() };
}

export async function urlOf(by: Party, attachmentId: string): Promise<string> {
  const { status, body } = await call("GET", `/v1/attachments/${attachmentId}/url`, { token: by.token });
  if (status !== 200) throw new Error(`no url: ${status} ${JSON.stringify(body)}`);
  return body.url;
}

export const WORDS = "the words of the file";

/** A small file of somebody's, and a URL of it for them. */
export async function fileIn(owner: Party, filename = "words.txt"): Promise<{ id: string; url: string }> {
  const { attachment_id } = await uploaded(owner, WORDS, filename);
  return { id: attachment_id, url: await urlOf(owner, attachment_id) };
}

/** Status and code of what is no file. */
export async function refusedAs(path: string, by?: Party): Promise<[status: number, code: string]> {
  const { status, bytes } = await fetchFile(path, by);
  const body: Any = JSON.parse(new TextDecoder().decode(bytes));
  return [status, body.code];
}

/** The keys that a workspace has in the bucket. */
export async function keysOf(workspaceId: string): Promise<string[]> {
  const { objects } = await env.FILES.list({ prefix: `${workspaceId}/` });
  return objects.map((o) => o.key);
}

export interface Debt {
  r2_key: string;
  due_at: number;
  upload_id: string | null;
}

export function debtsOf(workspaceId: string): Promise<Debt[]> {
  return sql<Debt>(workspaceId, "SELECT * FROM bucket_debts ORDER BY r2_key");
}

/** Makes every debt due and waits until the room's alarm has paid them. */
export async function sweep(workspaceId: string): Promise<void> {
  await runInDurableObject(roomStub(workspaceId), async (_, { storage }) => {
    storage.sql.exec("UPDATE bucket_debts SET due_at = 1");
    storage.sql.exec("INSERT OR REPLACE INTO alarms (name, due_at) VALUES ('bucket', 1)");
    await storage.setAlarm(Date.now());
  });
  const left = "SELECT 1 FROM bucket_debts UNION ALL SELECT 1 FROM alarms WHERE name = 'bucket'";
  await vi.waitUntil(async () => (await sql(workspaceId, left)).length === 0, { timeout: 10_000 });
}
