/** The board's state is what its events say, in whatever order and however often they come (WORK-1). */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { START, type TestLedger, withLedger, workTeam } from "../../../testing/ledger.ts";
import { open, opened, pr, scoutBot, ticket } from "../../../testing/work.ts";
import { manyEvents } from "../../../testing/work-events.ts";
import { overlap, setFiles, stackedBy, stackedOn } from "./prs.ts";
import { prRow } from "./store.ts";
import { takeEvent } from "./take.ts";

const TABLES = {
  tickets:
    "SELECT key, fields, title, url, status, assignee, parent, created_at, updated_at FROM tickets ORDER BY key",
  prs: "SELECT key, repo, number, fields, state, draft, author, head, head_sha, base, merge_sha, ticket, created_at, updated_at FROM prs ORDER BY key",
  pr_tickets: "SELECT * FROM pr_tickets ORDER BY pr, place",
  reviews: "SELECT * FROM reviews ORDER BY pr, id",
  comments: "SELECT * FROM comments ORDER BY type, ref, id",
  threads: "SELECT * FROM threads ORDER BY pr, id",
  checks: "SELECT * FROM checks ORDER BY repo, sha, app, name",
  docs: "SELECT id, fields, ticket, at FROM docs ORDER BY id",
};
const sorted = (fields: unknown): unknown =>
  JSON.parse(String(fields), (_, v: unknown) =>
    typeof v === "object" && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
const stateOf = (t: TestLedger) =>
  Object.entries(TABLES).map(([name, query]) => [
    name,
    t.db
      .all<Record<string, unknown>>(query)
      .map((row) => ("fields" in row ? { ...row, fields: sorted(row["fields"]) } : row)),
  ]);

/** Events by strangers: nothing follows from them but the state. */
const someEvents = manyEvents(["who0", "who1", "who2"], 12);

test("WORK-1: any order and any repetition of events leaves the same tickets, pull requests, reviews, threads, checks, documents and links", async () => {
  const mixed = someEvents.chain((events) =>
    fc.tuple(
      fc.constant(events),
      fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
    ),
  );
  await withLedger(
    (t) => {
      t.now = START + 60_000;
      fc.assert(
        fc.property(mixed, ([inOrder, anyhow]) => {
          const [a, b] = [inOrder, anyhow].map((events) => {
            for (const table of [
              ...Object.keys(TABLES),
              "events",
              "event_refs",
              "decisions",
              "decision_keys",
              "merges",
            ])
              t.db.run(`DELETE FROM ${table}`);
            for (const event of events) t.work((l) => takeEvent(l, event));
            return stateOf(t);
          });
          expect(b).toEqual(a);
        }),
        { numRuns: 150 },
      );
      // Where the board itself were the tracker, what it does of them would be part of the state.
    },
    workTeam({ tracker: { kind: "events" } }),
  );
});

test("WORK-6: a pull request that names a ticket before it is known is linked once it is", async () => {
  await withLedger((t) => {
    open(t, { head: "utf-8", title: "BP-7 in UTF-8", body: "fixes BP-1" });
    const linked = () => prRow(t.ledger, "acme/shop#12")?.ticket;
    expect(linked()).toBeNull();
    ticket(t);
    expect(linked()).toBe("BP-1");
    ticket(t, "BP-7");
    expect(linked()).toBe("BP-7");
    t.take({ type: "pr.updated", pr: { ...opened, head: "utf-8", title: "Nothing", body: "" } });
    expect(linked()).toBeNull();
  });
});

test("WORK-1: only normalised fields are stored, and bodies are cut to 64 KiB between characters", async () => {
  await withLedger((t) => {
    const body = "é".repeat(40_000);
    t.take({ type: "pr.commented", pr, comment: { id: "c", body } });
    const stored = JSON.parse(t.db.one<{ fields: string }>("SELECT fields FROM comments")?.fields ?? "").body
      .v as string;
    expect(new TextEncoder().encode(stored).length).toBe(65_536);
    expect(body.startsWith(stored)).toBe(true);
    expect(t.db.one<{ event: string }>("SELECT event FROM events")?.event.length).toBeLessThan(40_000);
  });
});

test("WORK-1: an event changes what its type is about, and nothing else that it carries", async () => {
  await withLedger((t) => {
    ticket(t);
    open(t);
    t.take({
      type: "check.updated",
      check: { repo: "acme/shop", sha: "a1", app: "", name: "x", status: "success" },
      pr: { ...opened, state: "merged" },
      ticket: { key: "BP-1", status: "done" },
    });
    t.take({
      type: "doc.updated",
      doc: { id: "d" },
      ticket: { key: "BP-1", status: "done" },
      comment: { id: "c", body: "x" },
    });
    expect(prRow(t.ledger, "acme/shop#12")?.state).toBe("open");
    expect(t.db.one("SELECT status FROM tickets")).toEqual({ status: "review" });
    expect(t.db.one("SELECT count(*) AS n FROM comments")).toEqual({ n: 0 });
  });
});

test("WORK-1: a comment that was taken away leaves no words, and a thread without comments is none", async () => {
  await withLedger((t) => {
    open(t);
    t.take({ type: "pr.inline_commented", pr, comment: { id: "i1", body: "Secret", path: "a.ts" } });
    t.take({ type: "pr.updated", pr, comment: { id: "i1", body: "", deleted: true } });
    expect(t.db.one<{ fields: string }>("SELECT fields FROM comments")?.fields).not.toContain("Secret");
    const late = {
      type: "pr.inline_commented" as const,
      pr,
      at: new Date(START).toISOString(),
      comment: { id: "i2", body: "Late", path: "a.ts" },
    };
    t.take({ type: "pr.updated", pr, comment: { id: "i2", body: "", deleted: true } });
    t.take(late);
    expect(t.db.all("SELECT deleted FROM comments")).toEqual([{ deleted: 1 }, { deleted: 1 }]);
    const events = JSON.stringify(t.db.all("SELECT event FROM events"));
    expect(events).not.toContain("Secret");
    expect(events).not.toContain("Late");
  });
});

test("WORK-1: stacks by branches, and files that two pull requests both change", async () => {
  await withLedger((t) => {
    open(t);
    open(t, { number: 13, head: "top", base: "scout/bp-1-cart", head_sha: "c3" });
    const [low, top] = [12, 13].map((n) => prRow(t.ledger, `acme/shop#${n}`));
    if (!low || !top) throw new Error("no pull requests");
    expect(stackedOn(t.ledger, top)?.key).toBe("acme/shop#12");
    expect(stackedBy(t.ledger, low).map((p) => p.key)).toEqual(["acme/shop#13"]);
    expect(stackedOn(t.ledger, low)).toBeUndefined();
    setFiles(t.ledger, low.key, "a1", ["a.ts", "b.ts", "a.ts"]);
    setFiles(t.ledger, top.key, "c3", ["b.ts", "c.ts"]);
    expect(overlap(t.ledger, low.key, top.key, 5)).toEqual(["b.ts"]);
    t.take({ type: "pr.merged", actor: scoutBot, pr });
    expect(stackedOn(t.ledger, top)).toBeUndefined();
  });
});
