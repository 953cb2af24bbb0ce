/** Acts, what agents made, and moments for recall (ACT, ITEM-1, RECALL-1). */
import { describe, expect, test } from "vitest";
import {
  ANNA,
  asRule,
  NOTIFY,
  START,
  type TestLedger,
  withLedger,
  workTeam,
} from "../../../testing/ledger.ts";
import { check, item, onBoard, open, opened, pr, status, ticket, wakes } from "../../../testing/work.ts";
import { takeUsed } from "../tickets/used.ts";
import { takeActResult } from "./acts.ts";
import { takeWoken } from "./carry.ts";
import { takeMade } from "./made.ts";
import { takeRefs } from "./moments.ts";
import { trace } from "./trace.ts";

const elsewhere = (more: object = {}) => workTeam({ tracker: { kind: "events" }, ...more });
const lin = { source: "linear", actor: { id: "anna@lin" } };
const engTicket = (t: TestLedger, more: object = {}) =>
  t.take({
    ...lin,
    type: "ticket.assigned",
    ticket: { key: "ENG-1", title: "Cart", status: "ready", assignee: "scout@lin", ...more },
  });

describe("ACT-1 where the tracker is elsewhere", () => {
  test("ACT-1 ACT-2 an act goes to the agent with a key an op; what it reports made holds until the tracker says otherwise", async () => {
    await withLedger((t) => {
      engTicket(t);
      const id = t.take({ ...item({ tickets: ["ENG-1"] }), type: "item.accepted" });
      const [act] = t.letters("act");
      expect(act).toMatchObject({
        eventId: id,
        ops: [{ op: "move", ticket: "ENG-1", to: "active", expect: "ready", key: `${act?.id}/1` }],
      });
      expect(status(t, "ENG-1")).toBe("ready");
      const answer = { handle: "scout", id: act?.id ?? "", ok: true, results: ["ENG-1 is active"] };
      t.work((l) => takeActResult(l, { ...answer, handle: "bob" }));
      expect(status(t, "ENG-1")).toBe("ready");
      t.work((l) => takeActResult(l, answer));
      expect(status(t, "ENG-1")).toBe("active");
      expect(trace(t.ledger, id)?.decisions).toMatchObject([
        { decision: "act", act: act?.id, result: { ok: true, results: ["ENG-1 is active"] } },
      ]);
      t.work((l) => takeActResult(l, { ...answer, ok: false, results: [] }));
      expect(trace(t.ledger, id)?.decisions).toMatchObject([{ result: { ok: true } }]);
      // The tracker's clock is behind ours: its next word wins all the same.
      const next = t.take({
        ...lin,
        at: new Date(START + 1500).toISOString(),
        type: "ticket.updated",
        ticket: { key: "ENG-1", status: "blocked" },
      });
      expect(next).toBeTruthy();
      t.take({ ...lin, type: "ticket.updated", ticket: { key: "ENG-1", status: "blocked" } });
      expect(status(t, "ENG-1")).toBe("blocked");
      expect(t.db.one<{ fields: string }>("SELECT fields FROM tickets")?.fields).toContain(
        '"source":{"v":"linear"',
      );
    }, elsewhere());
  });

  test("ACT-2 what was skipped or not tried is not made; a failure is told to people once and not tried again", async () => {
    const ops = [
      { op: "move", to: "blocked" },
      { op: "assign", to: "bob" },
      { op: "parent", parent: "ENG-9" },
    ];
    const rules = [{ id: "r", on: "ticket.commented", does: "act", stop: true, ops }].map(asRule);
    await withLedger(
      (t) => {
        engTicket(t);
        t.take({
          ...lin,
          type: "ticket.commented",
          ticket: { key: "ENG-1" },
          comment: { id: "c", body: "x" },
        });
        const [act] = t.letters("act");
        expect(act?.ops.map((op) => op.op)).toEqual(["move", "assign", "parent"]);
        t.work((l) =>
          takeActResult(l, {
            handle: "scout",
            id: act?.id ?? "",
            ok: false,
            results: ["skipped: it is not ready", "ENG-1 is bob's"],
            error: "no right",
          }),
        );
        const row = t.db.one("SELECT status, parent, assignee FROM tickets");
        expect(row).toEqual({ status: "ready", parent: null, assignee: "bob" });
        expect(wakes(t, "bob")).toEqual(["assigned ENG-1"]);
        expect(t.room).toMatchObject([
          { kind: "notice", body: { spaceIds: [NOTIFY], text: expect.stringContaining("no right") } },
        ]);
      },
      elsewhere({ pipeline: { rules } }),
    );
  });

  test("PIPE-1 item.ended: where cost is tracked, the ticket's fields are written", async () => {
    await withLedger(
      (t) => {
        engTicket(t);
        const models = [
          {
            model: "m",
            inputTokens: 40,
            outputTokens: 2,
            cacheReadTokens: 0,
            cacheCreationTokens: 0,
            costUsd: 0.5,
          },
        ];
        t.work((l) =>
          takeUsed(l, {
            handle: "scout",
            item: "itm_1",
            round: 1,
            kind: "assigned",
            tickets: ["ENG-1"],
            prs: [],
            models,
          }),
        );
        t.take({ ...item({ tickets: ["ENG-1"], status: "done" }), type: "item.ended" });
        expect(t.letters("act").at(-1)?.ops).toMatchObject([
          { op: "set_field", ticket: "ENG-1", field: "tokens", value: 42 },
          { op: "set_field", field: "cost_usd", value: 0.5 },
          { op: "set_field", field: "runs", value: 1 },
        ]);
      },
      elsewhere({ usage: { track_cost: true } }),
    );
  });

  test("ACT-1 what nobody of the team can make is not made, and the trace says so", async () => {
    await withLedger((t) => {
      t.take({ ...lin, type: "ticket.created", ticket: { key: "ENG-1", title: "x", assignee: null } });
      const id = open(t, { author: "anna", head: "eng-1" });
      expect(t.whys(id)[0]).toContain("nobody of the team can make the change");
      expect(t.letters("act", "scout")).toEqual([]);
    }, elsewhere());
  });
});

describe("ACT-1 on the board", () => {
  test("ACT-1 ops are made in the deciding transaction; what is not as expected is skipped", async () => {
    const ops = [
      { op: "move", to: "review", expect: "active" },
      { op: "assign", to: "bob" },
      { op: "comment", ticket: "BP-99", body: "x" },
      { op: "parent", parent: "BP-5" },
    ];
    await withLedger(
      (t) => {
        ticket(t, "BP-1", null);
        const id = t.take({ ...onBoard, type: "ticket.updated", ticket: { key: "BP-1", title: "New" } });
        const [decision] = trace(t.ledger, id)?.decisions ?? [];
        expect(decision?.result?.results).toEqual([
          "skipped: BP-1 is ready, not active",
          "BP-1 is assigned to bob",
          "skipped: there is no ticket BP-99",
          "BP-1 is under BP-5",
        ]);
        expect(wakes(t, "bob")).toEqual(["assigned BP-1"]);
        expect(t.letters("act")).toEqual([]);
      },
      workTeam({ pipeline: { rules: [asRule({ id: "r", on: "ticket.updated", does: "act", ops })] } }),
    );
  });
});

describe("ITEM-1 ITEM-5 what agents made is theirs", () => {
  test("ITEM-1 a pull request under anybody's login, with the ticket that it is for", async () => {
    await withLedger((t) => {
      ticket(t);
      const made = { handle: "scout", item: "itm_1", at: new Date(t.now).toISOString(), ticket: "bp-1", pr };
      t.work((l) => takeMade(l, made));
      t.work((l) => takeMade(l, made));
      expect(t.db.one("SELECT made_by, ticket, state FROM prs")).toEqual({
        made_by: "scout",
        ticket: "BP-1",
        state: "open",
      });
      expect(status(t)).toBe("ready");
      open(t, { author: "shared-login", head: "x", title: "y" });
      expect(status(t)).toBe("review");
      const id = t.take({ type: "pr.commented", pr, comment: { id: "c", body: "x" } });
      expect(t.decided(id)).toEqual(["wake scout review_feedback"]);
      t.work((l) => takeMade(l, { ...made, handle: "bob" }));
      expect(t.db.one("SELECT made_by FROM prs")).toEqual({ made_by: "scout" });
    });
  });

  test("ITEM-5 ACT-1 a document that is linked goes to the tracker", async () => {
    await withLedger((t) => {
      engTicket(t);
      const doc = { id: "d1", title: "Plan", url: "https://kb.test/d1" };
      t.work((l) =>
        takeMade(l, {
          handle: "scout",
          item: "itm_1",
          at: new Date(t.now).toISOString(),
          doc,
          ticket: "ENG-1",
        }),
      );
      expect(t.letters("act").at(-1)?.ops).toMatchObject([{ op: "link_doc", ticket: "ENG-1", doc }]);
    }, elsewhere());
  });
});

describe("RECALL-1 moments", () => {
  test("RECALL-1 events on what a person's items refer to reach their office, the past ones first, nobody else's", async () => {
    await withLedger((t) => {
      ticket(t);
      open(t);
      const refs = [
        { type: "pr" as const, ref: "acme/shop#12", role: "created" as const, source: "work_made" },
      ];
      t.work((l) => takeRefs(l, { handle: "scout", item: "itm_1", refs }));
      t.work((l) => takeRefs(l, { handle: "scout", item: "itm_2", refs }));
      expect(t.letters("moment").map((m) => m.kind)).toEqual(["pr.opened"]);
      t.take({ type: "pr.commented", pr, comment: { id: "c", body: "Nice door", url: "https://x.test/c" } });
      check(t, "lint", "failure");
      expect(t.letters("moment").at(1)).toMatchObject({
        kind: "pr.commented",
        ref: { type: "pr", ref: "acme/shop#12" },
        title: "Add a cart",
        url: opened.url,
        who: "Anna",
        whoIds: expect.arrayContaining(["Anna", "anna", "anna@lin", ANNA]),
        text: "Nice door",
        link: "https://x.test/c",
      });
      expect(t.letters("moment", "bob")).toEqual([]);
    });
  });

  test("PIPE-1 the trace of a wake names the item that it became", async () => {
    await withLedger((t) => {
      ticket(t);
      const wake = t.letters("wake")[0];
      t.work((l) => takeWoken(l, { handle: "scout", eventId: wake?.eventId ?? "", item: "itm_7" }));
      expect(trace(t.ledger, wake?.eventId ?? "")?.decisions).toMatchObject([
        { decision: "wake", item: "itm_7" },
      ]);
    });
  });
});
