/** What the tests of the room with the office share: the team's people, letters to the room, and those that wait. */
import { runInDurableObject } from "cloudflare:test";
import type { Letter } from "../kit/outbox.ts";
import type { Address, RoomLetters } from "../office/letters.ts";
import type { Room } from "../room/room.ts";
import { type Any, call, newPerson, newSpace, newWorkspace, type Party, roomStub } from "./client.ts";
import { evict } from "./judge.ts";
import { sql } from "./room.ts";

export interface TeamRoom {
  workspace: string;
  owner: Party;
  bob: Party;
  space: string;
  /** The agents of the team's people with their tokens, by handle. */
  team: Record<string, Party>;
}

const numbers = new Map<string, number>();

/** A letter as the board or an office sends it; the next number of that sender unless one is named. */
export async function deliver<K extends keyof RoomLetters>(
  workspace: string,
  source: Address,
  kind: K,
  body: RoomLetters[K],
  n?: number,
): Promise<void> {
  const key = `${workspace} ${source}`;
  const number = n ?? (numbers.get(key) ?? 0) + 1;
  numbers.set(key, Math.max(number, numbers.get(key) ?? 0));
  await roomStub(workspace).take(source, [{ n: number, kind, body }]);
}

export const person = (handle: string) => ({
  handle,
  name: handle.charAt(0).toUpperCase() + handle.slice(1),
});

/** The config's people, as the board tells the room. */
export async function setTeam(workspace: string, ...handles: string[]): Promise<void> {
  await deliver(workspace, "board", "people", { people: handles.map(person) });
}

export async function agentIds(workspace: string): Promise<Record<string, string>> {
  const rows = await sql<{ id: string; office_handle: string }>(
    workspace,
    "SELECT id, office_handle FROM participants WHERE office_handle IS NOT NULL",
  );
  return Object.fromEntries(rows.map((row) => [row.office_handle, row.id]));
}

export async function tokenFor(owner: Party, handle: string): Promise<string> {
  const asked = { person: handle, scopes: ["agent"] };
  const { status, body } = await call("POST", "/v1/tokens", { token: owner.token, body: asked });
  if (status !== 201) throw new Error(`no token: ${JSON.stringify(body)}`);
  return body.token;
}

/** A workspace with Bob and a team whose people are in a space; what the room writes to the office waits. */
export async function teamRoom(...handles: string[]): Promise<TeamRoom> {
  const { id: workspace, owner } = await newWorkspace();
  await holdLetters(workspace);
  await setTeam(workspace, ...handles);
  const ids = await agentIds(workspace);
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id, ...Object.values(ids)]);
  const team: Record<string, Party> = {};
  for (const handle of handles)
    team[handle] = { id: ids[handle] ?? "", token: await tokenFor(owner, handle) };
  return { workspace, owner, bob, space, team };
}

/** Nothing that the room writes is taken in from now on: the others are out of reach. */
export async function holdLetters(workspace: string): Promise<void> {
  await runInDurableObject(roomStub(workspace), (room: Room) => {
    room.send = () => Promise.reject(new Unreachable());
  });
}

// What these tests break on purpose is no news; any other fault is shown.
const shown = console.error.bind(console);
console.error = (...said: unknown[]) => {
  if (!String(said[0]).includes('"Unreachable"')) shown(...said);
};

class Unreachable extends Error {
  override name = "Unreachable";
}

/** Takes the object out of memory, and keeps its letters from leaving. */
export async function evictHeld(workspace: string): Promise<void> {
  await evict(workspace);
  await holdLetters(workspace);
}

export interface Sent {
  target: string;
  letter: Letter;
}

/** Lets every letter that waits leave, and hands back what was sent until none is left. */
export async function sentBy(workspace: string): Promise<Sent[]> {
  const sent: Sent[] = [];
  await runInDurableObject(roomStub(workspace), async (room: Room, { storage }) => {
    room.send = async (_, target, letters) => {
      sent.push(...letters.map((letter) => ({ target, letter })));
      return true;
    };
    const waits = () => storage.sql.exec("SELECT 1 FROM outbox").toArray().length > 0;
    storage.sql.exec("UPDATE alarms SET due_at = 0 WHERE name = 'outbox'");
    while (waits()) {
      await room.alarm();
      await scheduler.wait(0);
    }
  });
  return sent;
}

/** The letters that wait to leave, oldest first. */
export async function waiting(workspace: string, kind?: string): Promise<Any[]> {
  const rows = await sql<{ target: string; kind: string; body: string }>(
    workspace,
    "SELECT target, kind, body FROM outbox ORDER BY n",
  );
  return rows
    .filter((row) => kind === undefined || row.kind === kind)
    .map((row) => ({ target: row.target, kind: row.kind, ...JSON.parse(row.body) }));
}

/** Forgets the letters that wait, so that a test looks at what comes next. */
export async function clearLetters(workspace: string): Promise<void> {
  await sql(workspace, "DELETE FROM outbox");
  await sql(workspace, "DELETE FROM outbox_waits");
}
