import { mixesLookalikes } from "./scripts.ts";

// A letter carries its combining marks: "é" written as two code points is one character of a handle.
const HANDLE = /^\p{L}\p{M}*(?:\p{L}\p{M}*|[\p{Nd}_-])+$/u;

/** Words that are nobody's handle as they stand (ADDR-1), folded. */
const RESERVED: ReadonlySet<string> = new Set(["everyone", "here", "all", "system"]);

/**
 * The form in which handles are compared (ADDR-1): NFKC and full case folding, with the code points that Unicode
 * tells to ignore (joiners, variation selectors) left out. Idempotent. `ß` and `ss`, `ς` and `σ`, and the
 * dotless and the dotted `i` are alike.
 */
export function foldHandle(handle: string): string {
  // Most handles; every message with an @ folds those of the whole space.
  if (/^[\x21-\x7e]*$/.test(handle)) return handle.toLowerCase();
  return (
    handle
      .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
      .normalize("NFKC")
      // Upper case spells out what has several lower-case forms; the first lower case is for the capital ẞ.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      // JavaScript lower-cases a sigma by what stands around it, so the same word could fold in two ways.
      .replaceAll("ς", "σ")
      .normalize("NFKC")
  );
}

/**
 * The handle that a name asks for (ADDR-1): the whole name without its spaces, else its first word, else none.
 * A word is a letter and then letters, digits, `_` or `-`, two characters at least, and does not mix Latin, Greek
 * or Cyrillic letters. A reserved word (`Everyone`) is returned as it is: `freeHandle` numbers it.
 */
export function handleOf(name: string): string | undefined {
  const words = name
    .replace(/[\u200c\u200d]/g, "")
    .split(/\s+/u)
    .filter((word) => word !== "");
  return [words.join(""), words[0] ?? ""].find((word) => HANDLE.test(word) && !mixesLookalikes(word));
}

/**
 * The first of `base`, `base2`, `base3`, … that is free (ADDR-1). `isTaken` is asked with the folded form and
 * answers for the space's handles and those not yet given again; it must not be true of every number. Reserved
 * words count as taken.
 */
export function freeHandle(base: string, isTaken: (folded: string) => boolean): string {
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? base : `${base}${n}`;
    const folded = foldHandle(candidate);
    if (!RESERVED.has(folded) && !isTaken(folded)) return candidate;
  }
}
