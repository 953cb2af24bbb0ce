/** The rows of PIPE-1's table that are about pull requests and merges, on a board's own tables. */
import { describe, expect, test } from "vitest";
import { ANNA, NOTIFY, START, withLedger, workTeam } from "../../../testing/ledger.ts";
import { approve, check, open, opened, pr, scoutBot, status, ticket, wakes } from "../../../testing/work.ts";
import { MERGES_ALARM, mergesDue } from "./derive.ts";

describe("PIPE-1 pull requests", () => {
  test("PIPE-1 PIPE-7 pr.opened, ready: the ticket is linked and moves to review; a draft is linked alone", async () => {
    await withLedger((t) => {
      ticket(t);
      expect(t.decided(open(t, { draft: true }))).toEqual(["act scout"]);
      expect(status(t)).toBe("ready");
      expect(t.decided(t.take({ type: "pr.ready", actor: scoutBot, pr }))).toEqual([
        "ignore scout",
        "act scout",
      ]);
      expect(status(t)).toBe("review");
    });
  });

  test("PIPE-1 PIPE-7 pr.merged: the ticket is done when no other is open, whoever merged", async () => {
    await withLedger((t) => {
      ticket(t);
      open(t);
      open(t, { number: 13 });
      const first = t.take({
        type: "pr.merged",
        actor: { id: "merge-queue[bot]", kind: "bot" },
        pr: { ...pr, merge_sha: "m1" },
      });
      expect(t.whys(first)).toEqual(["pr.merged: BP-1 has another open pull request"]);
      const last = t.take({ type: "pr.closed", actor: { id: "somebody" }, pr: { ...pr, number: 13 } });
      expect(t.decided(last)).toEqual(["act scout"]);
      expect(status(t)).toBe("done");
    });
  });

  test("PIPE-1 PIPE-7 pr.reviewed, commented, inline_commented: feedback for whose it is, while it is open", async () => {
    await withLedger((t) => {
      ticket(t);
      open(t);
      t.take({ type: "pr.thread_unresolved", pr, thread: { id: "i1", resolved: false, host: "PRRT_1" } });
      t.take({ type: "pr.commented", pr, comment: { id: "c1", body: "Why?" } });
      t.take({
        type: "pr.inline_commented",
        pr,
        comment: { id: "i1", body: "Here", path: "a.ts", line: 3, thread: "i1" },
      });
      t.take({
        type: "pr.reviewed",
        pr,
        review: { id: "r1", state: "changes_requested", body: "No", url: "https://x.test/r1" },
      });
      const said = t
        .letters("wake")
        .slice(1)
        .map((w) => w.feedback);
      expect(said).toMatchObject([
        { kind: "comment", actor: "anna", commentId: "c1", body: "Why?" },
        {
          kind: "inline_comment",
          commentId: "i1",
          comments: [{ path: "a.ts", line: 3, threadId: "PRRT_1" }],
        },
        { kind: "review", state: "changes_requested", body: "No", url: "https://x.test/r1" },
      ]);
      expect(t.letters("wake").at(-1)).toMatchObject({
        subject: { type: "pr", ref: "acme/shop#12" },
        refs: [
          { ref: "acme/shop#12", role: "trigger" },
          { ref: "BP-1", role: "linked", source: "link:acme/shop#12" },
        ],
      });
      const empty = t.take({ type: "pr.reviewed", pr, review: { id: "r2", state: "commented", body: "" } });
      expect(t.decided(empty)).toEqual(["ignore"]);
      t.take({ type: "pr.closed", pr });
      const late = t.take({ type: "pr.commented", pr, comment: { id: "c2", body: "Too late" } });
      expect(t.whys(late)).toEqual(["pr.commented: acme/shop#12 is closed"]);
    });
  });

  test("PIPE-1 pr.checks_failed: once all of the head have finished, once a head", async () => {
    await withLedger((t) => {
      open(t);
      check(t, "lint", "failure", "a1", { url: "https://ci.test/1", summary: "2 errors" });
      expect(wakes(t)).toEqual(["review_feedback acme/shop#12"]);
      t.take({ type: "pr.updated", actor: scoutBot, pr: { ...opened, head_sha: "b2" } });
      check(t, "lint", "failure", "b2");
      check(t, "test", "pending", "b2", { run: "2" });
      expect(wakes(t)).toHaveLength(2);
      expect(t.letters("wake")[0]).toMatchObject({
        trigger: "automation",
        feedback: {
          kind: "ci_failure",
          actor: "office",
          body: expect.stringContaining("- lint https://ci.test/1\n  2 errors"),
        },
      });
      check(t, "test", "failure", "b2", { run: "2" });
      check(t, "test", "failure", "b2", { run: "3" });
      expect(wakes(t)).toHaveLength(2);
    });
  });

  test("PIPE-4 what checks say is masked of secrets, stored and by their form, and stays data", async () => {
    await withLedger((t) => {
      t.secrets = ["s3cretvalue-of-the-team"];
      open(t);
      check(t, "lint", "failure", "a1", { summary: "token=abcdef123456 s3cretvalue-of-the-team failed" });
      const wake = t.letters("wake")[0];
      expect(wake?.feedback?.body).toContain("failed");
      expect(
        JSON.stringify([wake, t.db.all("SELECT event FROM events"), t.db.all("SELECT * FROM checks")]),
      ).not.toMatch(/s3cretvalue|abcdef123456/);
      expect(wake?.title).toBe("Feedback on acme/shop#12: Add a cart");
    });
  });

  test("PIPE-1 pr.checks_failed: not while one runs, not of an older head, not of others' pull requests", async () => {
    await withLedger((t) => {
      open(t);
      check(t, "test", "pending");
      check(t, "lint", "failure");
      expect(wakes(t)).toEqual([]);
      check(t, "test", "success");
      expect(wakes(t)).toHaveLength(1);
      check(t, "lint", "failure", "zz");
      open(t, { number: 14, author: "anna", head: "x", head_sha: "c3" });
      check(t, "lint", "failure", "c3");
      expect(wakes(t)).toHaveLength(1);
    });
  });

  test("PIPE-1 PIPE-6 PIPE-7 pr.review_requested: a person, no draft; again after they have reviewed", async () => {
    await withLedger((t) => {
      open(t, { draft: true });
      const ask = () => t.take({ type: "pr.review_requested", pr, reviewer: "bob-bot" });
      expect(t.whys(ask())).toEqual([
        "pr.review_requested: acme/shop#12 is a draft: it waits until it is ready",
      ]);
      t.take({ type: "pr.ready", actor: scoutBot, pr });
      expect(wakes(t, "bob")).toEqual(["review acme/shop#12"]);
      expect(t.decided(ask())).toEqual(["ignore bob"]);
      t.take({
        type: "pr.reviewed",
        actor: { id: "bob-bot" },
        pr,
        review: { id: "r1", state: "commented", body: "ok?" },
      });
      expect(t.decided(ask())).toEqual(["wake bob review"]);
      t.take({ type: "pr.review_request_removed", pr, reviewer: "bob-bot" });
      expect(t.decided(ask())).toEqual(["wake bob review"]);
      const own = t.take({ type: "pr.review_requested", pr, reviewer: "scout-bot" });
      expect(t.whys(own)).toEqual(["pr.review_requested: acme/shop#12 is scout's own"]);
      const human = t.take({ type: "pr.review_requested", pr, reviewer: "anna" });
      expect(t.decided(human)).toEqual([]);
    });
  });

  test("PIPE-1 pr.ready_to_merge: approved, green, clean, no open thread, in whatever order; once a head", async () => {
    await withLedger((t) => {
      open(t);
      t.take({ type: "pr.inline_commented", pr, comment: { id: "i1", body: "Hm", path: "a.ts" } });
      check(t, "test", "success");
      approve(t);
      const merges = () => wakes(t).filter((w) => w.startsWith("merge"));
      expect(merges()).toEqual([]);
      t.take({ type: "pr.thread_resolved", pr, thread: { id: "i1", resolved: true } });
      expect(merges()).toEqual(["merge acme/shop#12"]);
      approve(t, "r2");
      expect(merges()).toHaveLength(1);
      t.take({ type: "pr.updated", pr: { ...opened, head_sha: "b2" } });
      check(t, "test", "success", "b2");
      expect(merges()).toHaveLength(1);
    });
  });

  test("PIPE-7 pr.ready_to_merge: where people merge, they are told once", async () => {
    await withLedger(
      (t) => {
        open(t);
        check(t, "test", "success");
        approve(t);
        expect(wakes(t)).toEqual(["review_feedback acme/shop#12"]);
        expect(t.room).toMatchObject([
          { kind: "notice", body: { spaceIds: [NOTIFY], code: "office", about: [ANNA] } },
        ]);
      },
      workTeam({ policies: { merge: { by: "human" } } }),
    );
  });

  test("PIPE-1 merge.checks_failed: who merged is woken once, also when the merge is told last", async () => {
    await withLedger((t) => {
      open(t);
      check(t, "test", "failure", "m1");
      const merged = { ...pr, merge_sha: "m1", merged_by: "scout-bot" };
      t.take({ type: "pr.merged", actor: scoutBot, pr: merged });
      check(t, "test", "failure", "m1", { run: "2" });
      expect(t.letters("wake")).toMatchObject([
        { kind: "merge", rule: "merge.checks_failed", subject: { ref: "acme/shop#12" } },
      ]);
      open(t, { number: 13, head_sha: "c3" });
      t.take({ type: "pr.merged", pr: { ...pr, number: 13, merge_sha: "m2", merged_by: "anna" } });
      check(t, "test", "failure", "m2");
      expect(t.letters("wake")).toHaveLength(1);
    });
  });

  test("PIPE-1 merge.timed_out: checks that still run when their time is over, by the alarm", async () => {
    await withLedger((t) => {
      for (const [number, sha] of [
        [12, "m1"],
        [13, "m2"],
      ] as const) {
        open(t, { number, head_sha: `h${number}` });
        t.take({
          type: "pr.merged",
          actor: scoutBot,
          pr: { ...pr, number, merge_sha: sha, merged_by: "scout-bot" },
        });
      }
      check(t, "test", "pending", "m1");
      check(t, "test", "success", "m2");
      const due = t.alarms.get(MERGES_ALARM) ?? 0;
      expect(due).toBe(START + 2000 + 60 * 60_000);
      t.now = due - 2000;
      t.work(mergesDue);
      expect(t.letters("wake")).toEqual([]);
      t.now = due + 10_000;
      t.work(mergesDue);
      t.work(mergesDue);
      expect(t.letters("wake")).toMatchObject([
        { kind: "merge", rule: "merge.timed_out", subject: { ref: "acme/shop#12" } },
      ]);
    });
  });
});
