/** Writes on their way: kept until answered, sent again with the same id and key (ENV-4, CONN-5). */
import type { Receipt } from "../shared/wire/connection.ts";
import type { ErrorFrame } from "../shared/wire/errors.ts";
import { fullJitter } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { BullpenError } from "./errors.ts";

interface Entry {
  readonly id: string;
  /** The very text, so that a repeat has the same body. */
  readonly text: string;
  readonly lane: string;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: BullpenError) => void;
  sent: boolean;
  attempts: number;
  /** Not before this, after an error that may pass. */
  notBefore: number;
}

/** After so many a fault that calls itself passing is passed on: the server has a bug, not a bad minute. */
const INTERNAL_ATTEMPTS = 6;

/**
 * One write of a lane is out at a time. Were several, one refused for its rate and the next accepted would
 * change places, and a run would end before its last words. Lanes do not wait for each other.
 */
export class Outbox {
  readonly #lanes = new Map<string, Entry[]>();
  readonly #byId = new Map<string, Entry>();
  readonly #transmit: (text: string) => void;
  readonly #clock: Clock;
  readonly #drained: (() => void)[] = [];
  #online = false;
  #heldUntil = 0;
  #timer: { at: number; handle: unknown } | undefined;
  #failure: BullpenError | undefined;

  constructor(transmit: (text: string) => void, clock: Clock) {
    this.#transmit = transmit;
    this.#clock = clock;
  }

  /** How many writes are unanswered. */
  get size(): number {
    return this.#byId.size;
  }

  /** Takes a write in; resolves with its receipt, rejects with the server's refusal. */
  add(frame: { id: string }, lane: string): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      if (this.#failure) {
        reject(this.#failure);
        return;
      }
      const text = JSON.stringify(frame);
      const entry = { id: frame.id, text, lane, resolve, reject, sent: false, attempts: 0, notBefore: 0 };
      this.#byId.set(entry.id, entry);
      const queue = this.#lanes.get(lane);
      if (queue) queue.push(entry);
      else this.#lanes.set(lane, [entry]);
      this.#pump(lane);
    });
  }

  /** A receipt or an error from the server; false when it answers nothing of ours. */
  answer(frame: Receipt | ErrorFrame): boolean {
    const entry = frame.of === undefined ? undefined : this.#byId.get(frame.of);
    if (!entry) return false;
    if (frame.type === "receipt") {
      this.#remove(entry);
      entry.resolve(frame);
    } else this.#refused(entry, frame);
    return true;
  }

  /** The connection is up: everything unanswered goes out, in order. */
  online(): void {
    this.#online = true;
    for (const lane of this.#lanes.keys()) this.#pump(lane);
  }

  /** The connection is gone: what was out may have arrived or not, so it is sent again. */
  offline(): void {
    this.#online = false;
    for (const entry of this.#byId.values()) entry.sent = false;
  }

  /** Nothing will be sent any more: everything, now and later, is refused with this. */
  fail(error: BullpenError): void {
    this.#failure ??= error;
    this.#online = false;
    if (this.#timer) this.#clock.clearTimeout(this.#timer.handle);
    const entries = [...this.#byId.values()];
    this.#lanes.clear();
    this.#byId.clear();
    for (const entry of entries) entry.reject(this.#failure);
    this.#settled();
  }

  /** Resolves when nothing is unanswered. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #pump(lane: string): void {
    const head = this.#lanes.get(lane)?.[0];
    if (!head || head.sent || !this.#online) return;
    const due = Math.max(this.#heldUntil, head.notBefore);
    if (due > this.#clock.now()) {
      this.#wake(due);
      return;
    }
    head.sent = true;
    head.attempts += 1;
    this.#transmit(head.text);
  }

  #refused(entry: Entry, frame: ErrorFrame): void {
    const error = BullpenError.of(frame);
    if (!error.retryable || (error.code === "internal" && entry.attempts >= INTERNAL_ATTEMPTS)) {
      this.#remove(entry);
      entry.reject(error);
      return;
    }
    const jitter = fullJitter(entry.attempts - 1, this.#clock.random);
    const wait = error.retryAfterS === undefined ? jitter : error.retryAfterS * 1000 + Math.min(jitter, 250);
    entry.sent = false;
    entry.notBefore = this.#clock.now() + wait;
    // The limit is the sender's, not the lane's: more of the same would only be refused as well.
    if (error.code === "rate_limited") this.#heldUntil = Math.max(this.#heldUntil, entry.notBefore);
    this.#pump(entry.lane);
  }

  /** One timer, for the earliest. Whatever is not due when it fires asks for the next. */
  #wake(at: number): void {
    if (this.#timer && this.#timer.at <= at) return;
    if (this.#timer) this.#clock.clearTimeout(this.#timer.handle);
    const handle = this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        for (const lane of this.#lanes.keys()) this.#pump(lane);
      },
      Math.max(1, at - this.#clock.now()),
    );
    this.#timer = { at, handle };
  }

  #remove(entry: Entry): void {
    this.#byId.delete(entry.id);
    const queue = this.#lanes.get(entry.lane) ?? [];
    queue.splice(queue.indexOf(entry), 1);
    if (queue.length === 0) this.#lanes.delete(entry.lane);
    else this.#pump(entry.lane);
    this.#settled();
  }

  #settled(): void {
    if (this.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }
}
