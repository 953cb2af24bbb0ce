/** A clock whose timers all end with the agent: none of them keeps a process that has nothing more to do. */
import type { Clock } from "../sdk/clock.ts";

export class Timers implements Clock {
  readonly #inner: Clock;
  readonly #open = new Set<unknown>();
  #ended = false;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  now = (): number => this.#inner.now();
  random = (): number => this.#inner.random();
  setTimeout = (run: () => void, ms: number): unknown => {
    if (this.#ended) return undefined;
    const handle: unknown = this.#inner.setTimeout(() => {
      this.#open.delete(handle);
      run();
    }, ms);
    this.#open.add(handle);
    return handle;
  };
  clearTimeout = (handle: unknown): void => {
    this.#open.delete(handle);
    this.#inner.clearTimeout(handle);
  };

  /** Nothing is due any more, now or later. */
  end(): void {
    this.#ended = true;
    for (const handle of this.#open) this.#inner.clearTimeout(handle);
    this.#open.clear();
  }
}
