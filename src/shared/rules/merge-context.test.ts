import fc from "fast-check";
import { expect, test } from "vitest";
import { type Branches, othersOf, relationOf } from "./merge-context.ts";

const pr: Branches = { key: "a/b#1", number: 1, head: "feat", base: "main" };
const other = (number: number, more: Partial<Branches> = {}): Branches => ({
  key: `a/b#${number}`,
  number,
  head: `h${number}`,
  base: "release",
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
  const unknown = { head: null, base: null };
  expect(relationOf({ ...pr, ...unknown }, other(2, unknown), [])).toEqual([]);
});

test("OFFER-8 related ones first, then the newest, the rest counted, a few files named", () => {
  const shared = new Map([["a/b#4", ["a", "b", "c", "d", "e", "f", "g"]]]);
  const all = [other(2), other(9), other(3, { base: "main" }), other(4), other(5, { base: "feat" }), pr];
  const { others, more } = othersOf(pr, all, shared, 4);
  expect(others.map((o) => o.pr.number)).toEqual([5, 4, 3, 9]);
  expect(others[1]?.files).toEqual(["a", "b", "c", "d", "e"]);
  expect(more).toBe(1);
});

test("OFFER-8 nothing is lost and nothing comes twice", () => {
  const anyOther = fc.record({
    n: fc.integer({ min: 2, max: 99 }),
    base: fc.constantFrom("main", "feat", "x"),
    file: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.uniqueArray(anyOther, { selector: (o) => o.n }), fc.nat(30), (given, items) => {
      const all = given.map(({ n, base }) => other(n, { base }));
      const shared = new Map(given.flatMap(({ n, file }) => (file ? [[`a/b#${n}`, ["a"]] as const] : [])));
      const { others, more } = othersOf(pr, all, shared, items);
      expect(others.length + more).toBe(all.length);
      expect(others.length).toBeLessThanOrEqual(items);
      expect(new Set(others.map((o) => o.pr.key)).size).toBe(others.length);
    }),
  );
});
