/** Answers that fit a frame, whatever they list (OFF-1). */
import { byteLength } from "./text.ts";

/** The largest answer, in bytes of its JSON: the frame around it has ids of up to 200 characters. */
export const MOST_ANSWER = 1_048_576 - 4096;

/** Whether a value has at most so many bytes as JSON. */
export function isWithin(value: unknown, bytes: number): boolean {
  const text = JSON.stringify(value) ?? "";
  // A UTF-16 unit is three bytes at most.
  return text.length * 3 <= bytes || byteLength(text) <= bytes;
}

/** As many of the first as a list in so many bytes of JSON may have; the rest is not even asked for. */
export function firstThatFit<T>(list: Iterable<T>, bytes: number): T[] {
  const kept: T[] = [];
  let left = bytes - 1;
  for (const one of list) {
    left -= byteLength(JSON.stringify(one) ?? "null") + 1;
    if (left < 0) break;
    kept.push(one);
  }
  return kept;
}
