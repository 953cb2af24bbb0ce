/** An event and what was decided of it (PIPE-1: `GET /v1/work/events/:id`). */
import type { Who } from "../../../../src/shared/rules/trust.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";

export interface TraceDecision {
  rule: string;
  decision: string;
  kind?: string;
  person?: string;
  item?: string;
  act?: string;
  why: string;
  at: string;
}
export interface Trace {
  event: { event_id: string; taken_at: string; trusted: boolean; by: string } & Omit<WorkEvent, "id"> & {
      id: string;
    };
  decisions: TraceDecision[];
}

interface EventRow {
  id: string;
  taken_at: number;
  who: string;
  trusted: number;
  event: string;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** The trace of an event by the board's id of it, else undefined. */
export function trace(ledger: BoardLedger, id: string): Trace | undefined {
  const row = ledger.db.one<EventRow>(
    "SELECT id, taken_at, who, trusted, event FROM events WHERE id = ?",
    id,
  );
  if (!row) return undefined;
  const decisions = ledger.db.all<Record<string, string | number | null>>(
    "SELECT rule, decision, kind, person, item, act, why, at FROM decisions WHERE event_id = ? ORDER BY n",
    id,
  );
  return {
    event: eventShown(row),
    decisions: decisions.map(
      (d) =>
        Object.fromEntries(
          Object.entries(d).flatMap(([name, v]) =>
            v === null ? [] : [[name, name === "at" ? iso(Number(v)) : v]],
          ),
        ) as unknown as TraceDecision,
    ),
  };
}

/** An event as people read it. */
export function eventShown(row: EventRow): Trace["event"] {
  const event = JSON.parse(row.event) as WorkEvent;
  const who = JSON.parse(row.who) as Who;
  return {
    event_id: row.id,
    taken_at: iso(row.taken_at),
    trusted: row.trusted === 1,
    by: who.name,
    ...event,
  };
}
