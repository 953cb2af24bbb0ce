/** What a schema says of a value, in words that teach: each fault at its path (TEAM-1, ERR-1). */
import * as z from "zod";

type Path = readonly (string | number)[];
type Tell = (path: Path, message: string) => void;
type Issue = z.core.$ZodIssue;

const WORDS: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};
const word = (type: string) => WORDS[type] ?? type;

/** Tells every fault of a parse at its path. */
export function saidOfSchema(error: z.ZodError, schema: z.ZodType, value: unknown, tell: Tell): void {
  for (const issue of error.issues) {
    const path = issue.path.map((part) => (typeof part === "number" ? part : String(part)));
    if (issue.code === "unrecognized_keys") {
      const known = keysAt(schema, path);
      for (const key of issue.keys)
        tell([...path, key], `is unknown${known.length === 0 ? "" : `: there are ${known.join(", ")}`}`);
    } else tell(path, wordsOf(issue, valueAt(value, path)));
  }
}

function valueAt(value: unknown, path: Path): unknown {
  let at: unknown = value;
  for (const part of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string | number, unknown>)[part];
  }
  return at;
}

/** One issue in words. */
export function wordsOf(issue: Issue, given: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return given === undefined ? "is missing" : `must be ${word(issue.expected)}`;
    case "invalid_value":
      return given === undefined ? "is missing" : `must be ${listed(issue.values)}`;
    case "too_big":
      return `must have at most ${bound(issue.origin, issue.maximum, issue.inclusive ?? true)}`;
    case "too_small":
      return `must have at least ${bound(issue.origin, issue.minimum, issue.inclusive ?? true)}`;
    case "invalid_key":
      return `is no name for it: ${issue.issues[0] ? wordsOf(issue.issues[0], "") : "another is needed"}`;
    case "invalid_union":
      return wordsOfUnion(issue.errors, given);
    default:
      return issue.message;
  }
}

const listed = (values: readonly unknown[]) => {
  const shown = values.map((value) => String(value));
  return shown.length === 1 ? shown[0]! : `one of ${shown.join(", ")}`;
};

function bound(origin: string, limit: number | bigint, inclusive: boolean): string {
  const unit = origin === "string" ? " characters" : origin === "array" || origin === "set" ? " entries" : "";
  if (unit === "") return `the value ${inclusive ? "" : "beyond "}${limit}`;
  return `${limit}${unit}`;
}

/** A choice of forms: what the form that the value comes nearest to says; without one, which forms there are. */
function wordsOfUnion(branches: readonly (readonly Issue[])[], given: unknown): string {
  const near = branches.find(
    (issues) => !issues.some((i) => i.code === "invalid_type" && i.path.length === 0),
  );
  const first = near?.[0];
  if (first) return wordsOf(first, valueAt(given, first.path as Path));
  if (given === undefined) return "is missing";
  const forms = branches.flatMap(([issue]) => (issue?.code === "invalid_type" ? [word(issue.expected)] : []));
  return `must be ${[...new Set(forms)].join(" or ")}`;
}

/** The keys that a schema's object at a path has: to be named beside one that it has not. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let at: z.ZodType | undefined = bare(schema);
  for (const part of path) {
    if (at instanceof z.ZodObject) at = bare((at.shape as Record<string, z.ZodType>)[part]);
    else if (at instanceof z.ZodArray) at = bare(at.element as z.ZodType);
    else if (at instanceof z.ZodRecord) at = bare(at.valueType as z.ZodType);
    else return [];
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

/** A schema without what only fills it in. */
function bare(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  )
    return bare(schema.unwrap() as z.ZodType);
  return schema;
}

/** What a schema holds, where anything in it may be left out because it is at fault. */
export type Loose<T> = T extends readonly (infer E)[]
  ? (Loose<E> | undefined)[]
  : T extends object
    ? { [K in keyof T]?: Loose<T[K]> | undefined }
    : T;

/**
 * The value with `undefined` where the schema finds fault, everything else in its place: what is right can be judged
 * all the same. A key with `undefined` was there, one that is missing was not.
 */
export function withoutFaults<T>(value: unknown, error: z.ZodError<T>): Loose<T> | undefined {
  const rest = { value: structuredClone(value) };
  for (const issue of error.issues) {
    if (issue.code === "unrecognized_keys") continue;
    const path = ["value", ...issue.path];
    const last = path.pop();
    const parent = valueAt(rest, path as (string | number)[]);
    if (typeof parent === "object" && parent !== null)
      (parent as Record<PropertyKey, unknown>)[last as PropertyKey] = undefined;
  }
  return rest.value as Loose<T> | undefined;
}
