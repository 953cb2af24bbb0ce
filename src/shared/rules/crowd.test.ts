import fc from "fast-check";
import { expect, test } from "vitest";
import { crowdedOut } from "./crowd.ts";

const socket = (address: string, since: number, checked = false) => ({ address, since, checked });

test("OFF-2: of too many the oldest makes room", () => {
  const three = [socket("a", 3), socket("a", 1), socket("a", 2)];
  expect(crowdedOut(three, 3)).toEqual([]);
  expect(crowdedOut(three, 1)).toEqual([socket("a", 1), socket("a", 2)]);
});

test("OFF-2: whoever opens many crowds out only themselves", () => {
  const many = [socket("agent", 0), ...[1, 2, 3].map((since) => socket("stranger", since))];
  expect(crowdedOut(many, 3)).toEqual([socket("stranger", 1)]);
});

test("OFF-2: no more stay than may, none whose hello is checked goes, and an address with fewer only after the others", () => {
  const one = fc.record({
    address: fc.option(fc.constantFrom("a", "b", "c"), { nil: undefined }),
    since: fc.nat(50),
    checked: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 30 }), fc.nat(10), (sockets, most) => {
      const out = crowdedOut(sockets, most);
      const left = sockets.filter((s) => !out.includes(s));
      expect(out.length + left.length).toBe(sockets.length);
      expect(out.some((s) => s.checked)).toBe(false);
      // Too many stay only when the hello of each is being checked; and no more go than have to.
      if (left.length > most) expect(left.every((s) => s.checked)).toBe(true);
      if (out.length > 0) expect(left.length).toBeGreaterThanOrEqual(most);
      const of = (list: typeof sockets, address: string | undefined) =>
        list.filter((s) => s.address === address).length;
      for (const gone of out)
        for (const stays of left)
          if (!stays.checked) {
            expect(of(left, gone.address) + 1).toBeGreaterThanOrEqual(of(left, stays.address));
            if (gone.address === stays.address) expect(gone.since).toBeLessThanOrEqual(stays.since);
          }
    }),
  );
});
