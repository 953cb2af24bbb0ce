import fc from "fast-check";
import { expect, test } from "vitest";
import { instantOf } from "./instants.ts";

test("RECALL-1 USE-3: dates and times of ISO 8601 are times, whatever else is written is none", () => {
  expect(instantOf("2026-05-31")).toBe(Date.UTC(2026, 4, 31));
  for (const text of ["2026-05-31T09:00Z", "2026-05-31t09:00:00.000z", "2026-05-31 11:00:00.000000+02:00"])
    expect(instantOf(text)).toBe(Date.UTC(2026, 4, 31, 9));
  const none = ["", "now", "Tue", "2026", "1", "2026-13-01", "2026-02-31", "2027-02-29", "2026-05-31T25:00Z"];
  for (const text of [...none, "+275760-09-13", "2026-05-31T09", " 2026-05-31", "2026-05-31\n"])
    expect(instantOf(text)).toBeUndefined();
});

test("RECALL-1: every moment of four digits' years is read as it was written, and no text throws", () => {
  const [min, max] = [new Date("0000-01-01T00:00:00Z"), new Date("9999-12-31T23:59:59Z")];
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      expect(instantOf(date.toISOString())).toBe(date.getTime());
      expect(instantOf(date.toISOString().slice(0, 10))).toBe(Math.floor(date.getTime() / 864e5) * 864e5);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void instantOf(text)));
});
