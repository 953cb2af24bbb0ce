/** REPORT-1 to REPORT-3: who tells a requester how an item ended, and when it is said again. */

export type EndingKind = "result" | "blocked";
export type ReportKind = "ack" | "result" | "blocked" | "failed";

/**
 * What became of an ending's report: `open`, nobody asked to post it yet; `granted`, the agent was told to post it;
 * `queued`, the office asks the agent to post it until it confirms; `told`, it was.
 */
export type ReportState = "open" | "granted" | "queued" | "told";

/** The ending's kind that a request to report is about: a `fail` is told as a blocked one. */
export function endingOf(kind: Exclude<ReportKind, "ack">): EndingKind {
  return kind === "result" ? "result" : "blocked";
}

/** Where a report goes (REPORT-3): to the item's threads, a blocked one without any to the human who asked. */
export interface Whereto {
  threads: number;
  /** The requester is a human that a direct message reaches. */
  human: boolean;
}

/** Whether there is anywhere to tell it. */
export function hasPlace(kind: ReportKind, where: Whereto): boolean {
  if (where.threads > 0) return true;
  return (kind === "blocked" || kind === "failed") && where.human;
}

/**
 * What a `chat_report` about an ending is answered (REPORT-1): once an ending, and a repeat of the frame that was
 * granted is granted again, as long as the office has not taken the report over.
 */
export function decideReport(
  ending: { kind: EndingKind; state: ReportState; frame: string | null },
  kind: Exclude<ReportKind, "ack">,
  frame: string,
): "grant" | "again" | "no" {
  if (endingOf(kind) !== ending.kind) return "no";
  if (ending.state === "open") return "grant";
  const granted = ending.state === "granted" || ending.state === "told";
  return granted && ending.frame === frame ? "again" : "no";
}

/** How long the office waits for an agent's own `chat_report` before it queues the report. */
export const OWN_REPORT_MS = 60_000;
const FIRST_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** When what was sent `times` times is sent again: after a minute, doubling to an hour (REPORT-2, ACT-1). */
export function resendAfter(times: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, Math.min(times - 1, 20)));
}

/**
 * How many of a list, the oldest first, fit into `room` bytes (OFF-5). One that alone is larger than a frame cannot
 * be: its text is bounded when it is taken.
 */
export function fitting(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [index, size] of sizes.entries()) {
    left -= size;
    if (left < 0) return index;
  }
  return sizes.length;
}
