/** What the tests of context streams drive an office with: appends, reads, sockets that follow. */
import { runInDurableObject } from "cloudflare:test";
import type { ContextItem } from "../../src/shared/wire/context/item.ts";
import type { Identity } from "../office/letters.ts";
import type { Office } from "../office/office.ts";
import type { FollowAsk } from "../office/streams/part.ts";
import { type Any, newId } from "./client.ts";
import { Agent, ANNA, anOffice, type Desk } from "./office.ts";
import { later } from "./time.ts";

/** A person whose streams are run by a process that follows. */
export function aStreamed(more: object = {}): Promise<Desk> {
  return anOffice({ people: [{ handle: "scout", name: "Scout", role: "dev", runtime: "stream" }], ...more });
}

/** The agent of an office, by its token. */
export function agentOf(desk: Desk): Identity {
  return {
    participantId: newId("agt"),
    tokenId: newId("tok"),
    kind: "agent",
    name: desk.handle,
    role: null,
    scopes: ["agent"],
    handle: desk.handle,
  };
}
/** Another person of the workspace. */
export const BEN: Identity = {
  ...ANNA,
  participantId: newId("usr"),
  tokenId: newId("tok"),
  name: "Ben",
  role: "member",
};
/** A token of the owner's with the scope admin alone. */
export const PLATFORM: Identity = { ...ANNA, tokenId: newId("tok"), scopes: ["admin"] };
/** A hook's token of a source. */
export function hookOf(source: string): Identity {
  return {
    ...ANNA,
    tokenId: newId("tok"),
    kind: "person",
    scopes: ["hook"],
    hook: { source, types: ["a.b"] },
  };
}

export const anItem = (item: Partial<ContextItem> & { content: string }, idempotencyKey?: string): Any => ({
  type: "context-item",
  payload: { role: "user", ...item },
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
});
/** An answer to a request and its settlement, as one batch. */
export const anAnswer = (request: number, content = "Done.", more: object = {}): Any[] => [
  anItem({ role: "assistant", content, llmRequestOffset: request }),
  anEvent("llm-request-succeeded", { requestOffset: request, ...more }),
];
export const anEvent = (type: string, payload: object = {}): Any => ({ type, payload });

/** Appends; the offsets, or the refusal. */
export async function tryAppend(desk: Desk, by: Identity, events: Any[], item = ""): Promise<Any> {
  return desk.stub.appendEvents(by, item, events);
}
export async function append(desk: Desk, by: Identity, events: Any[], item = ""): Promise<number[]> {
  const answer = await tryAppend(desk, by, events, item);
  if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer.value.offsets;
}
export async function refusal(desk: Desk, by: Identity, events: Any[], item = ""): Promise<Any> {
  const answer = await tryAppend(desk, by, events, item);
  if (answer.ok) throw new Error(`was taken: ${JSON.stringify(answer.value)}`);
  return answer.error;
}

/** Raw events after an offset. */
export async function eventsOf(desk: Desk, after = 0, item = "", limit = 1000): Promise<Any[]> {
  const page = (await desk.stub.readStream(ANNA, item, { after, limit })) as Any;
  if (!page.ok) throw new Error(page.error.message);
  return JSON.parse(page.value).events;
}
export async function history(desk: Desk, at?: number, item = ""): Promise<Any> {
  return JSON.parse(await bytesOf(desk.stub.history(ANNA, item, at)));
}
export async function prompt(desk: Desk, format: Any = "openai", at?: number, item = ""): Promise<string> {
  return bytesOf(desk.stub.prompt(ANNA, item, format, at));
}
async function bytesOf(answer: unknown): Promise<string> {
  const read = (await answer) as Any;
  if (!read.ok) throw new Error(`${read.error.code}: ${read.error.message}`);
  return new Response(read.value).text();
}

/** The open request, once there is one: the office opens it by an alarm. */
export async function opened(desk: Desk, item = ""): Promise<{ offset: number; trigger: number }> {
  const { open } = await history(desk, undefined, item);
  if (!open) throw new Error("no request is open");
  return open;
}

/** Drops what an office keeps of reduced states, in memory and in rows. */
export async function dropStates(desk: Desk): Promise<void> {
  await runInDurableObject(desk.stub, (_office: Office, { storage }) => {
    storage.sql.exec("DELETE FROM stream_states");
  });
}

/** A socket that follows a stream: its frames, and waiting for one. */
export async function follow(desk: Desk, by: Identity = ANNA, after = 0, item = ""): Promise<Agent> {
  const response = await upgrade(desk, by, after, item);
  if (!response.webSocket) throw new Error(`no socket: ${response.status} ${await response.text()}`);
  return new Agent(response.webSocket);
}
export async function upgrade(desk: Desk, by: Identity, after = 0, item = ""): Promise<Response> {
  const asked: FollowAsk = { by, item, after, subprotocol: false };
  return desk.stub.fetch("https://office/live", {
    headers: { upgrade: "websocket", "bullpen-live": encodeURIComponent(JSON.stringify(asked)) },
  });
}

export const interrupts = (content: string): Any =>
  anItem({ content, llmRequestPolicy: { behaviour: "interrupt-current-request" } });
export const fails = (requestOffset: number, reason = "429"): Any =>
  anEvent("llm-request-failed", { requestOffset, reason });
export async function requestsOf(desk: Desk, item = ""): Promise<Any[]> {
  return (await eventsOf(desk, 0, item)).filter((e) => e.type === "llm-request-requested");
}

/** After so long what was asked is opened: the debounce and a little, ms. */
export const TURN = 300;
/** Asks and waits until the request is open; its offset. */
export async function asked(desk: Desk, content = "hello"): Promise<number> {
  await append(desk, ANNA, [anItem({ content })]);
  await later(desk, TURN);
  return (await opened(desk)).offset;
}
