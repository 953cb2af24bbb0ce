import { expect, it } from "vitest";
import golden from "./golden.json" with { type: "json" };
import { corpusHashes } from "./render.cases.ts";

// workers/office/render.test.ts compares the same in workerd. Other bytes are a miss of every provider's cache: they
// change when a rule does, and never beside it.
it("RENDER-4: the corpus comes to the golden bytes, in Node", async () => {
  expect(await corpusHashes()).toEqual(golden);
});
