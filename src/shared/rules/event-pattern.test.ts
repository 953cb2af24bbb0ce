import fc from "fast-check";
import { expect, it } from "vitest";
import { WORK_EVENT_TYPES } from "../wire/work.ts";
import { meansType } from "./event-pattern.ts";

it("PIPE-1: a star stands for any part, the rest for itself", () => {
  expect(WORK_EVENT_TYPES.filter((type) => meansType("merge.*", type))).toEqual([
    "merge.checks_failed",
    "merge.timed_out",
  ]);
  expect(WORK_EVENT_TYPES.every((type) => meansType("*", type))).toBe(true);
  expect(meansType("pr.opened", "pr.opened")).toBe(true);
  expect(meansType("pr.", "pr.opened")).toBe(false);
  expect(meansType("*.commented", "doc.commented")).toBe(true);
  expect(meansType("", "x")).toBe(false);
});

it("PIPE-1: it agrees with the expression that says the same", () => {
  const word = fc.array(fc.constantFrom("a", "b", "."), { maxLength: 8 }).map((c) => c.join(""));
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b", ".", "*"), { maxLength: 8 }), word, (bits, type) => {
      const expression = bits.map((bit) => (bit === "*" ? ".*" : bit === "." ? "\\." : bit)).join("");
      expect(meansType(bits.join(""), type)).toBe(new RegExp(`^${expression}$`).test(type));
    }),
  );
});

it("PIPE-1: stars without end cost nothing", () => {
  expect(meansType("*a".repeat(100_000), "pr.review_requested")).toBe(false);
});
