import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { ERROR_STATUS, type ErrorCode } from "../../src/shared/wire/errors.ts";
import { ADMIN_TOKEN, type Any, call, newId, newWorkspace, ORIGIN } from "../testing/client.ts";
import { VERSION } from "../version.ts";
import { API, errorsOf } from "./api.ts";
import app from "./index.ts";

const FILES = [
  "/openapi.json",
  "/docs",
  "/docs/start.js",
  "/schemas/index.json",
  "/schemas/room/message.new.json",
];

/** Requests the app with other variables than the deployment's. */
function callWith(vars: Partial<Env>, path: string, init: RequestInit = {}) {
  return app.request(`${ORIGIN}${path}`, init, { ...env, ...vars });
}

describe("what is published", () => {
  test("HTTP-4: the document has every route of the Worker, and no other", () => {
    const routes = app.routes.filter((r) => r.method !== "ALL").map((r) => `${r.method} ${r.path}`);
    const rows = API.map((r) => `${r.method} ${r.path}`);
    expect(rows.toSorted()).toEqual([...new Set(routes)].toSorted());
    expect(new Set(rows).size).toBe(rows.length);
  });

  test("HTTP-4: the openapi document is served as it was generated", async () => {
    const { status, headers, body } = await call("GET", "/openapi.json");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body.openapi).toMatch(/^3\.1\./);
    expect(body.info.version).toBe(VERSION);
    for (const { method, path } of API) {
      const template = path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{file}");
      expect(body.paths[template]).toHaveProperty(method.toLowerCase());
    }
  });

  test("HTTP-4: each operation names its errors and who may call it", async () => {
    const { body } = await call("GET", "/openapi.json");
    const statusOf: Partial<Record<ErrorCode, string>> = { unauthenticated: "401", forbidden: "403" };
    for (const route of API) {
      const operation = operationOf(body, route.method, route.path);
      const codes = errorsOf(route);
      expect(operation.security).toBeDefined();
      expect(operation.responses["500"]).toBeDefined();
      for (const [code, status] of Object.entries(statusOf))
        expect(status in operation.responses, `${route.method} ${route.path} ${status}`).toBe(
          codes.includes(code as ErrorCode),
        );
    }
  });

  test.each(API)("HTTP-4 AUTH-1: $method $path asks for what the document says", async (route) => {
    const { method, path, auth = "token" } = route;
    // Each from an address of its own: the failures of all routes are more than one may have (AUTH-7).
    const headers = { "cf-connecting-ip": newId("evt") };
    const at = path.replace(":id", newId("evt")).replace("*", "x");
    const { status, body } = await call(method, at, { headers });
    if (auth === "token" || auth === "signature") expect(status).toBe(401);
    else if (auth === "admin") expect(status).toBe(403);
    else expect([401, 403]).not.toContain(status);
    if (status >= 400) expect(errorsOf(route)).toContain(body.code);
  });

  test.each(API.filter((r) => r.path.startsWith("/v1/") && r.path !== "/v1/sign-out"))(
    "ERR-2: $method $path refuses nonsense with a code that the document has",
    async (route) => {
      const { method, path, auth = "token" } = route;
      const token = auth === "admin" ? ADMIN_TOKEN : (await newWorkspace()).owner.token;
      const url = `${path.replace(":id", "nonsense")}?limit=none&wait=none`;
      const answers = [
        await call(method, url, { token, ...(route.body ? { body: [] } : {}) }),
        ...(route.body && route.body !== "bytes" ? [await call(method, url, { token, raw: "{" })] : []),
      ];
      const refused = answers.filter(({ status }) => status >= 400);
      if (route.body || route.params) expect(refused).not.toEqual([]);
      for (const { status, body } of refused) {
        expect(errorsOf(route)).toContain(body.code);
        expect(status).toBe(ERROR_STATUS[body.code as ErrorCode]);
        expect(body.code).not.toBe("internal");
      }
    },
  );

  test("HTTP-4: every schema of the index is served under its own address", async () => {
    const { body } = await call("GET", "/schemas/index.json");
    expect(body.schemas.length).toBeGreaterThan(50);
    for (const { path } of body.schemas) {
      const schema = await call("GET", path);
      expect([path, schema.status]).toEqual([path, 200]);
      expect(schema.headers.get("content-type")).toMatch(/^application\/json/);
      expect(schema.body.$id).toBe(path);
    }
  });

  test("HTTP-4: /docs loads nothing from elsewhere and runs nothing of its own", async () => {
    const page = await call("GET", "/docs");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    expect(page.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; /,
    );
    expect(page.headers.get("content-security-policy")).not.toContain("unsafe");
    const loaded = [...String(page.body).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url ?? "");
    expect(loaded.length).toBeGreaterThan(2);
    for (const url of loaded) expect(url).toMatch(/^(\/docs\/[\w.-]+|data:,)$/);
    expect(page.body).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);
    for (const url of loaded.filter((u) => u.startsWith("/"))) {
      const file = await call("GET", url);
      expect([url, file.status]).toEqual([url, 200]);
      expect(file.headers.get("content-type")).toMatch(/^text\/(javascript|css)/);
    }
    const start = await call("GET", "/docs/start.js");
    expect(start.body).toContain('url: "/openapi.json"');
    expect(start.body).toContain("validatorUrl: null");
  });
});

describe("the headers of every answer", () => {
  test.each([
    ...FILES,
    "/healthz",
    "/nothing",
    "/docs/nothing.js",
    "/schemas/room/nothing.json",
    "/v1/me",
    "/v1/nothing",
  ])("HTTP-5: GET %s", async (path) => {
    const { headers } = await call("GET", path);
    expect(headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
    expectHeaders(headers);
  });

  test("HTTP-5: an answer without a body, a refusal, a refused upgrade, a HEAD", async () => {
    const { owner } = await newWorkspace();
    const signedOut = await call("POST", "/v1/sign-out", { token: owner.token });
    expect(signedOut.status).toBe(204);
    expectHeaders(signedOut.headers);
    const malformed = await call("POST", "/v1/workspaces", { token: ADMIN_TOKEN, raw: "{" });
    expect(malformed.status).toBe(400);
    expectHeaders(malformed.headers);
    const upgrade = await call("GET", "/v1/connect", { headers: { upgrade: "websocket" } });
    expect(upgrade.status).toBe(401);
    expectHeaders(upgrade.headers);
    const unknown = await call("GET", "/v1/connect", {
      token: owner.token,
      headers: { upgrade: "websocket" },
    });
    expect(unknown.status).toBe(401);
    expectHeaders(unknown.headers);
    const head = await callWith({}, "/openapi.json", { method: "HEAD" });
    expect(head.status).toBe(200);
    expectHeaders(head.headers);
  });

  test("HTTP-5: each answer has an id of its own", async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await call("GET", "/healthz")).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(3);
  });

  test("HTTP-5: no other origin may read an answer unless it is listed", async () => {
    const origin = "https://elsewhere.example";
    const closed = await call("GET", "/healthz", { headers: { origin } });
    expect(closed.headers.has("access-control-allow-origin")).toBe(false);
    const preflight = await call("OPTIONS", "/v1/me", {
      headers: { origin, "access-control-request-method": "GET" },
    });
    expect(preflight.status).toBeGreaterThanOrEqual(400);
    expect(preflight.headers.has("access-control-allow-origin")).toBe(false);
  });

  test("HTTP-5: a listed origin may call, another still may not", async () => {
    const vars = { ALLOWED_ORIGINS: "https://one.example, https://two.example" } as unknown as Partial<Env>;
    for (const [origin, allowed] of [
      ["https://one.example", true],
      ["https://two.example", true],
      ["https://two.example.evil.example", false],
      ["null", false],
    ] as const) {
      const answer = await callWith(vars, "/healthz", { headers: { origin } });
      expect(answer.headers.get("access-control-allow-origin")).toBe(allowed ? origin : null);
      expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
      expect(answer.headers.get("vary")).toMatch(/origin/i);
      expectHeaders(answer.headers);
      const preflight = await callWith(vars, "/v1/events", {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization",
        },
      });
      expect(preflight.headers.get("access-control-allow-origin")).toBe(allowed ? origin : null);
      expectHeaders(preflight.headers);
    }
    const refused = await callWith(vars, "/v1/me", { headers: { origin: "https://one.example" } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-allow-origin")).toBe("https://one.example");
  });
});

describe("what is not there", () => {
  test.each([
    ["GET", "/nothing"],
    ["GET", "/v1"],
    ["GET", "/v1/nothing"],
    ["GET", "/v1/spaces/x/y/z"],
    ["GET", "/schemas/room/nothing.json"],
    ["GET", "/schemas/../wrangler.toml"],
    ["GET", "/schemas/%2e%2e/_headers"],
    ["GET", "/docs/nothing.js"],
    ["DELETE", "/healthz"],
    ["POST", "/openapi.json"],
    ["PUT", "/v1/workspaces"],
    ["PATCH", "/v1/events"],
  ])("ERR-1: %s %s is not_found in the one form of errors", async (method, path) => {
    const token = path.startsWith("/v1") ? { token: (await newWorkspace()).owner.token } : {};
    const { status, headers, body } = await call(method, path, token);
    expect(status).toBe(404);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(body).toMatchObject({ type: "error", code: "not_found", retryable: false });
    expect(body.message).toMatch(/^[A-Z].*\.$/);
  });

  test("HTTP-6: the health check says which version runs", async () => {
    const { status, body } = await call("GET", "/healthz");
    expect(status).toBe(200);
    expect(body).toEqual({ ok: true, version: manifest.version });
  });

  test("HTTP-6: the health check touches no object", async () => {
    const untouchable = new Proxy({} as Env["ROOM"], {
      get: () => {
        throw new Error("an object was touched");
      },
    });
    const answer = await callWith({ ROOM: untouchable }, "/healthz", {
      headers: { authorization: "Bearer bp_nonsense" },
    });
    expect(answer.status).toBe(200);
  });
});

function expectHeaders(headers: Headers): void {
  expect(headers.get("content-type")).toBeTruthy();
  expect(headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(headers.get("strict-transport-security")).toMatch(/max-age=\d{7,}/);
}

function operationOf(document: Any, method: string, path: string): Any {
  return document.paths[path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{file}")][method.toLowerCase()];
}
