import { firstCodePoints } from "./text.ts";

/**
 * Words by people and agents as a note may hold them (NOTE-2): on one line, in straight quotes that nothing within
 * can close, without invisible characters, at most `limit` code points, cut with `…`.
 */
export function quoted(words: string, limit: number): string {
  const line = words
    .replace(/[\s\p{Cc}]+/gu, " ")
    .replace(/[\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/["\p{Pi}\p{Pf}„‚″〝〞〟＂]/gu, "'")
    .trim();
  const kept = firstCodePoints(line, limit);
  return `"${kept === line ? line : `${firstCodePoints(line, limit - 1)}…`}"`;
}

/** A handle with its `@`, in brackets; says so where there is none. Only what a handle can hold is kept. */
export function handleWords(handle: string | undefined): string {
  const kept = firstCodePoints((handle ?? "").replace(/[^\p{L}\p{M}\p{Nd}_-]/gu, ""), 90);
  return kept === "" ? "(no handle)" : `(@${kept})`;
}

/** A number of something in plain words: `1 agent`, `2 agents`. */
export function counted(n: number, thing: string): string {
  return `${n} ${thing}${n === 1 ? "" : "s"}`;
}

/** A duration in whole minutes, in the largest unit that still says it well. */
export function lasting(minutes: number): string {
  const whole = Number.isFinite(minutes) ? Math.floor(minutes) : 0;
  if (whole < 1) return "less than a minute";
  if (whole < 120) return counted(whole, "minute");
  const hours = Math.floor(whole / 60);
  return hours < 48 ? counted(hours, "hour") : counted(Math.floor(hours / 24), "day");
}

const MOST_CLOCKS = 600;
const clocks = new Map<string, Intl.DateTimeFormat | undefined>();

/** What clock and calendar show in a zone: `Wed 2026-09-02 16:22`; `undefined` for an unknown zone or no valid time. */
export function localTime(now: Date, zone: string): string | undefined {
  const clock = clockIn(zone);
  if (!clock || Number.isNaN(now.getTime())) return undefined;
  // Put together from its parts: how a locale writes a date differs between versions of the runtime.
  const { weekday, year, month, day, hour, minute } = Object.fromEntries(
    clock.formatToParts(now).map(({ type, value }) => [type, value]),
  );
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute}`;
}

// Making a formatter costs far more than using it, and every delivery to a room has the same few zones.
function clockIn(zone: string): Intl.DateTimeFormat | undefined {
  if (clocks.has(zone)) return clocks.get(zone);
  if (clocks.size >= MOST_CLOCKS) clocks.clear();
  let clock: Intl.DateTimeFormat | undefined;
  try {
    clock = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      weekday: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    });
  } catch {
    clock = undefined;
  }
  clocks.set(zone, clock);
  return clock;
}
