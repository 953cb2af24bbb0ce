/** Hostile requests: routes, methods, paths, queries, bodies (ERR-1, HTTP-2). */
import { beforeAll, expect, test } from "vitest";
import { type Case, type House, newHouse, notRefused } from "./hostile-kit.ts";
import { ADMIN_TOKEN, type Any, type CallOptions, call, get, newId, verb } from "./kit.ts";

let mine: House;
let theirs: House;

beforeAll(async () => {
  [mine, theirs] = [await newHouse(), await newHouse()];
}, 60_000);

const ask = (
  name: string,
  code: string | RegExp,
  method: string,
  path: string,
  options: CallOptions = {},
): Case => ({
  name: `${name} ${method} ${path.slice(0, 60)}`,
  code,
  attempt: async () => (await call(method, path, { token: mine.owner.token, ...options })).body,
});

test("ERR-1 bodies of every route with every wrong kind of value", async () => {
  const routes: [string, string, Record<string, unknown[]>][] = [
    [
      "POST",
      "/v1/invites",
      {
        role: ["owner", "x", 7, null, {}],
        uses: [0, -1, 1.5, 1e9, "1", null],
        expires_in_s: [0, -1, 604_801, "x", 1e300],
        space_ids: ["x", [7], ["x"], {}, null],
      },
    ],
    ["POST", "/v1/harnesses", { name: [7, null, {}, [], true, ""] }],
    [
      "POST",
      "/v1/tokens",
      {
        scopes: [undefined, [], "person", ["root"], [7], ["person", "agent"], ["hook"], {}],
        participant_id: [7, "x", "tok_x", null],
        name: [7, "", "n".repeat(81), null],
      },
    ],
    ["POST", "/v1/sign-in-links", { participant_id: [7, "x", mine.team.id, null, {}] }],
    [
      "PUT",
      "/v1/me",
      {
        time_zone: [
          undefined,
          "",
          7,
          null,
          "Mars/Olympus",
          "../../etc/passwd",
          "x".repeat(65),
          "Europe/Berlin\u0000",
        ],
      },
    ],
    [
      "POST",
      "/v1/hello",
      {
        v: [2, "1", null],
        id: [undefined, 7, "x", null],
        after_seq: [-1, 1.5, "1", null, 1e300],
        context: [7, {}, [], { lines: -1, chars: 1 }, { lines: "1", chars: 1 }],
        agents: [7, {}, [7], [{ name: 7 }], [{}]],
        can: [7, "batch", ["x"], {}],
      },
    ],
  ];
  const cases: Case[] = [];
  for (const [method, path, fields] of routes) {
    const good: Any =
      path === "/v1/hello"
        ? { v: 1, type: "hello", id: newId("evt") }
        : path === "/v1/tokens"
          ? { scopes: ["person"] }
          : path === "/v1/harnesses"
            ? { name: "x" }
            : {};
    for (const [field, wrongs] of Object.entries(fields))
      for (const wrong of wrongs)
        cases.push(
          ask(`${field} ${JSON.stringify(wrong)}`, "invalid", method, path, {
            body: { ...good, [field]: wrong },
          }),
        );
    for (const raw of ["", "{", "null", "7", '"x"', "[]", "[1]", "\u0000", "<x/>", "a=b"])
      cases.push(ask(`body ${raw}`, /^(malformed|invalid)$/, method, path, { raw }));
  }
  const admin = { token: ADMIN_TOKEN };
  for (const body of [
    {},
    { name: "x" },
    { name: 7, owner_name: "x" },
    { name: "x", owner_name: "" },
    { name: "\u0000", owner_name: "x" },
    { name: "x".repeat(81), owner_name: "x" },
    [],
  ])
    cases.push(ask(JSON.stringify(body), "invalid", "POST", "/v1/workspaces", { ...admin, body }));
  for (const path of ["/v1/invites/redeem", "/v1/sign-in-links/redeem"]) {
    for (const body of [
      {},
      { secret: 7, display_name: "x", idempotency_key: "k" },
      { secret: "x", display_name: "x" },
      [],
    ])
      cases.push(ask(JSON.stringify(body), "invalid", "POST", path, { token: undefined, body }));
    for (const secret of [
      "",
      "x",
      "\u0000",
      "' OR 1=1 --",
      "../..",
      mine.owner.token,
      mine.owner.token.slice(3),
      mine.workspace,
      "__proto__",
      "x".repeat(100_000),
    ])
      cases.push(
        ask(`secret ${secret.slice(0, 20)}`, /^(gone|invalid)$/, "POST", path, {
          token: undefined,
          body: { secret, display_name: "Eve", idempotency_key: "k" },
        }),
      );
  }
  expect(cases.length).toBeGreaterThan(150);
  expect(await notRefused([mine], cases, 20)).toEqual([]);
}, 120_000);

test("HTTP-2 ERR-1 query strings that mean nothing, and searches that look like syntax", async () => {
  const { space } = mine;
  const numbers = [
    "",
    "x",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "NaN",
    "Infinity",
    "9".repeat(30),
    "__proto__",
    "1;2",
    "%00",
    "%ff",
    "1%20",
  ];
  const cases = [
    ...numbers.map((n) => ask("after", "invalid", "GET", `/v1/events?after=${n}`)),
    ...numbers.map((n) => ask("limit", "invalid", "GET", `/v1/events?after=0&limit=${n || "-"}`)),
    ...["26", "-1", "x", "NaN", "1e9"].map((n) =>
      ask("wait", "invalid", "GET", `/v1/events?after=0&wait=${n}`),
    ),
    ...numbers.map((n) => ask("before", "invalid", "GET", `/v1/spaces/${space}/context?before=${n}`)),
    ...["-1", "x", "1.5"].flatMap((n) => [
      ask("lines", "invalid", "GET", `/v1/spaces/${space}/context?lines=${n}`),
      ask("chars", "invalid", "GET", `/v1/spaces/${space}/context?chars=${n}`),
    ]),
    ...["", "%20", "!!!", "%00", "*", '"', "x".repeat(501)].map((q) =>
      ask("search", "invalid", "GET", `/v1/search?q=${q}`),
    ),
    ask("no search", "invalid", "GET", "/v1/search"),
    ask("long cursor", "invalid", "GET", `/v1/spaces?cursor=${"x".repeat(101)}`),
    ask("long file name", "invalid", "GET", `/v1/spaces/${space}/files?name=${"x".repeat(256)}`),
  ];
  expect(await notRefused([mine], cases, 20)).toEqual([]);
  const searches = [
    "words",
    "wor",
    "words AND nothing",
    "words OR nothing",
    "NEAR(words nothing)",
    '"words',
    "words*",
    "text:words",
    "-words",
    "(words",
    "words)",
    "^words",
    "w'ords; DROP TABLE log",
    "{words}",
    "💥 words",
  ];
  for (const q of searches) {
    const { status, body } = await get(mine.owner, `/v1/search?q=${encodeURIComponent(q)}`);
    expect([q, status, Array.isArray(body.items)]).toEqual([q, 200, true]);
    expect(JSON.stringify(body)).not.toContain("hidden");
  }
  // A cursor is nobody's secret: one that was made up pages from somewhere, and shows nothing that is not one's own.
  for (const cursor of [
    "x",
    "-1",
    "0",
    "999999999999",
    "__proto__",
    "%27%20OR%201%3D1",
    "%F0%9F%92%A5",
    "usr_",
    newId("tok"),
  ])
    for (const path of [
      "/v1/spaces",
      "/v1/tokens",
      "/v1/participants",
      `/v1/spaces/${space}/runs`,
      `/v1/spaces/${space}/files`,
    ]) {
      const { status, body } = await get(mine.gil, `${path}?cursor=${cursor}`);
      expect([path, cursor, status === 200 || body.code === "invalid"]).toEqual([path, cursor, true]);
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`${mine.hidden}|${mine.tokenId}`));
    }
}, 120_000);

test("ERR-1 paths that lead nowhere, wrong methods, other ways to write a route", async () => {
  const { space, file } = mine;
  const cases = [
    ...[
      "%00",
      "%2e%2e",
      "..%2f..%2fhealthz",
      "__proto__",
      "constructor",
      "spc_",
      space.toLowerCase(),
      `${space}x`,
      `${space}%00`,
      `%20${space}`,
      "%ff%fe",
      "*",
      "'",
      "x".repeat(5000),
    ].flatMap((id) => [
      ask("space", "not_found", "GET", `/v1/spaces/${id}`),
      ask("members", "not_found", "GET", `/v1/spaces/${id}/members`),
    ]),
    ...["%00", "..%2f..%2f", "att_", `${file}x`, newId("att"), newId("spc"), "__proto__"].flatMap((id) => [
      ask("file", "not_found", "GET", `/v1/attachments/${id}`),
      ask("file url", "not_found", "GET", `/v1/attachments/${id}/url`),
    ]),
    ...["tok_", "%00", "__proto__", "%25", "' OR 1=1 --", newId("tok"), theirs.tokenId].map((id) =>
      ask("token", /^(not_found|invalid)$/, "DELETE", `/v1/tokens/${id}`),
    ),
    ...["inv_", "%00", newId("inv")].map((id) =>
      ask("invite", /^(not_found|invalid)$/, "DELETE", `/v1/invites/${id}`),
    ),
    ...[
      "/v1",
      "/v1/",
      "/v1/me/",
      "/v1//me",
      "/v1/ME",
      "/v1/me/../spaces/x",
      "/v1/spaces/x/y/z",
      "/v1/admin",
      "/v1/workspace",
      "/v1/.env",
      "/v1/me;admin=1",
      "/v1/room",
      "/v2/me",
    ].map((path) => ask("path", "not_found", "GET", path)),
    ...[
      ["PUT", "/v1/spaces"],
      ["PATCH", "/v1/spaces"],
      ["DELETE", "/v1/spaces"],
      ["DELETE", `/v1/spaces/${space}`],
      ["POST", `/v1/spaces/${space}`],
      ["PUT", "/v1/events"],
      ["DELETE", "/v1/events"],
      ["GET", "/v1/invites"],
      ["GET", "/v1/invites/redeem"],
      ["GET", "/v1/hello"],
      ["POST", "/v1/connect"],
      ["POST", "/v1/me"],
      ["DELETE", "/v1/me"],
      ["PUT", "/v1/settings"],
      ["GET", "/v1/workspaces"],
      ["DELETE", "/v1/tokens"],
      ["PUT", `/v1/attachments/${file}`],
      ["DELETE", `/v1/attachments/${file}`],
      ["GET", "/v1/sign-out"],
    ].map(([method = "", path = ""]) => ask("method", "not_found", method, path)),
  ];
  expect(await notRefused([mine, theirs], cases, 20)).toEqual([]);
}, 60_000);

const binary = (bytes: number[]) => new Uint8Array(bytes);

const headers = (value: string) => ({ headers: { "content-type": value } });

test("ERR-1 CONN-1 bodies in another coding or under another type are JSON or malformed", async () => {
  const frame = verb("message.post", { space_id: mine.space, text: "x" });
  const text = JSON.stringify(frame);
  const utf16 = new Uint8Array(Buffer.from(text, "utf16le"));
  const form = new FormData();
  form.set("type", "message.post");
  expect(
    await notRefused(
      [mine],
      [
        ask("utf-16", "malformed", "POST", "/v1/events", { raw: utf16 }),
        ask("bad utf-8", "malformed", "POST", "/v1/events", {
          raw: binary([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]),
        }),
        ask("overlong", "malformed", "POST", "/v1/events", { raw: binary([0xc0, 0xaf]) }),
        ask("surrogate bytes", "malformed", "POST", "/v1/events", {
          raw: binary([0x22, 0xed, 0xa0, 0x80, 0x22]),
        }),
        ask("gzip", "malformed", "POST", "/v1/events", {
          raw: binary([0x1f, 0x8b, 8, 0, 0, 0]),
          headers: { "content-encoding": "gzip" },
        }),
        ask("multipart", "malformed", "POST", "/v1/events", { raw: form }),
        ask("form", "malformed", "POST", "/v1/events", {
          raw: "type=message.post",
          ...headers("application/x-www-form-urlencoded"),
        }),
        ask("xml", "malformed", "POST", "/v1/events", { raw: "<a/>", ...headers("application/xml") }),
        ask("ndjson", "malformed", "POST", "/v1/events", {
          raw: `${text}\n${text}`,
          ...headers("application/x-ndjson"),
        }),
        ask("no body", "malformed", "POST", "/v1/events"),
        ask("5 MiB of spaces", "too_large", "POST", "/v1/events", { raw: " ".repeat(5 * 1024 * 1024) }),
        ask("5 MiB of name", "too_large", "POST", "/v1/harnesses", {
          body: { name: "x".repeat(5 * 1024 * 1024) },
        }),
      ],
    ),
  ).toEqual([]);
}, 120_000);
