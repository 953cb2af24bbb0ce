/** Schedules of the team: work that a time brings (OFFER-9). */
import { dueBy, nextDue } from "../../../../src/shared/rules/cron.ts";
import { OFFICE_ACTOR } from "../../../../src/shared/rules/trust.ts";
import type { BoardLedger } from "../ledger.ts";
import { takeEvent } from "../work/take.ts";

export const SCHEDULES_ALARM = "schedules";

interface ScheduleRow {
  id: string;
  cron: string;
  zone: string;
  /** Null: never again. */
  next_at: number | null;
}

/** Sets the schedules as the config has them. One whose times stay the same misses none (TEAM-4). */
export function setSchedules(ledger: BoardLedger): void {
  const { db, team, now } = ledger;
  const had = new Map(db.all<ScheduleRow>("SELECT * FROM schedules").map((row) => [row.id, row]));
  for (const { id, cron, zone } of team.schedules) {
    const row = had.get(id);
    had.delete(id);
    if (row?.cron === cron && row.zone === zone) continue;
    db.run(
      "INSERT OR REPLACE INTO schedules (id, cron, zone, next_at) VALUES (?, ?, ?, ?)",
      id,
      cron,
      zone,
      nextDue(cron, zone, now) ?? null,
    );
  }
  for (const id of had.keys()) db.run("DELETE FROM schedules WHERE id = ?", id);
  arm(ledger);
}

/** Runs what is due: each schedule once, however many of its times were missed (OFFER-9). */
export function runSchedules(ledger: BoardLedger): void {
  const { db, team, now } = ledger;
  for (const row of db.all<ScheduleRow>(
    "SELECT * FROM schedules WHERE next_at <= ? ORDER BY next_at, id",
    now,
  )) {
    const schedule = team.schedules.find((one) => one.id === row.id);
    if (!schedule || row.next_at === null) continue;
    const { due, next } = dueBy(row.cron, row.zone, row.next_at, now);
    db.run("UPDATE schedules SET next_at = ? WHERE id = ?", next ?? null, row.id);
    if (due === undefined) continue;
    const at = new Date(due).toISOString();
    const { id, person, title, body } = schedule;
    takeEvent(ledger, {
      id: `${id}/${at}`,
      type: "schedule.due",
      at,
      actor: { ...OFFICE_ACTOR },
      source: "schedule",
      schedule: { id, due: at, person, title, body },
    });
  }
  arm(ledger);
}

function arm(ledger: BoardLedger): void {
  const next = ledger.db.one<{ at: number | null }>("SELECT min(next_at) AS at FROM schedules")?.at;
  if (typeof next === "number") ledger.alarm(SCHEDULES_ALARM, next);
}
