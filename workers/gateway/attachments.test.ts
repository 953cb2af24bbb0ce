/** Uploads: ATT-1 to ATT-3, and the measures of ATT-7. */
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { call, newHarness, newPerson, newSpace, newWorkspace, type Party, send } from "../testing/client.ts";
import { bytesOf, chunked, debtsOf, keysOf, post, sha256, sweep, uploaded } from "../testing/files.ts";
import { type Sample, sample } from "../testing/samples.ts";
import { PART_BYTES } from "./files/store.ts";

const MiB = 1024 * 1024;

function ascii(text: string) {
  return Uint8Array.from(new TextEncoder().encode(text));
}

function limitTo(owner: Party, max_bytes: number) {
  return send(owner, "settings.set", { settings: { attachments: { max_bytes } } });
}

describe("uploading", () => {
  test("ATT-1 the answer tells what was found, and the bytes lie in the bucket", async () => {
    const { id, owner } = await newWorkspace();
    const bytes = bytesOf(1000);
    const { status, headers, body } = await post(owner, bytes, "data.bin");
    expect(status).toBe(201);
    expect(body).toEqual({
      attachment_id: expect.stringMatching(/^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      filename: "data.bin",
      mime_type: "application/octet-stream",
      byte_size: 1000,
      sha256: await sha256(bytes),
    });
    expect(headers.get("cache-control")).toBe("no-store");
    const keys = await keysOf(id);
    expect(keys).toEqual([`${id}/${body.attachment_id.slice(4)}`]);
    const object = await env.FILES.get(keys[0]!);
    expect(await object!.bytes()).toEqual(bytes);
    expect(await debtsOf(id)).toEqual([]);
  });

  test.each([
    ["one part exactly", PART_BYTES],
    ["one byte more than a part", PART_BYTES + 1],
    ["two parts exactly", 2 * PART_BYTES],
    ["some parts and a rest", 2 * PART_BYTES + 77],
  ])("ATT-1 %s, with a length and without", async (_, size) => {
    const { id, owner } = await newWorkspace();
    const bytes = bytesOf(size, 7);
    const whole = await uploaded(owner, bytes);
    const pieces = await uploaded(owner, chunked(bytes, 100_001));
    expect(pieces).toMatchObject({ byte_size: size, sha256: await sha256(bytes) });
    expect(pieces.sha256).toBe(whole.sha256);
    for (const key of await keysOf(id)) expect((await env.FILES.head(key))!.size).toBe(size);
    await sweep(id);
    expect(await debtsOf(id)).toEqual([]);
    expect(await keysOf(id)).toEqual([`${id}/${whole.attachment_id.slice(4)}`]);
  });

  test("ATT-1 exactly the limit is taken, one byte more is too_large and leaves nothing", async () => {
    const { id, owner } = await newWorkspace();
    await limitTo(owner, 1000);
    await uploaded(owner, bytesOf(1000));
    await uploaded(owner, chunked(bytesOf(1000, 2), 300));
    const kept = await keysOf(id);
    expect(kept).toHaveLength(2);
    expect(await debtsOf(id)).toEqual([]);

    const declared = await post(owner, bytesOf(1001));
    expect([declared.status, declared.body.code]).toEqual([413, "too_large"]);
    expect(declared.body.message).toContain("1000");
    // Refused by its length alone: not even begun.
    expect(await debtsOf(id)).toEqual([]);

    const streamed = await post(owner, chunked(bytesOf(1001), 300));
    expect([streamed.status, streamed.body.code]).toEqual([413, "too_large"]);
    expect(await keysOf(id)).toEqual(kept);
    await sweep(id);
    expect(await debtsOf(id)).toEqual([]);
    expect(await keysOf(id)).toEqual(kept);
  });

  test("ATT-1 over the limit in a later part, the parts before go too", async () => {
    const { id, owner } = await newWorkspace();
    await limitTo(owner, PART_BYTES + MiB);
    const { status, body } = await post(owner, chunked(bytesOf(PART_BYTES + MiB + 1)));
    expect([status, body.code]).toEqual([413, "too_large"]);
    expect(await keysOf(id)).toEqual([]);
    const [debt] = await debtsOf(id);
    expect(debt).toMatchObject({ upload_id: expect.any(String) });
    const parts = env.FILES.resumeMultipartUpload(debt!.r2_key, debt!.upload_id!);
    await expect(parts.uploadPart(1, "x")).rejects.toThrow("10024");
    await sweep(id);
    expect(await debtsOf(id)).toEqual([]);
  });

  test("ATT-1 an empty body is invalid, with a length and without", async () => {
    const { id, owner } = await newWorkspace();
    for (const body of [new Uint8Array(), chunked(new Uint8Array())]) {
      const answer = await post(owner, body);
      expect([answer.status, answer.body.code]).toEqual([422, "invalid"]);
      expect(answer.body.message).toMatch(/empty/);
    }
    const none = await call("POST", "/v1/attachments?filename=a", { token: owner.token });
    expect([none.status, none.body.code]).toEqual([422, "invalid"]);
    expect(await keysOf(id)).toEqual([]);
  });

  test.each([
    ["../../etc/passwd", "passwd"],
    ["..\\..\\boot.ini", "boot.ini"],
    ["/absolute/path.txt", "path.txt"],
    ["Straße 7 – Überblick.pdf", "Straße 7 – Überblick.pdf"],
    ["a&b=c?d#e%20f.txt", "a&b=c?d#e%20f.txt"],
  ])("ATT-1 filename %j is stored as %j", async (given, stored) => {
    const { owner } = await newWorkspace();
    expect((await uploaded(owner, "x", given)).filename).toBe(stored);
  });

  test.each([[""], [".."], ["dir/"], ["a\0b"], ["a\r\nset-cookie: x"], ["\u202egnp.exe"], ["é".repeat(128)]])(
    "ATT-1 filename %j is invalid and begins nothing",
    async (given) => {
      const { id, owner } = await newWorkspace();
      const { status, body } = await post(owner, "x", given);
      expect([status, body.code]).toEqual([422, "invalid"]);
      expect(body.details).toEqual([{ path: "filename", message: expect.any(String) }]);
      expect(await debtsOf(id)).toEqual([]);
    },
  );

  test("SPACE-7 ATT-1 whoever may speak may upload, and nobody else", async () => {
    const { id, owner } = await newWorkspace();
    const space = await newSpace(owner, "Lobby");
    const guest = await newPerson(owner, "Guest", "guest", [space]);
    const harness = await newHarness(owner, "Scouts");
    await uploaded(guest, "from a guest");
    await uploaded(harness, "from a harness");
    const before = await keysOf(id);

    const narrow = await call("POST", "/v1/tokens", { token: owner.token, body: { scopes: ["admin"] } });
    const forbidden = await post({ id: owner.id, token: narrow.body.token }, "x");
    expect([forbidden.status, forbidden.body.code]).toEqual([403, "forbidden"]);
    const nobody = await post(undefined, "x");
    expect([nobody.status, nobody.body.code]).toEqual([401, "unauthenticated"]);
    const changed = owner.token.replace(/.$/, (c) => (c === "A" ? "B" : "A"));
    const forged = await post({ id: owner.id, token: changed }, "x", "");
    expect([forged.status, forged.body.code]).toEqual([401, "unauthenticated"]);
    expect(await keysOf(id)).toEqual(before);
  });

  test("AUTH-3 a token that is revoked during the upload does not finish it", async () => {
    const { id, owner } = await newWorkspace();
    const made = await call("POST", "/v1/tokens", { token: owner.token, body: { scopes: ["person"] } });
    const body = chunked(bytesOf(3 * MiB), 1 * MiB, async (controller) => {
      await call("DELETE", `/v1/tokens/${made.body.token_id}`, { token: owner.token });
      controller.close();
    });
    const { status } = await post({ id: owner.id, token: made.body.token }, body);
    expect(status).toBe(401);
    await sweep(id);
    expect(await keysOf(id)).toEqual([]);
  });
});

describe("types", () => {
  const padding = " and so on, in plain words\n".repeat(200);

  test.each<[string, Uint8Array<ArrayBuffer> | Sample, string, string]>([
    ["a PNG called .txt", "image.png", "notes.txt", "image/png"],
    ["a JPEG called .html", "image.jpeg", "page.html", "image/jpeg"],
    ["HTML called .png", ascii("<!doctype html><script>alert(1)</script>"), "cat.png", "text/plain"],
    ["SVG", ascii('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), "a.svg", "text/plain"],
    [
      "SVG as XML",
      ascii('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
      "a.svg",
      "application/xml",
    ],
    ["a PDF", ascii("%PDF-1.7\n1 0 obj\n"), "a.bin", "application/pdf"],
    ["a shell script", ascii("#!/bin/sh\nrm -rf /\n"), "run", "text/plain"],
    ["text with a byte order mark", ascii("\ufeffhello"), "bom.txt", "text/plain"],
    ["words that begin like a bitmap", ascii(`BMW${padding}`), "a.txt", "text/plain"],
    ["words that begin like a program", ascii(`MZ${padding}`), "a.txt", "text/plain"],
    ["words that begin like music", ascii(`ID3 tags${padding}`), "a.txt", "text/plain"],
    ["a TeX comment", ascii(`%!TEX root = main.tex${padding}`), "a.tex", "application/postscript"],
    ["NUL in the middle", ascii("text\0text"), "a.txt", "application/octet-stream"],
    ["Latin-1", Uint8Array.from([0x47, 0x72, 0xfc, 0xdf, 0x65]), "a.txt", "application/octet-stream"],
    ["half a character at the end", ascii("grüß").slice(0, -1), "a.txt", "application/octet-stream"],
    ["one byte", ascii("x"), "a", "text/plain"],
    ["a program", ascii("MZ\u0090\0\u0003\0\0\0"), "a.txt", "application/x-msdownload"],
  ])("ATT-2 %s", async (_, content, filename, expected) => {
    const { owner } = await newWorkspace();
    const bytes = typeof content === "string" ? sample(content) : content;
    const { body } = await post(owner, bytes, filename, { "content-type": "image/svg+xml" });
    expect(body.mime_type).toBe(expected);
  });

  test("ATT-2 text is told by the whole of it: one bad byte after five MiB of words", async () => {
    const { owner } = await newWorkspace();
    const words = ascii("Zeile für Zeile, immer weiter.\n".repeat(180_000));
    expect(words.byteLength).toBeGreaterThan(PART_BYTES);
    expect((await uploaded(owner, chunked(words, 65_521))).mime_type).toBe("text/plain");
    const bad = new Uint8Array(words.byteLength + 1);
    bad.set(words);
    bad[words.byteLength] = 0xff;
    expect((await uploaded(owner, chunked(bad, 65_521))).mime_type).toBe("application/octet-stream");
  });
});

describe("content addressing", () => {
  test("ATT-3 the same bytes twice are stored once, under names of their own", async () => {
    const { id, owner } = await newWorkspace();
    const bob = await newPerson(owner, "Bob");
    const first = await uploaded(owner, sample("image.png"), "first.png");
    const second = await uploaded(bob, sample("image.png"), "second.png");
    expect(second).toEqual({ ...first, attachment_id: second.attachment_id, filename: "second.png" });
    expect(second.attachment_id).not.toBe(first.attachment_id);
    await sweep(id);
    expect(await keysOf(id)).toEqual([`${id}/${first.attachment_id.slice(4)}`]);
  });

  test("ATT-3 the same bytes ten times at once are stored once", async () => {
    const { id, owner } = await newWorkspace();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => uploaded(owner, chunked(bytesOf(300_000, 3), 9999))),
    );
    expect(new Set(answers.map((a) => a.attachment_id)).size).toBe(10);
    expect(new Set(answers.map((a) => a.sha256)).size).toBe(1);
    await sweep(id);
    expect(await keysOf(id)).toHaveLength(1);
    expect(await debtsOf(id)).toEqual([]);
  });

  test("ATT-3 two workspaces share nothing", async () => {
    const one = await newWorkspace();
    const two = await newWorkspace();
    await uploaded(one.owner, "the same words");
    await uploaded(two.owner, "the same words");
    expect(await keysOf(one.id)).toHaveLength(1);
    expect(await keysOf(two.id)).toHaveLength(1);
  });
});
