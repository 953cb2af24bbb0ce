import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codePoints, cutLine, fitWindow, type Weighed } from "./window.ts";

const said = (text: string) => ({ text });
const weight = (line: Weighed) => codePoints(line.text ?? "") + codePoints(line.transcript ?? "");

describe("fitWindow", () => {
  test("WIN-1 gives the newest that fit, oldest first", () => {
    const lines = [said("new"), said("mid"), said("old")];
    expect(fitWindow(lines, { lines: 40, chars: 16_000 })).toEqual({
      lines: [said("old"), said("mid"), said("new")],
      truncated: false,
    });
    expect(fitWindow(lines, { lines: 2, chars: 100 }).lines).toEqual([said("mid"), said("new")]);
    expect(fitWindow(lines, { lines: 9, chars: 6 }).lines).toEqual([said("mid"), said("new")]);
  });

  test("WIN-1 a budget of 0 lines or characters holds nothing", () => {
    for (const budget of [
      { lines: 0, chars: 10 },
      { lines: 10, chars: 0 },
    ]) {
      expect(fitWindow([said("a")], budget)).toEqual({ lines: [], truncated: true });
      expect(fitWindow([], budget)).toEqual({ lines: [], truncated: false });
    }
  });

  test("WIN-1 the first line that does not fit ends the window, also when an older one would fit", () => {
    const lines = [said("abc"), said("too long"), said("x")];
    expect(fitWindow(lines, { lines: 9, chars: 5 })).toEqual({ lines: [said("abc")], truncated: true });
  });

  test("WIN-3 characters are code points of text plus transcript; a joining has none", () => {
    const lines = [{ text: "👋👋" }, { text: "", transcript: "👋" }, {}, { text: "x" }];
    expect(fitWindow(lines, { lines: 9, chars: 3 })).toEqual({
      lines: [{}, { text: "", transcript: "👋" }, { text: "👋👋" }],
      truncated: true,
    });
  });

  test("WIN-3 the newest line is cut when it alone is longer than the whole budget, an older one is not", () => {
    const cut = fitWindow([said("👋👋👋👋"), said("old")], { lines: 9, chars: 3 });
    expect(cut).toEqual({ lines: [{ text: "👋👋…", transcript: undefined }], truncated: true });
    expect(fitWindow([said("a"), said("👋👋👋👋")], { lines: 9, chars: 3 }).lines).toEqual([said("a")]);
  });

  test("WIN-4 truncated says whether a further line was there", () => {
    const lines = [said("a"), said("b")];
    expect(fitWindow(lines, { lines: 2, chars: 2 }).truncated).toBe(false);
    expect(fitWindow(lines, { lines: 1, chars: 2 }).truncated).toBe(true);
    expect(fitWindow(lines, { lines: 2, chars: 1 }).truncated).toBe(true);
    expect(fitWindow([said("long")], { lines: 2, chars: 1 }).truncated).toBe(false);
  });

  const line = fc.record(
    { text: fc.string({ unit: "grapheme" }), transcript: fc.string({ maxLength: 3 }) },
    { requiredKeys: [] },
  );
  const budget = fc.record({ lines: fc.nat(12), chars: fc.nat(40) });

  test("WIN-1 WIN-3 WIN-4 within the budget, a run of the newest, as many as fit, read only as far as needed", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), budget, (newestFirst, limits) => {
        let read = 0;
        let closed = false;
        function* rows() {
          try {
            for (const row of newestFirst) {
              read += 1;
              yield row;
            }
          } finally {
            closed = true;
          }
        }
        const { lines, truncated } = fitWindow(rows(), limits);
        expect(read).toBeLessThanOrEqual(lines.length + 1);
        expect(read).toBeLessThanOrEqual(limits.lines + 1);
        expect(closed).toBe(true);
        expect(truncated).toBe(newestFirst.length > lines.length);

        const used = lines.reduce((sum, each) => sum + weight(each), 0);
        expect(lines.length).toBeLessThanOrEqual(limits.lines);
        expect(used).toBeLessThanOrEqual(limits.chars);

        const taken = newestFirst.slice(0, lines.length).toReversed();
        expect(lines.slice(0, -1)).toEqual(taken.slice(0, -1));
        const next = newestFirst[lines.length];
        if (next && lines.length < limits.lines && limits.chars > 0) {
          expect(used + weight(next)).toBeGreaterThan(limits.chars);
        }
      }),
    );
  });
});

describe("cutLine", () => {
  test.each([
    [{ text: "abcd" }, 4, { text: "abcd" }],
    [{ text: "abcd" }, 3, { text: "ab…", transcript: undefined }],
    [{ text: "abcd" }, 1, { text: "…", transcript: undefined }],
    [{ text: "ab", transcript: "cd" }, 4, { text: "ab", transcript: "cd" }],
    [{ text: "ab", transcript: "cde" }, 4, { text: "ab", transcript: "c…" }],
    [{ text: "ab", transcript: "cd" }, 3, { text: "ab", transcript: "…" }],
    [{ text: "ab", transcript: "cd" }, 2, { text: "a…", transcript: undefined }],
    [{ transcript: "abcd" }, 3, { transcript: "ab…" }],
  ])("WIN-3 %j cut to %i is %j", (line, chars, cut) => {
    expect(cutLine<Weighed>(line, chars)).toEqual(cut);
  });

  test("WIN-3 a cut line has exactly the budget, keeps its other fields and no half of a pair", () => {
    const line = fc.record({ seq: fc.nat(), text: fc.string({ unit: "binary" }), transcript: fc.string() });
    fc.assert(
      fc.property(line, fc.integer({ min: 1, max: 30 }), (whole, chars) => {
        const cut = cutLine(whole, chars);
        expect(weight(cut)).toBe(Math.min(weight(whole), chars));
        expect(cut.seq).toBe(whole.seq);
        expect(cut.text.isWellFormed()).toBe(true);
      }),
    );
  });
});
