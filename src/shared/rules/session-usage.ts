/** USE-1: what of a runtime session's running totals is new, and what it costs. */
import type { ModelUsage } from "../wire/agent/parts.ts";
import type { Team } from "../wire/team.ts";
import { toMicros } from "./spend.ts";

/** A model's counters in a session as they were last reported: where the next report counts from. */
export interface Baseline {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
  /** In micro-dollars: sums of floating dollars drift. */
  costMicros: number;
}
/** What one report newly adds. */
export type Added = Baseline;

const TOKENS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"] as const;
const NONE: Baseline = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheCreationTokens: 0,
  costMicros: 0,
};

type Prices = Team["usage"]["prices"];

/** A running total of more is a runtime's mistake, and sums must stay exact. */
const MOST_TOTAL_USD = 1_000_000;
const MOST_TOTAL_TOKENS = 1e12;

/** What tokens cost by a list of prices in dollars for a million: a micro-dollar for each. */
function priced(added: Added, price: Prices[string]): number {
  const micros =
    added.inputTokens * price.input +
    added.outputTokens * price.output +
    added.cacheReadTokens * price.cache_read +
    added.cacheCreationTokens * price.cache_creation;
  return Math.round(Math.min(micros, toMicros(MOST_TOTAL_USD)));
}

/**
 * What a model's running total adds to `before`, each counter for itself: the increase, and nothing when it fell.
 * What was reported is the next baseline either way, so that after a smaller total only what grows from there counts.
 * The cost is that of `usage.prices`, else the increase of the reported one, else nothing.
 */
export function addUsage(
  before: Baseline | undefined,
  total: ModelUsage,
  price: Prices[string] | undefined,
): { added: Added; baseline: Baseline } {
  const from = before ?? NONE;
  const baseline: Baseline = {
    ...NONE,
    // A report without a cost says nothing about it: the next one goes on from the last that did.
    costMicros:
      total.costUsd === undefined ? from.costMicros : toMicros(Math.min(total.costUsd, MOST_TOTAL_USD)),
  };
  for (const counter of TOKENS) baseline[counter] = Math.min(total[counter], MOST_TOTAL_TOKENS);
  const added = { ...NONE };
  for (const counter of [...TOKENS, "costMicros"] as const)
    added[counter] = Math.max(0, baseline[counter] - from[counter]);
  if (price) added.costMicros = priced(added, price);
  return { added, baseline };
}

/** Two amounts of usage together. */
export function sumUsage(a: Added, b: Added): Added {
  const sum = { ...a };
  for (const counter of [...TOKENS, "costMicros"] as const)
    sum[counter] = Math.min(Number.MAX_SAFE_INTEGER, sum[counter] + b[counter]);
  return sum;
}
