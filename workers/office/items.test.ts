/** What is recorded of items, listed of them, and what looks stuck (ITEM-1, ITEM-4, OFF-10). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters, lettersNow } from "../testing/letters.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  eventually,
  fakeCalls,
  handback,
  itemOf,
  later,
  patch,
  queue,
  take,
} from "../testing/office.ts";
import { CALLS } from "./calls.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const titles = (agent: Agent, from = 0) =>
  agent.frames
    .slice(from)
    .filter((f) => f.type === "offer")
    .map((f) => f.payload.workItem.title);

const code = async (agent: Agent, type: string, payload: object) =>
  (await agent.ask(type, payload)).payload.code;

/** A person with an agent on an item. */
async function atWork(more: object = {}, item: object = {}) {
  const desk = await anOffice(more);
  const agent = await connected(desk);
  const id = await queue(desk, "A", item);
  await take(agent, id);
  return { desk, agent, id };
}

const told = (desk: Desk) => lettersNow(desk, "room", "notice").map((n) => n.text);

describe("what looks stuck", () => {
  const notify = newId("spc");

  test("OFF-10: no sign of work for stuck_minutes is shown, and told once a stretch", async () => {
    const { desk, agent, id } = await atWork({ notify, policies: { stuck_minutes: 10 } });
    await later(desk, 10 * 60_000 - 1000, agent);
    expect((await itemOf(desk, id)).stuck).toBeUndefined();
    await later(desk, 2000, agent);
    await later(desk, 60_000, agent);
    expect((await itemOf(desk, id)).stuck).toContain("no sign of work since");
    await agent.must("progress", { workItemId: id, text: "on" });
    expect(await itemOf(desk, id)).toMatchObject({ state: "active" });
    expect((await itemOf(desk, id)).stuck).toBeUndefined();
    await later(desk, 11 * 60_000, agent);
    await eventually(() => expect(told(desk).length).toBe(2));
    expect(told(desk)[0]).toContain('scout looks stuck on "A": no sign of work');
  });

  test("OFF-10: an offer without an answer comes again each minute, and counts as stuck after five", async () => {
    const desk = await anOffice({ notify });
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await agent.offer();
    for (let n = 0; n < 5; n++) await later(desk, 60_001, agent);
    await agent.ask("ping");
    expect(titles(agent).length).toBeGreaterThanOrEqual(5);
    expect(new Set(titles(agent))).toEqual(new Set(["A"]));
    await eventually(() => expect(told(desk)).toMatchObject([expect.stringContaining("not answered")]));
    expect((await itemOf(desk, id)).stuck).toContain("not answered");
    await take(agent, id);
  });

  test("OFF-10: what waits for seven days; nothing ends by itself", async () => {
    const { desk, agent, id } = await atWork({ notify });
    await handback(agent, id, { status: "waiting" });
    await later(desk, 7 * 86_400_000 + 1000, agent);
    await eventually(() => expect(told(desk)).toMatchObject([expect.stringContaining("waits")]));
    expect(await itemOf(desk, id)).toMatchObject({ state: "waiting" });
  });
});

describe("items", () => {
  test("ITEM-1: progress, journal, usage and work_made are recorded; over a limit is invalid", async () => {
    const { desk, agent, id } = await atWork();
    await agent.must("progress", { workItemId: id, text: "🙂".repeat(500) });
    await agent.must("usage", { windows: [{ name: "five_hour", utilization: 0.5 }] });
    await agent.must("work_made", {
      workItemId: id,
      ticket: "BP-7",
      pr: { repo: { owner: "acme", name: "shop" }, number: 7, url: "https://x/7" },
    });
    expect(await itemOf(desk, id)).toMatchObject({
      progress: "🙂".repeat(500),
      pr: "acme/shop#7",
      ticket: "BP-7",
    });
    const over: [string, object][] = [
      ["progress", { text: "x".repeat(501) }],
      ["journal", { text: "é".repeat(8193) }],
      ["fail", { reason: "x".repeat(4097) }],
      ["handback", { summary: "x".repeat(65_537), links: [], status: "done" }],
      ["handback", { summary: "", links: [{ url: "u".repeat(2001) }], status: "done" }],
      ["work_made", {}],
      ["work_made", { pr: { repo: { owner: "a b", name: "c" }, number: 1 } }],
    ];
    for (const [type, more] of over)
      expect([type, await code(agent, type, { workItemId: id, ...more })]).toEqual([type, "invalid"]);
    expect(await code(agent, "usage", { windows: [{ name: "x", utilization: 1, resetsAt: "soon" }] })).toBe(
      "invalid",
    );
    await eventually(() => {
      expect(lettersNow(desk, "board", "windows")).toMatchObject([{ windows: [{ utilization: 0.5 }] }]);
      expect(lettersNow(desk, "board", "made")).toMatchObject([
        { item: id, ticket: "BP-7", pr: { repo: "acme/shop", number: 7 } },
      ]);
      expect(
        lettersNow(desk, "board", "refs").flatMap((r) => r.refs.map((x: Any) => [x.ref, x.role])),
      ).toEqual([
        ["acme/shop#7", "created"],
        ["BP-7", "attached"],
      ]);
    });
  });

  test("ITEM-1: on an item that is not running nothing is recorded", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await agent.offer();
    for (const [type, more] of [
      ["progress", { text: "x" }],
      ["journal", { text: "x" }],
      ["session", { sessionId: "s" }],
    ] as const)
      expect(await code(agent, type, { workItemId: id, ...more })).toBe("invalid");
  });

  test("ITEM-4: work_list has the open items in the order they run, then the last finished", async () => {
    const { desk, agent, id } = await atWork();
    const done: string[] = [];
    for (let n = 0; n < 22; n++) {
      const other = await queue(desk, `done ${n}`);
      await patch(desk, other, { status: "canceled" });
      done.push(other);
    }
    const [c, b] = [await queue(desk, "C", { priority: 60 }), await queue(desk, "B", { ticket: "BP-2" })];
    const { items } = await agent.must("work_list", { workItemId: id });
    expect(items.slice(0, 3).map((i: Any) => i.id)).toEqual([id, b, c]);
    expect(items[0]).toEqual({ id, title: "A", status: "active", kind: "assigned", current: true });
    expect(items[1]).toMatchObject({ ticketKey: "BP-2" });
    expect(items.slice(3).map((i: Any) => i.id)).toEqual(done.toReversed().slice(0, 20));
  });

  test("ITEM-4: work_status answers in the order asked: own, another's, unknown; up to 500", async () => {
    const elsewhere = newId("itm");
    vi.spyOn(CALLS, "itemsOfOthers").mockImplementation(async (_e, _w, _h, ids) =>
      ids.filter((i) => i === elsewhere),
    );
    const { agent, id } = await atWork();
    const unknown = newId("itm");
    const { items } = await agent.must("work_status", { workItemIds: ["x", unknown, id, elsewhere, id] });
    expect(items.map((i: Any) => i.state)).toEqual(["unknown", "unknown", "active", "not_yours", "active"]);
    const many = Array.from({ length: 501 }, () => newId("itm"));
    expect(await code(agent, "work_status", { workItemIds: many })).toBe("invalid");
  });
});
