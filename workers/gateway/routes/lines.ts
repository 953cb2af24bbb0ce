/** A stream of bytes as text of whole lines, cut where enough of them came (LOG-6). */
import { refuse } from "../../kit/result.ts";

/** So much is sent to the room at once. */
const CHUNK_BYTES = 256 * 1024;
/** What one row of an object holds. */
const MAX_LINE_BYTES = 1_500_000;
const LF = 10;

/** Where the last line is not whole it is left out: the rest is still to come. */
export async function* wholeLines(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ text: string; count: number }> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    let rest = piece;
    while (rest.byteLength > 0) {
      // Cut behind the first line feed from where it is enough: the same bytes are always cut alike.
      const cut = rest.indexOf(LF, Math.max(0, CHUNK_BYTES - size));
      const taken = cut < 0 ? rest : rest.subarray(0, cut + 1);
      held.push(taken);
      size += taken.byteLength;
      rest = rest.subarray(taken.byteLength);
      if (size > MAX_LINE_BYTES)
        refuse("too_large", `A line of an export is at most ${MAX_LINE_BYTES - CHUNK_BYTES} bytes.`);
      if (cut < 0) continue;
      yield textOf(held, size);
      held = [];
      size = 0;
    }
  }
  const all = joined(held, size);
  const end = all.lastIndexOf(LF) + 1;
  if (end > 0) yield textOf([all.subarray(0, end)], end);
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

function textOf(parts: readonly Uint8Array[], size: number): { text: string; count: number } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(joined(parts, size));
    return { text, count: text.split("\n").length - 1 };
  } catch {
    refuse("malformed", "The export is not UTF-8.");
  }
}
