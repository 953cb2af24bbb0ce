/** Sockets of the suite: frames are collected as they come, and waiting is for a frame, never for a time. */
import * as nodeHttp from "node:http";
import * as nodeHttps from "node:https";
import { newId } from "../../src/sdk/ids.ts";
import { deployment } from "./deployment.ts";
import { type Any, newWatch, problem, textSeen } from "./see.ts";

export interface Closed {
  code: number;
  reason: string;
}

export interface Socket {
  readonly ws: WebSocket;
  /** Every frame that came, arrays opened, in order; `pong` as {type: "pong"}. */
  readonly frames: Any[];
  /** How many frames came as arrays. */
  arrays: number;
  readonly closed: Promise<Closed>;
  send(frame: unknown): void;
  /** The first frame from `from` on that fits; fails when the socket closes before one comes. */
  next(fits: (frame: Any) => boolean, from?: number): Promise<Any>;
  /** The first frame of a type. */
  type(type: string, from?: number): Promise<Any>;
  /** Sends a frame with an id and waits for what answers it. */
  ask(frame: Any): Promise<Any>;
  /** Comes back when everything that the server had to send by now has come. Writes nothing. */
  fence(): Promise<void>;
  /** The logged events among the frames. */
  events(): Any[];
  close(): Promise<Closed>;
}

const openSockets = new Set<WebSocket>();

export function closeSockets(): void {
  for (const ws of openSockets) ws.close();
  openSockets.clear();
}

/** A socket with a token as the subprotocol, as browsers bring it (AUTH-1). */
export async function open(token: string): Promise<Socket> {
  const ws = new WebSocket(`${deployment.url.replace(/^http/, "ws")}/v1/connect`, [
    "bullpen.v1",
    `bearer.${token}`,
  ]);
  openSockets.add(ws);
  ws.binaryType = "arraybuffer";
  const socket = watched(ws);
  await new Promise<void>((resolve, reject) => {
    ws.addEventListener("open", () => resolve(), { once: true });
    ws.addEventListener("error", () => reject(new Error("the upgrade was refused")), { once: true });
  });
  return socket;
}

/** Connects, says hello, waits until it has caught up. */
export async function connect(by: { token: string }, hello: object = {}): Promise<Socket> {
  const socket = await open(by.token);
  const welcome = await socket.ask({ v: 1, type: "hello", id: newId("evt"), ...hello });
  if (welcome.type !== "welcome") throw new Error(`not welcome: ${JSON.stringify(welcome)}`);
  await socket.type("caught_up");
  return socket;
}

function watched(ws: WebSocket): Socket {
  const frames: Any[] = [];
  const watch = newWatch();
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  let ended: Closed | undefined;
  const closed = new Promise<Closed>((resolve) => {
    ws.addEventListener("close", ({ code, reason }) => {
      ended = { code, reason };
      openSockets.delete(ws);
      resolve(ended);
      wake();
    });
  });
  ws.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") problem("a binary frame came (CONN-1)");
    const text = String(data);
    if (text === "pong") frames.push({ type: "pong" });
    else {
      const parsed: unknown = JSON.parse(text);
      const isArray = Array.isArray(parsed);
      const came: Any[] = isArray ? parsed : [parsed];
      if (isArray) socket.arrays += 1;
      textSeen(watch, text, came, isArray);
      frames.push(...came);
    }
    wake();
  });
  const socket: Socket = {
    ws,
    frames,
    arrays: 0,
    closed,
    send(frame) {
      if (isBatchHello(frame)) watch.batch = true;
      ws.send(typeof frame === "string" || frame instanceof Uint8Array ? frame : JSON.stringify(frame));
    },
    next: (fits, from = 0) =>
      new Promise((resolve, reject) => {
        let at = from;
        const check = () => {
          for (; at < frames.length; at += 1) {
            if (!fits(frames[at])) continue;
            waiting.delete(check);
            resolve(frames[at]);
            return;
          }
          if (!ended) return;
          waiting.delete(check);
          const last = JSON.stringify(frames.slice(-3)).slice(0, 600);
          reject(new Error(`closed with ${ended.code} ${ended.reason} while waiting; last came ${last}`));
        };
        waiting.add(check);
        check();
      }),
    type: (type, from) => socket.next((f) => f.type === type, from),
    async ask(frame) {
      const from = frames.length;
      socket.send(frame);
      return socket.next((f) => f.of === frame.id, from);
    },
    async fence() {
      await socket.ask({ v: 1, type: "no.such.type", id: newId("evt") });
    },
    events: () => frames.filter((f) => typeof f.seq === "number" && f.actor !== undefined),
    async close() {
      ws.close(1000, "done");
      return closed;
    },
  };
  return socket;
}

function isBatchHello(frame: unknown): boolean {
  const { type, can } = (frame ?? {}) as Any;
  return type === "hello" && Array.isArray(can) && can.includes("batch");
}

export interface Upgrade {
  status: number;
  headers: nodeHttp.IncomingHttpHeaders;
  body: Any;
}

/** An upgrade by hand, with whatever headers: what was answered, 101 or a refusal. */
export function upgrade(headers: Record<string, string>, path = "/v1/connect"): Promise<Upgrade> {
  const url = new URL(path, deployment.url);
  const { request } = url.protocol === "https:" ? nodeHttps : nodeHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    sent.on("error", reject);
    sent.on("upgrade", (response, stream) => {
      stream.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: undefined });
    });
    sent.on("response", (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        const text = Buffer.concat(parts).toString();
        const isJson = response.headers["content-type"]?.includes("json") === true;
        const body: unknown = isJson ? JSON.parse(text) : text;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.end();
  });
}
