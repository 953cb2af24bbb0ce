import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteLength, cleanName, codePoints, firstBytes, firstCodePoints, isWellFormedText } from "./text.ts";

const anyText = fc.string({ unit: "binary" });
/** Any UTF-16 units, lone surrogates among them. */
const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd7ff, max: 0xe000 })))
  .map((units) => String.fromCharCode(...units));

describe("cleanName", () => {
  test.each([
    ["  Ann  ", "Ann"],
    ["Ann \t\n  Lee", "Ann Lee"],
    ["Ann\u00a0Lee", "Ann Lee"],
    ["Jose\u0301", "José"],
    ["👩‍💻 Dev", "👩‍💻 Dev"],
    ["❤️", "❤️"],
    ["1️⃣ First", "1️⃣ First"],
    ["علی‌رضا", "علی‌رضا"],
    ["葛\u{e0100}", "葛\u{e0100}"],
    ["x".repeat(80), "x".repeat(80)],
    ["𝒳".repeat(80), "𝒳".repeat(80)],
  ])("LIMIT-1 keeps %j as %j", (name, clean) => {
    expect(cleanName(name)).toBe(clean);
  });

  test.each([
    ["nothing", ""],
    ["only white space", " \t\n\u2003"],
    ["81 code points", "x".repeat(81)],
    ["a control character", "An\u0000n"],
    ["an escape", "An\u001b[31mn"],
    ["a direction override", "Ann\u202egnp.exe"],
    ["a direction isolate", "Ann\u2066"],
    ["a zero-width space", "Sco\u200but"],
    ["a joiner between Latin letters", "Sco\u200dut"],
    ["a trailing joiner", "Scout\u200d"],
    ["a byte order mark", "Sco\ufeffut"],
    ["a leading byte order mark", "\ufeffScout"],
    ["a soft hyphen", "Sco\u00adut"],
    ["an invisible filler letter", "\u3164\u3164"],
    ["a variation selector that varies nothing", "Scout\ufe0f"],
    ["a tag character", "Scout\u{e0041}"],
    ["a lone surrogate", "Scout\ud800"],
    ["only marks", "\u0301\u0302"],
    ["only blank patterns", "\u2800"],
  ])("LIMIT-1 refuses a name with %s", (_what, name) => {
    expect(cleanName(name)).toBeUndefined();
  });

  test("LIMIT-1 a clean name is clean: idempotent, on one line, well formed, 1 to 80 code points", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyUnits), (name) => {
        const clean = cleanName(name);
        if (clean === undefined) return;
        expect(cleanName(clean)).toBe(clean);
        expect(clean).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$|\s\s/u);
        expect(isWellFormedText(clean)).toBe(true);
        expect(codePoints(clean)).toBeGreaterThan(0);
        expect(codePoints(clean)).toBeLessThanOrEqual(80);
      }),
    );
  });
});

test("LIMIT-1 byteLength is what an encoder writes", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyUnits), (text) => {
      expect(byteLength(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});

test("WIN-3 codePoints counts code points and firstCodePoints cuts between them", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyUnits), fc.nat(40), (text, count) => {
      const points = Array.from(text);
      expect(codePoints(text)).toBe(points.length);
      expect(firstCodePoints(text, count)).toBe(points.slice(0, count).join(""));
    }),
  );
});

test("WORK-1 firstBytes is the longest beginning of whole characters that fits", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyUnits), fc.nat(60), (text, max) => {
      const cut = firstBytes(text, max);
      expect(text.startsWith(cut)).toBe(true);
      expect(byteLength(cut)).toBeLessThanOrEqual(max);
      const next = Array.from(text.slice(cut.length))[0];
      if (next !== undefined) expect(byteLength(cut + next)).toBeGreaterThan(max);
    }),
  );
});

test("LIMIT-1 a text is well formed without lone surrogates and NUL", () => {
  expect(isWellFormedText("Grüße 👋\n")).toBe(true);
  expect(isWellFormedText("")).toBe(true);
  for (const text of ["\ud83d", "\udc4b", "\udc4b\ud83d", "a\0b"]) expect(isWellFormedText(text)).toBe(false);
});
