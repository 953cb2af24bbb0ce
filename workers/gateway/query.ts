/** Reading query strings: what does not fit is `invalid`, by name. */
import type * as z from "zod";
import { checked } from "../room/parse.ts";
import type { C } from "./context.ts";

export function queryOf<S extends z.ZodType>(c: C, schema: S): z.infer<S> {
  return checked(schema, c.req.query());
}
