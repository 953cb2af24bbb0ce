import fc from "fast-check";
import { expect, test } from "vitest";
import { type OtherPr, othersOf, relationOf } from "./merge-context.ts";

const pr = { ref: "a/b#1", head: "feat", base: "main" };
const other = (number: number, more: Partial<OtherPr> = {}): OtherPr => ({
  ref: `a/b#${number}`,
  number,
  title: "x",
  author: "bob",
  draft: false,
  approved: false,
  ci: "none",
  mergeable: "unknown",
  head: `h${number}`,
  base: "release",
  files: [],
  ...more,
});

test.each([
  [{ base: "feat" }, [], ["stacked_on_it"]],
  [{ head: "main" }, [], ["under_it"]],
  [{ base: "main" }, ["a.ts"], ["same_base", "overlapping_files"]],
  [{}, [], []],
  [{ head: null, base: null }, [], []],
])("OFFER-8 relation of %j with %j", (more, files, relation) => {
  expect(relationOf(pr, other(2, more), files)).toEqual(relation);
});

test("OFFER-8 branches that nobody knows are not the same", () => {
  expect(
    relationOf({ ref: "a/b#1", head: null, base: null }, other(2, { head: null, base: null }), []),
  ).toEqual([]);
});

test("OFFER-8 related ones first, then the newest, the rest counted, a few files named", () => {
  const files = ["a", "b", "c", "d", "e", "f", "g"];
  const all = [
    other(2),
    other(9),
    other(3, { base: "main" }),
    other(4, { files }),
    other(5, { base: "feat" }),
    other(1),
  ];
  const { others, moreOthers } = othersOf(pr, all, 4);
  expect(others.map((o) => o.number)).toEqual([5, 4, 3, 9]);
  expect(others[1]?.files).toEqual(["a", "b", "c", "d", "e"]);
  expect(moreOthers).toBe(1);
  expect(othersOf(pr, [other(2)], 4)).not.toHaveProperty("moreOthers");
});

test("OFFER-8 nothing is lost and nothing comes twice", () => {
  const anyOther = fc.record({
    n: fc.integer({ min: 2, max: 99 }),
    base: fc.constantFrom("main", "feat", "x"),
    file: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.uniqueArray(anyOther, { selector: (o) => o.n }), fc.nat(30), (given, items) => {
      const all = given.map(({ n, base, file }) => other(n, { base, files: file ? ["a"] : [] }));
      const { others, moreOthers = 0 } = othersOf(pr, all, items);
      expect(others.length + moreOthers).toBe(all.length);
      expect(others.length).toBeLessThanOrEqual(items);
      expect(new Set(others.map((o) => o.ref)).size).toBe(others.length);
    }),
  );
});
