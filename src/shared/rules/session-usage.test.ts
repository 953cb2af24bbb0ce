import fc from "fast-check";
import { expect, test } from "vitest";
import { addUsage, type Baseline, sumUsage } from "./session-usage.ts";

const tokens = (inputTokens: number, costUsd?: number) => ({
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheCreationTokens: 0,
  ...(costUsd === undefined ? {} : { costUsd }),
});
const counter = fc.nat(1_000_000);
const usage = fc.record(
  {
    inputTokens: counter,
    outputTokens: counter,
    cacheReadTokens: counter,
    cacheCreationTokens: counter,
    costUsd: fc.double({ min: 0, max: 1000, noNaN: true }),
  },
  { requiredKeys: ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"] },
);

/** Reports of one session, one after the other. */
function run(reports: ReturnType<typeof tokens>[], price?: Parameters<typeof addUsage>[2]) {
  let baseline: Baseline | undefined;
  return reports.map((report) => {
    const step = addUsage(baseline, report, price);
    baseline = step.baseline;
    return step.added;
  });
}

test("USE-1 a smaller total is the new baseline: 100, 40, 60 adds 100, 0, 20", () => {
  expect(run([tokens(100), tokens(40), tokens(60)]).map((added) => added.inputTokens)).toEqual([100, 0, 20]);
});

test("USE-1 the cost is the list's, else what was reported anew, else nothing", () => {
  const price = { input: 3, output: 15, cache_read: 0.3, cache_creation: 3.75 };
  expect(run([tokens(1_000_000, 9), tokens(2_000_000, 20)], price).map((a) => a.costMicros)).toEqual([
    3e6, 3e6,
  ]);
  expect(run([tokens(1, 0.5), tokens(2), tokens(3, 0.75)]).map((a) => a.costMicros)).toEqual([5e5, 0, 2.5e5]);
  expect(run([tokens(1)])[0]?.costMicros).toBe(0);
});

test("USE-1 totals that only grow add up to the last one, however often they are reported", () => {
  fc.assert(
    fc.property(fc.array(usage, { minLength: 1, maxLength: 12 }), (steps) => {
      let total = { ...tokens(0), costUsd: 0 };
      const reports = steps.flatMap((step) => {
        total = {
          inputTokens: total.inputTokens + step.inputTokens,
          outputTokens: total.outputTokens + step.outputTokens,
          cacheReadTokens: total.cacheReadTokens + step.cacheReadTokens,
          cacheCreationTokens: total.cacheCreationTokens + step.cacheCreationTokens,
          costUsd: total.costUsd + (step.costUsd ?? 0),
        };
        return [total, total];
      });
      const sum = run(reports).reduce(sumUsage);
      expect(sum).toEqual({
        inputTokens: total.inputTokens,
        outputTokens: total.outputTokens,
        cacheReadTokens: total.cacheReadTokens,
        cacheCreationTokens: total.cacheCreationTokens,
        costMicros: Math.round(total.costUsd * 1e6),
      });
    }),
  );
});

test("USE-1 nothing is ever below zero, and one report adds no more than its total", () => {
  fc.assert(
    fc.property(fc.array(usage, { maxLength: 20 }), (reports) => {
      for (const [index, added] of run(reports).entries()) {
        for (const value of Object.values(added)) expect(value).toBeGreaterThanOrEqual(0);
        expect(added.inputTokens).toBeLessThanOrEqual(reports[index]!.inputTokens);
      }
    }),
  );
});

test("USE-1 however much is reported, what is added stays exact, also over many sessions and with a price", () => {
  const anything = fc.record({
    inputTokens: fc.maxSafeNat(),
    outputTokens: fc.maxSafeNat(),
    cacheReadTokens: fc.maxSafeNat(),
    cacheCreationTokens: fc.maxSafeNat(),
    costUsd: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  });
  const price = { input: 1e6, output: 1e6, cache_read: 1e6, cache_creation: 1e6 };
  fc.assert(
    fc.property(fc.array(anything, { minLength: 1 }), fc.boolean(), (reports, isPriced) => {
      const steps = run(reports, isPriced ? price : undefined);
      const much = Array.from({ length: 100 }, () => steps).flat();
      for (const value of Object.values(much.reduce(sumUsage))) expect(value).toSatisfy(Number.isSafeInteger);
      // Reported again it adds nothing, though it was cut.
      const last = reports.at(-1)!;
      expect(Object.values(run([last, last]).at(-1)!).every((value) => value === 0)).toBe(true);
    }),
  );
});
