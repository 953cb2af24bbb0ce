/**
 * Attachments as the room knows them (ATT): which bytes lie where, who may have them, and what the bucket still
 * has to give up. The gateway moves the bytes; whatever it writes there is a debt here first, so that half an
 * upload leaves nothing behind.
 */
import type * as z from "zod";
import { cleanFilename, FILENAME_BYTES } from "../../src/shared/rules/filenames.ts";
import type { attachmentUploaded } from "../../src/shared/wire/http.ts";
import { defaultSettings } from "../../src/shared/wire/index.ts";
import type { Alarms } from "../kit/alarms.ts";
import type { Db } from "../kit/db.ts";
import { notFound, refuse } from "../kit/result.ts";
import { isSigned, type SignedUrl } from "../kit/sign.ts";
import { mustSpeak } from "./access/authenticate.ts";
import { type Round, urlFor, viewerOf } from "./deliver/viewer.ts";
import type { Clock } from "./ids.ts";
import { tellChanged } from "./office/chat.ts";
import { mayUse } from "./store/files.ts";
import { attachment } from "./store/messages.ts";
import { workspaceOf } from "./store/participants.ts";
import type { Caller } from "./types.ts";
import { writeAsRoom } from "./write.ts";
import type { Effect, Ledger, Written } from "./writer.ts";

/** An upload that has not come to its end by then is over: its bytes are swept out. */
export const UPLOAD_MS = 3_600_000;
/** How many keys one delete takes out; the bucket allows 1,000. */
const SWEEP_KEYS = 100;

export interface UploadAsked {
  filename: string;
  /** What `content-length` says, where it says anything. */
  declared?: number | undefined;
}

export interface UploadTicket {
  /** Where in the bucket the bytes go. */
  key: string;
  filename: string;
  max_bytes: number;
}

/** What the gateway has written to the bucket and found in it. */
export interface StoredFile {
  key: string;
  filename: string;
  mime_type: string;
  byte_size: number;
  sha256: string;
  width?: number | undefined;
  height?: number | undefined;
  duration_ms?: number | undefined;
}
/** What an upload came to, and where its bytes lie: elsewhere, when they were there before. */
export interface Finished {
  uploaded: z.infer<typeof attachmentUploaded>;
  key: string;
}

/** Where a file's bytes lie and how they are served. */
export interface Served {
  key: string;
  filename: string;
  mime_type: string;
  byte_size: number;
  sha256: string;
  /** How long who has fetched it may keep it: as long as a URL lives (ATT-5). */
  max_age_s: number;
}

export interface FileAsked {
  attachment_id: string;
  /** What a signed URL says; without it a person asks by their standing (ATT-9). */
  signed?: { exp: string; sig: string } | undefined;
}

const written = (effects: Effect[]): Written => ({ receipts: [], rows: [], effects });

/** Takes on an upload before its first byte (ATT-1). */
export function beginUpload(
  { db, clock }: Ledger,
  asked: UploadAsked,
): { ticket: UploadTicket; written: Written } {
  const filename = cleanFilename(asked.filename);
  if (filename === undefined)
    refuse(
      "invalid",
      `Name the file: ?filename= with 1 to ${FILENAME_BYTES} bytes and no control characters.`,
      { details: [{ path: "filename", message: `must be a file's name of 1 to ${FILENAME_BYTES} bytes` }] },
    );
  const { id, settings } = workspaceOf(db);
  const { max_bytes } = settings.attachments;
  if (asked.declared === 0) refuseEmpty();
  if (asked.declared !== undefined && asked.declared > max_bytes) refuseTooLarge(max_bytes);
  // Named like the attachment that it will be.
  const key = `${id}/${clock.mint("att").slice("att_".length)}`;
  const due = clock.now() + UPLOAD_MS;
  db.run("INSERT INTO bucket_debts (r2_key, due_at) VALUES (?, ?)", key, due);
  return {
    ticket: { key, filename, max_bytes },
    written: written([{ kind: "alarm", name: "bucket", at: due }]),
  };
}

export function refuseEmpty(): never {
  refuse("invalid", "The file is empty. Send its bytes as the body.");
}

export function refuseTooLarge(max: number): never {
  refuse("too_large", `A file is at most ${max} bytes here. Send a smaller one.`);
}

/** Notes a multipart upload, whose parts would otherwise outlive a gateway that dies between two of them. */
export function noteParts(db: Db, key: string, uploadId: string): null {
  db.run("UPDATE bucket_debts SET upload_id = ? WHERE r2_key = ?", uploadId, key);
  return null;
}

/** Takes in what was stored: the same bytes once, however often they are sent (ATT-3). */
export function finishUpload(
  { storage, db, clock }: Ledger,
  caller: Caller,
  file: StoredFile,
): { finished: Finished; written: Written } {
  return storage.transactionSync(() => {
    const now = clock.now();
    const debt = db.one<{ due_at: number }>("SELECT due_at FROM bucket_debts WHERE r2_key = ?", file.key);
    // Overdue, its bytes may be on their way out of the bucket.
    if (!debt || debt.due_at <= now)
      refuse("unavailable", "This upload took longer than an hour and was given up. Send the file again.");
    const effects: Effect[] = [];
    const known = db.one<{ r2_key: string; missing: number }>(
      "SELECT r2_key, missing FROM blobs WHERE sha256 = ?",
      file.sha256,
    );
    const same = known?.missing === 0 ? known : undefined;
    if (known && !same) {
      // The bytes of an imported file, which had not come (LOG-6).
      db.run("DELETE FROM bucket_debts WHERE r2_key = ?", file.key);
      db.run("UPDATE blobs SET r2_key = ?, missing = 0 WHERE sha256 = ?", file.key, file.sha256);
    } else if (same) {
      db.run("UPDATE bucket_debts SET due_at = ?, upload_id = NULL WHERE r2_key = ?", now, file.key);
      effects.push({ kind: "alarm", name: "bucket", at: now });
    } else {
      db.run("DELETE FROM bucket_debts WHERE r2_key = ?", file.key);
      db.run(
        `INSERT INTO blobs (sha256, r2_key, byte_size, mime_type, width, height, duration_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        file.sha256,
        file.key,
        file.byte_size,
        file.mime_type,
        file.width ?? null,
        file.height ?? null,
        file.duration_ms ?? null,
      );
    }
    const id = `att_${file.key.slice(file.key.indexOf("/") + 1)}`;
    const heard = db.one<{ transcript: string }>(
      "SELECT transcript FROM attachments WHERE sha256 = ? AND transcript IS NOT NULL LIMIT 1",
      file.sha256,
    );
    db.run(
      `INSERT INTO attachments (id, sha256, filename, uploaded_by, transcript, created_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      id,
      file.sha256,
      file.filename,
      caller.participant.id,
      heard?.transcript ?? null,
      now,
    );
    const uploaded = attachment(db, id);
    if (!uploaded) throw new Error("an attachment just written is not there");
    return { finished: { uploaded, key: same?.r2_key ?? file.key }, written: written(effects) };
  });
}

/** Where a file lies, for whom a signed URL was made, or for a person who may see it (ATT-4, ATT-9). */
export function fileFor(round: Round, caller: Caller, { attachment_id, signed }: FileAsked): Served {
  if (signed) checkUrl(round, caller, attachment_id, signed);
  else {
    if (caller.participant.kind !== "person")
      refuse("forbidden", "A harness fetches files by the signed url that came with the message.");
    mustSee(round.db, caller, attachment_id);
  }
  const row = round.db.one<Omit<Served, "max_age_s">>(
    `SELECT b.r2_key AS key, a.filename, b.mime_type, b.byte_size, b.sha256
     FROM attachments a JOIN blobs b ON b.sha256 = a.sha256 WHERE a.id = ? AND b.missing = 0`,
    attachment_id,
  );
  if (!row) notFound("attachment");
  const left = signed ? Number(signed.exp) - Math.floor(round.now / 1000) : round.urlTtlS;
  return { ...row, max_age_s: left };
}

export function fileByHash(db: Db, sha256: string): { key: string; byte_size: number } {
  const row = db.one<{ key: string; byte_size: number }>(
    "SELECT r2_key AS key, byte_size FROM blobs WHERE sha256 = ? AND missing = 0",
    sha256,
  );
  return row ?? notFound("attachment");
}

/** A URL is its bearer's, unchanged, and in time: refused in this order (ATT-4). */
function checkUrl(
  { keys, workspaceId, now }: Round,
  { tokenId }: Caller,
  attachmentId: string,
  { exp, sig }: { exp: string; sig: string },
): void {
  const expires = Number(exp);
  // The number is signed, not its spelling: only the one that we write counts.
  const claims = { workspaceId, attachmentId, expires, tokenId };
  if (!Number.isSafeInteger(expires) || String(expires) !== exp || !isSigned(keys, claims, sig))
    refuse(
      "forbidden",
      "This URL was made for another token, or was changed. Ask /v1/attachments/<id>/url for one of yours.",
    );
  if (expires * 1000 <= now)
    refuse("gone", "This URL has run out. Ask /v1/attachments/<id>/url for a fresh one.");
}

const TEN_MINUTES_S = defaultSettings().attachments.url_ttl_s;

/** How long URLs live: as the workspace has set it, else as the deployment has (ATT-4). */
export function urlTtlS(set: number, deployed: string): number {
  const seconds = Number(deployed);
  const isOurs = set === TEN_MINUTES_S && Number.isInteger(seconds) && seconds > 0 && seconds <= 86_400;
  return isOurs ? seconds : set;
}

/** A fresh URL for who may see the file (ATT-9). */
export function freshUrl(round: Round, caller: Caller, attachmentId: string): SignedUrl {
  mustSee(round.db, caller, attachmentId);
  const viewer = viewerOf(round.db, caller.participant, caller.tokenId, caller.origin);
  return urlFor(round, viewer, attachmentId);
}

function mustSee(db: Db, caller: Caller, attachmentId: string): void {
  mustSpeak(caller);
  if (!mayUse(db, caller.participant, attachmentId)) notFound("attachment");
}

/**
 * What a transcriber heard: kept with every upload of the same bytes, and told where a message carries one of
 * them already (ATT-7). The words stand with the attachment, not in the log (LOG-4).
 */
export function takeTranscript(ledger: Ledger, attachmentId: string, transcript: string): Written {
  return writeAsRoom(ledger, (w) => {
    const waiting = w.db.all<{ id: string }>(
      `SELECT id FROM attachments WHERE transcript IS NULL
       AND sha256 = (SELECT sha256 FROM attachments WHERE id = ?)`,
      attachmentId,
    );
    for (const { id } of waiting) {
      w.db.run("UPDATE attachments SET transcript = ? WHERE id = ?", transcript, id);
      for (const { space_id, message_id } of w.db.all<{ space_id: string; message_id: string }>(
        "SELECT space_id, message_id FROM attachment_uses WHERE attachment_id = ?",
        id,
      )) {
        w.append("file.transcribed", { spaceId: space_id, body: { message_id, attachment_id: id } });
        tellChanged(w, message_id);
      }
    }
  });
}

export interface Sweeping {
  db: Db;
  clock: Clock;
  bucket: R2Bucket;
  alarms: Alarms;
}

/** Takes out of the bucket what has no row to keep it, and comes again for the rest. Safe to run twice. */
export async function sweepBucket({ db, clock, bucket, alarms }: Sweeping): Promise<void> {
  // Marked before anything is awaited: an upload that ends meanwhile finds that it came too late.
  db.run("UPDATE bucket_debts SET due_at = 0 WHERE due_at <= ? AND due_at > 0", clock.now());
  const due = db.all<{ r2_key: string; upload_id: string | null }>(
    "SELECT r2_key, upload_id FROM bucket_debts WHERE due_at = 0 LIMIT ?",
    SWEEP_KEYS,
  );
  for (const { r2_key, upload_id } of due)
    if (upload_id !== null) await abortParts(bucket, r2_key, upload_id);
  if (due.length > 0) await bucket.delete(due.map((d) => d.r2_key));
  for (const { r2_key } of due) db.run("DELETE FROM bucket_debts WHERE r2_key = ?", r2_key);
  const next = db.one<{ due_at: number | null }>("SELECT min(due_at) AS due_at FROM bucket_debts")?.due_at;
  if (typeof next === "number") alarms.by("bucket", Math.max(next, clock.now() + 1));
}

/** R2's code for a multipart upload that was completed or aborted before. */
const NO_SUCH_UPLOAD = "(10024)";

async function abortParts(bucket: R2Bucket, key: string, uploadId: string): Promise<void> {
  try {
    await bucket.resumeMultipartUpload(key, uploadId).abort();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes(NO_SUCH_UPLOAD))) throw error;
  }
}
