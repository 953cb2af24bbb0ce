/** People of the team and their queues (QUEUE-4). */
import { Hono } from "hono";
import { callId, officeCall, officeCallQuery } from "../../../src/shared/wire/context/call.ts";
import { isId } from "../../../src/shared/wire/ids.ts";
import { addItem, patchItem, pausePerson } from "../../../src/shared/wire/office.ts";
import { handle } from "../../../src/shared/wire/team.ts";
import { notFound } from "../../kit/result.ts";
import type { Identity } from "../../office/letters.ts";
import type { Office } from "../../office/office.ts";
import { checked, parseJson } from "../../room/parse.ts";
import { identityOf } from "../auth.ts";
import { boardOf, bodyOf, type C, type GatewayEnv, must, officeOf, textOf } from "../context.ts";
import { queryOf } from "../query.ts";

export const people = new Hono<GatewayEnv>();

const board = (c: C) => boardOf(c.env, c.get("workspaceId"));

/** The office of the person in the path. One that nobody has is asked for nothing, so that none is made (OFF-2). */
export async function officeIn(c: C, by: Identity): Promise<DurableObjectStub<Office>> {
  const given = handle.safeParse(c.req.param("handle"));
  if (given.success && (await board(c).knows(given.data)))
    return officeOf(c.env, c.get("workspaceId"), given.data);
  // Who may see nobody is told so, whether there is somebody or not (ERR-3).
  must(await board(c).people(by));
  notFound("person");
}

people.get("/people", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).people(by)));
});

people.get("/people/:handle", async (c) => {
  const by = await identityOf(c);
  const person = must(await (await officeIn(c, by)).person(by));
  // What those who share a subscription have used is the board's to know (ITEM-3).
  const { items } = must(await board(c).people(by));
  const usage = items.find(({ handle: one }) => one === person.handle)?.usage;
  return c.json({ ...person, ...(usage === undefined ? {} : { usage }) });
});

people.post("/people/:handle/items", async (c) => {
  const by = await identityOf(c);
  const asked = await bodyOf(c, addItem);
  return c.json(must(await (await officeIn(c, by)).addItem(by, asked)), 201);
});

people.patch("/people/:handle/items/:id", async (c) => {
  const by = await identityOf(c);
  const asked = await bodyOf(c, patchItem);
  const office = await officeIn(c, by);
  const id = c.req.param("id");
  if (!isId(id, "itm")) notFound("item");
  return c.json(must(await office.patchItem(by, id, asked)));
});

people.post("/people/:handle/pause", async (c) => {
  const by = await identityOf(c);
  const asked = await pauseOf(c);
  return c.json(must(await (await officeIn(c, by)).pause(by, asked)));
});

people.post("/people/:handle/resume", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await (await officeIn(c, by)).resume(by)));
});

people.post("/people/:handle/calls", async (c) => {
  const by = await identityOf(c);
  const asked = await bodyOf(c, officeCall);
  return c.json(must(await (await officeIn(c, by)).agentCall(by, asked)));
});

people.delete("/people/:handle/calls/:id", async (c) => {
  const by = await identityOf(c);
  const { item } = queryOf(c, officeCallQuery);
  const over = checked(callId, c.req.param("id"));
  must(await (await officeIn(c, by)).agentCall(by, { over, item }));
  return c.body(null, 204);
});

people.post("/subscriptions/:name/pause", async (c) => {
  const by = await identityOf(c);
  const asked = await pauseOf(c);
  return c.json(must(await board(c).pauseSubscription(by, c.req.param("name"), asked)));
});

people.post("/subscriptions/:name/resume", async (c) => {
  const by = await identityOf(c);
  return c.json(must(await board(c).resumeSubscription(by, c.req.param("name"))));
});

/** Why and until when; who says neither may send no body. */
async function pauseOf(c: C) {
  const text = await textOf(c);
  return checked(pausePerson, text.trim() === "" ? {} : parseJson(text));
}
