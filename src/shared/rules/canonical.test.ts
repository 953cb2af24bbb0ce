import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical.ts";

test("APR-7 canonical JSON does not depend on the order of keys, and parses to what it was made of", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      // JSON has no negative zero.
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(turned(value))).toBe(text);
    }),
  );
});

test.each([
  [{ b: 1, a: [undefined, null, { d: 1, c: undefined }] }, '{"a":[null,null,{"d":1}],"b":1}'],
  [{ "€": 1, "\r": 2, "1": 3, "😂": 4, ö: 5 }, '{"\\r":2,"1":3,"ö":5,"€":1,"😂":4}'],
  [[1e21, -0, 4.5, "\u2028"], '[1e+21,0,4.5,"\u2028"]'],
])("APR-7 canonical JSON is as RFC 8785 has it", (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

/** The same value with the keys of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, turned(inner)]),
  );
}
