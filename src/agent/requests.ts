/** Requests and their answers: matched by `replyTo`, sent again after a reconnect, and never waited for without end. */

import type { Clock } from "../sdk/clock.ts";
import {
  type AgentPayload,
  type AgentRequest,
  ANSWERS,
  type AnswerTo,
  type AnyFrame,
} from "../shared/wire/agent/index.ts";
import { OfficeError } from "./errors.ts";
import { type Frame, frameId, frameText, ownPayload, readPayload } from "./frames.ts";

export interface AskOptions {
  /** How long an answer is waited for, a lost connection included. Default: a minute. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Only on the connection that is there now: it is refused when that ends. */
  once?: boolean | undefined;
  /** The frame's id; a fresh one unless an earlier life has sent it. */
  id?: string | undefined;
  /** Sends the frame; for one that must go another way than the others. */
  send?: ((frame: Frame) => boolean) | undefined;
}

/** An answer, with the id of the frame that brought it. */
export interface Answered<T extends AgentRequest> {
  payload: AgentPayload<AnswerTo<T>>;
  frameId: string;
}

interface Waiting {
  readonly frame: Frame;
  readonly type: AgentRequest;
  readonly options: AskOptions;
  readonly resolve: (answer: AnyFrame) => void;
  readonly reject: (error: OfficeError) => void;
}

const TIMEOUT_MS = 60_000;

export class Requests {
  readonly #send: (frame: Frame) => boolean;
  readonly #clock: Clock;
  readonly #onRefused: (type: AgentRequest, payload: object, error: OfficeError) => void;
  readonly #waiting = new Map<string, Waiting>();
  #failure: OfficeError | undefined;

  /** `onRefused` hears of every refusal, also of what nobody awaits. */
  constructor(
    send: (frame: Frame) => boolean,
    clock: Clock,
    onRefused: (type: AgentRequest, payload: object, error: OfficeError) => void,
  ) {
    this.#send = send;
    this.#clock = clock;
    this.#onRefused = onRefused;
  }

  /** Asks; resolves with what the answer carries, rejects with an `OfficeError`. */
  async ask<T extends AgentRequest>(
    type: T,
    payload: AgentPayload<T>,
    options: AskOptions = {},
  ): Promise<AgentPayload<AnswerTo<T>>> {
    return (await this.exchange(type, payload, options)).payload;
  }

  /** The same, with the id of the answer's frame. */
  async exchange<T extends AgentRequest>(
    type: T,
    payload: AgentPayload<T>,
    options: AskOptions = {},
  ): Promise<Answered<T>> {
    const { id = frameId(), timeoutMs = TIMEOUT_MS, signal } = options;
    if (this.#failure) throw this.#failure;
    const frame: Frame = { id, type, payload: ownPayload(type, payload) as Record<string, unknown> };
    // Refused here, where it can be said of what.
    frameText(frame);
    const { promise, resolve, reject } = Promise.withResolvers<AnyFrame>();
    const give = (): void => reject(new OfficeError("closed", "Nobody waits for the answer any more."));
    const timer = this.#clock.setTimeout(
      () => reject(new OfficeError("timeout", `The office has not answered ${type} in time.`)),
      timeoutMs,
    );
    this.#waiting.set(id, { frame, type, options, resolve, reject });
    signal?.addEventListener("abort", give, { once: true });
    try {
      if (signal?.aborted) give();
      else if (!(options.send ?? this.#send)(frame) && options.once)
        reject(new OfficeError("closed", "There is no connection to the office now."));
      const answer = await promise;
      return { payload: this.#read(type, answer, frame.payload), frameId: answer.id };
    } finally {
      this.#waiting.delete(id);
      this.#clock.clearTimeout(timer);
      signal?.removeEventListener("abort", give);
    }
  }

  /** A frame of the office; false when it answers nothing of ours. */
  answer(frame: AnyFrame): boolean {
    const waiting = frame.replyTo === undefined ? undefined : this.#waiting.get(frame.replyTo);
    waiting?.resolve(frame);
    return waiting !== undefined;
  }

  /** The connection is up: what was not answered goes out again, in order, with its own ids (OFF-8). */
  online(): void {
    for (const { frame, options } of this.#waiting.values()) if (!options.send) this.#send(frame);
  }

  /** The connection is gone. */
  offline(): void {
    for (const { options, reject } of this.#waiting.values())
      if (options.once) reject(new OfficeError("closed", "The connection to the office was lost."));
  }

  /** Nothing will be sent any more: everything, now and later, is refused with this. */
  fail(error: OfficeError): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
  }

  #read<T extends AgentRequest>(type: T, answer: AnyFrame, asked: object): AgentPayload<AnswerTo<T>> {
    if (answer.type === "error") {
      const read = readPayload("error", answer.payload);
      const error = read.ok
        ? new OfficeError(read.payload.code, read.payload.message)
        : new OfficeError("failed", "The office refused it in words that are not understood.");
      this.#onRefused(type, asked, error);
      throw error;
    }
    const wanted = ANSWERS[type];
    const read = readPayload(wanted, answer.payload);
    if (answer.type !== wanted || !read.ok)
      throw new OfficeError("failed", `The office's answer to ${type} is not understood.`);
    return read.payload;
  }
}
