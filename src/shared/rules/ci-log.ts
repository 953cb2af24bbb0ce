/** The end of a failed step's log, as it is shown (WORK-5, ITEM-4). */
import { isWithin } from "./frame-fit.ts";
import { mask } from "./mask.ts";
import { firstCodePoints } from "./text.ts";

/** A step of a job, as far as its host says. */
export interface JobStep {
  name: string;
  failed: boolean;
  /** When it ran, ms. */
  from?: number;
  to?: number;
}
export interface StepLog {
  name: string;
  lines: string[];
  omitted: number;
}

/** ITEM-4: lines kept of a step, and characters of a line. */
export const LINES = { least: 1, most: 1000 } as const;
export const LINE_CHARACTERS = 500;
/** Steps of one job that are shown: a job stops at the first that fails, but for those that always run. */
const STEPS = 10;
/** Longest text of one step that is masked, from its end: its last lines are what is kept. */
const STEP_CHARACTERS = 2_000_000;

/** How many lines are kept of each step: what is asked for, clamped (ITEM-4). */
export function linesAsked(lines: number): number {
  return Math.min(LINES.most, Math.max(LINES.least, Math.trunc(lines) || LINES.least));
}

const STAMP = /^\ufeff?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z) ?/;
/** Colours and cursors of a terminal. Bounded: a log may be one long line. */
// oxlint-disable-next-line no-control-regex -- terminals are steered by control characters
const ESCAPES = /\u001b(?:\[[0-9;?]{0,30}[A-Za-z]|\][^\u0007\u001b]{0,500}(?:\u0007|\u001b\\))/g;
// oxlint-disable-next-line no-control-regex -- what is left of them steers a reader's terminal too
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * The failed steps of a job with the last lines of each, oldest first, secrets masked, long lines cut. A line
 * belongs to the step that ran at its time; without times the log is the first failed step's.
 */
export function failedSteps(
  log: string,
  steps: readonly JobStep[],
  lines: number,
  secrets: readonly string[] = [],
): StepLog[] {
  const failed = steps.filter((step) => step.failed).slice(0, STEPS);
  if (failed.length === 0) return [];
  const texts = failed.map((): string[] => []);
  let at: number | undefined;
  let stamped = false;
  for (const line of linesOf(log)) {
    const stamp = STAMP.exec(line);
    if (stamp) {
      at = Date.parse(stamp[1] as string);
      stamped = true;
    }
    const of = stepAt(failed, at);
    if (of !== undefined) texts[of]?.push(stamp ? line.slice(stamp[0].length) : line);
  }
  if (!stamped) texts[0] = linesOf(log);
  return failed.map(({ name }, n) => ({
    name: shown(mask(name, secrets)),
    ...lastLines(texts[n] as string[], linesAsked(lines), secrets),
  }));
}

/** The steps in so many bytes of JSON: of each at most so many of its last lines as all can have (OFF-1). */
export function stepsWithin(steps: readonly StepLog[], bytes: number): StepLog[] {
  let kept = [...steps];
  let most = Math.max(0, ...steps.map(({ lines }) => lines.length));
  while (most > 0 && !isWithin(kept, bytes)) {
    most = Math.floor(most * 0.8);
    kept = steps.map((step) => lastOf(step, most));
  }
  return kept;
}

/** The last lines of a step; the others are counted. */
export function lastOf({ name, lines, omitted }: StepLog, most: number): StepLog {
  const last = lines.slice(Math.max(0, lines.length - most));
  return { name, lines: last, omitted: omitted + lines.length - last.length };
}

function linesOf(log: string): string[] {
  const all = log.split("\n");
  if (all.at(-1) === "") all.pop();
  return all;
}

/** The host's times of steps are whole seconds: the step that began last before the line has it. */
function stepAt(steps: readonly JobStep[], at: number | undefined): number | undefined {
  if (at === undefined) return undefined;
  const found = steps.findLastIndex(
    ({ from, to }) => from !== undefined && at >= from && (to === undefined || at < to + 1000),
  );
  return found < 0 ? undefined : found;
}

/** Masked as one text, since a key goes over lines; what is far from the end is left out before. */
function lastLines(all: readonly string[], most: number, secrets: readonly string[]): Omit<StepLog, "name"> {
  let first = all.length;
  for (let size = 0; first > 0; first--) {
    size += (all[first - 1] as string).length + 1;
    if (size > STEP_CHARACTERS && first < all.length) break;
  }
  const masked = mask(all.slice(first).join("\n").slice(-STEP_CHARACTERS), secrets).split("\n");
  const kept = all.length === 0 ? [] : masked.slice(-most).map(shown);
  return { lines: kept, omitted: first + (kept.length === 0 ? 0 : masked.length - kept.length) };
}

/** A line as people and models read it: no control characters, 500 characters at most. */
function shown(line: string): string {
  return firstCodePoints(line.slice(0, 20_000).replace(ESCAPES, "").replace(CONTROLS, ""), LINE_CHARACTERS);
}
