/** From the table of routes to `openapi.json`, OpenAPI 3.1 (HTTP-4). */
import * as z from "zod";
import { ERROR_STATUS, errorFrame } from "../src/shared/wire/errors.ts";
import { errorsOf, GROUPS, type Route } from "../workers/gateway/api.ts";
import { VERSION } from "../workers/version.ts";
import { type JsonSchema, toJsonSchema } from "./json-schema.ts";

type Json = Record<string, unknown>;

/** `/v1/spaces/:id` as OpenAPI writes it. A wildcard is a parameter like any other. */
export function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{file}");
}

export function openapiDocument(): Json {
  const components = new Map<string, JsonSchema>();
  const paths: Record<string, Json> = {};
  for (const { name, routes } of GROUPS)
    for (const route of routes) {
      const at = templateOf(route.path);
      const operation = { tags: [name], ...operationOf(route, components) };
      paths[at] = { ...paths[at], [route.method.toLowerCase()]: operation };
    }
  return {
    openapi: "3.1.1",
    info: {
      title: "Bullpen",
      version: VERSION,
      description:
        "Rooms where people and their AI agents work together. Every refusal has the form of `error`; every " +
        "answer has `x-request-id`. The frames of the socket are described one by one under `/schemas/`.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: GROUPS.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A token, `bp_…`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-bullpen",
          description: "The page's session; what it changes must come from the page itself.",
        },
        admin: { type: "http", scheme: "bearer", description: "The deployment's ADMIN_TOKEN." },
        signature: {
          type: "apiKey",
          in: "header",
          name: "x-hub-signature-256",
          description: "`sha256=` and the HMAC of the body by the workspace's secret.",
        },
      },
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

const SECURITY = {
  token: [{ token: [] }, { session: [] }],
  admin: [{ admin: [] }],
  signature: [{ signature: [] }],
  none: [],
};

function operationOf(route: Route, components: Map<string, JsonSchema>): Json {
  const parameters = parametersOf(route, components);
  const body = route.body;
  return {
    operationId: `${route.method.toLowerCase()}${templateOf(route.path)
      .split(/[^A-Za-z]+/)
      .filter((word) => word !== "" && word !== "v")
      .map((word) => word[0]?.toUpperCase() + word.slice(1))
      .join("")}`,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    security: SECURITY[route.auth ?? "token"],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content:
              body === "bytes"
                ? contentOf(route.bodyTypes ?? ["application/octet-stream"])
                : contentOf(route.bodyTypes, componentOf(body, "input", components)),
          },
        }),
    responses: responsesOf(route, components),
  };
}

/** One body in each of the forms that it may have. */
function contentOf(types: readonly string[] = ["application/json"], schema?: JsonSchema): Json {
  return Object.fromEntries(types.map((type) => [type, schema === undefined ? {} : { schema }]));
}

/** Query values are text in a URL; described is what the text stands for. */
function parametersOf(
  { path, params = {}, query, headers = {} }: Route,
  components: Map<string, JsonSchema>,
): Json[] {
  const inPath = [...templateOf(path).matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: componentOf(params[name] ?? z.string(), "input", components),
  }));
  const inHeaders = Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  }));
  if (!query) return [...inPath, ...inHeaders];
  const required = new Set(toJsonSchema(query, "input").required);
  const inQuery = Object.entries(toJsonSchema(query, "output").properties ?? {}).map(([name, given]) => {
    const { description, ...schema } = given as JsonSchema;
    return {
      name,
      in: "query",
      ...(required.has(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
    };
  });
  return [...inPath, ...inHeaders, ...inQuery];
}

function responsesOf(route: Route, components: Map<string, JsonSchema>): Json {
  const { answer } = route;
  const status = route.status ?? (answer === undefined ? 204 : 200);
  const out: Json = { [status]: answerOf(answer, components) };
  for (const [also, description] of Object.entries(route.also ?? {})) {
    if (Number(also) >= 400) out[also] = failureOf(description, components);
    else out[also] = { ...(Number(also) < 300 ? answerOf(answer, components) : {}), description };
  }
  const byStatus = Map.groupBy(errorsOf(route), (code) => ERROR_STATUS[code]);
  for (const [failed, codes] of byStatus)
    out[failed] = failureOf(codes.map((c) => `\`${c}\``).join(" or "), components);
  return out;
}

function failureOf(description: string, components: Map<string, JsonSchema>): Json {
  return {
    description,
    content: { "application/json": { schema: componentOf(errorFrame, "output", components) } },
  };
}

function answerOf(answer: Route["answer"], components: Map<string, JsonSchema>): Json {
  if (answer === undefined) return { description: "Done." };
  if (typeof answer === "string") return { description: "Done.", content: { [answer]: {} } };
  return {
    description: "Done.",
    content: { "application/json": { schema: componentOf(answer, "output", components) } },
  };
}

/** A schema in the document: what has a name stands among the components, once. */
function componentOf(
  schema: z.ZodType,
  io: "input" | "output",
  components: Map<string, JsonSchema>,
): JsonSchema {
  const {
    $schema: _dialect,
    $defs = {},
    ...root
  } = JSON.parse(
    JSON.stringify(toJsonSchema(schema, io)).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as JsonSchema;
  for (const [name, made] of Object.entries($defs)) {
    const before = components.get(name);
    if (before && JSON.stringify(before) !== JSON.stringify(made))
      throw new Error(`${name} is sent in one form and taken in another: give the two schemas two names.`);
    components.set(name, made);
  }
  return root;
}
