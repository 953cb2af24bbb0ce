/** What must not get past a ceiling, a limit or a door by another way round (SPEND, LIMIT, GUARD). */
import { expect, test } from "vitest";
import { call, connect, newHarness, newId, refused, send } from "../testing/client.ts";
import { type Agents, agentsRoom, factsOf, sayAs } from "../testing/judge.ts";
import { as, declare, sql } from "../testing/room.ts";

async function start(room: Agents, name = "Ping"): Promise<string> {
  const run_id = newId("run");
  const agent_id = room.ids[name];
  await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id, message_ids: [] });
  return run_id;
}

const runs = async (room: Agents) => sql(room.workspace, "SELECT paused, stopping_at FROM runs");

test.each([false, true])(
  "SPEND-3 a pause that a person asked for lets no turn spend past the ceiling (lasting: %s)",
  async (lasting) => {
    const pausing = await agentsRoom(["Ping", "Pong"], { can: ["pause"] });
    const stopping = await agentsRoom(["Ping", "Pong"]);
    for (const room of [pausing, stopping]) {
      const run_id = await start(room);
      await send(room.owner, "agents.pause", { space_id: room.space, lasting });
      await send(room.harness, "run.usage", { run_id, cost_usd: 50 });
    }
    expect((await factsOf(pausing.bob, pausing.space)).at(-1)).toMatchObject({ type: "run.paused" });
    expect((await runs(stopping))[0].stopping_at).not.toBeNull();
    // Asked for, the agents go on in a new job, and with them what was halted.
    await send(pausing.bob, "agents.resume", { space_id: pausing.space });
    expect((await factsOf(pausing.bob, pausing.space)).at(-1)).toMatchObject({ type: "run.resumed" });
    expect((await runs(pausing))[0].paused).toBe(0);
  },
);

test("SPEND-3 a halted turn that a person lets go on at the ceiling is halted again by its next report", async () => {
  const room = await agentsRoom(["Ping", "Pong"], { can: ["pause"] });
  const run_id = await start(room);
  await send(room.harness, "run.usage", { run_id, cost_usd: 50 });
  await send(room.bob, "run.resume", { run_id });
  await send(room.harness, "run.usage", { run_id, cost_usd: 60 });
  expect((await runs(room))[0].paused).not.toBe(0);
});

test("SPEND-2 a lasting pause over the ceiling's own leaves no halted turn behind when it ends", async () => {
  const room = await agentsRoom(["Ping", "Pong"], { can: ["pause"] });
  const run_id = await start(room);
  await send(room.harness, "run.usage", { run_id, cost_usd: 50 });
  await send(room.owner, "agents.pause", { space_id: room.space, lasting: true });
  await send(room.owner, "agents.resume", { space_id: room.space });
  expect((await runs(room))[0].paused).toBe(0);
});

test("SPEND-5 agents.resume does not get past the day's ceiling", async () => {
  const room = await agentsRoom(["Ping", "Pong"], { can: ["pause"] });
  await send(room.owner, "settings.set", { settings: { spend: { day_usd: 1 } } });
  const run_id = await start(room);
  await send(room.harness, "run.usage", { run_id, cost_usd: 2 });
  expect((await refused(room.bob, "agents.resume", { space_id: room.space })).code).toBe("conflict");
  expect((await runs(room))[0].paused).not.toBe(0);
  await send(room.owner, "settings.set", { settings: { spend: { day_usd: 10 } } });
  await send(room.bob, "agents.resume", { space_id: room.space });
  expect((await runs(room))[0].paused).toBe(0);
});

test("SPACE-3 GUARD-4 what was held from a harness, and being the lead, pass to the agent that claims its space", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const { owner } = room;
  const solo = await newHarness(owner, "Solo");
  await connect(solo);
  const asked = { title: "Asked", harness_id: solo.id, agent_name: "Zed" };
  const { space_id } = await send(owner, "space.create", asked);
  for (const participant_id of Object.values(room.ids))
    await send(owner, "member.add", { space_id, participant_id });
  await send(owner, "space.set", { space_id, lead: solo.id });
  await send(owner, "agents.pause", { space_id });
  const held = await send(room.harness, "message.post", {
    space_id,
    text: "@Zed do it",
    ...as(room.ids.Ping ?? ""),
  });
  const [agent_id] = await declare(solo, "Zeddy");
  await send(solo, "space.claim", { space_id, agent_id });
  await send(owner, "agents.resume", { space_id });
  const handed = (await factsOf(owner, space_id)).find((f) => f.type === "message.handed");
  expect(handed).toMatchObject({ message_id: held.message_id, takers: [agent_id] });
  expect(await sql(room.workspace, "SELECT lead FROM spaces WHERE id = ?", space_id)).toEqual([
    { lead: agent_id },
  ]);
});

const fifty = (of: string) => ({ agents: Array.from({ length: 50 }, (_, i) => ({ name: `${of}${i}` })) });

test("LIMIT-1 bringing withdrawn agents back counts among the fifty that a harness declares", async () => {
  const room = await agentsRoom(["Ping"]);
  const many = await newHarness(room.owner, "Many");
  await send(room.owner, "settings.set", { settings: { limits: { writes_per_s: 1000, burst: 1000 } } });
  const { agents } = await send(many, "agent.declare", fifty("x"));
  for (const { agent_id } of agents) await send(many, "agent.withdraw", { agent_id });
  await send(many, "agent.declare", fifty("y"));
  expect((await refused(many, "agent.declare", fifty("x"))).code).toBe("invalid");
});

test("LIMIT-2 what a hello writes is limited as any write is, and a hello that says nothing new is free", async () => {
  const room = await agentsRoom(["Ping"]);
  await send(room.owner, "settings.set", { settings: { limits: { writes_per_s: 1, burst: 5 } } });
  const greet = async (name: string) => {
    const agents = [{ name, agent_id: room.ids.Ping }];
    const body = { v: 1, type: "hello", id: newId("evt"), agents };
    return (await call("POST", "/v1/hello", { token: room.harness.token, body })).status;
  };
  const codes: number[] = [];
  for (let i = 0; i < 30; i++) codes.push(await greet(`Name ${i}`));
  expect(codes).toContain(429);
  const { name } = (
    await sql(room.workspace, "SELECT name FROM participants WHERE id = ?", room.ids.Ping)
  )[0];
  expect(await greet(name)).toBe(200);
});

test("ENV-5 a run that has ended does not let its harness act as an agent that it withdrew", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const run_id = await start(room);
  const { message_id } = await sayAs(room, "Ping", "hello", { run_id });
  await send(room.harness, "agent.withdraw", { agent_id: room.ids.Ping });
  await send(room.harness, "message.edit", { message_id, text: "hello again", run_id });
  expect((await factsOf(room.bob, room.space)).at(-1)).toMatchObject({
    type: "message.edited",
    actor: { kind: "harness", id: room.harness.id },
  });
});

test("CONN-12 APR-2 an approver who left the space sees nothing more of what was asked there", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const approval_id = newId("apr");
  await send(room.harness, "approval.request", {
    run_id: await start(room),
    approval_id,
    action: { kind: "notes.write", input: { words: "private" } },
    risk: [],
    expires_in: 600,
    approvers: [room.bob.id],
  });
  await send(room.owner, "member.remove", { space_id: room.space, participant_id: room.bob.id });
  await send(room.owner, "approval.decide", { approval_id, decision: "allow" });
  const get = async (path: string) => (await call("GET", path, { token: room.bob.token })).body;
  expect((await get("/v1/approvals")).items).toEqual([]);
  const { events } = await get("/v1/events?after=0&limit=200");
  expect(events.filter((e: { type: string }) => e.type.startsWith("approval."))).toEqual([]);
});

test("AUTH-2 a token for hooks ends itself, and none of its harness's others", async () => {
  const room = await agentsRoom(["Ping"]);
  const asked = { participant_id: room.harness.id, scopes: ["hook"] };
  const hook = (await call("POST", "/v1/tokens", { token: room.owner.token, body: asked })).body;
  const speaking = (
    await sql(room.workspace, "SELECT id FROM tokens WHERE name = 'Crew' AND id <> ?", hook.token_id)
  )[0].id;
  const end = async (id: string) => (await call("DELETE", `/v1/tokens/${id}`, { token: hook.token })).status;
  expect(await end(speaking)).toBe(403);
  expect(await end(hook.token_id)).toBe(204);
});

test("SPEND-5 the day's ceiling is the workspace's: it halts turns and holds hand-outs in every space", async () => {
  const room = await agentsRoom(["Ping", "Pong"], { can: ["pause"] });
  await send(room.owner, "settings.set", { settings: { spend: { day_usd: 1 } } });
  const { space_id } = await send(room.owner, "space.create", { title: "Other" });
  const ids = [room.ids["Ping"], room.ids["Pong"]];
  for (const participant_id of ids) await send(room.owner, "member.add", { space_id, participant_id });
  const other = { ...room, space: space_id as string };
  await start(other);
  const run_id = await start(room);
  await send(room.harness, "run.usage", { run_id, cost_usd: 2 });
  expect((await runs(room)).map((run: { paused: number }) => run.paused > 0)).toEqual([true, true]);
  const { message_id } = await sayAs(other, "Ping", "@Pong do this");
  const posted = (await factsOf(room.owner, space_id)).find((f) => f.message_id === message_id);
  expect(posted).toMatchObject({ held: true, addressed_to: [] });
});
