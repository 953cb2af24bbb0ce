import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { excerptOf, MATCH_BEGINS, MATCH_ENDS, parseRecallQuery, recallMatch } from "./recall-query.ts";
import { codePoints } from "./text.ts";

const match = (query: string) => recallMatch(parseRecallQuery(query));

/** The index as an office has it, with some texts. */
function index(texts: string[]): (query: string) => string[] {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61')");
  const insert = db.prepare("INSERT INTO words (text) VALUES (?)");
  for (const text of texts) insert.run(text);
  return (query) => {
    const expression = match(query);
    const rows =
      expression === undefined
        ? db.prepare("SELECT text FROM words ORDER BY rowid").all()
        : db.prepare("SELECT text FROM words WHERE words MATCH ? ORDER BY rowid").all(expression);
    return rows.map((row) => String(row["text"]));
  };
}

const find = index(["The cart is slow", "Carts and coupons", "A coupon failed", "Slow coupon, slow cart"]);

test.each([
  ["cart", ["The cart is slow", "Carts and coupons", "Slow coupon, slow cart"]],
  ["carts coupon", ["Carts and coupons", "Slow coupon, slow cart"]],
  ['"slow cart"', ["Slow coupon, slow cart"]],
  ["“slow cart”", ["Slow coupon, slow cart"]],
  ["failed or slow", ["The cart is slow", "A coupon failed", "Slow coupon, slow cart"]],
  ["failing OR slow coupon", ["A coupon failed", "Slow coupon, slow cart"]],
  ["coupon -slow", ["Carts and coupons", "A coupon failed"]],
  ['coupon -"slow cart"', ["Carts and coupons", "A coupon failed"]],
  ["slow-cart", ["Slow coupon, slow cart"]],
  ["nothing", []],
])("RECALL-1 the query %s finds what it says", (query, texts) => {
  expect(find(query)).toEqual(texts);
});

test.each(["", "   ", "-slow", "!!!", '"', '""', "or", "- or -", "or -slow", "🎉", "\0", "*", "()"])(
  "RECALL-1 %j has no positive word: the filters alone decide",
  (query) => {
    expect(match(query)).toBeUndefined();
    expect(find(query)).toHaveLength(4);
  },
);

test.each(["or cart", "cart or", "cart or -nothing", '"cart', 'cart"', "cart !!! ()", "cart *"])(
  "RECALL-1 in %j what joins or closes nothing is nothing",
  (query) => {
    expect(find(query)).toEqual(find("cart"));
  },
);

test("RECALL-1 a quoted `or` is a word", () => {
  expect(parseRecallQuery('cart "or" slow')).toEqual({ all: [["cart"], ["or"], ["slow"]], without: [] });
});

test("RECALL-1 the language of FTS5 itself means nothing", () => {
  for (const query of [
    "NEAR(cart slow)",
    "text:cart",
    "cart*",
    "^cart",
    "{text}:cart",
    "cart AND slow",
    "a NOT b",
  ])
    expect(() => find(query)).not.toThrow();
  expect(find("cart AND slow")).toEqual([]);
  expect(find("car*")).toEqual([]);
});

const piece = fc.oneof(
  fc.constantFrom(
    '"',
    "“",
    "-",
    "or",
    " ",
    "(",
    ")",
    "*",
    "^",
    ":",
    "+",
    "'",
    "\0",
    "\ud800",
    "NEAR",
    "AND",
    "NOT",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const anyQuery = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(" ")),
);

test("RECALL-1 any string is safe", () => {
  fc.assert(
    fc.property(anyQuery, (query) => {
      expect(() => find(query)).not.toThrow();
    }),
    { numRuns: 2000 },
  );
});

test("RECALL-1 a very long query is safe, and its beginning counts", () => {
  for (const part of ["slow ", '"slow" ', "slow or ", "-x ", "a-", '("'])
    expect(() => find(`cart ${part.repeat(200_000)}`)).not.toThrow();
  expect(find(`cart ${"slow ".repeat(200_000)}`)).toEqual(["The cart is slow", "Slow coupon, slow cart"]);
});

const word = fc.constantFrom("alpha", "beta", "gamma", "delta");
test("RECALL-1 every word, quoted phrases, `or` and `-word` find what a plain reading finds", () => {
  const text = fc.array(word, { minLength: 1, maxLength: 6 });
  const groups = fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(text, groups, fc.array(word, { maxLength: 2 }), (words, all, without) => {
      const query = [...all.map((group) => group.join(" or ")), ...without.map((w) => `-${w}`)].join(" ");
      const plainly =
        all.every((group) => group.some((w) => words.includes(w))) && !without.some((w) => words.includes(w));
      expect(index([words.join(" ")])(query)).toHaveLength(plainly ? 1 : 0);
    }),
  );
});

const mark = (text: string) => `${MATCH_BEGINS}${text}${MATCH_ENDS}`;
test("RECALL-1 an excerpt stands around its first match, and is bounded", () => {
  expect(excerptOf(`a\n  ${mark("cart")} of ${mark("coupons")}`)).toBe("a cart of coupons");
  const long = excerptOf(`${"before ".repeat(500)}${mark("cart")}${" after".repeat(500)}`);
  expect(long).toMatch(/^….*cart.*…$/u);
  expect(codePoints(long)).toBeLessThanOrEqual(402);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 900 }), fc.nat(900), (text, at) => {
      const marked = `${text.slice(0, at)}${mark("cart")}${text.slice(at)}`.toWellFormed();
      const excerpt = excerptOf(marked);
      expect(excerpt).toContain("cart");
      expect(codePoints(excerpt)).toBeLessThanOrEqual(402);
    }),
  );
});
