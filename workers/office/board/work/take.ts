/** The one way in: whatever happens around the team's work comes through here (WORK-1, PIPE-1, PIPE-3). */

import { ticketKey } from "../../../../src/shared/rules/ticket-links.ts";
import { OFFICE_ACTOR, type Who, whoIs } from "../../../../src/shared/rules/trust.ts";
import { timeOf } from "../../../../src/shared/rules/work-state.ts";
import { MAX_BODY_BYTES, type WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";
import { applyEvent } from "./apply.ts";
import { refsOf } from "./refs.ts";

export interface Taken {
  /** The board's own id of the event: what traces and letters name. */
  id: string;
  duplicate: boolean;
}

/**
 * Takes an event in: keeps it, changes the state by it, decides, and writes down what follows, all in the caller's
 * transaction. The same id of the same source again changes nothing and answers the first event's id (PIPE-3).
 */
export function takeEvent(ledger: BoardLedger, given: WorkEvent): Taken {
  const known = ledger.db.one<{ id: string }>(
    "SELECT id FROM events WHERE source = ? AND source_id = ?",
    given.source,
    given.id,
  );
  if (known) return { id: known.id, duplicate: true };
  const event = normal(given);
  const at = timeOf(event.at, ledger.now);
  const who = actorOf(ledger, event);
  const id = ledger.clock.mint("evt");
  const row = ledger.db.one<{ n: number }>(
    `INSERT INTO events (id, source, source_id, type, at, taken_at, who, trusted, event)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
    id,
    event.source,
    event.id,
    event.type,
    at,
    ledger.now,
    JSON.stringify(who),
    who.trusted ? 1 : 0,
    JSON.stringify(event),
  );
  for (const { type, ref } of refsOf(event))
    ledger.db.run(
      "INSERT OR IGNORE INTO event_refs (type, ref, n, counts) VALUES (?, ?, ?, NULL)",
      type,
      ref,
      row?.n ?? 0,
    );
  applyEvent(ledger, event, at);
  ledger.changed({ events: [id], tickets: event.ticket ? [event.ticket.key] : [] });
  return { id, duplicate: false };
}

/** Who did it (PIPE-5). */
function actorOf(ledger: BoardLedger, event: WorkEvent): Who {
  if (event.source === "schedule") return whoIs(ledger.team, { source: "schedule", ...OFFICE_ACTOR });
  const repo = event.pr?.repo ?? event.check?.repo;
  return whoIs(
    ledger.team,
    { ...event.actor, source: event.source },
    { chat: event.type === "chat.message", ...(repo === undefined ? {} : { repo }) },
  );
}

/** Keys in one spelling, and long text cut to what is kept (WORK-1). */
function normal(event: WorkEvent): WorkEvent {
  const cut = { ...event };
  if (event.ticket) {
    const { key, parent, description } = event.ticket;
    cut.ticket = {
      ...event.ticket,
      key: ticketKey(key),
      ...(parent ? { parent: ticketKey(parent) } : {}),
      ...(description === undefined ? {} : { description: cutText(description) }),
    };
  }
  if (event.doc?.ticket) cut.doc = { ...event.doc, ticket: ticketKey(event.doc.ticket) };
  if (event.pr?.body) cut.pr = { ...event.pr, body: cutText(event.pr.body) };
  if (event.check?.summary) cut.check = { ...event.check, summary: cutText(event.check.summary) };
  if (event.comment) cut.comment = { ...event.comment, body: cutText(event.comment.body) };
  if (event.review?.body) cut.review = { ...event.review, body: cutText(event.review.body) };
  if (event.chat) cut.chat = { ...event.chat, text: cutText(event.chat.text) };
  if (event.question) cut.question = { ...event.question, text: cutText(event.question.text) };
  return cut;
}

/** The beginning of a text that fits 64 KiB of UTF-8, cut between characters. */
export function cutText(text: string, most = MAX_BODY_BYTES): string {
  if (text.length * 3 <= most) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= most) return text;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
