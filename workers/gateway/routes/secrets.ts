/** Secrets go in and never come out (SECRET-1). */
import { Hono } from "hono";
import * as z from "zod";
import { putSecret, secretName } from "../../../src/shared/wire/office.ts";
import { checked } from "../../room/parse.ts";
import { identityOf } from "../auth.ts";
import { boardOf, bodyOf, type GatewayEnv, must } from "../context.ts";

export const secrets = new Hono<GatewayEnv>();

const named = z.object({ name: secretName });

secrets.put("/secrets/:name", async (c) => {
  const by = await identityOf(c);
  const { name } = checked(named, { name: c.req.param("name") });
  const { value } = await bodyOf(c, putSecret);
  must(await boardOf(c.env, c.get("workspaceId")).putSecret(by, name, value));
  return c.body(null, 204);
});
