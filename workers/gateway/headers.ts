/** The headers that every answer has, whoever made it (HTTP-5). */
import { createMiddleware } from "hono/factory";
import { secureHeaders } from "hono/secure-headers";
import { ulid } from "ulid";
import type { GatewayEnv } from "./context.ts";

const CSP = "content-security-policy";

/** For what is no page: nothing may be loaded by it, and nothing may frame it. */
const secure = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  crossOriginResourcePolicy: "same-origin",
  referrerPolicy: "no-referrer",
  xFrameOptions: "DENY",
});

/** Numbers the request and completes its answer. A route's own policy and caching stand. */
export const answerHeaders = createMiddleware<GatewayEnv>(async (c, next) => {
  const requestId = ulid();
  c.set("requestId", requestId);
  await next();
  // A socket's answer has immutable headers, and nobody reads them.
  if (c.res.status === 101) return;
  // This makes the answer of an object or of the assets one whose headers can be set.
  c.header("x-request-id", requestId);
  const policy = c.res.headers.get(CSP);
  await secure(c, async () => {});
  const { headers } = c.res;
  if (policy !== null) headers.set(CSP, policy);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  if (!headers.has("content-type")) headers.set("content-type", "text/plain; charset=utf-8");
});
