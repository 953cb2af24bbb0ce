import { describe, expect, test } from "vitest";
import { byteLength } from "../text.ts";
import { withoutSuites } from "./checks.ts";
import { fromGithub, ofTeam } from "./index.ts";

const RECEIVED = "2026-01-01T00:00:00.000Z";
const AT = "2026-01-01T10:00:00Z";
const take = (name: string, payload: unknown) => fromGithub(name, payload, "d1", RECEIVED);
/** The one event that a delivery is, without what all have. */
const one = (name: string, payload: unknown) => {
  const events = take(name, payload);
  expect(events).toHaveLength(1);
  return events[0]!;
};

const repository = { full_name: "acme/shop" };
const anna = { login: "anna", type: "User" };
const pull = {
  number: 12,
  title: "Add a cart",
  body: "Fixes BP-3",
  html_url: "https://github.com/acme/shop/pull/12",
  state: "open",
  draft: false,
  merged: false,
  user: { login: "scout-bot", type: "User" },
  author_association: "MEMBER",
  head: { ref: "bp-3-cart", sha: "a1" },
  base: { ref: "main", sha: "b1" },
  merge_commit_sha: "try",
  mergeable: null,
  requested_reviewers: [anna],
  updated_at: AT,
};
const sender = anna;
const onPull = (action: string, more: object = {}, of: object = {}) => ({
  action,
  repository,
  sender,
  pull_request: { ...pull, ...of },
  ...more,
});

describe("WORK-2 pull_request", () => {
  test.each([
    ["opened", {}, "pr.opened"],
    ["reopened", {}, "pr.opened"],
    ["ready_for_review", {}, "pr.ready"],
    ["converted_to_draft", { draft: true }, "pr.updated"],
    ["synchronize", {}, "pr.updated"],
    ["labeled", {}, "pr.updated"],
    ["closed", { state: "closed" }, "pr.closed"],
    ["closed", { state: "closed", merged: true, merged_at: AT }, "pr.merged"],
  ])("%s %j is %s", (action, of, type) => {
    expect(one("pull_request", onPull(action, {}, of)).type).toBe(type);
  });

  test("what it says of the pull request", () => {
    expect(one("pull_request", onPull("opened"))).toEqual({
      id: "github:d1",
      source: "github",
      type: "pr.opened",
      at: "2026-01-01T10:00:00.000Z",
      actor: { id: "anna", kind: "human" },
      pr: {
        repo: "acme/shop",
        number: 12,
        title: "Add a cart",
        body: "Fixes BP-3",
        url: "https://github.com/acme/shop/pull/12",
        state: "open",
        draft: false,
        author: "scout-bot",
        author_kind: "human",
        head: "bp-3-cart",
        head_sha: "a1",
        base: "main",
        mergeable: "unknown",
        requested: ["anna"],
      },
    });
  });

  test("WORK-1 the commit that a merge made is kept, and the host's try at one is not", () => {
    const merged = { state: "closed", merged: true, merge_commit_sha: "m1", merged_by: anna };
    expect(one("pull_request", onPull("closed", {}, merged)).pr).toMatchObject({
      state: "merged",
      merge_sha: "m1",
      merged_by: "anna",
    });
    expect(one("pull_request", onPull("opened")).pr?.merge_sha).toBeUndefined();
  });

  test("WORK-5 a new head has to be tried anew; what is known of one is kept", () => {
    expect(one("pull_request", onPull("labeled")).pr?.mergeable).toBeUndefined();
    expect(one("pull_request", onPull("edited", { changes: { base: {} } })).pr?.mergeable).toBe("unknown");
    expect(one("pull_request", onPull("labeled", {}, { mergeable: false })).pr?.mergeable).toBe(
      "conflicting",
    );
    expect(one("pull_request", onPull("labeled", {}, { mergeable: true })).pr?.mergeable).toBe("clean");
  });

  test("a review that is asked for names whom; a team's names nobody", () => {
    const asked = one("pull_request", onPull("review_requested", { requested_reviewer: anna }));
    expect(asked).toMatchObject({ type: "pr.review_requested", reviewer: "anna" });
    const gone = one("pull_request", onPull("review_request_removed", { requested_reviewer: anna }));
    expect(gone).toMatchObject({ type: "pr.review_request_removed", reviewer: "anna" });
    expect(one("pull_request", onPull("review_requested", { requested_team: { slug: "all" } })).type).toBe(
      "pr.updated",
    );
  });

  test("PIPE-5 what GitHub calls the author is said of the author only", () => {
    expect(one("pull_request", onPull("opened")).actor.association).toBeUndefined();
    const own = one("pull_request", onPull("opened", { sender: pull.user }));
    expect(own.actor).toEqual({ id: "scout-bot", kind: "human", association: "MEMBER" });
    const bot = one("pull_request", onPull("opened", { sender: { login: "renovate[bot]", type: "Bot" } }));
    expect(bot.actor.kind).toBe("bot");
  });
});

describe("WORK-2 reviews, comments and threads", () => {
  const review = {
    id: 7,
    user: anna,
    author_association: "COLLABORATOR",
    state: "changes_requested",
    body: "Please test it",
    commit_id: "a1",
    submitted_at: "2026-01-01T11:00:00Z",
    html_url: "https://github.com/acme/shop/pull/12#pullrequestreview-7",
  };
  const inline = {
    id: 31,
    user: anna,
    author_association: "COLLABORATOR",
    body: "Why?",
    path: "a.ts",
    line: 4,
    created_at: AT,
    pull_request_review_id: 7,
  };

  test("a review is its author's, whoever touches it later", () => {
    expect(one("pull_request_review", onPull("submitted", { review }))).toMatchObject({
      type: "pr.reviewed",
      at: "2026-01-01T11:00:00.000Z",
      actor: { id: "anna", association: "COLLABORATOR" },
      pr: { number: 12, head_sha: "a1" },
      review: { id: "7", state: "changes_requested", body: "Please test it", sha: "a1" },
    });
    const dismissed = onPull(
      "dismissed",
      { review: { ...review, state: "dismissed" }, sender: { login: "bob" } },
      { updated_at: "2026-01-01T12:00:00Z" },
    );
    expect(one("pull_request_review", dismissed)).toMatchObject({
      at: "2026-01-01T12:00:00.000Z",
      actor: { id: "anna" },
      review: { id: "7", state: "dismissed" },
    });
    expect(
      take("pull_request_review", onPull("submitted", { review: { ...review, state: "pending" } })),
    ).toEqual([]);
  });

  test("an inline comment names its review and the thread that it began or answers in", () => {
    expect(one("pull_request_review_comment", onPull("created", { comment: inline }))).toMatchObject({
      type: "pr.inline_commented",
      actor: { id: "anna", association: "COLLABORATOR" },
      comment: { id: "31", body: "Why?", path: "a.ts", line: 4, thread: "31", review: "7" },
    });
    const reply = { ...inline, id: 32, line: null, original_line: 3, in_reply_to_id: 31 };
    expect(one("pull_request_review_comment", onPull("created", { comment: reply })).comment).toMatchObject({
      id: "32",
      line: 3,
      thread: "31",
      reply_to: "31",
    });
  });

  test("WORK-1 a comment that was deleted leaves its id, and an old snapshot beside it changes nothing", () => {
    const gone = one("pull_request_review_comment", onPull("deleted", { comment: inline }));
    expect(gone).toMatchObject({ type: "pr.updated", comment: { id: "31", body: "", deleted: true } });
    expect(gone.pr).toEqual({
      repo: "acme/shop",
      number: 12,
      title: "Add a cart",
      url: "https://github.com/acme/shop/pull/12",
      author: "scout-bot",
    });
    expect(gone.at > one("pull_request_review_comment", onPull("created", { comment: inline })).at).toBe(
      false,
    );
  });

  test("a thread is known by its first comment, and by the host's own name", () => {
    const thread = { node_id: "PRRT_x", comments: [{ ...inline, id: 32, in_reply_to_id: 31 }, inline] };
    expect(one("pull_request_review_thread", onPull("resolved", { thread }))).toMatchObject({
      type: "pr.thread_resolved",
      thread: { id: "31", resolved: true, host: "PRRT_x" },
    });
    expect(one("pull_request_review_thread", onPull("unresolved", { thread })).thread?.resolved).toBe(false);
    expect(take("pull_request_review_thread", onPull("resolved", { thread: { comments: [] } }))).toEqual([]);
  });

  test("a comment on the conversation of a pull request is the pull request's", () => {
    const issue = { ...pull, pull_request: { merged_at: AT }, state: "closed" };
    const comment = { id: 5, user: anna, author_association: "OWNER", body: "Nice", created_at: AT };
    expect(one("issue_comment", { action: "created", repository, sender, issue, comment })).toMatchObject({
      type: "pr.commented",
      pr: { number: 12, state: "merged" },
      comment: { id: "5", body: "Nice" },
    });
  });
});

describe("WORK-2 issues are tickets", () => {
  const issue = {
    number: 4,
    title: "It is slow",
    body: "Very",
    state: "open",
    html_url: "https://github.com/acme/shop/issues/4",
    user: anna,
    author_association: "OWNER",
    assignees: [] as object[],
    updated_at: AT,
    parent_issue_url: "https://api.github.com/repos/acme/shop/issues/2",
  };
  const scout = { login: "scout-bot" };
  const onIssue = (action: string, of: object = {}, more: object = {}) => ({
    action,
    repository,
    sender,
    issue: { ...issue, ...of },
    ...more,
  });

  test("the key is the repository and the number, and an open one says nothing of its status", () => {
    expect(one("issues", onIssue("opened"))).toMatchObject({
      type: "ticket.created",
      actor: { id: "anna", association: "OWNER" },
      ticket: {
        key: "acme/shop#4",
        title: "It is slow",
        description: "Very",
        assignee: null,
        parent: "acme/shop#2",
        url: "https://github.com/acme/shop/issues/4",
      },
    });
    expect(one("issues", onIssue("opened")).ticket?.status).toBeUndefined();
  });

  test.each([
    ["closed", { state: "closed", state_reason: "completed" }, "ticket.closed", "done"],
    ["closed", { state: "closed", state_reason: "not_planned" }, "ticket.closed", "canceled"],
    ["reopened", {}, "ticket.updated", "ready"],
    ["deleted", {}, "ticket.closed", "canceled"],
  ])("%s %j is %s, %s", (action, of, type, status) => {
    expect(one("issues", onIssue(action, of))).toMatchObject({ type, ticket: { status } });
  });

  test("it is whose it was assigned to last", () => {
    const both = { assignees: [anna, scout] };
    expect(one("issues", onIssue("assigned", both, { assignee: scout }))).toMatchObject({
      type: "ticket.assigned",
      ticket: { assignee: "scout-bot" },
    });
    expect(one("issues", onIssue("labeled", both)).ticket).not.toHaveProperty("assignee");
    expect(one("issues", onIssue("unassigned", {}, { assignee: scout })).ticket?.assignee).toBeNull();
    expect(one("issues", onIssue("unassigned", both, { assignee: { login: "x" } })).ticket?.assignee).toBe(
      "scout-bot",
    );
  });

  test("a comment on one", () => {
    const comment = { id: 9, user: anna, body: "Still", created_at: AT };
    expect(one("issue_comment", { ...onIssue("created"), comment })).toMatchObject({
      type: "ticket.commented",
      ticket: { key: "acme/shop#4" },
      comment: { id: "9", body: "Still" },
    });
    const gone = one("issue_comment", { ...onIssue("deleted"), comment });
    expect(gone).toMatchObject({ type: "ticket.updated", comment: { id: "9", deleted: true } });
    expect(gone.ticket).toEqual({ key: "acme/shop#4" });
  });
});

describe("WORK-2 checks", () => {
  const run = {
    id: 99,
    head_sha: "a1",
    name: "test",
    status: "completed",
    conclusion: "failure",
    completed_at: AT,
    app: { slug: "github-actions", name: "GitHub Actions" },
    details_url: "https://github.com/acme/shop/actions/runs/5/job/99",
    html_url: "https://github.com/acme/shop/runs/99",
    output: { title: "2 failed", summary: "see log" },
  };

  test("a check run, and the job of the same number, are one check", () => {
    const check = one("check_run", { action: "completed", repository, sender, check_run: run }).check;
    expect(check).toEqual({
      repo: "acme/shop",
      sha: "a1",
      app: "github-actions",
      name: "test",
      run: "99",
      status: "failure",
      url: "https://github.com/acme/shop/actions/runs/5/job/99",
      summary: "2 failed\n\nsee log",
    });
    const job = {
      ...run,
      check_run_url: "https://api.github.com/repos/acme/shop/check-runs/99",
      html_url: run.details_url,
    };
    const { summary: _, ...same } = check!;
    expect(one("workflow_job", { action: "completed", repository, workflow_job: job }).check).toEqual(same);
  });

  test.each([
    ["completed", "success", "success"],
    ["completed", "neutral", "success"],
    ["completed", "skipped", "success"],
    ["completed", "cancelled", "failure"],
    ["completed", "timed_out", "failure"],
    ["completed", "action_required", "failure"],
    ["completed", "startup_failure", "failure"],
    ["completed", "stale", "pending"],
    ["in_progress", null, "pending"],
    ["queued", null, "pending"],
  ])("%s %s is %s", (status, conclusion, means) => {
    const payload = { action: "created", repository, check_run: { ...run, status, conclusion } };
    expect(one("check_run", payload).check?.status).toBe(means);
  });

  test("a suite counts once it ended", () => {
    const suite = { ...run, id: 3, updated_at: AT };
    expect(one("check_suite", { action: "completed", repository, check_suite: suite }).check).toMatchObject({
      name: "github-actions check suite",
      status: "failure",
    });
    expect(take("check_suite", { action: "requested", repository, check_suite: suite })).toEqual([]);
  });

  test("a suite gives way to its app's runs, and to no other's", () => {
    const suite = { app: "actions", name: "actions check suite" };
    const run = { app: "actions", name: "test suite" };
    const other = { app: "lint", name: "lint" };
    expect(withoutSuites([suite, run, other])).toEqual([run, other]);
    expect(withoutSuites([suite, other])).toEqual([suite, other]);
  });

  test.each([
    ["pending", "pending"],
    ["success", "success"],
    ["failure", "failure"],
    ["error", "failure"],
  ])("a status of %s is %s", (state, means) => {
    const payload = {
      id: 8,
      sha: "a1",
      context: "ci/deploy",
      state,
      description: "x",
      updated_at: AT,
      repository,
    };
    expect(one("status", payload).check).toMatchObject({
      name: "ci/deploy",
      run: "8",
      status: means,
      app: "",
    });
  });

  test("a push is to a branch", () => {
    const payload = {
      ref: "refs/heads/feat/x",
      after: "c3",
      repository: { ...repository, pushed_at: 1_767_261_600 },
      sender,
    };
    expect(one("push", payload)).toMatchObject({
      at: "2026-01-01T10:00:00.000Z",
      push: { repo: "acme/shop", branch: "feat/x", sha: "c3" },
    });
    expect(take("push", { ...payload, ref: "refs/tags/v1" })).toEqual([]);
    expect(take("push", { ...payload, deleted: true, after: "0".repeat(40) })).toEqual([]);
  });
});

test("WORK-2 only the team's repositories, in the team's spelling", () => {
  const payload = { ...onPull("opened"), repository: { full_name: "ACME/Shop" } };
  const [event] = ofTeam(take("pull_request", payload), [{ repo: "acme/shop" }]);
  expect(event?.pr?.repo).toBe("acme/shop");
  const issue = { number: 4, parent_issue_url: "https://api.github.com/repos/Acme/shop/issues/2" };
  const [ticket] = ofTeam(
    take("issues", { action: "opened", repository: { full_name: "ACME/Shop" }, issue }),
    [{ repo: "acme/shop" }],
  );
  expect(ticket?.ticket).toMatchObject({ key: "acme/shop#4", parent: "acme/shop#2" });
  expect(ofTeam(take("pull_request", payload), [{ repo: "acme/shop2" }])).toEqual([]);
});

test("WORK-1 bodies are cut to 64 KiB, and text is what a database can hold", () => {
  const long = one(
    "pull_request",
    onPull("opened", {}, { body: "é\0\ud800".repeat(60_000), title: "x".repeat(5000) }),
  );
  expect(byteLength(long.pr?.body ?? "")).toBeLessThanOrEqual(65_536);
  expect(byteLength(long.pr?.body ?? "")).toBeGreaterThan(65_500);
  expect(long.pr?.body?.isWellFormed()).toBe(true);
  expect(long.pr?.body).not.toContain("\0");
  expect(long.pr?.title).toHaveLength(1000);
});
