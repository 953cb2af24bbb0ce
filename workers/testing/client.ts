/** What the tests in workerd drive the Worker with: HTTP, sockets, and waiting for frames. */
import { env, exports } from "cloudflare:workers";
import { ulid } from "ulid";
// oxlint-disable-next-line import/no-unassigned-import -- else the first test of a file spends its time on it
import "../gateway/index.ts";

export const ORIGIN = "https://bullpen.test";
export const ADMIN_TOKEN = "test-admin-token";

/** A frame or body whose shape the test itself looks at. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests read what they assert on
export type Any = any;

export function newId(prefix: string): string {
  return `${prefix}_${ulid()}`;
}

export async function call(
  method: string,
  path: string,
  options: { token?: string; body?: unknown; raw?: BodyInit; headers?: Record<string, string> } = {},
): Promise<{ status: number; headers: Headers; body: Any }> {
  const headers = new Headers(options.headers);
  if (options.token !== undefined) headers.set("authorization", `Bearer ${options.token}`);
  const init: RequestInit = { method, headers };
  if (options.raw !== undefined) init.body = options.raw;
  else if (options.body !== undefined) {
    init.body = JSON.stringify(options.body);
    headers.set("content-type", "application/json");
  }
  const response = await exports.default.fetch(new Request(`${ORIGIN}${path}`, init));
  const text = await response.text();
  let body: Any = text;
  if (response.headers.get("content-type")?.startsWith("application/json")) body = JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

export interface Workspace {
  id: string;
  owner: Party;
}
export interface Party {
  id: string;
  token: string;
}

export async function newWorkspace(): Promise<Workspace> {
  const made = await call("POST", "/v1/workspaces", {
    token: ADMIN_TOKEN,
    body: { name: "Test", owner_name: "Ada" },
  });
  if (made.status !== 201) throw new Error(`no workspace: ${JSON.stringify(made.body)}`);
  return {
    id: made.body.workspace_id,
    owner: { id: made.body.owner.participant_id, token: made.body.token },
  };
}

/** Somebody new by an invite. */
export async function newPerson(
  owner: Party,
  name: string,
  role = "member",
  spaceIds: string[] = [],
): Promise<Party> {
  const invite = await call("POST", "/v1/invites", {
    token: owner.token,
    body: { role, space_ids: spaceIds },
  });
  const secret = String(invite.body.link).split("#invite=")[1];
  const redeemed = await call("POST", "/v1/invites/redeem", {
    body: { secret, display_name: name, idempotency_key: newId("evt") },
  });
  if (redeemed.status !== 201) throw new Error(`no person: ${JSON.stringify(redeemed.body)}`);
  return { id: redeemed.body.participant.participant_id, token: redeemed.body.token };
}

export async function newHarness(owner: Party, name: string): Promise<Party> {
  const made = await call("POST", "/v1/harnesses", { token: owner.token, body: { name } });
  return { id: made.body.participant_id, token: made.body.token };
}

/** A verb with an id and a key. */
export function verb(type: string, fields: object = {}): Any {
  return { v: 1, type, id: newId("evt"), idempotency_key: newId("evt"), ...fields };
}

/** Sends one verb over HTTP and hands back its receipt; a refusal is thrown as its code. */
export async function send(by: Party, type: string, fields: object = {}): Promise<Any> {
  const { body } = await call("POST", "/v1/events", { token: by.token, body: verb(type, fields) });
  if (body.type === "error") throw new Error(`${body.code}: ${body.message}`);
  return body.receipts[0];
}

/** Sends one verb that must be refused; hands back the error. */
export async function refused(by: Party, type: string, fields: object = {}): Promise<Any> {
  const { body } = await call("POST", "/v1/events", { token: by.token, body: verb(type, fields) });
  if (body.type !== "error") throw new Error(`was taken: ${JSON.stringify(body)}`);
  return body;
}

export async function newSpace(
  owner: Party,
  title: string,
  members: string[] = [],
  more: object = {},
): Promise<string> {
  const { space_id } = await send(owner, "space.create", { title, ...more });
  for (const participant_id of members) await send(owner, "member.add", { space_id, participant_id });
  return space_id;
}

export async function say(by: Party, space_id: string, text: string, more: object = {}): Promise<Any> {
  return send(by, "message.post", { space_id, text, ...more });
}

export interface Socket {
  readonly ws: WebSocket;
  /** Every frame that came, arrays opened, in order. */
  readonly frames: Any[];
  closed: Promise<{ code: number; reason: string }>;
  send(frame: unknown): void;
  /** The first frame, from `from` on, that fits; waits for it. */
  next(fits: (frame: Any) => boolean, from?: number): Promise<Any>;
  /** Sends a frame with an id and waits for what answers it. */
  ask(frame: Any): Promise<Any>;
}

export async function open(token: string, path = "/v1/connect"): Promise<Socket> {
  const response = await exports.default.fetch(
    new Request(`${ORIGIN}${path}`, {
      headers: { upgrade: "websocket", "sec-websocket-protocol": `bullpen.v1, bearer.${token}` },
    }),
  );
  const ws = response.webSocket;
  if (!ws) throw new Error(`no socket: ${response.status} ${await response.text()}`);
  const frames: Any[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    waiting.forEach((check) => check());
  };
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.addEventListener("close", (event) => {
      resolve({ code: event.code, reason: event.reason });
      wake();
    });
  });
  ws.addEventListener("message", (event) => {
    const text = String(event.data);
    if (text === "pong") frames.push({ type: "pong" });
    else {
      const parsed: unknown = JSON.parse(text);
      frames.push(...(Array.isArray(parsed) ? parsed : [parsed]));
    }
    wake();
  });
  ws.accept();
  const socket: Socket = {
    ws,
    frames,
    closed,
    send: (frame) => ws.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
    next: (fits, from = 0) =>
      new Promise((resolve) => {
        const check = () => {
          const found = frames.slice(from).find(fits);
          if (found === undefined) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
    async ask(frame) {
      socket.send(frame);
      return socket.next((f) => f.of === frame.id);
    },
  };
  return socket;
}

/** Connects, says hello, waits until it has caught up. */
export async function connect(by: Party, hello: object = {}): Promise<Socket> {
  const socket = await open(by.token);
  const welcome = await socket.ask({ v: 1, type: "hello", id: newId("evt"), ...hello });
  if (welcome.type !== "welcome") throw new Error(`not welcome: ${JSON.stringify(welcome)}`);
  await socket.next((f) => f.type === "caught_up");
  return socket;
}

export function roomStub(workspaceId: string) {
  return env.ROOM.getByName(workspaceId);
}
