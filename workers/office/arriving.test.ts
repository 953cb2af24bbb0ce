/** How an item goes to another office: in pieces, whole, and by itself (OFFER-7). */
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Any } from "../testing/client.ts";
import { catchLetters } from "../testing/letters.ts";
import {
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
  seen,
  take,
  wake,
} from "../testing/office.ts";
import { Office } from "./office.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function atWork(desk: Desk, title = "A", item: object = {}) {
  const agent = await connected(desk);
  const id = await queue(desk, title, item);
  await take(agent, id);
  return { agent, id };
}

/** Two people of one team. */
async function two() {
  const scout = await anOffice();
  const bob = await anOffice({}, scout.workspace, "bob");
  return { scout, bob };
}

const arrived = (desk: Desk, id: string) =>
  eventually(async () => {
    const found = await itemOf(desk, id);
    expect(found).toBeDefined();
    return found;
  });

/** What an office's table holds of an item. */
const rowsOf = (desk: Desk, table: string, id: string) =>
  runInDurableObject(desk.stub, (_, { storage }) =>
    storage.sql.exec<Any>(`SELECT * FROM ${table} WHERE item = ? ORDER BY 1, 2`, id).toArray(),
  );
/** Writes a long journal past the agent. */
const writeJournal = (desk: Desk, id: string, lines: readonly string[]) =>
  runInDurableObject(desk.stub, (_, { storage }) => {
    for (const text of lines)
      storage.sql.exec(
        "INSERT INTO journal (item, round, at, author, text) VALUES (?, 1, 1, 'scout', ?)",
        id,
        text,
      );
  });
const LONG = Array.from({ length: 320 }, (_, n) =>
  `${n} "${"é\n🙂".repeat(n % 3)}"`.padEnd(16_384, `\\${n}`),
);

describe("an item that goes to a teammate", () => {
  test("OFFER-7: an item with a journal of 5 MB moves whole, line by line", async () => {
    const { scout, bob } = await two();
    const { agent, id } = await atWork(scout, "A", { ticket: "BP-1" });
    await wake(scout, {
      subject: { type: "ticket", ref: "BP-1" },
      kind: "review_feedback",
      feedback: { key: "c1", actor: "anna", kind: "comment", body: "rounder" },
    });
    await writeJournal(scout, id, LONG);
    const before = await rowsOf(scout, "history", id);
    await patch(scout, id, { person: "bob" });
    await agent.ask("progress", { workItemId: id, text: "?" });
    await arrived(bob, id);
    expect((await rowsOf(bob, "journal", id)).map((line) => line.text)).toEqual(LONG);
    expect((await rowsOf(bob, "feedback", id)).map((row) => row.key)).toEqual(["c1"]);
    expect((await rowsOf(bob, "history", id)).slice(0, before.length).map(({ why }) => why)).toEqual(
      before.map(({ why }) => why),
    );
    for (const table of ["journal", "feedback", "rounds", "history", "refs"])
      expect([table, await rowsOf(scout, table, id)]).toEqual([table, []]);
    expect(await rowsOf(bob, "arriving", id)).toEqual([]);
    const offer = await take(await connected(bob), id);
    expect(offer.context.journal.at(-1).text).toBe(LONG.at(-1));
    expect(offer.context.feedback.map((f: Any) => f.body)).toEqual(["rounder"]);
  });

  test("OFFER-7: half an item is nobody's: it is offered nowhere until the rest has come", async () => {
    const { scout, bob } = await two();
    const id = await queue(scout, "A");
    await writeJournal(scout, id, LONG.slice(0, 60));
    const line = { cut: true, tries: 0 };
    const real = Reflect.get<typeof Office.prototype, "take">(Office.prototype, "take");
    vi.spyOn(Office.prototype, "take").mockImplementation(function (this: Office, source, letters) {
      if (source !== "office/scout" || !line.cut) return real.call(this, source, letters);
      line.tries += 1;
      real.call(this, source, letters.filter(({ kind }) => kind === "moved_part").slice(0, 2));
      return false;
    });
    vi.spyOn(console, "error").mockImplementation(() => {});
    await patch(scout, id, { person: "bob" });
    const [mine, theirs] = [await connected(scout), await connected(bob)];
    await eventually(() => expect(line.tries).toBeGreaterThan(0));
    expect((await rowsOf(bob, "arriving", id)).length).toBe(2);
    for (const [desk, agent] of [
      [scout, mine],
      [bob, theirs],
    ] as const) {
      expect((await seen(desk)).items).toEqual([]);
      expect((await agent.must("work_list")).items).toEqual([]);
      expect((await patch(desk, id, { status: "canceled" })).error.code).toBe("not_found");
    }
    line.cut = false;
    await take(theirs, id);
    expect((await rowsOf(bob, "journal", id)).length).toBe(60);
    expect(await rowsOf(bob, "arriving", id)).toEqual([]);
    expect(mine.frames.some((f) => f.type === "offer")).toBe(false);
  });

  test("OFFER-7: one that cannot leave holds up no other, and is tried again", async () => {
    const { scout, bob } = await two();
    const { agent, id: stays } = await atWork(scout, "stays");
    await runInDurableObject(scout.stub, (_, { storage }) => {
      storage.sql.exec(
        `CREATE TRIGGER stays BEFORE DELETE ON rounds WHEN old.item = '${stays}' BEGIN SELECT RAISE(ABORT, 'no'); END`,
      );
    });
    vi.spyOn(console, "error").mockImplementation(() => {});
    await patch(scout, stays, { person: "bob" });
    await handback(agent, stays, { summary: "half of it" });
    const goes = await queue(scout, "goes");
    await take(agent, goes);
    await patch(scout, goes, { person: "bob" });
    await handback(agent, goes);
    await arrived(bob, goes);
    expect((await seen(bob)).items.map((i: Any) => i.title)).toEqual(["goes"]);
    expect((await itemOf(scout, stays)).why_waiting).toContain("It goes to bob");
    await runInDurableObject(scout.stub, (_, { storage }) => void storage.sql.exec("DROP TRIGGER stays"));
    await agent.ask("ping");
    expect((await seen(bob)).items.length).toBe(1);
    await later(scout, 60_001, agent);
    await arrived(bob, stays);
    expect((await rowsOf(bob, "journal", stays)).map((l) => l.text)).toEqual([
      "Handed back after it was moved: half of it",
    ]);
  });
});
