import { expect, it } from "vitest";
import golden from "../../src/shared/rules/context/render/golden.json";
import { corpusHashes } from "../../src/shared/rules/context/render/render.cases.ts";

it("RENDER-4: the corpus comes to the golden bytes, in workerd", async () => {
  expect(await corpusHashes()).toEqual(golden);
});
