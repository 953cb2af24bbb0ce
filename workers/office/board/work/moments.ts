/** Tells people's offices what happened to the things that their items refer to, for recall (RECALL-1). */
import { OWN_SOURCES, type Who } from "../../../../src/shared/rules/trust.ts";
import { textOf } from "../../../../src/shared/rules/work-state.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLetters, OfficeLetters, Ref } from "../../letters.ts";
import { isRead } from "../host/wants.ts";
import type { BoardLedger } from "../ledger.ts";
import { refsOf } from "./refs.ts";
import { docRow, prRow, ticketRow } from "./store.ts";

/** What an office knows by itself, or nobody would search for. */
const LEFT_OUT = new Set([
  "check.updated",
  "push",
  "item.accepted",
  "item.ended",
  "question.asked",
  "schedule.due",
]);
/** Past events of one thing that follow a new reference to it. */
const BACKFILL = 500;

type Moment = OfficeLetters["moment"];

/** Everything by which `with` may name who did it. */
function whoIds(ledger: BoardLedger, event: WorkEvent, who: Who): string[] {
  const human = ledger.team.humans.find(
    (h) => who.kind === "human" && h.name === who.name && h.user === who.user,
  );
  const person = ledger.team.people.find((p) => p.handle === who.handle);
  return [
    ...new Set([
      event.actor.id,
      who.name,
      ...(event.actor.name && !OWN_SOURCES.includes(event.source) ? [event.actor.name] : []),
      ...(who.handle ? [who.handle] : []),
      ...(who.user ? [who.user] : []),
      ...Object.values(human?.identities ?? person?.identities ?? {}),
    ]),
  ];
}

/** The words of an event. */
function wordsOf({ comment, review, chat, ticket, pr, doc }: WorkEvent): string {
  const said = [comment?.body, review && `${review.state} ${review.body ?? ""}`, chat?.text];
  const words = said.find((text) => text !== undefined);
  if (words !== undefined) return words.trim();
  return [ticket?.title, ticket?.description, pr?.title, pr?.body, doc?.title]
    .filter((text) => text !== undefined)
    .join("\n");
}

function named(ledger: BoardLedger, { type, ref }: Ref): { title?: string; url?: string } {
  const row =
    type === "ticket"
      ? ticketRow(ledger, ref)
      : type === "pr"
        ? prRow(ledger, ref)
        : type === "doc"
          ? docRow(ledger, ref)
          : undefined;
  const [title, url] = row ? [textOf(row.fields, "title"), textOf(row.fields, "url")] : [];
  return { ...(title === undefined ? {} : { title }), ...(url === undefined ? {} : { url }) };
}

function momentOf(ledger: BoardLedger, event: WorkEvent, id: string, who: Who, ref: Ref): Moment {
  const link = event.comment?.url ?? event.review?.url;
  return {
    id,
    at: event.at,
    kind: event.type,
    ref,
    ...named(ledger, ref),
    who: who.name,
    whoIds: whoIds(ledger, event, who),
    text: wordsOf(event),
    ...(link === undefined ? {} : { link }),
  };
}

/** Sends a new event to everybody with an item about it, once each. */
export function sendMoments(ledger: BoardLedger, event: WorkEvent, id: string, who: Who): void {
  // What was read at a host is a state, and nobody did it.
  if (LEFT_OUT.has(event.type) || isRead(event)) return;
  const told = new Set<string>();
  for (const ref of refsOf(event))
    for (const { person } of ledger.db.all<{ person: string }>(
      "SELECT DISTINCT person FROM item_refs WHERE type = ? AND ref = ?",
      ref.type,
      ref.ref,
    )) {
      if (told.has(person)) continue;
      told.add(person);
      ledger.toOffice(person, "moment", momentOf(ledger, event, id, who, ref));
    }
}

/** An item newly refers to things: what happened to them so far follows, oldest first. */
export function takeRefs(ledger: BoardLedger, { handle, item, refs }: BoardLetters["refs"]): void {
  for (const ref of refs) {
    const known = ledger.db.one<{ n: number }>(
      "SELECT count(*) AS n FROM item_refs WHERE type = ? AND ref = ? AND person = ?",
      ref.type,
      ref.ref,
      handle,
    );
    const added = ledger.db.run(
      `INSERT INTO item_refs (type, ref, person, item, role, source, at) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING`,
      ref.type,
      ref.ref,
      handle,
      item,
      ref.role,
      ref.source,
      ledger.now,
    );
    if (added > 0 && known?.n === 0) backfill(ledger, handle, { type: ref.type, ref: ref.ref });
  }
}

function backfill(ledger: BoardLedger, handle: string, ref: Ref): void {
  const rows = ledger.db.all<{ id: string; who: string; event: string }>(
    `SELECT e.id, e.who, e.event FROM event_refs r JOIN events e ON e.n = r.n
       WHERE r.type = ? AND r.ref = ? ORDER BY r.n DESC LIMIT ?`,
    ref.type,
    ref.ref,
    BACKFILL,
  );
  for (const row of rows.toReversed()) {
    const event = JSON.parse(row.event) as WorkEvent;
    if (!LEFT_OUT.has(event.type) && !isRead(event))
      ledger.toOffice(handle, "moment", momentOf(ledger, event, row.id, JSON.parse(row.who) as Who, ref));
  }
}
