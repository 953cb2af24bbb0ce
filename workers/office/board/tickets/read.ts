/** Tickets as people and agents read them: the board's own, and those of another tracker (WORK-3). */
import { whoIs } from "../../../../src/shared/rules/trust.ts";
import { type Fields, textOf } from "../../../../src/shared/rules/work-state.ts";
import type { TicketStatus } from "../../../../src/shared/wire/agent/ops.ts";
import type {
  TicketAnswer,
  TicketComment,
  TicketItem,
  TicketsQuery,
} from "../../../../src/shared/wire/office.ts";
import type { SqlValue } from "../../../kit/db.ts";
import { notFound, refuse } from "../../../kit/result.ts";
import type { Identity } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { mustBeOfTeam } from "../rights.ts";
import { docRow, prRows, type StoredActor, type TicketRow, ticketRow, ticketRows } from "../work/store.ts";

/** Comments of one answer. */
const COMMENTS = 200;
const iso = (ms: number) => new Date(ms).toISOString();

/** A ticket by its key, in any case; refuses one that there is not. */
export function ticketOf(ledger: BoardLedger, key: string): TicketRow {
  return ticketRow(ledger, key) ?? notFound("ticket");
}

/** Where a ticket is kept: `board`, or the tracker that it is of. */
export function sourceOf(row: TicketRow): string {
  return textOf(row.fields, "source") ?? "board";
}

function itemOf(row: TicketRow): TicketItem {
  const { key, title, status, assignee, parent, url } = row;
  return {
    key,
    title: title ?? key,
    ...(status === null ? {} : { status: status as TicketStatus }),
    ...(assignee === null ? {} : { assignee }),
    ...(parent === null ? {} : { parent }),
    ...(url === null ? {} : { url }),
    source: sourceOf(row),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Tickets page by page, the last changed first (WORK-3). */
export function tickets(
  ledger: BoardLedger,
  by: Identity,
  asked: TicketsQuery,
): { items: TicketItem[]; next?: string } {
  mustBeOfTeam(by);
  const where = ["1"];
  const bindings: SqlValue[] = [];
  if (asked.status !== undefined) {
    where.push("status = ?");
    bindings.push(asked.status);
  }
  if (asked.assignee !== undefined) {
    where.push("assignee = ?");
    bindings.push(namedAssignee(ledger, asked.assignee) ?? asked.assignee);
  }
  if (asked.cursor !== undefined) {
    const at = /^(\d{1,16})\.(\d{1,16})$/.exec(asked.cursor);
    if (!at)
      refuse("invalid", "cursor is the `next` of the page before.", {
        details: [{ path: "cursor", message: "is no cursor of this list" }],
      });
    where.push("(updated_at, n) < (?, ?)");
    bindings.push(Number(at[1]), Number(at[2]));
  }
  const rows = ticketRows(
    ledger,
    `${where.join(" AND ")} ORDER BY updated_at DESC, n DESC LIMIT ?`,
    ...bindings,
    asked.limit + 1,
  );
  const page = rows.slice(0, asked.limit);
  const last = page.at(-1);
  return {
    items: page.map(itemOf),
    ...(rows.length > page.length && last ? { next: `${last.updated_at}.${last.n}` } : {}),
  };
}

/** A handle of the team, or a human's name, in its one spelling; undefined when nobody is called so. */
export function namedAssignee({ team }: BoardLedger, given: string): string | undefined {
  const wanted = given.trim().replace(/^@/, "").toLowerCase();
  return (
    team.people.find((p) => p.handle === wanted)?.handle ??
    team.people.find((p) => p.name.toLowerCase() === wanted)?.handle ??
    team.humans.find((h) => h.name.toLowerCase() === wanted || h.user === given.trim())?.name
  );
}

/** A ticket with what belongs to it (WORK-3). */
export function ticket(ledger: BoardLedger, by: Identity, key: string): TicketAnswer {
  mustBeOfTeam(by);
  return wholeTicket(ledger, ticketOf(ledger, key).key);
}

/** A ticket as it stands, for who may see it. */
export function wholeTicket(ledger: BoardLedger, key: string): TicketAnswer {
  const row = ticketOf(ledger, key);
  const description = textOf(row.fields, "description");
  const { comments, more } = commentsOf(ledger, row.key);
  return {
    ...itemOf(row),
    ...(description === undefined ? {} : { description }),
    children: ticketRows(ledger, "parent = ? ORDER BY n LIMIT 500", row.key).map((child) => child.key),
    prs: prRows(ledger, "ticket = ? ORDER BY created_at, key LIMIT 200", row.key).map((pr) => ({
      ref: pr.key,
      ...shownOf(pr.fields),
      state: pr.state,
    })),
    docs: ledger.db
      .all<{ id: string }>("SELECT id FROM docs WHERE ticket = ? ORDER BY at, id LIMIT 200", row.key)
      .map(({ id }) => ({ id, ...shownOf(docRow(ledger, id)?.fields ?? {}) })),
    comments,
    ...(more > 0 ? { more_comments: more } : {}),
  };
}

function shownOf(fields: Fields): { title?: string; url?: string } {
  const title = textOf(fields, "title");
  const url = textOf(fields, "url");
  return { ...(title === undefined ? {} : { title }), ...(url === undefined ? {} : { url }) };
}

interface CommentRow {
  id: string;
  at: number;
  actor: string;
  fields: string;
}

/** The latest comments, oldest first, and how many there are before them. */
function commentsOf(ledger: BoardLedger, key: string): { comments: TicketComment[]; more: number } {
  const rows = ledger.db.all<CommentRow>(
    "SELECT id, at, actor, fields FROM comments WHERE type = 'ticket' AND ref = ? AND deleted = 0 ORDER BY at DESC, id DESC LIMIT ?",
    key,
    COMMENTS,
  );
  const count =
    ledger.db.one<{ n: number }>(
      "SELECT count(*) AS n FROM comments WHERE type = 'ticket' AND ref = ? AND deleted = 0",
      key,
    )?.n ?? 0;
  return { comments: rows.toReversed().map((row) => commentOf(ledger, row)), more: count - rows.length };
}

/** One comment of a ticket. */
export function oneComment(ledger: BoardLedger, key: string, id: string): TicketComment {
  const row = ledger.db.one<CommentRow>(
    "SELECT id, at, actor, fields FROM comments WHERE type = 'ticket' AND ref = ? AND id = ?",
    key,
    id,
  );
  return row ? commentOf(ledger, row) : notFound("message");
}

function commentOf({ team }: BoardLedger, row: CommentRow): TicketComment {
  const fields = JSON.parse(row.fields) as Fields;
  const url = textOf(fields, "url");
  return {
    id: row.id,
    author: whoIs(team, JSON.parse(row.actor) as StoredActor).name,
    at: iso(row.at),
    body: textOf(fields, "body") ?? "",
    ...(url === undefined ? {} : { url }),
  };
}
