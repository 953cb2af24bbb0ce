/** How much may be written, by each and by all (LIMIT-2). Memory is enough: an eviction forgives. */
import { type Bucket, takeFrom } from "../../src/shared/rules/bucket.ts";
import type { Settings } from "../../src/shared/wire/index.ts";
import { refuse } from "../kit/result.ts";

/** A workspace as a whole writes as much as so many of its participants at their limit. */
const WORKSPACE_FACTOR = 50;
/** Buckets kept; when there are more the full ones are as good as none. */
const MAX_KEPT = 10_000;
const ALL = "*";

export interface Limits {
  /** Counts writes of a participant; refuses with the time to wait when it is too fast. */
  take(participantId: string, count: number, limits: Settings["limits"], now: number): void;
}

export function openLimits(): Limits {
  const buckets = new Map<string, Bucket>();
  const take = (key: string, count: number, per_s: number, burst: number, now: number): void => {
    const taken = takeFrom(buckets.get(key), { per_s, burst }, count, now);
    if (buckets.size >= MAX_KEPT) buckets.clear();
    buckets.set(key, taken.bucket);
    if (taken.ok) return;
    refuse(
      "rate_limited",
      "You write faster than this workspace allows. Wait as long as retry_after_s says.",
      {
        retry_after_s: Math.ceil(taken.retry_after_s * 100) / 100,
      },
    );
  };
  return {
    take(participantId, count, { writes_per_s, burst }, now) {
      take(participantId, count, writes_per_s, burst, now);
      take(ALL, count, writes_per_s * WORKSPACE_FACTOR, burst * WORKSPACE_FACTOR, now);
    },
  };
}
