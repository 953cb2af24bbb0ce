import { expect, test } from "vitest";
import { type TestLedger, withLedger, workTeam } from "../../../testing/ledger.ts";

const pr = { repo: "acme/shop", number: 12 };
const opened = {
  ...pr,
  title: "Add a cart",
  url: "https://github.test/acme/shop/pull/12",
  author: "scout-bot",
  head: "scout/bp-1-cart",
  head_sha: "a1",
  base: "main",
  draft: false,
};

/** A ticket of the board's, assigned to Scout by Anna. */
function ticket(t: TestLedger, key = "BP-1", assignee: string | null = "scout"): void {
  const by = { source: "board", actor: { id: "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV" } };
  t.take({ ...by, type: "ticket.created", ticket: { key, title: "A cart", status: "ready" } });
  if (assignee !== null) t.take({ ...by, type: "ticket.assigned", ticket: { key, assignee } });
}
const status = (t: TestLedger, key = "BP-1") =>
  t.db.one<{ status: string }>("SELECT status FROM tickets WHERE key = ?", key)?.status;

test("PIPE-1 ticket.assigned: the person is woken once, and again after it was taken from them", async () => {
  await withLedger((t) => {
    ticket(t);
    expect(t.letters("wake")).toMatchObject([
      {
        key: "assigned:BP-1:scout",
        rule: "ticket.assigned",
        kind: "assigned",
        title: "BP-1: A cart",
        trigger: "human",
        subject: { type: "ticket", ref: "BP-1" },
        refs: [{ type: "ticket", ref: "BP-1", role: "trigger" }],
        requester: { name: "Anna", kind: "human" },
      },
    ]);
    const by = { source: "board", actor: { id: "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV" } };
    const again = t.take({ ...by, type: "ticket.assigned", ticket: { key: "bp-1", assignee: "scout" } });
    expect(t.whys(again)).toEqual(["ticket.assigned: decided before: BP-1 is assigned to scout"]);
    t.take({ ...by, type: "ticket.unassigned", ticket: { key: "BP-1" } });
    expect(t.letters("cancel")).toMatchObject([{ ref: { type: "ticket", ref: "BP-1" } }]);
    t.take({ ...by, type: "ticket.assigned", ticket: { key: "BP-1", assignee: "scout" } });
    expect(t.letters("wake").map((w) => w.key)).toEqual(["assigned:BP-1:scout", "assigned:BP-1:scout#2"]);
  });
});

test("PIPE-1 pr.opened: the ticket is linked and moves to review", async () => {
  await withLedger((t) => {
    ticket(t);
    const id = t.take({ type: "pr.opened", actor: { id: "scout-bot" }, pr: opened });
    expect(t.decided(id)).toEqual(["act scout", "act scout"]);
    expect(status(t)).toBe("review");
    const merged = t.take({ type: "pr.merged", pr: { ...pr, state: "merged", merge_sha: "m1" } });
    expect(t.decided(merged)).toEqual(["act scout"]);
    expect(status(t)).toBe("done");
  });
});

test("PIPE-1 pr.commented is feedback for whose it is", async () => {
  await withLedger((t) => {
    ticket(t);
    t.take({ type: "pr.opened", actor: { id: "scout-bot" }, pr: opened });
    const id = t.take({ type: "pr.commented", pr, comment: { id: "c1", body: "Why?" } });
    expect(t.decided(id)).toEqual(["wake scout review_feedback"]);
    expect(t.letters("wake").at(-1)).toMatchObject({
      subject: { type: "pr", ref: "acme/shop#12" },
      feedback: { kind: "comment", actor: "anna", body: "Why?", commentId: "c1" },
      refs: [{ ref: "acme/shop#12" }, { ref: "BP-1", role: "linked", source: "link:acme/shop#12" }],
    });
  }, workTeam());
});
