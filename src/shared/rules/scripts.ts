// The runtime can test a letter for one script but not name its script, so the scripts in use are tried in turn.
const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  "Latin",
  "Cyrillic",
  "Greek",
  "Arabic",
  "Hangul",
  "Devanagari",
  "Hebrew",
  "Bengali",
  "Tamil",
  "Telugu",
  "Gujarati",
  "Kannada",
  "Malayalam",
  "Gurmukhi",
  "Oriya",
  "Sinhala",
  "Armenian",
  "Georgian",
  "Ethiopic",
  "Khmer",
  "Lao",
  "Myanmar",
  "Tibetan",
  "Mongolian",
  "Syriac",
  "Thaana",
  "Cherokee",
  "Canadian_Aboriginal",
  "Bopomofo",
  "Yi",
].map((name) => [name, new RegExp(`^\\p{Script=${name}}`, "u")] as const);

const SHARED = /^[\p{Script=Common}\p{Script=Inherited}]/u;

/** The pattern of one letter of a script that is written without spaces: Han, Kana or Thai (for the flag `u`). */
export const spacelessLetter = "(?=[\\p{L}\\p{Nl}])[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}]";
const SPACELESS = new RegExp(`^${spacelessLetter}`, "u");

/**
 * Whether a text starts with a letter of a script that is written without spaces between words: Han, Kana or
 * Thai. Such a letter may stand next to a mention (ADDR-2) and is a token of its own (GUARD-3).
 */
export function isSpaceless(letter: string): boolean {
  return SPACELESS.test(letter);
}

/**
 * The name of the script of a text's first letter (ADDR-2); `undefined` for a letter that scripts share (such as
 * the modifier apostrophe). Rare scripts are all called `other`, so that two of them count as one.
 */
export function scriptOf(letter: string): string | undefined {
  if (SHARED.test(letter)) return undefined;
  for (const [name, pattern] of SCRIPTS) if (pattern.test(letter)) return name;
  return "other";
}

/** The scripts of all the letters of a word, those of Han, Kana and Thai left out (ADDR-2). */
export function scriptsIn(word: string): Set<string> {
  const found = new Set<string>();
  for (const [letter] of word.matchAll(/\p{L}/gu)) {
    const script = isSpaceless(letter) ? undefined : scriptOf(letter);
    if (script !== undefined) found.add(script);
  }
  return found;
}

/** Whether a word has letters of more than one of Latin, Greek and Cyrillic, whose letters look alike (ADDR-1). */
export function mixesLookalikes(word: string): boolean {
  const plain = word.normalize("NFKC");
  const kinds = [/\p{Script=Latin}/u, /\p{Script=Greek}/u, /\p{Script=Cyrillic}/u];
  return kinds.filter((kind) => kind.test(plain)).length > 1;
}
