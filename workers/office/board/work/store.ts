/** The rows of the board's state, read and written as fields (WORK-1). */
import { ticketKey } from "../../../../src/shared/rules/ticket-links.ts";
import { type Fields, put } from "../../../../src/shared/rules/work-state.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { SqlValue } from "../../../kit/db.ts";
import type { BoardLedger } from "../ledger.ts";

/** Who did something, as their source named them: what trust is worked out from (PIPE-5). */
export type StoredActor = WorkEvent["actor"] & { source: string };

export interface TicketRow {
  n: number;
  key: string;
  fields: Fields;
  title: string | null;
  url: string | null;
  status: string | null;
  assignee: string | null;
  parent: string | null;
  made_by: string | null;
  created_at: number;
  updated_at: number;
}
export interface PrRow {
  key: string;
  repo: string;
  number: number;
  fields: Fields;
  state: "open" | "closed" | "merged";
  draft: number;
  author: string | null;
  head: string | null;
  head_sha: string | null;
  base: string | null;
  merge_sha: string | null;
  ticket: string | null;
  made_by: string | null;
  created_at: number;
  updated_at: number;
  read_at: number;
}
export interface DocRow {
  id: string;
  fields: Fields;
  ticket: string | null;
  made_by: string | null;
  at: number;
}

type Raw<T> = Omit<T, "fields"> & { fields: string };
const whole = <T extends { fields: Fields }>(row: Raw<T> | undefined): T | undefined =>
  row && ({ ...row, fields: JSON.parse(row.fields) as Fields } as unknown as T);

/** The ticket of a key, in any case (WORK-6). */
export function ticketRow(ledger: BoardLedger, key: string): TicketRow | undefined {
  return whole<TicketRow>(
    ledger.db.one<Raw<TicketRow>>("SELECT * FROM tickets WHERE key = ?", ticketKey(key)),
  );
}

export function prRow(ledger: BoardLedger, key: string): PrRow | undefined {
  return whole<PrRow>(ledger.db.one<Raw<PrRow>>("SELECT * FROM prs WHERE key = ?", key));
}

/** Pull requests by a condition on their columns. */
export function prRows(ledger: BoardLedger, where: string, ...bindings: SqlValue[]): PrRow[] {
  return ledger.db
    .all<Raw<PrRow>>(`SELECT * FROM prs WHERE ${where}`, ...bindings)
    .flatMap((row) => whole<PrRow>(row) ?? []);
}

/** Tickets by a condition on their columns. */
export function ticketRows(ledger: BoardLedger, where: string, ...bindings: SqlValue[]): TicketRow[] {
  return ledger.db
    .all<Raw<TicketRow>>(`SELECT * FROM tickets WHERE ${where}`, ...bindings)
    .flatMap((row) => whole<TicketRow>(row) ?? []);
}

export function docRow(ledger: BoardLedger, id: string): DocRow | undefined {
  return whole<DocRow>(ledger.db.one<Raw<DocRow>>("SELECT * FROM docs WHERE id = ?", id));
}

/** Fields of a row as they are with what is given put over them. */
export function merged(have: Fields | undefined, given: Record<string, unknown>, at: number): Fields {
  return put(have ?? {}, given, at);
}

/** A pull request's name everywhere: `owner/repo#n`. */
export const prKey = (pr: { repo: string; number: number }): string => `${pr.repo}#${pr.number}`;
