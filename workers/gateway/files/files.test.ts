/** The pieces of uploads and downloads, each by itself: streams that break, text, ranges, headers. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newId } from "../../testing/client.ts";
import { bytesOf, chunked, sha256 } from "../../testing/files.ts";
import { contentType, disposition, isInline } from "./headers.ts";
import { isKnown, rangeHolds, wantedOf } from "./ranges.ts";
import { openTextCheck } from "./sniff.ts";
import { PART_BYTES, store } from "./store.ts";

const MiB = 1024 * 1024;

/** The real bucket, noting what is on its way into it and what was begun in parts. */
function watched() {
  const uploads: { key: string; id: string }[] = [];
  const seen = { taken: 0, puts: 0, parts: 0 };
  const bucket = {
    async put(key: string, value: Uint8Array) {
      const object = await env.FILES.put(key, value);
      seen.puts += 1;
      seen.taken += value.byteLength;
      return object;
    },
    async createMultipartUpload(key: string) {
      const upload = await env.FILES.createMultipartUpload(key);
      uploads.push({ key, id: upload.uploadId });
      return {
        uploadId: upload.uploadId,
        async uploadPart(n: number, value: Uint8Array) {
          const part = await upload.uploadPart(n, value);
          seen.parts += 1;
          seen.taken += value.byteLength;
          return part;
        },
        complete: (parts: R2UploadedPart[]) => upload.complete(parts),
        abort: () => upload.abort(),
      };
    },
  } as unknown as R2Bucket;
  return { bucket, seen, uploads };
}

function intake(more: object = {}) {
  return {
    key: `${newId("ws")}/x`,
    maxBytes: 100 * MiB,
    look: async () => {},
    inParts: async () => {},
    ...more,
  };
}

describe("storing", () => {
  test("ATT-1 95 MiB without a length hold less than 24 MiB at any time", async () => {
    const { bucket, seen } = watched();
    const total = 95 * MiB;
    const piece = bytesOf(64 * 1024);
    let given = 0;
    let most = 0;
    const body = new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (given >= total) {
          controller.close();
          controller.byobRequest?.respond(0);
          return;
        }
        controller.enqueue(piece.slice());
        given += piece.byteLength;
        most = Math.max(most, given - seen.taken);
      },
    });
    const asked = intake();
    const stored = await store(bucket, body, asked);
    expect(stored.byte_size).toBe(total);
    expect(seen.parts).toBe(19);
    // The part in hand, and the pieces of the stream around it; the bucket's own copy of a part comes on top.
    expect(most + PART_BYTES).toBeLessThan(12 * MiB);
    expect((await env.FILES.head(asked.key))!.size).toBe(total);
  });

  test.each([
    ["in the first part", 1.5 * MiB, 0],
    ["where the first part ends", PART_BYTES, 0],
    ["in the second part", PART_BYTES + 1000, 1],
    ["in the third part", 2 * PART_BYTES + 1000, 1],
  ])("ATT-1 a body that breaks off %s leaves nothing behind", async (_, breakAt, begun) => {
    const { bucket, uploads } = watched();
    const asked = intake();
    const body = chunked(bytesOf(breakAt), 256 * 1024, (c) => c.error(new Error("hung up")));
    await expect(store(bucket, body, asked)).rejects.toThrow("hung up");
    expect(await env.FILES.head(asked.key)).toBeNull();
    expect(uploads).toHaveLength(begun);
    for (const { key, id } of uploads)
      await expect(env.FILES.resumeMultipartUpload(key, id).uploadPart(1, "x")).rejects.toThrow("10024");
  });

  test.each([
    ["fewer bytes than", 999],
    ["more bytes than", 1001],
  ])("ATT-1 %s content-length says are refused", async (_, declared) => {
    const asked = intake({ declared });
    await expect(store(env.FILES, chunked(bytesOf(1000)), asked)).rejects.toThrow(String(declared));
    expect(await env.FILES.head(asked.key)).toBeNull();
  });

  test("ATT-1 when the room refuses the parts, they are taken back", async () => {
    const { bucket, uploads } = watched();
    const asked = intake({
      inParts: async () => {
        throw new Error("revoked");
      },
    });
    await expect(store(bucket, chunked(bytesOf(PART_BYTES + 1)), asked)).rejects.toThrow("revoked");
    const [upload] = uploads;
    const parts = env.FILES.resumeMultipartUpload(upload!.key, upload!.id);
    await expect(parts.uploadPart(1, "x")).rejects.toThrow("10024");
  });

  test("ATT-1 in whatever pieces a body comes, the same is stored", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 90_000 }),
        fc.integer({ min: 1, max: 70_000 }),
        fc.boolean(),
        async (size, piece, isDeclared) => {
          const bytes = bytesOf(size, size);
          const asked = intake(isDeclared ? { declared: size } : {});
          const stored = await store(env.FILES, chunked(bytes, Math.max(piece, Math.ceil(size / 20))), asked);
          expect(stored).toMatchObject({ byte_size: size, sha256: await sha256(bytes) });
          expect(await (await env.FILES.get(asked.key))!.bytes()).toEqual(bytes);
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe("text", () => {
  test("ATT-2 UTF-8 is told in whatever pieces it comes", () => {
    const bytes = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 60 }).map((text) => new TextEncoder().encode(text)),
      fc.uint8Array({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 7 }), (all, step) => {
        const check = openTextCheck();
        for (let at = 0; at < all.length; at += step) check.push(all.subarray(at, at + step));
        let expected = !all.includes(0);
        try {
          new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(all);
        } catch {
          expected = false;
        }
        expect(check.end()).toBe(expected);
      }),
    );
  });
});

describe("ranges", () => {
  test.each([
    [undefined, { all: true }],
    ["bytes=0-0", { offset: 0, length: 1 }],
    ["bytes=0-99", { offset: 0, length: 100 }],
    ["bytes=99-", { offset: 99, length: 1 }],
    ["bytes=10-1000000", { offset: 10, length: 90 }],
    ["bytes=-1", { offset: 99, length: 1 }],
    ["bytes=-1000", { offset: 0, length: 100 }],
    ["Bytes = 5 - 9", { offset: 5, length: 5 }],
    ["bytes=100-", { none: true }],
    ["bytes=100-200", { none: true }],
    ["bytes=-0", { none: true }],
    ["bytes=99999999999999999999999999-", { none: true }],
    ["bytes=0-99999999999999999999999999", { offset: 0, length: 100 }],
    ["bytes=9-5", { all: true }],
    ["bytes=0-1,5-6", { all: true }],
    ["bytes=-", { all: true }],
    ["bytes=a-b", { all: true }],
    ["bytes=0x0-5", { all: true }],
    ["bytes=-5-", { all: true }],
    ["items=0-5", { all: true }],
    ["", { all: true }],
  ])("ATT-6 of 100 bytes %j is %j", (header, wanted) => {
    expect(wantedOf(header, 100)).toEqual(wanted);
  });

  test("ATT-6 If-Range and If-None-Match", () => {
    const etag = '"abc"';
    expect(
      [undefined, '"abc"', 'W/"abc"', '"abd"', "Tue, 01 Dec 2026 00:00:00 GMT"].map((h) =>
        rangeHolds(h, etag),
      ),
    ).toEqual([true, true, false, false, false]);
    expect(
      [undefined, '"abc"', 'W/"abc"', '"x", "abc"', "*", '"abd"', "abc", ""].map((h) => isKnown(h, etag)),
    ).toEqual([false, true, true, true, true, false, false, false]);
  });
});

describe("headers", () => {
  test.each([
    ["image/png", true],
    ["image/svg+xml", false],
    ["audio/ogg", true],
    ["video/mp4", true],
    ["application/pdf", true],
    ["text/html", false],
    ["text/plain", false],
    ["application/xml", false],
    ["application/xhtml+xml", false],
    ["application/octet-stream", false],
  ])("ATT-6 %s in place: %s", (type, expected) => {
    expect(isInline(type)).toBe(expected);
  });

  test.each([
    ["a.pdf", "inline; filename=\"a.pdf\"; filename*=UTF-8''a.pdf"],
    ['"; x=y.pdf', "inline; filename=\"_; x=y.pdf\"; filename*=UTF-8''%22%3B%20x%3Dy.pdf"],
    ["Ü (1)'*.pdf", "inline; filename=\"_ (1)'*.pdf\"; filename*=UTF-8''%C3%9C%20%281%29%27%2A.pdf"],
    ["50%20.pdf", "inline; filename=\"50_20.pdf\"; filename*=UTF-8''50%2520.pdf"],
  ])("ATT-6 the name %j goes out safely", (name, expected) => {
    expect(disposition("application/pdf", name)).toBe(expected);
  });

  test("ATT-6 any name makes a header that says it exactly", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (name) => {
        const header = disposition("text/plain", name);
        expect(header).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[\w!#$&+.^`|~%-]*$/);
        expect(decodeURIComponent(header.split("''").at(-1) ?? "")).toBe(name);
        expect(new Headers({ "content-disposition": header }).get("content-disposition")).toBe(header);
      }),
    );
    expect(contentType("text/plain")).toBe("text/plain; charset=utf-8");
    expect(contentType("image/png")).toBe("image/png");
  });
});
