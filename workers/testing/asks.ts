/** What the tests of approvals and policy share: a run that asks, and what is read of it. */

import { type Any, call, newId, type Party, refused, send } from "./client.ts";
import { type Agents, agentsRoom } from "./judge.ts";

export interface Asking extends Agents {
  run: string;
}

/** A room of two agents, the first of them with a turn going. */
export async function askingRoom(names = ["Scout", "Otter"]): Promise<Asking> {
  const room = await agentsRoom(names);
  const run = await runOf(room, names[0] ?? "");
  return { ...room, run };
}

export async function runOf(room: Agents, name: string): Promise<string> {
  const run_id = newId("run");
  await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id: room.ids[name] });
  return run_id;
}

/** An ask's fields, harmless unless said otherwise. */
export function askFields(room: Asking, more: object = {}): Any {
  return {
    run_id: room.run,
    approval_id: newId("apr"),
    action: { kind: "file.write", input: { path: "notes.md" } },
    risk: [],
    expires_in: 3600,
    ...more,
  };
}

/** Asks, and hands back the ask's id with the receipt's word on it. */
export async function ask(room: Asking, more: object = {}): Promise<Any> {
  const fields = askFields(room, more);
  const { approval, seq } = await send(room.harness, "approval.request", fields);
  return { id: fields.approval_id, seq, ...approval };
}

export async function refusedAsk(room: Asking, more: object = {}): Promise<Any> {
  return refused(room.harness, "approval.request", askFields(room, more));
}

export async function decide(
  by: Party,
  approval_id: string,
  decision: string,
  more: object = {},
): Promise<Any> {
  return (await send(by, "approval.decide", { approval_id, decision, ...more })).approval;
}

export async function get(by: Party, path: string): Promise<Any> {
  return (await call("GET", path, { token: by.token })).body;
}

/** An ask as a party reads it; undefined where it does not see it. */
export async function read(by: Party, approvalId: string): Promise<Any> {
  const { items } = await get(by, "/v1/approvals?limit=200");
  return items.find((i: Any) => i.approval_id === approvalId);
}

/** Everything that a party is sent of the log. */
export async function events(by: Party): Promise<Any[]> {
  return (await get(by, "/v1/events?limit=200")).events;
}
