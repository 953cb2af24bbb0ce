/**
 * An upload on its way into the bucket (ATT-1): hashed, measured and looked at as it streams, holding one part of
 * it at a time. What does not come to a good end leaves no object behind.
 */
import { createHash } from "node:crypto";
import { refuse } from "../../kit/result.ts";
import { refuseEmpty, refuseTooLarge } from "../../room/uploads.ts";
import { openTextCheck } from "./sniff.ts";

/** The bucket's smallest part: all parts but the last must be equal, and none of them smaller. */
export const PART_BYTES = 5 * 1024 * 1024;
/** How much is read at once, into a buffer that is used again and again. */
const READ_BYTES = 64 * 1024;

export interface Intake {
  key: string;
  maxBytes: number;
  /** What `content-length` says. */
  declared?: number | undefined;
  /** Is given the first part of the file, or the whole of a small one, before it is stored. */
  look(head: Uint8Array, isWhole: boolean): Promise<void>;
  /** Is told of a multipart upload before its first part. */
  inParts(uploadId: string): Promise<void>;
}

export interface Stored {
  byte_size: number;
  sha256: string;
  /** Whether all of it was UTF-8 text (ATT-2). */
  isText: boolean;
}

/** @throws Refused when it is empty, over the limit, or not as long as it was declared */
export async function store(
  bucket: R2Bucket,
  body: ReadableStream<Uint8Array>,
  intake: Intake,
): Promise<Stored> {
  const hash = createHash("sha256");
  const text = openTextCheck();
  const part = openPart(intake.declared);
  const reader = body.getReader({ mode: "byob" });
  let read = new Uint8Array(READ_BYTES);
  let parts: Parts | undefined;
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read(read);
      if (done) break;
      // Reading took the buffer away; it comes back with what was read.
      read = new Uint8Array(value.buffer);
      size += value.byteLength;
      if (size > intake.maxBytes) refuseTooLarge(intake.maxBytes);
      hash.update(value);
      text.push(value);
      for (let taken = 0; taken < value.byteLength; ) {
        if (part.bytes().byteLength === PART_BYTES) {
          parts ??= await openParts(bucket, intake, part.bytes());
          await parts.add(part.bytes());
          part.clear();
        }
        taken += part.fill(value.subarray(taken));
      }
    }
    if (size === 0) refuseEmpty();
    if (intake.declared !== undefined && intake.declared !== size)
      refuse(
        "invalid",
        `content-length says ${intake.declared}, but ${size} bytes came. Send the file again.`,
      );
    if (parts) await parts.end(part.bytes());
    else {
      await intake.look(part.bytes(), true);
      await bucket.put(intake.key, part.bytes());
    }
    return { byte_size: size, sha256: hash.digest("hex"), isText: text.end() };
  } catch (error) {
    await Promise.allSettled([parts?.abort(), reader.cancel()]);
    throw error;
  }
}

/** A buffer that grows to one part and is used again for the next: the bucket has read it when a put is done. */
function openPart(declared = READ_BYTES) {
  let buffer = new ArrayBuffer(Math.min(Math.max(declared, 1), PART_BYTES));
  let length = 0;
  return {
    bytes: () => new Uint8Array(buffer, 0, length),
    clear() {
      length = 0;
    },
    /** Takes what has room; answers how much that was. */
    fill(chunk: Uint8Array): number {
      const taken = chunk.subarray(0, PART_BYTES - length);
      const needed = length + taken.byteLength;
      if (needed > buffer.byteLength)
        buffer = buffer.transfer(Math.min(PART_BYTES, Math.max(needed, buffer.byteLength * 2)));
      new Uint8Array(buffer).set(taken, length);
      length = needed;
      return taken.byteLength;
    },
  };
}

interface Parts {
  add(bytes: Uint8Array): Promise<void>;
  end(last: Uint8Array): Promise<void>;
  abort(): Promise<void>;
}

async function openParts(bucket: R2Bucket, intake: Intake, head: Uint8Array): Promise<Parts> {
  await intake.look(head, false);
  const upload = await bucket.createMultipartUpload(intake.key);
  try {
    await intake.inParts(upload.uploadId);
  } catch (error) {
    await upload.abort();
    throw error;
  }
  const done: R2UploadedPart[] = [];
  const add = async (bytes: Uint8Array) => {
    done.push(await upload.uploadPart(done.length + 1, bytes));
  };
  return {
    add,
    async end(last) {
      await add(last);
      await upload.complete(done);
    },
    abort: () => upload.abort(),
  };
}
