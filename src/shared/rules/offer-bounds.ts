/** What of an item an offer carries, so that its frame always fits (OFFER-4). Every cut says what was left out. */
import type { OfferContext, OfferFeedback, Wake } from "../wire/agent/index.ts";
import { byteLength, codePoints, firstCodePoints } from "./text.ts";

/** The journal's share, in bytes of its texts. */
export const JOURNAL_BYTES = 65_536;
/** A body of feedback is not cut shorter, in characters. */
export const SHORTEST_BODY = 200;
type JournalLine = OfferContext["journal"][number];

/**
 * The newest lines of a journal, oldest first; where some do not fit the first line counts them.
 * @param lines from the newest
 * @param total how many there are
 * @param always a line that stands before all others and is never left out
 */
export function boundJournal(
  lines: Iterable<JournalLine>,
  total: number,
  always?: JournalLine,
): JournalLine[] {
  const kept: JournalLine[] = [];
  let left = JOURNAL_BYTES - (always ? byteLength(always.text) : 0);
  for (const line of lines) {
    left -= byteLength(line.text);
    if (left < 0) break;
    kept.push(line);
  }
  const oldest = kept.at(-1);
  kept.reverse();
  const omitted = total - kept.length;
  const counted: JournalLine[] =
    omitted === 0
      ? []
      : [
          {
            at: oldest?.at ?? always?.at ?? new Date(0).toISOString(),
            author: "office",
            text: `${omitted} earlier ${omitted === 1 ? "line is" : "lines are"} left out.`,
          },
        ];
  return [...counted, ...(always ? [always] : []), ...kept];
}

/** A text of at most so many characters; a cut one says how many more there were. */
export function cut(text: string, characters: number): string {
  const more = codePoints(text) - characters;
  if (more <= 0) return text;
  const told = `… (${more} more characters)`;
  // A cut that would not make it shorter is none.
  return more <= told.length ? text : firstCodePoints(text, characters) + told;
}

function shrunk(entry: OfferFeedback, characters: number): OfferFeedback {
  return {
    ...entry,
    body: cut(entry.body, characters),
    ...(entry.anchorText === undefined ? {} : { anchorText: cut(entry.anchorText, characters) }),
    ...(entry.comments && {
      comments: entry.comments.map((c) => ({ ...c, body: cut(c.body, characters) })),
    }),
  };
}

function size(value: unknown): number {
  return byteLength(JSON.stringify(value) ?? "");
}

/** About the greatest length from `least` to `most` at which it fits; undefined when not even the least does. */
function greatest(least: number, most: number, fits: (length: number) => boolean): number | undefined {
  if (!fits(least)) return undefined;
  let [low, high] = [least, Math.max(least, most)];
  // Near enough is enough: each look measures everything.
  while (high - low > low >> 5) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * As much of the feedback as fits: all of it whole, else all with bodies cut evenly, else the oldest with the
 * shortest bodies; what is not taken makes the next round. At least one entry is taken, if need be with comments
 * left out.
 */
export function boundFeedback(all: readonly OfferFeedback[], bytes: number): OfferFeedback[] {
  if (all.length === 0 || size(all) <= bytes) return [...all];
  const longest = Math.max(
    ...all.flatMap((e) => [e.body, ...(e.comments ?? []).map((c) => c.body)]).map((t) => t.length),
  );
  const length = greatest(SHORTEST_BODY, longest, (n) => size(all.map((e) => shrunk(e, n))) <= bytes);
  if (length !== undefined) return all.map((e) => shrunk(e, length));
  const taken: OfferFeedback[] = [];
  let left = bytes - 2;
  for (const entry of all) {
    const short = shrunk(entry, SHORTEST_BODY);
    left -= size(short) + 1;
    if (left < 0) break;
    taken.push(short);
  }
  return taken.length > 0
    ? taken
    : [withFewerComments(shrunk(all[0] as OfferFeedback, SHORTEST_BODY), bytes)];
}

/** An entry that does not fit by itself: as many of its comments as do, and how many there were. */
function withFewerComments(entry: OfferFeedback, bytes: number): OfferFeedback {
  const comments = entry.comments ?? [];
  const some = (n: number): OfferFeedback => ({
    actor: cut(entry.actor, SHORTEST_BODY),
    kind: entry.kind,
    ...(entry.state === undefined ? {} : { state: cut(entry.state, SHORTEST_BODY) }),
    ...(entry.commentId === undefined ? {} : { commentId: entry.commentId.slice(0, SHORTEST_BODY) }),
    body: `${entry.body}\n(${comments.length - n} comments left out; read them where they were written.)`,
    comments: comments.slice(0, n),
  });
  const n = greatest(0, comments.length, (count) => size([some(count)]) <= bytes) ?? 0;
  return some(n);
}

/** What the board gave for an offer. */
export type BoardContext = Pick<OfferContext, "subjects" | "links" | "conversation" | "wake">;

/**
 * What the board knows, in so many bytes: first texts are cut evenly, then things of the bundle, links and entries
 * are left out from the end, and counted where the contract has a place for it.
 */
export function boundContext(context: BoardContext, bytes: number): BoardContext {
  if (size(context) <= bytes) return context;
  const length = greatest(SHORTEST_BODY, 20_000, (n) => size(withTexts(context, n)) <= bytes);
  if (length !== undefined) return withTexts(context, length) as BoardContext;
  let less = withTexts(context, SHORTEST_BODY) as BoardContext;
  const { conversation: _c, wake, ...rest } = less;
  less = { ...rest, ...(wake && { wake: fewer(wake, bytes - size(rest) - 20) }) };
  if (size(less) <= bytes) return less;
  const { subjects, links } = less;
  const n = greatest(0, Math.max(subjects.length, links.length), (count) => {
    return size({ subjects: subjects.slice(0, count), links: links.slice(0, count) }) <= bytes;
  });
  return { subjects: subjects.slice(0, n ?? 0), links: links.slice(0, n ?? 0) };
}

const TEXTS: ReadonlySet<string> = new Set(["body", "text", "description", "title", "lines"]);

/** The same with its long texts cut; what is no text of somebody's stays as it is. */
function withTexts(value: unknown, characters: number, key = ""): unknown {
  if (typeof value === "string") return TEXTS.has(key) ? cut(value, characters) : value;
  if (Array.isArray(value)) return value.map((one) => withTexts(one, characters, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, withTexts(v, characters, k)]));
}

/** A bundle with things left out from the end of its longest list until it fits. */
function fewer(wake: Wake, bytes: number): Wake {
  let bundle: Wake = wake;
  while (size(bundle) > bytes) {
    const { tickets, prs, docs, chats } = bundle;
    const lists = { tickets, prs, docs, chats };
    const [name, longest] = Object.entries(lists).toSorted(([, a], [, b]) => size(b) - size(a))[0] as [
      string,
      unknown[],
    ];
    if (longest.length === 0) {
      if (!bundle.merge && !bundle.failedChecks) return bundle;
      const { merge: _m, failedChecks: _f, ...rest } = bundle;
      bundle = rest;
      continue;
    }
    const left = Math.max(1, Math.ceil(longest.length / 10));
    bundle = { ...bundle, [name]: longest.slice(0, -left), omitted: (bundle.omitted ?? 0) + left };
  }
  return bundle;
}

export interface Bounded {
  context: OfferContext;
  /** How many of the feedback's entries it carries, from the oldest. */
  taken: number;
}

/** The context of an offer, in so many bytes. The feedback gets what the board's part leaves, at least half (OFFER-4). */
export function boundOffer(
  journal: JournalLine[],
  feedback: readonly OfferFeedback[],
  context: BoardContext,
  bytes: number,
): Bounded {
  const room = bytes - size(journal) - 100;
  const given = boundFeedback(feedback, Math.max(room - size(context), Math.floor(room / 2)));
  const rest = boundContext(context, room - (given.length === 0 ? 0 : size(given)));
  return {
    context: { journal, ...rest, ...(given.length > 0 && { feedback: given }) },
    taken: given.length,
  };
}
