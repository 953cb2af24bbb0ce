/** What reviewers said on the pull requests of the ticket that is worked on, and on its parent's (OFFER-8). */
import type { Wake } from "../../../../src/shared/wire/agent/index.ts";
import type { BoardLedger } from "../ledger.ts";
import { prRows, ticketRow } from "../work/store.ts";
import { said } from "./views.ts";
import { iso, known, shown, words, writer } from "./words.ts";

type Ticket = Wake["tickets"][number];

/** Comments that are looked through for those of humans. */
const LOOKED_AT = 2000;

/**
 * The newest review comments, open and merged, resolved threads included: all of a thread that a human opened, and
 * of any other those by humans.
 */
export function reviewsOfTicket(ledger: BoardLedger, key: string): Pick<Ticket, "reviews" | "moreReviews"> {
  const parent = ticketRow(ledger, key)?.parent;
  const prs = prRows(
    ledger,
    "ticket IN (?, ?) AND state <> 'closed' ORDER BY updated_at DESC LIMIT 50",
    key,
    parent ?? key,
  );
  const most = ledger.team.pipeline.context.reviews;
  const humans = new Map<string, boolean>();
  const isHuman = (actor: string, repo: string) => {
    const id = `${repo} ${actor}`;
    if (!humans.has(id)) humans.set(id, writer(ledger, actor, repo).kind === "human");
    return humans.get(id) === true;
  };
  const found = prs.flatMap((pr) => {
    const rows = ledger.db.all<{
      id: string;
      at: number;
      actor: string;
      opener: string;
      resolved: number;
      fields: string;
    }>(
      `SELECT c.id, c.at, c.actor, c.fields, t.resolved, (SELECT actor FROM comments WHERE ref = c.ref AND thread = c.thread
         AND type = 'pr' ORDER BY at, id LIMIT 1) AS opener
       FROM comments c JOIN threads t ON t.pr = c.ref AND t.id = c.thread
       WHERE c.type = 'pr' AND c.ref = ? AND c.thread IS NOT NULL AND c.deleted = 0 ORDER BY c.at DESC, c.id DESC LIMIT ?`,
      pr.key,
      LOOKED_AT,
    );
    return rows
      .filter(({ actor, opener }) => isHuman(opener, pr.repo) || isHuman(actor, pr.repo))
      .map((row) => ({ ...row, pr }));
  });
  const newest = found.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  if (newest.length === 0) return {};
  return {
    reviews: newest.slice(0, most).map(({ pr, at, actor, resolved, fields }) => {
      const { body, url, path, line } = said(fields);
      return known({
        pr: pr.key,
        ticket: pr.ticket ?? undefined,
        resolved: resolved === 1,
        path,
        line,
        url,
        author: shown(writer(ledger, actor, pr.repo)),
        at: iso(at),
        body: words(ledger, body),
      });
    }),
    ...(newest.length > most && { moreReviews: newest.length - most }),
  };
}
