import { evictDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import {
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  newWorkspace,
  type Party,
  roomStub,
  type Socket,
  send,
} from "../testing/client.ts";
import { settled } from "../testing/room.ts";

const WATCH = { v: 1, type: "watch", office: true };
const changes = async (socket: Socket) =>
  (await settled(socket)).filter((frame) => frame.type === "office.changed");

async function watching(by: Party): Promise<Socket> {
  const socket = await connect(by);
  socket.send(WATCH);
  await settled(socket);
  return socket;
}

test("QUEUE-4 who asks for it is told what changed in the office, by name, on that connection alone", async () => {
  const { id, owner } = await newWorkspace();
  const room = roomStub(id);
  expect(await room.live({ people: ["scout"] })).toEqual({ watchers: 0 });
  const ben = await newPerson(owner, "Ben");
  const [mine, other, bens] = [await watching(owner), await connect(owner), await watching(ben)];
  const change = {
    people: ["scout"],
    items: ["itm_1"],
    tickets: ["BP-1"],
    events: ["e1"],
    team: true as const,
  };
  expect(await room.live(change)).toEqual({ watchers: 2 });
  for (const socket of [mine, bens])
    expect(await changes(socket)).toEqual([{ v: 1, type: "office.changed", ...change }]);
  expect(await changes(other)).toEqual([]);
  mine.send({ ...WATCH, office: false });
  await settled(mine);
  expect(await room.live({ tickets: [], events: ["e2"] })).toEqual({ watchers: 1 });
  expect((await changes(bens)).at(-1)).toEqual({ v: 1, type: "office.changed", events: ["e2"] });
  expect(await changes(mine)).toHaveLength(1);
});

test("QUEUE-4 CONN-9 watching outlives the object's sleep, and nothing of it is logged or sent again", async () => {
  const { id, owner } = await newWorkspace();
  const socket = await watching(owner);
  await evictDurableObject(roomStub(id), { webSockets: "hibernate" });
  expect(await roomStub(id).live({ people: ["scout"] })).toEqual({ watchers: 1 });
  expect(await changes(socket)).toHaveLength(1);
  socket.ws.close(1000, "bye");
  const again = await connect(owner, { after_seq: 0 });
  expect(await changes(again)).toEqual([]);
  expect(await roomStub(id).live({ people: ["scout"] })).toEqual({ watchers: 0 });
});

test("QUEUE-4 SPACE-1 people but guests watch: a guest, a harness and a request are refused, a new guest is told no more", async () => {
  const { id, owner } = await newWorkspace();
  const guest = await newPerson(owner, "Gus", "guest");
  const harness = await newHarness(owner, "Crew");
  for (const by of [guest, harness]) {
    const socket = await connect(by);
    const answer = await socket.ask({ ...WATCH, id: newId("evt") });
    expect(answer).toMatchObject({ type: "error", code: "forbidden" });
  }
  const { body } = await call("POST", "/v1/events", { token: owner.token, body: WATCH });
  expect(body).toMatchObject({ type: "error", code: "invalid" });
  const ben = await newPerson(owner, "Ben");
  const socket = await watching(ben);
  const bad = await socket.ask({ ...WATCH, office: "yes", id: newId("evt") });
  expect(bad).toMatchObject({ type: "error", code: "invalid" });
  await send(owner, "participant.role", { participant_id: ben.id, role: "guest" });
  expect(await roomStub(id).live({ people: ["scout"] })).toEqual({ watchers: 0 });
});

test("QUEUE-4 CONN-11 a frame names at most 200 of a kind", async () => {
  const { id, owner } = await newWorkspace();
  const socket = await watching(owner);
  await roomStub(id).live({ tickets: Array.from({ length: 1000 }, (_, n) => `BP-${n}`) });
  expect((await changes(socket))[0].tickets).toHaveLength(200);
});
