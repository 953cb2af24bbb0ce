import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020, type AnySchema } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { STREAM_EVENT_TYPES } from "../src/shared/wire/context/index.ts";
import { ERROR_STATUS } from "../src/shared/wire/errors.ts";
import { DELIVERIES, FACTS, SERVER_FRAMES, SIGNALS, VERBS } from "../src/shared/wire/index.ts";
import { validateAnswer, validateFrame } from "../test/support/validate.ts";
import { API } from "../workers/gateway/api.ts";
import { generatedFiles, staleFiles } from "./generate.ts";
import { schemaFiles } from "./json-schema.ts";
import { openapiDocument } from "./openapi.ts";

type Json = Record<string, unknown>;

const root = fileURLToPath(new URL("..", import.meta.url));
const contract = JSON.parse(readFileSync(join(root, "contract/chips.json"), "utf8")) as Record<
  string,
  { example: Json }
>;
const schemas = [...schemaFiles()].filter(([path]) => path !== "index.json");

function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
  formats.default(ajv);
  return ajv;
}

/** Every schema within a schema, with its path. */
function* within(schema: Json, path = ""): Generator<[string, Json]> {
  yield [path, schema];
  for (const key of ["properties", "$defs"])
    for (const [name, inner] of Object.entries((schema[key] ?? {}) as Json))
      yield* within(inner as Json, `${path}/${name}`);
  if (schema.items) yield* within(schema.items as Json, `${path}[]`);
}

describe("the generated files", () => {
  test("HTTP-4: what is checked in is what the schemas make", () => {
    expect(staleFiles(root, generatedFiles())).toEqual([]);
  });

  test("HTTP-4: a changed, a missing and a left-over file are told", () => {
    const folder = mkdtempSync(join(tmpdir(), "bullpen-generate-"));
    const files = new Map([
      ["same.json", "{}\n"],
      ["changed.json", "{}\n"],
      ["missing.json", "{}\n"],
    ]);
    writeFileSync(join(folder, "same.json"), "{}\n");
    writeFileSync(join(folder, "changed.json"), "{ }\n");
    expect(staleFiles(folder, files)).toEqual(["changed.json", "missing.json"]);
    rmSync(folder, { recursive: true });
  });

  test("HTTP-4: there is one for every verb, fact, delivery and frame", () => {
    const names = schemas.map(([path]) => path);
    const types = [FACTS, DELIVERIES, SERVER_FRAMES, VERBS, SIGNALS].flatMap((table) => Object.keys(table));
    for (const type of [...types, "hello", "approval.request"]) expect(names).toContain(`room/${type}.json`);
    for (const type of ["message.heard", "space.set", "read", "typing"])
      expect(names).toContain(`room/${type}.client.json`);
  });

  test("HTTP-4: the index lists every schema, with who sends it and what it is", () => {
    const { schemas: listed } = schemaFiles().get("index.json") as { schemas: Json[] };
    expect(listed.map((entry) => entry.path)).toEqual(schemas.map(([path]) => `/schemas/${path}`));
    for (const entry of listed) {
      expect(entry.sent_by).toMatch(/^(server|client|either)$/);
      expect(entry.description).toMatch(/^[A-Z`].*\.$/);
    }
  });
});

describe.each(schemas)("%s", (path, schema) => {
  test("HTTP-4: it is valid JSON Schema 2020-12, with an id, a title and a description", () => {
    expect(schema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `/schemas/${path}`,
      title: path.slice(path.indexOf("/") + 1, -".json".length),
      description: expect.stringMatching(/^[A-Z`].*\.$/),
      type: "object",
    });
    const ajv = newAjv();
    expect(ajv.validateSchema(schema as AnySchema)).toBe(true);
    // Strict mode also finds keywords that mean nothing.
    expect(ajv.compile(schema as AnySchema)).toBeTypeOf("function");
  });

  test("HTTP-4: it names its own type, and refuses no field of a later version", () => {
    // The team's config is no message: it says its version, and a key that is misspelled is a fault (TEAM-1).
    if (path === "team.json") return expect(schema.additionalProperties).toBe(false);
    // A context's item is no message either: what it does not know would be lost without a word (CTX-1).
    if (path === "context/item.json") {
      const shut = [...within(schema as Json)].filter(([, s]) => s.additionalProperties === false);
      return expect(shut.map(([at]) => at)).toEqual([""]);
    }
    if (path === "context/event.json") {
      const types = (schema.oneOf as { properties: { type: Json } }[]).map(
        (one) => one.properties.type.const,
      );
      return expect(types).toEqual(STREAM_EVENT_TYPES);
    }
    const name = path.startsWith("op/") ? "op" : "type";
    const { [name]: type } = schema.properties as Record<string, Json>;
    expect(type?.const).toBe(String(schema.title).replace(/\.client$/, ""));
    expect(schema.required).toContain(name);
    // Settings and the policy's rules are the exception: what is not known would be lost without a word.
    const closed: Record<string, string> = {
      "room/settings.set.json": "/settings",
      "room/policy.set.json": "/rules",
    };
    const shut = [...within(schema as Json)].filter(([, s]) => s.additionalProperties === false);
    expect(shut.every(([at]) => at.startsWith(closed[path] ?? "none"))).toBe(true);
  });
});

describe("the schemas at work", () => {
  test.each(Object.entries(contract))("HTTP-4: the example of %s fits its schema", (_type, { example }) => {
    expect(validateFrame(example)).toEqual([]);
  });

  test("ENV-2: a client may leave out what the server fills in, and nothing else", () => {
    const id = "01K4ZQPX000000000000000001";
    const post = { type: "message.post", id: `evt_${id}`, idempotency_key: "k", space_id: `spc_${id}` };
    expect(validateFrame(post, "client")).toEqual([]);
    for (const field of ["id", "idempotency_key", "space_id"] as const) {
      const { [field]: _left, ...rest } = post;
      expect(validateFrame(rest, "client")).toEqual([`message.post must have required property '${field}'`]);
    }
  });

  test("HTTP-4: a frame of no schema, of the wrong end, or with a field that none names is a problem", () => {
    const example = contract["message.new"]?.example ?? {};
    expect(validateFrame({ ...example, mood: "good" })).toEqual([
      "message.new has the field mood, which no schema names",
    ]);
    expect(validateFrame([example, { ...example, v: 2 }])).toEqual([
      "message.new/v must be equal to constant",
    ]);
    expect(validateFrame({ type: "message.sung" })).toHaveLength(1);
    expect(validateFrame({ type: "../index" })).toHaveLength(1);
    expect(validateFrame({ type: "ack", seq: 1 })).toHaveLength(1);
    expect(validateFrame({ type: "ack", seq: 1 }, "client")).toEqual([]);
    expect(validateFrame("ping")).toEqual(["the frame has no type"]);
  });

  test("HTTP-4: an answer is held against its route, status and body", () => {
    const missing = { type: "error", code: "not_found", message: "No.", retryable: false };
    expect(validateAnswer("GET", "/v1/spaces?limit=2", 200, { items: [] })).toEqual([]);
    expect(validateAnswer("GET", "/v1/spaces/spc_1", 404, missing)).toEqual([]);
    expect(validateAnswer("DELETE", "/v1/tokens/tok_1", 204, "")).toEqual([]);
    expect(validateAnswer("GET", "/v1/nowhere", 404, missing)).toEqual([]);
    expect(validateAnswer("GET", "/v1/attachments/att_1", 206, "bytes")).toEqual([]);
    expect(validateAnswer("HEAD", "/v1/attachments/att_1", 200, "")).toEqual([]);
    expect(validateAnswer("GET", "/v1/spaces", 200, { items: [], total: 0 })).toHaveLength(1);
    expect(validateAnswer("GET", "/v1/spaces", 200, undefined)).toHaveLength(1);
    expect(validateAnswer("GET", "/v1/spaces", 302, undefined)).toHaveLength(1);
    expect(validateAnswer("GET", "/v1/nowhere", 200, {})).toHaveLength(1);
    expect(validateAnswer("DELETE", "/v1/tokens/tok_1", 204, { ok: true })).toHaveLength(1);
    const event = { ...contract["message.new"]?.example, mood: "good" };
    expect(validateAnswer("GET", "/v1/events", 200, { events: [event], head_seq: 1, next_after: 1 })).toEqual(
      ["GET /v1/events 200: message.new has the field mood, which no schema names"],
    );
  });
});

describe("openapi.json", () => {
  const text = JSON.stringify(openapiDocument());
  const document = JSON.parse(text) as {
    openapi: string;
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Json> };
  };
  interface Operation {
    operationId: string;
    summary: string;
    security: Json[];
    parameters?: { name: string; in: string; schema: Json }[];
    responses: Record<string, { description: string; content?: Json }>;
  }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

  test("HTTP-4: every reference leads somewhere, and every schema compiles", () => {
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = ""]) => ref);
    expect(refs.length).toBeGreaterThan(100);
    const names = Object.keys(document.components.schemas);
    for (const ref of refs) expect(names).toContain(ref.replace("#/components/schemas/", ""));
    const ajv = newAjv();
    const moved = JSON.parse(
      text.replaceAll("#/components/schemas/", "components#/$defs/"),
    ) as typeof document;
    ajv.addSchema({ $id: "components", $defs: moved.components.schemas });
    for (const name of names)
      expect(ajv.compile({ $ref: `components#/$defs/${name}` })).toBeTypeOf("function");
  });

  test("HTTP-4: operations have ids of their own, and every part of a path is a parameter", () => {
    expect(operations).toHaveLength(API.length);
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const named = (operation.parameters ?? []).filter((p) => p.in === "path").map((p) => p.name);
      expect(named).toEqual(inPath);
    }
  });

  test("ERR-2: every status that is a refusal has the one form of errors", () => {
    const statuses = new Set<number>(Object.values(ERROR_STATUS));
    for (const { operation } of operations) {
      const refusals = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
      expect(refusals.length).toBeGreaterThan(0);
      for (const [status, { content }] of refusals) {
        if (status !== "416") expect(statuses).toContain(Number(status));
        expect(content).toEqual({ "application/json": { schema: { $ref: "#/components/schemas/error" } } });
      }
    }
  });

  test("HTTP-4: a query is described as what its text stands for", () => {
    const { parameters } = document.paths["/v1/events"]?.get ?? {};
    expect(parameters?.map((p) => [p.name, p.schema.type])).toEqual([
      ["after", "integer"],
      ["space_id", "string"],
      ["limit", "integer"],
      ["wait", "number"],
    ]);
  });
});
