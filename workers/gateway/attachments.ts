/** Files up and down (ATT): the bytes pass through here, who may have them is the room's to say. */
import { Hono } from "hono";
import { errorOf } from "../../src/shared/wire/errors.ts";
import { uploadQuery } from "../../src/shared/wire/query.ts";
import { notFound } from "../kit/result.ts";
import { type Finished, refuseEmpty, type Served, type UploadTicket } from "../room/uploads.ts";
import { type C, credentialOf, type GatewayEnv, must } from "./context.ts";
import { contentType, disposition } from "./files/headers.ts";
import { imageFacts, isMedia, type MediaFacts, mediaInBucket, mediaInMemory } from "./files/media.ts";
import { isKnown, rangeHolds, wantedOf } from "./files/ranges.ts";
import { sniff, typeOf } from "./files/sniff.ts";
import { store } from "./files/store.ts";
import { isVoiceNote, transcribe, transcriberOf } from "./files/transcribe.ts";
import { queryOf } from "./query.ts";

export const attachments = new Hono<GatewayEnv>();

attachments.post("/", async (c) => {
  const credential = credentialOf(c);
  const { filename, wait } = queryOf(c, uploadQuery);
  const length = c.req.header("content-length");
  const declared = length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined;
  const ticket = must(await c.get("room").uploadBegin(credential, { filename, declared }));
  const work = upload(c, ticket, declared);
  // Whoever hangs up half-way takes the request with them, but not the tidying up.
  c.executionCtx.waitUntil(work.catch(() => {}));
  const { uploaded, key } = await work;
  const transcript = await transcriptOf(c, uploaded, key, wait);
  return c.json({ ...uploaded, ...(transcript === undefined ? {} : { transcript }) }, 201);
});

/** Streams the body into the bucket, looks at it on the way, and has the room take it in (ATT-1 to ATT-3). */
async function upload(
  c: C,
  { key, filename, max_bytes }: UploadTicket,
  declared?: number,
): Promise<Finished> {
  const credential = credentialOf(c);
  const room = c.get("room");
  const { body } = c.req.raw;
  if (!body) refuseEmpty();
  let found: string | undefined;
  let facts: MediaFacts | undefined;
  const stored = await store(c.env.FILES, body, {
    key,
    maxBytes: max_bytes,
    declared,
    async inParts(uploadId) {
      must(await room.uploadInParts(credential, key, uploadId));
    },
    async look(head, isWhole) {
      found = await sniff(head);
      if (found === undefined) facts = {};
      else if (!isMedia(found)) facts = imageFacts(head, found);
      else if (isWhole) facts = await mediaInMemory(head, found);
    },
  });
  const { byte_size, sha256, isText } = stored;
  const sniffed = typeOf(found, isText);
  facts ??= await mediaInBucket(c.env.FILES, key, byte_size, sniffed);
  const { mime_type = sniffed, ...measures } = sniffed === found ? facts : {};
  return must(
    await room.uploadFinish(credential, { key, filename, mime_type, byte_size, sha256, ...measures }),
  );
}

/**
 * A voice note's transcript: begun with the upload, waited for as long as the caller says, and told in the room
 * when it comes later (ATT-7).
 */
async function transcriptOf(
  c: C,
  { attachment_id, mime_type, byte_size, transcript }: Finished["uploaded"],
  key: string,
  waitS: number,
): Promise<string | undefined> {
  const ai = transcriberOf(c.env);
  if (transcript !== undefined || !ai || !isVoiceNote({ mime_type, byte_size })) return transcript;
  const heard = (async () => {
    const text = await transcribe(ai, c.env.FILES, key);
    if (text !== undefined) must(await c.get("room").transcribed(attachment_id, text));
    return text;
  })().catch(() => {
    console.warn(JSON.stringify({ at: new Date().toISOString(), event: "no transcript", attachment_id }));
    return undefined;
  });
  c.executionCtx.waitUntil(heard);
  if (waitS === 0) return undefined;
  let timer: number | null = null;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, waitS * 1000, undefined);
  });
  return Promise.race([heard, late]).finally(() => clearTimeout(timer));
}

attachments.get("/:id/url", async (c) =>
  c.json(must(await c.get("room").fileUrl(credentialOf(c), c.req.param("id")))),
);

attachments.get("/:id", async (c) => {
  const asked = { attachment_id: c.req.param("id"), signed: signedPart(c) };
  const file = must(await c.get("room").file(credentialOf(c), asked));
  const headers = headersOf(file);
  const etag = headers.get("etag") ?? "";
  if (isKnown(c.req.header("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  if (c.req.method === "HEAD") {
    headers.set("content-length", String(file.byte_size));
    return new Response(null, { headers });
  }
  const range = rangeHolds(c.req.header("if-range"), etag) ? c.req.header("range") : undefined;
  const wanted = wantedOf(range, file.byte_size);
  if ("none" in wanted) {
    const message = `This file has ${file.byte_size} bytes. Ask for a range that begins within them.`;
    c.header("content-range", `bytes */${file.byte_size}`);
    return c.json(errorOf({ code: "invalid", message }), 416);
  }
  const { offset, length } = "all" in wanted ? { offset: 0, length: file.byte_size } : wanted;
  const object = await c.env.FILES.get(file.key, { range: { offset, length } });
  if (!object) notFound("attachment");
  headers.set("content-length", String(length));
  if ("all" in wanted) return new Response(object.body, { headers });
  headers.set("content-range", `bytes ${offset}-${offset + length - 1}/${file.byte_size}`);
  return new Response(object.body, { status: 206, headers });
});

/** `exp` and `sig` as we write them. Any other spelling is a changed URL, which the room refuses (ATT-4). */
function signedPart(c: C): { exp: string; sig: string } | undefined {
  const { exp, sig } = c.req.query();
  if (exp === undefined && sig === undefined) return undefined;
  const { pathname, search } = new URL(c.req.url);
  const isOurs = pathname.endsWith(`/${c.req.param("id")}`) && search === `?exp=${exp}&sig=${sig}`;
  return isOurs && exp !== undefined && sig !== undefined ? { exp, sig } : { exp: "", sig: "" };
}

/** What goes with the bytes so that a browser shows only what is safe to show, and only to this caller (ATT-6). */
function headersOf({ sha256, mime_type, filename, max_age_s }: Served): Headers {
  return new Headers({
    etag: `"${sha256}"`,
    "accept-ranges": "bytes",
    "content-type": contentType(mime_type),
    "content-disposition": disposition(mime_type, filename),
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    // Compressed on the way, its length, its ranges and its etag would be another's.
    "cache-control": `private, max-age=${max_age_s}, no-transform`,
    vary: "authorization, cookie",
  });
}
