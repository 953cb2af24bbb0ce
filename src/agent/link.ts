/** The life of an agent's socket: hello, silence, reconnecting, and frames that must be the last for a while. */

import { fullJitter } from "../sdk/backoff.ts";
import type { Clock } from "../sdk/clock.ts";
import type { SocketConstructor, SocketLike } from "../sdk/connection.ts";
import { type AgentPayload, type AnyFrame, CLOSE, PROTOCOL_VERSION } from "../shared/wire/agent/index.ts";
import { asError, OfficeError } from "./errors.ts";
import { type Frame, frameId, frameText, readFrame, readPayload } from "./frames.ts";

export type AgentWelcome = AgentPayload<"welcome">;

/** How the connection stands. `stopped` is for good: nothing is tried after it. */
export type AgentStatus =
  | { state: "connecting"; attempt: number }
  | { state: "open"; welcome: AgentWelcome }
  | { state: "waiting"; code: number; reason: string; retryInMs: number }
  | { state: "stopped"; error?: OfficeError };

export interface LinkOptions {
  /** Of the socket: `wss://…/v1/workspaces/<id>/people/<handle>/agent`. */
  address: string;
  hello: AgentPayload<"hello">;
  clock: Clock;
  WebSocket: SocketConstructor;
  onWelcome: (welcome: AgentWelcome) => void;
  /** Every later frame. */
  onFrame: (frame: AnyFrame) => void;
  /** The socket is gone: what was not answered may have arrived or not. */
  onLost: () => void;
  onStatus: (status: AgentStatus) => void;
}

/** No close frame came: also our own closing of a socket. */
const LOST = 1006;
const WELCOME_MS = 15_000;
/** Open for so long, a connection counts as good and the next wait starts small again. */
const STEADY_MS = 10_000;
/** A frame that must be the last of ours is answered within this time, or the socket is given up. */
const HOLD_MS = 20_000;
/** After these nothing is tried: it would be refused again, or fight its successor (OFF-2, OFF-3). */
const FINAL = new Map<number, "auth_failed" | "replaced" | "version_mismatch">([
  [CLOSE.auth_failed, "auth_failed"],
  [CLOSE.replaced, "replaced"],
  [CLOSE.version_mismatch, "version_mismatch"],
]);

/** One socket at a time, which comes back until it is closed or refused for good. */
export class Link {
  readonly #options: LinkOptions;
  #socket: SocketLike | undefined;
  #ready = false;
  #stopped = false;
  #attempt = 0;
  #openedAt = 0;
  #heardAt = 0;
  #timer: unknown;
  #holdTimer: unknown;
  /** Frames that wait until the one that must be the last has been dealt with. */
  #held: Frame[] | undefined;
  /** What the office said before it closed. */
  #lastError: string | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Whether a welcome has come on the socket that is open now. */
  get isReady(): boolean {
    return this.#ready;
  }

  /** When the office was last heard of, ms. */
  get heardAt(): number {
    return this.#heardAt;
  }

  connect(): void {
    const { address, hello, WebSocket: Socket, onStatus } = this.#options;
    if (this.#stopped) return;
    onStatus({ state: "connecting", attempt: this.#attempt });
    const helloId = frameId();
    let current: SocketLike;
    try {
      current = new Socket(address, []);
    } catch (cause) {
      this.#stop(new OfficeError("invalid", `No socket can be opened: ${asError(cause).message}`, { cause }));
      return;
    }
    this.#socket = current;
    this.#lastError = undefined;
    this.#wait(WELCOME_MS, () => this.#lose(current, "no welcome"));
    current.addEventListener("open", () => {
      if (this.#socket === current)
        current.send(JSON.stringify({ id: helloId, type: "hello", payload: hello }));
    });
    current.addEventListener("message", ({ data }) => {
      if (this.#socket === current) this.#receive(current, helloId, data);
    });
    current.addEventListener("close", ({ code = LOST, reason = "" }) => {
      if (this.#socket === current) this.#ended(code, reason);
    });
    // What follows an error is a close; without a listener some runtimes would throw.
    current.addEventListener("error", () => {});
  }

  /** Sends a frame, or keeps it until it may go; false without a connection. */
  send(frame: Frame): boolean {
    if (!this.#ready || !this.#socket) return false;
    if (this.#held) this.#held.push(frame);
    else this.#socket.send(frameText(frame));
    return true;
  }

  /**
   * Sends a frame after which nothing follows until `release` is called (REPORT-2); undefined when another is
   * out or there is no connection. A socket on which it is not released in time is given up.
   */
  sendLast(frame: Frame): (() => void) | undefined {
    const current = this.#socket;
    if (!this.#ready || !current || this.#held) return undefined;
    const held: Frame[] = [];
    this.#held = held;
    current.send(frameText(frame));
    this.#holdTimer = this.#options.clock.setTimeout(() => this.#lose(current, "no answer"), HOLD_MS);
    return () => {
      if (this.#held !== held) return;
      this.#held = undefined;
      this.#options.clock.clearTimeout(this.#holdTimer);
      for (const one of held) this.send(one);
    };
  }

  /** Whether frames are being kept back. */
  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Gives the socket up without waiting for the other side, which may be gone, and connects again. */
  drop(reason: string): void {
    if (this.#socket) this.#lose(this.#socket, reason);
  }

  /** Connects anew at once: the office asks for it, or offers nothing more on this connection (OFFER-5). */
  restart(): void {
    const current = this.#socket;
    if (!current || this.#stopped) return;
    this.#leave(current, 1000, "");
    this.#lost();
    this.connect();
  }

  /** Ends it for good, because of an error or because it is wanted. */
  close(error?: OfficeError): void {
    const current = this.#socket;
    this.#stop(error);
    if (current) this.#leave(current, 1000, "");
  }

  #receive(current: SocketLike, helloId: string, data: unknown): void {
    const { clock, onFrame } = this.#options;
    this.#heardAt = clock.now();
    const frame = readFrame(data);
    if (!frame) return;
    if (frame.type === "error") this.#lastError = errorText(frame);
    if (this.#ready) onFrame(frame);
    else if (frame.type === "welcome" && frame.replyTo === helloId) this.#welcomed(current, frame);
    else if (frame.type === "error") this.#refused(current, frame);
  }

  #welcomed(current: SocketLike, frame: AnyFrame): void {
    const read = readPayload("welcome", frame.payload);
    if (!read.ok) {
      this.#lose(current, `a welcome that is not understood (${read.fault})`);
      return;
    }
    const welcome = read.payload;
    if (welcome.protocolVersion !== PROTOCOL_VERSION) {
      this.close(
        new OfficeError("version_mismatch", `The office speaks version ${welcome.protocolVersion}, not 3.`),
      );
      return;
    }
    const { clock, onStatus, onWelcome } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#ready = true;
    this.#openedAt = clock.now();
    onStatus({ state: "open", welcome });
    onWelcome(welcome);
  }

  /** Refused before the welcome: what is final is told by the close code, which follows; else it is tried again. */
  #refused(current: SocketLike, frame: AnyFrame): void {
    const read = readPayload("error", frame.payload);
    const code = read.ok ? read.payload.code : "failed";
    const final = [...FINAL.values()].find((one) => one === code);
    if (final) this.close(new OfficeError(final, wordsOf(final, this.#lastError ?? "")));
    else this.#lose(current, this.#lastError ?? "refused");
  }

  #lose(current: SocketLike, reason: string): void {
    if (this.#socket !== current) return;
    this.#leave(current, 4000, reason.slice(0, 40));
    this.#ended(LOST, reason);
  }

  #leave(current: SocketLike, code: number, reason: string): void {
    this.#socket = undefined;
    try {
      current.close(code, reason);
    } catch {
      // It was closing already.
    }
  }

  #ended(code: number, reason: string): void {
    const { clock, onStatus } = this.#options;
    const steady = this.#ready && clock.now() - this.#openedAt >= STEADY_MS;
    this.#lost();
    if (this.#stopped) return;
    const final = FINAL.get(code);
    if (final) {
      this.#stop(new OfficeError(final, wordsOf(final, this.#lastError ?? reason)));
      return;
    }
    if (steady) this.#attempt = 0;
    const retryInMs = fullJitter(this.#attempt, clock.random);
    this.#attempt += 1;
    onStatus({ state: "waiting", code, reason, retryInMs });
    this.#wait(retryInMs, () => this.connect());
  }

  #lost(): void {
    const { clock, onLost } = this.#options;
    const wasReady = this.#ready;
    this.#socket = undefined;
    this.#ready = false;
    this.#held = undefined;
    clock.clearTimeout(this.#timer);
    clock.clearTimeout(this.#holdTimer);
    if (wasReady) onLost();
  }

  #stop(error?: OfficeError): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#lost();
    this.#options.onStatus({ state: "stopped", ...(error ? { error } : {}) });
  }

  #wait(ms: number, then: () => void): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(then, ms);
  }
}

function errorText(frame: AnyFrame): string {
  const read = readPayload("error", frame.payload);
  return read.ok ? read.payload.message : "";
}

/** What a final close means, and what to do about it. */
function wordsOf(code: "auth_failed" | "replaced" | "version_mismatch", said: string): string {
  const because = said === "" ? "" : ` The office says: ${said}`;
  if (code === "auth_failed")
    return `The office does not take this token for this person: check both, or make a new token.${because}`;
  if (code === "replaced") return `Another agent of this person has connected in this one's place.${because}`;
  return `The office speaks another version of the protocol: update this agent.${because}`;
}
