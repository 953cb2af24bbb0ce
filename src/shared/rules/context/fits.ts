import type * as z from "zod";

type Check = (value: unknown) => boolean;

/**
 * Whether parsed JSON fits a schema, made once from the schema itself. It says what `safeParse(…).success` says and
 * copies nothing, which is what reading a million events a second takes (PERF-7). A schema with a part that is not
 * known here is refused when the check is made, so that none is passed over in silence.
 */
export function fits<S extends z.ZodType>(schema: S): (value: unknown) => value is z.infer<S> {
  return checkOf(schema) as (value: unknown) => value is z.infer<S>;
}

/** What a schema is made of. */
function classic(schema: z.core.$ZodType): { def: z.core.$ZodTypes["_zod"]["def"] } {
  return schema as unknown as { def: z.core.$ZodTypes["_zod"]["def"] };
}

function checkOf(schema: z.core.$ZodType): Check {
  const { def } = classic(schema);
  switch (def.type) {
    case "string":
      return stringCheck(def);
    case "number":
      return numberCheck(def);
    case "enum":
      return oneOf(Object.values(def.entries));
    case "literal":
      return oneOf(def.values);
    case "optional": {
      const inner = checkOf(def.innerType);
      return (value) => value === undefined || inner(value);
    }
    case "array":
      return arrayCheck(def);
    case "object":
      return objectCheck(def);
    case "union":
      return unionCheck(def);
    default:
      throw new TypeError(`fits() knows no schema of type ${def.type}`);
  }
}

function oneOf(values: readonly unknown[]): Check {
  const known = new Set(values);
  return (value) => known.has(value);
}

function stringCheck(def: z.core.$ZodStringDef): Check {
  let min = 0;
  let max = Number.POSITIVE_INFINITY;
  const { pattern } = def as { pattern?: RegExp };
  for (const { _zod: check } of def.checks ?? []) {
    const { def: is } = check as { def: z.core.$ZodCheckDef & { minimum?: number; maximum?: number } };
    if (is.check === "min_length" && is.minimum !== undefined) min = is.minimum;
    else if (is.check === "max_length" && is.maximum !== undefined) max = is.maximum;
    else throw new TypeError(`fits() knows no check ${is.check} of a string`);
  }
  return (value) =>
    typeof value === "string" &&
    value.length >= min &&
    value.length <= max &&
    (pattern === undefined || pattern.test(value));
}

function numberCheck(def: z.core.$ZodNumberDef): Check {
  if ((def as { format?: string }).format !== "safeint")
    throw new TypeError("fits() knows whole numbers only");
  let least = Number.MIN_SAFE_INTEGER;
  for (const { _zod: check } of def.checks ?? []) {
    const { def: is } = check as unknown as { def: z.core.$ZodCheckGreaterThanDef };
    if (is.check !== "greater_than")
      throw new TypeError(`fits() knows no check ${String(is.check)} of a number`);
    least = Number(is.value) + (is.inclusive ? 0 : 1);
  }
  return (value) => Number.isSafeInteger(value) && (value as number) >= least;
}

function arrayCheck(def: z.core.$ZodArrayDef): Check {
  const element = checkOf(def.element);
  let max = Number.POSITIVE_INFINITY;
  for (const { _zod: check } of def.checks ?? []) {
    const { def: is } = check as unknown as { def: z.core.$ZodCheckMaxLengthDef };
    if (is.check !== "max_length") throw new TypeError(`fits() knows no check ${String(is.check)} of a list`);
    max = is.maximum;
  }
  return (value) => Array.isArray(value) && value.length <= max && value.every(element);
}

function objectCheck(def: z.core.$ZodObjectDef): Check {
  const checks = new Map(Object.entries(def.shape).map(([key, inner]) => [key, checkOf(inner)]));
  const required = [...checks].filter(([, check]) => !check(undefined)).map(([key]) => key);
  const strict = def.catchall !== undefined;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    for (const key in value) {
      const check = checks.get(key);
      if (check ? !check((value as Record<string, unknown>)[key]) : strict) return false;
    }
    return required.every((key) => Object.hasOwn(value, key));
  };
}

function unionCheck(def: z.core.$ZodUnionDef & { discriminator?: string }): Check {
  const { discriminator } = def;
  if (discriminator === undefined) throw new TypeError("fits() knows unions by one field only");
  const options = new Map<unknown, Check>();
  for (const option of def.options) {
    const { def: of } = classic(option);
    const field = of.type === "object" && of.shape[discriminator];
    const name = field ? classic(field).def : undefined;
    if (name?.type !== "literal") throw new TypeError(`fits() finds no ${discriminator} in a union's part`);
    for (const value of name.values) options.set(value, checkOf(option));
  }
  return (value) =>
    typeof value === "object" &&
    value !== null &&
    (options.get((value as Record<string, unknown>)[discriminator])?.(value) ?? false);
}
