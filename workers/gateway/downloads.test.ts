/** Downloads: who may have a file, and how it is served (ATT-5, ATT-6, ATT-9). */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  ORIGIN,
  type Party,
  roomStub,
  say,
  send,
} from "../testing/client.ts";
import { bytesOf, fetchFile, fileIn, refusedAs, sha256, uploaded, urlOf, WORDS } from "../testing/files.ts";
import { sample } from "../testing/samples.ts";

describe("who may have a file", () => {
  test("ATT-5 who uploaded it and who is in a space where a message carries it, and nobody else", async () => {
    const { owner } = await newWorkspace();
    const bob = await newPerson(owner, "Bob");
    const cleo = await newPerson(owner, "Cleo");
    const harness = await newHarness(owner, "Scouts");
    const space = await newSpace(owner, "Lobby", [bob.id, harness.id]);
    const elsewhere = await newSpace(owner, "Elsewhere", [cleo.id]);
    const { attachment_id } = await uploaded(owner, WORDS);
    const path = `/v1/attachments/${attachment_id}`;
    for (const by of [bob, cleo]) expect(await refusedAs(path, by)).toEqual([404, "not_found"]);

    const socket = await connect(harness);
    await say(owner, space, "", { attachments: [{ attachment_id }] });
    expect((await fetchFile(path, owner)).status).toBe(200);
    expect((await fetchFile(path, bob)).status).toBe(200);
    expect(await refusedAs(path, cleo)).toEqual([404, "not_found"]);
    expect(await refusedAs(`${path}/url`, cleo)).toEqual([404, "not_found"]);
    const turn = await socket.next((f) => f.attachments);
    expect((await fetchFile(turn.attachments[0].url, harness)).status).toBe(200);
    expect((await fetchFile(await urlOf(harness, attachment_id), harness)).status).toBe(200);
    // ATT-9: its standing is enough for a fresh URL, but not for the bytes.
    expect(await refusedAs(path, harness)).toEqual([403, "forbidden"]);
    expect(await refusedAs(`/v1/attachments/${newId("att")}`, harness)).toEqual([403, "forbidden"]);

    await say(owner, elsewhere, "", { attachments: [{ attachment_id }] });
    expect((await fetchFile(path, cleo)).status).toBe(200);
  });

  test("ATT-5 leaving ends it, but a URL given before keeps its ten minutes", async () => {
    const { owner } = await newWorkspace();
    const bob = await newPerson(owner, "Bob");
    const harness = await newHarness(owner, "Scouts");
    const space = await newSpace(owner, "Lobby", [bob.id, harness.id]);
    const { attachment_id } = await uploaded(owner, WORDS);
    await say(owner, space, "", { attachments: [{ attachment_id }] });
    for (const by of [bob, harness]) {
      const given = await urlOf(by, attachment_id);
      await send(owner, "member.remove", { space_id: space, participant_id: by.id });
      expect(await refusedAs(`/v1/attachments/${attachment_id}/url`, by)).toEqual([404, "not_found"]);
      expect((await fetchFile(given, by)).status).toBe(200);
    }
    expect(await refusedAs(`/v1/attachments/${attachment_id}`, bob)).toEqual([404, "not_found"]);
  });

  test("AUTH-3 ATT-5 a URL dies with its token", async () => {
    const { owner } = await newWorkspace();
    const made = await call("POST", "/v1/tokens", { token: owner.token, body: { scopes: ["person"] } });
    const second = { id: owner.id, token: made.body.token };
    const { attachment_id } = await uploaded(owner, WORDS);
    const url = await urlOf(second, attachment_id);
    expect((await fetchFile(url, second)).status).toBe(200);
    expect(await refusedAs(url, owner)).toEqual([403, "forbidden"]);
    await call("DELETE", `/v1/tokens/${made.body.token_id}`, { token: owner.token });
    expect(await refusedAs(url, second)).toEqual([401, "unauthenticated"]);
  });

  test("SPACE-6 ATT-5 a member of the workspace has the files of its open spaces, a guest has not", async () => {
    const { owner } = await newWorkspace();
    const bob = await newPerson(owner, "Bob");
    const guest = await newPerson(owner, "Guest", "guest", [await newSpace(owner, "Guests")]);
    const space = await newSpace(owner, "Open", [], { visibility: "open" });
    const { attachment_id } = await uploaded(owner, WORDS);
    await say(owner, space, "", { attachments: [{ attachment_id }] });
    expect((await fetchFile(`/v1/attachments/${attachment_id}`, bob)).status).toBe(200);
    expect(await refusedAs(`/v1/attachments/${attachment_id}`, guest)).toEqual([404, "not_found"]);
  });

  test("ERR-3 ATT-5 what is not yours answers like what is not there, and costs as much", async () => {
    const { id, owner } = await newWorkspace();
    const bob = await newPerson(owner, "Bob");
    const stranger = (await newWorkspace()).owner;
    for (let i = 0; i < 3; i++)
      await newSpace(owner, `Open ${i}`, i === 0 ? [bob.id] : [], { visibility: "open" });
    const space = await newSpace(owner, "Private");
    const { attachment_id } = await uploaded(owner, WORDS);
    for (let i = 0; i < 3; i++) await say(owner, space, `${i}`, { attachments: [{ attachment_id }] });
    const ask = async (by: Party, path: string) => {
      const before = await roomStub(id).rowCounts();
      const { status, headers, body } = await call("GET", path, { token: by.token });
      const after = await roomStub(id).rowCounts();
      const shown = [...headers].filter(([name]) => name !== "x-request-id");
      return { status, body, shown, read: after.read - before.read };
    };
    // The first use of a token in an hour is noted: not part of what is compared.
    await ask(bob, "/v1/me");
    for (const rest of ["", "/url"]) {
      const missing = await ask(bob, `/v1/attachments/${newId("att")}${rest}`);
      expect(missing).toMatchObject({ status: 404, body: { code: "not_found" } });
      expect(await ask(bob, `/v1/attachments/${attachment_id}${rest}`)).toEqual(missing);
      const { read: _, ...answer } = missing;
      expect(await ask(stranger, `/v1/attachments/${attachment_id}${rest}`)).toMatchObject(answer);
      for (const odd of ["x", "%2e%2e", "..%2f..", "att_", `${attachment_id}%00`, "a".repeat(5000)])
        expect((await ask(bob, `/v1/attachments/${odd}${rest}`)).status).toBe(404);
    }
    // A post may not carry it either.
    const post = (file: string) => say(bob, space, "", { attachments: [{ attachment_id: file }] });
    await expect(post(attachment_id)).rejects.toThrow("not_found");
  });
});

describe("serving", () => {
  test("ATT-6 an image is shown in place, under a policy of its own", async () => {
    const { owner } = await newWorkspace();
    const png = sample("image.png");
    const { attachment_id } = await uploaded(owner, png, "Bild – 1.png");
    const { status, headers, bytes } = await fetchFile(`/v1/attachments/${attachment_id}`, owner);
    expect(status).toBe(200);
    expect(bytes).toEqual(png);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": String(png.byteLength),
      "content-disposition": "inline; filename=\"Bild _ 1.png\"; filename*=UTF-8''Bild%20%E2%80%93%201.png",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      etag: `"${await sha256(png)}"`,
      vary: "authorization, cookie",
      "cache-control": "private, max-age=600, no-transform",
      "x-request-id": expect.any(String),
    });
  });

  test.each([
    ["page.html", "<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8"],
    ["drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", "text/plain; charset=utf-8"],
    ["drawing.svg", "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "application/xml"],
    ["unknown.bin", "\0\0\0\0", "application/octet-stream"],
  ])("ATT-6 %s is never shown in place", async (filename, content, type) => {
    const { owner } = await newWorkspace();
    const { attachment_id } = await uploaded(owner, content, filename);
    const { headers } = await fetchFile(`/v1/attachments/${attachment_id}`, owner);
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("content-disposition")).toMatch(/^attachment; /);
    expect(headers.get("content-security-policy")).toBe("sandbox");
  });

  test("ATT-4 ATT-6 what is kept in a cache is kept no longer than the URL lives", async () => {
    const { owner } = await newWorkspace();
    await send(owner, "settings.set", { settings: { attachments: { url_ttl_s: 90 } } });
    const { url, id } = await fileIn(owner);
    const age = async (path: string) =>
      Number(
        /^private, max-age=(\d+), no-transform$/.exec(
          (await fetchFile(path, owner)).headers.get("cache-control") ?? "",
        )?.[1],
      );
    expect(await age(url)).toBeGreaterThan(80);
    expect(await age(url)).toBeLessThanOrEqual(90);
    expect(await age(`/v1/attachments/${id}`)).toBe(90);
  });

  test("ATT-6 conditions, HEAD and ranges that cannot be had", async () => {
    const { owner } = await newWorkspace();
    const { attachment_id, sha256: hash } = await uploaded(owner, WORDS);
    const path = `/v1/attachments/${attachment_id}`;
    const known = await fetchFile(path, owner, { "if-none-match": `"${hash}"`, range: "bytes=0-1" });
    expect([known.status, known.bytes.length, known.headers.get("etag")]).toEqual([304, 0, `"${hash}"`]);
    const other = await fetchFile(path, owner, { "if-none-match": '"other"' });
    expect(other.status).toBe(200);
    const stale = await fetchFile(path, owner, { range: "bytes=0-1", "if-range": '"other"' });
    expect([stale.status, stale.bytes.length]).toEqual([200, WORDS.length]);
    const fresh = await fetchFile(path, owner, { range: "bytes=0-1", "if-range": `"${hash}"` });
    expect([fresh.status, fresh.bytes.length]).toEqual([206, 2]);
    const head = await fetchFile(path, owner, { range: "bytes=0-1" }, "HEAD");
    expect([head.status, head.bytes.length, head.headers.get("accept-ranges")]).toEqual([200, 0, "bytes"]);
    const beyond = await fetchFile(path, owner, { range: `bytes=${WORDS.length}-` });
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get("content-range")).toBe(`bytes */${WORDS.length}`);
    expect(JSON.parse(new TextDecoder().decode(beyond.bytes))).toMatchObject({
      type: "error",
      code: "invalid",
    });
    expect(beyond.headers.get("cache-control")).toBe("no-store");
  });

  test("ATT-6 any range brings what a slice of the bytes would", async () => {
    const { owner } = await newWorkspace();
    const size = 5000;
    const bytes = bytesOf(size);
    const { attachment_id } = await uploaded(owner, bytes);
    const at = fc.oneof(fc.nat(size + 10), fc.constantFrom(0, 1, size - 1, size, size + 1));
    const range = fc.oneof(
      fc.tuple(at, at).map(([a, b]) => ({ text: `${a}-${b}`, from: a, to: b + 1, isRange: b >= a })),
      at.map((a) => ({ text: `${a}-`, from: a, to: size, isRange: true })),
      at.map((a) => ({
        text: `-${a}`,
        from: a === 0 ? size : Math.max(0, size - a),
        to: size,
        isRange: true,
      })),
    );
    await fc.assert(
      fc.asyncProperty(range, async ({ text, from, to, isRange }) => {
        const answer = await fetchFile(`/v1/attachments/${attachment_id}`, owner, { range: `bytes=${text}` });
        const headers = {
          range: answer.headers.get("content-range"),
          length: answer.headers.get("content-length"),
        };
        const last = Math.min(to, size) - 1;
        if (!isRange) expect([answer.status, answer.bytes]).toEqual([200, bytes]);
        else if (from >= size) expect([answer.status, headers.range]).toEqual([416, `bytes */${size}`]);
        else {
          expect([answer.status, answer.bytes]).toEqual([206, bytes.slice(from, to)]);
          expect(headers).toEqual({
            range: `bytes ${from}-${last}/${size}`,
            length: String(last + 1 - from),
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  test("ATT-9 a person's session is enough, from the page's own requests", async () => {
    const { owner } = await newWorkspace();
    const { id } = await fileIn(owner);
    const cookie = `__Host-bullpen=${owner.token}`;
    const { status } = await fetchFile(`/v1/attachments/${id}`, undefined, { cookie });
    expect(status).toBe(200);
    const upload = (origin: string) =>
      call("POST", "/v1/attachments?filename=a.txt", { raw: "x", headers: { cookie, origin } });
    expect((await upload(ORIGIN)).status).toBe(201);
    expect((await upload("https://elsewhere.test")).status).toBe(403);
  });
});
