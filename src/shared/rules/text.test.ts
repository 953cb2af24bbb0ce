import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  byteLength,
  cleanName,
  codePoints,
  firstBytes,
  firstCodePoints,
  isWellFormedText,
  withoutUnseen,
} from "./text.ts";

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

describe("withoutUnseen", () => {
  test.each([
    ["zero-width spaces", "pay\u200b no\u2060body\ufeff", "pay nobody"],
    ["marks of direction", "a\u200eb\u200fc\u061cd\u202ee\u2066f", "abcdef"],
    ["invisible operators", "a\u2061b\u2062c\u2063d\u2064e", "abcde"],
    ["variation selectors that spell", "a\u{e0101}\u{e01ef}\ufe00\ufe0e葛\u{e0100}b", "a葛b"],
    ["a selector that varies nothing", "a\ufe0f 1\ufe0f", "a 1"],
    ["joiners between letters that are not joined", "Sco\u200dut\u200c, ok", "Scout, ok"],
    ["joiners in a row", "علی\u200c\u200dرضا", "علیرضا"],
    ["fillers", "\u3164a\u115f\u1160\uffa0b\u17b4\u034f\u00ad\u180e", "ab"],
    ["tags, also on a flag", "a\u{e0041}🏴\u{e0067}\u{e007f}", "a🏴"],
    ["what joins an emoji to nothing", "👩\u200d", "👩"],
    ["controls", "a\0b\u001b[31mc\u007f\u0085", "ab[31mc"],
  ])("NOTE-4 PIPE-4 takes out %s", (_what, text, seen) => {
    expect(withoutUnseen(text)).toBe(seen);
  });

  test.each([
    "👩‍💻",
    "👨‍👩‍👧‍👦",
    "❤️",
    "❤️‍🔥",
    "🏳️‍⚧️",
    "🏋🏻‍♀️",
    "1️⃣ #️⃣",
    "🇦🇹",
    "👁️‍🗨️",
    "علی‌رضا می‌خواهم",
    "क्‍ष",
    "a\tb\nc é e\u0301",
  ])("NOTE-4 PIPE-4 leaves %s as it is", (text) => {
    expect(withoutUnseen(text)).toBe(text);
  });

  test("NOTE-4 every emoji of one character and its selector stays", () => {
    const broken: string[] = [];
    for (let point = 0; point <= 0x1ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const char = String.fromCodePoint(point);
      for (const text of [char, `${char}\ufe0f`])
        if (/^\p{RGI_Emoji}$/v.test(text) && withoutUnseen(text) !== text) broken.push(text);
    }
    expect(broken).toEqual([]);
  });

  const unseen =
    /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\ufff9-\ufffb\u{13430}-\u{1343f}]|(?![\t\n])\p{Cc}/gu;
  const some = fc.constantFrom(
    ..."👩 ❤ 1 # a ل क 葛 🏻 ⃣ \u200d \u200c \ufe0f \ufe0e \u200b \u{e0100} \u{e0041} \u061c \u2066 \u3164 \0 \ud83d".split(
      " ",
    ),
  );
  const texts = fc.oneof(
    anyText,
    anyUnits,
    fc.array(some).map((parts) => parts.join("")),
  );

  test("NOTE-4 PIPE-4 whatever comes: what is seen is all there, and what is not stands beside what is, two at most", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const seen = withoutUnseen(text);
        expect(seen.replace(unseen, "")).toBe(text.replace(unseen, ""));
        expect(withoutUnseen(seen)).toBe(seen);
        const hidden = seen.match(new RegExp(`(?:${unseen.source})+`, "gu")) ?? [];
        for (const run of hidden) expect(["\ufe0f", "\u200d", "\u200c", "\ufe0f\u200d"]).toContain(run);
        for (const { index } of seen.matchAll(/\ufe0f/g))
          expect(seen.slice(0, index)).toMatch(/(?:\p{Extended_Pictographic}|[0-9#*])$/u);
        for (const { index } of seen.matchAll(/[\u200c\u200d]/g)) {
          const [before, after] = [seen.slice(0, index), seen.slice(index + 1)];
          const emoji = /(?:\p{Emoji}|\ufe0f)$/u.test(before) && /^\p{Extended_Pictographic}/u.test(after);
          expect(emoji || (/[\p{L}\p{M}]$/u.test(before) && /^[\p{L}\p{M}]/u.test(after))).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
