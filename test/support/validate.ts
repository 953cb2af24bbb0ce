/**
 * Holds real traffic against the published files (HTTP-4). The published schemas are open, so that a client
 * passes over what a later version adds; here a field that no schema names is a problem too.
 */
import { existsSync, readFileSync } from "node:fs";
import { Ajv2020, type AnySchema, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

type Json = Record<string, unknown>;

const root = new URL("../../", import.meta.url);
const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
formats.default(ajv);

/**
 * What is wrong with a frame, or with an event of an HTTP answer; nothing is an empty list. Its `type` says
 * which schema it must fit. An array is a batch of frames (BATCH-1).
 */
export function validateFrame(frame: unknown, sentBy: "server" | "client" = "server"): string[] {
  if (Array.isArray(frame)) return frame.flatMap((one) => validateFrame(one, sentBy));
  const type = isRecord(frame) ? frame.type : undefined;
  if (typeof type !== "string") return ["the frame has no type"];
  const validate = frameSchema(type, sentBy);
  if (!validate) return [`${type}: there is no schema for a ${sentBy}'s frame of this type`];
  return problemsOf(validate, frame).map((problem) => `${type}${problem}`);
}

/**
 * What is wrong with an answer of a route: a status that the document does not have, or a body that does not
 * fit. A body is the parsed JSON; `undefined` or `""` is none; bytes are not looked into.
 */
export function validateAnswer(method: string, path: string, status: number, body: unknown): string[] {
  const where = `${method} ${path} ${status}`;
  const pathname = path.split("?")[0] ?? "";
  const template = templates().find(({ pattern }) => pattern.test(pathname))?.template;
  const isHead = method === "HEAD";
  const operation = document().paths[template ?? ""]?.[isHead ? "get" : method.toLowerCase()];
  if (template === undefined || operation === undefined) {
    // Under /v1 nobody is told what there is before they have said who they are.
    if (status !== 404 && status !== 401) return [`${where}: the document does not have this route`];
    return validateFrame(body).map((problem) => `${where}: ${problem}`);
  }
  const response = operation.responses[status];
  if (!response) return [`${where}: the document does not have this status`];
  const hasBody = body !== undefined && body !== "" && body !== null;
  if (isHead || !response.content) return hasBody ? [`${where}: has a body and should have none`] : [];
  if (!("application/json" in response.content)) return [];
  if (!hasBody) return [`${where}: has no body`];
  const { schema } = response.content["application/json"] ?? {};
  const validate = cached(`${method} ${template} ${status}`, () => ajv.compile(schema ?? {}));
  const problems = validate ? problemsOf(validate, body) : [];
  if (template === "/v1/events" && isRecord(body) && Array.isArray(body.events))
    problems.push(...validateFrame(body.events));
  return problems.map((problem) => `${where}: ${problem}`);
}

const compiled = new Map<string, ValidateFunction | undefined>();

function cached(key: string, make: () => ValidateFunction | undefined): ValidateFunction | undefined {
  if (!compiled.has(key)) compiled.set(key, make());
  return compiled.get(key);
}

function frameSchema(type: string, sentBy: "server" | "client"): ValidateFunction | undefined {
  return cached(`${sentBy} ${type}`, () => {
    const names = sentBy === "client" ? [`${type}.client`, type] : [type];
    const name = names.find((n) => /^[a-z_.]+$/.test(n) && existsSync(fileOf(`room/${n}`)));
    if (name === undefined || sentBy !== senders().get(`/schemas/room/${name}.json`)) return undefined;
    return closedSchema(`room/${name}`);
  });
}

/** What is wrong with a frame of the agent protocol, held against `schemas/agent/` (OFF-1). */
export function validateAgentFrame(frame: unknown): string[] {
  const type = isRecord(frame) ? frame.type : undefined;
  if (typeof type !== "string" || !/^[a-z_]+$/.test(type) || !existsSync(fileOf(`agent/${type}`)))
    return [`${String(type)}: there is no schema for a frame of this type`];
  const validate = cached(`agent ${type}`, () => closedSchema(`agent/${type}`));
  return validate ? problemsOf(validate, frame).map((problem) => `${type}${problem}`) : [];
}

function closedSchema(name: string): ValidateFunction {
  return ajv.compile(closed({ ...readJson(fileOf(name)), $id: `closed:${name}` }) as AnySchema);
}

function fileOf(name: string): URL {
  return new URL(`schemas/${name}.json`, root);
}

let sendersByPath: Map<string, string> | undefined;
function senders(): Map<string, string> {
  const { schemas } = readJson(new URL("schemas/index.json", root)) as {
    schemas: { path: string; sent_by: string }[];
  };
  sendersByPath ??= new Map(schemas.map(({ path, sent_by }) => [path, sent_by]));
  return sendersByPath;
}

interface OpenApi {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema?: AnySchema }> }> }>
  >;
  components: { schemas: Json };
}

let opened: OpenApi | undefined;
function document(): OpenApi {
  if (opened) return opened;
  const text = readFileSync(new URL("openapi.json", root), "utf8");
  const inAjv = text.replaceAll('"#/components/schemas/', '"components#/$defs/');
  opened = closed(JSON.parse(inAjv)) as OpenApi;
  // Events are looked at one by one, each against its own schema: a union of all says nothing of use.
  ajv.addSchema({ $id: "components", $defs: { ...opened.components.schemas, ServerEvent: {} } });
  return opened;
}

let matchers: { template: string; pattern: RegExp }[] | undefined;
/** What is fixed in a path goes before what is a parameter there. */
function templates() {
  matchers ??= Object.keys(document().paths)
    .toSorted((a, b) => parameterCount(a) - parameterCount(b))
    .map((template) => ({
      template,
      pattern: new RegExp(`^${template.replaceAll(".", "\\.").replaceAll(/\{(\w+)\}/g, pathPart)}$`),
    }));
  return matchers;
}

function parameterCount(template: string): number {
  return template.split("{").length - 1;
}

function pathPart(_all: string, name: string): string {
  return name === "file" ? ".+" : "[^/]+";
}

function problemsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(problemOf);
}

function problemOf({ instancePath, keyword, message = "is wrong", params }: ErrorObject): string {
  if (keyword === "additionalProperties")
    return `${instancePath} has the field ${String(params.additionalProperty)}, which no schema names`;
  return `${instancePath} ${message}${keyword === "enum" ? ` ${JSON.stringify(params.allowedValues)}` : ""}`;
}

/** The same schema with every object that names its fields shut to others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (!isRecord(value)) return value;
  const out: Json = {};
  for (const [key, inner] of Object.entries(value)) out[key] = closed(inner);
  const isObject = value.type === "object" && isRecord(value.properties);
  return isObject && !("additionalProperties" in value) ? { ...out, additionalProperties: false } : out;
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readJson(at: URL): Json {
  return JSON.parse(readFileSync(at, "utf8")) as Json;
}
