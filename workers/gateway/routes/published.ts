/** What is published to everybody: health, the API's description, the schemas (HTTP-4, HTTP-6). */
import { Hono } from "hono";
import { VERSION } from "../../version.ts";
import type { GatewayEnv } from "../context.ts";

export const published = new Hono<GatewayEnv>();

published.get("/healthz", (c) => c.json({ ok: true, version: VERSION }));
published.get("/docs", (c) => c.env.ASSETS.fetch(c.req.raw));
published.get("/docs/*", (c) => c.env.ASSETS.fetch(c.req.raw));
