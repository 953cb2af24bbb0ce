/** The life of a room's socket: greeting, liveness, reconnecting. It knows nothing of what the frames say. */
import type { Hello, Welcome } from "../shared/wire/connection.ts";
import type { ErrorFrame } from "../shared/wire/errors.ts";
import type { ServerFrame } from "../shared/wire/index.ts";
import { fullJitter, reconnects, SLOW_DOWN } from "./backoff.ts";
import { type Clock, systemClock } from "./clock.ts";
import { asError, BullpenError, isErrorFrame } from "./errors.ts";
import { BullpenHttp, type Fetch } from "./http.ts";
import { newId } from "./ids.ts";

/** The part of a `WebSocket` that is used; the global one fits. */
export interface SocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: string, listener: (event: SocketEvent) => void): void;
}
export interface SocketEvent {
  data?: unknown;
  code?: number;
  reason?: string;
}
export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike;

/** What is left of `hello` when the frame's own fields are filled in. */
export type HelloFields = Omit<Hello, "v" | "type" | "id">;

/** How the connection stands. `stopped` is for good: nothing is tried after it. */
export type Status =
  | { state: "connecting"; attempt: number }
  | { state: "open"; welcome: Welcome }
  | { state: "waiting"; code: number; reason: string; retryInMs: number }
  | { state: "stopped"; error?: BullpenError };

export interface ConnectionOptions {
  /** The server's origin, http or https. */
  url: string;
  token: string;
  /** Asked at each connecting, so that it can say where to go on. */
  hello?: (() => HelloFields) | undefined;
  /** Every frame but `sync`, one by one also when they came in an array. */
  onFrame(frame: ServerFrame): void;
  onStatus?: ((status: Status) => void) | undefined;
  clock?: Clock | undefined;
  fetch?: Fetch | undefined;
  WebSocket?: SocketConstructor | undefined;
}

/** A socket that stays: it greets, answers, watches for silence and comes back (CONN-2 to CONN-10). */
export interface Connection {
  /** Sends a frame; false when there is no open connection to send it on. */
  send(text: string): boolean;
  /** Ends it for good. */
  close(): void;
}

/** What the server calls a connection that has said nothing it should have: also our own closing of one. */
const LOST = 1006;
const WELCOME_MS = 15_000;
const PONG_MS = 10_000;
/** Open for so long, a connection counts as good and the next wait starts small again. */
const STEADY_MS = 10_000;

/** Opens a connection that comes back by itself until it is closed or refused (CONN-8). */
export function openConnection(options: ConnectionOptions): Connection {
  const { url, token, clock = systemClock, hello = () => ({}) } = options;
  const Socket = options.WebSocket ?? (globalThis.WebSocket as unknown as SocketConstructor);
  const http = new BullpenHttp({ url, token, fetch: options.fetch });
  const address = http.url("/v1/connect").href.replace(/^http/, "ws");

  let socket: SocketLike | undefined;
  let ready = false;
  let stopped = false;
  let attempt = 0;
  let openedAt = 0;
  let heard = 0;
  let timer: unknown;

  /** One thing is waited for at a time: the welcome, the pong, the next ping, the next attempt. */
  function wait(ms: number, then: () => void): void {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(then, ms);
  }

  function stop(error?: BullpenError): void {
    if (stopped) return;
    stopped = true;
    ready = false;
    clock.clearTimeout(timer);
    options.onStatus?.({ state: "stopped", ...(error ? { error } : {}) });
  }

  function connect(): void {
    if (stopped) return;
    options.onStatus?.({ state: "connecting", attempt });
    const helloId = newId("evt", clock.now());
    let upgraded = false;
    let current: SocketLike;
    try {
      current = new Socket(address, ["bullpen.v1", `bearer.${token}`]);
    } catch (cause) {
      stop(new BullpenError("invalid", `No socket can be opened: ${asError(cause).message}`, { cause }));
      return;
    }
    socket = current;
    wait(WELCOME_MS, () => lose(current, LOST, "no welcome"));
    current.addEventListener("open", () => {
      if (socket !== current) return;
      upgraded = true;
      current.send(JSON.stringify({ v: 1, type: "hello", id: helloId, ...hello() }));
    });
    current.addEventListener("message", ({ data }) => {
      if (socket === current) receive(current, helloId, data);
    });
    current.addEventListener("close", ({ code = LOST, reason = "" }) => {
      if (socket !== current) return;
      if (upgraded) ended(code, reason);
      else void refusedUpgrade();
    });
    // What follows an error is a close; without a listener some runtimes would throw.
    current.addEventListener("error", () => {});
  }

  function receive(current: SocketLike, helloId: string, data: unknown): void {
    heard += 1;
    if (typeof data !== "string" || data === "pong") return;
    const parsed = parse(data);
    for (const frame of Array.isArray(parsed) ? parsed : [parsed]) {
      if (socket !== current) return;
      if (typeof frame !== "object" || frame === null) continue;
      if (frame.type === "sync") {
        current.send(JSON.stringify({ v: 1, type: "synced", n: frame.n }));
      } else if (frame.type === "welcome") welcomed(current, frame);
      else if (!ready && isErrorFrame(frame)) refusedHello(current, frame, helloId);
      else options.onFrame(frame);
    }
  }

  function welcomed(current: SocketLike, welcome: Welcome): void {
    ready = true;
    openedAt = clock.now();
    watch(current, welcome.ping_s * 1000);
    options.onStatus?.({ state: "open", welcome });
    options.onFrame(welcome);
  }

  /** A ping that nothing follows means a dead peer, which the network may not tell for minutes. */
  function watch(current: SocketLike, everyMs: number): void {
    wait(everyMs, () => {
      const before = heard;
      current.send("ping");
      wait(PONG_MS, () => {
        if (heard === before) lose(current, LOST, "no pong");
        else watch(current, everyMs);
      });
    });
  }

  function refusedHello(current: SocketLike, frame: ErrorFrame, helloId: string): void {
    const error = BullpenError.of(frame);
    if (error.retryable) lose(current, error.code === "rate_limited" ? SLOW_DOWN : LOST, error.message);
    else if (frame.of === undefined || frame.of === helloId) {
      stop(error);
      leave(current, 1000, "");
    }
  }

  /** Gives a socket up without waiting for the other side, which may be gone. */
  function lose(current: SocketLike, code: number, reason: string): void {
    if (socket !== current) return;
    leave(current, 4000, reason.slice(0, 40));
    ended(code, reason);
  }

  function leave(current: SocketLike, code: number, reason: string): void {
    socket = undefined;
    try {
      current.close(code, reason);
    } catch {
      // It was closing already.
    }
  }

  function ended(code: number, reason: string): void {
    const steady = ready && clock.now() - openedAt >= STEADY_MS;
    socket = undefined;
    ready = false;
    if (stopped) return;
    if (!reconnects(code)) {
      stop(closedWith(code, reason));
      return;
    }
    if (steady) attempt = 0;
    const retryInMs = fullJitter(attempt, clock.random, code === SLOW_DOWN ? { baseMs: 10_000 } : {});
    attempt += 1;
    options.onStatus?.({ state: "waiting", code, reason, retryInMs });
    wait(retryInMs, connect);
  }

  /** A failed upgrade says nothing of why: a token that is no longer good must not be tried for ever (AUTH-8). */
  async function refusedUpgrade(): Promise<void> {
    socket = undefined;
    const giveUp = new AbortController();
    wait(WELCOME_MS, () => giveUp.abort());
    try {
      await http.get("/v1/me", undefined, { signal: giveUp.signal });
    } catch (error) {
      if (error instanceof BullpenError && (error.status === 401 || error.status === 403)) {
        stop(error);
        return;
      }
    }
    ended(LOST, "the connection could not be opened");
  }

  connect();
  return {
    send(text) {
      if (!ready || !socket) return false;
      socket.send(text);
      return true;
    },
    close() {
      stop();
      if (socket) leave(socket, 1000, "");
    },
  };
}

/** What a final close code means, as the error that unanswered writes are refused with (CONN-8). */
function closedWith(code: number, reason: string): BullpenError {
  const because = reason === "" ? "" : `: ${reason}`;
  if (code === 4401) return new BullpenError("unauthenticated", `The token is not valid any more${because}.`);
  if (code === 4403) return new BullpenError("forbidden", `Removed from the workspace${because}.`);
  if (code === 4409)
    return new BullpenError("conflict", `A newer connection took this one's place${because}.`);
  return new BullpenError("malformed", `The server ended the connection as a protocol error${because}.`);
}

/** The wire's types are asserted here, once; a frame of a type nobody knows yet is passed on as it is. */
function parse(text: string): ServerFrame | ServerFrame[] | undefined {
  try {
    return JSON.parse(text) as ServerFrame | ServerFrame[];
  } catch {
    return undefined;
  }
}
