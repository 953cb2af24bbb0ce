import { expect, it } from "vitest";
import budgets from "../../../../../bench/budgets.json" with { type: "json" };
import { fastestRender, MEASURED } from "../../../../../bench/render.ts";

// Four times the budget: the machine of a test has other work. `node bench/render.ts` measures it alone.
it.each(MEASURED)("PERF-7: a prompt of 1,000 items is rendered within its budget: %s", (format) => {
  expect(fastestRender(format, 100)).toBeLessThan(budgets.render.ms * 4);
});
