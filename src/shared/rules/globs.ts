/** Globs over dotted verbs (POL-1): `*` is one part, `**` any number of parts, all else itself. */

const ANY = "**";
const ONE = "*";
const MOST_CHARACTERS = 200;
const MOST_PARTS = 20;
// What other globs mean by these is not meant here, and a rule that looks as if it matched is worse than none.
const NO_PART = /[*?[\]{}()!,\\\s\p{C}]/u;

/** What is wrong with a glob, in words for who wrote it; `undefined` when it is good. */
export function globFault(glob: unknown): string | undefined {
  if (typeof glob !== "string") return "must be a string such as `email.*`";
  if (glob.length > MOST_CHARACTERS) return `has more than ${MOST_CHARACTERS} characters`;
  const parts = glob.split(".");
  if (parts.length > MOST_PARTS) return `has more than ${MOST_PARTS} parts`;
  for (const part of parts) {
    if (part === "") return "has an empty part: write words with one dot between them, such as `email.send`";
    if (part === ONE || part === ANY) continue;
    if (part.includes("*"))
      return `has a star within \`${part}\`: \`*\` stands for one whole part and \`**\` for any number of them`;
    if (NO_PART.test(part)) return `has a character in \`${part}\` that no part of a glob may have`;
  }
  return undefined;
}

/**
 * Whether a verb is one that a glob means. Letter case and compatibility forms do not count: `Payment.Send` must
 * not slip by a rule for `payment.*`. Steps: at most the parts of the one times the parts of the other.
 */
export function matchesGlob(glob: string, verb: string): boolean {
  const wanted = partsOf(glob);
  const parts = partsOf(verb);
  let at = 0;
  let next = 0;
  // After a mismatch only the last `**` has to take one part more: an earlier one could not do better.
  let anyAt = -1;
  let anyTook = 0;
  while (next < parts.length) {
    if (wanted[at] === ANY) {
      anyAt = at;
      anyTook = next;
      at += 1;
    } else if (at < wanted.length && (wanted[at] === ONE || wanted[at] === parts[next])) {
      at += 1;
      next += 1;
    } else if (anyAt >= 0) {
      anyTook += 1;
      next = anyTook;
      at = anyAt + 1;
    } else return false;
  }
  while (wanted[at] === ANY) at += 1;
  return at === wanted.length;
}

/**
 * Whether every verb that `narrow` means is surely one that `wide` means. Never true wrongly; false for a few
 * pairs that do (`*.**` means all that `**.*` does).
 */
export function coversGlob(wide: string, narrow: string): boolean {
  const outer = partsOf(wide);
  const inner = partsOf(narrow);
  // covers[j]: the outer parts looked at so far cover the first j inner ones.
  let covers = inner.map(() => false);
  covers.unshift(true);
  for (const part of outer) {
    const before = covers;
    covers = [part === ANY && before[0] === true];
    for (const [j, other] of inner.entries()) {
      const same = part === other || (part === ONE && other !== ANY);
      covers.push(part === ANY ? before[j + 1] === true || covers[j] === true : same && before[j] === true);
    }
  }
  return covers.at(-1) === true;
}

function partsOf(dotted: string): string[] {
  return dotted.normalize("NFKC").toLowerCase().split(".");
}
