import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Job } from "./spend.ts";
import * as spend from "./spend.ts";

const job = (more: Partial<Job> = {}): Job => ({ since_seq: 5, spent_micros: 0, uncounted: 0, ...more });
const costUsd = fc.integer({ min: 0, max: 10_000_000_000 }).map(spend.toUsd);

describe("SPEND-1 jobs in micro-dollars", () => {
  test.each([
    [0, 0],
    [-0, 0],
    [0.1, 100_000],
    [0.000_001, 1],
    [0.000_000_4, 0],
    [2.675, 2_675_000],
    [10_000, 10_000_000_000],
  ])("SPEND-1 %d dollars are %d micro-dollars", (usd, micros) => {
    expect(spend.toMicros(usd)).toBe(micros);
  });

  test("SPEND-1 micro-dollars come back from dollars, and ten dimes are a dollar", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000 }), (micros) => {
        expect(spend.toMicros(spend.toUsd(micros))).toBe(micros);
      }),
    );
    const dimes = Array.from({ length: 10 }, () => spend.toMicros(0.1));
    const sum = dimes.reduce(spend.report, job());
    expect(spend.toUsd(sum.spent_micros)).toBe(1);
  });

  test("SPEND-1 a later act begins a new job, an earlier one or none does not", () => {
    expect(spend.jobAt(undefined, undefined)).toEqual({ since_seq: 0, spent_micros: 0, uncounted: 0 });
    expect(spend.jobAt(undefined, 7)).toEqual({ since_seq: 7, spent_micros: 0, uncounted: 0 });
    const old = job({ spent_micros: 9, uncounted: 2 });
    expect(spend.jobAt(old, 6)).toEqual({ since_seq: 6, spent_micros: 0, uncounted: 0 });
    for (const act of [undefined, 4, 5]) expect(spend.jobAt(old, act)).toBe(old);
  });

  test("SPEND-1 each increase belongs to the job it arrives in, and nothing is lost or counted twice", () => {
    const step = fc.oneof(
      fc.record({ act: fc.constant(true) }),
      fc.record({ run: fc.nat(3), more: fc.nat(5_000_000) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let now = spend.jobAt(undefined, undefined);
        const totals = new Map<number, number>();
        let over = 0;
        for (const [i, one] of steps.entries()) {
          if ("act" in one) {
            over += now.spent_micros;
            now = spend.jobAt(now, i + 1);
            expect(now.spent_micros).toBe(0);
          } else {
            const before = totals.get(one.run) ?? null;
            const total = (before ?? 0) + one.more;
            const checked = spend.checkIncrease(before, spend.toUsd(total));
            expect(checked).toEqual({ ok: true, increase: one.more });
            if (checked.ok) now = spend.report(now, checked.increase);
            totals.set(one.run, total);
          }
        }
        const reported = [...totals.values()].reduce((a, b) => a + b, 0);
        expect(over + now.spent_micros).toBe(reported);
      }),
    );
  });

  test("SPEND-1 a run that ended without a cost is uncounted until it says one", () => {
    expect(spend.uncounted(job()).uncounted).toBe(1);
    expect(spend.countedAfterAll(spend.uncounted(job()))).toEqual(job());
    expect(spend.countedAfterAll(job()).uncounted).toBe(0);
  });
});

describe("SPEND-2 the ceiling", () => {
  test.each([
    [2_999_999, 3, undefined],
    [3_000_000, 3, "cost"],
    [3_000_001, 3, "cost"],
    [0, 0, "cost"],
    [9_000_000_000, null, undefined],
    [300_000, 0.3, "cost"],
  ])("SPEND-2 %d micro-dollars of a ceiling of %s: %s", (spent_micros, ceiling, over) => {
    expect(spend.overCeiling(job({ spent_micros }), ceiling)).toBe(over);
  });

  test("SPEND-2 a raised ceiling or a new job goes on", () => {
    const full = job({ spent_micros: 3_000_000, uncounted: 21 });
    expect(spend.overCeiling(full, spend.DEFAULT_CEILING_USD)).toBe("cost");
    expect(spend.overCeiling(spend.jobAt(full, 6), spend.DEFAULT_CEILING_USD)).toBeUndefined();
    expect(spend.overCeiling({ ...full, uncounted: 0 }, 4)).toBeUndefined();
  });
});

test("SPEND-3 more than 20 uncounted runs stop as the ceiling does, where there is one", () => {
  expect(spend.overCeiling(job({ uncounted: 20 }), 3)).toBeUndefined();
  expect(spend.overCeiling(job({ uncounted: 21 }), 3)).toBe("uncounted");
  expect(spend.overCeiling(job({ uncounted: 21 }), null)).toBeUndefined();
});

describe("SPEND-4 what a cost may be", () => {
  test.each([-0.01, Number.NaN, Number.POSITIVE_INFINITY, 10_000.01, "1", null, undefined, 1n, [1]])(
    "SPEND-4 %s is none",
    (value) => {
      expect(spend.isCost(value)).toBe(false);
      expect(spend.checkIncrease(null, value as number)).toEqual({ ok: false });
    },
  );

  test("SPEND-4 a total that goes down is refused, the same again adds nothing", () => {
    fc.assert(
      fc.property(costUsd, costUsd, (before, after) => {
        const increase = spend.toMicros(after) - spend.toMicros(before);
        expect(spend.checkIncrease(spend.toMicros(before), after)).toEqual(
          increase < 0 ? { ok: false } : { ok: true, increase },
        );
      }),
    );
    expect(spend.checkIncrease(250_000, 0.25)).toEqual({ ok: true, increase: 0 });
  });
});
