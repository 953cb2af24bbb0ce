import { expect, test } from "vitest";
import { isId } from "../shared/wire/ids.ts";
import { newId } from "./ids.ts";

test("ID-2: a minted id has the wire's form, and its time part orders it", () => {
  for (const now of [0, 1, Date.now(), 2 ** 48 - 1]) expect(isId(newId("evt", now), "evt")).toBe(true);
  expect(newId("run", 1000) < newId("run", 2000)).toBe(true);
  expect(new Set(Array.from({ length: 1000 }, () => newId("evt", 5))).size).toBe(1000);
});
