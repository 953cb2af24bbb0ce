/** Full-text search over the words of readable spaces, newest first (SPACE-6). */
import type * as z from "zod";
import { codePoints, firstCodePoints } from "../../../src/shared/rules/text.ts";
import { wordTokens } from "../../../src/shared/rules/tokens.ts";
import type * as http from "../../../src/shared/wire/http.ts";
import { refuse } from "../../kit/result.ts";
import { senderOf } from "../deliver/viewer.ts";
import { factAt } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import { isIn, isOpen } from "../store/spaces.ts";
import type { PostedBody } from "../types.ts";
import { type PageArgs, pageOf, type Reader } from "./index.ts";

const MAX_TERMS = 16;
/** Hits in spaces that the caller cannot read are passed over, so many at most in one call. */
const MAX_SCANNED = 2000;
const EXCERPT = 240;

export function search(r: Reader, args: PageArgs & { q: string }) {
  const terms = wordTokens(args.q).slice(0, MAX_TERMS);
  if (terms.length === 0)
    refuse("invalid", "Search for at least one word.", {
      details: [{ path: "q", message: "holds no word" }],
    });
  // Each term is quoted, so nothing in it is read as query syntax; the last one may be a beginning.
  const query = terms
    .map((t, i) => `"${t.replaceAll('"', '""')}"${i === terms.length - 1 ? "*" : ""}`)
    .join(" ");
  const hits: z.infer<typeof http.searchItem>[] = [];
  const readable = new Map<string, boolean>();
  for (const { seq } of r.db.each<{ seq: number }>(
    "SELECT rowid AS seq FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
    query,
    Number(args.cursor ?? Number.NaN) || Number.MAX_SAFE_INTEGER,
    MAX_SCANNED,
  )) {
    const hit = hitOf(r, seq, terms[0] ?? "", readable);
    if (hit) hits.push(hit);
    if (hits.length > args.limit) break;
  }
  return pageOf(hits, args.limit, (h) => String(h.seq));
}

function hitOf(r: Reader, seq: number, term: string, readable: Map<string, boolean>) {
  const row = factAt(r.db, seq);
  if (!row || row.space_id === null) return undefined;
  const spaceId = row.space_id;
  if (!readable.has(spaceId)) readable.set(spaceId, mayRead(r, spaceId));
  if (!readable.get(spaceId)) return undefined;
  const body = JSON.parse(row.body) as PostedBody;
  const words = wordsOf(r.db, body.message_id);
  if (!words || words.text === null) return undefined;
  return {
    message_id: body.message_id,
    space_id: spaceId,
    seq,
    at: new Date(row.at).toISOString(),
    from: senderOf(r.round, r.viewer, row.actor_id, spaceId, body),
    excerpt: excerptOf(words.text, term),
  };
}

function mayRead(r: Reader, spaceId: string): boolean {
  if (isIn(r.db, spaceId, r.viewer.id)) return true;
  return r.viewer.kind === "person" && !r.viewer.guest && isOpen(r.db, spaceId);
}

/** The words around the first hit, cut at code points. */
function excerptOf(text: string, term: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(term));
  if (codePoints(text) <= EXCERPT) return text;
  const skipped = firstCodePoints(text, Math.max(0, codePoints(text.slice(0, at)) - 60));
  const rest = text.slice(skipped.length);
  const cut = firstCodePoints(rest, EXCERPT);
  return `${skipped ? "…" : ""}${cut}${cut.length < rest.length ? "…" : ""}`;
}
