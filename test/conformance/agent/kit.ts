/** The black-box client of the agent protocol: a team, its people's tokens, and sockets that speak version 3. */
import { randomUUID } from "node:crypto";
import { validateAgentFrame } from "../../support/validate.ts";
import { deployment } from "../deployment.ts";
import { type Any, call, newSpace, newWorkspace, type Party, post, type Workspace } from "../kit.ts";
import { problem } from "../see.ts";

export const VERSION = 3;

export interface Team extends Workspace {
  /** The space for notices. */
  notify: string;
  /** Tokens by handle. */
  tokens: Record<string, string>;
}

/** The least team: the owner is its lead, and its people have the role dev. */
export function config(owner: Party, notify: string, people: string[], more: object = {}): Any {
  return {
    version: 1,
    key: "BP",
    notify,
    humans: [{ name: "Anna", user: owner.id, lead: true, identities: { github: "anna", jira: "anna" } }],
    roles: { dev: { title: "Developer", summary: "Writes code" } },
    people: people.map((handle) => ({
      handle,
      name: handle.charAt(0).toUpperCase() + handle.slice(1),
      role: "dev",
      model: "m-1",
      runtime: "script",
      identities: { github: `${handle}-bot`, jira: handle },
    })),
    repositories: [{ repo: "acme/shop", base: "main" }],
    ...more,
  };
}

export async function putTeam(owner: Party, document: unknown, version?: string) {
  return call("PUT", "/v1/team", {
    token: owner.token,
    body: document,
    headers: version === undefined ? {} : { "if-match": version },
  });
}

/** A workspace with a team whose people have tokens. */
export async function newTeam(people: string[], more: object = {}): Promise<Team> {
  const workspace = await newWorkspace("Anna");
  const notify = await newSpace(workspace.owner, "Notices");
  const put = await putTeam(workspace.owner, config(workspace.owner, notify, people, more));
  if (put.status !== 200) throw new Error(`no team: ${put.status} ${JSON.stringify(put.body)}`);
  const tokens: Record<string, string> = {};
  for (const handle of people) tokens[handle] = await agentToken(workspace.owner, handle);
  return { ...workspace, notify, tokens };
}

export async function agentToken(owner: Party, person: string): Promise<string> {
  const made = await post(owner, "/v1/tokens", { person, scopes: ["agent"] });
  if (made.status !== 201) throw new Error(`no token: ${made.status} ${JSON.stringify(made.body)}`);
  return made.body.token;
}

export interface AgentSocket {
  readonly ws: WebSocket;
  readonly frames: Any[];
  readonly closed: Promise<{ code: number; reason: string }>;
  send(frame: unknown): void;
  next(fits: (frame: Any) => boolean, from?: number): Promise<Any>;
  type(type: string, from?: number): Promise<Any>;
  /** Sends a request and waits for the one frame that answers it. */
  ask(type: string, payload?: object, id?: string): Promise<Any>;
  /** A request that must be refused; its error's payload. */
  refused(type: string, payload?: object): Promise<{ code: string; message: string }>;
  /** Comes back when everything that the office had to send by now has come. */
  fence(): Promise<void>;
}

/** An upgraded socket that has said nothing yet. */
export async function openAgent(workspace: string, handle: string): Promise<AgentSocket> {
  const ws = new WebSocket(
    `${deployment.url.replace(/^http/, "ws")}/v1/workspaces/${workspace}/people/${handle}/agent`,
  );
  const socket = watched(ws);
  await new Promise<void>((resolve, reject) => {
    ws.addEventListener("open", () => resolve(), { once: true });
    ws.addEventListener("error", () => reject(new Error("the upgrade was refused")), { once: true });
  });
  return socket;
}

export const hello = (person: string, token: string, more: object = {}) => ({
  person,
  token,
  protocolVersion: VERSION,
  agentVersion: "conformance",
  ...more,
});

export interface Agent extends AgentSocket {
  welcome: Any;
}

/** A connected agent of the team. */
export async function connectAgent(team: Team, handle: string): Promise<Agent> {
  const socket = await openAgent(team.id, handle);
  const { type, payload } = await socket.ask("hello", hello(handle, team.tokens[handle] ?? ""));
  if (type !== "welcome") throw new Error(`not welcome: ${JSON.stringify(payload)}`);
  return Object.assign(socket, { welcome: payload });
}

/** Work for somebody, put into their queue by the owner. */
export async function addItem(team: Team, handle: string, title: string, more: object = {}): Promise<Any> {
  const made = await post(team.owner, `/v1/people/${handle}/items`, { title, ...more });
  if (made.status !== 201) throw new Error(`no item: ${made.status} ${JSON.stringify(made.body)}`);
  return made.body.item;
}

/** Waits for the offer of an item, or of any. */
export async function offered(agent: AgentSocket, id?: string, from = 0): Promise<Any> {
  const frame = await agent.next(
    (f) => f.type === "offer" && (id === undefined || f.payload.workItem.id === id),
    from,
  );
  return frame.payload;
}

export async function accept(agent: AgentSocket, workItemId: string): Promise<void> {
  const { type, payload } = await agent.ask("accept", { workItemId, runtime: "script", model: "m-1" });
  if (type !== "ack") throw new Error(`not accepted: ${JSON.stringify(payload)}`);
}

/** An item that somebody is at work on. */
export async function atWork(
  team: Team,
  agent: AgentSocket,
  handle: string,
  title = "Work",
  more: object = {},
) {
  const from = agent.frames.length;
  const item = await addItem(team, handle, title, more);
  await offered(agent, item.id, from);
  await accept(agent, item.id);
  return item.id as string;
}

export const handback = (workItemId: string, more: object = {}) => ({
  workItemId,
  summary: "It is done.",
  links: [],
  status: "done",
  toReview: ["a text"],
  ...more,
});

function watched(ws: WebSocket): AgentSocket {
  const frames: Any[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  let ended: { code: number; reason: string } | undefined;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.addEventListener("close", ({ code, reason }) => {
      ended = { code, reason };
      resolve(ended);
      wake();
    });
  });
  ws.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return problem("a binary frame came (OFF-1)");
    if (Buffer.byteLength(data) > 1_048_576) problem("a frame over 1 MiB came (OFF-1)");
    const frame: Any = JSON.parse(data);
    for (const text of validateAgentFrame(frame)) problem(`${text}: ${data.slice(0, 300)}`);
    if (/\bat \w+ \(|\.ts:\d+|SQLITE|node_modules/.test(JSON.stringify(frame.type === "error" ? frame : "")))
      problem(`shows the inside: ${data.slice(0, 300)}`);
    if (frame.replyTo !== undefined && frames.some((f) => f.replyTo === frame.replyTo && f.id === frame.id))
      problem(`a second answer to ${frame.replyTo} (OFF-1)`);
    frames.push(frame);
    wake();
  });
  const socket: AgentSocket = {
    ws,
    frames,
    closed,
    send: (frame) =>
      ws.send(typeof frame === "string" || frame instanceof Uint8Array ? frame : JSON.stringify(frame)),
    next: (fits, from = 0) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = frames.slice(from).find(fits);
          if (found === undefined && !ended) return;
          waiting.delete(check);
          if (found === undefined)
            reject(
              new Error(
                `closed with ${ended?.code} ${ended?.reason} while waiting; last came ${JSON.stringify(frames.slice(-3)).slice(0, 600)}`,
              ),
            );
          else resolve(found);
        };
        waiting.add(check);
        check();
      }),
    type: (type, from) => socket.next((f) => f.type === type, from),
    async ask(type, payload = {}, id = randomUUID()) {
      const from = frames.length;
      socket.send({ id, type, payload });
      return socket.next((f) => f.replyTo === id, from);
    },
    async refused(type, payload = {}) {
      const answer = await socket.ask(type, payload);
      if (answer.type !== "error") throw new Error(`${type} was taken: ${JSON.stringify(answer.payload)}`);
      return answer.payload;
    },
    async fence() {
      await socket.ask("ping");
    },
  };
  return socket;
}
