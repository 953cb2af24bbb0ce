/** The events that made a round, as far as an offer looks at them. */
import type { Who } from "../../../../src/shared/rules/trust.ts";
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { BoardLedger } from "../ledger.ts";

export interface Made {
  id: string;
  takenAt: number;
  who: Who;
  event: WorkEvent;
}

/** Rounds are made of few events; a flood's later ones change nothing of what is asked here. */
const MOST = 100;

/** The round's events, in the order that they are given in; what is no event of the board's is left out. */
export function eventsOf({ db }: BoardLedger, ids: readonly string[]): Made[] {
  return ids.slice(0, MOST).flatMap((id) => {
    const row = db.one<{ taken_at: number; who: string; event: string }>(
      "SELECT taken_at, who, event FROM events WHERE id = ?",
      id,
    );
    if (!row) return [];
    const [who, event] = [JSON.parse(row.who) as Who, JSON.parse(row.event) as WorkEvent];
    return [{ id, takenAt: row.taken_at, who, event }];
  });
}
