import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf, pieces } from "./pieces.ts";

const lines = fc.array(
  fc.string({ unit: "binary", maxLength: 40 }).map((line) => line.replaceAll("\n", "")),
  { maxLength: 20 },
);

test("OFFER-7: lines come back as they were, from pieces that fit and tear no character", () => {
  fc.assert(
    fc.property(lines, fc.integer({ min: 2, max: 30 }), (given, size) => {
      const cut = [...pieces(given, size)];
      expect([...linesOf(cut)]).toEqual(given);
      for (const piece of cut) {
        expect(piece.length).toBeGreaterThan(0);
        expect(piece.length).toBeLessThanOrEqual(size);
        expect(piece.isWellFormed()).toBe(true);
      }
      // No more pieces than there have to be.
      const total = given.reduce((sum, line) => sum + line.length + 1, 0);
      expect(cut.length).toBeLessThanOrEqual(Math.ceil(total / (size - 1)));
    }),
  );
});

test("OFFER-7: what ends inside a line is not taken for whole", () => {
  const cut = [...pieces(["one", "two", "three"], 4)];
  expect(() => [...linesOf(cut.slice(0, -1))]).toThrow("not whole");
  expect([...linesOf([])]).toEqual([]);
});
