/**
 * The calls of an answer, carried out (CTX-9): one after the other, each to its result. An answer's calls have ten
 * minutes; what waits for a person has as long as that takes.
 */

import { fullJitter } from "../sdk/backoff.ts";
import type { Clock } from "../sdk/clock.ts";
import { asError } from "../sdk/errors.ts";
import { resultContent } from "../shared/rules/context/calls.ts";
import type { AppendEvent } from "../shared/wire/context/http.ts";
import type { Call, ResultFile, ToolHost, ToolResult } from "./tools.ts";
import { pause } from "./turn.ts";

/** A call that has no result yet. */
export interface WaitingCall extends Call {
  /** The offset of its answer, and when that came, ms. */
  answer: number;
  at: number;
  /** Whether an item interrupted the agent after the answer. */
  interrupted: boolean;
}

/** The result of a call, as it is written. */
export interface WrittenResult {
  content: string;
  files?: ResultFile[];
  /** Whether the agent goes on by it, once it is the last of its answer. */
  goesOn: boolean;
  /** It ran out of time: the agent is told so once no other call of the answer waits. */
  isLate?: true;
}

/** What an agent is told whose last calls were given up: their results ask for nothing (CTX-9). */
const CALLS_LATE = "The calls of your last answer took too long and were given up. Go on without them.";

export interface CarryNeeds {
  host: ToolHost;
  clock: Clock;
  /** Writes a result, however often that must be tried; one that was written before stays. */
  write: (call: WaitingCall, result: WrittenResult) => Promise<void>;
  /** Whether a call that waits for somebody is asked about again, or its result comes by another way. */
  polls: boolean;
  onError: (error: Error) => void;
}

/** An answer's calls have so long (CTX-9). */
const CALLS_MS = 600_000;
/** A tool that says nothing for so long has failed, and the model is told so. */
const TOOL_MS = 120_000;
const TRIES = 5;
const POLL = { baseMs: 4000, capMs: 60_000 };

const INTERRUPTED = "The call was interrupted.";
const LATE = "The call took too long and was given up.";
const SLOW =
  "The tool did not answer in time. It may have done what it was asked: look before you try again.";

/** Carries out what waits, until it is told to stop. */
export class Calls {
  readonly #need: CarryNeeds;
  readonly #going = new Map<string, AbortController>();
  readonly #over = new Set<string>();
  /** The calls of one answer go one after the other. */
  readonly #chains = new Map<number, Promise<void>>();
  #isLeaving = false;

  constructor(need: CarryNeeds) {
    this.#need = need;
  }

  /** Whether anything is being carried out, but for what only waits. */
  get isBusy(): boolean {
    return this.#chains.size > 0;
  }

  /** Takes what waits now: begins what is new, and ends what was interrupted. */
  look(waiting: readonly WaitingCall[]): void {
    if (this.#isLeaving) return;
    const ids = new Set(waiting.map(({ id }) => id));
    for (const id of this.#over) if (!ids.has(id)) this.#over.delete(id);
    for (const call of waiting) {
      if (this.#over.has(call.id)) continue;
      const going = this.#going.get(call.id);
      if (call.interrupted && going) going.abort("interrupted");
      if (!going) this.#begin(call);
    }
  }

  leave(): void {
    this.#isLeaving = true;
    for (const going of this.#going.values()) going.abort("leaving");
  }

  #begin(call: WaitingCall): void {
    const stop = new AbortController();
    if (call.interrupted) stop.abort("interrupted");
    this.#going.set(call.id, stop);
    const before = this.#chains.get(call.answer) ?? Promise.resolve();
    const link = before
      .then(() => this.#carry(call, stop.signal))
      .catch((error: unknown) => {
        // The stream still has it as waiting: it is begun anew when that is looked at.
        this.#going.delete(call.id);
        this.#need.onError(asError(error));
      })
      .finally(() => {
        if (this.#chains.get(call.answer) === link) this.#chains.delete(call.answer);
      });
    this.#chains.set(call.answer, link);
  }

  async #carry(call: WaitingCall, signal: AbortSignal): Promise<void> {
    const called = await this.#call(call, signal, CALLS_MS);
    if (called === "later") {
      // What waits for somebody holds up no other call.
      void this.#await(call, signal).catch((error: unknown) => {
        this.#going.delete(call.id);
        this.#need.onError(asError(error));
      });
      return;
    }
    await this.#end(call, called, signal);
  }

  /** Waits for a call that is on its way: asks again, or only for its interruption. */
  async #await(call: WaitingCall, signal: AbortSignal): Promise<void> {
    const { polls, clock } = this.#need;
    for (let tries = 0; ; tries++) {
      if (polls) await pause(clock, 1000 + fullJitter(tries, clock.random, POLL), signal);
      else await aborted(signal);
      const called = signal.aborted ? undefined : await this.#call(call, signal);
      if (called !== "later") return this.#end(call, called, signal);
    }
  }

  /** One try after the other of one call, in time; undefined when it is over without a result of its own. */
  async #call(
    call: WaitingCall,
    signal: AbortSignal,
    withinMs = Number.POSITIVE_INFINITY,
  ): Promise<ToolResult | "later" | undefined> {
    const { host, clock, onError } = this.#need;
    for (let tries = 1; ; tries++) {
      if (signal.aborted || clock.now() - call.at >= withinMs) return undefined;
      const trying = new AbortController();
      const stop = () => trying.abort(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      const timer = clock.setTimeout(() => trying.abort("slow"), TOOL_MS);
      try {
        return await Promise.race([host.call(call, trying.signal), rejected(trying.signal)]);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (trying.signal.aborted) return { ok: false, output: SLOW };
        onError(asError(error));
        if (tries === TRIES)
          return { ok: false, output: "The tool is out of reach now. Try again later, or do without." };
      } finally {
        clock.clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
      await pause(clock, 500 + fullJitter(tries, clock.random), signal);
    }
  }

  async #end(call: WaitingCall, result: ToolResult | undefined, signal: AbortSignal): Promise<void> {
    // Whoever leaves writes nothing: the call is carried out by the next.
    if (signal.reason === "leaving" && result === undefined) return;
    const { host, write, onError } = this.#need;
    if (result === undefined) await host.withdraw?.(call).catch((error: unknown) => onError(asError(error)));
    await write(call, result ? await this.#written(result, call) : givenUp(signal.aborted));
    this.#over.add(call.id);
    this.#going.delete(call.id);
  }

  /** The result as a line of at most 16 KiB, with the whole in a file where it is longer. */
  async #written({ ok, output, files = [] }: ToolResult, call: Call): Promise<WrittenResult> {
    const { host, onError } = this.#need;
    const { content, whole } = resultContent(ok, output);
    const kept =
      whole === undefined || files.length > 0
        ? undefined
        : await host.keep?.(whole, `${call.id}.txt`).catch((error: unknown) => onError(asError(error)));
    const all = [...files, ...(kept ? [kept] : [])];
    return { content, ...(all.length > 0 && { files: all }), goesOn: true };
  }
}

/** The result of a call that has none: it asks for nothing (CTX-9). */
function givenUp(wasInterrupted: boolean): WrittenResult {
  const { content } = resultContent(false, wasInterrupted ? INTERRUPTED : LATE);
  return { content, goesOn: false, ...(wasInterrupted ? {} : { isLate: true }) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function rejected(signal: AbortSignal): Promise<never> {
  return aborted(signal).then(() => Promise.reject(new Error("given up")));
}

/** Asks for the next request in place of results that came too late. */
export function lateNotice(answer: number): AppendEvent {
  const payload = { role: "developer" as const, content: CALLS_LATE };
  return { type: "context-item", payload, idempotencyKey: `late:${answer}` };
}
