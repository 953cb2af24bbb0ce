/** Reading who asks: a bearer, a socket's subprotocol, or the page's session cookie (AUTH-1). */
import { createHash, timingSafeEqual } from "node:crypto";
import { getCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { parseToken } from "../../src/shared/token.ts";
import { refuse } from "../kit/result.ts";
import type { Identity } from "../office/letters.ts";
import type { Credential } from "../room/types.ts";
import { type C, credentialOf, type GatewayEnv, must, originOf, roomOf } from "./context.ts";

/** `__Host-`: only over HTTPS, for this host, never set by a subdomain. */
const COOKIE = "__Host-bullpen";
/** Over plain HTTP, which only a laptop's own address is, browsers refuse `__Host-`. */
const LOCAL_COOKIE = "bullpen";
const SESSION_S = 30 * 86_400;
const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What needs no token of a workspace: the way in, and the deployment's own route (AUTH-5, AUTH-6). */
const OPEN = new Set(["/v1/workspaces", "/v1/invites/redeem", "/v1/sign-in-links/redeem"]);

/** Puts the caller's credential, workspace and room into the context; without one only what is open is reached. */
export const readCredential = createMiddleware<GatewayEnv>(async (c, next) => {
  // What is under a workspace's id takes the deployment's own token (LOG-6).
  if (OPEN.has(c.req.path) || c.req.path.startsWith("/v1/workspaces/")) return next();
  const found = tokenOf(c);
  c.set("byCookie", found?.cookie ?? false);
  if (found) {
    const parts = parseToken(found.token);
    if (parts) {
      const credential: Credential = {
        tokenId: `tok_${parts.rowUlid}`,
        secretHash: sha256Hex(parts.secret),
        origin: originOf(c),
      };
      c.set("credential", credential);
      c.set("workspaceId", parts.workspaceId);
      c.set("room", roomOf(c.env, parts.workspaceId));
    } else {
      refuse(
        "unauthenticated",
        "This is no token of Bullpen. It starts with bp_ and is shown once, when it is made.",
      );
    }
  } else refuse("unauthenticated", "Send a token: Authorization: Bearer bp_….");
  await next();
});

function tokenOf(c: C): { token: string; cookie: boolean } | undefined {
  for (const name of ["token", "access_token", "bearer"])
    if (c.req.query(name)?.startsWith("bp_"))
      refuse("unauthenticated", "A token in a URL ends up in logs. Send it as Authorization: Bearer.");
  const header = c.req.header("authorization");
  if (header !== undefined) {
    const bearer = /^Bearer +(\S+)$/i.exec(header)?.[1];
    if (bearer === undefined) refuse("unauthenticated", "Authorization has the form: Bearer bp_….");
    return { token: bearer, cookie: false };
  }
  const offered = subprotocols(c).find((p) => p.startsWith("bearer."));
  if (offered) return { token: offered.slice("bearer.".length), cookie: false };
  const cookie = getCookie(c, isSecure(c) ? COOKIE : LOCAL_COOKIE);
  if (cookie === undefined) return undefined;
  const unsafe = !SAFE.has(c.req.method) || c.req.header("upgrade") !== undefined;
  if (unsafe && c.req.header("origin") !== originOf(c))
    refuse(
      "forbidden",
      "A session works from the page itself. From elsewhere send a token as Authorization: Bearer.",
    );
  return { token: cookie, cookie: true };
}

export function subprotocols(c: C): string[] {
  return (c.req.header("sec-websocket-protocol") ?? "").split(",").map((p) => p.trim());
}

function isSecure(c: C): boolean {
  return new URL(c.req.url).protocol === "https:";
}

/** Hands the page its session: out of script's reach, for this site's own requests only (AUTH-1). */
export function setSession(c: C, token: string): void {
  // Another site that redeems a link of its own must not sign its visitor in here as somebody else.
  const from = c.req.header("origin");
  if (from !== undefined && from !== originOf(c)) return;
  const secure = isSecure(c);
  setCookie(c, secure ? COOKIE : LOCAL_COOKIE, token, {
    httpOnly: true,
    secure,
    sameSite: "Strict",
    path: "/",
    maxAge: SESSION_S,
  });
}

export function endSession(c: C): void {
  setCookie(c, isSecure(c) ? COOKIE : LOCAL_COOKIE, "", {
    httpOnly: true,
    secure: isSecure(c),
    sameSite: "Strict",
    path: "/",
    maxAge: 0,
  });
}

/**
 * Who asks, as the Room found from the token; refuses when nobody does (AUTH-1), and who writes too fast: the Room
 * counts what is written at the other objects as well (LIMIT-2).
 */
export async function identityOf(c: C): Promise<Identity> {
  return must(await c.get("room").identify(credentialOf(c), !SAFE.has(c.req.method)));
}

/** The deployment's own secret, compared in constant time; unset, the route is shut (AUTH-5). */
export function mustBeAdmin(c: C): void {
  const expected = c.env.ADMIN_TOKEN;
  const given = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
  const a = createHash("sha256")
    .update(expected ?? "")
    .digest();
  const b = createHash("sha256").update(given).digest();
  if (!expected || !timingSafeEqual(a, b))
    refuse("forbidden", "This needs the deployment's ADMIN_TOKEN as the bearer.");
}

/** Where a request comes from, as the platform says it. */
export function addressOf(c: C): string {
  return c.req.header("cf-connecting-ip") ?? "local";
}

/** Counts a failed authentication by address and by token id; over the limit the answer is to wait (AUTH-7). */
export async function countFailure(c: C): Promise<void> {
  const keys = [addressOf(c), c.get("credential")?.tokenId].filter((k) => k !== undefined);
  for (const key of keys) {
    const { success } = await c.env.AUTH_LIMITER.limit({ key });
    if (!success)
      refuse("rate_limited", "Too many failed sign-ins from here. Wait a minute and try again.", {
        retry_after_s: 60,
      });
  }
}
