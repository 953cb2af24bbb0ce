import fc from "fast-check";
import { expect, it } from "vitest";
import { makesRing, nothingUsed, rolledUp, sharesOf, totalsOf, type UsedLine } from "./ticket-usage.ts";

const line = fc.record({
  round: fc.constantFrom("a/1", "a/2", "b/1", "c/1"),
  handle: fc.constantFrom("scout", "finch"),
  kind: fc.constantFrom("assigned", "review"),
  model: fc.option(fc.constantFrom("m1", "m2"), { nil: undefined }),
  inputTokens: fc.nat(1000),
  outputTokens: fc.nat(1000),
  cacheReadTokens: fc.nat(1000),
  cacheCreationTokens: fc.nat(1000),
  costUsd: fc.nat(100),
}) as fc.Arbitrary<UsedLine>;

it("USE-2: the parts by person add up to the whole, the dearest first", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const whole = totalsOf(lines);
      expect(whole.runs).toBe(new Set(lines.map((one) => one.round)).size);
      expect(whole.tokens).toBe(
        whole.inputTokens + whole.outputTokens + whole.cacheReadTokens + whole.cacheCreationTokens,
      );
      for (const by of [(one: UsedLine) => one.handle, (one: UsedLine) => one.kind]) {
        const shares = sharesOf(lines, by);
        expect(shares.reduce((sum, share) => sum + share.totals.costUsd, 0)).toBe(whole.costUsd);
        expect(shares.map((s) => s.totals.costUsd)).toEqual(
          shares.map((s) => s.totals.costUsd).toSorted((a, b) => b - a),
        );
      }
      const models = sharesOf(lines, (one) => one.model);
      expect(models.every((share) => share.key === "m1" || share.key === "m2")).toBe(true);
    }),
  );
});

it("USE-2: a ticket has everything below it once, whatever the parents are, rings too", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat({ max: 9 })), { minLength: 1, maxLength: 10 }), (parents) => {
      const keys = parents.map((_, i) => `T-${i}`);
      const children = (key: string) => keys.filter((_, i) => `T-${parents[i]}` === key);
      const own = (key: string) => ({ ...nothingUsed(), runs: 10 ** keys.indexOf(key) });
      for (const key of keys) {
        const below = new Set([key]);
        for (const one of below) for (const child of children(one)) below.add(child);
        const { total, subTickets } = rolledUp(key, own, children);
        expect(total.runs).toBe([...below].reduce((sum, one) => sum + own(one).runs, 0));
        expect(subTickets.map((sub) => sub.ticket)).toEqual(children(key).filter((child) => child !== key));
        expect(subTickets.reduce((sum, sub) => sum + sub.total.runs, own(key).runs)).toBe(total.runs);
      }
    }),
  );
});

const next = (key: string) => (Number(key) < 100_000 ? [String(Number(key) + 1)] : []);
it("USE-2: a chain of a hundred thousand tickets is no deeper than any other", () => {
  const { total } = rolledUp("0", () => ({ ...nothingUsed(), runs: 1 }), next);
  expect(total.runs).toBe(100_001);
});

it("WORK-3: a parent makes a ring exactly when the ticket is above it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.nat({ max: 9 })), { minLength: 2, maxLength: 10 }),
      fc.nat({ max: 9 }),
      fc.nat({ max: 9 }),
      (parents, a, b) => {
        const of = (key: string) => {
          const parent = parents[Number(key)];
          return parent === null || parent === undefined ? null : String(parent);
        };
        const above = new Set<string>();
        for (let at: string | null = String(b); at !== null && !above.has(at); at = of(at)) above.add(at);
        expect(makesRing(String(a), String(b), of)).toBe(above.has(String(a)));
      },
    ),
  );
});

it("USE-2: beyond counting a total stays a number that the wire can say", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const much = { inputTokens: most, outputTokens: most, cacheReadTokens: most, cacheCreationTokens: most };
  const one = { round: "a/1", handle: "scout", kind: "assigned", ...much, costUsd: 1e9 };
  const own = totalsOf([one, one]);
  expect(own).toMatchObject({ inputTokens: most, tokens: most, costUsd: 2e9, runs: 1 });
  expect(
    rolledUp(
      "a",
      () => own,
      (key) => (key === "a" ? ["b"] : []),
    ).total,
  ).toMatchObject({ tokens: most, runs: 2 });
});
