import fc from "fast-check";
import { expect, it } from "vitest";
import { busiestWindow, windowHold } from "./usage-windows.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const iso = (ms: number) => new Date(ms).toISOString();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

it("USE-3: from the threshold on a window holds until its reset and 30 seconds", () => {
  const full = { name: "5h", utilization: 0.9, resetsAt: iso(NOW + HOUR) };
  expect(windowHold({ at: NOW, windows: [full] }, 0.9, NOW)?.until).toBe(NOW + HOUR + 30_000);
  expect(windowHold({ at: NOW, windows: [{ ...full, utilization: 0.899 }] }, 0.9, NOW)).toBeUndefined();
  expect(windowHold({ at: NOW, windows: [full] }, 0.9, NOW + HOUR + 29_999)).toBeDefined();
  expect(windowHold({ at: NOW, windows: [full] }, 0.9, NOW + HOUR + 30_000)).toBeUndefined();
});

it("USE-3: why it holds is a sentence whatever was reported", () => {
  for (const utilization of [0.95, 1.3, 1e308, Number.MAX_VALUE])
    expect(windowHold({ at: NOW, windows: [{ name: "5h", utilization }] }, 0.9, NOW)?.why).toMatch(
      /^(?:9[0-9]|1[0-9]{2}|more than 10000) % of the usage window 5h is used; the team pauses at 90 %$/,
    );
});

it("USE-3: without a reset it holds one hour from its report, and never longer than eight days", () => {
  const full = { name: "w", utilization: 1 };
  expect(windowHold({ at: NOW, windows: [full] }, 0.9, NOW + 5)?.until).toBe(NOW + HOUR);
  expect(windowHold({ at: NOW, windows: [{ ...full, resetsAt: "soon" }] }, 0.9, NOW)?.until).toBe(NOW + HOUR);
  expect(
    windowHold({ at: NOW, windows: [{ ...full, resetsAt: iso(NOW + 30 * DAY) }] }, 0.9, NOW)?.until,
  ).toBe(NOW + 8 * DAY + 30_000);
  expect(windowHold({ at: NOW, windows: [full] }, 0.9, NOW + HOUR)).toBeUndefined();
});

const windows = fc.array(
  fc.record({
    name: fc.string(),
    utilization: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constant(Number.NaN)),
    resetsAt: fc.option(
      fc.oneof(
        fc.string(),
        fc.integer({ min: -30, max: 30 }).map((d) => iso(NOW + d * DAY)),
      ),
      { nil: undefined },
    ),
  }),
  { maxLength: 6 },
);

it("USE-3: whatever is reported, a hold ends within eight days, and only a full window makes one", () => {
  fc.assert(
    fc.property(windows, fc.double({ min: 0.01, max: 1, noNaN: true }), (given, pauseAt) => {
      const hold = windowHold({ at: NOW, windows: given }, pauseAt, NOW);
      expect(!hold || (hold.until > NOW && hold.until <= NOW + 8 * DAY + 30_000)).toBe(true);
      expect(!hold || given.some((w) => w.utilization >= pauseAt)).toBe(true);
      // One more window never shortens it.
      const more = windowHold({ at: NOW, windows: [...given, { name: "x", utilization: 1 }] }, pauseAt, NOW);
      expect(more?.until).toBeGreaterThanOrEqual(hold?.until ?? 0);
    }),
  );
});

it("ITEM-3: the busiest window of a report of the last hour", () => {
  const report = {
    at: NOW,
    windows: [
      { name: "a", utilization: 0.1 },
      { name: "b", utilization: 0.7 },
    ],
  };
  expect(busiestWindow(report, NOW + HOUR)?.name).toBe("b");
  expect(busiestWindow(report, NOW + HOUR + 1)).toBeUndefined();
  expect(busiestWindow({ at: NOW, windows: [] }, NOW)).toBeUndefined();
  expect(busiestWindow(undefined, NOW)).toBeUndefined();
});
