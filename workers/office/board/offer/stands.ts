/** Whether an item still stands, right before it is offered (OFFER-2). */
import { personOf } from "../../../../src/shared/rules/trust.ts";
import { isOpen } from "../../../../src/shared/rules/work-state.ts";
import type { WorkEventType } from "../../../../src/shared/wire/work.ts";
import type { OfferAsk } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { askedOf, assigneeOf } from "../work/facts.ts";
import { reviewersOf } from "../work/prs.ts";
import { prKey, prRow, ticketRow } from "../work/store.ts";
import type { Made } from "./events.ts";

/**
 * Why an item is no more, in words for people; undefined while it stands. What somebody gave to the person by hand
 * has no event that could be taken back: only that its ticket is open and its pull request too is asked of it.
 */
export function fallen(ledger: BoardLedger, ask: OfferAsk, events: readonly Made[]): string | undefined {
  // What an end made is done after it.
  if (events.some(({ event }) => ENDS.has(event.type))) return undefined;
  return ticketFallen(ledger, ask, events) ?? prFallen(ledger, ask, events);
}

/** A merge that went wrong, and what the team's own rules make of an end. */
const ENDS: ReadonlySet<WorkEventType> = new Set([
  "merge.checks_failed",
  "merge.timed_out",
  "ticket.closed",
  "pr.closed",
  "pr.merged",
]);

/** Somebody said something about the work, or it failed: that is answered, whatever became of the ticket. */
const FEEDBACK: ReadonlySet<WorkEventType> = new Set([
  "ticket.commented",
  "doc.commented",
  "chat.message",
  "pr.commented",
  "pr.inline_commented",
  "pr.reviewed",
  "pr.checks_failed",
]);

function ticketFallen(
  ledger: BoardLedger,
  { handle, kind, subject }: OfferAsk,
  events: readonly Made[],
): string | undefined {
  const ticket = subject?.type === "ticket" ? ticketRow(ledger, subject.ref) : undefined;
  if (!ticket) return undefined;
  const answers = kind !== "assigned" && events.some(({ event }) => FEEDBACK.has(event.type));
  if (!isOpen(ticket.status)) return answers ? undefined : `${ticket.key} is ${ticket.status}.`;
  const assigned = events.some((made) => assigns(ledger, made, handle));
  if (kind === "assigned" && assigned && assigneeOf(ledger, ticket) !== handle)
    return `${ticket.key} is not assigned to ${handle} any more.`;
  return undefined;
}

/** Whether an event is the assignment to that person: a rule of the team's gives work to whoever it likes. */
function assigns({ team }: BoardLedger, { event, rule }: Made, handle: string): boolean {
  const { ticket, type, source } = event;
  if (rule === "ticket.assigned") return true;
  if (type !== "ticket.assigned" && type !== "ticket.created") return false;
  return personOf(team, source, ticket?.assignee ?? null) === handle;
}

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
  const asked = events.length > 0 && events.every((made) => asksReview(ledger, made, handle));
  if (kind === "review" && asked && !prs.some((pr) => reviewersOf(ledger, pr).includes(handle)))
    return `${handle} is not asked to review ${first.key} any more.`;
  return undefined;
}

/** Whether an event asks that person for a review, as {@link assigns} is about assignments. */
function asksReview(ledger: BoardLedger, { event, rule }: Made, handle: string): boolean {
  return rule === "pr.review_requested" || askedOf(ledger, event).includes(handle);
}
