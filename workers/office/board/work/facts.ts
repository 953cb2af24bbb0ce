/** Reads what the pipeline decides on (PIPE-1): the state as it is once the event is in. */
import type {
  CheckFact,
  DocFact,
  Facts,
  PrFact,
  TicketFact,
} from "../../../../src/shared/rules/pipeline-types.ts";
import { personOf, type Who } from "../../../../src/shared/rules/trust.ts";
import { ciOf, mergeableOf, textOf } from "../../../../src/shared/rules/work-state.ts";
import type { TicketStatus } from "../../../../src/shared/wire/agent/ops.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";
import { usageTotals } from "../tickets/used.ts";
import { threadOf } from "./apply.ts";
import {
  checksOf,
  ciOfHead,
  mergerOf,
  prOwner,
  prsOfTicket,
  reviewersOf,
  statusesOf,
  verdictOf,
} from "./prs.ts";
import { docRow, type PrRow, prKey, prRow, type TicketRow, ticketRow } from "./store.ts";
import type { Talk } from "./talk.ts";

/** What is dropped when it is not there. */
const given = <T extends Record<string, unknown>>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined && v !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** The person of the team that a ticket is assigned to. */
export function assigneeOf(ledger: BoardLedger, ticket: TicketRow): string | undefined {
  return personOf(ledger.team, textOf(ticket.fields, "assignee_by") ?? "", ticket.assignee);
}

/** Whose a ticket is: the assignee's; the maker's while it is nobody's. */
export function ticketOwner(ledger: BoardLedger, ticket: TicketRow): string | undefined {
  return assigneeOf(ledger, ticket) ?? (ticket.assignee === null ? (ticket.made_by ?? undefined) : undefined);
}

export function ticketFact(ledger: BoardLedger, row: TicketRow, before?: string): TicketFact {
  const workers = ledger.db
    .all<{ person: string }>(
      `SELECT DISTINCT person FROM item_refs WHERE type = 'ticket' AND ref = ? AND role IN ('subject', 'trigger')`,
      row.key,
    )
    .map((r) => r.person);
  return {
    key: row.key,
    workers,
    ...given({
      title: row.title,
      url: row.url,
      description: textOf(row.fields, "description"),
      status: row.status as TicketStatus | null,
      assignee: assigneeOf(ledger, row),
      owner: ticketOwner(ledger, row),
      before,
    }),
  };
}

function failingOf(ledger: BoardLedger, repo: string, sha: string | null): CheckFact[] {
  return checksOf(ledger, repo, sha)
    .filter((check) => check.status === "failure")
    .map((check) => ({ name: check.name, ...given({ url: check.url, summary: check.summary }) }));
}

export function prFact(ledger: BoardLedger, row: PrRow): PrFact {
  const siblings = row.ticket ? prsOfTicket(ledger, row.ticket) : [];
  const ticket = row.ticket ? ticketRow(ledger, row.ticket) : undefined;
  return {
    ref: row.key,
    repo: row.repo,
    number: row.number,
    state: row.state,
    draft: row.draft === 1,
    otherOpen: siblings.some((pr) => pr.key !== row.key && pr.state === "open"),
    anyMerged: siblings.some((pr) => pr.state === "merged"),
    ci: ciOfHead(ledger, row),
    failing: failingOf(ledger, row.repo, row.head_sha),
    mergeable: mergeableOf(row.fields),
    requested: reviewersOf(ledger, row),
    mergeCi: ciOf(statusesOf(ledger, row.repo, row.merge_sha)),
    mergeFailing: failingOf(ledger, row.repo, row.merge_sha),
    ...(ticket ? { ticket: ticketFact(ledger, ticket) } : {}),
    ...given({
      title: textOf(row.fields, "title"),
      url: textOf(row.fields, "url"),
      head: row.head,
      headSha: row.head_sha,
      owner: prOwner(ledger, row),
      notReady: verdictOf(ledger, row).notReady,
      mergedBy: mergerOf(ledger, row),
      mergeSha: row.merge_sha,
    }),
  };
}

function docFact(ledger: BoardLedger, id: string): DocFact | undefined {
  const row = docRow(ledger, id);
  if (!row) return undefined;
  return {
    id,
    ...given({
      title: textOf(row.fields, "title"),
      url: textOf(row.fields, "url"),
      owner: row.made_by,
      ticket: row.ticket,
    }),
  };
}

/** The person whom an event names: the one it assigns, writes to, asks, or is due for. */
function namedOf(ledger: BoardLedger, event: WorkEvent, ticket: TicketRow | undefined): string | undefined {
  const inTeam = (handle: string | undefined) =>
    ledger.team.people.some((p) => p.handle === handle) ? handle : undefined;
  if (event.type === "ticket.assigned" || event.type === "ticket.created")
    return event.ticket?.assignee
      ? personOf(ledger.team, event.source, event.ticket.assignee)
      : ticket && assigneeOf(ledger, ticket);
  return inTeam(event.chat?.to ?? event.question?.to ?? event.schedule?.person);
}

/** Persons whom a request for reviews names. One that names nobody lists them all. */
export function askedOf(ledger: BoardLedger, event: WorkEvent): string[] {
  if (event.type !== "pr.review_requested" && event.type !== "pr.review_request_removed") return [];
  const names = event.reviewer ? [event.reviewer] : (event.pr?.requested ?? []);
  return [...new Set(names.flatMap((name) => personOf(ledger.team, event.source, name) ?? []))];
}

function hostThread(ledger: BoardLedger, pr: string, id: string): string | null | undefined {
  return ledger.db.one<{ host: string | null }>("SELECT host FROM threads WHERE pr = ? AND id = ?", pr, id)
    ?.host;
}

/** The status in which a round found its tickets. */
function foundBy(ledger: BoardLedger, item: NonNullable<WorkEvent["item"]>): Record<string, TicketStatus> {
  const rows = ledger.db.all<{ ticket: string; status: TicketStatus }>(
    "SELECT ticket, status FROM round_tickets WHERE item = ? AND round = ?",
    item.id,
    item.round,
  );
  return { ...item.before, ...Object.fromEntries(rows.map((row) => [row.ticket, row.status])) };
}

/** What tickets have used so far, with their sub-tickets (USE-2). */
function usedBy(ledger: BoardLedger, keys: readonly string[]): Facts["used"] {
  if (!ledger.team.usage.track_cost) return {};
  return Object.fromEntries(
    keys.map((key) => {
      const { tokens, costUsd, runs } = usageTotals(ledger, key).total;
      return [key, { tokens, costUsd, runs }];
    }),
  );
}

export interface Asked {
  eventId: string;
  who: Who;
  /** Whom the ticket was assigned to before the event. */
  before?: string | undefined;
  caused: boolean;
  talk: Talk;
}

/** Everything that {@link decide} looks at. */
export function factsOf(ledger: BoardLedger, event: WorkEvent, asked: Asked): Facts {
  const pr = event.pr && prRow(ledger, prKey(event.pr));
  const doc = event.doc && docFact(ledger, event.doc.id);
  const key = event.ticket?.key ?? event.item?.tickets[0] ?? doc?.ticket;
  const ticket = key === undefined ? undefined : ticketRow(ledger, key);
  const found = event.item && foundBy(ledger, event.item);
  return {
    eventId: asked.eventId,
    who: asked.who,
    asked: askedOf(ledger, event),
    agentEvents: asked.talk.count,
    stretch: asked.talk.stretch,
    caused: asked.caused,
    used: event.type === "item.ended" && event.item ? usedBy(ledger, event.item.tickets) : {},
    ...(ticket ? { ticket: ticketFact(ledger, ticket, asked.before) } : {}),
    ...(ticket && event.item
      ? { openPr: prsOfTicket(ledger, ticket.key).some(({ state }) => state === "open") }
      : {}),
    ...(pr ? { pr: prFact(ledger, pr) } : {}),
    ...(doc ? { doc } : {}),
    ...given({
      named: namedOf(ledger, event, ticket),
      found: ticket && found?.[ticket.key],
      threadName: pr && event.comment && hostThread(ledger, pr.key, threadOf(event.comment)),
    }),
  };
}
