/** A turn's time limit. Waiting for a person is not its time. */
import { type Clock, systemClock } from "../../sdk/clock.ts";

export class TurnTimer {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #left: number;
  #since = 0;
  #handle: unknown;
  #paused = 0;

  constructor(ms: number, onEnd: () => void, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#left = ms;
    this.#go();
  }

  get isPaused(): boolean {
    return this.#paused > 0;
  }

  /** Stands still until each pause has been resumed. */
  pause(): void {
    if (this.#paused++ > 0) return;
    this.#clock.clearTimeout(this.#handle);
    this.#left -= this.#clock.now() - this.#since;
  }

  resume(): void {
    if (--this.#paused === 0) this.#go();
  }

  close(): void {
    this.#paused = Number.POSITIVE_INFINITY;
    this.#clock.clearTimeout(this.#handle);
  }

  #go(): void {
    this.#since = this.#clock.now();
    this.#handle = this.#clock.setTimeout(this.#onEnd, Math.max(0, this.#left));
  }
}
