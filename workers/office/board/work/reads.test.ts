/** What agents ask of the board's work, and what other tools and people send and read (ITEM-4, CHAT-4, WORK-4). */
import { describe, expect, test } from "vitest";
import type { WorkEventGiven } from "../../../../src/shared/wire/work.ts";
import { Refused } from "../../../kit/result.ts";
import { ANNA, withLedger, workTeam } from "../../../testing/ledger.ts";
import { approve, check, open, opened, pr, scoutBot, ticket, wakes } from "../../../testing/work.ts";
import type { Identity } from "../../letters.ts";
import { find } from "./find.ts";
import { workEvent } from "./given.ts";
import { currentWork, prList, ticketPrs } from "./reads.ts";
import { ticketRow } from "./store.ts";
import { trace, traceFor, workEvents } from "./trace.ts";

const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof Refused) return error.refusal.code;
    throw error;
  }
  return "none";
};

describe("ITEM-4 reads", () => {
  test("ITEM-4 ticket_prs: the ticket a branch would link to, its status and what it has", async () => {
    await withLedger((t) => {
      ticket(t);
      open(t);
      expect(ticketPrs(t.ledger, { headRef: "x/bp-1", title: "", body: "" })).toEqual({
        ticket: "BP-1",
        status: "review",
        prs: [
          {
            ref: "acme/shop#12",
            number: 12,
            title: "Add a cart",
            url: opened.url,
            state: "open",
            authorKind: "agent",
          },
        ],
      });
      expect(ticketPrs(t.ledger, { headRef: "utf-8", title: "UTF-8", body: "about BP-1" })).toEqual({
        prs: [],
      });
    });
  });

  test("ITEM-4 pr_list: open ones first, newest first, then the last finished; filtered, clamped, counted", async () => {
    await withLedger((t) => {
      for (let number = 1; number <= 104; number++)
        open(t, { number, head: `h${number}`, head_sha: `s${number}` });
      ticket(t);
      open(t);
      t.take({ type: "pr.merged", actor: scoutBot, pr: { ...pr, number: 2 } });
      check(t, "test", "success");
      approve(t);
      const all = prList(t.ledger, { state: "all", limit: 1000 });
      expect(all.prs).toHaveLength(100);
      expect(all.more).toBe(4);
      const some = (more: object) =>
        prList(t.ledger, { state: "all", limit: 10, ...more }).prs.map((p) => p.number);
      expect(some({ ticket: "bp-1" })).toEqual([12]);
      expect(some({ author: "@Scout" })).toHaveLength(10);
      expect(some({ author: "bob" })).toEqual([]);
      expect(some({ state: "merged" })).toEqual([2]);
      expect(some({ repo: "other/x" })).toEqual([]);
      expect(prList(t.ledger, { state: "open", ticket: "BP-1", limit: 0 }).prs).toMatchObject([
        {
          author: "scout",
          ci: "success",
          mergeable: "clean",
          review: "approved",
          unresolvedThreads: 0,
          draft: false,
        },
      ]);
      expect(refusal(() => prList(t.ledger, { state: "all", ticket: "BP-99", limit: 1 }))).toBe("not_found");
    });
  });

  test("ITEM-4 current_work: open tickets and pull requests, at most 16 KiB", async () => {
    await withLedger((t) => {
      ticket(t);
      ticket(t, "BP-2", "bob");
      open(t);
      const { text } = currentWork(t.ledger, "scout");
      expect(text).toContain("BP-1 [review] A cart");
      expect(text).toContain("acme/shop#12 for BP-1 [open; checks: none]");
      expect(text).not.toContain("BP-2");
      for (let n = 10; n < 400; n++) open(t, { number: n, title: "é".repeat(300), head: `h${n}` });
      const long = currentWork(t.ledger, "scout").text;
      expect(new TextEncoder().encode(long).length).toBeLessThanOrEqual(16_384);
      expect(long).toMatch(/and \d+ more lines$/);
    });
  });

  test("CHAT-4 a target by key, number, name or link; what may be several names them", async () => {
    await withLedger((t) => {
      ticket(t);
      open(t);
      for (const target of [
        "#12",
        "12",
        "acme/shop#12",
        "ACME/Shop#12",
        `${opened.url}/files`,
        ` ${opened.url} `,
      ])
        expect(find(t.ledger, "scout", target)).toMatchObject({
          ref: { type: "pr", ref: "acme/shop#12" },
          owner: "scout",
          open: true,
          inReview: true,
          ticket: "BP-1",
          subject: { own: true, headRef: "scout/bp-1-cart" },
        });
      expect(find(t.ledger, "bob", "bp-1")).toMatchObject({
        ref: { type: "ticket", ref: "BP-1" },
        owner: "scout",
        status: "review",
      });
      t.take({ type: "pr.opened", pr: { ...opened, repo: "acme/api", author: "anna" } });
      expect(find(t.ledger, "scout", "12").ref.ref).toBe("acme/shop#12");
      expect(refusal(() => find(t.ledger, "bob", "12"))).toBe("invalid");
      for (const target of ["BP-99", "#99", "x/y#1", "https://evil.test/", "", "__proto__"])
        expect(refusal(() => find(t.ledger, "bob", target))).toBe("not_found");
    });
  });
});

const given = (more: object = {}): WorkEventGiven => ({
  id: "1",
  type: "ticket.assigned",
  at: "2026-03-01T09:00:00.000Z",
  actor: { id: "anna@lin" },
  ticket: { key: "ENG-1", assignee: "scout@lin" },
  ...more,
});

describe("WORK-4 events of other tools", () => {
  const hook: Identity = {
    participantId: "hrn_1",
    tokenId: "tok_1",
    kind: "harness",
    name: "Linear",
    role: null,
    scopes: ["hook"],
    hook: { source: "linear", types: ["ticket.*", "pr.commented"] },
  };

  test("WORK-4 a token's own source and types, once an event", async () => {
    await withLedger((t) => {
      const first = t.work((l) => workEvent(l, hook, given()));
      expect(t.work((l) => workEvent(l, hook, given()))).toEqual({ ...first, duplicate: true });
      expect(wakes(t)).toEqual(["assigned ENG-1"]);
      const forged = t.work((l) =>
        workEvent(
          l,
          { ...hook, hook: { source: "github", types: ["*"] } },
          given({
            id: "2",
            type: "pr.commented",
            actor: { id: "carl", association: "OWNER" },
            pr,
            comment: { id: "c", body: "x" },
          }),
        ),
      );
      expect(trace(t.ledger, forged.event_id)?.event).toMatchObject({
        trusted: false,
        actor: { id: "carl" },
      });
      expect(trace(t.ledger, forged.event_id)?.event.actor).not.toHaveProperty("association");
    });
  });

  test("WORK-4 all else is forbidden, and an event that lacks its subject is invalid", async () => {
    await withLedger((t) => {
      const tried = (by: Identity, more: object) =>
        refusal(() => t.work((l) => workEvent(l, by, given(more))));
      const { hook: _, ...person } = hook;
      expect(tried(person, {})).toBe("forbidden");
      const any = (source: string): Identity => ({ ...hook, hook: { source, types: ["*"] } });
      for (const source of ["board", "room", "office", "schedule"])
        expect(tried(any(source), {})).toBe("forbidden");
      expect(tried(hook, { type: "pr.opened", pr })).toBe("forbidden");
      expect(tried({ ...hook, hook: { source: "x", types: [] } }, {})).toBe("forbidden");
      for (const type of [
        "chat.message",
        "question.asked",
        "item.ended",
        "item.accepted",
        "schedule.due",
        "push",
      ])
        expect(tried(any("x"), { type })).toBe("forbidden");
      expect(tried(hook, { type: "pr.commented", pr: undefined })).toBe("invalid");
      expect(tried(hook, { type: "ticket.commented" })).toBe("invalid");
      expect(tried(any("x"), { type: "pr.reviewed", pr })).toBe("invalid");
      expect(t.db.one("SELECT count(*) AS n FROM events")).toEqual({ n: 0 });
    });
  });

  test("WORK-3 WORK-4 a ticket of the board's, or an issue of GitHub's, is nothing that another tool may change", async () => {
    await withLedger((t) => {
      const github = { source: "github", actor: { id: "anna" } };
      ticket(t);
      t.take({ ...github, type: "ticket.created", ticket: { key: "acme/shop#9", title: "An issue" } });
      const rows = () => t.db.all("SELECT key, fields FROM tickets ORDER BY key");
      const before = [rows(), t.db.one("SELECT count(*) AS n FROM events"), t.office.length];
      const types = ["created", "updated", "assigned", "unassigned", "closed", "commented"] as const;
      const comment = { id: "c", body: "x" };
      for (const [n, type] of types.entries())
        for (const key of ["BP-1", "bp-1", "acme/shop#9"]) {
          const about = { type: `ticket.${type}` as const, ticket: { key, title: "Mine now" }, comment };
          expect([
            type,
            key,
            refusal(() => t.work((l) => workEvent(l, hook, given({ id: `x${n}${key}`, ...about })))),
          ]).toEqual([type, key, "conflict"]);
        }
      expect([rows(), t.db.one("SELECT count(*) AS n FROM events"), t.office.length]).toEqual(before);
      // GitHub's own events by a token of that source go on; so does a tracker that takes over from the board.
      const asGithub: Identity = { ...hook, hook: { source: "github", types: ["*"] } };
      t.work((l) =>
        workEvent(l, asGithub, given({ type: "ticket.updated", ticket: { key: "acme/shop#9" } })),
      );
      t.team = workTeam({ tracker: { kind: "events" } });
      const at = new Date(t.now + 2000).toISOString();
      const moved = given({
        id: "m",
        at,
        type: "ticket.updated",
        ticket: { key: "BP-1", title: "There now" },
      });
      const first = t.work((l) => workEvent(l, hook, moved));
      expect(ticketRow(t.ledger, "BP-1")?.title).toBe("There now");
      // Taken once is taken, whoever keeps the ticket by then.
      t.team = workTeam();
      t.db.run("UPDATE tickets SET fields = json_remove(fields, '$.source') WHERE key = 'BP-1'");
      expect(t.work((l) => workEvent(l, hook, moved))).toEqual({ ...first, duplicate: true });
    });
  });

  test("PIPE-1 people but guests read events and traces, the newest first", async () => {
    await withLedger((t) => {
      const anna: Identity = {
        participantId: ANNA,
        tokenId: "tok_2",
        kind: "person",
        name: "Anna",
        role: "member",
        scopes: ["person"],
      };
      ticket(t);
      const id = open(t);
      const page = workEvents(t.ledger, anna, { limit: 2 });
      expect(page.items.map((e) => e.type)).toEqual(["ticket.updated", "pr.opened"]);
      expect(page.items[1]).toMatchObject({
        event_id: id,
        about: "acme/shop#12",
        actor: "Scout",
        trusted: true,
        decided: ["act scout", "act scout"],
      });
      expect(
        workEvents(t.ledger, anna, { limit: 10, cursor: page.next ?? "" }).items.map((e) => e.type),
      ).toEqual(["ticket.assigned", "ticket.created"]);
      expect(traceFor(t.ledger, anna, id).event.event_id).toBe(id);
      expect(refusal(() => traceFor(t.ledger, anna, "evt_none"))).toBe("not_found");
      expect(refusal(() => workEvents(t.ledger, anna, { limit: 1, cursor: "x" }))).toBe("invalid");
      for (const by of [
        hook,
        { ...anna, role: "guest" as const },
        { ...anna, kind: "agent" as const, handle: "scout" },
      ])
        expect(refusal(() => traceFor(t.ledger, by, id))).toBe("forbidden");
    });
  });
});
