/** Whether an item still stands, right before it is offered (OFFER-2). */
import { isOpen } from "../../../../src/shared/rules/work-state.ts";
import type { OfferAsk } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { assigneeOf } from "../work/facts.ts";
import { reviewersOf } from "../work/prs.ts";
import { prKey, prRow, ticketRow } from "../work/store.ts";
import type { Made } from "./events.ts";

/**
 * Why an item is no more, in words for people; undefined while it stands. What somebody gave to the person by hand
 * has no event that could be taken back: only that its ticket is open and its pull request too is asked of it.
 */
export function fallen(ledger: BoardLedger, ask: OfferAsk, events: readonly Made[]): string | undefined {
  // What is to be done about a merge is done after it, whatever became of the ticket.
  if (events.some(({ event }) => event.type.startsWith("merge."))) return undefined;
  return ticketFallen(ledger, ask, events) ?? prFallen(ledger, ask, events);
}

function ticketFallen(
  ledger: BoardLedger,
  { handle, kind, subject }: OfferAsk,
  events: readonly Made[],
): string | undefined {
  const ticket = subject?.type === "ticket" ? ticketRow(ledger, subject.ref) : undefined;
  if (!ticket) return undefined;
  if (!isOpen(ticket.status)) return `${ticket.key} is ${ticket.status}.`;
  const assigned = events.some(({ event }) => ASSIGNS.has(event.type));
  if (kind === "assigned" && assigned && assigneeOf(ledger, ticket) !== handle)
    return `${ticket.key} is not assigned to ${handle} any more.`;
  return undefined;
}

const ASSIGNS: ReadonlySet<string> = new Set(["ticket.assigned", "ticket.created"]);

function prFallen(
  ledger: BoardLedger,
  { handle, kind, subject }: OfferAsk,
  events: readonly Made[],
): string | undefined {
  const named = events.map(({ event }) => event.pr && prKey(event.pr));
  // A round that something else is a part of stands by that.
  if (named.includes(undefined)) return undefined;
  const keys = new Set([...named, ...(subject?.type === "pr" ? [subject.ref] : [])]);
  const prs = [...keys].flatMap((key) => (key === undefined ? [] : (prRow(ledger, key) ?? [])));
  const [first] = prs;
  if (!first) return undefined;
  if (prs.every((pr) => pr.state !== "open")) return `${first.key} is ${first.state}.`;
  const asked = events.length > 0 && events.every(({ event }) => event.type === "pr.review_requested");
  if (kind === "review" && asked && !prs.some((pr) => reviewersOf(ledger, pr).includes(handle)))
    return `${handle} is not asked to review ${first.key} any more.`;
  return undefined;
}
