/** How fast the office's routes may be written to (LIMIT-2). */
import { expect, test } from "vitest";
import { call, newId, send } from "../testing/client.ts";
import { agentToken, hookToken, newTeam } from "../testing/team.ts";
import { officeRoutes } from "./api/office.ts";

const written = officeRoutes.filter(({ method, auth }) => method !== "GET" && auth === undefined);
const event = () => ({
  id: newId("evt"),
  type: "ticket.created",
  at: "2026-01-01T00:00:00.000Z",
  actor: { id: "anna" },
  ticket: { key: "JI-1" },
});
const ticket = (token: string) => call("POST", "/v1/tickets", { token, body: { title: "Door" } });
const told = (token: string) => call("POST", "/v1/work/events", { token, body: event() });

test("LIMIT-2 what is written at the board and at offices counts as any write, and reading does not", async () => {
  const team = await newTeam();
  const { owner } = team;
  const [scout, mason] = [await agentToken(team, "scout"), await agentToken(team, "mason")];
  const hook = await hookToken(team, "jira", ["ticket.created"]);
  await send(owner, "settings.set", { settings: { limits: { writes_per_s: 0.0001, burst: 2 } } });
  for (let n = 0; n < 2; n++) {
    expect((await ticket(scout)).status).toBe(201);
    expect((await told(hook)).status).toBe(200);
  }
  for (const answer of [await ticket(scout), await told(hook)]) {
    expect(answer).toMatchObject({ status: 429, body: { code: "rate_limited", retryable: true } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  // The agent's words in rooms are of the same measure; others have their own, who made the tool's token too.
  const post = {
    v: 1,
    type: "message.post",
    id: newId("evt"),
    idempotency_key: "k",
    space_id: newId("spc"),
    text: "x",
  };
  expect((await call("POST", "/v1/events", { token: scout, body: post })).status).toBe(429);
  expect((await ticket(mason)).status).toBe(201);
  expect((await ticket(owner.token)).status).toBe(201);
  for (const path of ["/v1/tickets", "/v1/people", "/v1/people/scout", "/v1/team"])
    expect((await call("GET", path, { token: scout })).status).toBe(200);
  expect((await call("GET", "/v1/tickets", { token: scout })).body.items).toHaveLength(5);

  while ((await ticket(owner.token)).status === 201);
  expect(written.length).toBeGreaterThan(10);
  for (const { method, path } of written) {
    const at = path.replace(":handle", "scout").replace(":id", newId("itm")).replace(":key", "BP-1");
    const { status } = await call(method, at.replace(":name", "max-1"), { token: owner.token, body: {} });
    expect([method, path, status]).toEqual([method, path, 429]);
  }
});
