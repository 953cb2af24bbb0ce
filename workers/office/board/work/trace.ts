/** Events and what was decided of them, for people (PIPE-1: `GET /v1/work/events/:id`). */
import type { Who } from "../../../../src/shared/rules/trust.ts";
import type {
  TraceAnswer,
  WorkDecision,
  WorkEventItem,
  WorkEventsQuery,
} from "../../../../src/shared/wire/office.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { SqlValue } from "../../../kit/db.ts";
import { notFound, refuse } from "../../../kit/result.ts";
import type { Identity } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";
import { mustBeMember } from "../rights.ts";
import { refsOf } from "./refs.ts";

interface EventRow {
  n: number;
  id: string;
  taken_at: number;
  who: string;
  trusted: number;
  event: string;
}
interface DecisionRow {
  rule: string;
  decision: string;
  kind: string | null;
  person: string | null;
  item: string | null;
  act: string | null;
  why: string;
  at: number;
  result: string | null;
}

const iso = (ms: number): string => new Date(ms).toISOString();

function decisionsOf(ledger: BoardLedger, id: string): WorkDecision[] {
  return ledger.db
    .all<DecisionRow>(
      `SELECT d.rule, d.decision, d.kind, d.person, d.item, d.act, d.why, d.at, a.result
         FROM decisions d LEFT JOIN acts a ON a.id = d.act WHERE d.event_id = ? ORDER BY d.n`,
      id,
    )
    .map(({ rule, decision, kind, person, item, act, why, at, result }) => ({
      rule,
      decision,
      ...(kind === null ? {} : { kind }),
      ...(person === null ? {} : { person }),
      ...(item === null ? {} : { item }),
      ...(act === null ? {} : { act }),
      why,
      at: iso(at),
      ...(result === null ? {} : { result: JSON.parse(result) as NonNullable<WorkDecision["result"]> }),
    }));
}

/** The trace of an event by the board's id of it, else undefined. */
export function trace(ledger: BoardLedger, id: string): TraceAnswer | undefined {
  const row = ledger.db.one<EventRow>("SELECT * FROM events WHERE id = ?", id);
  if (!row) return undefined;
  const event = JSON.parse(row.event) as WorkEvent;
  const who = JSON.parse(row.who) as Who;
  return {
    event: {
      ...event,
      event_id: row.id,
      taken_at: iso(row.taken_at),
      by: who.name,
      trusted: row.trusted === 1,
      trust: who.why,
    },
    decisions: decisionsOf(ledger, row.id),
  };
}

/** The same for a person of the workspace (QUEUE-4). */
export function traceFor(ledger: BoardLedger, by: Identity, id: string): TraceAnswer {
  mustBeMember(by);
  return trace(ledger, id) ?? notFound("event");
}

/** Events page by page, the newest first (PIPE-1). */
export function workEvents(
  ledger: BoardLedger,
  by: Identity,
  asked: WorkEventsQuery,
): { items: WorkEventItem[]; next?: string } {
  mustBeMember(by);
  const where = ["1"];
  const bindings: SqlValue[] = [];
  if (asked.type !== undefined) {
    where.push("type = ?");
    bindings.push(asked.type);
  }
  if (asked.cursor !== undefined) {
    if (!/^\d{1,15}$/.test(asked.cursor))
      refuse("invalid", "cursor is the `next` of the page before.", {
        details: [{ path: "cursor", message: "is no cursor of this list" }],
      });
    where.push("n < ?");
    bindings.push(Number(asked.cursor));
  }
  const rows = ledger.db.all<EventRow>(
    `SELECT * FROM events WHERE ${where.join(" AND ")} ORDER BY n DESC LIMIT ?`,
    ...bindings,
    asked.limit + 1,
  );
  const page = rows.slice(0, asked.limit);
  const last = page.at(-1);
  return {
    items: page.map((row) => itemOf(ledger, row)),
    ...(rows.length > page.length && last ? { next: String(last.n) } : {}),
  };
}

function itemOf(ledger: BoardLedger, row: EventRow): WorkEventItem {
  const event = JSON.parse(row.event) as WorkEvent;
  const about = refsOf(event)[0]?.ref ?? event.check?.name ?? event.push?.branch;
  return {
    event_id: row.id,
    type: event.type,
    source: event.source,
    at: event.at,
    actor: (JSON.parse(row.who) as Who).name,
    trusted: row.trusted === 1,
    ...(about === undefined ? {} : { about }),
    decided: decisionsOf(ledger, row.id).map(({ decision, person }) =>
      person === undefined ? decision : `${decision} ${person}`,
    ),
  };
}
