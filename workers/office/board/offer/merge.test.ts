import { beforeAll, describe, expect, it } from "vitest";
import { fakeNeighbours } from "../../../testing/board.ts";
import { aHost, allRead, json } from "../../../testing/host.ts";
import { board, NOW, offered, pr, prRef, tell, ticket } from "../../../testing/offers.ts";

beforeAll(fakeNeighbours);

describe("OFFER-8 reviews and conversation", () => {
  it("of the subject ticket: its pull requests' and its parent's, what humans said and what they were answered", async () => {
    const of = await board({ pipeline: { context: { reviews: 4 } } });
    await tell(of, "ticket.created", { ticket: { key: "BP-1" } });
    await tell(of, "ticket.created", { ticket: { key: "BP-2", parent: "BP-1" } });
    await tell(of, "pr.merged", { pr: pr(1, { head: "bp-1", state: "merged" }) });
    await tell(of, "pr.opened", { pr: pr(2, { head: "bp-2" }) });
    await tell(of, "pr.closed", { pr: pr(3, { head: "bp-2-old", state: "closed" }) });
    const of3 = [
      pr(1, { head: "bp-1", state: "merged" }),
      pr(2, { head: "bp-2" }),
      pr(3, { head: "bp-2-old", state: "closed" }),
    ];
    const say = (n: number, id: string, who: string, thread: string) =>
      tell(of, "pr.inline_commented", {
        pr: of3[n - 1]!,
        actor: { id: who },
        comment: { id, body: id, path: "a.ts", line: 3, thread },
      });
    await say(1, "old", "anna", "old");
    await say(2, "asked", "anna", "asked");
    await say(2, "answered", "scout-bot", "asked");
    await say(2, "botly", "bob-bot", "botly");
    await say(2, "butted", "anna", "botly");
    await say(3, "closed", "anna", "closed");
    await tell(of, "pr.thread_resolved", { pr: of3[1]!, thread: { id: "asked", resolved: true } });
    const { wake } = await offered(of, { subject: ticket("BP-2") });
    expect(wake?.tickets.map(({ key }) => key)).toEqual(["BP-2", "BP-1"]);
    expect(wake?.tickets[0]?.reviews?.map((r) => `${r.pr} ${r.ticket} ${r.body} ${r.resolved}`)).toEqual([
      "acme/shop#2 BP-2 butted false",
      "acme/shop#2 BP-2 answered true",
      "acme/shop#2 BP-2 asked true",
      "acme/shop#1 BP-1 old false",
    ]);
    expect(wake?.tickets[0]?.reviews?.[0]).toMatchObject({ path: "a.ts", line: 3, author: "Anna" });
    expect(wake?.tickets[0]).not.toHaveProperty("moreReviews");
    expect(wake?.tickets[1]).not.toHaveProperty("reviews");
    const view = wake?.prs.find(({ number }) => number === 2);
    expect(view).toMatchObject({
      unresolvedThreads: 1,
      threads: [{ body: "botly", author: "Bob", path: "a.ts" }],
    });
    await say(2, "another", "anna", "another");
    expect((await offered(of, { subject: ticket("BP-2") })).wake?.tickets[0]?.moreReviews).toBe(1);
  });

  it("OFFER-4: five entries before the first of the feedback, oldest first", async () => {
    const of = await board();
    await tell(of, "pr.opened", { pr: pr(1) });
    for (let n = 1; n <= 6; n++)
      await tell(of, "pr.commented", { pr: pr(1), comment: { id: `c${n}`, body: `word ${n}` } });
    await tell(of, "pr.reviewed", { pr: pr(1), review: { id: "r0", state: "commented" } });
    await tell(of, "pr.reviewed", {
      pr: pr(1),
      review: { id: "r1", state: "changes_requested", body: "no" },
    });
    await tell(of, "pr.inline_commented", { pr: pr(1), comment: { id: "i1", body: "inline", path: "a" } });
    const first = await tell(of, "pr.commented", { pr: pr(1), comment: { id: "c7", body: "yes please" } });
    const second = await tell(of, "pr.commented", { pr: pr(1), comment: { id: "c8", body: "and soon" } });
    const { conversation } = await offered(of, {
      kind: "review_feedback",
      subject: prRef(1),
      events: [first, second],
    });
    expect(conversation?.map(({ kind, author, state, body }) => [kind, author, state, body])).toEqual([
      ["comment", "Anna", undefined, "word 3"],
      ["comment", "Anna", undefined, "word 4"],
      ["comment", "Anna", undefined, "word 5"],
      ["comment", "Anna", undefined, "word 6"],
      ["review", "Anna", "changes_requested", "no"],
    ]);
    const inline = await tell(of, "pr.inline_commented", {
      pr: pr(1),
      comment: { id: "i2", body: "x", path: "a" },
    });
    expect(
      await offered(of, { kind: "review_feedback", subject: prRef(1), events: [inline] }),
    ).not.toHaveProperty("conversation");
  });
});

const check = (sha: string, name: string, status: "success" | "failure" | "pending", url?: string) => ({
  check: { repo: "acme/shop", sha, app: "ci", name, status, ...(url === undefined ? {} : { url }) },
});

describe("OFFER-8 a merge", () => {
  it("WORK-5: what it is decided on, the base unknown without a token", async () => {
    const of = await board();
    await tell(of, "pr.merged", { pr: pr(7, { state: "merged", head: "x7", author: "anna" }) });
    await tell(of, "pr.opened", { pr: pr(1) });
    await tell(of, "pr.opened", { pr: pr(2, { base: "h1", author: "anna" }) });
    await tell(of, "pr.opened", { pr: pr(3, { base: "release" }) });
    await tell(of, "pr.opened", { pr: pr(4) });
    await tell(of, "pr.reviewed", { pr: pr(1), review: { id: "r", state: "approved", sha: "sha1" } });
    await tell(of, "check.updated", check("sha1", "test", "failure", "https://ci.test/1"));
    await of.sql(
      "INSERT INTO pr_files (pr, path, sha) VALUES ('acme/shop#1', 'a.ts', 's'), ('acme/shop#4', 'a.ts', 's'), ('acme/shop#4', 'b.ts', 's')",
    );
    const { wake } = await offered(of, { kind: "merge", subject: prRef(1) });
    expect(wake?.merge?.pr).toMatchObject({
      ref: "acme/shop#1",
      head: "h1",
      base: "main",
      approvedBy: ["Anna"],
      changesRequestedBy: [],
      ci: "failure",
      failing: [{ name: "test", url: "https://ci.test/1" }],
      mergeable: "unknown",
    });
    expect(wake?.merge?.base).toEqual({ ref: "main", ci: "unknown", failing: [] });
    expect(
      wake?.merge?.others.map(({ number, relation, files, author }) => [number, relation, files, author]),
    ).toEqual([
      [2, ["stacked_on_it"], [], "anna"],
      [4, ["same_base", "overlapping_files"], ["a.ts"], "scout"],
      [3, [], [], "scout"],
    ]);
    expect(wake?.merge?.recentMerges).toMatchObject([{ ref: "acme/shop#7", author: "anna" }]);
    expect(wake).not.toHaveProperty("failedChecks");
    expect((await offered(of, { kind: "review", subject: prRef(1) })).wake).not.toHaveProperty("merge");
  });

  it("WORK-5: with a token the base's checks and the end of the failed job's log are read before it goes out", async () => {
    const of = await board();
    const host = await aHost(of);
    host
      .on("/repos/acme/shop/commits/main/check-runs", () =>
        json({
          check_runs: [
            {
              name: "test",
              head_sha: "m1",
              status: "completed",
              conclusion: "failure",
              details_url: "https://ci.test/2",
            },
          ],
        }),
      )
      .on("/repos/acme/shop/commits/main/status", () => json({ sha: "m1", statuses: [] }))
      .on("/repos/acme/shop/actions/jobs/99", () =>
        json({ status: "completed", steps: [{ name: "Test", status: "completed", conclusion: "failure" }] }),
      )
      .on(
        "/repos/acme/shop/actions/jobs/99/logs",
        () => new Response(Array.from({ length: 80 }, (_, n) => `line ${n}`).join("\n")),
      );
    await tell(of, "pr.merged", { pr: pr(1, { state: "merged", merge_sha: "m1", merged_by: "scout-bot" }) });
    await tell(of, "check.updated", check("m1", "lint", "success"));
    await tell(of, "check.updated", check("m1", "deploy", "failure", "https://ci.test/3"));
    await tell(
      of,
      "check.updated",
      check("m1", "test", "failure", "https://github.com/acme/shop/actions/runs/5/job/99"),
    );
    const failed = (await of.sql("SELECT id FROM events WHERE type = 'merge.checks_failed'")).map(
      ({ id }) => id,
    );
    expect(failed).toHaveLength(1);
    const { wake } = await offered(of, {
      kind: "merge",
      trigger: "automation",
      subject: prRef(1),
      events: failed,
    });
    expect(wake?.merge?.base).toEqual({
      ref: "main",
      ci: "failure",
      failing: [{ name: "test", url: "https://ci.test/2" }],
    });
    expect(wake?.failedChecks).toMatchObject([
      {
        pr: "acme/shop#1",
        sha: "m1",
        name: "deploy",
        steps: [],
        note: expect.stringContaining("at its link"),
      },
      { name: "test", steps: [{ name: "Test", omitted: 30 }] },
    ]);
    expect(wake?.failedChecks?.[1]?.steps[0]?.lines.at(-1)).toBe("line 79");
    // All that was read is kept: the next offer asks for nothing.
    await allRead(of, NOW);
    const before = host.asked.length;
    await offered(of, { kind: "merge", subject: prRef(1), events: failed });
    expect(host.asked.length).toBe(before);
  });

  it("WORK-5: a host that does not answer holds an offer for a moment only, and the note says so", async () => {
    const of = await board();
    const host = await aHost(of);
    const hung = Promise.withResolvers<Response>();
    host.on("/repos", () => hung.promise);
    await tell(of, "pr.merged", { pr: pr(1, { state: "merged", merge_sha: "m1", merged_by: "scout-bot" }) });
    await tell(
      of,
      "check.updated",
      check("m1", "test", "failure", "https://github.com/acme/shop/actions/runs/5/job/99"),
    );
    const [failed] = await of.sql("SELECT id FROM events WHERE type = 'merge.checks_failed'");
    const { wake } = await offered(of, { kind: "merge", subject: prRef(1), events: [failed.id] });
    expect(wake?.failedChecks?.[0]).toMatchObject({
      name: "test",
      steps: [],
      note: expect.stringContaining("did not answer in time"),
    });
    expect(wake?.merge?.base.ci).toBe("unknown");
    hung.resolve(json({}, { status: 500 }));
    await allRead(of, NOW);
  });

  it("PIPE-1: a check that ran past its time is named so", async () => {
    const of = await board();
    await tell(of, "pr.merged", { pr: pr(1, { state: "merged", merge_sha: "m1", merged_by: "scout-bot" }) });
    await tell(of, "check.updated", check("m1", "slow", "pending"));
    await of.ring(NOW + 2 * 3_600_000);
    const [late] = await of.sql("SELECT id FROM events WHERE type = 'merge.timed_out'");
    const { wake } = await offered(of, { kind: "merge", subject: prRef(1), events: [late.id] });
    expect(wake?.failedChecks).toMatchObject([{ name: "slow", timedOut: true, steps: [] }]);
  });
});
