/**
 * The black-box client of the suite: HTTP and sockets, nothing of the server's. Everything it sees is held
 * against what is true of every answer and every frame (see.ts); a problem fails the test that met it.
 */

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterEach } from "vitest";
import { newId as mint } from "../../src/sdk/ids.ts";
import type { IdPrefix } from "../../src/shared/wire/ids.ts";
import { deployment } from "./deployment.ts";
import { type Any, answerSeen, takeProblems } from "./see.ts";
import { closeSockets } from "./socket.ts";

export type { Any } from "./see.ts";
export { connect, open, type Socket, upgrade } from "./socket.ts";

export const { url: URL_UNDER_TEST, adminToken: ADMIN_TOKEN } = deployment;

afterEach(() => {
  closeSockets();
  const problems = takeProblems();
  if (problems.length > 0) throw new Error(`what was seen breaks the rules:\n${problems.join("\n")}`);
});

export const newId = (prefix: IdPrefix): string => mint(prefix);

/** What a body may be sent as. */
export type Raw = string | FormData | Uint8Array<ArrayBuffer>;

export interface Answer {
  status: number;
  headers: Headers;
  body: Any;
}

export interface CallOptions {
  token?: string | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: Raw;
  headers?: Record<string, string>;
}

/** One request; the answer's body is JSON where it says that it is. */
export async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const headers = new Headers(options.headers);
  if (options.token !== undefined) headers.set("authorization", `Bearer ${options.token}`);
  const init: RequestInit = { method, headers, redirect: "manual" };
  if (options.raw !== undefined) init.body = options.raw;
  else if (options.body !== undefined) {
    init.body = JSON.stringify(options.body);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
  }
  const response = await fetch(`${deployment.url}${path}`, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("application/json") === true && text !== "";
  const body: Any = isJson ? JSON.parse(text) : text;
  const answer = { status: response.status, headers: response.headers, body };
  answerSeen(method, path, answer);
  return answer;
}

export const get = (by: Party, path: string): Promise<Answer> => call("GET", path, { token: by.token });
export const post = (by: Party, path: string, body: unknown): Promise<Answer> =>
  call("POST", path, { token: by.token, body });
export const del = (by: Party, path: string): Promise<Answer> => call("DELETE", path, { token: by.token });

/** Somebody with a token: a person or a harness. */
export interface Party {
  id: string;
  token: string;
}
export interface Workspace {
  id: string;
  owner: Party;
}

/** A workspace of one's own: what one test does is nothing to another. */
export async function newWorkspace(ownerName = "Ada"): Promise<Workspace> {
  const made = await call("POST", "/v1/workspaces", {
    token: ADMIN_TOKEN,
    body: { name: "Conformance", owner_name: ownerName },
  });
  if (made.status !== 201) throw new Error(`no workspace: ${made.status} ${JSON.stringify(made.body)}`);
  return {
    id: made.body.workspace_id,
    owner: { id: made.body.owner.participant_id, token: made.body.token },
  };
}

/** A workspace that takes writes as fast as they come: for tests of many. */
export async function newFastWorkspace(): Promise<Workspace> {
  const made = await newWorkspace();
  await send(made.owner, "settings.set", { settings: { limits: { writes_per_s: 1000, burst: 10_000 } } });
  return made;
}

export const secretOf = (link: string): string => new URL(link).hash.replace(/^#\w+=/, "");

/** A person who comes in by an invite. */
export async function newPerson(
  by: Party,
  name: string,
  role: "admin" | "member" | "guest" = "member",
  spaceIds: string[] = [],
): Promise<Party> {
  const invite = await post(by, "/v1/invites", { role, space_ids: spaceIds });
  if (invite.status !== 201) throw new Error(`no invite: ${JSON.stringify(invite.body)}`);
  const redeemed = await call("POST", "/v1/invites/redeem", {
    body: { secret: secretOf(invite.body.link), display_name: name, idempotency_key: randomUUID() },
  });
  if (redeemed.status !== 201) throw new Error(`not let in: ${JSON.stringify(redeemed.body)}`);
  return { id: redeemed.body.participant.participant_id, token: redeemed.body.token };
}

export async function newHarness(by: Party, name: string): Promise<Party> {
  const made = await post(by, "/v1/harnesses", { name });
  if (made.status !== 201) throw new Error(`no harness: ${JSON.stringify(made.body)}`);
  return { id: made.body.participant_id, token: made.body.token };
}

/** A harness with agents that it declared, by name. */
export async function newAgents(by: Party, harnessName: string, ...names: string[]): Promise<Agents> {
  const harness = await newHarness(by, harnessName);
  const { agents } = await send(harness, "agent.declare", { agents: names.map((name) => ({ name })) });
  return { ...harness, agents: agents.map((a: Any) => a.agent_id) };
}
export interface Agents extends Party {
  /** The agents' ids in the order of their names. */
  agents: string[];
}
/** A verb as the agent of that index. */
export const as = (of: Agents, index = 0): { actor: Any } => ({
  actor: { kind: "agent", id: of.agents[index] },
});

/** A verb with an id and a key of its own. */
export function verb(type: string, fields: object = {}): Any {
  return { v: 1, type, id: newId("evt"), idempotency_key: randomUUID(), ...fields };
}

/** Writes one verb over HTTP and hands back its receipt; a refusal is thrown. */
export async function send(by: Party, type: string, fields: object = {}): Promise<Any> {
  const { status, body } = await post(by, "/v1/events", verb(type, fields));
  if (status !== 200) throw new Error(`${type} was refused: ${JSON.stringify(body)}`);
  return body.receipts[0];
}

/** Writes one verb that must be refused; hands back the error. */
export async function refused(by: Party, type: string, fields: object = {}): Promise<Any> {
  const { status, body } = await post(by, "/v1/events", verb(type, fields));
  if (status < 400) throw new Error(`${type} was taken: ${JSON.stringify(body)}`);
  return body;
}

export async function newSpace(by: Party, title: string, members: string[] = [], more = {}): Promise<string> {
  const { space_id } = await send(by, "space.create", { title, ...more });
  for (const participant_id of members) await send(by, "member.add", { space_id, participant_id });
  return space_id;
}

export const say = (by: Party, space_id: string, text: string, more: object = {}): Promise<Any> =>
  send(by, "message.post", { space_id, text, ...more });

/** Starts a run for messages, as a harness or as one of its agents; hands back its id. */
export async function startRun(
  by: Party,
  space_id: string,
  agent_id: string | undefined,
  message_ids: string[],
): Promise<string> {
  const run_id = newId("run");
  await send(by, "run.start", { run_id, space_id, message_ids, ...(agent_id ? { agent_id } : {}) });
  return run_id;
}

/** Everything that somebody is sent, read page by page over HTTP. */
export async function eventsOf(by: Party, after = 0): Promise<Any[]> {
  const all: Any[] = [];
  for (let at = after; ; ) {
    const { status, body } = await get(by, `/v1/events?after=${at}&limit=200`);
    if (status !== 200) throw new Error(`no events: ${JSON.stringify(body)}`);
    all.push(...body.events);
    at = body.next_after;
    if (at >= body.head_seq) return all;
  }
}

export const headOf = async (by: Party): Promise<number> =>
  (await get(by, "/v1/events?after=0&limit=1")).body.head_seq;

/** Posts many messages quickly, in arrays. */
export async function flood(by: Party, space_id: string, count: number, text = "x"): Promise<void> {
  for (let sent = 0; sent < count; sent += 100) {
    const size = Math.min(100, count - sent);
    const frames = Array.from({ length: size }, (_, i) =>
      verb("message.post", { space_id, text: `${text} ${sent + i}` }),
    );
    let answer = await post(by, "/v1/events", frames);
    // Too fast: the answer says when to try again, and the same frames are then taken (LIMIT-2).
    while (answer.status === 429) {
      await setTimeout(answer.body.retry_after_s * 1000);
      answer = await post(by, "/v1/events", frames);
    }
    if (answer.status !== 200) throw new Error(`flood: ${JSON.stringify(answer.body)}`);
  }
}

/** Ids in an order that two lists can be compared in. */
export const sorted = (ids: (string | undefined)[]): (string | undefined)[] =>
  ids.toSorted((a, b) => String(a).localeCompare(String(b), "en"));
