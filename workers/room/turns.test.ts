import { expect, test } from "vitest";
import { call, connect, newId, newPerson, refused, say, send } from "../testing/client.ts";
import { type Agents, agentsRoom, evict, factsOf, pass, sayAs } from "../testing/judge.ts";

async function start(room: Agents, name: string, messageIds: string[]): Promise<string> {
  const run_id = newId("run");
  await send(room.harness, "run.start", {
    run_id,
    space_id: room.space,
    agent_id: room.ids[name],
    message_ids: messageIds,
  });
  return run_id;
}

const notices = async (room: Agents, code: string) =>
  (await factsOf(room.bob, room.space)).filter((f) => f.type === "notice.posted" && f.code === code);

test("TURN-4 a person stops a run: its harness is told, its words are for nobody, the room ends it after 30 s", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const asked = await say(room.bob, room.space, "@Ping count to a million");
  const run_id = await start(room, "Ping", [asked.message_id]);
  await send(room.bob, "run.stop", { run_id });
  const told = await room.socket.next((f) => f.type === "run.stop");
  expect(told).toMatchObject({ run_id, agent_id: room.ids.Ping, actor: { kind: "person", id: room.bob.id } });
  const [notice] = await notices(room, "run_stopped");
  expect(notice.text).toBe("Bob stopped Ping.");
  const receipt = await sayAs(room, "Ping", "@Pong take over", { run_id });
  const posted = (await factsOf(room.bob, room.space)).find((f) => f.message_id === receipt.message_id);
  expect(posted.addressed_to).toEqual([]);
  await evict(room.workspace);
  await pass(room.workspace, 31);
  const ended = (await factsOf(room.bob, room.space)).find((f) => f.type === "run.ended");
  expect(ended).toMatchObject({ run_id, outcome: "stopped" });
  expect((await refused(room.harness, "run.step", { run_id, text: "late" })).code).toBe("unknown_run");
});

test("TURN-4 pause is offered only where the harness said that it can, and resume goes on", async () => {
  const cannot = await agentsRoom(["Ping"]);
  const one = await start(cannot, "Ping", [(await say(cannot.bob, cannot.space, "go")).message_id]);
  expect((await refused(cannot.bob, "run.pause", { run_id: one })).code).toBe("conflict");
  const room = await agentsRoom(["Ping"], { can: ["pause"] });
  const run_id = await start(room, "Ping", [(await say(room.bob, room.space, "go")).message_id]);
  await send(room.bob, "run.pause", { run_id });
  expect(await room.socket.next((f) => f.type === "run.pause")).toMatchObject({ run_id });
  // A paused run is waiting: no clock runs (TURN-5).
  await pass(room.workspace, 2 * 3600);
  const { body } = await call("GET", `/v1/spaces/${room.space}/runs`, { token: room.bob.token });
  expect(body.items[0]).toMatchObject({ run_id, state: "paused" });
  await send(room.bob, "run.resume", { run_id });
  expect(await room.socket.next((f) => f.type === "run.resume")).toMatchObject({ run_id });
});

test("TURN-4 SPACE-7 a guest stops only runs on their own message, others may not know the run", async () => {
  const room = await agentsRoom(["Ping"]);
  const guest = await newPerson(room.owner, "Gus", "guest", [room.space]);
  const stranger = await newPerson(room.owner, "Sam");
  const run_id = await start(room, "Ping", [(await say(room.bob, room.space, "go")).message_id]);
  expect((await refused(guest, "run.stop", { run_id })).code).toBe("forbidden");
  expect((await refused(stranger, "run.stop", { run_id })).code).toBe("unknown_run");
  const own = await start(room, "Ping", [(await say(guest, room.space, "and me?")).message_id]);
  expect((await send(guest, "run.stop", { run_id: own })).seq).toBeGreaterThan(0);
});

test("TURN-5 after an hour of silence a run has failed, and the room says so; a word starts the hour anew", async () => {
  const room = await agentsRoom(["Ping"]);
  const run_id = await start(room, "Ping", [(await say(room.bob, room.space, "go")).message_id]);
  await pass(room.workspace, 3000);
  await send(room.harness, "run.step", { run_id, text: "still at it" });
  await pass(room.workspace, 3000);
  expect(await notices(room, "run_failed")).toEqual([]);
  await evict(room.workspace);
  await pass(room.workspace, 700);
  const [notice] = await notices(room, "run_failed");
  expect(notice.about).toContain(run_id);
  const ended = (await factsOf(room.bob, room.space)).find((f) => f.type === "run.ended");
  expect(ended).toMatchObject({ run_id, outcome: "failed", actor: { kind: "system" } });
  // The message may be taken again (TURN-1).
  const again = await start(
    room,
    "Ping",
    ended ? [(await factsOf(room.bob, room.space)).find((f) => f.type === "message.posted").message_id] : [],
  );
  expect(again).toMatch(/^run_/);
});

test("TURN-5 a harness that is gone for ten minutes fails its runs, one that comes back keeps them", async () => {
  const room = await agentsRoom(["Ping"]);
  const run_id = await start(room, "Ping", [(await say(room.bob, room.space, "go")).message_id]);
  room.socket.ws.close(1000, "away");
  await room.socket.closed;
  await pass(room.workspace, 500);
  const back = await connect(room.harness);
  await pass(room.workspace, 500);
  expect(await notices(room, "run_failed")).toEqual([]);
  back.ws.close(1000, "away");
  await back.closed;
  await pass(room.workspace, 601);
  expect((await notices(room, "run_failed"))[0].about).toContain(run_id);
});

test("TURN-5 NOTE-3 silent for ten minutes a run no longer counts as working", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await start(room, "Ping", [(await say(room.bob, room.space, "@Ping go")).message_id]);
  const one = await say(room.bob, room.space, "@Pong and you?");
  const first = await room.socket.next((f) => f.message_id === one.message_id);
  expect(first.room.working).toEqual([{ participant_id: room.ids.Ping, minutes: 0 }]);
  await pass(room.workspace, 601);
  const two = await say(room.bob, room.space, "@Pong well?");
  const second = await room.socket.next((f) => f.message_id === two.message_id);
  expect(second.room.working).toBeUndefined();
});

test("TURN-7 work that an agent did not begin within a minute goes to the lead, said once", async () => {
  const room = await agentsRoom(["Lead", "Ping", "Pong"]);
  const asked = await sayAs(room, "Ping", "@Pong please check the numbers");
  await room.socket.next((f) => f.message_id === asked.message_id);
  await evict(room.workspace);
  await pass(room.workspace, 61);
  const handed = await room.socket.next((f) => f.handed);
  expect(handed).toMatchObject({ message_id: asked.message_id, for: [room.ids.Lead], lead: true });
  const [notice] = await notices(room, "not_picked_up");
  expect(notice.text).toBe("Pong has not begun what it was asked, so it was handed to Lead.");
  await pass(room.workspace, 300);
  expect(await notices(room, "not_picked_up")).toHaveLength(1);
});

test("TURN-7 a run that names it, a heard, or a later post picks it up", async () => {
  const room = await agentsRoom(["Lead", "Ping", "Pong"]);
  const one = await sayAs(room, "Ping", "@Pong one");
  await start(room, "Pong", [one.message_id]);
  const two = await sayAs(room, "Pong", "@Ping two");
  await sayAs(room, "Ping", "I see");
  expect(two.message_id).toMatch(/^msg_/);
  await pass(room.workspace, 200);
  expect(await notices(room, "not_picked_up")).toEqual([]);
});

test("TURN-7 the minute waits for a taker that is away or busy; the lead's own message is told to it", async () => {
  const room = await agentsRoom(["Lead", "Pong"]);
  room.socket.ws.close(1000, "away");
  await room.socket.closed;
  const asked = await sayAs(room, "Lead", "@Pong please check");
  await pass(room.workspace, 3600);
  expect(await notices(room, "not_picked_up")).toEqual([]);
  const back = await connect(room.harness);
  await pass(room.workspace, 61);
  const [notice] = await notices(room, "not_picked_up");
  expect(notice.about).toEqual([room.ids.Lead, room.ids.Pong, asked.message_id]);
  expect(await back.next((f) => f.type === "notice.posted")).toMatchObject({ code: "not_picked_up" });
  expect(back.frames.some((f) => f.handed)).toBe(false);
});

test("TURN-4 a stop against the run's own end: whichever comes first stands, and the run ends once", async () => {
  for (const order of ["stop first", "end first", "at once"]) {
    const room = await agentsRoom(["Ping"]);
    const run_id = await start(room, "Ping", [(await say(room.bob, room.space, "go")).message_id]);
    const stop = () => send(room.bob, "run.stop", { run_id }).catch((error: Error) => error.message);
    const end = () => send(room.harness, "run.end", { run_id, outcome: "done" });
    if (order === "stop first") {
      await stop();
      await end();
    } else if (order === "end first") {
      await end();
      expect(await stop()).toContain("unknown_run");
    } else await Promise.all([stop(), end()]);
    await pass(room.workspace, 60);
    const ended = (await factsOf(room.bob, room.space)).filter((f) => f.type === "run.ended");
    expect(ended).toMatchObject([{ run_id, outcome: "done" }]);
  }
});
