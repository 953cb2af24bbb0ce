/** What a space's job has spent (SPEND-1), in micro-dollars: sums of floating dollars drift. */
export interface Job {
  since_seq: number;
  spent_micros: number;
  /** Runs that ended without a cost. */
  uncounted: number;
}

/** The ceiling of a space that has set none (SPEND-2). */
export const DEFAULT_CEILING_USD = 3;

const MICROS = 1_000_000;
/** The largest cost that one report may say (SPEND-4). */
export const MOST_COST_USD = 10_000;
const MOST_UNCOUNTED = 20;

/** A cost (`isCost`) in whole micro-dollars, rounded to the nearest. */
export function toMicros(usd: number): number {
  // Adding zero makes a negative zero a plain one.
  return Math.round(usd * MICROS) + 0;
}

export function toUsd(micros: number): number {
  return micros / MICROS;
}

/** Whether a value can be a cost (SPEND-4): a finite number from 0 to 10,000. */
export function isCost(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= MOST_COST_USD;
}

/**
 * The job as of the last act of a person or brief at `actSeq` (SPEND-1): a later one begins a new job, an earlier
 * one or none leaves it. Before anything happened it began at 0.
 */
export function jobAt(job: Job | undefined, actSeq: number | undefined): Job {
  const now = job ?? { since_seq: 0, spent_micros: 0, uncounted: 0 };
  return actSeq === undefined || actSeq <= now.since_seq
    ? now
    : { since_seq: actSeq, spent_micros: 0, uncounted: 0 };
}

/** After a report of a run: its increase belongs to the job it arrives in. */
export function report(job: Job, increaseMicros: number): Job {
  return { ...job, spent_micros: job.spent_micros + increaseMicros };
}

/** After a run that ended without a cost. */
export function uncounted(job: Job): Job {
  return { ...job, uncounted: job.uncounted + 1 };
}

/** After the first cost of a run that was `uncounted` in this same job: it reports within a day (SPEND-3). */
export function countedAfterAll(job: Job): Job {
  return { ...job, uncounted: Math.max(0, job.uncounted - 1) };
}

/**
 * Why the job may not go on (SPEND-2, SPEND-3): its cost is at or over the ceiling, or more than 20 of its runs
 * said no cost. Without a ceiling neither: runs that say no cost are stopped only because they would pass one unseen.
 */
export function overCeiling(job: Job, ceilingUsd: number | null): "cost" | "uncounted" | undefined {
  if (ceilingUsd === null) return undefined;
  if (job.spent_micros >= toMicros(ceilingUsd)) return "cost";
  return job.uncounted > MOST_UNCOUNTED ? "uncounted" : undefined;
}

/**
 * What a run's new total adds to what it reported before, `null` for nothing yet (SPEND-4): the same total again
 * adds nothing, a lower one or no cost at all is refused.
 */
export function checkIncrease(
  previousMicros: number | null,
  usd: number,
): { ok: true; increase: number } | { ok: false } {
  if (!isCost(usd)) return { ok: false };
  const increase = toMicros(usd) - (previousMicros ?? 0);
  return increase < 0 ? { ok: false } : { ok: true, increase };
}
