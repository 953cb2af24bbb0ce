/**
 * Runs one stream: the request that is open, and the calls of its answers (REQ-7). It keeps nothing that the stream
 * does not have: it is shown how that stands, again and again, and does what is left to do.
 */

import { fullJitter } from "../sdk/backoff.ts";
import type { Clock } from "../sdk/clock.ts";
import { asError } from "../sdk/errors.ts";
import { Calls, type WaitingCall, type WrittenResult } from "./carry.ts";
import type { Model } from "./model.ts";
import type { ToolHost } from "./tools.ts";
import { type OpenRequest, runRequest, type Stop, type TurnPort } from "./turn.ts";

/** How a stream stands, as far as it must be run. */
export interface RunView {
  open: OpenRequest | undefined;
  /** Calls of answers that count, without a result, in order. */
  calls: readonly WaitingCall[];
  /** Whether an item interrupted this request: it is open no more, and nobody has answered it. */
  wasInterrupted(request: number): boolean;
}

export interface RunnerNeeds {
  port: TurnPort & { result: (call: WaitingCall, result: WrittenResult) => Promise<void> };
  model: Model;
  host: ToolHost;
  clock: Clock;
  /** Whether calls that wait for somebody are asked about again. */
  polls: boolean;
  onError: (error: Error) => void;
  /** Something failed and may succeed later: show again how the stream stands, by then. */
  again: (ms: number) => void;
}

interface Turn {
  stop: AbortController;
  done: Promise<void>;
}

export class StreamRunner {
  readonly #need: RunnerNeeds;
  readonly #calls: Calls;
  /** By request: the open one, and those before it that still tell how far they came. */
  readonly #turns = new Map<number, Turn>();
  /** The newest request that was run to its end: that it is settled may be shown late. */
  #ended = 0;
  #failures = 0;
  #isLeaving = false;

  constructor(need: RunnerNeeds) {
    const { host, clock, polls, onError, port, again } = need;
    this.#need = need;
    this.#calls = new Calls({
      host,
      clock,
      polls,
      write: (call, result) => port.result(call, result),
      onError(error) {
        onError(error);
        again(1000 + fullJitter(2, clock.random));
      },
    });
  }

  /** Whether anything is under way that ends by itself. */
  get isBusy(): boolean {
    return this.#turns.size > 0 || this.#calls.isBusy;
  }

  /** Does what is left to do, as the stream stands now. */
  look(view: RunView): void {
    if (this.#isLeaving) return;
    const { open } = view;
    for (const [request, { stop }] of this.#turns)
      if (request !== open?.offset)
        stop.abort((view.wasInterrupted(request) ? "interrupted" : "over") satisfies Stop);
    if (open && open.offset > this.#ended && !this.#turns.has(open.offset)) this.#run(open);
    this.#calls.look(view.calls);
  }

  /** Lets go of everything: what is open is run by the next, with the same bytes. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.#calls.leave();
    for (const { stop } of this.#turns.values()) stop.abort("leaving" satisfies Stop);
    await Promise.all([...this.#turns.values()].map(({ done }) => done));
  }

  #run(request: OpenRequest): void {
    const { port, model, clock, onError, again } = this.#need;
    const stop = new AbortController();
    const run = async () => {
      try {
        await runRequest({ port, model, request, signal: stop.signal, clock });
        this.#failures = 0;
        this.#ended = Math.max(this.#ended, request.offset);
      } catch (error) {
        onError(asError(error));
        again(fullJitter(this.#failures, clock.random, { baseMs: 1000 }));
        this.#failures += 1;
      } finally {
        this.#turns.delete(request.offset);
      }
    };
    this.#turns.set(request.offset, { stop, done: run() });
  }
}
