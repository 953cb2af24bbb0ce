import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OfferFeedback, Wake } from "../wire/agent/index.ts";
import {
  type BoardContext,
  boundContext,
  boundFeedback,
  boundJournal,
  boundOffer,
  cut,
  JOURNAL_BYTES,
} from "./offer-bounds.ts";
import { byteLength, codePoints } from "./text.ts";

const at = "2026-01-01T00:00:00.000Z";
const size = (value: unknown) => byteLength(JSON.stringify(value));
const line = (text: string) => ({ at, author: "scout", text });
const said = (body: string, comments?: string[]): OfferFeedback => ({
  actor: "anna",
  kind: "review",
  body,
  ...(comments && { comments: comments.map((c, i) => ({ id: `${i}`, path: "a.ts", body: c })) }),
});
const ticket = (n: number) => ({
  key: `BP-${n}`,
  title: "t".repeat(500),
  url: "u".repeat(1500),
  comments: [],
  why: { role: "linked" as const, source: "x" },
});
const NOTHING: BoardContext = { subjects: [], links: [] };

const nothing = <T>(): fc.Arbitrary<T[]> => fc.constant(0).map(() => []);
/** Texts of any script, some long. */
const text = fc.oneof(
  fc.string({ maxLength: 50 }),
  fc
    .tuple(fc.constantFrom("a", "é", "漢", "🙂", "\u0001", '"'), fc.integer({ min: 1, max: 40_000 }))
    .map(([char, n]) => char.repeat(n)),
);
const feedback = fc.array(
  fc
    .record({ body: text, comments: fc.option(fc.array(text, { maxLength: 8 }), { nil: undefined }) })
    .map((f) => said(f.body, f.comments)),
  { maxLength: 60 },
);

describe("OFFER-4: the journal", () => {
  test("OFFER-4: what fits is given whole, oldest first", () => {
    expect(boundJournal([line("b"), line("a")], 2).map((l) => l.text)).toEqual(["a", "b"]);
  });

  test("OFFER-4: the newest 64 KiB, and the first line counts the rest", () => {
    const lines = Array.from({ length: 100 }, (_, i) => line(`${i} `.padEnd(1024, "x")));
    const bounded = boundJournal(lines, 100);
    expect(bounded[0]?.text).toBe("36 earlier lines are left out.");
    expect(bounded.length).toBe(65);
    expect(bounded.at(-1)?.text.startsWith("0 ")).toBe(true);
  });

  test("OFFER-4: for any journal, the texts fit and none is forgotten", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), fc.option(fc.string()), (texts, request) => {
        const always = request === null ? undefined : line(request);
        const bounded = boundJournal(texts.map(line), texts.length, always);
        const counted = /^(\d+) earlier/.exec(bounded[0]?.text ?? "");
        const kept = bounded.length - (counted ? 1 : 0) - (always ? 1 : 0);
        expect(kept + Number(counted?.[1] ?? 0)).toBe(texts.length);
        expect(bounded.slice(bounded.length - kept).map((l) => l.text)).toEqual(
          texts.slice(0, kept).toReversed(),
        );
        expect(texts.slice(0, kept).reduce((sum, t) => sum + byteLength(t), 0)).toBeLessThanOrEqual(
          JOURNAL_BYTES,
        );
        if (always) expect(bounded).toContain(always);
      }),
    );
  });
});

describe("OFFER-4: feedback", () => {
  test("OFFER-4: bodies shrink evenly, and say how much was cut", () => {
    const [a, b] = boundFeedback([said("x".repeat(10_000)), said("short")], 3000);
    expect(b?.body).toBe("short");
    expect(a?.body).toMatch(/^x{2000,}… \(\d+ more characters\)$/);
  });

  test("OFFER-4: none is cut below 200 characters; what is left makes the next round", () => {
    const all = Array.from({ length: 30 }, (_, i) => said(`${i}:`.padEnd(5000, "y")));
    const taken = boundFeedback(all, 3000);
    expect(taken.length).toBeGreaterThan(5);
    expect(taken.length).toBeLessThan(30);
    expect(taken.every((f, i) => f.body.startsWith(`${i}:`) && codePoints(f.body) >= 200)).toBe(true);
  });

  test("OFFER-4: one entry that never fits is taken with fewer comments, and says so", () => {
    const huge = said(
      "see below",
      Array.from({ length: 5000 }, () => "z".repeat(300)),
    );
    const [taken] = boundFeedback([huge, said("next")], 100_000);
    expect(size([taken])).toBeLessThanOrEqual(100_000);
    expect(taken?.body).toMatch(/\(\d+ comments left out/);
    expect(taken?.comments?.length).toBeGreaterThan(100);
  });

  test("OFFER-4: a cut never splits a character and never makes a text longer", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 200, max: 5000 }), (whole, n) => {
        const short = cut(whole, n);
        expect(short.length).toBeLessThanOrEqual(whole.length);
        expect(short.isWellFormed()).toBe(whole.isWellFormed());
        if (codePoints(whole) <= n) expect(short).toBe(whole);
      }),
    );
  });
});

describe("OFFER-4: the frame", () => {
  const BYTES = 1_000_000;
  const context = fc.record({
    subjects: fc.array(fc.record({ type: fc.constant("ticket"), ref: fc.string(), title: text }), {
      maxLength: 5,
    }),
    links: fc.array(fc.record({ url: fc.string({ maxLength: 2000 }) }), { maxLength: 50 }),
    wake: fc.record({
      tickets: fc.array(
        fc.record({
          key: fc.string(),
          title: fc.string(),
          comments: fc.array(fc.record({ author: fc.string(), at: fc.constant(at), body: text }), {
            maxLength: 20,
          }),
          why: fc.constant({ role: "linked" as const, source: "x" }),
        }),
        { maxLength: 30 },
      ),
      prs: nothing<Wake["prs"][number]>(),
      docs: nothing<Wake["docs"][number]>(),
      chats: nothing<Wake["chats"][number]>(),
    }),
  });

  test("OFFER-4: whatever there is, it fits, and the feedback is a beginning of all", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), feedback, context, (journal, all, board) => {
        const lines = boundJournal(journal.map(line), journal.length);
        const { context: made, taken } = boundOffer(lines, all, board, BYTES);
        expect(size(made)).toBeLessThanOrEqual(BYTES);
        expect(taken > 0 || all.length === 0).toBe(true);
        expect(made.feedback?.length ?? 0).toBe(taken);
        made.feedback?.forEach((f, i) => expect(f.body.slice(0, 200)).toBe(all[i]?.body.slice(0, 200)));
      }),
      { numRuns: 12 },
    );
  }, 20_000);

  test("OFFER-4: what fits is not touched", () => {
    const all = [said("one", ["two"])];
    const wake = { tickets: [], prs: [], docs: [], chats: [] };
    const { context: made } = boundOffer([line("a")], all, { ...NOTHING, wake }, BYTES);
    expect(made).toEqual({ journal: [line("a")], subjects: [], links: [], wake, feedback: all });
  });

  test("OFFER-4: what the bundle loses is counted", () => {
    const tickets = Array.from({ length: 100 }, (_, i) => ticket(i));
    const less = boundContext({ ...NOTHING, wake: { tickets, prs: [], docs: [], chats: [] } }, 50_000);
    expect(size(less)).toBeLessThanOrEqual(50_000);
    expect(less.wake?.omitted).toBe(100 - (less.wake?.tickets.length ?? 0));
    expect(less.wake?.tickets.length).toBeGreaterThan(10);
  });
});
