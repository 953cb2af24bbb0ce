/** Stand-ins for the ends of the SDK: a clock that tests move, and a room's server in this process. */
import type { Clock } from "../../src/sdk/clock.ts";
import type { SocketConstructor, SocketEvent, SocketLike } from "../../src/sdk/connection.ts";

/** Lets everything run that is ready to. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export class FakeClock implements Clock {
  #now = Date.parse("2026-09-02T14:22:00.000Z");
  #timers: { at: number; run: () => void }[] = [];
  /** What chance says next: the middle, so that a wait is half its ceiling. */
  chance = 0.5;

  now = (): number => this.#now;
  random = (): number => this.chance;
  setTimeout = (run: () => void, ms: number): unknown => {
    // As the platforms have it: a time that is too long is none.
    const timer = { at: this.#now + (ms < 2 ** 31 ? ms : 1), run };
    this.#timers.push(timer);
    return timer;
  };
  clearTimeout = (handle: unknown): void => {
    this.#timers = this.#timers.filter((timer) => timer !== handle);
  };

  /** How many timers are still to come. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Moves time on, running what comes due in its order. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (;;) {
      const next = this.#timers.filter((timer) => timer.at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.clearTimeout(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settle();
    }
    this.#now = until;
  }
}

// biome-ignore format: one line each
export interface Sent { type: string; id: string; idempotency_key?: string; [field: string]: unknown }
type Answer = Record<string, unknown> | undefined;

/** One socket as the server sees it. */
export class FakeSocket implements SocketLike {
  readonly #listeners = new Map<string, ((event: SocketEvent) => void)[]>();
  /** Every frame from the client, decoded; a `ping` as it is. */
  readonly sent: (Sent | "ping")[] = [];
  closedByClient: { code?: number; reason?: string } | undefined;
  readonly url: string;
  readonly protocols: string[];
  readonly #server: FakeServer;

  constructor(server: FakeServer, url: string, protocols: string[]) {
    this.#server = server;
    this.url = url;
    this.protocols = protocols;
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }
  send(text: string): void {
    const frame = text === "ping" ? text : (JSON.parse(text) as Sent);
    this.sent.push(frame);
    this.#server.receive(this, frame);
  }
  close(code?: number, reason?: string): void {
    this.closedByClient = { ...(code === undefined ? {} : { code }), ...(reason ? { reason } : {}) };
    this.emit("close", { code: code ?? 1005, reason: reason ?? "" });
  }
  emit(type: string, event: SocketEvent = {}): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }
  /** A frame, or several in one, to the client. */
  push(frame: object | object[]): void {
    this.emit("message", { data: JSON.stringify(frame) });
  }
  drop(code = 1006, reason = ""): void {
    this.emit("close", { code, reason });
  }
  of(type: string): Sent[] {
    return this.sent.filter((frame): frame is Sent => frame !== "ping" && frame.type === type);
  }
}

export const WS = "ws_01K4ZQPX000000000000000001";
export const SPACE = "spc_01K4ZQPX000000000000000002";
export const SPACE_2 = "spc_01K4ZQPX00000000000000000Z";
export const ADA = "usr_01K4ZQPX000000000000000003";
export const HARNESS = "hrn_01K4ZQPX000000000000000004";
export const SCOUT = "agt_01K4ZQPX000000000000000005";
export const QUILL = "agt_01K4ZQPX000000000000000006";

/** An id whose last characters say which it is. */
export function idOf(prefix: string, n: number): string {
  return `${prefix}_01K4ZQPX${String(n).padStart(18, "0")}`;
}

/** A server that welcomes, replays its log after a cursor, and answers each write once, by key (ENV-4). */
export class FakeServer {
  readonly sockets: FakeSocket[] = [];
  readonly log: Record<string, unknown>[] = [];
  /** Logged writes, in order, each once. */
  readonly writes: Sent[] = [];
  readonly #receipts = new Map<string, Record<string, unknown>>();
  seq = 0;
  cursor = 0;
  resume: "replay" | "reset" = "replay";
  agents: { agent_id: string; name: string }[] | undefined = [{ agent_id: SCOUT, name: "Scout" }];
  /** How an upgrade goes: `open`, `hang`, or refused with this close code. */
  upgrade: "open" | "hang" | "refuse" = "open";
  greets = true;
  pongs = true;
  /** Answers a write instead of a receipt; `"lost"` takes it in and answers nothing. */
  onWrite: (frame: Sent) => Answer | "lost" | "ignored" = () => undefined;

  /** What a receipt says beside the usual. */
  receiptOf: (frame: Sent) => Record<string, unknown> = () => ({});

  readonly WebSocket: SocketConstructor;

  constructor() {
    this.WebSocket = socketsOf(this);
  }

  /** The newest socket. */
  get socket(): FakeSocket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }

  receive(socket: FakeSocket, frame: Sent | "ping"): void {
    if (frame === "ping") {
      if (this.pongs) socket.emit("message", { data: "pong" });
    } else if (frame.type === "hello") this.#greet(socket, frame);
    else if (frame.type === "ack") this.cursor = frame["seq"] as number;
    else if (!["synced", "read", "typing"].includes(frame.type)) this.#write(socket, frame);
  }

  #greet(socket: FakeSocket, hello: Sent): void {
    if (!this.greets) return;
    socket.push({
      v: 1,
      type: "welcome",
      of: hello.id,
      workspace_id: WS,
      participant: { participant_id: HARNESS, kind: "harness", name: "Crew" },
      ...(this.agents ? { agents: this.agents } : {}),
      spaces: [],
      head_seq: this.seq,
      resume: this.resume,
      limits: { frame_bytes: 1024 * 1024, context_lines: 40, context_chars: 16_000 },
      ping_s: 30,
    });
    const after = (hello["after_seq"] as number | undefined) ?? this.cursor;
    if (this.resume === "replay")
      for (const event of this.log) if ((event["seq"] as number) > after) socket.push(event);
    socket.push({ v: 1, type: "caught_up", seq: this.seq });
  }

  #write(socket: FakeSocket, frame: Sent): void {
    const key = frame.idempotency_key ?? "";
    const known = this.#receipts.get(key);
    const answer = known ? undefined : this.onWrite(frame);
    if (answer === "ignored") return;
    if (typeof answer === "object") {
      socket.push({ v: 1, type: "error", of: frame.id, retryable: false, message: "Not so.", ...answer });
      return;
    }
    if (!known) {
      this.writes.push(frame);
      this.#receipts.set(key, {
        v: 1,
        type: "receipt",
        id: frame.id,
        seq: ++this.seq,
        ...this.receiptOf(frame),
      });
    }
    if (answer === "lost") return;
    const duplicate = known ? { duplicate: true } : {};
    socket.push({ ...this.#receipts.get(key), of: frame.id, ...duplicate });
  }

  /** The log gets an event; whoever is connected is sent it unless they are away. */
  append(event: Record<string, unknown>, { away = false } = {}): Record<string, unknown> {
    const seq = ++this.seq;
    const whole = {
      v: 1,
      id: idOf("evt", seq),
      ts: "2026-09-02T14:22:16.004Z",
      workspace_id: WS,
      space_id: SPACE,
      actor: { kind: "system", id: "system" },
      seq,
      ...event,
    };
    this.log.push(whole);
    if (!away) this.sockets.at(-1)?.push(whole);
    return whole;
  }

  /** A message for these takers. */
  say(text: string, fields: Record<string, unknown> = {}, options: { away?: boolean } = {}) {
    return this.append({ ...message(this.seq + 1, text), for: [SCOUT], ...fields }, options);
  }

  overhear(text: string, fields: Record<string, unknown> = {}, options: { away?: boolean } = {}) {
    const type = "message.overheard";
    return this.append({ ...message(this.seq + 1, text), type, for: [], ...fields }, options);
  }
}

/** A `WebSocket` whose every instance is the server's newest socket. */
function socketsOf(server: FakeServer): SocketConstructor {
  return class extends FakeSocket {
    constructor(url: string, protocols: string[]) {
      super(server, url, protocols);
      server.sockets.push(this);
      queueMicrotask(() => {
        if (server.upgrade === "open") this.emit("open");
        if (server.upgrade === "refuse") this.drop(1006);
      });
    }
  };
}

function message(n: number, text: string) {
  return {
    type: "message.new",
    message_id: idOf("msg", n),
    from: { participant_id: ADA, kind: "person", display_name: "Ada", role: "owner" },
    text,
  };
}

/** A `fetch` that answers by method and path, and keeps what it was asked. */
export function fakeFetch(routes: Record<string, (request: Request) => Response | Promise<Response>>) {
  const calls: { method: string; url: string; authorization: string | null }[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const authorization = request.headers.get("authorization");
    calls.push({ method: request.method, url: pathname + search, authorization });
    const route = routes[`${request.method} ${pathname}`];
    if (!route) throw new TypeError("fetch failed");
    return await route(request);
  };
  return { calls, fetch };
}
