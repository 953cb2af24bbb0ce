/** Reading query strings: what does not fit is `invalid`, by name. */
import * as z from "zod";
import { checked } from "../room/parse.ts";
import type { C } from "./context.ts";

/** A whole number from 0, as text. */
export const whole = z
  .string()
  .regex(/^\d{1,15}$/, { error: "must be a whole number" })
  .transform(Number)
  .pipe(z.int().nonnegative());

/** The page of a list: `cursor` takes the `next` of the page before (HTTP-2). */
export const pageQuery = z.object({
  cursor: z.string().min(1).max(100).optional(),
  limit: z
    .string()
    .regex(/^\d{1,15}$/, { error: "must be a whole number" })
    .transform((text) => Math.min(Number(text), 200))
    .pipe(z.int().min(1))
    .default(50),
});

export function queryOf<S extends z.ZodType>(c: C, schema: S): z.infer<S> {
  return checked(schema, c.req.query());
}
