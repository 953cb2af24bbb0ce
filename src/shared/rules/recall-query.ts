/**
 * RECALL-1's query language, turned into an expression of SQLite's FTS5 that no string can break: everything that
 * somebody typed stands inside quotes, and only this file writes operators.
 */
import { codePoints, firstCodePoints } from "./text.ts";

/** What a query asks for: every group must match, a group when one of its terms does; none of `without` may. */
export interface RecallQuery {
  all: string[][];
  without: string[];
}

/** More than anybody types; what stands behind it does not count. */
const LONGEST_QUERY = 4000;
const MOST_TERMS = 100;
const QUOTES = '"“”„«»';
/** What the index takes for a part of a word. A term without one is not a word: the index has nothing like it. */
const IN_WORD = /[\p{L}\p{N}\p{Co}]/u;

interface Term {
  text: string;
  without: boolean;
  quoted: boolean;
}

/** Splits a query at white space; a phrase is what stands between two quotes, and an unclosed quote is nothing. */
function termsOf(query: string): Term[] {
  const terms: Term[] = [];
  const pattern = new RegExp(
    `(-*)(?:[${QUOTES}]([^${QUOTES}]*)[${QUOTES}]|([^\\s${QUOTES}]+))|[${QUOTES}]`,
    "gu",
  );
  for (const [, dashes = "", phrase, word] of query.matchAll(pattern)) {
    const written = phrase ?? word ?? "";
    if (!IN_WORD.test(written)) continue;
    terms.push({ text: written, without: dashes !== "", quoted: phrase !== undefined });
    if (terms.length === MOST_TERMS) break;
  }
  return terms;
}

/**
 * Reads a query: words and quoted phrases must all match, `or` between two of them lets one do, `-` before one
 * leaves out what has it. An `or` that does not stand between two terms is nothing. Any string is a query.
 */
export function parseRecallQuery(query: string): RecallQuery {
  // A NUL would end the expression inside its quotes; half a pair is nothing that was ever stored.
  const clean = firstCodePoints(query.toWellFormed().replaceAll("\0", " "), LONGEST_QUERY);
  const all: string[][] = [];
  const without: string[] = [];
  let joins = false;
  let previous: "term" | "other" = "other";
  for (const term of termsOf(clean)) {
    if (term.without) {
      without.push(term.text);
      joins = false;
      previous = "other";
    } else if (!term.quoted && term.text.toLowerCase() === "or") {
      joins = previous === "term";
      previous = "other";
    } else {
      const group = all.at(-1);
      if (joins && group) group.push(term.text);
      else all.push([term.text]);
      joins = false;
      previous = "term";
    }
  }
  return { all, without };
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const anyOf = (terms: readonly string[]) => `(${terms.map(quoted).join(" OR ")})`;

/** The expression for `MATCH`; `undefined` when nothing must match: then only the filters decide (RECALL-1). */
export function recallMatch(query: RecallQuery): string | undefined {
  if (query.all.length === 0) return undefined;
  const positive = query.all.map(anyOf).join(" AND ");
  return query.without.length === 0 ? positive : `(${positive}) NOT ${anyOf(query.without)}`;
}

/** Marks around a match, as {@link excerptOf} expects them: nothing that anybody can see or type. */
export const MATCH_BEGINS = "\u0002";
export const MATCH_ENDS = "\u0003";
const LONGEST_EXCERPT = 400;

/**
 * The part of a text around its first match, at most 400 code points, white space folded, with "…" where something
 * was cut. Without a mark it is the beginning.
 */
export function excerptOf(marked: string): string {
  const text = marked.replace(/\s+/gu, " ").trim();
  const at = text.indexOf(MATCH_BEGINS);
  const plain = (part: string) => part.replaceAll(MATCH_BEGINS, "").replaceAll(MATCH_ENDS, "");
  const before = plain(at < 0 ? "" : text.slice(0, at));
  const rest = plain(at < 0 ? text : text.slice(at));
  const lead = codePoints(before);
  const room = LONGEST_EXCERPT - Math.min(lead, LONGEST_EXCERPT / 4);
  const kept = firstCodePoints(rest, room);
  const skipped = Math.max(0, lead - (LONGEST_EXCERPT - codePoints(kept)));
  const start = before.slice(firstCodePoints(before, skipped).length);
  return `${skipped > 0 ? "…" : ""}${start}${kept}${kept.length < rest.length ? "…" : ""}`;
}
