/** The things of a wake bundle as an offer shows them, each within `pipeline.context` (OFFER-4, OFFER-8). */

import { issueRepo } from "../../../../src/shared/rules/repo-of.ts";
import type { Why } from "../../../../src/shared/rules/wake.ts";
import { type Fields, mergeableOf, textOf } from "../../../../src/shared/rules/work-state.ts";
import type { Wake } from "../../../../src/shared/wire/agent/index.ts";
import type { BoardLedger } from "../ledger.ts";
import { assigneeOf } from "../work/facts.ts";
import { checksOf, ciOfHead, openThreads, stackedBy, stackedOn } from "../work/prs.ts";
import { lastReview } from "../work/reads.ts";
import { docRow, type PrRow, prRow, type TicketRow, ticketRow } from "../work/store.ts";
import { iso, known, shown, words, writer } from "./words.ts";

interface CommentRow {
  at: number;
  actor: string;
  fields: string;
}

/** Names of failing checks that are shown of a pull request. */
const FAILING = 50;

export function ticketView(ledger: BoardLedger, key: string, why: Why): Wake["tickets"] {
  const row = ticketRow(ledger, key);
  if (!row) return [];
  const description = textOf(row.fields, "description");
  const most = ledger.team.pipeline.context.comments;
  const { n = 0 } =
    ledger.db.one<{ n: number }>(
      "SELECT count(*) AS n FROM comments WHERE type = 'ticket' AND ref = ? AND deleted = 0",
      row.key,
    ) ?? {};
  const comments = ledger.db.all<CommentRow>(
    "SELECT at, actor, fields FROM comments WHERE type = 'ticket' AND ref = ? AND deleted = 0 ORDER BY at DESC, id DESC LIMIT ?",
    row.key,
    most,
  );
  return [
    known({
      key: row.key,
      title: row.title ?? row.key,
      url: row.url ?? undefined,
      status: row.status ?? undefined,
      assignee: assigneeName(ledger, row),
      description: description === undefined ? undefined : words(ledger, description),
      comments: comments.toReversed().map(({ at, actor, fields }) => {
        const { url, body } = said(fields);
        return known({
          author: shown(writer(ledger, actor, issueRepo(row.key))),
          at: iso(at),
          url,
          body: words(ledger, body),
        });
      }),
      moreComments: n > comments.length ? n - comments.length : undefined,
      why,
    }),
  ];
}

/** Whom a ticket is assigned to, as people call them. */
function assigneeName(ledger: BoardLedger, row: TicketRow): string | undefined {
  if (row.assignee === null) return undefined;
  const handle = assigneeOf(ledger, row);
  const person = ledger.team.people.find((one) => one.handle === handle);
  if (person) return person.name;
  const source = textOf(row.fields, "assignee_by") ?? "";
  return writer(ledger, JSON.stringify({ id: row.assignee, source })).name;
}

export function prView(ledger: BoardLedger, key: string, why: Why): Wake["prs"] {
  const row = prRow(ledger, key);
  if (!row) return [];
  const failing = checksOf(ledger, row.repo, row.head_sha).filter(({ status }) => status === "failure");
  return [
    known({
      ref: row.key,
      number: row.number,
      title: textOf(row.fields, "title") ?? row.key,
      url: textOf(row.fields, "url"),
      state: row.state,
      draft: row.draft === 1,
      ci: ciOfHead(ledger, row),
      failing: failing.slice(0, FAILING).map(({ name }) => name),
      mergeable: mergeableOf(row.fields),
      ...lastReview(ledger, row),
      unresolvedThreads: openThreads(ledger, row.key),
      threads: threadsOf(ledger, row),
      ticket: row.ticket ?? undefined,
      stackedOn: stackedOn(ledger, row)?.key,
      stackedBy: stackedBy(ledger, row).map((one) => one.key),
      why,
    }),
  ];
}

/** The newest of its unresolved threads, oldest first, each with its first comment. */
function threadsOf(ledger: BoardLedger, pr: PrRow): Wake["prs"][number]["threads"] {
  const rows = ledger.db.all<CommentRow>(
    `SELECT c.at, c.actor, c.fields FROM threads t JOIN comments c ON c.type = 'pr' AND c.ref = t.pr AND c.id =
       (SELECT id FROM comments WHERE ref = t.pr AND thread = t.id AND type = 'pr' AND deleted = 0 ORDER BY at, id LIMIT 1)
     WHERE t.pr = ? AND t.resolved = 0 ORDER BY c.at DESC, c.id DESC LIMIT ?`,
    pr.key,
    ledger.team.pipeline.context.threads,
  );
  return rows.toReversed().map(({ actor, fields }) => {
    const { path, line, url, body } = said(fields);
    return known({
      path,
      line,
      url,
      author: shown(writer(ledger, actor, pr.repo)),
      body: words(ledger, body),
    });
  });
}

export function docView(ledger: BoardLedger, id: string, why: Why): Wake["docs"] {
  const row = docRow(ledger, id);
  if (!row) return [];
  const [title, url] = [textOf(row.fields, "title"), textOf(row.fields, "url")];
  return [known({ id, title: title ?? id, url, ticket: row.ticket ?? undefined, why })];
}

/** The latest messages that the office received in a thread, oldest first. */
export function chatView(ledger: BoardLedger, ref: string, why: Why): Wake["chats"] {
  // One that was taken back has neither words nor files, and is as if it had not been said.
  const from = `FROM event_refs r JOIN events e ON e.n = r.n
    WHERE r.type = 'chat_thread' AND r.ref = ? AND e.type = 'chat.message'
      AND (json_extract(e.event, '$.chat.text') <> '' OR json_extract(e.event, '$.chat.files') IS NOT NULL)`;
  const rows = ledger.db.all<{ taken_at: number; who: string; chat: string }>(
    `SELECT max(e.taken_at) AS taken_at, e.who, json_extract(e.event, '$.chat') AS chat ${from}
       GROUP BY json_extract(e.event, '$.chat.message') ORDER BY max(r.n) DESC LIMIT ?`,
    ref,
    ledger.team.pipeline.context.messages + 1,
  );
  const latest = rows.slice(0, ledger.team.pipeline.context.messages).toReversed();
  const all = ledger.db.one<{ n: number }>(
    `SELECT count(DISTINCT json_extract(e.event, '$.chat.message')) AS n ${from}`,
    ref,
  );
  const slash = ref.indexOf("/");
  const more = (all?.n ?? 0) - latest.length;
  return [
    known({
      channel: ref.slice(0, slash),
      thread: ref.slice(slash + 1),
      messages: latest.map(({ taken_at, who, chat }) => ({
        author: shown(JSON.parse(who)),
        at: iso(taken_at),
        text: words(ledger, (JSON.parse(chat) as { text: string }).text),
      })),
      moreMessages: more > 0 ? more : undefined,
      why,
    }),
  ];
}

/** What a comment says and where, from its fields. */
export function said(stored: string): { body: string; url?: string; path?: string; line?: number } {
  const fields = JSON.parse(stored) as Fields;
  const line = fields["line"]?.v;
  return known({
    body: textOf(fields, "body") ?? "",
    url: textOf(fields, "url"),
    path: textOf(fields, "path"),
    line: typeof line === "number" ? line : undefined,
  });
}
