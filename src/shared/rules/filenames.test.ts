import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanFilename, FILENAME_BYTES } from "./filenames.ts";
import { byteLength } from "./text.ts";

describe("filenames", () => {
  test.each([
    ["report.pdf", "report.pdf"],
    ["../../etc/passwd", "passwd"],
    ["C:\\Users\\ada\\draft.docx", "draft.docx"],
    ["a/b\\c/d.txt", "d.txt"],
    ["  padded name .txt  ", "padded name .txt"],
    [".env", ".env"],
    ["Über den Wolken.flac", "Über den Wolken.flac"],
    ["U\u0308ber.txt", "Über.txt"],
    ["日本語.md", "日本語.md"],
    ["👩‍🚀 mission.png", "👩‍🚀 mission.png"],
    ['quote".txt', 'quote".txt'],
    ["%2e%2e%2fx", "%2e%2e%2fx"],
  ])("ATT-1 %j is stored as %j", (given, stored) => {
    expect(cleanFilename(given)).toBe(stored);
  });

  test.each([
    [""],
    ["."],
    [".."],
    ["... ."],
    ["folder/"],
    ["a/.."],
    ["a\0.png"],
    ["line\nbreak"],
    ["header\r\nx: y"],
    ["tab\there"],
    ["next\u0085line"],
    ["photo\u202egpj.exe"],
    ["\u2066isolated\u2069"],
    ["mark\u200f.txt"],
    ["\ufeffbom.txt"],
    ["zero\u200bwidth"],
    ["soft\u00adhyphen"],
    ["para\u2029graph"],
    ["half \ud800 pair"],
    ["not\uffffa character"],
  ])("ATT-1 %j is refused", (given) => {
    expect(cleanFilename(given)).toBeUndefined();
  });

  test("ATT-1 255 bytes fit and 256 do not, and nothing is cut", () => {
    const long = `${"ü".repeat(125)}.txt`;
    expect(cleanFilename(`${long}x`)).toBe(`${long}x`);
    expect(cleanFilename(`${long}xx`)).toBeUndefined();
  });

  test("ATT-1 a stored name is safe whatever was given, and stays as it is", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const hostile = fc.string({
      unit: fc.constantFrom("/", "\\", ".", " ", "\0", "\u202e", "a", "é", "👋"),
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.oneof(text, hostile), (given) => {
        const name = cleanFilename(given);
        if (name === undefined) return;
        expect(cleanFilename(name)).toBe(name);
        expect(name).not.toMatch(/[/\\]/);
        expect(name).not.toMatch(/^\.*$/);
        expect(name.isWellFormed()).toBe(true);
        expect(name).toMatch(/^[^\p{Cc}]+$/u);
        expect(byteLength(name)).toBeLessThanOrEqual(FILENAME_BYTES);
      }),
    );
  });
});
