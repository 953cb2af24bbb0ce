import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  aBoard,
  anAgent,
  aPerson,
  codeOf,
  fakeNeighbours,
  TEAM,
  type TestBoard,
  value,
} from "../../testing/board.ts";
import { newId } from "../../testing/client.ts";
import type { Identity } from "../letters.ts";

beforeAll(fakeNeighbours);

const made = async (board: TestBoard, asked: object = {}, by: Identity = board.owner) =>
  value(await board.calls.createTicket(by, { title: "Mend it", ...asked }));
const types = async (board: TestBoard): Promise<string[]> =>
  (await board.sql("SELECT type FROM events ORDER BY n")).map((row) => row.type);

describe("the board's own tickets", () => {
  it("WORK-3: one is made with a key, and says all of itself", async () => {
    const board = await aBoard();
    const ticket = await made(board, { description: "It is broken." });
    expect(ticket).toMatchObject({
      key: "ACME-1",
      title: "Mend it",
      description: "It is broken.",
      status: "backlog",
      source: "board",
      children: [],
      prs: [],
      docs: [],
      comments: [],
    });
    expect(ticket).not.toHaveProperty("assignee");
    expect(value(await board.calls.ticket(board.owner, "acme-1"))).toEqual(ticket);
    expect(codeOf(await board.calls.ticket(board.owner, "ACME-2"))).toBe("not_found");
    expect(codeOf(await board.calls.ticket(board.owner, "UTF-8"))).toBe("not_found");
  });

  it("WORK-3: it is assigned to a handle, a name or a human, and ready then", async () => {
    const board = await aBoard();
    expect(await made(board, { assignee: "scout" })).toMatchObject({ assignee: "scout", status: "ready" });
    expect(await made(board, { assignee: "Finch" })).toMatchObject({ assignee: "finch" });
    expect(await made(board, { assignee: "anna" })).toMatchObject({ assignee: "Anna" });
    const nobody = await board.calls.createTicket(board.owner, { title: "T", assignee: "nobody" });
    expect(nobody).toMatchObject({ ok: false, error: { code: "invalid", details: [{ path: "assignee" }] } });
    expect(await types(board)).toEqual(
      Array.from({ length: 3 }, () => ["ticket.created", "ticket.assigned"]).flat(),
    );
  });

  it("ENV-4 WORK-3: a ticket and a comment with a key of their sender are made once, also after a restart", async () => {
    const board = await aBoard();
    const asked = { title: "Mend it", assignee: "scout", idempotency_key: "k1" };
    const first = await made(board, asked);
    value(await board.calls.patchTicket(board.owner, first.key, { title: "Mended" }));
    await evictDurableObject(board.stub);
    expect(await made(board, asked)).toEqual(first);
    expect(codeOf(await board.calls.createTicket(board.owner, { ...asked, title: "Other" }))).toBe(
      "conflict",
    );
    const say = (body: string, idempotency_key: string, key = first.key) =>
      board.calls.commentTicket(board.owner, key, { body, idempotency_key });
    const said = value(await say("Oil it.", "k2"));
    expect(value(await say("Oil it.", "k2"))).toEqual(said);
    expect(codeOf(await say("Paint it.", "k2"))).toBe("conflict");
    expect(codeOf(await say("Mend it", "k1"))).toBe("conflict");
    // What was refused keeps no key; another's key is theirs.
    const nobody = { title: "T", assignee: "nobody", idempotency_key: "k3" };
    expect(codeOf(await board.calls.createTicket(board.owner, nobody))).toBe("invalid");
    const second = await made(board, { idempotency_key: "k3" });
    const others = await made(board, asked, anAgent("scout"));
    expect([second.key, others.key]).toEqual(["ACME-2", "ACME-3"]);
    expect(codeOf(await say("Oil it.", "k2", second.key))).toBe("conflict");
    expect(value(await board.calls.ticket(board.owner, first.key)).comments).toHaveLength(1);
  });

  it("WORK-3: each kind of change is an event, and what is so already is none", async () => {
    const board = await aBoard();
    const { key } = await made(board, { assignee: "scout" });
    const patch = (asked: object) => board.calls.patchTicket(board.owner, key, asked);
    const of = async (asked: object) => {
      const before = (await types(board)).length;
      value(await patch(asked));
      return (await types(board)).slice(before);
    };
    expect(await of({ title: "Mend it", assignee: "scout", status: "ready" })).toEqual([]);
    expect(await of({ title: "Mend it well", status: "active", description: "So." })).toEqual([
      "ticket.updated",
    ]);
    expect(await of({ assignee: null })).toEqual(["ticket.unassigned"]);
    expect(await of({ status: "done", assignee: "finch" })).toEqual(["ticket.closed", "ticket.assigned"]);
    expect(await of({ status: "canceled" })).toEqual(["ticket.updated"]);
    expect(await of({ status: "ready" })).toEqual(["ticket.updated"]);
    expect(value(await board.calls.ticket(board.owner, key))).toMatchObject({
      title: "Mend it well",
      description: "So.",
      status: "ready",
      assignee: "finch",
    });
  });

  it("WORK-3: a ticket is part of another, and never above itself", async () => {
    const board = await aBoard();
    const [a, b, c] = [await made(board), await made(board), await made(board)];
    const under = (key: string, parent: string | null) =>
      board.calls.patchTicket(board.owner, key, { parent });
    value(await under(b.key, a.key));
    value(await under(c.key, b.key.toLowerCase()));
    expect(value(await board.calls.ticket(board.owner, a.key)).children).toEqual([b.key]);
    for (const [key, parent] of [
      [a.key, c.key],
      [a.key, b.key],
      [a.key, a.key],
      [a.key, "ACME-99"],
    ] as const)
      expect(codeOf(await under(key, parent))).toBe("invalid");
    value(await under(b.key, null));
    value(await under(a.key, c.key));
    expect(value(await board.calls.ticket(board.owner, b.key))).not.toHaveProperty("parent");
  });

  it("WORK-3: comments are of who wrote them, agents by their own name", async () => {
    const board = await aBoard();
    const { key } = await made(board);
    const anna = { ...aPerson("member"), participantId: TEAM.humans[0]?.user ?? "" };
    value(await board.calls.commentTicket(anna, key, { body: "Why?" }));
    const comment = value(await board.calls.commentTicket(anAgent("scout"), key, { body: "Because." }));
    expect(comment).toMatchObject({ author: "Scout", body: "Because." });
    const { comments } = value(await board.calls.ticket(board.owner, key));
    expect(comments.map((one) => `${one.author}: ${one.body}`)).toEqual(["Anna: Why?", "Scout: Because."]);
  });

  it("WORK-3: a long conversation shows its last 200, and how many there are before them", async () => {
    const board = await aBoard();
    const { key } = await made(board);
    for (let n = 0; n < 203; n += 1)
      value(await board.calls.commentTicket(board.owner, key, { body: `${n}` }));
    const { comments, more_comments } = value(await board.calls.ticket(board.owner, key));
    expect(more_comments).toBe(3);
    expect(comments.map((one) => one.body)).toEqual(Array.from({ length: 200 }, (_, i) => `${i + 3}`));
  });

  it("WORK-3: people but guests and the team's agents read and write them, nobody else", async () => {
    const board = await aBoard();
    const { key } = await made(board, {}, anAgent("scout"));
    const harness = { ...aPerson(null), kind: "harness" as const, scopes: ["harness" as const] };
    const hook = { ...aPerson("owner"), scopes: ["hook" as const], hook: { source: "x", types: [] } };
    for (const by of [aPerson("guest"), harness, hook]) {
      expect(codeOf(await board.calls.tickets(by, { limit: 1 }))).toBe("forbidden");
      expect(codeOf(await board.calls.ticket(by, key))).toBe("forbidden");
      expect(codeOf(await board.calls.createTicket(by, { title: "T" }))).toBe("forbidden");
      expect(codeOf(await board.calls.patchTicket(by, key, { title: "T" }))).toBe("forbidden");
      expect(codeOf(await board.calls.commentTicket(by, key, { body: "T" }))).toBe("forbidden");
    }
    expect(value(await board.calls.patchTicket(aPerson("member"), key, { title: "T" })).title).toBe("T");
  });

  it("WORK-3: where tickets are another tracker's, they are made and changed there", async () => {
    const board = await aBoard();
    const own = await made(board);
    value(await board.put({ ...TEAM, tracker: { kind: "events" } }, "1"));
    expect(codeOf(await board.calls.createTicket(board.owner, { title: "T" }))).toBe("conflict");
    value(await board.calls.patchTicket(board.owner, own.key, { status: "done" }));
    await board.letter("office/scout", "event", {
      id: "1",
      type: "ticket.created",
      at: new Date().toISOString(),
      source: "linear",
      actor: { id: "x" },
      ticket: { key: "LIN-7", title: "Theirs" },
    });
    expect(value(await board.calls.ticket(board.owner, "lin-7"))).toMatchObject({
      source: "linear",
      title: "Theirs",
    });
    expect(codeOf(await board.calls.patchTicket(board.owner, "LIN-7", { status: "done" }))).toBe("conflict");
    expect(codeOf(await board.calls.commentTicket(board.owner, "LIN-7", { body: "x" }))).toBe("conflict");
  });

  it("WORK-6: a number is given once, whatever becomes of the prefix, and also after a kill", async () => {
    const board = await aBoard();
    await made(board);
    value(await board.put({ ...TEAM, key: "NEW" }, "1"));
    expect((await made(board)).key).toBe("NEW-2");
    value(await board.put(TEAM, "2"));
    await abortAllDurableObjects();
    expect((await made(board)).key).toBe("ACME-3");
    // Another tracker took the next one.
    await board.letter("office/scout", "event", {
      id: "1",
      type: "ticket.created",
      at: new Date().toISOString(),
      source: "linear",
      actor: { id: "x" },
      ticket: { key: "acme-4", title: "Theirs" },
    });
    expect((await made(board)).key).toBe("ACME-5");
    // What was refused took no number.
    await board.calls.createTicket(board.owner, { title: "T", parent: "ACME-99" });
    expect((await made(board)).key).toBe("ACME-6");
  });

  it("WORK-3: the list has the last changed first, page by page, by status and assignee", async () => {
    const board = await aBoard();
    const keys: string[] = [];
    for (let n = 0; n < 7; n += 1) keys.push((await made(board, n % 2 ? { assignee: "scout" } : {})).key);
    const all = async (asked: object) => {
      const found: string[] = [];
      for (let cursor: string | undefined, pages = 0; pages < 10; pages += 1) {
        const page = value(
          await board.calls.tickets(board.owner, { limit: 2, ...asked, ...(cursor ? { cursor } : {}) }),
        );
        found.push(...page.items.map((item) => item.key));
        cursor = page.next;
        if (cursor === undefined) return found;
      }
      throw new Error("no end of pages");
    };
    expect(await all({})).toEqual(keys.toReversed());
    expect(await all({ assignee: "Scout" })).toEqual([keys[5], keys[3], keys[1]]);
    expect(await all({ status: "backlog", limit: 200 })).toEqual([keys[6], keys[4], keys[2], keys[0]]);
    expect(await all({ assignee: "nobody" })).toEqual([]);
    for (const cursor of ["x", "1", "1.2.3", "-1.2", "99999999999999999.1"])
      expect(codeOf(await board.calls.tickets(board.owner, { limit: 2, cursor }))).toBe("invalid");
  });

  it("WORK-3: whatever is asked of tickets, no key comes twice and no ticket is above itself", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            at: fc.nat({ max: 5 }),
            parent: fc.option(fc.nat({ max: 5 })),
            make: fc.boolean(),
            status: fc.constantFrom("ready" as const, "done" as const, undefined),
          }),
          { minLength: 1, maxLength: 25 },
        ),
        async (steps) => {
          const board = await aBoard();
          const keys: string[] = [];
          for (const { at, parent, make, status } of steps) {
            const above = parent === null ? undefined : keys[parent];
            if (make || keys.length === 0)
              keys.push(
                (await made(board, { ...(above ? { parent: above } : {}), ...(status ? { status } : {}) }))
                  .key,
              );
            else
              await board.calls.patchTicket(board.owner, keys[at % keys.length] ?? "", {
                parent: above ?? null,
                ...(status ? { status } : {}),
              });
          }
          expect(new Set(keys).size).toBe(keys.length);
          const parents = new Map(
            (await board.sql("SELECT key, parent FROM tickets")).map((row) => [row.key, row.parent]),
          );
          for (const key of keys) {
            let steps = 0;
            for (let up = parents.get(key); up; up = parents.get(up)) expect((steps += 1)).toBeLessThan(30);
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});

const model = (more: object = {}) => ({
  model: "m1",
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 2,
  cacheCreationTokens: 1,
  costUsd: 0.5,
  ...more,
});

const used = (more: object = {}) => ({
  handle: "scout",
  item: newId("itm"),
  round: 1,
  kind: "assigned",
  tickets: [] as string[],
  prs: [] as string[],
  models: [model()],
  ...more,
});

describe("what tickets' work used", () => {
  it("USE-2: untracked it is unsupported, and an unknown ticket is none", async () => {
    const board = await aBoard();
    const { key } = await made(board);
    expect(codeOf(await board.calls.ticketUsage(key))).toBe("unsupported");
    value(await board.put({ ...TEAM, usage: { track_cost: true } }, "1"));
    expect(codeOf(await board.calls.ticketUsage("ACME-99"))).toBe("not_found");
    expect(value(await board.calls.ticketUsage(key.toLowerCase()))).toMatchObject({
      ticket: key,
      own: { runs: 0, tokens: 0, costUsd: 0 },
      subTickets: [],
    });
  });

  it("USE-2: of thousands of sub-tickets those are named that fit a frame, and all count in the total", async () => {
    const board = await aBoard({ usage: { track_cost: true } });
    const { key } = await made(board);
    await board.sql(
      `WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 7999)
         INSERT INTO tickets (key, fields, parent, created_at, updated_at) SELECT 'SUB-' || n, '{}', '${key}', 0, 0 FROM c`,
    );
    await board.letter("office/scout", "used", used({ tickets: ["SUB-0", "SUB-7999"] }));
    const answer = value(await board.calls.ticketUsage(key));
    expect(answer.total.runs).toBe(2);
    expect(answer.subTickets[0]).toMatchObject({ ticket: "SUB-0", total: { runs: 1 } });
    expect(answer.subTickets.length).toBeGreaterThan(1000);
    expect(JSON.stringify(answer).length).toBeLessThan(1_048_576);
  });

  it("USE-2: own by person, model and kind, the dearest first; a round counts once, also without usage", async () => {
    const board = await aBoard({ usage: { track_cost: true } });
    const { key } = await made(board);
    const one = used({ tickets: [key.toLowerCase()] });
    await board.letter("office/scout", "used", one);
    // Its late hand-back used more: still the same round.
    await board.letter("office/scout", "used", { ...one, models: [model({ model: "m2", costUsd: 2 })] });
    await board.letter(
      "office/finch",
      "used",
      used({ handle: "finch", kind: "review", tickets: [key], models: [] }),
    );
    await board.letter("office/wren", "used", used({ handle: "wren", tickets: ["ACME-77"] }));
    const usage = value(await board.calls.ticketUsage(key));
    expect(usage.own).toEqual({
      inputTokens: 20,
      outputTokens: 10,
      cacheReadTokens: 4,
      cacheCreationTokens: 2,
      tokens: 36,
      costUsd: 2.5,
      runs: 2,
    });
    expect(usage.total).toEqual(usage.own);
    expect(usage.byPerson.map((s) => [s.key, s.totals.runs])).toEqual([
      ["scout", 1],
      ["finch", 1],
    ]);
    expect(usage.byModel.map((s) => s.key)).toEqual(["m2", "m1"]);
    expect(usage.byKind.map((s) => s.key)).toEqual(["assigned", "review"]);
  });

  it("USE-2: rounds on a ticket's pull requests are its own, and sub-tickets are rolled up", async () => {
    const board = await aBoard({ usage: { track_cost: true } });
    const [top, sub, below] = [await made(board), await made(board), await made(board)];
    value(await board.calls.patchTicket(board.owner, sub.key, { parent: top.key }));
    value(await board.calls.patchTicket(board.owner, below.key, { parent: sub.key }));
    await board.letter("office/scout", "event", {
      id: "pr",
      type: "pr.opened",
      at: new Date().toISOString(),
      source: "github",
      actor: { id: "scout-bot" },
      pr: { repo: "acme/shop", number: 3, title: `${top.key} mend it`, state: "open" },
    });
    await board.letter("office/scout", "used", used({ prs: ["acme/shop#3"] }));
    await board.letter("office/scout", "used", used({ tickets: [top.key], prs: ["acme/shop#3"] }));
    await board.letter("office/scout", "used", used({ tickets: [sub.key] }));
    await board.letter("office/scout", "used", used({ tickets: [below.key] }));
    const usage = value(await board.calls.ticketUsage(top.key));
    expect([usage.own.runs, usage.total.runs]).toEqual([2, 4]);
    expect(usage.subTickets.map((s) => [s.ticket, s.total.runs])).toEqual([[sub.key, 2]]);
    // Another tracker's events can make a ring.
    await board.sql("UPDATE tickets SET parent = ? WHERE key = ?", below.key, top.key);
    expect(value(await board.calls.ticketUsage(top.key)).total.runs).toBe(4);
    expect(value(await board.calls.ticketUsage(below.key)).total.runs).toBe(4);
  });
});
