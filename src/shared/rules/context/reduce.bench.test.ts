/**
 * The reducer's pace (PERF-7). `node bench/reduce.ts` measures it; a test shares the machine with others, so it asks
 * for a fifth of the budget and for a cost that grows with the events alone.
 */
import { expect, test } from "vitest";
import { rate, stream } from "../../../../bench/reduce.ts";
import { reduce } from "./reduce.ts";

test("PERF-7 parsed events are reduced far faster than they can be appended", () => {
  const events = stream(10_000);
  // The stream is one that does something: a compaction in force, calls with results, answers.
  expect(reduce(events)).toMatchObject({
    barrier: { through: expect.any(Number) },
    measured: { tokens: expect.any(Number) },
  });
  expect(rate(events, 60)).toBeGreaterThan(200_000);
});

test("PERF-7 STREAM-3 a stream ten times as long costs about ten times as much", () => {
  const [short, long] = [rate(stream(8000), 60), rate(stream(80_000), 12)];
  expect(short / long).toBeLessThan(5);
});
