/** What is read from images and recordings, whole, broken and hostile (ATT-7). */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newId } from "../../testing/client.ts";
import { bytesOf } from "../../testing/files.ts";
import { type Sample, sample } from "../../testing/samples.ts";
import { imageFacts, mediaInBucket, mediaInMemory } from "./media.ts";
import { sniff } from "./sniff.ts";
import { PART_BYTES } from "./store.ts";

const MiB = 1024 * 1024;

describe("media", () => {
  test.each<[Sample, string, number, number]>([
    ["image.png", "image/png", 40, 24],
    ["image.jpeg", "image/jpeg", 40, 24],
    ["image.gif", "image/gif", 40, 24],
    ["image.webp", "image/webp", 40, 24],
    ["image.avif", "image/avif", 40, 24],
    ["image.bmp", "image/bmp", 6, 4],
    ["image.tiff", "image/tiff", 6, 4],
  ])("ATT-7 %s", async (name, type, width, height) => {
    expect(await sniff(sample(name))).toBe(type);
    expect(imageFacts(sample(name), type)).toEqual({ width, height });
  });

  test.each([
    [1, 40, 24],
    [3, 40, 24],
    [6, 24, 40],
    [8, 24, 40],
  ])("ATT-7 a photograph turned by EXIF %i is as wide as it is shown", (orientation, width, height) => {
    const exif = [0x45, 0x78, 0x69, 0x66, 0, 0, 0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1];
    const tag = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0];
    const segment = [0xff, 0xe1, 0, 2 + exif.length + tag.length, ...exif, ...tag];
    const jpeg = sample("image.jpeg");
    const turned = Uint8Array.from([...jpeg.subarray(0, 20), ...segment, ...jpeg.subarray(20)]);
    expect(imageFacts(turned, "image/jpeg")).toEqual({ width, height });
  });

  test.each<[Sample, string, string, number | undefined]>([
    ["note.webm", "video/webm", "audio/webm", 408],
    ["note.ogg", "audio/ogg", "audio/ogg", 400],
    ["note.mp3", "audio/mpeg", "audio/mpeg", 576],
    ["note.m4a", "audio/x-m4a", "audio/x-m4a", 528],
    ["frag.mp4", "video/mp4", "audio/mp4", 528],
    ["film.mp4", "video/mp4", "video/mp4", 528],
    ["film.webm", "video/webm", "video/webm", 400],
    ["film.mov", "video/quicktime", "video/quicktime", 400],
  ])("ATT-7 %s, in memory and in the bucket", async (name, sniffed, type, duration) => {
    const bytes = sample(name);
    expect(await sniff(bytes)).toBe(sniffed);
    const inMemory = await mediaInMemory(bytes, sniffed);
    expect({ type: inMemory.mime_type ?? sniffed, duration: inMemory.duration_ms }).toEqual({
      type,
      duration,
    });
    const key = `${newId("ws")}/x`;
    await env.FILES.put(key, bytes);
    expect(await mediaInBucket(env.FILES, key, bytes.byteLength, sniffed)).toEqual(inMemory);
  });

  test("ATT-7 a long recording is read in a few places, a broken one not for ever", async () => {
    const key = `${newId("ws")}/x`;
    const head = sample("note.mp3");
    const long = bytesOf(20 * MiB);
    for (let at = 0; at + head.length < long.length; at += head.length) long.set(head, at);
    await env.FILES.put(key, long);
    let reads = 0;
    let bytes = 0;
    const bucket = {
      async get(of: string, options: { range: { offset: number; length: number } }) {
        reads += 1;
        bytes += options.range.length;
        return env.FILES.get(of, options);
      },
    } as unknown as R2Bucket;
    for (const type of ["audio/mpeg", "audio/ogg", "video/mp4", "video/webm", "audio/wav", "audio/flac"]) {
      reads = 0;
      bytes = 0;
      await mediaInBucket(bucket, key, long.byteLength, type);
      expect(reads).toBeLessThanOrEqual(32);
      expect(bytes).toBeLessThanOrEqual(4 * MiB);
    }
  });

  test("ATT-7 whatever is done to media, nothing is thrown and no nonsense comes out", async () => {
    const names = [
      "image.png",
      "image.jpeg",
      "image.gif",
      "image.webp",
      "image.avif",
      "image.bmp",
      "image.tiff",
    ];
    const recordings = ["note.webm", "note.ogg", "note.mp3", "note.m4a", "frag.mp4", "film.mov"];
    const harm = fc.array(fc.tuple(fc.nat(1000), fc.integer({ min: 0, max: 255 })), { maxLength: 12 });
    const name = fc.constantFrom(...([...names, ...recordings] as Sample[]));
    await fc.assert(
      fc.asyncProperty(name, harm, fc.nat(100), async (of, changes, cut) => {
        const bytes = sample(of);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        const head = bytes.subarray(0, bytes.length - cut);
        const type = (await sniff(head)) ?? "application/octet-stream";
        const found = { ...imageFacts(head, type), ...(await mediaInMemory(head, type)) };
        for (const measure of [found.width, found.height, found.duration_ms])
          expect(measure ?? 1).toSatisfy((n: number) => Number.isSafeInteger(n) && n > 0);
      }),
      { numRuns: 150 },
    );
  });

  // Time stands still while code runs in workerd: what is bounded is how far the search goes.
  test.each([
    ["15 segments, and it is found", 15, { width: 40, height: 24 }],
    ["17 segments, and it is not looked for any more", 17, {}],
  ])("ATT-7 an image's size comes after %s", (_, count, expected) => {
    const jpeg = sample("image.jpeg");
    const filler = new Uint8Array(2 + 0xffff);
    filler.set([0xff, 0xef, 0xff, 0xff]);
    const bytes = new Uint8Array(jpeg.length + count * filler.length);
    bytes.set(jpeg.subarray(0, 20));
    for (let i = 0; i < count; i++) bytes.set(filler, 20 + i * filler.length);
    bytes.set(jpeg.subarray(20), 20 + count * filler.length);
    expect(imageFacts(bytes, "image/jpeg")).toEqual(expected);
  });

  test("ATT-7 an image that is nothing but a search has no size", () => {
    const broken = new Uint8Array(PART_BYTES);
    broken.set([0xff, 0xd8, 0xff, 0xe0]);
    expect(imageFacts(broken, "image/jpeg")).toEqual({});
  });
});
