import { beforeAll, describe, expect, it } from "vitest";
import { fromGithub } from "../../../../src/shared/rules/github/index.ts";
import { aBoard, codeOf, fakeNeighbours, type TestBoard, value } from "../../../testing/board.ts";
import { aHost, allRead, type FakeHost, json } from "../../../testing/host.ts";

beforeAll(fakeNeighbours);

/** Noon of a day to come: a board's clock does not go back behind its making. */
const NOW = Math.ceil(Date.now() / 86_400_000 + 1) * 86_400_000 + 43_200_000;
const iso = (s = 0) => new Date(NOW + s * 1000).toISOString();
const TEAM = {
  notify: "spc_01K4ZQPX000000000000000009",
  humans: [
    { name: "Anna", user: "usr_01K4ZQPX000000000000000009", lead: true, identities: { github: "anna" } },
  ],
  people: [{ handle: "scout", name: "Scout", role: "dev", identities: { github: "scout-bot" } }],
  repositories: [{ repo: "acme/shop" }],
};
let deliveries = 0;

/** A board with a team whose clock stands at a time. */
async function board(more: object = {}): Promise<TestBoard> {
  const made = await aBoard({ ...TEAM, ...more });
  await made.at(NOW);
  return made;
}

async function deliver(to: TestBoard, name: string, payload: object): Promise<string[]> {
  deliveries += 1;
  const events = fromGithub(
    name,
    { repository: { full_name: "acme/shop" }, ...payload },
    `d${deliveries}`,
    iso(),
  );
  expect(events.length).toBeGreaterThan(0);
  return value(await to.calls.hooked({ delivery: `${deliveries}`, hash: `${deliveries}`, events })).events;
}

const pull = (of: object = {}) => ({
  number: 12,
  title: "Add a cart",
  state: "open",
  draft: false,
  user: { login: "scout-bot" },
  head: { ref: "cart", sha: "a1" },
  base: { ref: "main", sha: "b1" },
  updated_at: iso(),
  ...of,
});
const opened = (to: TestBoard, of: object = {}) =>
  deliver(to, "pull_request", { action: "opened", sender: { login: "scout-bot" }, pull_request: pull(of) });

const mergeable = async (of: TestBoard) =>
  (await of.sql("SELECT json_extract(fields, '$.mergeable.v.is') AS said FROM prs"))[0]?.said ?? "unknown";

/** A host that has the pull request, its files, and checks. */
function answering(host: FakeHost, of: object = {}): FakeHost {
  return host
    .on("/repos/acme/shop/pulls/12", () => json({ ...pull(), mergeable: true, ...of }))
    .on("/repos/acme/shop/pulls/12/files", () =>
      json([{ filename: "a.ts" }, { filename: "b.ts", previous_filename: "c.ts" }]),
    );
}

describe("WORK-5 what is read of a pull request", () => {
  it("its files and whether it merges cleanly, once a head, with the token", async () => {
    const of = await board();
    const host = answering(await aHost(of));
    await opened(of);
    await allRead(of, NOW);
    expect(await mergeable(of)).toBe("clean");
    expect(await of.sql("SELECT path, sha FROM pr_files ORDER BY path")).toEqual([
      { path: "a.ts", sha: "a1" },
      { path: "b.ts", sha: "a1" },
      { path: "c.ts", sha: "a1" },
    ]);
    expect(new Set(host.asked.map(({ token }) => token))).toEqual(
      new Set(["Bearer ghp_thetokenofthisworkspace"]),
    );
    const before = host.asked.length;
    await deliver(of, "pull_request", { action: "labeled", pull_request: pull({ updated_at: iso(1) }) });
    await allRead(of, NOW + 1000);
    expect(host.asked.length).toBe(before);
    await deliver(of, "pull_request", {
      action: "synchronize",
      pull_request: pull({ head: { ref: "cart", sha: "a2" }, updated_at: iso(2) }),
    });
    answering(host, { head: { sha: "a2" }, mergeable: false });
    await allRead(of, NOW + 2000);
    expect(await mergeable(of)).toBe("conflicting");
  });

  it("what waits for the host alone becomes ready to merge by it, and wakes its author", async () => {
    const of = await board();
    const host = answering(await aHost(of));
    await opened(of);
    await deliver(of, "check_run", {
      action: "completed",
      check_run: {
        id: 1,
        head_sha: "a1",
        name: "test",
        status: "completed",
        conclusion: "success",
        completed_at: iso(),
      },
    });
    await deliver(of, "pull_request_review", {
      action: "submitted",
      pull_request: pull(),
      review: { id: 7, user: { login: "anna" }, state: "approved", commit_id: "a1", submitted_at: iso() },
    });
    expect(await of.sql("SELECT 1 FROM events WHERE type = 'pr.ready_to_merge'")).toEqual([]);
    await allRead(of, NOW);
    expect(await of.sql("SELECT 1 FROM events WHERE type = 'pr.ready_to_merge'")).toHaveLength(1);
    expect((await of.letters("wake", "office/scout")).map((l) => l.body.kind)).toContain("merge");
    // With it the checks of its base are read.
    expect(host.paths()).toContain("/repos/acme/shop/commits/main/check-runs?per_page=100");
  });

  it("the host that has not tried yet is asked again, later each time", async () => {
    const of = await board();
    const host = answering(await aHost(of), { mergeable: null });
    await opened(of);
    await allRead(of, NOW);
    expect(await mergeable(of)).toBe("unknown");
    expect(await of.sql("SELECT due_at - ? AS later, tries FROM host_reads", NOW)).toEqual([
      { later: 3000, tries: 1 },
    ]);
    await allRead(of, NOW + 3000);
    expect(await of.sql("SELECT due_at - ? AS later, tries FROM host_reads", NOW)).toEqual([
      { later: 9000, tries: 2 },
    ]);
    answering(host);
    await allRead(of, NOW + 9000);
    expect(await mergeable(of)).toBe("clean");
    expect(await of.sql("SELECT 1 FROM host_reads")).toEqual([]);
  });

  it("a head that the host has and we have not heard of changes nothing", async () => {
    const of = await board();
    answering(await aHost(of), { head: { sha: "other" } });
    await opened(of);
    await allRead(of, NOW);
    expect(await mergeable(of)).toBe("unknown");
    expect(await of.sql("SELECT head_sha FROM prs")).toEqual([{ head_sha: "a1" }]);
    expect(await of.sql("SELECT 1 FROM pr_files")).toEqual([]);
  });

  it("a push to its base has it tried anew", async () => {
    const of = await board();
    const host = answering(await aHost(of));
    await opened(of);
    await allRead(of, NOW);
    answering(host, { mergeable: false });
    await deliver(of, "push", { ref: "refs/heads/main", after: "b2" });
    await allRead(of, NOW + 4000);
    expect(await mergeable(of)).toBe("clean");
    await allRead(of, NOW + 5000);
    expect(await mergeable(of)).toBe("conflicting");
  });

  it("without a token nothing is asked, and one that is put later reads what waits", async () => {
    const of = await board();
    const host = answering(await aHost(of, null));
    await opened(of);
    await deliver(of, "pull_request_review", {
      action: "submitted",
      pull_request: pull(),
      review: { id: 7, user: { login: "anna" }, state: "approved", commit_id: "a1", submitted_at: iso() },
    });
    await allRead(of, NOW);
    expect(host.asked).toEqual([]);
    value(await of.calls.putSecret(of.owner, "github_token", "ghp_put_later"));
    await allRead(of, NOW);
    expect(await mergeable(of)).toBe("clean");
    expect(host.asked[0]?.token).toBe("Bearer ghp_put_later");
  });

  it("SECRET-1: while a token is rotated the one before it still reads", async () => {
    const of = await board();
    const host = answering(await aHost(of, "ghp_old_and_good"));
    value(await of.calls.putSecret(of.owner, "github_token", "ghp_new_and_bad"));
    host.on("/repos/acme/shop/pulls/12", ({ token, path }) => {
      if (token === "Bearer ghp_new_and_bad") return json({}, { status: 401 });
      return path.includes("files") ? json([{ filename: "a.ts" }]) : json({ ...pull(), mergeable: true });
    });
    await opened(of);
    await allRead(of, NOW);
    expect(await mergeable(of)).toBe("clean");
  });
});

describe("WORK-5 a host that is wrong", () => {
  it.each<[string, () => Response | Promise<Response>]>([
    ["500", () => json({}, { status: 500 })],
    ["what is no JSON", () => new Response("<html>")],
    [
      "an answer that breaks off",
      () => new Response(new ReadableStream({ start: (c) => c.error(new Error("cut")) })),
    ],
    ["a name that is not there", () => Promise.reject(new Error("no such host"))],
    [
      "a redirect to elsewhere",
      () => new Response(null, { status: 302, headers: { location: "https://evil.example/x" } }),
    ],
    ["a redirect that leads nowhere", () => new Response(null, { status: 302 })],
    [
      "a ring of redirects",
      () =>
        new Response(null, {
          status: 302,
          headers: { location: "https://api.github.com/repos/acme/shop/pulls/12" },
        }),
    ],
    [
      "an answer without end",
      () => new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1_000_000)) })),
    ],
  ])("%s: it is asked again later, and the token went nowhere else", async (_what, answer) => {
    const of = await board();
    const host = (await aHost(of)).on("/repos/acme/shop/pulls/12", answer);
    await opened(of);
    await allRead(of, NOW);
    expect(await of.sql("SELECT tries FROM host_reads")).toEqual([{ tries: 1 }]);
    for (const { url, token } of host.asked)
      expect(token === null || url.startsWith("https://api.github.com/")).toBe(true);
    expect(host.asked.some(({ url }) => url.includes("evil"))).toBe(false);
    expect(await mergeable(of)).toBe("unknown");
  });

  it("404: it is not asked again", async () => {
    const of = await board();
    await aHost(of);
    await opened(of);
    await allRead(of, NOW);
    expect(await of.sql("SELECT 1 FROM host_reads")).toEqual([]);
  });

  it("a limit is kept to, and a refused token is told to people once a day", async () => {
    const of = await board();
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW / 1000 + 600) };
    const host = (await aHost(of)).on("/repos", () => json({}, { status: 403, headers }));
    await opened(of);
    await allRead(of, NOW);
    expect(await of.sql("SELECT until - ? AS wait, why FROM host_held", NOW)).toEqual([
      { wait: 600_000, why: "limited" },
    ]);
    const before = host.asked.length;
    await allRead(of, NOW + 300_000);
    expect(host.asked.length).toBe(before);
    host.on("/repos", () => json({}, { status: 401 }));
    await allRead(of, NOW + 601_000);
    await allRead(of, NOW + 1_300_000);
    const notices = await of.letters("notice");
    expect(notices.map((l) => l.body.text)).toEqual([expect.stringContaining("refuses the office's token")]);
    // A new token is tried at once.
    answering(host);
    value(await of.calls.putSecret(of.owner, "github_token", "ghp_another"));
    await allRead(of, NOW + 1_300_001);
    expect(await mergeable(of)).toBe("clean");
  });
});

describe("WORK-5 ci_log", () => {
  const URL_OF_JOB = "https://github.com/acme/shop/actions/runs/5/job/99";
  const step = (name: string, conclusion: string, from: number, to: number) => ({
    name,
    status: "completed",
    conclusion,
    started_at: iso(from),
    completed_at: iso(to),
  });
  const job = { status: "completed", steps: [step("Build", "success", 0, 2), step("Test", "failure", 3, 9)] };
  const log = [
    `${iso(1)} building`,
    ...Array.from({ length: 30 }, (_, n) => `${iso(4)} line ${n} ${"x".repeat(600)}`),
    `${iso(5)} password=hunter2 ghp_thetokenofthisworkspace`,
  ].join("\n");
  const SIGNED = "https://logs.example.net/signed?sig=1";

  function withLog(host: FakeHost, of: object = job): FakeHost {
    return host
      .on("/repos/acme/shop/actions/jobs/99", () => json(of))
      .on(
        "/repos/acme/shop/actions/jobs/99/logs",
        () => new Response(null, { status: 302, headers: { location: SIGNED } }),
      )
      .on(SIGNED, () => new Response(log));
  }

  it("the failed step's last lines, cut and masked; the signed URL gets no token", async () => {
    const of = await board();
    const host = withLog(await aHost(of));
    const answer = value(await of.calls.ciLog({ url: URL_OF_JOB, lines: 3 }));
    expect(answer.repo).toBe("acme/shop");
    expect(answer.steps).toHaveLength(1);
    expect(answer.steps[0]).toMatchObject({ name: "Test", omitted: 28 });
    expect(answer.steps[0]?.lines[2]).toBe("password=*** ***");
    expect(answer.steps[0]?.lines[0]).toHaveLength(500);
    expect(host.asked.find(({ url }) => url === SIGNED)?.token).toBeNull();
    // What has ended is kept: the host is not asked again.
    const before = host.asked.length;
    expect(
      value(await of.calls.ciLog({ url: URL_OF_JOB.replace("acme/shop", "Acme/Shop"), lines: 5 })).steps[0]
        ?.lines,
    ).toHaveLength(5);
    expect(host.asked.length).toBe(before);
  });

  it("a job that runs is read as far as it is, and not kept", async () => {
    const of = await board();
    const host = withLog(await aHost(of), { ...job, status: "in_progress" });
    expect(value(await of.calls.ciLog({ url: URL_OF_JOB, lines: 1 })).steps).toHaveLength(1);
    withLog(host, { ...job, steps: [] });
    expect(value(await of.calls.ciLog({ url: URL_OF_JOB, lines: 1 })).steps).toEqual([]);
  });

  it.each([
    "https://github.com/acme/other/actions/runs/5/job/99",
    "https://github.com/acme/../actions/runs/5/job/99",
    "https://evil.example/acme/shop/actions/runs/5/job/99",
    "https://api.github.com.evil.example/repos/acme/shop/actions/jobs/99",
    "https://github.com/acme/shop/pull/12",
    "file:///etc/passwd",
    "not a link",
    "",
  ])("OFF-4: %j is not_found and asks nothing", async (url) => {
    const of = await board();
    const host = await aHost(of);
    expect(codeOf(await of.calls.ciLog({ url, lines: 1 }))).toBe("not_found");
    expect(host.asked).toEqual([]);
  });

  it("OFF-4: without a token it is unsupported, of a log that is gone not_found, of a host that is wrong unavailable", async () => {
    const of = await board();
    const host = await aHost(of, null);
    expect(codeOf(await of.calls.ciLog({ url: URL_OF_JOB, lines: 1 }))).toBe("unsupported");
    value(await of.calls.putSecret(of.owner, "github_token", "ghp_x_x_x_x"));
    expect(codeOf(await of.calls.ciLog({ url: URL_OF_JOB, lines: 1 }))).toBe("not_found");
    withLog(host).on("/repos/acme/shop/actions/jobs/99/logs", () => new Response(null, { status: 410 }));
    expect(codeOf(await of.calls.ciLog({ url: URL_OF_JOB, lines: 1 }))).toBe("not_found");
    for (const where of [
      "http://10.0.0.1/x",
      "https://10.0.0.1/x",
      "https://localhost/x",
      "https://[::1]/x",
      "https://u:p@logs.example.net/x",
    ]) {
      host.on(
        "/repos/acme/shop/actions/jobs/99/logs",
        () => new Response(null, { status: 302, headers: { location: where } }),
      );
      expect(codeOf(await of.calls.ciLog({ url: URL_OF_JOB, lines: 1 }))).toBe("unavailable");
    }
    expect(host.asked.every(({ url }) => url.startsWith("https://api.github.com/"))).toBe(true);
  });
});
