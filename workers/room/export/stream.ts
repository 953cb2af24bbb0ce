/** An export as a stream of bytes, made no faster than it is read (LOG-6, OPS-4). */
import { createHash } from "node:crypto";
import type { ExportedLine } from "../../../src/shared/wire/index.ts";

/** So much is made at once: enough to keep a connection busy, little beside an object's memory. */
const CHUNK_BYTES = 64 * 1024;

export interface Parts {
  structure: Iterable<ExportedLine>;
  rest: Iterable<ExportedLine>;
}

/**
 * The lines as NDJSON, and at their end how many they were and their hash. `structure` is written out before
 * this returns; `onFault` is told what goes wrong later, when the answer has begun and can only be cut short.
 */
export function exportStream({ structure, rest }: Parts, onFault: (error: unknown) => void): ReadableStream {
  const encoder = new TextEncoder();
  const hash = createHash("sha256");
  let count = 0;
  const bytesOf = (line: ExportedLine): Uint8Array => {
    const bytes = encoder.encode(`${JSON.stringify(line)}\n`);
    hash.update(bytes);
    count += 1;
    return bytes;
  };
  const chunks = chunked(map(structure, bytesOf));
  const ready = [...chunks];
  const later = chunked(map(rest, bytesOf));
  let ended = false;
  const next = (): Uint8Array | undefined => {
    const chunk = ready.shift() ?? later.next().value;
    if (chunk) return chunk;
    if (ended) return undefined;
    ended = true;
    const end: ExportedLine = { type: "end", lines: count, sha256: hash.digest("hex") };
    return encoder.encode(`${JSON.stringify(end)}\n`);
  };
  // Between objects only streams of bytes travel.
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      try {
        const chunk = next();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      } catch (error) {
        onFault(error);
        controller.error(error);
      }
    },
  });
}

function* map<T, U>(items: Iterable<T>, as: (item: T) => U): Generator<U> {
  for (const item of items) yield as(item);
}

function* chunked(lines: Iterable<Uint8Array>): Generator<Uint8Array, undefined> {
  let held: Uint8Array[] = [];
  let size = 0;
  for (const line of lines) {
    held.push(line);
    size += line.byteLength;
    if (size < CHUNK_BYTES) continue;
    yield joined(held, size);
    held = [];
    size = 0;
  }
  if (size > 0) yield joined(held, size);
  return undefined;
}

function joined(parts: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}
