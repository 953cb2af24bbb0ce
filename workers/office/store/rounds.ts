/** Rows of rounds: from the queueing of an item to the end of what was done with it (PIPE-2). */
import type { Link } from "../../../src/shared/wire/agent/index.ts";
import type { Db } from "../../kit/db.ts";
import type { Trigger } from "./items.ts";

/** How a round ended: the agent's word, `failed`, or that somebody took it away from the agent. */
export type RoundEnd =
  | "done"
  | "waiting"
  | "blocked"
  | "silent"
  | "interrupted"
  | "failed"
  | "stopped"
  | "moved"
  | "canceled";

export interface RoundRow {
  item: string;
  n: number;
  kind: string;
  trigger: Trigger;
  /** JSON: ids of the events that made it, the first of them first. */
  events: string;
  made_at: number;
  /** JSON: the tickets' statuses as the round found them (OFFER-6). */
  before: string | null;
  accepted_at: number | null;
  /** The connection that accepted it, and the last one on which the agent spoke of it. */
  accepted_on: string | null;
  touched_on: string | null;
  runtime: string | null;
  model: string | null;
  /** The concrete model that the runtime reports. */
  session_model: string | null;
  /** JSON `{spaceId, messageIds}`: the room's messages that its run is about (CHAT-2). */
  room: string | null;
  run_id: string | null;
  ended_at: number | null;
  ended: RoundEnd | null;
  summary: string | null;
  links: string | null;
  /** The hash of the agent's hand-back or fail: the same again is a repeat (OFF-8). */
  outcome: string | null;
}

export function round(db: Db, item: string, n: number): RoundRow | undefined {
  return db.one<RoundRow>("SELECT * FROM rounds WHERE item = ? AND n = ?", item, n);
}

export function roomOf(row: RoundRow): { spaceId: string; messageIds: string[] } | undefined {
  return row.room === null ? undefined : (JSON.parse(row.room) as { spaceId: string; messageIds: string[] });
}
export function eventsOf(row: RoundRow): string[] {
  return JSON.parse(row.events) as string[];
}
export function linksOf(row: RoundRow): Link[] {
  return row.links === null ? [] : (JSON.parse(row.links) as Link[]);
}

export function changeRound(
  db: Db,
  item: string,
  n: number,
  columns: Partial<Omit<RoundRow, "item" | "n">>,
): void {
  const set = Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(", ");
  db.run(
    `UPDATE rounds SET ${set} WHERE item = ? AND n = ?`,
    ...Object.values<string | number | null>(columns),
    item,
    n,
  );
}

/** The runs that the rooms show of what the agent is on. */
export function openRuns(db: Db): string[] {
  return db
    .all<{ run_id: string }>(
      `SELECT run_id FROM items JOIN rounds ON rounds.item = items.id AND rounds.n = items.round
         WHERE items.state = 'active' AND run_id IS NOT NULL`,
    )
    .map((row) => row.run_id);
}
