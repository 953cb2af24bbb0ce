/** Holds the published schemas against the contract's field tables, field by field. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type * as z from "zod";
import { approvalRequest, messageNew, messageOverheard } from "./index.ts";

interface Row {
  field: string;
  type: string;
  required: boolean;
}
interface Entry {
  requires_run: boolean;
  fields: Row[];
  example: Record<string, unknown>;
}
type Schema = z.core.JSONSchema.JSONSchema;

const root = new URL("../../../", import.meta.url);
const read = (path: string) => JSON.parse(readFileSync(new URL(path, root), "utf8")) as unknown;
const contract = read("contract/chips.json") as Record<string, Entry>;
const schemas: Record<string, z.ZodObject> = {
  "message.new": messageNew,
  "message.overheard": messageOverheard,
  "approval.request": approvalRequest,
};

/** What a schema says of one field: arrays are `path[]`, as in the tables. */
interface Field {
  required: boolean;
  types: Set<string>;
  values: Set<string>;
}

/** Every field of a schema by its path. The schemas have no unions of objects, which keeps this short. */
function fieldsOf(schema: Schema): Map<string, Field> {
  const out = new Map<string, Field>();
  const resolve = (s: Schema): Schema => {
    const name = s.$ref?.replace("#/$defs/", "");
    return name === undefined ? s : (schema.$defs?.[name] ?? {});
  };
  const visit = (given: Schema, path: string, required: boolean) => {
    const s = resolve(given);
    if (path !== "") {
      const values = [...(s.enum ?? []), ...("const" in s ? [s.const] : [])].map(String);
      out.set(path, { required, types: new Set([s.type ?? []].flat()), values: new Set(values) });
    }
    for (const [name, inner] of Object.entries(s.properties ?? {}))
      visit(inner as Schema, path === "" ? name : `${path}.${name}`, s.required?.includes(name) ?? false);
    if (s.items) visit(s.items as Schema, `${path}[]`, true);
  };
  visit(schema, "", true);
  return out;
}

const TYPES: [RegExp, string][] = [
  [/^(object\[\]|string\[\]|enum\[\])$/, "array"],
  [/^(object|\{ \})$/, "object"],
  [/^(string|number|boolean)$/, "$1"],
];

function typeOf(row: Row): string | undefined {
  const found = TYPES.find(([pattern]) => pattern.test(row.type));
  return found && row.type.replace(...found);
}

describe.each(Object.entries(contract))("%s", (type, { fields, example, requires_run }) => {
  const published = fieldsOf(read(`schemas/room/${type}.json`) as Schema);

  test.each(fields)("HTTP-4 ENV-1: $field is as the contract has it", (row) => {
    const field = published.get(row.field);
    expect(field).toBeDefined();
    expect(field?.required).toBe(row.required);
    const wanted = typeOf(row);
    const types = [...(field?.types ?? [])].map((t) => (t === "integer" ? "number" : t));
    if (wanted !== undefined) expect(types).toEqual([wanted]);
    const values = [...row.type.matchAll(/"([^"]+)"/g)].map(([, value]) => String(value));
    if (values.length > 0) expect([...(field?.values ?? [])].toSorted()).toEqual(values.toSorted());
    if (row.type === "1" || row.type === "true") expect([...(field?.values ?? [])]).toEqual([row.type]);
  });

  test("HTTP-4 ENV-1: it has no field besides", () => {
    const named = new Set(fields.map((row) => row.field));
    const besides = [...published.keys()].filter((path) => !path.endsWith("[]") && !named.has(path));
    expect(besides).toEqual([]);
  });

  test("HTTP-4: the contract's example is taken whole", () => {
    expect(schemas[type]?.parse(example)).toEqual(example);
  });

  test.each(fields.filter((row) => row.required && !row.field.includes(".")))(
    "ENV-6: without $field it is refused",
    ({ field }) => {
      const { [field]: _left, ...rest } = example;
      const problems = schemas[type]?.safeParse(rest).error?.issues.map((issue) => issue.path.join("."));
      expect(problems).toEqual([field]);
    },
  );

  test("ENV-7: whether it needs a run is known", () => {
    expect(requires_run).toBe(type === "approval.request");
  });
});
