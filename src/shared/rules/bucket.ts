/** A token bucket as plain data (LIMIT-2): what is left, and since when. */
export interface Bucket {
  tokens: number;
  at: number;
}

export interface BucketLimit {
  per_s: number;
  burst: number;
}

/**
 * Takes `count` from a bucket. It may go into debt once, so that an array larger than the burst passes when the
 * bucket is not empty, and is paid for afterwards. Refused, it costs nothing and says in how many seconds it is
 * worth another try.
 */
export function takeFrom(
  bucket: Bucket | undefined,
  limit: BucketLimit,
  count: number,
  now: number,
): { ok: true; bucket: Bucket } | { ok: false; bucket: Bucket; retry_after_s: number } {
  const before = bucket ?? { tokens: limit.burst, at: now };
  const elapsed = Math.max(0, now - before.at) / 1000;
  const tokens = Math.min(limit.burst, before.tokens + elapsed * limit.per_s);
  if (tokens >= 1) return { ok: true, bucket: { tokens: tokens - count, at: now } };
  return {
    ok: false,
    bucket: { tokens, at: now },
    retry_after_s: Math.max(0.05, (1 - tokens) / limit.per_s),
  };
}
