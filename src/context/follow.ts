/** The life of a socket that follows a stream (STREAM-2): from an offset on, through every interruption. */
import { fullJitter } from "../sdk/backoff.ts";
import type { Clock } from "../sdk/clock.ts";
import type { SocketConstructor, SocketLike } from "../sdk/connection.ts";
import { asError, BullpenError } from "../sdk/errors.ts";
import type { BullpenHttp } from "../sdk/http.ts";

/** An event of a stream as it is stored. */
export interface StoredEvent {
  offset: number;
  type: string;
  payload: unknown;
  /** ISO 8601. */
  at: string;
  idempotencyKey?: string | undefined;
}

export interface FollowOptions {
  /** The last offset that is known already; 0 for all of it. */
  after: number;
  /** Each event once, in order. */
  onEvent: (event: StoredEvent) => void;
  /** All that is stored has come: what follows is news. Told anew on every connection. */
  onCaughtUp?: ((offset: number) => void) | undefined;
  /** The connection is gone for now: what follows later may be old. */
  onLost?: (() => void) | undefined;
  /** It is over: `error` when it was refused for good, none after `close`. */
  onEnd?: ((error?: BullpenError) => void) | undefined;
}

export interface Following {
  close(): void;
}

export interface FollowNeeds {
  http: BullpenHttp;
  token: string;
  /** Of the stream, as in `/people/scout`. */
  path: string;
  clock: Clock;
  WebSocket: SocketConstructor;
}

/** A connection on which nothing was said for so long is tried anew: the network may not tell that it is gone. */
const SILENT_MS = 60_000;
const PONG_MS = 10_000;
const STEADY_MS = 10_000;
const LOST = 1006;
/** After these it would be refused again: the protocol was broken, the token is not good, the right is gone. */
const FINAL: Record<number, "malformed" | "unauthenticated" | "forbidden"> = {
  4400: "malformed",
  4401: "unauthenticated",
  4403: "forbidden",
};

export function follow(need: FollowNeeds, options: FollowOptions): Following {
  const { http, token, path, clock, WebSocket: Socket } = need;
  let socket: SocketLike | undefined;
  let cursor = options.after;
  let attempt = 0;
  let openedAt = 0;
  let heard = 0;
  let timer: unknown;
  let isOver = false;

  const wait = (ms: number, then: () => void): void => {
    clock.clearTimeout(timer);
    timer = clock.setTimeout(then, ms);
  };
  const end = (error?: BullpenError): void => {
    if (isOver) return;
    isOver = true;
    clock.clearTimeout(timer);
    options.onEnd?.(error);
  };

  const connect = (): void => {
    if (isOver) return;
    const address = http.url(`/v1/streams${path}/live`, { after: cursor }).href.replace(/^http/, "ws");
    let upgraded = false;
    let current: SocketLike;
    try {
      current = new Socket(address, ["bullpen.v1", `bearer.${token}`]);
    } catch (cause) {
      return end(
        new BullpenError("invalid", `No socket can be opened: ${asError(cause).message}`, { cause }),
      );
    }
    socket = current;
    wait(SILENT_MS, () => lose(current));
    current.addEventListener("open", () => {
      if (socket !== current) return;
      upgraded = true;
      openedAt = clock.now();
      watch(current);
    });
    current.addEventListener("message", ({ data }) => {
      if (socket === current) receive(current, data);
    });
    current.addEventListener("close", ({ code = LOST, reason = "" }) => {
      if (socket !== current) return;
      if (upgraded) ended(code, reason);
      else void refused();
    });
    // What follows an error is a close; without a listener some runtimes would throw.
    current.addEventListener("error", () => {});
  };

  const watch = (current: SocketLike): void => {
    wait(SILENT_MS, () => {
      const before = heard;
      current.send("ping");
      wait(PONG_MS, () => (heard === before ? lose(current) : watch(current)));
    });
  };

  const receive = (current: SocketLike, data: unknown): void => {
    heard += 1;
    const frame = frameIn(data);
    if (!frame) return;
    if (frame.type === "sync") current.send(JSON.stringify({ type: "synced", n: frame.n }));
    else if (frame.type === "caught_up") options.onCaughtUp?.(frame.offset);
    // After a reconnect some may come again.
    else if (frame.event.offset > cursor) {
      cursor = frame.event.offset;
      options.onEvent(frame.event);
    }
  };

  const lose = (current: SocketLike): void => {
    if (socket !== current) return;
    leave(current);
    ended(LOST, "");
  };
  const leave = (current: SocketLike): void => {
    socket = undefined;
    try {
      current.close(1000, "");
    } catch {
      // It was closing already.
    }
  };

  const ended = (code: number, reason: string): void => {
    const steady = openedAt > 0 && clock.now() - openedAt >= STEADY_MS;
    socket = undefined;
    openedAt = 0;
    if (isOver) return;
    options.onLost?.();
    const final = FINAL[code];
    if (final)
      return end(new BullpenError(final, `The stream can be followed no longer: ${reason || code}.`));
    if (steady) attempt = 0;
    const ms = fullJitter(attempt, clock.random);
    attempt += 1;
    wait(ms, connect);
  };

  /** A failed upgrade says nothing of why: the same right is needed for reading, which says it. */
  const refused = async (): Promise<void> => {
    socket = undefined;
    const giveUp = new AbortController();
    wait(SILENT_MS, () => giveUp.abort());
    try {
      await http.get(`/v1/streams${path}`, { limit: 1 }, { signal: giveUp.signal });
    } catch (error) {
      if (error instanceof BullpenError && !error.retryable && error.status !== undefined) return end(error);
    }
    ended(LOST, "");
  };

  connect();
  return {
    close() {
      const current = socket;
      end();
      if (current) leave(current);
    },
  };
}

type Frame =
  | { type: "event"; event: StoredEvent }
  | { type: "caught_up"; offset: number }
  | { type: "sync"; n: number };

/** A frame of the office's; `pong` and what nobody knows yet is passed over. */
function frameIn(data: unknown): Frame | undefined {
  if (typeof data !== "string" || !data.startsWith("{")) return undefined;
  const frame = JSON.parse(data) as Frame;
  return ["event", "caught_up", "sync"].includes(frame.type) ? frame : undefined;
}
