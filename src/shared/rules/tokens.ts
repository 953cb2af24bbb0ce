import { spacelessLetter } from "./scripts.ts";

const TOKEN = new RegExp(`${spacelessLetter}\\p{M}*|(?:(?!${spacelessLetter})[\\p{L}\\p{Nd}]\\p{M}*)+`, "gu");

/**
 * The words of a text in order, repeats included, as the guard compares them and the search finds them (GUARD-3):
 * NFKC, lower case, runs of letters and digits, each letter with its combining marks; a letter of Han, Kana or
 * Thai is a word by itself. Linear in the text.
 */
export function wordTokens(text: string): string[] {
  const plain = text.normalize("NFKC").toLowerCase().normalize("NFKC");
  return plain.match(TOKEN) ?? [];
}

/**
 * How much alike two texts are by their token sets (GUARD-3): intersection over union, 0 to 1. Two empty ones
 * have nothing in common: 0. Repeats count once; a `Set` is used as it is, so the caller may keep one a text.
 */
export function overlap(a: Iterable<string>, b: Iterable<string>): number {
  const one = setOf(a);
  const other = setOf(b);
  let shared = 0;
  for (const token of one) if (other.has(token)) shared += 1;
  const union = one.size + other.size - shared;
  return union === 0 ? 0 : shared / union;
}

function setOf(tokens: Iterable<string>): ReadonlySet<string> {
  return tokens instanceof Set ? tokens : new Set(tokens);
}
