import fc from "fast-check";
import { expect, test } from "vitest";
import { attachFault, decideFiling, type Filed, foldTitle, isBusy } from "./filing.ts";

test("CHAT-3 titles compare with case and spaces folded", () => {
  expect(foldTitle("  Fix   the CART\n")).toBe(foldTitle("fix the cart"));
  expect(foldTitle("Straße")).toBe(foldTitle("STRASSE"));
  expect(foldTitle("Fix the cart")).not.toBe(foldTitle("Fix the carts"));
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (title) => {
      const folded = foldTitle(title);
      expect(foldTitle(folded)).toBe(folded);
      expect(foldTitle(` ${title}\t`)).toBe(folded);
    }),
  );
});

const filed = (more: Partial<Filed> = {}): Filed => ({
  ticket: "BP-1",
  verb: "work_link",
  assignee: null,
  ...more,
});

test("CHAT-3 the same filing again is a repeat, another ticket, verb or person is refused", () => {
  expect(decideFiling(undefined, filed())).toBe("new");
  expect(decideFiling(filed(), filed({ ticket: "bp-1" }))).toBe("repeat");
  expect(decideFiling(filed(), filed({ ticket: "BP-2" }))).toBe("taken");
  expect(decideFiling(filed(), filed({ verb: "work_file_for", assignee: "scout" }))).toBe("taken");
  const forScout = filed({ verb: "work_file_for", assignee: "scout" });
  expect(decideFiling(forScout, { ...forScout })).toBe("repeat");
  expect(decideFiling(forScout, { ...forScout, assignee: "ada" })).toBe("taken");
  expect(decideFiling(filed({ ticket: null, verb: "work_queue" }), filed())).toBe("taken");
});

const items = (...states: string[]) => states.map((state, n) => ({ id: `itm_${n}`, state }));
test("CHAT-3 busy means that another item is queued or active", () => {
  expect(isBusy(items("active"), "itm_0")).toBe(false);
  expect(isBusy(items("active", "blocked", "waiting", "done", "canceled"), "itm_0")).toBe(false);
  expect(isBusy(items("active", "queued"), "itm_0")).toBe(true);
  expect(isBusy(items("active", "active"), "itm_0")).toBe(true);
});

test("CHAT-4 only own and open work takes a request, in review only once confirmed", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean(), (mine, open, inReview, confirmed) => {
      const fault = attachFault({ mine, open, inReview }, confirmed);
      expect(fault === undefined).toBe(mine && open && (!inReview || confirmed));
      if (!mine) expect(fault).toBe("not_yours");
    }),
  );
});
