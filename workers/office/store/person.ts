/** The one row of whose office it is (QUEUE-4, USE-3, OFFER-5). */
import type { Team } from "../../../src/shared/wire/team.ts";
import type { Db } from "../../kit/db.ts";
import type { OfficeLetters } from "../letters.ts";

export interface Paused {
  by: string;
  at: number;
  reason?: string;
  /** Ms; absent: until somebody resumes. */
  until?: number;
}

export interface PersonRow {
  workspace: string;
  handle: string;
  team_version: number;
  team: string;
  removed_at: number | null;
  /** JSON `Paused`. */
  paused: string | null;
  /** JSON `{until, why?}`: usage windows hold offers (USE-3). */
  hold: string | null;
  /** The id of the agent's connection. */
  connection: string | null;
  /** The connection on which nothing is offered any more (OFFER-5). */
  quiet: string | null;
  /** JSON: the status that the board was last told. */
  told: string | null;
}

export function personRow(db: Db): PersonRow {
  const row = db.one<PersonRow>("SELECT * FROM person");
  if (!row) throw new Error("this office has no person");
  return row;
}

/** Whose office it is, once and for all. */
export function makePerson(db: Db, { workspace, handle, version, team }: OfficeLetters["team"]): void {
  db.run(
    "INSERT INTO person (one, workspace, handle, team_version, team) VALUES (1, ?, ?, ?, ?)",
    workspace,
    handle,
    version,
    JSON.stringify(team),
  );
}

/** The pause that stands; one whose time is over does not. */
export function pauseOf(db: Db, now: number): Paused | undefined {
  const { paused } = personRow(db);
  if (paused === null) return undefined;
  const pause = JSON.parse(paused) as Paused;
  return pause.until !== undefined && pause.until <= now ? undefined : pause;
}

/** Until when usage holds offers, ms, if it does now. */
export function holdOf(db: Db, now: number): { until: number; why?: string } | undefined {
  const { hold } = personRow(db);
  if (hold === null) return undefined;
  const held = JSON.parse(hold) as { until: number; why?: string };
  return held.until <= now ? undefined : held;
}

export function changePerson(db: Db, columns: Partial<PersonRow>): void {
  const set = Object.keys(columns)
    .map((name) => `${name} = ?`)
    .join(", ");
  db.run(`UPDATE person SET ${set}`, ...Object.values<string | number | null>(columns));
}

export function teamOf(row: PersonRow): Team {
  return JSON.parse(row.team) as Team;
}
