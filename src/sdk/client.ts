/** A participant's connection: events once each and in order, acks, and writes that survive a reconnect. */
import type { Receipt, Welcome } from "../shared/wire/connection.ts";
import type { Actor } from "../shared/wire/envelope.ts";
import {
  SERVER_FRAMES,
  type ServerEvent,
  type ServerFrame,
  type VerbInput,
  type VerbType,
} from "../shared/wire/index.ts";
import { AckTracker } from "./acks.ts";
import { type Clock, systemClock } from "./clock.ts";
import {
  type Connection,
  type HelloFields,
  openConnection,
  type SocketConstructor,
  type Status,
} from "./connection.ts";
import { BullpenError } from "./errors.ts";
import {
  type Content,
  type Downloadable,
  download,
  type Uploaded,
  type UploadOptions,
  upload,
} from "./files.ts";
import { BullpenHttp, type Fetch } from "./http.ts";
import { newId } from "./ids.ts";
import { Outbox } from "./outbox.ts";

/** What every kind of connection takes. */
export interface ClientOptions {
  /** The server's origin, http or https. */
  url: string;
  token: string;
  /** The last seq handled; without it the server goes on from the last ack. */
  afterSeq?: number | undefined;
  /** Every frame, events once each and in order. */
  onEvent?: ((frame: ServerFrame) => unknown) | undefined;
  onStatus?: ((status: Status) => void) | undefined;
  /** What nobody awaits: a handler that threw, an error that answers no write. Default: `console.error`. */
  onError?: ((error: Error) => void) | undefined;
  clock?: Clock | undefined;
  fetch?: Fetch | undefined;
  WebSocket?: SocketConstructor | undefined;
}

/** The fields of a verb, as `send` takes them. */
export type VerbFields<T extends VerbType> = Omit<VerbInput<T>, "type">;
export interface SendOptions {
  /** Chosen by who must be able to send the same again after a crash; minted otherwise. */
  idempotencyKey?: string | undefined;
  /** A claim to act as a declared agent, which the server checks (ENV-5). */
  actor?: Pick<Actor, "kind" | "id"> | undefined;
}

/** How a kind of client takes part in what arrives. */
export interface ClientHooks {
  hello?(first: boolean): HelloFields;
  /** Who must have settled this event before it counts as handled. */
  parties?(event: ServerEvent): Iterable<string>;
  event?(event: ServerEvent): void;
  caughtUp?(): void;
  /** Whether handled events are acknowledged. */
  acks: boolean;
}

const ACK_EVERY_MS = 250;
const FRAME_BYTES = 1024 * 1024;

/** The layer that harness and person share. */
export class Client {
  readonly http: BullpenHttp;
  readonly clock: Clock;
  /** Resolves with the first welcome; rejects when the server refuses for good before it. */
  readonly ready: Promise<Welcome>;
  /** Resolves when the connection has ended for good, with the reason unless it was `close`. */
  readonly closed: Promise<BullpenError | undefined>;
  /** The newest welcome. */
  welcome: Welcome | undefined;
  /** Whether everything missed has arrived and what comes now is live. */
  live = false;

  readonly #options: ClientOptions;
  readonly #hooks: ClientHooks;
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #acks: AckTracker;
  readonly #ready = Promise.withResolvers<Welcome>();
  readonly #closed = Promise.withResolvers<BullpenError | undefined>();
  #lastSeq: number | undefined;
  #acked = 0;
  #ackTimer: unknown;

  constructor(options: ClientOptions, hooks: ClientHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.clock = options.clock ?? systemClock;
    this.http = new BullpenHttp({ url: options.url, token: options.token, fetch: options.fetch });
    this.ready = this.#ready.promise;
    this.closed = this.#closed.promise;
    // Whoever does not await it has `closed` and `onStatus`.
    this.ready.catch(() => {});
    this.#lastSeq = options.afterSeq;
    this.#acks = new AckTracker(options.afterSeq);
    this.#outbox = new Outbox((text) => this.#connection.send(text), this.clock);
    this.#connection = openConnection({
      url: options.url,
      token: options.token,
      hello: () => ({
        ...hooks.hello?.(this.welcome === undefined),
        ...(this.#lastSeq === undefined ? {} : { after_seq: this.#lastSeq }),
      }),
      onFrame: (frame) => this.#receive(frame),
      onStatus: (status) => this.#changed(status),
      clock: this.clock,
      fetch: options.fetch,
      WebSocket: options.WebSocket,
    });
  }

  /** The last seq that arrived: where another process could go on, if all handlers have finished. */
  get lastSeq(): number {
    return this.#lastSeq ?? 0;
  }

  /** Writes an event; resolves with its receipt, rejects with a `BullpenError`. Sent again until answered. */
  send<T extends VerbType>(type: T, fields: VerbFields<T>, options: SendOptions = {}): Promise<Receipt> {
    const id = newId("evt", this.clock.now());
    const key = options.idempotencyKey ?? id;
    const { actor } = options;
    const frame = { v: 1, type, id, idempotency_key: key, ...(actor ? { actor } : {}), ...fields };
    const most = this.welcome?.limits.frame_bytes ?? FRAME_BYTES;
    // The server could not say which frame it refused: it reads none over the limit.
    if (new TextEncoder().encode(JSON.stringify(frame)).byteLength > most)
      return Promise.reject(
        new BullpenError(
          "too_large",
          `A frame has at most ${most} bytes: send less, or attach it as a file.`,
        ),
      );
    const { run_id, space_id } = frame as { run_id?: string; space_id?: string };
    return this.#outbox.add(frame, run_id ?? space_id ?? "");
  }

  /** Says what is not kept, such as `typing`; false when there is no connection to say it on. */
  signal(type: "read" | "typing", fields: { space_id: string; seq?: number }): boolean;
  signal(type: "watch", fields: { office: boolean }): boolean;
  signal(type: "read" | "typing" | "watch", fields: object): boolean {
    return this.#connection.send(JSON.stringify({ v: 1, type, ...fields }));
  }

  upload(content: Content, options: UploadOptions): Promise<Uploaded> {
    return upload(this.http, content, options);
  }

  /** A file's bytes as a `Response`; a spent URL is renewed first. */
  download(file: Downloadable, options: { signal?: AbortSignal } = {}): Promise<Response> {
    return download(this.http, file, this.clock.now(), options.signal);
  }

  /** One party has taken an event. */
  settle(eventId: string, party: string): void {
    this.#acks.settle(eventId, party);
    this.#ackSoon();
  }

  /** Tells an error that no caller awaits. */
  report(error: Error): void {
    if (this.#options.onError) this.#options.onError(error);
    else console.error(error);
  }

  /** Resolves when every write so far is answered. */
  idle(): Promise<void> {
    return this.#outbox.idle();
  }

  /** Ends the connection for good; unanswered writes are rejected. */
  close(): void {
    this.#ackNow();
    this.#connection.close();
  }

  #changed(status: Status): void {
    if (status.state === "waiting" || status.state === "stopped") {
      this.live = false;
      this.#acked = 0;
      this.#outbox.offline();
    }
    if (status.state === "stopped") {
      const error = status.error ?? new BullpenError("unavailable", "The connection was closed.");
      this.clock.clearTimeout(this.#ackTimer);
      this.#outbox.fail(error);
      this.#ready.reject(error);
      this.#closed.resolve(status.error);
    }
    this.#options.onStatus?.(status);
  }

  #receive(frame: ServerFrame): void {
    if (isLogged(frame)) {
      // A replay begins where we said, or earlier; what is known is not handled twice.
      if (frame.seq <= this.lastSeq) return;
      this.#lastSeq = frame.seq;
      this.#acks.begin(frame.id, frame.seq, this.#hooks.parties?.(frame) ?? []);
    }
    try {
      this.#options.onEvent?.(frame);
    } catch (error) {
      this.report(error as Error);
    }
    if (isLogged(frame)) {
      this.#hooks.event?.(frame);
      this.#ackSoon();
    } else if (frame.type === "welcome") {
      this.welcome = frame;
      this.#ready.resolve(frame);
      this.#outbox.online();
    } else if (frame.type === "caught_up") this.#caughtUp(frame.seq);
    else if (frame.type === "receipt") this.#outbox.answer(frame);
    else if (frame.type === "error" && !this.#outbox.answer(frame)) this.report(BullpenError.of(frame));
  }

  #caughtUp(seq: number): void {
    if (this.welcome?.resume === "reset") {
      // Between our cursor and here nothing was sent; the new one may even be lower.
      this.#lastSeq = seq;
      this.#acks.reset(seq);
    } else {
      this.#lastSeq = Math.max(this.lastSeq, seq);
      this.#acks.begin("", this.#lastSeq, []);
    }
    this.live = true;
    this.#ackSoon();
    this.#hooks.caughtUp?.();
  }

  #ackSoon(): void {
    if (!this.#hooks.acks || this.#ackTimer !== undefined) return;
    this.#ackTimer = this.clock.setTimeout(() => this.#ackNow(), ACK_EVERY_MS);
  }

  #ackNow(): void {
    this.clock.clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    const seq = this.#acks.handled;
    // Before `caught_up` a reset could still move it.
    if (!this.#hooks.acks || !this.live || seq <= this.#acked) return;
    if (this.#connection.send(JSON.stringify({ v: 1, type: "ack", seq }))) this.#acked = seq;
  }
}

/** Whether a frame is an event of the log, whose seq is a place in it. */
function isLogged(frame: ServerFrame): frame is ServerEvent & { seq: number } {
  return !Object.hasOwn(SERVER_FRAMES, frame.type) && typeof (frame as { seq?: unknown }).seq === "number";
}
