/** What tickets' work used: rounds as the offices report them, added up when asked for (USE-2). */
import { firstThatFit, MOST_ANSWER } from "../../../../src/shared/rules/frame-fit.ts";
import { rolledUp, sharesOf, totalsOf, type UsedLine } from "../../../../src/shared/rules/ticket-usage.ts";
import type { AgentPayload } from "../../../../src/shared/wire/agent/index.ts";
import type { Totals } from "../../../../src/shared/wire/agent/parts.ts";
import { notFound, refuse } from "../../../kit/result.ts";
import type { BoardLetters } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { ticketRow } from "../work/store.ts";

/** What sub-tickets may take of a frame: there may be thousands, and each counts in the total all the same. */
const SUB_TICKETS_BYTES = MOST_ANSWER / 2;

/** Takes in what a round newly used (USE-1, USE-2). */
export function takeUsed(ledger: BoardLedger, used: BoardLetters["used"]): void {
  const row = ledger.db.one<{ n: number }>(
    "INSERT INTO used (item, round, handle, kind, at, models) VALUES (?, ?, ?, ?, ?, ?) RETURNING n",
    used.item,
    used.round,
    used.handle,
    used.kind,
    ledger.now,
    JSON.stringify(used.models),
  );
  const refs = [
    ...used.tickets.map((key) => ["ticket", ticketRow(ledger, key)?.key ?? key] as const),
    ...used.prs.map((pr) => ["pr", pr] as const),
  ];
  for (const [type, ref] of refs)
    ledger.db.run("INSERT OR IGNORE INTO used_refs (type, ref, n) VALUES (?, ?, ?)", type, ref, row?.n ?? 0);
  ledger.changed({ tickets: used.tickets });
}

/** Every line of the rounds whose item names the ticket, or a pull request of it. */
function linesOf({ db }: BoardLedger, key: string): UsedLine[] {
  return db
    .all<{ item: string; round: number; handle: string; kind: string; models: string }>(
      `SELECT item, round, handle, kind, models FROM used WHERE n IN (
         SELECT n FROM used_refs WHERE type = 'ticket' AND ref = ?1
         UNION SELECT r.n FROM prs p JOIN used_refs r ON r.type = 'pr' AND r.ref = p.key WHERE p.ticket = ?1
       ) ORDER BY n`,
      key,
    )
    .flatMap(({ item, round, handle, kind, models }) => {
      const of = { round: `${item}/${round}`, handle, kind };
      const used = JSON.parse(models) as BoardLetters["used"]["models"];
      return used.length === 0 ? [{ ...of, ...NOTHING }] : used.map((line) => ({ ...of, ...line }));
    });
}
const NOTHING = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, costUsd: 0 };

/** A ticket's own totals and those with its sub-tickets: what `set_field` writes too (PIPE-1). */
export function usageTotals(ledger: BoardLedger, key: string): { own: Totals; total: Totals } {
  return { own: totalsOf(linesOf(ledger, key)), total: rolled(ledger, key).total };
}

function rolled(ledger: BoardLedger, key: string) {
  return rolledUp(
    key,
    (ticket) => totalsOf(linesOf(ledger, ticket)),
    (ticket) =>
      ledger.db
        .all<{ key: string }>("SELECT key FROM tickets WHERE parent = ? ORDER BY n", ticket)
        .map((row) => row.key),
  );
}

/** What a ticket's work used, by person, model and kind, and with its sub-tickets (USE-2). */
export function ticketUsage(ledger: BoardLedger, asked: string): AgentPayload<"ticket_usage_result"> {
  if (!ledger.team.usage.track_cost)
    refuse(
      "unsupported",
      "This team does not track what its work uses: usage.track_cost is off in its config.",
    );
  const row = ticketRow(ledger, asked);
  if (!row) notFound("ticket");
  const lines = linesOf(ledger, row.key);
  const { total, subTickets } = rolled(ledger, row.key);
  return {
    ticket: row.key,
    own: totalsOf(lines),
    total,
    subTickets: firstThatFit(subTickets, SUB_TICKETS_BYTES),
    byPerson: sharesOf(lines, (line) => line.handle),
    byModel: sharesOf(lines, (line) => line.model),
    byKind: sharesOf(lines, (line) => line.kind),
  };
}
