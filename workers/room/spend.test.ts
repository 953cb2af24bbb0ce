import { expect, test } from "vitest";
import { newId, refused, say, send } from "../testing/client.ts";
import { type Agents, agentsRoom, factsOf, pass, sayAs } from "../testing/judge.ts";

async function start(room: Agents, name: string, messageIds: string[] = []): Promise<string> {
  const run_id = newId("run");
  await send(room.harness, "run.start", {
    run_id,
    space_id: room.space,
    agent_id: room.ids[name],
    message_ids: messageIds,
  });
  return run_id;
}

test("SPEND-1 WIN-6 a person's own message shows its new job, and reports add up in micro-dollars", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const asked = await say(room.bob, room.space, "@Ping go");
  const turn = await room.socket.next((f) => f.message_id === asked.message_id);
  expect(turn.context.spend).toEqual({
    ceiling_usd: 3,
    spent_usd: 0,
    since_seq: asked.seq,
    uncounted_runs: 0,
  });
  const run_id = await start(room, "Ping", [asked.message_id]);
  await send(room.harness, "run.usage", { run_id, cost_usd: 0.1 });
  await send(room.harness, "run.usage", { run_id, cost_usd: 0.3 });
  await send(room.harness, "run.end", { run_id, outcome: "done", cost_usd: 0.3 });
  const quiet = await start(room, "Ping");
  await send(room.harness, "run.end", { run_id: quiet, outcome: "done" });
  const passed = await sayAs(room, "Ping", "@Pong your turn");
  const next = await room.socket.next((f) => f.message_id === passed.message_id);
  expect(next.context.spend).toEqual({
    ceiling_usd: 3,
    spent_usd: 0.3,
    since_seq: asked.seq,
    uncounted_runs: 1,
  });
  expect(next.room.notes[room.ids.Pong ?? ""]).toContain("$0.30");
  await send(room.harness, "run.usage", { run_id: quiet, cost_usd: 0.05 });
  const again = await sayAs(room, "Ping", "@Pong and this");
  const last = await room.socket.next((f) => f.message_id === again.message_id);
  expect(last.context.spend).toMatchObject({ spent_usd: 0.35, uncounted_runs: 0 });
});

test("SPEND-2 SPEND-3 at the ceiling the agents are paused, running turns are halted, and no turn is handed out", async () => {
  const room = await agentsRoom(["Ping", "Pong"], { can: ["pause"] });
  const asked = await say(room.bob, room.space, "@Ping go");
  const one = await start(room, "Ping", [asked.message_id]);
  const two = await start(room, "Pong");
  await send(room.harness, "run.usage", { run_id: one, cost_usd: 3 });
  expect(await room.socket.next((f) => f.type === "run.pause" && f.run_id === two)).toMatchObject({
    actor: { kind: "system" },
  });
  const facts = await factsOf(room.bob, room.space);
  expect(facts.find((f) => f.type === "agents.paused")).toMatchObject({ cause: "spend" });
  expect(facts.find((f) => f.type === "notice.posted")).toMatchObject({ code: "spend_ceiling" });
  const held = await sayAs(room, "Ping", "@Pong more work");
  expect((await factsOf(room.bob, room.space)).find((f) => f.message_id === held.message_id).held).toBe(true);
  expect(
    (
      await refused(room.harness, "run.start", {
        run_id: newId("run"),
        space_id: room.space,
        agent_id: room.ids.Ping,
      })
    ).code,
  ).toBe("conflict");
  await send(room.owner, "space.set", { space_id: room.space, ceiling_usd: 10 });
  // What the room had paused goes on with it.
  expect(await room.socket.next((f) => f.type === "run.resume" && f.run_id === two)).toMatchObject({
    actor: { kind: "system" },
  });
  const handed = await room.socket.next((f) => f.handed);
  expect(handed).toMatchObject({
    message_id: held.message_id,
    context: { spend: { ceiling_usd: 10, spent_usd: 0 } },
  });
});

test("SPEND-3 without pause a running turn is stopped; many reports at once pass the ceiling by no more than the late ones", async () => {
  const room = await agentsRoom(["A", "B", "C", "D"].map((n) => `Agent${n}`));
  await say(room.bob, room.space, "@everyone go");
  const runs = await Promise.all(["A", "B", "C", "D"].map((n) => start(room, `Agent${n}`)));
  await Promise.all(runs.map((run_id) => send(room.harness, "run.usage", { run_id, cost_usd: 1 })));
  const facts = await factsOf(room.bob, room.space);
  expect(facts.filter((f) => f.type === "agents.paused")).toHaveLength(1);
  expect(facts.filter((f) => f.type === "run.stopped")).toHaveLength(4);
  expect(
    (
      await refused(room.harness, "run.start", {
        run_id: newId("run"),
        space_id: room.space,
        agent_id: room.ids.AgentA,
      })
    ).code,
  ).toBe("conflict");
});

test("SPEND-3 more than twenty uncounted runs in a job pause as the ceiling does", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  for (let i = 0; i < 21; i++) {
    const run_id = await start(room, "Ping");
    await send(room.harness, "run.end", { run_id, outcome: "done" });
  }
  const facts = await factsOf(room.bob, room.space);
  expect(facts.filter((f) => f.type === "agents.paused")).toHaveLength(1);
});

test("SPEND-4 a cost that goes down, is negative, infinite or absurd is invalid; the latest total counts, not the sum", async () => {
  const room = await agentsRoom(["Ping"]);
  const run_id = await start(room, "Ping");
  await send(room.harness, "run.usage", { run_id, cost_usd: 0.5 });
  await send(room.harness, "run.usage", { run_id, cost_usd: 0.5 });
  for (const cost_usd of [0.4, -1, 10_001, "1", null])
    expect((await refused(room.harness, "run.usage", { run_id, cost_usd })).code).toBe("invalid");
});

test("SPEND-5 the day's ceiling stops people's messages too, and only an owner or admin raises it", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await send(room.owner, "settings.set", { settings: { spend: { day_usd: 1 } } });
  const run_id = await start(room, "Ping");
  await send(room.harness, "run.usage", { run_id, cost_usd: 1.5 });
  const asked = await say(room.bob, room.space, "@Ping again");
  expect((await factsOf(room.bob, room.space)).find((f) => f.message_id === asked.message_id).held).toBe(
    true,
  );
  expect((await refused(room.bob, "settings.set", { settings: { spend: { day_usd: 100 } } })).code).toBe(
    "forbidden",
  );
  await send(room.owner, "settings.set", { settings: { spend: { day_usd: 100 } } });
  const next = await say(room.bob, room.space, "@Ping now?");
  expect((await room.socket.next((f) => f.message_id === next.message_id)).type).toBe("message.new");
  expect((await room.socket.next((f) => f.handed)).message_id).toBe(asked.message_id);
  await pass(room.workspace, 86_400);
});

test("SPEND-2 a space without a cap says nothing of spend", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await send(room.owner, "space.set", { space_id: room.space, ceiling_usd: null });
  const asked = await say(room.bob, room.space, "@Ping go");
  const turn = await room.socket.next((f) => f.message_id === asked.message_id);
  expect(turn.context.spend).toBeUndefined();
});
