import fc from "fast-check";
import { expect, test } from "vitest";
import type { Op } from "../wire/agent/ops.ts";
import { fullResults, givenWay } from "./acts.ts";

const move = (key: string, ticket: string): Op => ({ op: "move", key, ticket, to: "active" });
const comment = (key: string, ticket: string): Op => ({ op: "comment", key, ticket, body: "x" });
const field = (key: string, ticket: string, name: "tokens" | "runs"): Op => ({
  op: "set_field",
  key,
  ticket,
  field: name,
  value: 1,
});

test("ACT-1 moves, assigns and fields give way to newer ones of the same ticket; what is said does not", () => {
  const ops = [
    move("a/1", "BP-1"),
    comment("a/2", "BP-1"),
    move("a/3", "BP-2"),
    field("a/4", "BP-1", "tokens"),
  ];
  expect(givenWay(ops, [move("b/1", "bp-1"), comment("b/2", "BP-2")])).toEqual(["a/1"]);
  expect(givenWay(ops, [field("b/1", "BP-1", "runs")])).toEqual([]);
  expect(givenWay(ops, [field("b/1", "BP-1", "tokens")])).toEqual(["a/4"]);
  expect(givenWay(ops, [{ op: "assign", key: "b/1", ticket: "BP-1", to: null }])).toEqual([]);
});

test("ACT-2 a result has a line for each op that was made or gave way, in order", () => {
  const ops = [move("a/1", "BP-1"), comment("a/2", "BP-1"), comment("a/3", "BP-1")];
  const lines = fullResults(ops, ["a/1"], ["said", "said again"]);
  expect(lines).toHaveLength(3);
  expect(lines.slice(1)).toEqual(["said", "said again"]);
  expect(fullResults(ops, ["a/1"], ["said"])).toHaveLength(2);
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { maxLength: 10 }),
      fc.array(fc.string(), { maxLength: 10 }),
      (gone, results) => {
        const all = gone.map((_, n) => comment(`a/${n}`, "BP-1"));
        const keys = all.filter((_, n) => gone[n]).map(({ key }) => key);
        const full = fullResults(all, keys, results);
        const sent = full.filter((line) => !line.startsWith("skipped: a newer"));
        expect(sent).toEqual(results.filter((line) => !line.startsWith("skipped: a newer")));
      },
    ),
  );
});
