/** What hangs together with an item, walked over the board's links (OFFER-8). */
import { keysIn } from "../../../../src/shared/rules/ticket-links.ts";
import { type Given, type Picked, type Thing, walk } from "../../../../src/shared/rules/wake.ts";
import type { OfferFeedback, Wake } from "../../../../src/shared/wire/agent/index.ts";
import type { OfferAsk } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { anyCasePr, prsOfTicket, stackedBy, stackedOn } from "../work/prs.ts";
import { docRow, prRow, ticketRow, ticketRows } from "../work/store.ts";
import type { Made } from "./events.ts";
import { reviewsOfTicket } from "./reviews.ts";
import { chatView, docView, prView, ticketView } from "./views.ts";

/** Links of one thing that are followed. */
const LINKS = 100;

/** The four lists of the bundle, and how many things more there are. */
export function bundleOf(
  ledger: BoardLedger,
  ask: OfferAsk,
  events: readonly Made[],
): Pick<Wake, "tickets" | "prs" | "docs" | "chats" | "omitted"> {
  const { picked, omitted } = walk({
    given: [...givenOf(ask), ...mentionedIn(ledger, ask, events)],
    linked: (thing) => linksOf(ledger, ask.handle, thing),
    touched: (thing) => touchedAt(ledger, thing),
    items: ledger.team.pipeline.context.items,
  });
  const all = <T>(type: Thing["type"], view: (ref: string, why: Picked["why"]) => T[]): T[] =>
    picked.flatMap((one) => (one.type === type ? view(one.ref, one.why) : []));
  return {
    tickets: all("ticket", (key, why) =>
      ticketView(ledger, key, why).map((ticket) =>
        ask.subject?.type === "ticket" && ask.subject.ref === key
          ? { ...ticket, ...reviewsOfTicket(ledger, key) }
          : ticket,
      ),
    ),
    prs: all("pr", (key, why) => prView(ledger, key, why)),
    docs: all("doc", (id, why) => docView(ledger, id, why)),
    chats: all("chat_thread", (ref, why) => chatView(ledger, ref, why)),
    ...(omitted > 0 && { omitted }),
  };
}

/** What the item refers to by itself, its subject too. */
function givenOf({ subject, refs, events }: OfferAsk): Given[] {
  const given: Given[] = refs.map(({ type, ref, role, source, addedAt }) => ({
    type,
    ref,
    role,
    source,
    ...(addedAt !== undefined && { addedAt }),
  }));
  if (subject) given.push({ ...subject, role: "subject", source: events[0] ?? `link:${subject.ref}` });
  return given;
}

const PR_NAME = /(?<![\w./-])([\w.-]{1,100}\/[\w.-]{1,100})#([1-9]\d{0,8})(?!\w)/g;
const PR_LINK =
  /https?:\/\/[^\s/]{1,200}\/([\w.-]{1,100}\/[\w.-]{1,100})\/(?:pull|issues)\/([1-9]\d{0,8})(?!\w)/g;
const NUMBER = /(?<![\w/#&])#([1-9]\d{0,8})(?!\w)/g;
/** Longest text that is looked through, and things that one text names. */
const TEXT = 20_000;
const NAMED = 20;

/** Tickets and pull requests that the feedback names: what named them is its event or message. */
function mentionedIn(
  ledger: BoardLedger,
  { feedback, subject, refs }: OfferAsk,
  events: readonly Made[],
): Given[] {
  const repo = [subject, ...refs].find((one) => one?.type === "pr")?.ref.split("#")[0];
  return feedback.flatMap((entry) => {
    const source = sourceOf(entry, events);
    const text = [entry.body, ...(entry.comments ?? []).map(({ body }) => body)].join("\n").slice(0, TEXT);
    const names = [
      ...keysIn(text),
      ...[...text.matchAll(PR_NAME), ...text.matchAll(PR_LINK)].map(([, of, n]) => `${of}#${n}`),
      ...(repo === undefined ? [] : [...text.matchAll(NUMBER)].map(([, n]) => `${repo}#${n}`)),
    ];
    return [...new Set(names)].slice(0, NAMED).flatMap((name): Given[] => {
      const ticket = ticketRow(ledger, name);
      if (ticket) return [{ type: "ticket", ref: ticket.key, role: "mentioned", source }];
      const pr = name.includes("#") ? anyCasePr(ledger, name) : undefined;
      return pr ? [{ type: "pr", ref: pr.key, role: "mentioned", source }] : [];
    });
  });
}

function sourceOf(entry: OfferFeedback, events: readonly Made[]): string {
  const made = events.find(
    ({ event }) =>
      entry.commentId !== undefined && [event.comment?.id, event.chat?.message].includes(entry.commentId),
  );
  if (made?.event.chat) return made.event.chat.message;
  return (made ?? events.at(-1))?.id ?? entry.commentId ?? "feedback";
}

/** What a thing is linked to: ticket and pull requests, parent and children, a stack, documents, threads of items. */
function linksOf(ledger: BoardLedger, handle: string, { type, ref }: Thing): Thing[] {
  const threads = besides(ledger, handle, { type, ref });
  if (type === "ticket") {
    const row = ticketRow(ledger, ref);
    const children = ticketRows(ledger, "parent = ? ORDER BY updated_at DESC LIMIT ?", ref, LINKS);
    const docs = ledger.db.all<{ id: string }>(
      "SELECT id FROM docs WHERE ticket = ? ORDER BY at DESC LIMIT ?",
      ref,
      LINKS,
    );
    return [
      ...prsOfTicket(ledger, ref)
        .slice(0, LINKS)
        .map(({ key }): Thing => ({ type: "pr", ref: key })),
      ...[...(row?.parent ? [row.parent] : []), ...children.map(({ key }) => key)].map(
        (key): Thing => ({ type: "ticket", ref: key }),
      ),
      ...docs.map(({ id }): Thing => ({ type: "doc", ref: id })),
      ...threads,
    ];
  }
  if (type === "pr") {
    const row = prRow(ledger, ref);
    if (!row) return threads;
    const under = stackedOn(ledger, row);
    return [
      ...(row.ticket === null ? [] : [{ type: "ticket" as const, ref: row.ticket }]),
      ...[...(under ? [under] : []), ...stackedBy(ledger, row)].map(
        ({ key }): Thing => ({ type: "pr", ref: key }),
      ),
      ...threads,
    ];
  }
  if (type === "doc") {
    const ticket = docRow(ledger, ref)?.ticket;
    return [...(ticket ? [{ type: "ticket" as const, ref: ticket }] : []), ...threads];
  }
  return threads;
}

/**
 * The threads of the person's own items about a thing, and the things of their items that a thread belongs to.
 * Only their own: what others talk of with theirs is not theirs to read.
 */
function besides({ db }: BoardLedger, handle: string, { type, ref }: Thing): Thing[] {
  return db.all<{ type: Thing["type"]; ref: string }>(
    `SELECT DISTINCT o.type, o.ref FROM item_refs m JOIN item_refs o ON o.person = m.person AND o.item = m.item
       WHERE m.type = ?1 AND m.ref = ?2 AND m.person = ?3 AND m.role <> 'linked' AND o.role <> 'linked'
         AND (o.type = 'chat_thread') <> (m.type = 'chat_thread') ORDER BY o.at DESC LIMIT ?4`,
    type,
    ref,
    handle,
    LINKS,
  );
}

/** When a thing was last touched, ms; undefined for what the board does not have. */
function touchedAt(ledger: BoardLedger, { type, ref }: Thing): number | undefined {
  if (type === "ticket") return ticketRow(ledger, ref)?.updated_at;
  if (type === "pr") return prRow(ledger, ref)?.updated_at;
  if (type === "doc") return docRow(ledger, ref)?.at;
  return (
    ledger.db.one<{ at: number | null }>(
      "SELECT max(e.taken_at) AS at FROM event_refs r JOIN events e ON e.n = r.n WHERE r.type = 'chat_thread' AND r.ref = ?",
      ref,
    )?.at ?? 0
  );
}
