import * as fc from "fast-check";
import { expect, test } from "vitest";
import { overlap, wordTokens } from "./tokens.ts";

test.each([
  ["", []],
  ["Hello, WORLD!", ["hello", "world"]],
  ["don't stop-me_now", ["don", "t", "stop", "me", "now"]],
  ["PO-4471 v2", ["po", "4471", "v2"]],
  ["Ｆｕｌｌ ﬁt", ["full", "fit"]],
  ["José Jose\u0301", ["josé", "josé"]],
  ["हिन्दी भाषा", ["हिन्दी", "भाषा"]],
  ["你好 world", ["你", "好", "world"]],
  ["abc漢字def", ["abc", "漢", "字", "def"]],
  ["コーヒー", ["コ", "ー", "ヒ", "ー"]],
  ["ｶﾞ", ["ガ"]],
  ["ที่นี่", ["ที่", "นี่"]],
  ["한국어 문장", ["한국어", "문장"]],
  ["「引用」、。", ["引", "用"]],
  ["👍 🎉", []],
  ["\u0301", []],
])("GUARD-3 the tokens of %j are %j", (text, tokens) => {
  expect(wordTokens(text)).toEqual(tokens);
});

test("GUARD-3 tokens are letters, digits and marks in lower case, and are their own tokens", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const tokens = wordTokens(text);
      for (const token of tokens) expect(token).toMatch(/^[\p{L}\p{Nl}\p{Nd}][\p{L}\p{Nl}\p{Nd}\p{M}]*$/u);
      expect(wordTokens(tokens.join(" "))).toEqual(tokens);
    }),
  );
});

test("GUARD-3 overlap is intersection over union of the sets", () => {
  expect(overlap(["a", "b", "a"], ["b", "c"])).toBe(1 / 3);
  expect(overlap(["a", "b"], new Set(["b", "a"]))).toBe(1);
  expect(overlap(["a"], ["b"])).toBe(0);
  expect(overlap([], [])).toBe(0);
  const tokens = fc.array(fc.constantFrom(...Array.from("abcdefgh")));
  fc.assert(
    fc.property(tokens, tokens, (a, b) => {
      const union = new Set([...a, ...b]);
      const shared = [...union].filter((token) => a.includes(token) && b.includes(token));
      expect(overlap(a, b)).toBe(union.size === 0 ? 0 : shared.length / union.size);
      expect(overlap(a, b)).toBe(overlap(b, a));
    }),
  );
});
