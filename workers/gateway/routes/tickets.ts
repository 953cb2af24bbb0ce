/** Tickets: the board's own, and those of another tracker as its events tell them (WORK-3). */
import { Hono } from "hono";
import { commentTicket, createTicket, patchTicket, ticketsQuery } from "../../../src/shared/wire/office.ts";
import { identityOf } from "../auth.ts";
import { boardOf, bodyOf, type C, type GatewayEnv, must } from "../context.ts";
import { queryOf } from "../query.ts";

export const tickets = new Hono<GatewayEnv>();

const board = (c: C) => boardOf(c.env, c.get("workspaceId"));

tickets.get("/tickets", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).tickets(by, queryOf(c, ticketsQuery))));
});

tickets.post("/tickets", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).createTicket(by, await bodyOf(c, createTicket))), 201);
});

tickets.get("/tickets/:key", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).ticket(by, c.req.param("key"))));
});

tickets.patch("/tickets/:key", async (c) => {
  const by = await identityOf(c);
  const asked = await bodyOf(c, patchTicket);
  return c.json(must(await board(c).patchTicket(by, c.req.param("key"), asked)));
});

tickets.post("/tickets/:key/comments", async (c) => {
  const by = await identityOf(c);
  const asked = await bodyOf(c, commentTicket);
  return c.json(must(await board(c).commentTicket(by, c.req.param("key"), asked)), 201);
});
