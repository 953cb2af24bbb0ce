/** What is published to everybody: health, the API's description, the schemas (HTTP-4, HTTP-6). */
import { Hono } from "hono";
import { VERSION } from "../../version.ts";
import { type C, failed, type GatewayEnv } from "../context.ts";

export const published = new Hono<GatewayEnv>();

published.get("/healthz", (c) => c.json({ ok: true, version: VERSION }));
for (const path of ["/openapi.json", "/docs", "/docs/*", "/schemas/*"]) published.get(path, (c) => asset(c));

/** The page of /docs loads its own script and style, and calls the routes it shows. Its icons are data. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A static file, without the caching and other headers of those that are served past the Worker. */
async function asset(c: C): Promise<Response> {
  const { origin, pathname } = new URL(c.req.url);
  const found = await c.env.ASSETS.fetch(new URL(pathname.replace(/\/$/, ""), origin));
  if (found.status !== 200) {
    await found.body?.cancel();
    return failed(c, {
      code: "not_found",
      message: "There is no such file. /schemas/index.json lists the schemas.",
    });
  }
  const type = found.headers.get("content-type") ?? "application/octet-stream";
  return new Response(found.body, {
    headers: { "content-type": type, "content-security-policy": DOCS_POLICY },
  });
}
