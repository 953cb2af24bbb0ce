import { expect, test } from "vitest";
import { call, connect, newId, say, send } from "../testing/client.ts";
import { type Agents, agentsRoom, evict, factsOf, pass, sayAs } from "../testing/judge.ts";

const handed = async (room: Agents) =>
  (await factsOf(room.bob, room.space)).filter((f) => f.type === "message.handed");

test("LEAD-1 the lead is the one set, else the agent that joined first, and only beside another", async () => {
  const alone = await agentsRoom(["Ping"]);
  const one = await call("GET", `/v1/spaces/${alone.space}/members`, { token: alone.bob.token });
  expect(one.body.items.some((m: { lead?: true }) => m.lead)).toBe(false);
  const room = await agentsRoom(["Ping", "Pong"]);
  const members = async () =>
    (await call("GET", `/v1/spaces/${room.space}/members`, { token: room.bob.token })).body.items;
  expect((await members()).find((m: { lead?: true }) => m.lead).name).toBe("Ping");
  await send(room.owner, "space.set", { space_id: room.space, lead: room.ids.Pong });
  expect((await members()).find((m: { lead?: true }) => m.lead).name).toBe("Pong");
});

test("LEAD-2 what was nobody's turn goes to the lead after twenty still seconds, each once and in order", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const one = await say(room.bob, room.space, "somebody should look at the numbers");
  await pass(room.workspace, 15);
  const two = await say(room.bob, room.space, "and at the dates");
  await pass(room.workspace, 10);
  expect(await handed(room)).toEqual([]);
  await evict(room.workspace);
  await pass(room.workspace, 12);
  expect((await handed(room)).map((f) => f.message_id)).toEqual([one.message_id, two.message_id]);
  const turn = await room.socket.next((f) => f.handed);
  expect(turn).toMatchObject({
    message_id: one.message_id,
    lead: true,
    for: [room.ids.Ping],
    text: "somebody should look at the numbers",
  });
  expect(turn.room.notes[room.ids.Ping ?? ""].split("\n")[0]).toContain("nobody's turn");
  await pass(room.workspace, 300);
  expect(await handed(room)).toHaveLength(2);
});

test("LEAD-2 a turn that is going and typing are not stillness", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const run_id = newId("run");
  await send(room.harness, "run.start", {
    run_id,
    space_id: room.space,
    agent_id: room.ids.Pong,
    message_ids: [],
  });
  await say(room.bob, room.space, "anybody?");
  await pass(room.workspace, 60);
  expect(await handed(room)).toEqual([]);
  await send(room.harness, "run.end", { run_id, outcome: "done" });
  const page = await connect(room.bob);
  page.send({ v: 1, type: "typing", space_id: room.space });
  await page.ask({ v: 1, type: "run.stop", id: newId("evt"), idempotency_key: newId("evt"), run_id });
  await pass(room.workspace, 10);
  expect(await handed(room)).toEqual([]);
  await pass(room.workspace, 30);
  expect(await handed(room)).toHaveLength(1);
});

test("LEAD-3 words for people only are never handed", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await say(room.owner, room.space, "@Bob lunch?");
  await sayAs(room, "Ping", "I have nothing to do");
  await pass(room.workspace, 120);
  expect(await handed(room)).toEqual([]);
});

test("LEAD-2 a setting turns it off", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await send(room.owner, "settings.set", { settings: { lead: { still_s: null } } });
  await say(room.bob, room.space, "anybody?");
  await pass(room.workspace, 120);
  expect(await handed(room)).toEqual([]);
});
