/** What was said before the feedback, so that a short reply has its context (OFFER-4, OFFER-8). */
import {
  type Fields,
  type ReviewState,
  reviewState,
  textOf,
  timeOf,
} from "../../../../src/shared/rules/work-state.ts";
import type { OfferContext } from "../../../../src/shared/wire/agent/index.ts";
import type { BoardLedger } from "../ledger.ts";
import { prKey } from "../work/store.ts";
import type { Made } from "./events.ts";
import { iso, known, shown, words, writer } from "./words.ts";

type Entry = NonNullable<OfferContext["conversation"]>[number];

/** Entries that an offer has (OFFER-4). */
const ENTRIES = 5;

interface Row {
  id: string;
  at: number;
  actor: string;
  fields: string;
  /** Whether it is a review. */
  review: number;
}

/**
 * The last entries of a pull request's conversation before the first comment or review summary of the round, oldest
 * first; nothing for a round that neither began.
 */
export function conversationOf(ledger: BoardLedger, events: readonly Made[]): Entry[] | undefined {
  const [begun] = events
    .filter(({ event }) => event.pr && (event.type === "pr.commented" || event.type === "pr.reviewed"))
    .map(({ event, takenAt }) => ({ event, at: timeOf(event.at, takenAt) }))
    .toSorted((a, b) => a.at - b.at);
  if (!begun?.event.pr) return undefined;
  const { event: first, at } = begun;
  const pr = begun.event.pr;
  const id = first.review?.id ?? first.comment?.id ?? "";
  const rows = ledger.db.all<Row>(
    `SELECT id, at, actor, fields, 0 AS review FROM comments
       WHERE type = 'pr' AND ref = ?1 AND thread IS NULL AND deleted = 0 AND at <= ?2 AND NOT (id = ?3 AND ?4 = 0)
     UNION ALL SELECT id, at, actor, fields, 1 FROM reviews
       WHERE pr = ?1 AND at <= ?2 AND NOT (id = ?3 AND ?4 = 1)
         AND (trim(coalesce(json_extract(fields, '$.body.v'), '')) <> '' OR json_extract(fields, '$.state.v') <> 'commented')
     ORDER BY at DESC, id DESC LIMIT ?5`,
    prKey(pr),
    at,
    id,
    first.review ? 1 : 0,
    ENTRIES,
  );
  return rows.toReversed().map(({ at: when, actor, fields: stored, review }) => {
    const fields = JSON.parse(stored) as Fields;
    return known({
      kind: review === 1 ? ("review" as const) : ("comment" as const),
      author: shown(writer(ledger, actor, pr.repo)),
      at: iso(when),
      state: review === 1 ? (reviewState(fields) satisfies ReviewState) : undefined,
      url: textOf(fields, "url"),
      body: words(ledger, textOf(fields, "body") ?? ""),
    });
  });
}
