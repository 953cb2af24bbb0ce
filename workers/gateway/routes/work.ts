/** Events of the team's work, and what was decided of each (WORK-4, PIPE-1). */
import { Hono } from "hono";
import { workEventsQuery } from "../../../src/shared/wire/office.ts";
import { workEventGiven } from "../../../src/shared/wire/work.ts";
import { identityOf } from "../auth.ts";
import { boardOf, bodyOf, type C, type GatewayEnv, must } from "../context.ts";
import { queryOf } from "../query.ts";

export const work = new Hono<GatewayEnv>();

const board = (c: C) => boardOf(c.env, c.get("workspaceId"));

work.post("/work/events", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).workEvent(by, await bodyOf(c, workEventGiven))));
});

work.get("/work/events", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).workEvents(by, queryOf(c, workEventsQuery))));
});

work.get("/work/events/:id", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).traceOf(by, c.req.param("id"))));
});
