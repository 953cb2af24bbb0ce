/** What people's agents made: a ticket, a pull request, a document. From then on it is theirs (ITEM-1, ITEM-5). */
import { ticketKey } from "../../../../src/shared/rules/ticket-links.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLetters } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { prOwner } from "./prs.ts";
import { prKey, prRow, ticketRow } from "./store.ts";
import { takeEvent } from "./take.ts";

/** Takes in what an agent made, as an event: the board often hears of it from here first. */
export function takeMade(ledger: BoardLedger, made: BoardLetters["made"]): void {
  const { handle, at, ticket, pr, doc } = made;
  const key = ticket === undefined ? undefined : ticketKey(ticket);
  const by = { at, source: "office", actor: { id: handle, kind: "agent" as const } };
  const name = `made:${handle}:${made.item ?? "-"}`;
  if (pr) {
    ownPr(ledger, pr, handle, Date.parse(at));
    takeEvent(ledger, {
      ...by,
      id: `${name}:${prKey(pr)}`,
      type: "pr.opened",
      pr: { repo: pr.repo, number: pr.number, ...(pr.url === undefined ? {} : { url: pr.url }) },
      ...forTicket(ledger, key),
    });
    return;
  }
  if (doc) {
    const known = key !== undefined && ticketRow(ledger, key) ? { ticket: key } : {};
    // Written again under another title or for another ticket, it is linked anew.
    const id = `${name}:${doc.id}:${key ?? ""}`;
    takeEvent(ledger, { ...by, id, type: "doc.linked", doc: { ...doc, ...known } });
    return;
  }
  if (key === undefined) return;
  // The tracker's own event may be on its way; on our own board there is no such ticket that we do not know.
  if (ledger.team.tracker.kind === "events" && !ticketRow(ledger, key))
    takeEvent(ledger, { ...by, id: `${name}:${key}`, type: "ticket.created", ticket: { key } });
  ledger.db.run("UPDATE tickets SET made_by = coalesce(made_by, ?) WHERE key = ?", handle, key);
}

function forTicket(ledger: BoardLedger, key: string | undefined): Pick<WorkEvent, "ticket"> {
  return key !== undefined && ticketRow(ledger, key) ? { ticket: { key } } : {};
}

/** Whoever made a pull request in an item is whose it is, whatever login opened it; a teammate's stays theirs. */
function ownPr(ledger: BoardLedger, pr: { repo: string; number: number }, handle: string, at: number): void {
  const key = prKey(pr);
  if (!prRow(ledger, key))
    ledger.db.run(
      `INSERT INTO prs (key, repo, number, fields, state, draft, created_at, updated_at, read_at)
         VALUES (?, ?, ?, '{}', 'open', 0, ?, ?, ?)`,
      key,
      pr.repo,
      pr.number,
      at,
      at,
      ledger.now,
    );
  const row = prRow(ledger, key);
  const owner = row && prOwner(ledger, row);
  if (owner === undefined) ledger.db.run("UPDATE prs SET made_by = ? WHERE key = ?", handle, key);
}
