/** Steps as a room can bear them: never faster than it takes them, the newest rather than all. */
import { type Clock, systemClock } from "../../sdk/clock.ts";

/** Between two steps; what comes meanwhile waits, and only the newest of it is told. */
const APART_MS = 300;
/** A run that says nothing for ten minutes does not count as working (TURN-5). */
const ALIVE_MS = 4 * 60_000;

/** What steps are told to: a turn, or an item. */
export interface Told {
  step(text: string, options?: { step_id?: string }): Promise<unknown>;
  readonly signal: AbortSignal;
}

export class StepTeller {
  readonly #turn: Told;
  readonly #clock: Clock;
  #next: { text: string; id?: string | undefined } | undefined;
  #last = "";
  #busy: Promise<void> | undefined;
  #alive: unknown;
  #closed = false;
  #paused = 0;

  constructor(turn: Told, clock: Clock = systemClock) {
    this.#turn = turn;
    this.#clock = clock;
    this.#stayAlive();
  }

  /** Tells a step soon. */
  tell(text: string, id?: string): void {
    if (this.#closed || text === "" || text === this.#last) return;
    this.#next = { text, id: id?.slice(0, 200) };
    this.#busy ??= this.#work().finally(() => {
      this.#busy = undefined;
    });
  }

  /** Says no more than is told while somebody is asked: a run that waits need not show that it is alive. */
  pause(): void {
    this.#paused += 1;
  }

  resume(): void {
    this.#paused -= 1;
  }

  /** Tells what waits, and nothing from then on. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#clock.clearTimeout(this.#alive);
    await this.#busy;
  }

  async #work(): Promise<void> {
    while (this.#next && !this.#turn.signal.aborted) {
      const { text, id } = this.#next;
      this.#next = undefined;
      this.#last = text;
      // A step is told in passing: a refused one is no reason to end the turn.
      await this.#turn.step(text, id === undefined ? {} : { step_id: id }).catch(() => {});
      this.#stayAlive();
      if (!this.#closed) await new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, APART_MS));
    }
  }

  #stayAlive(): void {
    this.#clock.clearTimeout(this.#alive);
    if (this.#closed) return;
    this.#alive = this.#clock.setTimeout(() => {
      this.#last = "";
      if (this.#paused === 0) this.tell("still working");
      this.#stayAlive();
    }, ALIVE_MS);
  }
}
