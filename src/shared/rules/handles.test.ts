import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldHandle, freeHandle, handleOf } from "./handles.ts";

const anyText = fc.string({ unit: "binary" });

describe("handleOf", () => {
  test.each([
    ["Scout", "Scout"],
    ["Scout Two", "ScoutTwo"],
    ["Scout 2", "Scout2"],
    ["  Scout   Two ", "ScoutTwo"],
    ["Jean-Luc", "Jean-Luc"],
    ["r2_d2", "r2_d2"],
    ["José", "José"],
    ["Jose\u0301", "Jose\u0301"],
    ["Ann O'Neil", "Ann"],
    ["Ana (QA)", "Ana"],
    ["Анна Петрова", "АннаПетрова"],
    ["Ολγα", "Ολγα"],
    ["小明", "小明"],
    ["さくら", "さくら"],
    ["สมชาย", "สมชาย"],
    ["지민", "지민"],
    ["مریم", "مریم"],
    ["علی‌رضا", "علیرضا"],
    ["李 Wei", "李Wei"],
    ["Anna Анна", "Anna"],
    ["Ab", "Ab"],
    ["A1", "A1"],
    ["Everyone", "Everyone"],
  ])("ADDR-1 %j is reached as %j", (name, handle) => {
    expect(handleOf(name)).toBe(handle);
  });

  test.each([
    ["", "nothing"],
    ["   ", "white space"],
    ["A", "one letter"],
    ["e\u0301", "one letter with its mark"],
    ["李", "one letter"],
    ["2Pac", "a digit first"],
    ["_x_", "an underscore first"],
    ["-x", "a hyphen first"],
    ["\u0301ab", "a mark first"],
    ["Dr. Smith", "a dot in the first word"],
    ["D'Arcy", "an apostrophe in the first word"],
    ["A B.", "one letter, and a dot"],
    ["🤖", "no letter"],
    ["Sсout", "a Cyrillic letter among Latin ones"],
    ["Sсout Bot", "a first word that mixes"],
    ["Αnna", "a Greek letter among Latin ones"],
    ["𝐒cоut", "letters that are Latin and Cyrillic once normalised"],
  ])("ADDR-1 %j has no handle: %s", (name) => {
    expect(handleOf(name)).toBeUndefined();
  });

  test("ADDR-1 a handle is a letter and then letters, digits, _ or -, and what the name starts with", () => {
    const name = fc.string({ unit: fc.constantFrom(...Array.from("aZ0_- .'éи小กα\u0301\u200d🤖")) });
    fc.assert(
      fc.property(fc.oneof(name, anyText), (text) => {
        const handle = handleOf(text);
        if (handle === undefined) return;
        expect(handle).toMatch(/^\p{L}[\p{L}\p{M}\p{Nd}_-]+$/u);
        expect(text.replace(/[\s\u200c\u200d]+/gu, "").startsWith(handle)).toBe(true);
        expect(handleOf(handle)).toBe(handle);
      }),
    );
  });
});

describe("foldHandle", () => {
  test.each([
    ["SCOUT", "scout"],
    ["Ｓｃｏｕｔ", "scout"],
    ["Straße", "STRASSE"],
    ["STRAẞE", "strasse"],
    ["Οδός", "ΟΔΌΣ"],
    ["Jose\u0301", "JOSÉ"],
    ["ﬁn", "FIN"],
    ["ışık", "IŞIK"],
    ["علی‌رضا", "علیرضا"],
  ])("ADDR-1 %j and %j are alike", (one, other) => {
    expect(foldHandle(one)).toBe(foldHandle(other));
  });

  test("ADDR-1 accents and scripts tell handles apart", () => {
    const handles = ["Jose", "José", "Scout", "Ѕсоut", "Scout2"];
    expect(new Set(handles.map(foldHandle)).size).toBe(handles.length);
  });

  test("ADDR-1 folding every code point twice, or in another case, changes nothing", () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      const char = String.fromCodePoint(code);
      const folded = foldHandle(char);
      if (
        foldHandle(folded) !== folded ||
        foldHandle(char.toUpperCase()) !== folded ||
        foldHandle(char.toLowerCase()) !== folded
      ) {
        expect.fail(`U+${code.toString(16)} folds in two ways`);
      }
    }
  });

  test("ADDR-1 folding is idempotent and does not see case or normal form", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const folded = foldHandle(text);
        expect(foldHandle(folded)).toBe(folded);
        expect(foldHandle(text.normalize("NFD"))).toBe(folded);
        expect(foldHandle(text.normalize("NFKC"))).toBe(folded);
      }),
    );
  });
});

describe("freeHandle", () => {
  test("ADDR-1 the later comer's handle gets 2, 3, …", () => {
    const taken = new Set<string>();
    const given = ["Scout", "SCOUT", "scout", "Ledger"].map((base) => {
      const handle = freeHandle(base, (folded) => taken.has(folded));
      taken.add(foldHandle(handle));
      return handle;
    });
    expect(given).toEqual(["Scout", "SCOUT2", "scout3", "Ledger"]);
  });

  test.each(["everyone", "Everyone", "HERE", "All", "System", "Ｓｙｓｔｅｍ"])(
    "ADDR-1 %j is taken in every space",
    (base) => {
      expect(freeHandle(base, () => false)).toBe(`${base}2`);
    },
  );

  test("ADDR-1 however many are alike, each gets one of its own", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("Ann", "ann", "Ann2", "ANN", "all", "ann22")), (bases) => {
        const taken = new Set<string>();
        for (const base of bases) {
          const folded = foldHandle(freeHandle(base, (handle) => taken.has(handle)));
          expect(taken.has(folded)).toBe(false);
          expect(folded).toMatch(new RegExp(`^${foldHandle(base)}\\d*$`));
          taken.add(folded);
        }
      }),
    );
  });
});
