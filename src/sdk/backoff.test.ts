import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fullJitter, reconnects } from "./backoff.ts";

describe("CONN-8: what a client does after a close", () => {
  test.each([4400, 4401, 4403, 4409])("CONN-8: it stops on %i", (code) => {
    expect(reconnects(code)).toBe(false);
  });

  test.each([1000, 1001, 1005, 1006, 1011, 1012, 4408, 4429])("CONN-8: it comes back on %i", (code) => {
    expect(reconnects(code)).toBe(true);
  });

  test("CONN-8: a wait is anywhere from nothing up to a ceiling that doubles and ends", () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.double({ min: 0, max: 0.999_999, noNaN: true }), (attempt, chance) => {
        const wait = fullJitter(attempt, () => chance);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThan(Math.min(30_000, 500 * 2 ** attempt));
      }),
    );
    expect([0, 1, 2, 10].map((attempt) => fullJitter(attempt, () => 0.5))).toEqual([250, 500, 1000, 15_000]);
  });
});
