/** Who may call the office's routes, and what each says to who may not (AUTH-2, ERR-3, QUEUE-4, TEAM-1, SECRET-1). */

import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { call, newHarness, newId, newPerson, newWorkspace, type Workspace } from "../testing/client.ts";
import { agentToken, hookToken, newTeam, tablesOf, teamConfig } from "../testing/team.ts";

/** The kinds of callers; `none` has no token at all. */
type Who = "none" | "guest" | "member" | "admin" | "owner" | "harness" | "agent" | "hook" | "elsewhere";

let team: Workspace;
const tokens: Partial<Record<Who, string>> = {};
let item: string;
let ticket: string;
let event: string;

beforeAll(async () => {
  team = await newTeam();
  const { owner } = team;
  tokens.owner = owner.token;
  for (const role of ["guest", "member", "admin"] as const)
    tokens[role] = (await newPerson(owner, role, role)).token;
  tokens.harness = (await newHarness(owner, "harness")).token;
  tokens.agent = await agentToken(team, "scout");
  tokens.hook = await hookToken(team, "jira", ["ticket.created"]);
  tokens.elsewhere = (await newTeam()).owner.token;
  const made = await call("POST", "/v1/people/scout/items", { token: owner.token, body: { title: "Look" } });
  item = made.body.item.id;
  ticket = (await call("POST", "/v1/tickets", { token: owner.token, body: { title: "Door" } })).body.key;
  event = (await call("POST", "/v1/work/events", { token: tokens.hook, body: created() })).body.event_id;
});

const created = () => ({
  id: newId("evt"),
  type: "ticket.created",
  at: new Date().toISOString(),
  actor: { id: "anna" },
  ticket: { key: "JI-1", title: "Shelf" },
});

const PEOPLE: Who[] = ["member", "admin", "owner"];

interface Row {
  method: string;
  path: () => string;
  body?: () => unknown;
  status?: number;
  /** Who may; everybody else who belongs to the workspace is told that it is not for them. */
  may: Who[];
}
const rows: [string, Row][] = [
  ["GET /v1/team", { method: "GET", path: () => "/v1/team", may: [...PEOPLE, "agent"] }],
  [
    "PUT /v1/team",
    {
      method: "PUT",
      path: () => "/v1/team",
      body: () => teamConfig(["scout", "mason"]),
      may: ["admin", "owner"],
    },
  ],
  [
    "PUT /v1/secrets/:name",
    {
      method: "PUT",
      path: () => "/v1/secrets/github_token",
      body: () => ({ value: "hush" }),
      status: 204,
      may: ["owner"],
    },
  ],
  ["GET /v1/people", { method: "GET", path: () => "/v1/people", may: [...PEOPLE, "agent"] }],
  ["GET /v1/people/:handle", { method: "GET", path: () => "/v1/people/mason", may: [...PEOPLE, "agent"] }],
  [
    "POST /v1/people/:handle/items",
    {
      method: "POST",
      path: () => "/v1/people/mason/items",
      body: () => ({ title: "x" }),
      status: 201,
      may: PEOPLE,
    },
  ],
  [
    "PATCH /v1/people/:handle/items/:id",
    {
      method: "PATCH",
      path: () => `/v1/people/scout/items/${item}`,
      body: () => ({ position: "last" }),
      may: PEOPLE,
    },
  ],
  ["POST …/pause", { method: "POST", path: () => "/v1/people/mason/pause", may: PEOPLE }],
  ["POST …/resume", { method: "POST", path: () => "/v1/people/mason/resume", may: PEOPLE }],
  [
    "POST /v1/subscriptions/…/pause",
    { method: "POST", path: () => "/v1/subscriptions/max-1/pause", may: PEOPLE },
  ],
  [
    "POST /v1/subscriptions/…/resume",
    { method: "POST", path: () => "/v1/subscriptions/max-1/resume", may: PEOPLE },
  ],
  ["GET /v1/tickets", { method: "GET", path: () => "/v1/tickets", may: [...PEOPLE, "agent"] }],
  [
    "POST /v1/tickets",
    {
      method: "POST",
      path: () => "/v1/tickets",
      body: () => ({ title: "x" }),
      status: 201,
      may: [...PEOPLE, "agent"],
    },
  ],
  ["GET /v1/tickets/:key", { method: "GET", path: () => `/v1/tickets/${ticket}`, may: [...PEOPLE, "agent"] }],
  [
    "PATCH /v1/tickets/:key",
    {
      method: "PATCH",
      path: () => `/v1/tickets/${ticket}`,
      body: () => ({ title: "Blue door" }),
      may: [...PEOPLE, "agent"],
    },
  ],
  [
    "POST /v1/tickets/:key/comments",
    {
      method: "POST",
      path: () => `/v1/tickets/${ticket}/comments`,
      body: () => ({ body: "And oil it." }),
      status: 201,
      may: [...PEOPLE, "agent"],
    },
  ],
  ["POST /v1/work/events", { method: "POST", path: () => "/v1/work/events", body: created, may: ["hook"] }],
  ["GET /v1/work/events", { method: "GET", path: () => "/v1/work/events", may: PEOPLE }],
  ["GET /v1/work/events/:id", { method: "GET", path: () => `/v1/work/events/${event}`, may: PEOPLE }],
];

describe("who may call what", () => {
  test.each(rows)("AUTH-2 QUEUE-4: %s", async (_name, { method, path, body, status = 200, may }) => {
    for (const who of ["guest", "member", "admin", "owner", "harness", "agent", "hook"] as const) {
      const answer = await call(method, path(), {
        ...(tokens[who] === undefined ? {} : { token: tokens[who] }),
        ...(body === undefined ? {} : { body: body() }),
      });
      const right = may.includes(who);
      expect([who, answer.status, answer.body.code]).toEqual([
        who,
        right ? status : 403,
        right ? undefined : "forbidden",
      ]);
    }
  });

  test.each(rows)("AUTH-1 AUTH-4: %s without a token, and of another workspace", async (_name, row) => {
    const { method, path, body } = row;
    const headers = { "cf-connecting-ip": newId("evt") };
    const sent = { headers, ...(body === undefined ? {} : { body: body() }) };
    expect((await call(method, path(), sent)).status).toBe(401);
    const broken = `${team.owner.token.slice(0, -3)}abc`;
    expect((await call(method, path(), { ...sent, token: broken })).status).toBe(401);
    // A token is one workspace's: what it names is looked for there alone.
    const { token } = await newWorkspace().then(({ owner }) => owner);
    const answer = await call(method, path(), { ...sent, token });
    expect(JSON.stringify(answer.body)).not.toMatch(/Look|Door|Shelf|anna/);
  });
});

describe("the team's config over HTTP", () => {
  test("TEAM-1: YAML and JSON, by their types alone; the answer's ETag is the version that If-Match takes", async () => {
    const { owner } = await newWorkspace();
    const put = (raw: string, type: string, match?: string) =>
      call("PUT", "/v1/team", {
        token: owner.token,
        raw,
        headers: {
          ...(type === "" ? {} : { "content-type": type }),
          ...(match ? { "if-match": match } : {}),
        },
      });
    for (const type of ["text/plain", "application/xml", "application/octet-stream", "yaml", "constructor"])
      expect([type, (await put("key: BP", type)).status]).toEqual([type, 415]);
    const first = await put("key: ONE", "application/yaml; charset=utf-8");
    expect([first.status, first.headers.get("etag"), first.body.version]).toEqual([200, '"1"', 1]);
    expect((await put("key: TWO", "text/yaml")).body.code).toBe("conflict");
    expect((await put("key: TWO", "text/yaml", '"7"')).body.code).toBe("conflict");
    expect((await put("key: TWO", "text/x-yaml", first.headers.get("etag") ?? "")).body.team.key).toBe("TWO");
    const last = await put('{"key": "TRE"}', "Application/JSON", 'W/"2"');
    expect([last.status, last.headers.get("etag")]).toEqual([200, '"3"']);
    const read = await call("GET", "/v1/team", { token: owner.token });
    expect([read.headers.get("etag"), read.body.team.key]).toEqual(['"3"', "TRE"]);
  });

  test("TEAM-1: faults come all at once, each with its path and line; too much is too_large", async () => {
    const { owner } = await newWorkspace();
    const put = (raw: BodyInit) =>
      call("PUT", "/v1/team", { token: owner.token, raw, headers: { "content-type": "text/yaml" } });
    const { status, body } = await put(
      "key: lower\npeople:\n  - {handle: A, name: A, role: none}\nmore: 1\n",
    );
    expect(status).toBe(422);
    expect(body.details).toEqual(
      expect.arrayContaining([
        { path: "key", line: 1, message: expect.any(String) },
        { path: "people.0.handle", line: 3, message: expect.any(String) },
      ]),
    );
    expect((await put(`# ${"x".repeat(256 * 1024)}\nkey: BP`)).body.code).toBe("too_large");
    expect((await put(new Uint8Array([0x6b, 0xff, 0xfe]))).body.code).toBe("malformed");
  });
});

describe("what is not there", () => {
  test.each(["ghost", "Scout", "-", "x".repeat(40), "..", "%2e%2e", "__proto__"])(
    "ERR-3 OFF-2: the person %s is not found, and none is made",
    async (handle) => {
      const { token } = team.owner;
      for (const [method, path, body] of [
        ["GET", "", undefined],
        ["POST", "/items", { title: "x" }],
        ["PATCH", `/items/${item}`, { status: "queued" }],
        ["POST", "/pause", {}],
        ["POST", "/resume", undefined],
      ] as const) {
        const answer = await call(method, `/v1/people/${handle}${path}`, {
          token,
          ...(body ? { body } : {}),
        });
        expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 404, "not_found"]);
      }
      const stub = env.OFFICE.getByName(`${team.id}/${handle}`);
      expect(await runInDurableObject(stub, (_, { storage }) => tablesOf(storage))).toEqual([]);
    },
  );

  test("ERR-3: who may see nobody is told so of everybody, there or not", async () => {
    for (const who of ["guest", "hook", "harness"] as const)
      for (const handle of ["scout", "ghost"]) {
        const { body } = await call("GET", `/v1/people/${handle}`, { token: tokens[who] ?? "" });
        expect([who, handle, body.code]).toEqual([who, handle, "forbidden"]);
      }
  });

  test("ERR-3: items, tickets, events and subscriptions that are not there", async () => {
    const { token } = team.owner;
    for (const [method, path, body] of [
      ["PATCH", `/v1/people/scout/items/${newId("itm")}`, { status: "canceled" }],
      ["PATCH", "/v1/people/scout/items/nonsense", { status: "canceled" }],
      ["PATCH", `/v1/people/mason/items/${item}`, { status: "canceled" }],
      ["GET", "/v1/tickets/BP-999", undefined],
      ["GET", "/v1/tickets/%00", undefined],
      ["PATCH", "/v1/tickets/a%2Fb", { title: "x" }],
      ["POST", "/v1/tickets/BP-999/comments", { body: "x" }],
      ["GET", `/v1/work/events/${newId("evt")}`, undefined],
      ["GET", "/v1/work/events/a%2Fb%27", undefined],
      ["POST", "/v1/subscriptions/none/pause", {}],
      ["POST", "/v1/subscriptions/none/resume", undefined],
    ] as const) {
      const answer = await call(method, path, { token, ...(body ? { body } : {}) });
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 404, "not_found"]);
    }
  });

  test("ERR-1: bodies that cannot be are refused by their path", async () => {
    const { token } = team.owner;
    for (const [method, path, body, at] of [
      ["POST", "/v1/people/scout/items", { title: " " }, "title"],
      ["POST", "/v1/people/scout/items", { title: "x", priority: 0.5 }, "priority"],
      ["POST", "/v1/people/scout/items", { title: "a\u0000b" }, "title"],
      ["PATCH", `/v1/people/scout/items/${item}`, {}, ""],
      ["PATCH", `/v1/people/scout/items/${item}`, { position: "before" }, "relativeTo"],
      ["PATCH", `/v1/people/scout/items/${item}`, { status: "queued", relativeTo: item }, "relativeTo"],
      ["PATCH", `/v1/people/scout/items/${item}`, { status: "active" }, "status"],
      ["POST", "/v1/people/scout/pause", { until: "soon" }, "until"],
      ["POST", "/v1/tickets", { title: "x", status: "nope" }, "status"],
      ["PATCH", `/v1/tickets/${ticket}`, {}, ""],
      ["POST", `/v1/tickets/${ticket}/comments`, { body: " \n" }, "body"],
      ["PUT", "/v1/secrets/Nope", { value: "x" }, "name"],
      ["PUT", "/v1/secrets/fine", { value: "" }, "value"],
    ] as const) {
      const answer = await call(method, path, { token, body });
      expect([path, answer.status, answer.body.details?.[0]?.path]).toEqual([path, 422, at]);
    }
  });
});

test("ENV-4 QUEUE-4 WORK-3: what is sent again with its key is made once and answered as before; another body is a conflict", async () => {
  const { owner } = await newTeam();
  const post = (path: string, body: object) => call("POST", path, { token: owner.token, body });
  const items = async () =>
    (await call("GET", "/v1/people/scout", { token: owner.token })).body.items as unknown[];
  for (const path of ["/v1/people/scout/items", "/v1/tickets"]) {
    const asked = { title: "Door", idempotency_key: "once" };
    const first = await post(path, asked);
    const again = await post(path, asked);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    const other = await post(path, { ...asked, title: "Window" });
    expect([other.status, other.body.code]).toEqual([409, "conflict"]);
    for (const idempotency_key of ["", "x".repeat(201), 7]) {
      const bad = await post(path, { title: "Door", idempotency_key });
      expect([bad.status, bad.body.details[0].path]).toEqual([422, "idempotency_key"]);
    }
  }
  expect(await items()).toHaveLength(1);
  expect((await call("GET", "/v1/tickets", { token: owner.token })).body.items).toHaveLength(1);
  // Without a key each is one of its own.
  for (let n = 0; n < 2; n++) await post("/v1/people/scout/items", { title: "Door" });
  expect(await items()).toHaveLength(3);
});
