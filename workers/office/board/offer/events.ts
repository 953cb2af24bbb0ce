/** The events that made a round, as far as an offer looks at them. */
import type { Who } from "../../../../src/shared/rules/trust.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";

export interface Made {
  id: string;
  takenAt: number;
  who: Who;
  event: WorkEvent;
  /** The rule by which it woke the person of the offer, if it did. */
  rule?: string;
}

/** Rounds are made of few events; a flood's later ones change nothing of what is asked here. */
const MOST = 100;

/** The round's events, in the order that they are given in; what is no event of the board's is left out. */
export function eventsOf({ db }: BoardLedger, handle: string, ids: readonly string[]): Made[] {
  return ids.slice(0, MOST).flatMap((id) => {
    const row = db.one<{ taken_at: number; who: string; event: string }>(
      "SELECT taken_at, who, event FROM events WHERE id = ?",
      id,
    );
    if (!row) return [];
    const [who, event] = [JSON.parse(row.who) as Who, JSON.parse(row.event) as WorkEvent];
    const woken = db.one<{ rule: string }>(
      "SELECT rule FROM decisions WHERE event_id = ? AND person = ? AND decision = 'wake' ORDER BY n LIMIT 1",
      id,
      handle,
    );
    return [{ id, takenAt: row.taken_at, who, event, ...(woken && { rule: woken.rule }) }];
  });
}
