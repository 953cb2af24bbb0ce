/** One row of the table of routes, and what follows from it. */
import type * as z from "zod";
import type { ErrorCode } from "../../../src/shared/wire/errors.ts";

export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As Hono writes it: `/v1/spaces/:id`. */
  path: string;
  summary: string;
  description?: string;
  /**
   * `token`: a bearer or the page's session. `admin`: the deployment's ADMIN_TOKEN. `signature`: of the body, by a
   * secret of the workspace. Default: `token`.
   */
  auth?: "token" | "admin" | "signature" | "none";
  params?: Record<string, z.ZodType>;
  query?: z.ZodObject;
  /** A schema is a JSON body; `bytes` is any content. */
  body?: z.ZodType | "bytes";
  /** The media types of the body, where they are others than JSON. */
  bodyTypes?: readonly string[];
  /** Headers that the route looks at, and what they say. */
  headers?: Record<string, string>;
  /** Of the answer; default 200, and 204 where there is no `answer`. */
  status?: number;
  /** A schema is a JSON body; another media type is given by its name. */
  answer?: z.ZodType | `${string}/${string}`;
  /** Further statuses, and what they mean: below 300 with the same body, from 400 on an error. */
  also?: Record<number, string>;
  /** Beside those that every route of its kind has; see {@link errorsOf}. */
  errors?: readonly ErrorCode[];
}

/** Every code that a route may answer: its own, and those that come with being called at all (ERR-2). */
export function errorsOf({
  auth = "token",
  errors = [],
  params,
  query: asked,
  body,
  path,
}: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(errors);
  if (path.startsWith("/v1/"))
    for (const code of ["unauthenticated", "rate_limited", "unavailable"] as const) codes.add(code);
  if (auth === "token" || auth === "admin") codes.add("forbidden");
  if (params || asked || (body && body !== "bytes")) codes.add("invalid");
  if (body) codes.add("too_large");
  if (body && body !== "bytes") codes.add("malformed");
  codes.add("internal");
  return [...codes];
}
