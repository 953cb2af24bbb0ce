/** Searching the own history (RECALL-1). */
import { runInDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters } from "../testing/letters.ts";
import { type Agent, anOffice, connected, type Desk, fakeCalls } from "../testing/office.ts";
import { CALLS } from "./calls.ts";
import type { Found, OfficeLetters } from "./letters.ts";

const FOUND: Record<string, Found> = {
  "12": {
    ref: { type: "pr", ref: "acme/shop#12" },
    subject: { type: "pr", ref: "acme/shop#12" },
    open: true,
  },
};

beforeAll(() => {
  fakeCalls();
  catchLetters();
  vi.spyOn(CALLS, "find").mockImplementation(async (_env, _workspace, _handle, target) => {
    const value = FOUND[target];
    return value
      ? { ok: true, value }
      : { ok: false, error: { code: "not_found", message: `There is no ${target}.` } };
  });
});

type Moment = OfficeLetters["moment"];
let made = 0;
async function moment(desk: Desk, text: string, more: Partial<Moment> = {}): Promise<void> {
  made += 1;
  const at = new Date(Date.UTC(2026, 0, 1) + made * 60_000).toISOString();
  await desk.letter("moment", {
    id: newId("evt"),
    at,
    kind: "ticket.commented",
    ref: { type: "ticket", ref: "BP-1" },
    text,
    ...more,
  });
}
const found = async (agent: Agent, query: string, more: object = {}): Promise<string[]> =>
  (await agent.must("recall", { query, limit: 100, ...more })).moments.map((m: Any) => m.excerpt);

async function world(...texts: string[]): Promise<{ desk: Desk; agent: Agent }> {
  const desk = await anOffice({
    humans: [
      { name: "Anna", identities: { github: "anna-gh" } },
      { name: "Bo", identities: { github: "bo-gh" } },
    ],
  });
  for (const text of texts) await moment(desk, text);
  return { desk, agent: await connected(desk) };
}

test("RECALL-1: words in any form, phrases, `or` and `-word`, newest first", async () => {
  const { agent } = await world(
    "The cart is slow",
    "Carts and coupons",
    "A coupon failed",
    "Slow coupon, slow cart",
  );
  expect(await found(agent, "carts")).toEqual([
    "Slow coupon, slow cart",
    "Carts and coupons",
    "The cart is slow",
  ]);
  expect(await found(agent, '"slow cart"')).toEqual(["Slow coupon, slow cart"]);
  expect(await found(agent, "failing or slow -coupon")).toEqual(["The cart is slow"]);
  expect(await found(agent, "-cart")).toHaveLength(4);
  expect(await found(agent, "")).toHaveLength(4);
  expect(await found(agent, "nothing")).toEqual([]);
});

test("RECALL-1: a moment says when, where, who, and where to look", async () => {
  const { desk, agent } = await world();
  await moment(desk, "The cart is slow", {
    at: "2026-03-04T05:06:07.890Z",
    title: "Slow cart",
    url: "https://tracker.test/BP-1",
    who: "Anna",
    link: "https://tracker.test/BP-1#c1",
  });
  expect((await agent.must("recall", { query: "slow", limit: 5 })).moments).toEqual([
    {
      at: "2026-03-04T05:06:07.890Z",
      kind: "ticket.commented",
      where: { type: "ticket", ref: "BP-1", title: "Slow cart", url: "https://tracker.test/BP-1" },
      who: "Anna",
      excerpt: "The cart is slow",
      url: "https://tracker.test/BP-1#c1",
    },
  ]);
});

test("RECALL-1: with somebody, by any of their names", async () => {
  const { desk, agent } = await world();
  await moment(desk, "one", { who: "anna-gh" });
  await moment(desk, "two", { who: "Somebody", whoIds: ["bo-gh"] });
  for (const name of ["Anna", "@anna-gh", "ANNA"])
    expect(await found(agent, "", { with: name })).toEqual(["one"]);
  expect(await found(agent, "two", { with: "Bo" })).toEqual(["two"]);
  expect(await found(agent, "", { with: "nobody" })).toEqual([]);
});

test("RECALL-1: about a ticket, a pull request however it is written, or a document", async () => {
  const { desk, agent } = await world("a ticket");
  await moment(desk, "a pull request", { ref: { type: "pr", ref: "acme/shop#12" } });
  await moment(desk, "a document", { ref: { type: "doc", ref: "D1" } });
  expect(await found(agent, "", { about: "bp-1" })).toEqual(["a ticket"]);
  expect(await found(agent, "", { about: "12" })).toEqual(["a pull request"]);
  expect(await found(agent, "", { about: "acme/shop#12" })).toEqual(["a pull request"]);
  expect(await found(agent, "", { about: "D1" })).toEqual(["a document"]);
  expect((await agent.ask("recall", { query: "", limit: 1, about: "BP-99" })).payload.code).toBe("not_found");
});

test("RECALL-1: since a date or time; anything else is invalid", async () => {
  const { desk, agent } = await world();
  await moment(desk, "old", { at: "2025-12-31T23:59:59.999Z" });
  await moment(desk, "new", { at: "2026-01-01T00:00:00.000Z" });
  expect(await found(agent, "", { since: "2026-01-01" })).toEqual(["new"]);
  expect(await found(agent, "", { since: "2026-01-01T01:00:00+01:00" })).toEqual(["new"]);
  expect(await found(agent, "", { since: "2025-01-01" })).toEqual(["new", "old"]);
  for (const since of ["yesterday", "", "2026", "2026-13-01", "1"])
    expect((await agent.ask("recall", { query: "", limit: 1, since })).payload.code).toBe("invalid");
});

test("ITEM-4 RECALL-1: limit is clamped to 1 to 100, and more says whether older ones match", async () => {
  const { desk, agent } = await world();
  for (let n = 0; n < 101; n++) await moment(desk, `note ${n}`);
  const recall = (limit: number) => agent.must("recall", { query: "note", limit });
  for (const [limit, count] of [
    [0, 1],
    [-5, 1],
    [3, 3],
    [100_000, 100],
  ] as const) {
    const { moments, more } = await recall(limit);
    expect([moments.length, more]).toEqual([count, true]);
  }
  expect((await recall(3)).moments[0].excerpt).toBe("note 100");
  expect((await agent.must("recall", { query: "99 or 98", limit: 2 })).more).toBe(false);
});

test("RECALL-1: the same moment is kept once, and many of one instant keep their order", async () => {
  const { desk, agent } = await world();
  const same = { at: "2026-01-01T00:00:00.000Z" };
  const id = newId("evt");
  for (let n = 0; n < 3; n++) await moment(desk, "once", { id, ...same });
  await moment(desk, "then", same);
  expect(await found(agent, "")).toEqual(["then", "once"]);
});

test("RECALL-1: what is nobody's word, or of a far time, harms nothing", async () => {
  const { desk, agent } = await world();
  await moment(desk, " \n ");
  await moment(desk, "odd \0 text \ud800 here", { at: "nonsense" });
  await moment(desk, "far", { at: "+275760-09-13T00:00:00.000Z" });
  expect(await found(agent, "far or odd")).toEqual(["far", "odd text � here"]);
});

test("RECALL-1: nothing of anybody else's", async () => {
  const { desk } = await world("mine");
  const other = await connected(await anOffice({}, desk.workspace, "bob"));
  expect(await found(other, "mine")).toEqual([]);
});

describe("queries of any shape", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '"',
      "-",
      "or",
      " ",
      "(",
      ")",
      "*",
      "^",
      ":",
      "+",
      "'",
      "NEAR",
      "AND",
      "NOT",
      "{",
      "\0",
      "“",
    ),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  test("RECALL-1: each is answered, and finds what a search without it would", async () => {
    const { agent } = await world("The cart is slow");
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
        const query = pieces.join("").toWellFormed();
        const answer = await agent.ask("recall", { query, limit: 5 });
        expect(answer.type).toBe("recall_result");
        expect(answer.payload.moments.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 150 },
    );
    expect(await found(agent, "slow")).toHaveLength(1);
  });

  test("RECALL-1: a payload that is none is invalid_message", async () => {
    const { agent } = await world();
    for (const payload of [{}, { query: 1, limit: 1 }, { query: "x" }, { query: "x", limit: 1.5 }])
      expect((await agent.ask("recall", payload)).payload.code).toBe("invalid_message");
  });
});

test("RECALL-1: the index reads only as far as it must", async () => {
  const { desk, agent } = await world();
  await runInDurableObject(desk.stub, (_office, ctx: DurableObjectState) => {
    const { sql } = ctx.storage;
    for (let n = 0; n < 3000; n++) {
      sql.exec(
        "INSERT INTO moments (n, id, kind, text) VALUES (?, ?, 'journal', ?)",
        n,
        `m${n}`,
        `common ${n}`,
      );
      sql.exec("INSERT INTO moments_text (rowid, text) VALUES (?, ?)", n, `common ${n}`);
    }
    const cursor = sql.exec(
      "SELECT m.n FROM moments_text JOIN moments m ON m.n = moments_text.rowid WHERE moments_text MATCH ? ORDER BY moments_text.rowid DESC LIMIT 11",
      '("common")',
    );
    expect([...cursor]).toHaveLength(11);
    expect(cursor.rowsRead).toBeLessThan(100);
  });
  expect(await found(agent, "common")).toHaveLength(100);
});
