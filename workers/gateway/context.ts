/** What the gateway's routes share: who asks, which room, and how a refusal becomes an answer. */
import type { Context } from "hono";
import type * as z from "zod";
import { ERROR_STATUS, errorOf, type Refusal } from "../../src/shared/wire/errors.ts";
import { Refused, type Result, refuse } from "../kit/result.ts";
import { checked, parseJson } from "../room/parse.ts";
import type { Room } from "../room/room.ts";

export { boardOf, officeOf, roomOf } from "../objects.ts";

import type { Credential } from "../room/types.ts";

export interface GatewayEnv {
  Bindings: Env;
  Variables: {
    requestId: string;
    credential: Credential | undefined;
    /** The credential's workspace. */
    workspaceId: string;
    room: DurableObjectStub<Room>;
    /** Whether the credential came as the page's session cookie. */
    byCookie: boolean;
  };
}
export type C = Context<GatewayEnv>;

/** The largest JSON body: one frame's worth, or an array of a hundred. */
export const MAX_JSON_BYTES = 4 * 1024 * 1024;

/** Where this deployment is reached, as the caller reached it. */
export function originOf(c: C): string {
  return new URL(c.req.url).origin;
}

/** An error as an HTTP answer (ERR-1, ERR-2). */
export function failed(c: C, refusal: Refusal, of?: string): Response {
  if (refusal.retry_after_s !== undefined) c.header("retry-after", String(Math.ceil(refusal.retry_after_s)));
  if (refusal.code === "unauthenticated") c.header("www-authenticate", 'Bearer realm="bullpen"');
  return c.json(errorOf(refusal, of), ERROR_STATUS[refusal.code]);
}

/** The value of an object's answer; a refusal goes up to the one place that answers errors. */
export function must<T>(result: Result<T>): T {
  if (!result.ok) throw new RefusedOf(result.error, result.of);
  return result.value;
}

/** A refusal of a frame that the error must name. */
export class RefusedOf extends Refused {
  readonly of: string | undefined;
  constructor(refusal: Refusal, of: string | undefined) {
    super(refusal);
    this.of = of;
  }
}

/** Who asks; refuses when nobody does (AUTH-1). */
export function credentialOf(c: C): Credential {
  const credential = c.get("credential");
  if (!credential) refuse("unauthenticated", "Send a token: Authorization: Bearer bp_….");
  return credential;
}

/** The body as JSON, read no further than it may be large. */
export async function jsonBody(c: C): Promise<unknown> {
  return parseJson(await textOf(c));
}

/** A JSON body that fits a schema. */
export async function bodyOf<S extends z.ZodType>(c: C, schema: S): Promise<z.infer<S>> {
  const body = await jsonBody(c);
  return checked(schema, body);
}

/** The body as text, read no further than it may be large. */
export async function textOf(c: C, most = MAX_JSON_BYTES): Promise<string> {
  const tooLarge = () => refuse("too_large", `A body is at most ${most} bytes here. Send less at once.`);
  if (Number(c.req.header("content-length") ?? 0) > most) tooLarge();
  const body = c.req.raw.body;
  if (!body) return "";
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body as ReadableStream<Uint8Array>) {
    size += part.byteLength;
    if (size > most) tooLarge();
    parts.push(part);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(all);
  } catch {
    refuse("malformed", "The body is not UTF-8. Send it in UTF-8.");
  }
}
