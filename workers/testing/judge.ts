/** What the tests of the room's judgement share: a space of agents, and a clock that they move. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { Room } from "../room/room.ts";
import {
  type Any,
  call,
  connect,
  newHarness,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  roomStub,
  type Socket,
  send,
} from "./client.ts";

export interface Agents {
  workspace: string;
  owner: Party;
  bob: Party;
  space: string;
  harness: Party;
  socket: Socket;
  /** The agents' ids by name. */
  ids: Record<string, string>;
}

/** A workspace with a person Bob, a space, and one harness with these agents in it, connected. */
export async function agentsRoom(names: string[], hello: object = {}): Promise<Agents> {
  const { id: workspace, owner } = await newWorkspace();
  const harness = await newHarness(owner, "Crew");
  const socket = await connect(harness, { agents: names.map((name) => ({ name })), ...hello });
  const ids: Record<string, string> = {};
  for (const { agent_id, name } of socket.frames[0].agents) ids[name] = agent_id;
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id, ...Object.values(ids)]);
  return { workspace, owner, bob, space, harness, socket, ids };
}

/** Says something as one of the harness's agents. */
export async function sayAs(room: Agents, name: string, text: string, more: object = {}): Promise<Any> {
  return send(room.harness, "message.post", {
    space_id: room.space,
    text,
    actor: { kind: "agent", id: room.ids[name] },
    ...more,
  });
}

const offsets = new Map<string, number>();

/** Moves the room's clock on, and lets every alarm go off that is due by then. */
export async function pass(workspace: string, seconds: number): Promise<void> {
  const offset = (offsets.get(workspace) ?? 0) + seconds * 1000;
  offsets.set(workspace, offset);
  await setClock(workspace);
  while (await isDue(workspace)) await runDurableObjectAlarm(roomStub(workspace));
}

async function setClock(workspace: string): Promise<void> {
  const offset = offsets.get(workspace) ?? 0;
  await runInDurableObject(roomStub(workspace), (room: Room) => {
    room.wall = () => Date.now() + offset;
  });
}

async function isDue(workspace: string): Promise<boolean> {
  return runInDurableObject(roomStub(workspace), (room: Room, ctx) => {
    const rows = ctx.storage.sql.exec("SELECT 1 FROM alarms WHERE due_at <= ?", room.wall()).toArray();
    return rows.length > 0;
  });
}

/** Takes the object out of memory; its clock stays where the test had moved it. */
export async function evict(workspace: string): Promise<void> {
  await evictDurableObject(roomStub(workspace));
  await setClock(workspace);
}

/** Every fact of a space as a person is told it, page by page. */
export async function factsOf(by: Party, spaceId: string): Promise<Any[]> {
  const facts: Any[] = [];
  for (let after = 0; ; ) {
    const { body } = await call("GET", `/v1/events?after=${after}&space_id=${spaceId}`, { token: by.token });
    facts.push(...body.events);
    after = body.next_after;
    if (after >= body.head_seq) return facts;
  }
}
