import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failedSteps, linesAsked, stepsWithin } from "./ci-log.ts";
import { isWithin } from "./frame-fit.ts";
import { codePoints } from "./text.ts";

const T = Date.parse("2026-01-01T10:00:00Z");
const line = (second: number, text: string) =>
  `${new Date(T + second * 1000).toISOString().replace("000Z", "1234567Z")} ${text}`;
const steps = [
  { name: "Set up", failed: false, from: T, to: T + 2000 },
  { name: "Test", failed: true, from: T + 3000, to: T + 9000 },
  { name: "Clean up", failed: true, from: T + 10_000, to: T + 11_000 },
];

describe("WORK-5 a failed step's log", () => {
  test("each line is its step's, the last ones are kept, earlier ones counted", () => {
    const log = [
      line(1, "setting up"),
      line(3, "one"),
      line(4, "two"),
      line(5, "three"),
      line(10, "cleaned"),
    ].join("\n");
    expect(failedSteps(`\ufeff${log}\n`, steps, 2)).toEqual([
      { name: "Test", lines: ["two", "three"], omitted: 1 },
      { name: "Clean up", lines: ["cleaned"], omitted: 0 },
    ]);
  });

  test("a line without a time belongs to the one before", () => {
    const log = [line(3, "stack:"), "  at x", "  at y"].join("\n");
    expect(failedSteps(log, steps, 10)[0]?.lines).toEqual(["stack:", "  at x", "  at y"]);
  });

  test("without times the log is the first failed step's", () => {
    expect(failedSteps("a\nb\n", [{ name: "Test", failed: true }], 10)).toEqual([
      { name: "Test", lines: ["a", "b"], omitted: 0 },
    ]);
    expect(failedSteps("", [{ name: "Test", failed: true }], 10)).toEqual([
      { name: "Test", lines: [], omitted: 0 },
    ]);
  });

  test("nothing failed, nothing shown", () => {
    expect(failedSteps("a", [{ name: "Test", failed: false }], 10)).toEqual([]);
  });

  test("secrets are masked, over lines too, and terminals are not steered", () => {
    const log = [
      line(3, "token=abc"),
      line(4, "\u001b[31mred\u001b[0m \u0007and my-stored-secret"),
      line(5, "-----BEGIN PRIVATE KEY-----"),
      line(5, "MIIEowIBAAKCAQEA"),
      line(5, "-----END PRIVATE KEY-----"),
      line(6, "x".repeat(600)),
    ].join("\n");
    const [step] = failedSteps(log, steps, 100, ["my-stored-secret"]);
    expect(step?.lines).toEqual(["token=***", "red and ***", "***", "x".repeat(500)]);
    expect(step?.omitted).toBe(0);
  });
});

test.each([
  [0, 1],
  [-5, 1],
  [Number.NaN, 1],
  [200, 200],
  [5000, 1000],
])("ITEM-4 %d lines asked for are %d", (asked, kept) => {
  expect(linesAsked(asked)).toBe(kept);
});

test("WORK-5 any log is lines that fit, with none uncounted", () => {
  const anyLog = fc
    .array(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.integer({ min: -5, max: 20 }).map((s) => line(s, "x")),
      ),
    )
    .map((l) => l.join("\n"));
  fc.assert(
    fc.property(anyLog, fc.integer({ min: -2, max: 1200 }), (log, lines) => {
      for (const step of failedSteps(log, steps, lines)) {
        expect(step.lines.length).toBeLessThanOrEqual(linesAsked(lines));
        expect(step.omitted).toBeGreaterThanOrEqual(0);
        expect(Math.max(0, ...step.lines.map(codePoints))).toBeLessThanOrEqual(500);
        expect(step.lines.join("")).not.toMatch(/[^\P{Cc}\t]/u);
      }
    }),
  );
});

test("OFF-1 WORK-5 steps that fit are whole; else each has its last lines, and counts the others", () => {
  const log = fc.record({
    name: fc.string({ maxLength: 10 }),
    lines: fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 60 }),
    omitted: fc.nat(100),
  });
  fc.assert(
    fc.property(fc.array(log, { maxLength: 4 }), fc.integer({ min: 600, max: 4000 }), (logs, bytes) => {
      const kept = stepsWithin(logs, bytes);
      expect(isWithin(kept, bytes)).toBe(true);
      if (isWithin(logs, bytes)) expect(kept).toEqual(logs);
      for (const [n, { name, lines, omitted }] of kept.entries()) {
        const whole = logs[n]!;
        expect(name).toBe(whole.name);
        expect(lines).toEqual(whole.lines.slice(whole.lines.length - lines.length));
        expect(lines.length + omitted).toBe(whole.lines.length + whole.omitted);
      }
    }),
  );
});

test("WORK-5 twenty million characters in one line take no time", () => {
  const before = performance.now();
  failedSteps(line(3, "\u001b[".repeat(5_000_000)), steps, 10);
  failedSteps(`${line(3, "x")}\n`.repeat(300_000), steps, 10);
  expect(performance.now() - before).toBeLessThan(8000);
});
