import fc from "fast-check";
import { expect, test } from "vitest";
import { type Bucket, takeFrom } from "./bucket.ts";

const limit = { per_s: 20, burst: 60 };

test("LIMIT-2 a burst passes, then the rate, and a refusal says when to try again", () => {
  let bucket: Bucket | undefined;
  for (let i = 0; i < 60; i++) {
    const taken = takeFrom(bucket, limit, 1, 0);
    expect(taken.ok).toBe(true);
    bucket = taken.bucket;
  }
  const over = takeFrom(bucket, limit, 1, 0);
  expect(over).toMatchObject({ ok: false, retry_after_s: 0.05 });
  expect(takeFrom(over.bucket, limit, 1, 50).ok).toBe(true);
});

test("LIMIT-2 an array larger than the burst passes a bucket that is not empty, and is paid for", () => {
  const taken = takeFrom(undefined, limit, 100, 0);
  expect(taken.ok).toBe(true);
  const next = takeFrom(taken.bucket, limit, 1, 0);
  expect(next).toMatchObject({ ok: false });
  expect(takeFrom(next.bucket, limit, 1, 2050).ok).toBe(true);
});

test("LIMIT-2 over any time no more passes than the burst, one array, and the rate", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ wait: fc.nat(500), count: fc.integer({ min: 1, max: 100 }) }), { maxLength: 200 }),
      (steps) => {
        let now = 0;
        let bucket: Bucket | undefined;
        let passed = 0;
        for (const { wait, count } of steps) {
          now += wait;
          const taken = takeFrom(bucket, limit, count, now);
          bucket = taken.bucket;
          if (taken.ok) passed += count;
        }
        expect(passed).toBeLessThanOrEqual(60 + 100 + (now / 1000) * 20 + 1e-6);
      },
    ),
  );
});
