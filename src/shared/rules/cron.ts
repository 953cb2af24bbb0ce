/** When a schedule is due (OFFER-9): five fields of cron in a time zone, by the usual library. */
import { Cron } from "croner";

function parsed(cron: string, zone: string): Cron {
  return new Cron(cron, { timezone: zone, paused: true, mode: "5-part" });
}

/** Whether a time zone is one that everybody's calendar knows. */
export function isZone(zone: string): boolean {
  try {
    // An offset like `+02:00` is taken too, but knows no summer time: the name of a place is asked for.
    if (/^[+-]/.test(zone)) return false;
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** What is wrong with a cron expression, or undefined (TEAM-4). */
export function cronFault(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5)
    return `has ${fields.length} fields, but it takes five: minute, hour, day of month, month, day of week`;
  try {
    // Any leap year comes within eight years of any day.
    if (parsed(cron, "UTC").nextRun(new Date(0)) === null) return "names a day that never comes";
    return undefined;
  } catch (error) {
    return `is no cron expression: ${said(error)}`;
  }
}

function said(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/^CronPattern: /, "").slice(0, 200);
}

/** The first time after `after` (ms) that it is due, or undefined if it never is again. */
export function nextDue(cron: string, zone: string, after: number): number | undefined {
  return parsed(cron, zone).nextRun(new Date(after))?.getTime();
}

/**
 * What is due of a schedule whose next time was `expected`, and when to look again. However many times were
 * missed since, it runs once, for the first of them (OFFER-9).
 */
export function dueBy(
  cron: string,
  zone: string,
  expected: number,
  now: number,
): { due?: number; next?: number } {
  if (expected > now) return { next: expected };
  const next = nextDue(cron, zone, now);
  return { due: expected, ...(next === undefined ? {} : { next }) };
}
