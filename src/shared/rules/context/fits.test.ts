import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { STREAM_EVENT_TYPES, STREAM_PAYLOADS } from "../../wire/context/event.ts";
import { fits } from "./fits.ts";
import { broken, item, log } from "./streams.cases.ts";

describe("CTX-1 the reducer's check is the wire's schema", () => {
  test.each(STREAM_EVENT_TYPES)("CTX-1 of %s", (type) => {
    const schema: z.ZodType = STREAM_PAYLOADS[type];
    const check = fits(schema);
    const payload = log.chain((events) => fc.constantFrom(undefined, ...events.map((e) => e.payload)));
    fc.assert(
      fc.property(fc.oneof(item, broken, payload), (value) => {
        expect(check(value)).toBe(schema.safeParse(value).success);
      }),
      { numRuns: 1500 },
    );
  });

  test("CTX-1 it looks into what is nested", () => {
    const check = fits(STREAM_PAYLOADS["context-item"]);
    const file = { contentType: "a/b", filename: "f", path: "p", size: 1, url: "u" };
    expect(check({ role: "user", content: "", files: [file] })).toBe(true);
    expect(check({ role: "user", content: "", files: [file, { ...file, size: -1 }] })).toBe(false);
    expect(check({ role: "user", content: "", files: [{ ...file, size: undefined }] })).toBe(false);
  });
});

test("CTX-1 a schema with a part that the check does not know is refused, not passed over", () => {
  const unknown: z.ZodType[] = [
    z.date(),
    z.number(),
    z.int().multipleOf(2),
    z.string().startsWith("a"),
    z.array(z.string()).min(1),
    z.union([z.string(), z.int()]),
  ];
  for (const schema of unknown) expect(() => fits(schema)).toThrow(/knows/);
});
