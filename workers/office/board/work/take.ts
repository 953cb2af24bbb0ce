/** The one way in: whatever happens around the team's work comes through here (WORK-1, PIPE-1, PIPE-3). */

import { mask } from "../../../../src/shared/rules/mask.ts";
import { decide } from "../../../../src/shared/rules/pipeline.ts";
import { endedKeys } from "../../../../src/shared/rules/pipeline-rules.ts";
import { repoOf } from "../../../../src/shared/rules/repo-of.ts";
import { firstBytes } from "../../../../src/shared/rules/text.ts";
import { ticketKey } from "../../../../src/shared/rules/ticket-links.ts";
import { type Who, whoIs } from "../../../../src/shared/rules/trust.ts";
import { timeOf } from "../../../../src/shared/rules/work-state.ts";
import { MAX_BODY_BYTES, type WorkEvent } from "../../../../src/shared/wire/work.ts";
import { wantAfter } from "../host/wants.ts";
import type { BoardLedger } from "../ledger.ts";
import { applyEvent } from "./apply.ts";
import { carryOut, release } from "./carry.ts";
import { derivedFrom } from "./derive.ts";
import { assigneeOf, factsOf } from "./facts.ts";
import { sendMoments } from "./moments.ts";
import { refsOf } from "./refs.ts";
import { ticketRow } from "./store.ts";
import { keepTalk, talkMark, talkOf } from "./talk.ts";
import { tellUntrusted } from "./tell.ts";

export interface Taken {
  /** The board's own id of the event: what traces and letters name. */
  id: string;
  duplicate: boolean;
}

/**
 * Takes an event in: keeps it, changes the state by it, decides, and writes down what follows, all in the caller's
 * transaction. The same id of the same source again changes nothing and answers the first event's id (PIPE-3).
 *
 * @param caused an act of the pipeline made it: it leads to no further act
 */
export function takeEvent(ledger: BoardLedger, given: WorkEvent, caused = false): Taken {
  const known = ledger.db.one<{ id: string }>(
    "SELECT id FROM events WHERE source = ? AND source_id = ?",
    given.source,
    given.id,
  );
  if (known) return { id: known.id, duplicate: true };
  const event = normal(ledger, given);
  const at = timeOf(event.at, ledger.now);
  const who = actorOf(ledger, event);
  const id = keep(ledger, event, at, who);
  const before = assignedBefore(ledger, event);
  applyEvent(ledger, event, at);
  own(ledger, event, who);
  const talk = talkOf(ledger, event, who);
  const facts = factsOf(ledger, event, { eventId: id, who, before, caused, talk });
  release(ledger, endedKeys(event, facts));
  remember(ledger, event);
  carryOut(ledger, event, id, decide(event, facts, ledger.team));
  keepTalk(ledger, event, id, who, talk);
  if (event.type === "chat.message" && !who.trusted) tellUntrusted(ledger, event);
  sendMoments(ledger, event, id, who);
  ledger.changed({ events: [id], tickets: event.ticket ? [event.ticket.key] : [] });
  wantAfter(ledger, event);
  for (const derived of derivedFrom(ledger, event)) takeEvent(ledger, derived);
  return { id, duplicate: false };
}

/** Writes the event down, with what it is about. */
function keep(ledger: BoardLedger, event: WorkEvent, at: number, who: Who): string {
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
      "INSERT OR IGNORE INTO event_refs (type, ref, n, counts) VALUES (?, ?, ?, ?)",
      type,
      ref,
      row?.n ?? 0,
      talkMark(event, who),
    );
  return id;
}

/** Whom the event's ticket was assigned to until now. */
function assignedBefore(ledger: BoardLedger, event: WorkEvent): string | undefined {
  const row = event.ticket && ticketRow(ledger, event.ticket.key);
  return row && assigneeOf(ledger, row);
}

/** Whoever of the team makes a ticket or writes a document is whose it is, until somebody says otherwise. */
function own(ledger: BoardLedger, { type, ticket, doc }: WorkEvent, who: Who): void {
  if (!who.handle) return;
  if (type === "ticket.created" && ticket)
    ledger.db.run("UPDATE tickets SET made_by = coalesce(made_by, ?) WHERE key = ?", who.handle, ticket.key);
  if (type === "doc.linked" && doc)
    ledger.db.run("UPDATE docs SET made_by = coalesce(made_by, ?) WHERE id = ?", who.handle, doc.id);
}

/** How a round found its tickets, so that a silent end can put them back (PIPE-1). */
function remember(ledger: BoardLedger, { type, item }: WorkEvent): void {
  if (type !== "item.accepted" || !item) return;
  for (const key of item.tickets)
    ledger.db.run(
      `INSERT OR IGNORE INTO round_tickets (item, round, ticket, status)
         SELECT ?, ?, key, status FROM tickets WHERE key = ? AND status IS NOT NULL`,
      item.id,
      item.round,
      ticketKey(key),
    );
}

/** Who did it (PIPE-5). */
function actorOf(ledger: BoardLedger, event: WorkEvent): Who {
  const repo = repoOf(event);
  return whoIs(
    ledger.team,
    { ...event.actor, source: event.source },
    // Who writes in a room of ours is who the room says; elsewhere an agent says it.
    {
      chat: event.chat !== undefined && !event.chat.channel.startsWith("spc_"),
      ...(repo === undefined ? {} : { repo }),
    },
  );
}

/** Keys in one spelling, long text cut to what is kept (WORK-1), and no secret in what checks say (PIPE-4). */
function normal(ledger: BoardLedger, event: WorkEvent): WorkEvent {
  const cut = { ...event };
  if (event.ticket) {
    const { key, parent, description } = event.ticket;
    cut.ticket = {
      ...event.ticket,
      key: ticketKey(key),
      ...(parent ? { parent: ticketKey(parent) } : {}),
      ...(description === undefined ? {} : { description: cut64(description) }),
    };
  }
  if (event.item) cut.item = { ...event.item, tickets: [...new Set(event.item.tickets.map(ticketKey))] };
  if (event.doc?.ticket) cut.doc = { ...event.doc, ticket: ticketKey(event.doc.ticket) };
  if (event.pr?.body) cut.pr = { ...event.pr, body: cut64(event.pr.body) };
  if (event.check?.summary)
    cut.check = { ...event.check, summary: mask(cut64(event.check.summary), storedSecrets(ledger)) };
  if (event.comment) cut.comment = { ...event.comment, body: cut64(event.comment.body) };
  if (event.review?.body) cut.review = { ...event.review, body: cut64(event.review.body) };
  if (event.chat) cut.chat = { ...event.chat, text: cut64(event.chat.text) };
  if (event.question) cut.question = { ...event.question, text: cut64(event.question.text) };
  return cut;
}

const cut64 = (text: string): string => firstBytes(text, MAX_BODY_BYTES);

/** The values of every secret that the team names, and of the code host's own (SECRET-1). */
function storedSecrets(ledger: BoardLedger): string[] {
  const names = new Set([...Object.keys(ledger.team.secrets), "github_token", "github_webhook_secret"]);
  return [...names].flatMap((name) => ledger.secret(name));
}
