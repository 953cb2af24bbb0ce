/** Usage windows that people share, and when they hold offers back (USE-3, ITEM-3). */
import { firstCodePoints } from "./text.ts";

/** A window as a runtime reported it. */
export interface UsageWindow {
  name: string;
  /** 1 is the limit. */
  utilization: number;
  resetsAt?: string | undefined;
}
/** The newest report of whoever shares the windows. */
export interface WindowsReport {
  at: number;
  windows: readonly UsageWindow[];
}
export interface Hold {
  /** ms. */
  until: number;
  why: string;
}

/** A hold without an end, ms: until it is resumed. The last moment that a date of the wire can name. */
export const NO_END = Date.parse("9999-12-31T23:59:59.999Z");

const HOUR_MS = 3_600_000;
/** After a reset the count is not back to zero at once. */
const AFTER_RESET_MS = 30_000;
/** No window is longer than a week: a reset that is farther away is a mistake of the clock's. */
const FARTHEST_MS = 8 * 24 * HOUR_MS;

/** When a full window lets offers go again (USE-3). */
function freeAgain(window: UsageWindow, at: number): number {
  const resets = window.resetsAt === undefined ? Number.NaN : Date.parse(window.resetsAt);
  return Number.isNaN(resets) ? at + HOUR_MS : Math.min(resets, at + FARTHEST_MS) + AFTER_RESET_MS;
}

/** Whether a report holds offers back, until when and why: of its full windows the one that is full longest. */
export function windowHold(report: WindowsReport, pauseAt: number, now: number): Hold | undefined {
  let hold: Hold | undefined;
  for (const window of report.windows) {
    if (!(window.utilization >= pauseAt)) continue;
    const until = freeAgain(window, report.at);
    if (until <= now || (hold && hold.until >= until)) continue;
    hold = {
      until,
      why: `${percent(window.utilization)} of the usage window ${firstCodePoints(window.name, 100)} is used; the team pauses at ${percent(pauseAt)}`,
    };
  }
  return hold;
}

/** What no window can mean is said as what it is at most. */
const percent = (part: number) => (part > 100 ? "more than 10000 %" : `${Math.round(part * 100)} %`);

/** The busiest window, if it was reported within the hour (ITEM-3). */
export function busiestWindow(report: WindowsReport | undefined, now: number): UsageWindow | undefined {
  if (!report || now - report.at > HOUR_MS) return undefined;
  return report.windows.reduce<UsageWindow | undefined>(
    (most, window) => (most && most.utilization >= window.utilization ? most : window),
    undefined,
  );
}
