/**
 * Secrets in text that came from elsewhere, hidden before anybody is shown it (WORK-5, PIPE-4). What is hostile
 * may be long: every pattern begins at something fixed and goes on over one class of characters, so that the time
 * is in line with the length.
 */

/** What stands where a secret stood. */
export const MASK = "***";
/** A stored value that is shorter is a word like any other: hiding it would hide the text. */
const SHORTEST_STORED = 6;
/** A line of a stored value, such as a key's, from this length on. */
const SHORTEST_LINE = 16;

/** From and to, in units of the text. */
type Range = readonly [from: number, to: number];

/**
 * A text without its secrets: the stored ones as they are given, PEM blocks, keys of GitHub and AWS, bearer and
 * basic headers, names and passwords in URLs, and the values of `key=`, `token=`, `password=` pairs (WORK-5).
 */
export function mask(text: string, stored: readonly string[] = []): string {
  const ranges = [...storedIn(text, stored), ...blocksIn(text), ...keysIn(text), ...pairsIn(text)].toSorted(
    (a, b) => a[0] - b[0],
  );
  let made = "";
  let at = 0;
  let until = -1;
  for (const [from, to] of ranges) {
    if (from > until) {
      made += text.slice(at, from) + MASK;
      at = to;
    }
    until = Math.max(until, to);
    at = Math.max(at, to);
  }
  return made + text.slice(at);
}

function* storedIn(text: string, stored: readonly string[]): Generator<Range> {
  for (const value of new Set(stored.flatMap(forms)))
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length))
      yield [at, at + value.length];
}

/** As it was stored, without the white space around it, and its lines one by one: a log has it so. */
function forms(value: string): string[] {
  const lines = value.split("\n").map((line) => line.trim());
  return [
    ...[value, value.trim()].filter((form) => form.trim().length >= SHORTEST_STORED),
    ...lines.filter((line) => line.length >= SHORTEST_LINE),
  ];
}

const PEM = /-----(BEGIN|END) [A-Z0-9 ]{1,60}-----/g;

/** PEM blocks. One whose other end was cut off reaches to the text's edge, as far as its lines look like one. */
function* blocksIn(text: string): Generator<Range> {
  let begun: number | undefined;
  let after = 0;
  for (const { 0: line, 1: side, index } of text.matchAll(PEM)) {
    const end = index + line.length;
    if (side === "BEGIN") begun ??= index;
    else {
      yield [begun ?? blockAbove(text, index, after), end];
      begun = undefined;
      after = end;
    }
  }
  if (begun !== undefined) yield [begun, text.length];
}

/** Where the lines of a block begin that ends here and whose beginning is not there. */
function blockAbove(text: string, end: number, after: number): number {
  let begin = end;
  while (begin > after) {
    const lineEnd = text.lastIndexOf("\n", begin - 1);
    if (lineEnd < after) return /\s/.test(text.slice(after, begin).trim()) ? begin : after;
    const before = Math.max(after, text.lastIndexOf("\n", lineEnd - 1) + 1);
    if (!/^\s*[A-Za-z0-9+/=]{8,}\s*$/.test(text.slice(before, lineEnd))) return begin;
    begin = before;
  }
  return begin;
}

/** The keys themselves, known by how they begin. What a pattern keeps stands in its first group. */
const KEYS: readonly RegExp[] = [
  /(?<![A-Za-z0-9])()(?:gh[a-z]|github_pat)_[A-Za-z0-9_]{6,}/g,
  /(?<![A-Za-z0-9])()(?:AKIA|ASIA)[A-Z0-9]{8,}/g,
  // The house's own tokens.
  /(?<![A-Za-z0-9])()bp_[A-Za-z0-9_]{16,}/g,
  /(?<![A-Za-z0-9])(bearer[ \t]{1,20})[A-Za-z0-9._~+/=-]{8,}/gi,
  // "Basic" is a word of prose too: what follows must look encoded.
  /(?<![A-Za-z0-9])([bB](?:asic|ASIC)[ \t]{1,20})(?=[A-Za-z0-9+/_-]*(?:[0-9+/=_]|[a-z][A-Z]))[A-Za-z0-9+/=_-]{8,}/g,
  /(:\/\/)[^\s/@"'<>]{1,500}(?=@)/g,
];

function* keysIn(text: string): Generator<Range> {
  for (const pattern of KEYS)
    for (const { 0: hit, 1: kept, index } of text.matchAll(pattern))
      yield [index + (kept as string).length, index + hit.length];
}

/** Names whose value is a secret, also as the end of a longer name: `AWS_SECRET_ACCESS_KEY`, `accessToken`. */
const SECRET =
  /(?:^|[_.-])(?:tokens?|secrets?|auth)$|(?:password|passwd|passphrase|pwd|credentials?|authorization|api_?key)$|.[_.-]key$/i;
const CAMEL = /[a-z](?:Token|Secret|Key|Auth)$/;
/** With `=` these are secrets, with a colon words of prose: "unexpected token: x". */
const WORDS = /^(?:key|tokens?|auth|credentials?)$/i;
const NAME_UNIT = /[\w.-]/;
const LONGEST_NAME = 80;

/** The values of pairs, found from what assigns them: `=` or a colon. */
function* pairsIn(text: string): Generator<Range> {
  let done = 0;
  for (const { index } of text.matchAll(/[=:]/g)) {
    // What is inside a value is hidden with it, and is not gone through again.
    if (index < done) continue;
    const colon = text[index] === ":";
    const next = text[index + 1];
    if (next === "=" || /[=!<>:]/.test(text[index - 1] ?? "")) continue;
    const name = nameBefore(text, index);
    const word = WORDS.test(name);
    if (word ? colon && !quoted(text, index) : !SECRET.test(name) && !CAMEL.test(name)) continue;
    const from = afterBlanks(text, index + 1);
    const to = valueEnd(text, from);
    if (to > from) yield [from, to];
    done = to;
  }
}

/** Whether the name that ends here stands in quotes, as a key of JSON does. */
function quoted(text: string, at: number): boolean {
  return /["']/.test(text[at - 1] ?? "");
}

/** The name that ends before what assigns, blanks and a quote between them aside; the last part of a long one. */
function nameBefore(text: string, at: number): string {
  let end = at;
  while (end > 0 && at - end < 8 && /[ \t]/.test(text[end - 1] as string)) end -= 1;
  if (/["'\]]/.test(text[end - 1] ?? "")) end -= 1;
  let begin = end;
  while (begin > 0 && end - begin < LONGEST_NAME && NAME_UNIT.test(text[begin - 1] as string)) begin -= 1;
  return text.slice(begin, end);
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at - from < 8 && (text[at] === " " || text[at] === "\t")) at += 1;
  return at;
}

const SCHEME = /(?:bearer|basic|token)[ \t]{1,20}/iy;
const UNQUOTED = /[\s"'`,;&<>()[\]{}]/g;

/** Where a value that begins here ends: at its closing quote, else at white space or what separates. */
function valueEnd(text: string, from: number): number {
  const quote = text[from];
  if (quote === '"' || quote === "'" || quote === "`") {
    let i = from + 1;
    for (; i < text.length && text[i] !== "\n"; i++) {
      if (text[i] === quote) return i + 1;
      if (text[i] === "\\" && text[i + 1] !== "\n") i += 1;
    }
    return Math.min(i, text.length);
  }
  // `Authorization: Bearer abc`: the scheme is a word of its own, and its secret is the next.
  SCHEME.lastIndex = from;
  const begin = SCHEME.test(text) ? SCHEME.lastIndex : from;
  UNQUOTED.lastIndex = begin;
  return UNQUOTED.exec(text)?.index ?? text.length;
}
