/** What a ticket's work used, added up (USE-2). */
import type { Share, Totals } from "../wire/agent/parts.ts";
import { toMicros, toUsd } from "./spend.ts";

/** What one round used of one model; a round that used nothing has a line without a model. */
export interface UsedLine {
  /** One name for the round, however many lines and reports it has. */
  round: string;
  handle: string;
  kind: string;
  model?: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
  costUsd: number;
}

const COUNTED = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens", "costUsd"] as const;

/** Totals of nothing. */
export function nothingUsed(): Totals {
  return {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheCreationTokens: 0,
    tokens: 0,
    costUsd: 0,
    runs: 0,
  };
}

/** Adds one part's totals to another's. */
export function addTotals(a: Totals, b: Totals): Totals {
  const sum = nothingUsed();
  for (const name of [...COUNTED, "tokens", "runs"] as const) sum[name] = counted(a[name], b[name]);
  sum.costUsd = dollars([a.costUsd, b.costUsd]);
  return sum;
}

/** The totals of rounds: each counts as one run, whatever it used. */
export function totalsOf(lines: readonly UsedLine[]): Totals {
  const sum = nothingUsed();
  for (const line of lines) {
    for (const name of COUNTED) sum[name] = counted(sum[name], line[name]);
    const { inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens } = line;
    sum.tokens = counted(sum.tokens, inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens);
  }
  sum.costUsd = dollars(lines.map((line) => line.costUsd));
  sum.runs = new Set(lines.map((line) => line.round)).size;
  return sum;
}

/** A sum as the wire can say it: beyond it counts are not exact, and no integers of JSON. */
function counted(...parts: number[]): number {
  return Math.min(
    Number.MAX_SAFE_INTEGER,
    parts.reduce((sum, part) => sum + part, 0),
  );
}

/** Added as micro-dollars: floating sums drift (SPEND-1). */
function dollars(costs: readonly number[]): number {
  return toUsd(costs.reduce((sum, cost) => sum + toMicros(cost), 0));
}

/** The parts by a key, the dearest first; lines without the key are in none. */
export function sharesOf(lines: readonly UsedLine[], keyOf: (line: UsedLine) => string | undefined): Share[] {
  const parts = new Map<string, UsedLine[]>();
  for (const line of lines) {
    const key = keyOf(line);
    if (key === undefined) continue;
    const part = parts.get(key);
    if (part) part.push(line);
    else parts.set(key, [line]);
  }
  return [...parts]
    .map(([key, part]) => ({ key, totals: totalsOf(part) }))
    .toSorted(
      (a, b) =>
        b.totals.costUsd - a.totals.costUsd ||
        b.totals.tokens - a.totals.tokens ||
        (a.key < b.key ? -1 : Number(a.key > b.key)),
    );
}

export interface RolledUp {
  total: Totals;
  /** The ticket's direct sub-tickets, each with its own total. */
  subTickets: { ticket: string; total: Totals }[];
}

/**
 * A ticket with all that is below it, each once: a ring of parents, as another tracker may have, ends where it began.
 */
export function rolledUp(
  ticket: string,
  own: (ticket: string) => Totals,
  children: (ticket: string) => readonly string[],
): RolledUp {
  const seen = new Set([ticket]);
  const subTickets: RolledUp["subTickets"] = [];
  let total = own(ticket);
  // What is nearest belongs to it, also where a ring could bring it up again from farther below.
  const direct = children(ticket).filter((key) => !seen.has(key) && seen.add(key));
  for (const child of direct) {
    let sum = nothingUsed();
    const open = [child];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      sum = addTotals(sum, own(at));
      for (const below of children(at)) {
        if (seen.has(below)) continue;
        seen.add(below);
        open.push(below);
      }
    }
    subTickets.push({ ticket: child, total: sum });
    total = addTotals(total, sum);
  }
  return { total, subTickets };
}

/** Whether a ticket put under a parent would be above itself (WORK-3). */
export function makesRing(
  ticket: string,
  parent: string,
  parentOf: (ticket: string) => string | null | undefined,
): boolean {
  const seen = new Set<string>();
  for (let at: string | null | undefined = parent; at && !seen.has(at); at = parentOf(at)) {
    if (at === ticket) return true;
    seen.add(at);
  }
  return false;
}
