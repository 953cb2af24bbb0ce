import fc from "fast-check";
import { expect, test } from "vitest";
import { decideReport, fitting, hasPlace, resendAfter } from "./reports.ts";

const ending = (state: "open" | "granted" | "queued" | "told", frame: string | null = null) => ({
  kind: "result" as const,
  state,
  frame,
});

test("REPORT-1 an ending is granted once; the same frame again gets the same answer", () => {
  expect(decideReport(ending("open"), "result", "f1")).toBe("grant");
  expect(decideReport(ending("granted", "f1"), "result", "f2")).toBe("no");
  expect(decideReport(ending("granted", "f1"), "result", "f1")).toBe("again");
  expect(decideReport(ending("told", "f1"), "result", "f1")).toBe("again");
  expect(decideReport(ending("told", "f1"), "result", "f2")).toBe("no");
});

test("REPORT-2 once the office has queued the report, `chat_report` is no, also for the frame that was granted", () => {
  expect(decideReport(ending("queued", "f1"), "result", "f1")).toBe("no");
  expect(decideReport(ending("queued"), "result", "f2")).toBe("no");
});

test("REPORT-1 a request of another kind than the ending's is no; a fail is told as blocked", () => {
  expect(decideReport(ending("open"), "blocked", "f")).toBe("no");
  expect(decideReport({ kind: "blocked", state: "open", frame: null }, "failed", "f")).toBe("grant");
  expect(decideReport({ kind: "blocked", state: "open", frame: null }, "blocked", "f")).toBe("grant");
  expect(decideReport({ kind: "blocked", state: "open", frame: null }, "result", "f")).toBe("no");
});

test("REPORT-3 a report goes to threads; only a blocked one without any goes to the human who asked", () => {
  for (const kind of ["ack", "result", "blocked", "failed"] as const) {
    expect(hasPlace(kind, { threads: 1, human: false })).toBe(true);
    expect(hasPlace(kind, { threads: 0, human: false })).toBe(false);
    expect(hasPlace(kind, { threads: 0, human: true })).toBe(kind === "blocked" || kind === "failed");
  }
});

test("REPORT-2 it comes again after a minute, doubling to an hour", () => {
  expect([1, 2, 3, 6, 7, 8, 10_000].map((times) => resendAfter(times) / 60_000)).toEqual([
    1, 2, 4, 32, 60, 60, 60,
  ]);
});

test("OFF-5 as many as fit, the oldest first", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100)), fc.nat(500), (sizes, room) => {
      const count = fitting(sizes, room);
      const sum = (n: number) => sizes.slice(0, n).reduce((a, b) => a + b, 0);
      expect(sum(count)).toBeLessThanOrEqual(room);
      if (count < sizes.length) expect(sum(count + 1)).toBeGreaterThan(room);
    }),
  );
});
