/** Attachments: up as bytes, down by a signed URL that is renewed when it has run out (ATT-4, ATT-9). */
import type * as z from "zod";
import type { attachmentUploaded, attachmentUrl } from "../shared/wire/http.ts";
import type { MessageNew } from "../shared/wire/message.ts";
import { BullpenError } from "./errors.ts";
import type { BullpenHttp } from "./http.ts";

/** What an upload answers: the id that a post names, and what the server found in the bytes (ATT-1). */
export type Uploaded = z.infer<typeof attachmentUploaded>;
/** What can be uploaded. A stream is sent as it comes, without holding it in memory. */
export type Content = Uint8Array | ArrayBuffer | Blob | ReadableStream | string;

export interface UploadOptions {
  filename: string;
  signal?: AbortSignal | undefined;
}

/** The part of an attachment or of a room's file that a download needs. */
export interface Downloadable {
  attachment_id: string;
  url?: string | undefined;
  url_expires_at?: string | undefined;
}

/** A URL with less than this left is renewed before it is used. */
const NEAR_EXPIRY_MS = 30_000;

/** Uploads a file; its type is found from its bytes by the server (ATT-2). */
export function upload(http: BullpenHttp, content: Content, options: UploadOptions): Promise<Uploaded> {
  return http.json<Uploaded>("POST", "/v1/attachments", {
    query: { filename: options.filename },
    content,
    signal: options.signal,
  });
}

/** Fetches a file's bytes as a `Response`, renewing its URL first when it is near its end, or after a refusal. */
export async function download(
  http: BullpenHttp,
  file: Downloadable,
  now: number,
  signal?: AbortSignal,
): Promise<Response> {
  const renewFirst = needsRenewal(file, now);
  const fresh = renewFirst ? await renewed(http, file) : file;
  try {
    return await fetchSigned(http, fresh, signal);
  } catch (error) {
    // 403 too: the token may have been exchanged since the URL was made for the old one.
    const stale = error instanceof BullpenError && (error.status === 403 || error.status === 410);
    if (!stale || renewFirst) throw error;
    return await fetchSigned(http, await renewed(http, file), signal);
  }
}

/** Whether a URL is missing, spent or about to be. */
export function needsRenewal(file: Downloadable, now: number): boolean {
  if (file.url === undefined) return true;
  const expires = Date.parse(file.url_expires_at ?? "");
  return Number.isFinite(expires) && expires - now < NEAR_EXPIRY_MS;
}

/** The file with a fresh URL. */
export async function renewed<F extends Downloadable>(http: BullpenHttp, file: F): Promise<F> {
  const path = `/v1/attachments/${encodeURIComponent(file.attachment_id)}/url`;
  return { ...file, ...(await http.get<z.infer<typeof attachmentUrl>>(path)) };
}

/** The message with every URL in it good for a while: what waited in a queue may hold spent ones (ATT-9). */
export async function withFreshUrls(http: BullpenHttp, event: MessageNew, now: number): Promise<MessageNew> {
  const fresh = <F extends Downloadable>(files: F[]): Promise<F[]> =>
    Promise.all(files.map((file) => freshened(http, file, now)));
  const { attachments, replying_to, context } = event;
  return {
    ...event,
    ...(attachments ? { attachments: await fresh(attachments) } : {}),
    ...(replying_to?.attachments
      ? { replying_to: { ...replying_to, attachments: await fresh(replying_to.attachments) } }
      : {}),
    ...(context?.files ? { context: { ...context, files: await fresh(context.files) } } : {}),
  };
}

/** A file that cannot be renewed may be gone; the turn goes on, and a download will say so. */
async function freshened<F extends Downloadable>(http: BullpenHttp, file: F, now: number): Promise<F> {
  if (!needsRenewal(file, now)) return file;
  try {
    return await renewed(http, file);
  } catch {
    return file;
  }
}

async function fetchSigned(http: BullpenHttp, file: Downloadable, signal?: AbortSignal): Promise<Response> {
  if (file.url === undefined) throw new BullpenError("not_found", "There is no URL for this attachment.");
  return await http.request("GET", new URL(file.url), { signal });
}
