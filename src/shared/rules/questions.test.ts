import fc from "fast-check";
import { expect, test } from "vitest";
import { askFault, chainOf, foldQuestion } from "./questions.ts";

const handle = fc.constantFrom("ada", "bo", "cy", "di", "ed");

test("ITEM-2 nobody asks themselves, or somebody who waits for them", () => {
  expect(askFault(["ada"], "ada")).toBe("self");
  expect(askFault(["ada", "bo"], "ada")).toBe("ring");
  expect(askFault(["ada", "bo"], "cy")).toBeUndefined();
});

test("ITEM-2 however questions lead on, a chain holds nobody twice and ends", () => {
  fc.assert(
    fc.property(handle, fc.array(handle, { maxLength: 20 }), (first, asked) => {
      let question: { chain: string[] } | undefined;
      let self = first;
      for (const to of asked) {
        const chain = chainOf(question, self);
        expect(new Set(chain).size).toBe(chain.length);
        expect(chain.at(-1)).toBe(self);
        if (askFault(chain, to)) continue;
        question = { chain };
        self = to;
        expect(chain).not.toContain(self);
      }
      expect(chainOf(question, self).length).toBeLessThanOrEqual(5);
    }),
  );
});

test("ITEM-2 the same question is told by its folded text", () => {
  expect(foldQuestion("Which  port?")).toBe(foldQuestion(" which PORT? "));
  expect(foldQuestion("Which port?")).not.toBe(foldQuestion("Which host?"));
});
