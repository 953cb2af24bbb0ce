import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import given from "@octokit/webhooks-examples";
import { sign } from "@octokit/webhooks-methods";
import { beforeAll, describe, expect, it } from "vitest";
import { type Any, call, newId, newWorkspace, type Workspace } from "../../testing/client.ts";
import { newTeam, tablesOf } from "../../testing/team.ts";

const SECRET = "a webhook's secret";
const examples = given as unknown as { name: string; examples: object[] }[];

interface Sent {
  secret?: string;
  delivery?: string;
  headers?: Record<string, string>;
}

/** Sends a delivery as GitHub does; another hand than ours signs it. */
async function deliver(ws: string, event: string, payload: unknown, sent: Sent = {}) {
  const raw = typeof payload === "string" ? payload : JSON.stringify(payload);
  return call("POST", `/v1/hooks/github/${ws}`, {
    raw,
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": sent.delivery ?? crypto.randomUUID(),
      "x-hub-signature-256": await sign(sent.secret ?? SECRET, raw),
      ...sent.headers,
    },
  });
}

async function putSecret({ owner }: Workspace, value: string): Promise<void> {
  const put = await call("PUT", "/v1/secrets/github_webhook_secret", { token: owner.token, body: { value } });
  expect(put.status).toBe(204);
}

async function aTeam(repo = "acme/shop"): Promise<Workspace> {
  const team = await newTeam(["scout"], {
    people: [{ handle: "scout", name: "Scout", role: "dev", identities: { github: "scout-bot" } }],
    humans: [{ name: "Anna", identities: { github: "anna" } }],
    repositories: [{ repo }],
  });
  await putSecret(team, SECRET);
  return team;
}

function sql(workspace: string, query: string): Promise<Any[]> {
  return runInDurableObject(env.BOARD.getByName(workspace), (_, { storage }) =>
    storage.sql.exec(query).toArray(),
  );
}

const pull = (action: string, more: object = {}) => ({
  action,
  repository: { full_name: "acme/shop" },
  sender: { login: "anna" },
  pull_request: {
    number: 12,
    title: "Add a cart",
    state: "open",
    draft: false,
    user: { login: "scout-bot" },
    head: { ref: "cart", sha: "a1" },
    base: { ref: "main" },
    updated_at: "2026-01-01T10:00:00Z",
    ...more,
  },
});

describe("the signature", () => {
  let team: Workspace;
  beforeAll(async () => {
    team = await aTeam();
  });

  it("WORK-2: is of the bytes as they came, whatever is in them", async () => {
    const raw = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
    const signature = `sha256=${createHmac("sha256", SECRET).update(raw).digest("hex")}`;
    const headers = { "x-github-event": "ping", "x-github-delivery": "d", "x-hub-signature-256": signature };
    const taken = await call("POST", `/v1/hooks/github/${team.id}`, { raw, headers });
    expect(taken).toMatchObject({ status: 202, body: { event_ids: [] } });
    // As text it would be the same bytes as many others.
    raw[2] = 0xfd;
    expect((await call("POST", `/v1/hooks/github/${team.id}`, { raw, headers })).status).toBe(401);
  });

  it("WORK-2: nobody learns whether there is such a workspace, or a secret", async () => {
    const bare = await newWorkspace();
    const unknown = newId("ws");
    const none = { headers: { "x-hub-signature-256": "" } };
    const answers = [
      await deliver(team.id, "ping", {}, { secret: "another" }),
      await deliver(team.id, "ping", {}, none),
      await deliver(team.id, "ping", {}, { headers: { "x-hub-signature-256": "sha256=00" } }),
      await deliver(bare.id, "ping", {}),
      await deliver(bare.id, "ping", {}, { secret: "x" }),
      await deliver(unknown, "ping", {}),
      await deliver("ws_nonsense", "ping", {}),
    ];
    const shown = answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`);
    expect(new Set(shown).size).toBe(1);
    expect(shown[0]).toMatch(/^401 .*"unauthenticated"/);
    const tables = await runInDurableObject(env.BOARD.getByName(unknown), (_, { storage }) =>
      tablesOf(storage),
    );
    expect(tables).toEqual([]);
  });

  it("SECRET-1: the one before it is good until the next is put", async () => {
    const rotating = await aTeam();
    await putSecret(rotating, "second");
    expect((await deliver(rotating.id, "ping", { n: 1 })).status).toBe(202);
    expect((await deliver(rotating.id, "ping", { n: 2 }, { secret: "second" })).status).toBe(202);
    await putSecret(rotating, "third");
    expect((await deliver(rotating.id, "ping", { n: 3 })).status).toBe(401);
  });

  it("WORK-2: no bearer is asked for, and none helps", async () => {
    const asked = await call("POST", `/v1/hooks/github/${team.id}`, { token: team.owner.token, raw: "{}" });
    expect(asked.status).toBe(401);
  });

  it("WORK-2: 25 MiB are taken, and a byte more is not read to its end", async () => {
    const most = 25 * 1024 * 1024;
    const payload = `{"x":"${"x".repeat(most - 8)}"}`;
    expect(payload).toHaveLength(most);
    expect(await deliver(team.id, "push", payload)).toMatchObject({ status: 202, body: { event_ids: [] } });
    const larger = await call("POST", `/v1/hooks/github/${team.id}`, {
      raw: new Uint8Array(most + 1),
      headers: { "x-hub-signature-256": `sha256=${"0".repeat(64)}` },
    });
    expect(larger).toMatchObject({ status: 413, body: { code: "too_large" } });
  }, 60_000);

  it("WORK-2: what is signed and no delivery is told so", async () => {
    expect((await deliver(team.id, "push", "no JSON")).status).toBe(400);
    expect((await deliver(team.id, "", "{}")).status).toBe(400);
    for (const payload of ["null", "[]", "1", '"x"'])
      expect((await deliver(team.id, "push", payload)).body).toEqual({ event_ids: [] });
  });
});

describe("a delivery", () => {
  it("WORK-2: is taken once, by its id and by what is in it", async () => {
    const team = await aTeam();
    const first = await deliver(team.id, "pull_request", pull("opened"), { delivery: "one" });
    expect(first).toMatchObject({ status: 202, body: { event_ids: [expect.stringMatching(/^evt_/)] } });
    const duplicate = { event_ids: [], duplicate: true };
    expect((await deliver(team.id, "pull_request", pull("opened"), { delivery: "two" })).body).toEqual(
      duplicate,
    );
    expect((await deliver(team.id, "pull_request", pull("edited"), { delivery: "one" })).body).toEqual(
      duplicate,
    );
    expect(
      (await deliver(team.id, "pull_request", pull("edited"), { delivery: "three" })).body.event_ids,
    ).toHaveLength(1);
    const trace = await call("GET", `/v1/work/events/${first.body.event_ids[0]}`, {
      token: team.owner.token,
    });
    expect(trace.body.event).toMatchObject({
      source: "github",
      type: "pr.opened",
      pr: { repo: "acme/shop", number: 12 },
    });
  });

  it("WORK-2: both at once are one", async () => {
    const team = await aTeam();
    const both = await Promise.all([1, 2, 3].map(() => deliver(team.id, "pull_request", pull("opened"))));
    expect(both.filter(({ body }) => body.event_ids.length === 1)).toHaveLength(1);
    expect(await sql(team.id, "SELECT key FROM prs")).toEqual([{ key: "acme/shop#12" }]);
  });

  it("WORK-2: of a repository that the team does not name it is nothing", async () => {
    const team = await aTeam();
    const other = { ...pull("opened"), repository: { full_name: "acme/other" } };
    expect((await deliver(team.id, "pull_request", other)).body).toEqual({ event_ids: [] });
    const spelled = { ...pull("opened"), repository: { full_name: "Acme/SHOP" } };
    await deliver(team.id, "pull_request", spelled);
    expect(await sql(team.id, "SELECT key FROM prs")).toEqual([{ key: "acme/shop#12" }]);
    expect(await sql(team.id, "SELECT count(*) AS n FROM events")).toEqual([{ n: 1 }]);
  });

  it("WORK-2: comes as a form too", async () => {
    const team = await aTeam();
    const raw = new URLSearchParams({ payload: JSON.stringify(pull("opened")) }).toString();
    const taken = await deliver(team.id, "pull_request", raw, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(taken.body.event_ids).toHaveLength(1);
  });

  it("WORK-2: a fault leaves nothing behind, so that it may come again", async () => {
    const team = await aTeam();
    const stub = env.BOARD.getByName(team.id);
    await runInDurableObject(
      stub,
      (_, { storage }) => void storage.sql.exec("ALTER TABLE prs RENAME TO away"),
    );
    expect((await deliver(team.id, "pull_request", pull("opened"), { delivery: "d" })).status).toBe(500);
    await runInDurableObject(
      stub,
      (_, { storage }) => void storage.sql.exec("ALTER TABLE away RENAME TO prs"),
    );
    const again = await deliver(team.id, "pull_request", pull("opened"), { delivery: "d" });
    expect(again.body.event_ids).toHaveLength(1);
  });

  it("WORK-2: an issue of a named repository is a ticket", async () => {
    const team = await aTeam();
    const issue = {
      action: "assigned",
      repository: { full_name: "acme/shop" },
      sender: { login: "anna" },
      assignee: { login: "scout-bot" },
      issue: {
        number: 4,
        title: "It is slow",
        state: "open",
        assignees: [{ login: "scout-bot" }],
        updated_at: "2026-01-01T10:00:00Z",
      },
    };
    const { body } = await deliver(team.id, "issues", issue);
    const trace = await call("GET", `/v1/work/events/${body.event_ids[0]}`, { token: team.owner.token });
    expect(trace.body.decisions).toMatchObject([{ decision: "wake", kind: "assigned", person: "scout" }]);
  });
});

it("WORK-2: all of GitHub's own examples pass through it, and the board is sensible afterwards", async () => {
  const all = examples.flatMap(({ name, examples: payloads }) =>
    payloads.map((payload) => [name, payload] as const),
  );
  expect(all.length).toBeGreaterThan(300);
  const team = await aTeam("Codertocat/Hello-World");
  const answers: Any[] = [];
  for (let at = 0; at < all.length; at += 10)
    answers.push(
      ...(await Promise.all(
        all.slice(at, at + 10).map(([name, payload]) => deliver(team.id, name, payload)),
      )),
    );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  const distinct = new Set(all.map(([name, payload]) => `${name} ${JSON.stringify(payload)}`));
  expect(answers.filter(({ body }) => body.duplicate)).toHaveLength(all.length - distinct.size);
  const events = answers.flatMap(({ body }) => body.event_ids).length;
  expect(events).toBeGreaterThan(60);
  const taken = await sql(team.id, "SELECT count(*) AS n FROM events WHERE source = 'github'");
  expect(taken[0].n).toBe(events);
  const prs = await sql(team.id, "SELECT key, state, draft, head, base FROM prs ORDER BY number");
  expect(prs.map(({ key }) => key)).toContain("Codertocat/Hello-World#2");
  for (const pr of prs) expect(pr.key).toMatch(/^Codertocat\/Hello-World#\d+$/);
  const states = new Set(prs.map(({ state }) => state));
  for (const state of states) expect(["open", "closed", "merged"]).toContain(state);
  const tickets = await sql(team.id, "SELECT key, status FROM tickets ORDER BY key");
  expect(tickets.map(({ key }) => key)).toContain("Codertocat/Hello-World#1");
  const reviews = await sql(team.id, "SELECT DISTINCT id FROM reviews WHERE pr = 'Codertocat/Hello-World#2'");
  expect(reviews).toEqual([{ id: "237895671" }]);
  // One of the examples says that another app made the same run.
  const checks = await sql(
    team.id,
    "SELECT app, status FROM checks WHERE name = 'Octocoders-linter' ORDER BY app",
  );
  expect(checks).toEqual([
    { app: "github-actions", status: "failure" },
    { app: "octocoders-linter", status: "success" },
  ]);
  const list = await call("GET", "/v1/tickets", { token: team.owner.token });
  expect(list.body.items.map((t: Any) => t.key)).toContain("Codertocat/Hello-World#1");
}, 60_000);
