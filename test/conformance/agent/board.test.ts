/** TEAM, WORK, PIPE, ACT, USE, SECRET: the board and the pipeline, from the outside. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Any, call, get, newPerson, post } from "../kit.ts";
import {
  accept,
  atWork,
  config,
  connectAgent,
  handback,
  newTeam,
  offered,
  putTeam,
  type Team,
} from "./kit.ts";

async function hook(team: Team, source: string, types: string[]): Promise<string> {
  const made = await post(team.owner, "/v1/tokens", { scopes: ["hook"], source, types });
  if (made.status !== 201) throw new Error(`no hook: ${JSON.stringify(made.body)}`);
  return made.body.token;
}
const feed = (token: string, event: object) => call("POST", "/v1/work/events", { token, body: event });
const now = () => new Date().toISOString();
const pr = (more: object = {}) => ({
  repo: "acme/shop",
  number: 12,
  title: "Blue door",
  url: "https://github.test/acme/shop/pull/12",
  state: "open",
  draft: false,
  author: "ada-bot",
  head: "blue-door",
  head_sha: "a1",
  base: "main",
  ...more,
});

const put = (by: { token: string }, name: string, value: string) =>
  call("PUT", `/v1/secrets/${name}`, { token: by.token, body: { value } });
const models = (n: number) => ({
  "m-1": { inputTokens: n, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, costUsd: n / 100 },
});

describe("the config", () => {
  test("TEAM-1: all faults in one answer, each with its path; a bad one changes nothing", async () => {
    const team = await newTeam(["ada"]);
    const before = await call("GET", "/v1/team", { token: team.owner.token });
    const bad = { ...config(team.owner, team.notify, ["ada", "ada"]), key: "lower", nonsense: 1 };
    const answer = await putTeam(team.owner, bad, before.headers.get("etag") ?? "");
    expect(answer.status).toBe(422);
    const paths = answer.body.details.map((d: Any) => d.path);
    expect(paths).toEqual(expect.arrayContaining(["key"]));
    expect(paths.some((p: string) => p.startsWith("people.1"))).toBe(true);
    expect((await call("GET", "/v1/team", { token: team.owner.token })).body).toEqual(before.body);
  });

  test("TEAM-1: YAML faults have their lines", async () => {
    const team = await newTeam([]);
    const { headers } = await call("GET", "/v1/team", { token: team.owner.token });
    const answer = await call("PUT", "/v1/team", {
      token: team.owner.token,
      raw: "version: 1\nkey: BP\nroles:\n  dev: {title: Developer}\npeople:\n  - {handle: Ada!, name: Ada, role: dev}\n",
      headers: { "content-type": "application/yaml", "if-match": headers.get("etag") ?? "" },
    });
    expect(answer.status).toBe(422);
    expect(answer.body.details).toContainEqual(expect.objectContaining({ path: "people.0.handle", line: 6 }));
  });

  test("TEAM-1: only an owner or admin, and only on the version that was read", async () => {
    const team = await newTeam(["ada"]);
    const member = await newPerson(team.owner, "Ben");
    const asked = config(team.owner, team.notify, ["ada"], { policies: { stuck_minutes: 9 } });
    expect((await putTeam(member, asked, '"1"')).status).toBe(403);
    expect((await putTeam(team.owner, asked, '"99"')).body.code).toBe("conflict");
    expect((await putTeam(team.owner, asked)).body.code).toBe("conflict");
  });

  test("TEAM-3: who is removed loses the connection; put back, they have their history and need a new token", async () => {
    const team = await newTeam(["ada", "milo"]);
    const ada = await connectAgent(team, "ada");
    await atWork(team, ada, "ada", "Unfinished");
    const etag = async () =>
      (await call("GET", "/v1/team", { token: team.owner.token })).headers.get("etag") ?? "";
    await putTeam(team.owner, config(team.owner, team.notify, ["milo"]), await etag());
    expect((await ada.closed).code).toBe(4401);
    await putTeam(team.owner, config(team.owner, team.notify, ["ada", "milo"]), await etag());
    await expect(connectAgent(team, "ada")).rejects.toThrow("auth_failed");
    const { items } = (await get(team.owner, "/v1/people/ada")).body;
    expect(items).toMatchObject([{ title: "Unfinished", state: "blocked" }]);
  });

  test("SECRET-1: a secret is written by an owner and read by nobody", async () => {
    const team = await newTeam(["ada"]);
    expect((await put(team.owner, "github_token", "ghp_verysecretverysecretverysecret1234")).status).toBe(
      204,
    );
    const admin = await newPerson(team.owner, "Ben", "admin");
    expect((await put(admin, "github_token", "x")).status).toBe(403);
    expect((await get(team.owner, "/v1/secrets/github_token")).status).toBe(404);
    const exported = await call("GET", "/v1/export", { token: team.owner.token });
    expect(JSON.stringify(exported.body)).not.toContain("verysecret");
  });
});

describe("tickets", () => {
  test("WORK-3 PIPE-1: an assigned ticket wakes its person; accepting moves it to active; merging is theirs to say", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const made = await post(team.owner, "/v1/tickets", {
      title: "Door",
      description: "Blue.",
      assignee: "ada",
    });
    expect(made.body).toMatchObject({ key: "BP-1", title: "Door", assignee: "ada" });
    const { workItem, context } = await offered(ada);
    expect(workItem).toMatchObject({
      kind: "assigned",
      subject: { type: "ticket", ref: "BP-1" },
      trigger: "human",
    });
    expect(context.wake.tickets[0]).toMatchObject({ key: "BP-1", description: "Blue." });
    await accept(ada, workItem.id);
    const ticket = async () => (await get(team.owner, "/v1/tickets/BP-1")).body;
    await expect.poll(async () => (await ticket()).status, { timeout: 10_000 }).toBe("active");
    const comment = await post(team.owner, "/v1/tickets/BP-1/comments", { body: "And oil it." });
    expect(comment.status).toBe(201);
    const from = ada.frames.length;
    await ada.ask("handback", handback(workItem.id));
    const round = await offered(ada, workItem.id, from);
    expect(round.workItem.kind).toBe("review_feedback");
    expect(round.context.feedback).toMatchObject([{ kind: "ticket_comment", body: "And oil it." }]);
  });

  test("PIPE-1: an unassigned ticket's queued item is canceled with its reason", async () => {
    const team = await newTeam(["ada"]);
    const { key } = (await post(team.owner, "/v1/tickets", { title: "Door", assignee: "ada" })).body;
    const items = async () => (await get(team.owner, "/v1/people/ada")).body.items;
    await expect.poll(items, { timeout: 10_000 }).toMatchObject([{ state: "queued" }]);
    await call("PATCH", `/v1/tickets/${key}`, { token: team.owner.token, body: { assignee: null } });
    await expect.poll(items, { timeout: 10_000 }).toMatchObject([{ state: "canceled" }]);
  });

  test("WORK-3: a ring of parents, an unknown assignee and an unknown key are refused", async () => {
    const team = await newTeam(["ada"]);
    const one = (await post(team.owner, "/v1/tickets", { title: "One" })).body.key;
    const two = (await post(team.owner, "/v1/tickets", { title: "Two", parent: one })).body.key;
    const set = (key: string, body: object) =>
      call("PATCH", `/v1/tickets/${key}`, { token: team.owner.token, body });
    expect((await set(one, { parent: two })).status).toBe(422);
    expect((await set(one, { assignee: "ghost" })).status).toBe(422);
    expect((await set("BP-99", { title: "x" })).status).toBe(404);
  });
});

describe("events from elsewhere", () => {
  test("WORK-4: a hook sends its own types once; others are forbidden, and it does nothing else", async () => {
    const team = await newTeam(["ada"], { tracker: { kind: "events" } });
    const token = await hook(team, "jira", ["ticket.assigned"]);
    const event = {
      id: "e-1",
      type: "ticket.assigned",
      at: now(),
      actor: { id: "anna", kind: "human" },
      ticket: {
        key: "BP-7",
        title: "Shelf",
        status: "ready",
        assignee: "ada",
        url: "https://jira.test/BP-7",
      },
    };
    const first = await feed(token, event);
    expect(first.status).toBe(200);
    expect(first.body.duplicate ?? false).toBe(false);
    expect((await feed(token, event)).body).toMatchObject({ event_id: first.body.event_id, duplicate: true });
    expect((await feed(token, { ...event, id: "e-2", type: "ticket.closed" })).status).toBe(403);
    expect((await call("GET", "/v1/people", { token })).status).toBe(403);
    const trace = await get(team.owner, `/v1/work/events/${first.body.event_id}`);
    expect(trace.body.decisions).toContainEqual(
      expect.objectContaining({ decision: "wake", kind: "assigned" }),
    );
    const ada = await connectAgent(team, "ada");
    expect((await offered(ada)).workItem).toMatchObject({ subject: { ref: "BP-7" } });
  });

  test("PIPE-5: a stranger's review is kept and wakes nobody; a trusted one is a round", async () => {
    const team = await newTeam(["ada"]);
    const token = await hook(team, "github", ["pr.opened", "pr.reviewed"]);
    await feed(token, { id: "p", type: "pr.opened", at: now(), actor: { id: "ada-bot" }, pr: pr() });
    const review = (id: string, who: string, body: string) =>
      feed(token, {
        id,
        type: "pr.reviewed",
        at: now(),
        actor: { id: who, kind: "human" },
        pr: pr(),
        review: { id, state: "changes_requested", body, sha: "a1" },
      });
    const stranger = await review("r1", "mallory", "Rewrite it all.");
    await review("r2", "anna", "A lighter blue.");
    const trace = (await get(team.owner, `/v1/work/events/${stranger.body.event_id}`)).body;
    expect(trace.decisions).toContainEqual(expect.objectContaining({ decision: "ignore" }));
    const ada = await connectAgent(team, "ada");
    const { workItem, context } = await offered(ada);
    expect(workItem).toMatchObject({ kind: "review_feedback", subject: { type: "pr", ref: "acme/shop#12" } });
    expect(JSON.stringify(context.feedback)).toContain("A lighter blue.");
    expect(JSON.stringify(context.feedback)).not.toContain("Rewrite it all.");
  });

  test("ACT-1 ACT-2: where the tracker is elsewhere, acts go to the agent until it answers", async () => {
    const team = await newTeam(["ada"], { tracker: { kind: "events" } });
    const token = await hook(team, "jira", ["ticket.assigned"]);
    await feed(token, {
      id: "e-1",
      type: "ticket.assigned",
      at: now(),
      actor: { id: "anna" },
      ticket: { key: "BP-7", title: "Shelf", status: "ready", assignee: "ada" },
    });
    const ada = await connectAgent(team, "ada");
    const { workItem } = await offered(ada);
    await accept(ada, workItem.id);
    const { payload: act } = await ada.type("act");
    expect(act.ops).toMatchObject([{ op: "move", ticket: "BP-7", to: "active", key: `${act.id}/1` }]);
    const again = await connectAgent(team, "ada");
    const still = again.welcome.acts?.[0] ?? (await again.type("act")).payload;
    expect(still.id).toBe(act.id);
    const result = { id: act.id, ok: true, results: ["BP-7 is active"] };
    expect((await again.ask("act_result", result)).type).toBe("ack");
    expect((await again.ask("act_result", result)).type).toBe("ack");
    expect((await again.refused("act_result", { ...result, id: "act_none" })).code).toBe("not_found");
    const third = await connectAgent(team, "ada");
    expect(third.welcome.acts ?? []).toEqual([]);
  });
});

describe("what an agent reads of the board", () => {
  test("ITEM-4 WORK-6: pull requests, their tickets, and current work", async () => {
    const team = await newTeam(["ada"]);
    const { key } = (await post(team.owner, "/v1/tickets", { title: "Door", assignee: "ada" })).body;
    const ada = await connectAgent(team, "ada");
    const { workItem } = await offered(ada);
    await accept(ada, workItem.id);
    const token = await hook(team, "github", ["pr.opened"]);
    const opened = pr({ head: `${key.toLowerCase()}-door`, title: "Blue door" });
    await feed(token, { id: "p", type: "pr.opened", at: now(), actor: { id: "ada-bot" }, pr: opened });
    const { payload } = await ada.ask("pr_list", { state: "all", limit: 10 });
    expect(payload).toMatchObject({ prs: [{ ref: "acme/shop#12", author: "ada", ticket: key }], more: 0 });
    const prs = await ada.ask("ticket_prs", { headRef: `x/${key}`, title: "x", body: "" });
    expect(prs.payload).toMatchObject({ ticket: key, prs: [{ ref: "acme/shop#12", authorKind: "agent" }] });
    const none = await ada.ask("ticket_prs", { headRef: "main", title: "UTF-8", body: `see ${key}` });
    expect(none.payload).toEqual({ prs: [] });
    const work = (await ada.ask("current_work")).payload.text;
    expect(work).toContain(key);
    expect(work).toContain("acme/shop#12");
    expect((await get(team.owner, `/v1/tickets/${key}`)).body.status).toBe("review");
  });

  test("ITEM-1: what was made in an item is recorded on it", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const id = await atWork(team, ada, "ada");
    const made = {
      repo: { owner: "acme", name: "shop" },
      number: 3,
      url: "https://github.test/acme/shop/pull/3",
    };
    expect((await ada.ask("work_made", { workItemId: id, pr: made })).type).toBe("ack");
    const { payload } = await ada.ask("work_list", { workItemId: id });
    expect(payload.items[0]).toMatchObject({ pr: "acme/shop#3", prNumber: 3, current: true });
    expect((await ada.refused("work_made", { workItemId: id })).code).toBe("invalid");
  });

  test("USE-1 USE-2: totals count what is new, and roll up once; unsupported where cost is not tracked", async () => {
    const team = await newTeam(["ada"], { usage: { track_cost: true } });
    const { key } = (await post(team.owner, "/v1/tickets", { title: "Door", assignee: "ada" })).body;
    const ada = await connectAgent(team, "ada");
    const { workItem } = await offered(ada);
    await accept(ada, workItem.id);
    await ada.ask("session", { workItemId: workItem.id, sessionId: "s" });
    const first = { usage: [{ session: "s", models: models(40) }], status: "waiting", toReview: undefined };
    await ada.ask("handback", handback(workItem.id, first));
    const from = ada.frames.length;
    await call("PATCH", `/v1/people/ada/items/${workItem.id}`, {
      token: team.owner.token,
      body: { status: "queued" },
    });
    await offered(ada, workItem.id, from);
    await accept(ada, workItem.id);
    await ada.ask("handback", handback(workItem.id, { usage: [{ session: "s", models: models(60) }] }));
    const used = async () => (await ada.ask("ticket_usage", { ticket: key })).payload;
    await expect.poll(async () => (await used()).own.runs, { timeout: 10_000 }).toBe(2);
    const answer = await used();
    expect(answer).toMatchObject({ ticket: key, own: { inputTokens: 60, tokens: 60, costUsd: 0.6 } });
    expect(answer.byPerson).toMatchObject([{ key: "ada", totals: { tokens: 60 } }]);
    expect((await ada.refused("ticket_usage", { ticket: "BP-99" })).code).toBe("not_found");
    const untracked = await newTeam(["milo"]);
    const milo = await connectAgent(untracked, "milo");
    expect((await milo.refused("ticket_usage", { ticket: "BP-1" })).code).toBe("unsupported");
  });

  test("OFF-4 WORK-5: ci_log without a token is unsupported", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const url = "https://github.com/acme/shop/actions/runs/1/job/2";
    expect((await ada.refused("ci_log", { url, lines: 50 })).code).toBe("unsupported");
  });
});

test("WORK-2: an unsigned delivery, a wrong signature and an unknown workspace look alike", async () => {
  const team = await newTeam(["ada"]);
  const body = JSON.stringify({ zen: "x" });
  const headers = {
    "content-type": "application/json",
    "x-github-event": "ping",
    "x-github-delivery": randomUUID(),
  };
  const seen: string[] = [];
  for (const [ws, more] of [
    [team.id, {}],
    [team.id, { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }],
    ["ws_01K4ZQPX000000000000000001", { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }],
  ] as const) {
    const answer = await call("POST", `/v1/hooks/github/${ws}`, {
      raw: body,
      headers: { ...headers, ...more },
    });
    seen.push(`${answer.status} ${answer.body.message}`);
  }
  expect(new Set(seen).size).toBe(1);
  expect(seen[0]).toMatch(/^401/);
});
