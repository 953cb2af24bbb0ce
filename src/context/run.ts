/** An agent that lives in a process and needs nothing but a stream and a model (REQ-7, CTX-8). */
import { fullJitter } from "../sdk/backoff.ts";
import { type Clock, systemClock } from "../sdk/clock.ts";
import { asError, BullpenError } from "../sdk/errors.ts";
import { download } from "../sdk/files.ts";
import { resultItem, resultKey } from "../shared/rules/context/calls.ts";
import { fileOfPath } from "../shared/rules/context/file-paths.ts";
import { type Draft, draftOf, step } from "../shared/rules/context/reduce.ts";
import type { AppendEvent } from "../shared/wire/context/http.ts";
import { lateNotice, type WaitingCall, type WrittenResult } from "./carry.ts";
import type { StoredEvent } from "./follow.ts";
import type { Model } from "./model.ts";
import { officeHostOf } from "./office-host.ts";
import { promptBody } from "./prompt.ts";
import { StreamRunner } from "./runner.ts";
import { seedOf } from "./seed.ts";
import type { ContextStream } from "./stream.ts";
import { type OwnTool, type ToolHost, toolDefinitions, withOwnTools } from "./tools.ts";
import { type Appended, pause } from "./turn.ts";
import { type AnswerAt, viewOf } from "./view.ts";

export interface RunAgentOptions {
  stream: ContextStream;
  model: Model;
  /** Tools that this process has itself, beside those of the office. */
  tools?: readonly OwnTool[] | undefined;
  /** Who carries out the other calls: the office, unless another is named; `null`: nobody. */
  host?: ToolHost | null | undefined;
  clock?: Clock | undefined;
  /** Told what went wrong in passing: it is tried again. */
  onError?: ((error: Error) => void) | undefined;
}

export interface RunningAgent {
  /** Resolves when it was stopped; rejects when the stream cannot be followed any more. */
  readonly ended: Promise<void>;
  /** Lets go of the stream. What is open is run by the next process. */
  stop(): Promise<void>;
}

/** Follows a stream and runs what is open in it, until it is stopped. */
export function runAgent(options: RunAgentOptions): RunningAgent {
  const agent = new Agent(options);
  return { ended: agent.ended, stop: () => agent.stop() };
}

class Agent {
  readonly ended: Promise<void>;
  readonly #stream: ContextStream;
  readonly #clock: Clock;
  readonly #runner: StreamRunner;
  readonly #leaving = new AbortController();
  readonly #end = Promise.withResolvers<void>();
  #draft: Draft | undefined;
  /** Answers with calls, by offset. */
  #answers = new Map<number, AnswerAt>();
  /** Results on their way: the last one of an answer is the one after which no other waits (CTX-9). */
  readonly #written = new Set<string>();
  #writing: Promise<unknown> = Promise.resolve();
  #isCaughtUp = false;
  #timer: unknown;

  constructor({ stream, model, tools = [], host, clock = systemClock, onError = () => {} }: RunAgentOptions) {
    this.#stream = stream;
    this.#clock = clock;
    this.ended = this.#end.promise;
    const hosts = withOwnTools(tools, host === null ? undefined : (host ?? officeHostOf(stream)));
    this.#runner = new StreamRunner({
      model,
      host: hosts,
      clock,
      polls: true,
      onError,
      again: (ms) => this.#again(ms),
      port: {
        path: stream.path,
        prompt: async ({ offset, at }, signal) => {
          const { items } = await stream.history(offset, signal);
          const definitions = toolDefinitions(hosts.tools);
          return promptBody({
            items,
            at,
            form: model.form,
            tools: definitions,
            read: (path) => this.#file(path),
          });
        },
        append: (events, signal) => this.#append(events, signal),
        result: (call, result) => this.#inOrder(() => this.#result(call, result)),
      },
    });
    this.#begin(onError).catch((error: unknown) => this.#end.reject(error));
  }

  async stop(): Promise<void> {
    this.#leaving.abort();
    this.#clock.clearTimeout(this.#timer);
    await this.#runner.leave();
    this.#end.resolve();
  }

  async #begin(onError: (error: Error) => void): Promise<void> {
    const { signal } = this.#leaving;
    for (let tries = 0; !this.#draft; tries++) {
      try {
        const { state, answers } = await seedOf(this.#stream);
        this.#draft = draftOf(state);
        this.#answers = answers;
      } catch (error) {
        if (!(error instanceof BullpenError) || !error.retryable) throw error;
        onError(error);
        await pause(this.#clock, fullJitter(tries, this.#clock.random), signal);
      }
      if (signal.aborted) return;
    }
    const following = this.#stream.follow({
      after: this.#draft.state.head,
      onEvent: (event) => this.#take(event),
      onCaughtUp: () => {
        this.#isCaughtUp = true;
        this.#look();
      },
      onLost: () => {
        this.#isCaughtUp = false;
      },
      onEnd: (error) => {
        if (!error) return;
        this.#end.reject(error);
        void this.stop();
      },
    });
    signal.addEventListener("abort", () => following.close(), { once: true });
  }

  #take({ offset, type, payload, at }: StoredEvent): void {
    const draft = this.#draft as Draft;
    step(draft, { offset, type, payload, at: Date.parse(at) });
    const entry = draft.state.open?.answer === offset ? draft.state.items.at(-1) : undefined;
    if (entry) this.#answers.set(offset, { content: entry.item.content, at: Date.parse(at) });
    if (this.#isCaughtUp) this.#look();
  }

  #look(): void {
    if (!this.#draft || this.#leaving.signal.aborted) return;
    const { state } = this.#draft;
    for (const offset of this.#answers.keys())
      if (state.open?.answer !== offset && !state.calls.some(({ answer }) => answer === offset))
        this.#answers.delete(offset);
    this.#runner.look(viewOf(state, this.#stream.path, (offset) => this.#answers.get(offset)));
  }

  #again(ms: number): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => this.#look(), ms);
  }

  /** Until it is stored or refused: what was stored and whose answer was lost is known by its key (STREAM-1). */
  async #append(events: readonly AppendEvent[], signal: AbortSignal): Promise<Appended> {
    for (let tries = 0; ; tries++) {
      try {
        await this.#stream.append(events, signal);
        return { is: "stored" };
      } catch (error) {
        if (!(error instanceof BullpenError)) throw error;
        if (error.code === "conflict") return { is: "late" };
        if (!error.retryable) return { is: "refused", why: error.message };
      }
      await pause(this.#clock, 200 + fullJitter(tries, this.#clock.random), signal);
      signal.throwIfAborted();
    }
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => {});
    return done;
  }

  async #result(call: WaitingCall, { content, files, goesOn, isLate }: WrittenResult): Promise<void> {
    const calls = this.#draft?.state.calls ?? [];
    const others = calls.filter(({ answer, id }) => answer === call.answer && id !== call.id);
    const isLast = others.every(({ id, result }) => result !== null || this.#written.has(id));
    const of = { id: call.id, answer: call.answer, streamPath: this.#stream.path };
    const payload = resultItem(of, content, { last: goesOn && isLast, ...(files && { files }) });
    const event: AppendEvent = { type: "context-item", payload, idempotencyKey: resultKey(call.id) };
    const events = isLate && isLast ? [event, lateNotice(call.answer)] : [event];
    const appended = await this.#append(events, this.#leaving.signal);
    if (appended.is === "refused") throw new BullpenError("invalid", appended.why);
    this.#written.add(call.id);
  }

  /** A file's bytes, if the agent may see it (RENDER-3). */
  async #file(path: string): Promise<Uint8Array | undefined> {
    const { http, workspace } = this.#stream;
    const attachment_id = fileOfPath(workspace, path);
    if (attachment_id === undefined) return undefined;
    try {
      const response = await download(http, { attachment_id }, this.#clock.now(), this.#leaving.signal);
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      if (asError(error) instanceof BullpenError && !(error as BullpenError).retryable) return undefined;
      throw error;
    }
  }
}
