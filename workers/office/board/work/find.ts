/** What a target names, and what the board has of it: for `work_attach`, `recall`, `doc_link` (CHAT-4). */
import { isOpen, textOf } from "../../../../src/shared/rules/work-state.ts";
import { notFound, refuse } from "../../../kit/result.ts";
import type { Found } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { ticketOwner } from "./facts.ts";
import { anyCasePr, prOwner, reviewsOf } from "./prs.ts";
import { type DocRow, docRow, type PrRow, prRows, type TicketRow, ticketRow, ticketRows } from "./store.ts";

const PR_NAME = /^([\w.-]+\/[\w.-]+)#(\d{1,9})$/;
const PR_LINK = /^https?:\/\/[^/\s]+\/([\w.-]+\/[\w.-]+)\/pull(?:s|-requests)?\/(\d{1,9})(?:[/?#].*)?$/i;
/** Candidates that a refusal names. */
const NAMED = 10;

/** A ticket key, a pull request by `#n`, number, `owner/repo#n` or link, or a document by id or link. */
export function find(ledger: BoardLedger, handle: string, given: string): Found {
  const target = given.trim();
  const ticket = ticketRow(ledger, target);
  if (ticket) return ofTicket(ledger, ticket);
  const named = PR_NAME.exec(target) ?? PR_LINK.exec(target);
  const pr = named ? anyCasePr(ledger, `${named[1]}#${Number(named[2])}`) : byNumber(ledger, handle, target);
  if (pr) return ofPr(ledger, pr, handle);
  const doc = docRow(ledger, target);
  if (doc) return ofDoc(doc);
  if (/^https?:\/\//i.test(target)) {
    const linked = byLink(ledger, target);
    if (linked) return linked;
  }
  notFound("ticket");
}

/** A bare number is the one pull request that has it: the caller's own open one first. */
function byNumber(ledger: BoardLedger, handle: string, target: string): PrRow | undefined {
  const number = /^#?(\d{1,9})$/.exec(target)?.[1];
  if (number === undefined) return undefined;
  const all = prRows(ledger, "number = ? ORDER BY updated_at DESC LIMIT 50", Number(number));
  const own = all.filter((pr) => prOwner(ledger, pr) === handle && pr.state === "open");
  const found = own.length > 0 ? own : all;
  if (found.length <= 1) return found[0];
  const names = found.slice(0, NAMED).map((pr) => pr.key);
  refuse("invalid", `${target} may be ${names.join(", ")}. Name one of them whole.`);
}

/** A ticket or a document by its own address. */
function byLink(ledger: BoardLedger, url: string): Found | undefined {
  const tickets = ticketRows(ledger, "url = ? LIMIT 2", url);
  if (tickets.length > 1)
    refuse("invalid", `This link is of ${tickets.map((t) => t.key).join(" and ")}. Name one by its key.`);
  const [ticket] = tickets;
  if (ticket) return ofTicket(ledger, ticket);
  const doc = ledger.db.one<{ id: string }>(
    "SELECT id FROM docs WHERE json_extract(fields, '$.url.v') = ? LIMIT 1",
    url,
  );
  const row = doc && docRow(ledger, doc.id);
  return row && ofDoc(row);
}

/** What is dropped when it is not there. */
const given = (fields: { title: string | undefined; url: string | undefined }) => ({
  ...(fields.title === undefined ? {} : { title: fields.title }),
  ...(fields.url === undefined ? {} : { url: fields.url }),
});

function ofTicket(ledger: BoardLedger, row: TicketRow): Found {
  const owner = ticketOwner(ledger, row);
  return {
    ref: { type: "ticket", ref: row.key },
    subject: {
      type: "ticket",
      ref: row.key,
      ...given({ title: row.title ?? undefined, url: row.url ?? undefined }),
    },
    open: isOpen(row.status),
    ...(owner === undefined ? {} : { owner }),
    ...(row.status === null ? {} : { status: row.status }),
  };
}

/** A pull request as the subject of an item (contract: `context.subjects`). */
export function prSubject(ledger: BoardLedger, row: PrRow, handle: string): Found["subject"] {
  return {
    type: "pr",
    ref: row.key,
    ...given({ title: textOf(row.fields, "title"), url: textOf(row.fields, "url") }),
    ...(row.head === null ? {} : { headRef: row.head }),
    ...(row.base === null ? {} : { baseRef: row.base }),
    state: row.state,
    draft: row.draft === 1,
    own: prOwner(ledger, row) === handle,
  };
}

function ofPr(ledger: BoardLedger, row: PrRow, handle: string): Found {
  const owner = prOwner(ledger, row);
  return {
    ref: { type: "pr", ref: row.key },
    subject: prSubject(ledger, row, handle),
    open: row.state === "open",
    inReview: inReview(ledger, row),
    ...(owner === undefined ? {} : { owner }),
    ...(row.ticket === null ? {} : { ticket: row.ticket }),
    status: row.state,
  };
}

/** Whether somebody looks at it: it is open, ready, and a review is asked for or was given. */
function inReview(ledger: BoardLedger, row: PrRow): boolean {
  if (row.state !== "open" || row.draft === 1) return false;
  const ticket = row.ticket ? ticketRow(ledger, row.ticket) : undefined;
  if (ticket?.status === "review") return true;
  const requested = row.fields["requested"]?.v;
  const asked =
    (Array.isArray(requested) && requested.length > 0) ||
    Object.entries(row.fields).some(([name, { v }]) => name.startsWith("requested:") && v === true);
  return asked || reviewsOf(ledger, row).length > 0;
}

function ofDoc(row: DocRow): Found {
  return {
    ref: { type: "doc", ref: row.id },
    subject: {
      type: "doc",
      ref: row.id,
      ...given({ title: textOf(row.fields, "title"), url: textOf(row.fields, "url") }),
    },
    open: true,
    ...(row.made_by === null ? {} : { owner: row.made_by }),
    ...(row.ticket === null ? {} : { ticket: row.ticket }),
  };
}
