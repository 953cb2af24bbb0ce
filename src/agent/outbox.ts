/**
 * What must reach the office whatever happens: hand-backs, failures, answers, journal lines, results of acts and
 * confirmed reports. Each is written down before it is sent, is sent with one frame id until it is answered, and
 * is struck out only then (OFF-8).
 */

import { fullJitter } from "../sdk/backoff.ts";
import type { Clock } from "../sdk/clock.ts";
import type { AgentPayload } from "../shared/wire/agent/index.ts";
import { asError, OfficeError } from "./errors.ts";
import { frameId, ownPayload } from "./frames.ts";
import type { Ledger } from "./ledger.ts";
import type { Requests } from "./requests.ts";
import type { Ending, OutboxEntry } from "./store.ts";

/** The requests that are kept. */
export type Kept = OutboxEntry["type"];

export interface OutboxHooks {
  /** An entry is done: taken, or refused for good. */
  onDone: (entry: OutboxEntry, refusal: OfficeError | undefined) => void;
  onError: (error: Error) => void;
}

export interface Added {
  /** It is written down: from now on a crash cannot lose it. */
  written: Promise<void>;
  /** The office has taken it, or has refused it. */
  answered: Promise<void>;
}

/** Longer than any reconnecting may take: what is kept is waited for until it is answered. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** Refusals that say nothing of the request itself: it is tried again. */
const PASSING: ReadonlySet<string> = new Set([
  "failed",
  "replaced",
  "unauthenticated",
  "auth_failed",
  "version_mismatch",
]);

export class Outbox {
  readonly #ledger: Ledger;
  readonly #requests: Requests;
  readonly #clock: Clock;
  readonly #hooks: OutboxHooks;
  /** Entries that are being sent, by lane: one of a lane at a time, so that their order stays. */
  readonly #busy = new Set<string>();
  readonly #answers = new Map<string, PromiseWithResolvers<void>>();
  /** Entries that are to be tried again, by an answer on this connection. */
  readonly #tried = new Set<string>();
  #watchers: (() => void)[] = [];
  #online = false;
  #stopped = false;

  constructor(ledger: Ledger, requests: Requests, clock: Clock, hooks: OutboxHooks) {
    this.#ledger = ledger;
    this.#requests = requests;
    this.#clock = clock;
    this.#hooks = hooks;
  }

  /** Writes a request down and sends it as soon as may be; `after` is what follows when it was taken. */
  add<T extends Kept>(type: T, payload: AgentPayload<T>, lane: string, after?: Ending): Added {
    const entry: OutboxEntry = {
      id: frameId(),
      type,
      payload: ownPayload(type, payload) as Record<string, unknown>,
      lane,
      ...(after ? { after } : {}),
    };
    const answer = Promise.withResolvers<void>();
    this.#answers.set(entry.id, answer);
    // Whoever does not await it hears of a refusal by the hooks.
    answer.promise.catch(() => {});
    const written = this.#ledger.change((state) => void state.outbox.push(entry)).then(() => this.#pump());
    written.catch((error: unknown) => answer.reject(error));
    return { written, answered: answer.promise };
  }

  /** The connection is up: everything goes out, oldest first. */
  online(): void {
    this.#online = true;
    this.#tried.clear();
    this.#pump();
  }

  offline(): void {
    this.#online = false;
  }

  /** Nothing is sent any more; what is written down stays so. */
  stop(): void {
    this.#stopped = true;
    this.#online = false;
  }

  /**
   * Another agent has taken over, and with it the items: a hand-back that is sent later would end a round of its.
   * Where it uses the same store this one may not write any more, and the other sends what is there.
   */
  disown(): void {
    const disowned = this.#ledger.change((state) => {
      state.outbox = state.outbox.filter(({ type }) => type !== "handback" && type !== "fail");
    });
    disowned.catch(() => {});
  }

  /** Whether something of this lane is on its way. */
  has(lane: string, type?: Kept): boolean {
    return this.#ledger.state.outbox.some(
      (entry) => entry.lane === lane && (type === undefined || entry.type === type),
    );
  }

  /** Resolves when this lane is empty, and of all else each was answered on this connection (OFF-8). */
  async settled(lane: string): Promise<void> {
    const isSettled = (): boolean =>
      this.#online &&
      this.#ledger.state.outbox.every((entry) => entry.lane !== lane && this.#tried.has(entry.id));
    while (!isSettled()) await this.#changed();
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#ledger.state.outbox.length > 0) await this.#changed();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  #tell(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }

  #pump(): void {
    this.#tell();
    if (!this.#online) return;
    for (const entry of this.#ledger.state.outbox)
      if (!this.#busy.has(entry.lane)) {
        this.#busy.add(entry.lane);
        this.#deliver(entry)
          .catch((error: unknown) => this.#hooks.onError(asError(error)))
          .finally(() => {
            this.#busy.delete(entry.lane);
            this.#pump();
          });
      }
  }

  /** Sends one until it is answered for good. */
  async #deliver(entry: OutboxEntry): Promise<void> {
    const { id, type, payload } = entry;
    for (let attempt = 0; ; attempt++) {
      let refusal: OfficeError | undefined;
      try {
        await this.#requests.ask(type, payload as AgentPayload<Kept>, { id, timeoutMs: FOR_EVER_MS });
      } catch (error) {
        refusal = error instanceof OfficeError ? error : new OfficeError("failed", asError(error).message);
        if (this.#stopped) {
          // It stays written down for the next life.
          this.#answers.get(id)?.reject(refusal);
          return;
        }
      }
      if (!refusal || !PASSING.has(refusal.code)) {
        await this.#done(entry, refusal);
        return;
      }
      this.#tried.add(id);
      this.#hooks.onError(new OfficeError("failed", `${type} is tried again: ${refusal.message}`));
      this.#tell();
      const ms = fullJitter(attempt, this.#clock.random);
      await new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, ms));
    }
  }

  async #done(entry: OutboxEntry, refusal: OfficeError | undefined): Promise<void> {
    await this.#ledger.change((state) => {
      state.outbox = state.outbox.filter(({ id }) => id !== entry.id);
      if (entry.after && !refusal) state.endings.push(entry.after);
    });
    const answer = this.#answers.get(entry.id);
    this.#answers.delete(entry.id);
    if (refusal) answer?.reject(refusal);
    else answer?.resolve();
    this.#hooks.onDone(entry, refusal);
  }
}
