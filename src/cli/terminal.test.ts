import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { safeJson, safeLine, safeText, table } from "./terminal.ts";

const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0x2fff }), fc.integer({ min: 0, max: 0xffff })))
  .map((units) => String.fromCharCode(...units));

/** What a terminal may obey, or turn the text around it with. */
// oxlint-disable-next-line no-control-regex
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

describe("text from elsewhere", () => {
  it.each([
    ["colours", "\u001b[31mred\u001b[0m", "red"],
    ["moving the cursor up and overwriting", "\u001b[1A\u001b[2Kgone", "gone"],
    ["a window title", "a\u001b]0;title\u0007b", "ab"],
    ["a link", "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\", "click"],
    ["the eight-bit form of an escape", "a\u009b31mb", "ab"],
    ["going back to the start of a line", "12:00 Ann: yes\rno", "12:00 Ann: yes\nno"],
    ["backspaces and bells", "yes\b\b\bno\u0007", "yesno"],
    ["turned direction", "\u202egnp.exe", "gnp.exe"],
    ["hidden tags", "a\u{e0041}b", "ab"],
  ])("does nothing to the terminal: %s", (_what, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  it("keeps what people write with: accents, emoji joined of several, tabs, Arabic", () => {
    const text = "é e\u0301 👩‍💻 a\tb مرحبا";
    expect(safeText(text)).toBe(text);
  });

  it("never holds what a terminal obeys, whatever comes", () => {
    fc.assert(
      fc.property(anyUnits, (text) => {
        expect(safeText(text)).not.toMatch(OBEYED);
        expect(safeLine(text)).not.toMatch(/[\n\t]/);
        expect(safeText(text).isWellFormed()).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("JSON for a terminal", () => {
  it("is the same value, with nothing raw that a terminal obeys", () => {
    fc.assert(
      fc.property(anyUnits, (text) => {
        expect(JSON.parse(safeJson({ text }))).toEqual({ text });
        expect(safeJson({ text })).not.toMatch(OBEYED);
      }),
      { numRuns: 2000 },
    );
  });
});

it("lays out columns, wide characters counted as two", () => {
  expect(
    table([
      ["名前", "x"],
      ["abc", "y\nz"],
    ]),
  ).toBe("名前  x\nabc   y z");
});
