import fc from "fast-check";
import { expect, test } from "vitest";
import { firstThatFit, isWithin } from "./frame-fit.ts";
import { byteLength } from "./text.ts";

const sizeOf = (value: unknown) => byteLength(JSON.stringify(value));
const things = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.jsonValue()), {
  maxLength: 30,
});

test("OFF-1: of a list the first are kept, as many as fit and no fewer", () => {
  fc.assert(
    fc.property(things, fc.integer({ min: 2, max: 400 }), (list, bytes) => {
      const kept = firstThatFit(list, bytes);
      expect(kept).toEqual(list.slice(0, kept.length));
      expect(sizeOf(kept)).toBeLessThanOrEqual(bytes);
      if (kept.length < list.length) expect(sizeOf(list.slice(0, kept.length + 1))).toBeGreaterThan(bytes);
    }),
  );
});

test("OFF-1: what does not fit is not made", () => {
  let made = 0;
  function* endless() {
    for (;;) yield `item ${made++}`;
  }
  expect(firstThatFit(endless(), 1000).length).toBe(made - 1);
});

test("OFF-1: a value is within its bytes, exactly", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 200 }), (value, bytes) => {
      expect(isWithin(value, bytes)).toBe(sizeOf(value) <= bytes);
    }),
  );
});
