import { foldHandle } from "./handles.ts";
import { proseOf } from "./prose.ts";
import { isSpaceless, scriptOf, scriptsIn } from "./scripts.ts";

/** Who can be mentioned: an id and the handle without its `@`; without a handle nobody reaches them. */
export interface Handled {
  id: string;
  handle?: string | undefined;
}

const EVERYONE = "everyone";
const RUN = /[\p{L}\p{M}\p{Nd}_\-\u200c\u200d]*/uy;

// An address has its domain in letters of scripts with spaces: in Han, Kana or Thai text the word after the dot
// is more likely the next sentence.
const LOCAL_PART_END = /^[\p{L}\p{Nd}_%+-]/u;
const DOMAIN_LETTER = "(?:(?![\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}])[\\p{L}\\p{M}\\p{Nd}-])";
const DOMAIN = new RegExp(`${DOMAIN_LETTER}+\\.${DOMAIN_LETTER}`, "uy");

/**
 * Whom a text mentions (ADDR-2): the ids in the order of their first mention, each once, and whether `@everyone`
 * stands there. `@handle` matches longest first, compared as `foldHandle` does; on neither side stands a digit,
 * `_`, or a letter of one of the handle's scripts (Han, Kana and Thai letters may). Nothing counts in fenced code,
 * code spans, link targets, bare addresses and e-mail addresses. Of two members with one handle the first is
 * meant. Takes time in proportion to the text, whatever stands in it (64 KiB at most, LIMIT-1).
 */
export function findMentions(
  text: string,
  members: readonly Handled[],
): { ids: string[]; everyone: boolean } {
  if (!text.includes("@")) return { ids: [], everyone: false };
  const handles = handleTable(members);
  const lengths = [...new Set([...handles.keys()].map((handle) => handle.length))].toSorted((a, b) => b - a);
  const ids = new Set<string>();
  let everyone = false;
  const prose = proseOf(text);
  for (let at = prose.indexOf("@"); at !== -1; at = prose.indexOf("@", at + 1)) {
    const handle = handleAt(prose, at, handles, lengths);
    if (handle === undefined) continue;
    const id = handles.get(handle);
    if (id === undefined) everyone = true;
    else ids.add(id);
  }
  return { ids: [...ids], everyone };
}

/** Folded handle → id; `everyone` is nobody's and stands for `undefined`. */
function handleTable(members: readonly Handled[]): Map<string, string | undefined> {
  const handles = new Map<string, string | undefined>([[EVERYONE, undefined]]);
  for (const { id, handle } of members) {
    const folded = foldHandle(handle ?? "");
    if (folded !== "" && !handles.has(folded)) handles.set(folded, id);
  }
  return handles;
}

/** The longest handle mentioned by the `@` at a place, if any. */
function handleAt(
  prose: string,
  at: number,
  handles: ReadonlyMap<string, unknown>,
  lengths: readonly number[],
): string | undefined {
  RUN.lastIndex = at + 1;
  const run = foldHandle(RUN.exec(prose)?.[0] ?? "");
  if (run === "") return undefined;
  const before = letterBefore(prose, at);
  for (const length of lengths) {
    const handle = run.slice(0, length);
    if (handle.length < length || !handles.has(handle)) continue;
    const after = run.slice(length, length + 2);
    // A combining mark belongs to the letter before it, so the handle's last letter would be another one.
    if (/^\p{M}/u.test(after)) continue;
    const scripts = scriptsIn(handle);
    if (joins(before, scripts) || joins(after, scripts)) continue;
    return isEmail(prose, at, before) ? undefined : handle;
  }
  return undefined;
}

/** Whether a neighbour, its first code point, makes a handle part of a longer word. */
function joins(neighbour: string, scripts: ReadonlySet<string>): boolean {
  if (/^[\p{Nd}_]/u.test(neighbour)) return true;
  if (!/^\p{L}/u.test(neighbour) || isSpaceless(neighbour)) return false;
  return scripts.has(scriptOf(neighbour) ?? "");
}

/** What stands before a place as it compares: a letter without its marks, or another character, or nothing. */
function letterBefore(prose: string, at: number): string {
  let end = at;
  while (end > 0) {
    const start = (prose.codePointAt(end - 2) ?? 0) > 0xffff ? end - 2 : end - 1;
    const char = prose.slice(start, end);
    if (!/^[\p{M}\u200c\u200d]$/u.test(char)) return /.$/su.exec(char.normalize("NFKC"))?.[0] ?? "";
    end = start;
  }
  return "";
}

function isEmail(prose: string, at: number, before: string): boolean {
  DOMAIN.lastIndex = at + 1;
  return LOCAL_PART_END.test(before) && DOMAIN.test(prose);
}
