/** What the board says of an item before it is offered: whether it still stands, and its context (OFFER-2, OFFER-4). */
import type { OfferAnswer, OfferAsk, Ref } from "../letters.ts";
import type { BoardLedger } from "./ledger.ts";
import { holdOf } from "./team/holds.ts";
import { assigneeOf } from "./work/facts.ts";
import { prSubject } from "./work/find.ts";
import { prRow, ticketRow } from "./work/store.ts";

export function offer(ledger: BoardLedger, ask: OfferAsk): OfferAnswer {
  const why = fallen(ledger, ask);
  if (why !== undefined) return { stands: false, why };
  const subjects = subjectsOf(ledger, ask);
  const hold = holdOf(ledger, ask.handle);
  return {
    stands: true,
    ...(hold === undefined ? {} : { holdUntil: hold.until }),
    subjects,
    links: subjects.flatMap(({ url, title }) =>
      url === undefined ? [] : [{ url, ...(title === undefined ? {} : { title }) }],
    ),
  };
}

/** Why an item is no more: its ticket is closed or somebody else's, its pull request is merged (OFFER-2). */
function fallen(ledger: BoardLedger, { handle, kind, subject }: OfferAsk): string | undefined {
  if (subject?.type === "ticket") {
    const ticket = ticketRow(ledger, subject.ref);
    if (!ticket) return undefined;
    if (ticket.status === "done" || ticket.status === "canceled") return `${ticket.key} is ${ticket.status}.`;
    if (kind === "assigned" && assigneeOf(ledger, ticket) !== handle)
      return `${ticket.key} is not assigned to ${handle} any more.`;
  }
  if (subject?.type === "pr" && kind !== "merge") {
    const pr = prRow(ledger, subject.ref);
    if (pr && pr.state !== "open") return `${pr.key} is ${pr.state}.`;
  }
  return undefined;
}

function subjectsOf(ledger: BoardLedger, { handle, subject, refs }: OfferAsk) {
  const seen = new Set<string>();
  const wanted: Ref[] = [...(subject === undefined ? [] : [subject]), ...refs];
  return wanted.flatMap((ref) => {
    if (seen.has(`${ref.type} ${ref.ref}`)) return [];
    seen.add(`${ref.type} ${ref.ref}`);
    const pr = ref.type === "pr" ? prRow(ledger, ref.ref) : undefined;
    if (pr) return [prSubject(ledger, pr, handle)];
    const ticket = ref.type === "ticket" ? ticketRow(ledger, ref.ref) : undefined;
    const title = ticket?.fields["title"];
    return [{ type: ref.type, ref: ref.ref, ...(typeof title === "string" ? { title } : {}) }];
  });
}
