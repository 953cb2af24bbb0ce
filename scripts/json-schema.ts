/** From zod to the JSON Schemas (2020-12) that are published (HTTP-4). */
import * as z from "zod";
import { AGENT_MESSAGES, ANSWERS, OPS } from "../src/shared/wire/agent/index.ts";
import { CONTEXT_SCHEMAS } from "../src/shared/wire/context/index.ts";
import { type Published, publishedSchemas } from "../src/shared/wire/index.ts";
import { team } from "../src/shared/wire/team.ts";

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** What is sent is described as it comes out of the schema, what is taken as it may go in. */
export function toJsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const made = z.toJSONSchema(schema, {
    io,
    override: ({ zodSchema, jsonSchema }) => tidy(zodSchema, jsonSchema),
  });
  return made;
}

function tidy(zodSchema: z.core.$ZodTypes, schema: JsonSchema): void {
  // A reader passes over fields it does not know, so that more may come: only what refuses them says so.
  if (zodSchema instanceof z.ZodObject && !zodSchema.def.catchall) delete schema.additionalProperties;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The format says the rest.
  if (schema.format === "date-time") schema.pattern = "Z$";
  if (zodSchema instanceof z.ZodRecord) delete schema.propertyNames;
}

/** Everything that is published, by the path of its file under `schemas/` and without its ending. */
function published(): Map<string, Published> {
  const out = new Map<string, Published>();
  for (const [name, of] of Object.entries(publishedSchemas())) out.set(`room/${name}`, of);
  for (const [name, schema] of Object.entries(AGENT_MESSAGES))
    out.set(`agent/${name}`, { schema, ...agentSide(name) });
  for (const [name, schema] of Object.entries(OPS)) out.set(`op/${name}`, { schema, sentBy: "server" });
  // What is read back is what was taken in, so that one description serves both sides.
  for (const [name, schema] of Object.entries(CONTEXT_SCHEMAS))
    out.set(`context/${name}`, { schema, sentBy: name === "item" ? "either" : "server" });
  out.set("team", { schema: team, sentBy: "client" });
  return new Map([...out].toSorted(byName));
}

/** Which side sends a message of the agent protocol. */
function agentSide(name: string): Pick<Published, "sentBy"> {
  const both = name === "error" || name === "ping" || name === "pong";
  if (both) return { sentBy: "either" };
  return { sentBy: name in ANSWERS ? "client" : "server" };
}

/** The files under `schemas/`, by path. */
export function schemaFiles(): Map<string, JsonSchema> {
  const files = new Map<string, JsonSchema>();
  for (const [name, { schema, sentBy }] of published()) {
    const { $schema, description, ...rest } = inlineRoot(
      toJsonSchema(schema, sentBy === "client" ? "input" : "output"),
    );
    const path = `${name}.json`;
    files.set(path, {
      ...($schema === undefined ? {} : { $schema }),
      $id: `/schemas/${path}`,
      title: name.slice(name.indexOf("/") + 1),
      ...(description === undefined ? {} : { description }),
      ...rest,
    });
  }
  files.set("index.json", indexOf(files));
  return files;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** A schema with a name of its own comes as a reference to itself. */
function inlineRoot({ $ref, $defs, ...rest }: JsonSchema): JsonSchema {
  if ($ref === undefined) return { ...rest, ...($defs ? { $defs } : {}) };
  const name = $ref.split("/").at(-1) ?? "";
  const { [name]: root, ...others } = $defs ?? {};
  return { ...rest, ...root, ...(Object.keys(others).length === 0 ? {} : { $defs: others }) };
}

/** The list of what is published, for a reader that starts from nothing. */
function indexOf(files: ReadonlyMap<string, JsonSchema>): JsonSchema {
  const sent = published();
  const schemas = [...files].map(([path, { title = "", description }]) => ({
    name: title,
    sent_by: sent.get(path.slice(0, -".json".length))?.sentBy,
    path: `/schemas/${path}`,
    description,
  }));
  return { schemas };
}
