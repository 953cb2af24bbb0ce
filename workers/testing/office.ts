/** What the tests of an Office drive it with: an office without a board, and an agent's socket. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { ulid } from "ulid";
import { expect, vi } from "vitest";
import { formatToken } from "../../src/shared/token.ts";
import type { PatchItem } from "../../src/shared/wire/office.ts";
import { type Team, team as teamSchema } from "../../src/shared/wire/team.ts";
import { CALLS } from "../office/calls.ts";
import type { Identity, OfferAnswer, OfferAsk, OfficeLetters, Wake } from "../office/letters.ts";
import type { Office } from "../office/office.ts";
import { type Any, newId } from "./client.ts";

export const PEOPLE = ["scout", "bob"] as const;

/** A team's config with the two people of the tests. */
export function aTeam(more: object = {}): Team {
  return teamSchema.parse({
    roles: { dev: { title: "Developer" } },
    people: PEOPLE.map((handle) => ({ handle, name: handle, role: "dev" })),
    humans: [{ name: "Anna", user: newId("usr"), lead: true }],
    ...more,
  });
}

/** What a board that agrees answers. */
export const STANDS: OfferAnswer = { stands: true, subjects: [], links: [] };

/**
 * Answers for the office's calls, until the tests of the file are over: every token that ends in a person's handle
 * is theirs, and the board lets every offer stand. Offices of earlier tests go on working; they are answered plainly.
 */
export function fakeCalls(offer: (ask: OfferAsk) => OfferAnswer | Promise<OfferAnswer> = () => STANDS): void {
  vi.spyOn(CALLS, "identify").mockImplementation(async (_env, _workspace, { tokenId, origin }) => {
    const handle = TOKENS.get(tokenId);
    if (!handle || !origin)
      return { ok: false, error: { code: "unauthenticated", message: "This token is not valid." } };
    return {
      ok: true,
      value: {
        participantId: newId("agt"),
        tokenId,
        kind: "agent",
        name: handle,
        role: null,
        scopes: ["harness"],
        handle,
      },
    };
  });
  const test = testName();
  vi.spyOn(CALLS, "offer").mockImplementation(async (_env, workspace, ask) => ({
    ok: true,
    value: MADE_IN.get(workspace) === test ? await offer(ask) : STANDS,
  }));
}
const TOKENS = new Map<string, string>();
/** The test that a workspace's offices are of. */
const MADE_IN = new Map<string, string | undefined>();
const testName = () => expect.getState().currentTestName;

export function aToken(workspace: string, handle: string): string {
  const rowUlid = ulid();
  TOKENS.set(`tok_${rowUlid}`, handle);
  return formatToken({ workspaceId: workspace, rowUlid, secret: "s".repeat(43) });
}

/** An office, and how letters reach it. */
export class Desk {
  readonly workspace: string;
  readonly handle: string;
  readonly token: string;
  #letters = 0;
  team: Team;
  version = 0;

  constructor(workspace: string, handle: string, team: Team) {
    this.workspace = workspace;
    this.handle = handle;
    this.team = team;
    this.token = aToken(workspace, handle);
    MADE_IN.set(workspace, testName());
  }

  get stub(): DurableObjectStub<Office> {
    return env.OFFICE.getByName(`${this.workspace}/${this.handle}`);
  }

  /** A letter of the board. */
  async letter<K extends keyof OfficeLetters>(kind: K, body: OfficeLetters[K]): Promise<void> {
    this.#letters += 1;
    await this.stub.take("board", [{ n: this.#letters, kind, body }]);
  }

  async setTeam(team: Team): Promise<void> {
    this.team = team;
    this.version += 1;
    await this.letter("team", {
      workspace: this.workspace,
      handle: this.handle,
      version: this.version,
      team,
    });
  }
}

export async function anOffice(more: object = {}, workspace = newId("ws"), handle = "scout"): Promise<Desk> {
  const desk = new Desk(workspace, handle, aTeam(more));
  await desk.setTeam(desk.team);
  return desk;
}

/** An agent's socket: every frame that came, and waiting for one. */
export class Agent {
  readonly ws: WebSocket;
  readonly frames: Any[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #waiting = new Set<() => void>();
  isClosed = false;

  constructor(ws: WebSocket) {
    this.ws = ws;
    this.closed = new Promise((resolve) => {
      ws.addEventListener("close", ({ code, reason }) => {
        this.isClosed = true;
        resolve({ code, reason });
        this.#wake();
      });
    });
    ws.addEventListener("message", ({ data }) => {
      this.frames.push(JSON.parse(String(data)));
      this.#wake();
    });
    ws.accept();
  }

  #wake(): void {
    for (const check of this.#waiting) check();
  }

  /** Sends a frame; its id. */
  say(type: string, payload: object = {}, more: object = {}): string {
    const frame = { id: newId("evt"), type, payload, ...more };
    this.ws.send(JSON.stringify(frame));
    return frame.id;
  }

  /** The first frame, from `from` on, that fits; a connection that ends brings no more. */
  next(fits: (frame: Any) => boolean, from = 0): Promise<Any> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = this.frames.slice(from).find(fits);
        if (found === undefined && !this.isClosed) return;
        this.#waiting.delete(check);
        if (found === undefined) reject(new Error("the connection ended"));
        else resolve(found);
      };
      this.#waiting.add(check);
      check();
    });
  }

  /** Sends a request and waits for its one answer. */
  async ask(type: string, payload: object = {}, more: object = {}): Promise<Any> {
    const id = this.say(type, payload, more);
    return this.next((f) => f.replyTo === id);
  }

  /** Asks and hands back the payload; an error is handed back as it is. */
  async must(type: string, payload: object = {}): Promise<Any> {
    const answer = await this.ask(type, payload);
    if (answer.type === "error")
      throw new Error(`${type}: ${answer.payload.code}: ${answer.payload.message}`);
    return answer.payload;
  }

  /** The newest offer of an item, from `from` on. */
  offer(from = 0): Promise<Any> {
    return this.next((f) => f.type === "offer", from).then((f) => f.payload);
  }
}

/** Opens a socket without saying anything. */
export async function opened(desk: Desk): Promise<Agent> {
  const response = await desk.stub.fetch("https://bullpen.test/agent", { headers: { upgrade: "websocket" } });
  if (!response.webSocket) throw new Error(`no socket: ${response.status}`);
  return new Agent(response.webSocket);
}

export function helloOf(desk: Desk, more: object = {}): object {
  return { person: desk.handle, token: desk.token, protocolVersion: 3, agentVersion: "test", ...more };
}

/** Connects and says hello; the welcome is the first frame. */
export async function connected(desk: Desk): Promise<Agent> {
  const agent = await opened(desk);
  const welcome = await agent.ask("hello", helloOf(desk));
  if (welcome.type !== "welcome") throw new Error(`not welcome: ${JSON.stringify(welcome)}`);
  return agent;
}

/** A person of the workspace. */
export const ANNA: Identity = {
  participantId: newId("usr"),
  tokenId: newId("tok"),
  kind: "person",
  name: "Anna",
  role: "owner",
  scopes: ["person"],
};

/** Puts an item into the queue by hand; its id. */
export async function queue(desk: Desk, title: string, more: object = {}): Promise<string> {
  const made = (await desk.stub.addItem(ANNA, { title, kind: "assigned", ...more })) as Any;
  if (!made.ok) throw new Error(made.error.message);
  return made.value.item.id;
}

/** What Anna does to an item. */
export async function patch(desk: Desk, id: string, asked: PatchItem): Promise<Any> {
  return desk.stub.patchItem(ANNA, id, asked);
}

/** The person as Anna sees them. */
export async function seen(desk: Desk): Promise<Any> {
  const answer = (await desk.stub.person(ANNA)) as Any;
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}
export async function itemOf(desk: Desk, id: string): Promise<Any> {
  return (await seen(desk)).items.find((i: Any) => i.id === id);
}

/** Waits until an item is offered, and accepts it; the offer. */
export async function take(agent: Agent, id: string, from = 0): Promise<Any> {
  const offer = await agent.next((f) => f.type === "offer" && f.payload.workItem.id === id, from);
  await agent.must("accept", { workItemId: id, runtime: "claude", model: "m" });
  return offer.payload;
}

export async function handback(agent: Agent, id: string, more: object = {}): Promise<Any> {
  return agent.must("handback", handbackOf(id, more));
}
export function handbackOf(id: string, more: object = {}): object {
  return {
    workItemId: id,
    summary: "It is done.",
    links: [],
    status: "done",
    toReview: ["a result"],
    ...more,
  };
}

/** A wake as the board writes it. */
export function wakeOf(more: Partial<Wake> = {}): Wake {
  return {
    key: newId("evt"),
    eventId: newId("evt"),
    rule: "a-rule",
    kind: "assigned",
    title: "Work",
    trigger: "human",
    refs: [],
    ...more,
  };
}
export async function wake(desk: Desk, more: Partial<Wake> = {}): Promise<void> {
  await desk.letter("wake", wakeOf(more));
}

/** Stops the clock an hour on, before anybody connects: alarms whose time was past would fire again and again. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
}

/** Waits until what an office wrote to others has been taken. */
export async function delivered(desk: Desk): Promise<void> {
  await eventually(async () => {
    const left = await runInDurableObject(desk.stub, (_, { storage }) =>
      storage.sql.exec("SELECT count(*) AS n FROM outbox").one(),
    );
    if (left["n"] === 0) return;
    await runDurableObjectAlarm(desk.stub);
    throw new Error("letters are under way");
  });
}

/** Fires the office's alarm as if it were so much later; the agent is heard before, unless it is silent. */
export async function later(desk: Desk, ms: number, agent?: Agent): Promise<void> {
  const id = newId("evt");
  await runInDurableObject(desk.stub, async (office: Office, state) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
    if (!agent) return;
    // In the same turn: an alarm of its own could come before a frame, and close what is silent (OFF-6).
    const beat = JSON.stringify({ id, type: "heartbeat", payload: {} });
    await Promise.all(state.getWebSockets().map((ws) => office.webSocketMessage(ws, beat)));
  });
  await agent?.next(({ replyTo }) => replyTo === id);
  await runDurableObjectAlarm(desk.stub);
}

/** In a fake call: waits for the test. A promise of the test's own would be of another object's context. */
export async function until(so: () => boolean): Promise<void> {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Waits until something holds that nothing tells of: letters that leave, rows that follow them. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 10_000, interval: 20 });
}
