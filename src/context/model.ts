/**
 * A model behind an OpenAI-compatible endpoint, or Workers AI: one request, one answer, as a stream. Nothing is
 * thrown: what goes wrong is a value that says why and whether another try may help. Runs in Node and in workerd.
 */
import * as z from "zod";
import { type Clock, systemClock } from "../sdk/clock.ts";
import {
  AnswerFailed,
  type AnswerReader,
  type CallMade,
  ChatReader,
  ResponsesReader,
  type Usage,
} from "./answer.ts";
import { type Failure, failure, failureOfStatus } from "./failures.ts";
import { EventReader } from "./sse.ts";

/** In which form a model is asked: how its prompt is rendered. */
export type ModelForm = "openai-chat" | "openai-responses";

export interface AskOptions {
  /** Calls the request off: the connection is closed, and the answer is `aborted` with the words so far. */
  signal?: AbortSignal | undefined;
  /** New words, as they come. */
  onText?: ((more: string) => void) | undefined;
}

export type Answer =
  | { ok: true; text: string; calls: CallMade[]; usage?: Usage | undefined; cut: boolean }
  | { ok: false; failure: Failure; text: string };

export interface Model {
  readonly name: string;
  readonly form: ModelForm;
  /** @param prompt the body as it was rendered for this form, without model and sampling */
  ask(prompt: object, options?: AskOptions): Promise<Answer>;
}

/** What both kinds of endpoint are given. */
export interface ModelSettings {
  model: string;
  form?: ModelForm | undefined;
  /** The most tokens that an answer may have; without it the endpoint's own limit. */
  output?: number | undefined;
  /** Sampling and whatever else the endpoint takes; it goes into the body as it is. */
  more?: object | undefined;
  /** So long the endpoint may take until it begins, and between two pieces: 2 minutes. */
  silenceMs?: number | undefined;
  clock?: Clock | undefined;
}

export interface OpenAiOptions extends ModelSettings {
  /** Up to the version, as in `https://api.openai.com/v1`. */
  baseUrl: string;
  apiKey?: string | undefined;
  fetch?: typeof globalThis.fetch | undefined;
}

/** The `AI` binding, as far as it is used. */
export interface AiBinding {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options: { returnRawResponse: true; signal?: AbortSignal },
  ): Promise<Response>;
}

const SILENCE_MS = 120_000;
/** A call's answer and everything around it in the stream. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_OF_ERROR = 16 * 1024;

/** Any endpoint that speaks as OpenAI's does. */
export function openAiModel(options: OpenAiOptions): Model {
  const { baseUrl, apiKey, form = "openai-chat" } = options;
  const path = form === "openai-chat" ? "chat/completions" : "responses";
  const url = `${baseUrl.replace(/\/+$/, "")}/${path}`;
  const fetch =
    options.fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args));
  return modelOver(
    { ...options, form },
    {
      // The newer models of OpenAI take no other name.
      limit: form === "openai-chat" ? "max_completion_tokens" : "max_output_tokens",
      secrets: apiKey === undefined ? [] : [apiKey],
      send: (body, signal) =>
        fetch(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "text/event-stream",
            ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          },
          body: JSON.stringify(body),
          signal,
          // A key goes to the endpoint that it was given for, and nowhere that this one points to.
          redirect: "manual",
        }),
    },
  );
}

/** A model of Workers AI (`@cf/…`) through the binding: no key and no address. */
export function workersAiModel(options: ModelSettings & { ai: AiBinding }): Model {
  const { ai, model } = options;
  return modelOver(
    { ...options, form: "openai-chat" },
    {
      limit: "max_tokens",
      secrets: [],
      send: ({ model: _, ...inputs }, signal) => ai.run(model, inputs, { returnRawResponse: true, signal }),
    },
  );
}

interface Over {
  /** What the endpoint calls the most tokens of an answer. */
  limit: "max_output_tokens" | "max_completion_tokens" | "max_tokens";
  secrets: readonly string[];
  send: (body: Record<string, unknown>, signal: AbortSignal) => Promise<Response>;
}

function modelOver(options: ModelSettings & { form: ModelForm }, { limit, secrets, send }: Over): Model {
  const { model, form, output, more = {}, silenceMs = SILENCE_MS, clock = systemClock } = options;
  const always =
    form === "openai-responses"
      ? { stream: true, store: false }
      : { stream: true, stream_options: { include_usage: true } };
  return {
    name: model,
    form,
    async ask(prompt, { signal, onText } = {}) {
      const reader = form === "openai-responses" ? new ResponsesReader() : new ChatReader();
      const watch = new Watch(clock, silenceMs, signal);
      let begun = false;
      try {
        const body = { model, ...prompt, ...always, ...(output && { [limit]: output }), ...more };
        const answer = await watch.over(send(body, watch.signal));
        begun = true;
        if (!answer.ok) {
          const text = await textOf(answer, watch);
          return { ok: false, failure: failureOfStatus(answer, text, clock.now(), secrets), text: "" };
        }
        await readInto(reader, answer, watch, onText);
        if (!reader.done) return { ok: false, failure: failure("cut"), text: reader.text };
      } catch (error) {
        // Once the model has said that it is done, nothing that follows changes its answer.
        if (!reader.done || error instanceof AnswerFailed)
          return {
            ok: false,
            failure: watch.why ? failure(watch.why) : failureOf(error, begun, secrets),
            text: reader.text,
          };
      } finally {
        watch.end();
      }
      const { text, usage, cut } = reader;
      return { ok: true, text, calls: reader.calls(), usage, cut };
    },
  };
}

function failureOf(error: unknown, begun: boolean, secrets: readonly string[]): Failure {
  if (error instanceof AnswerFailed) return failure(error.reason, error.message, secrets);
  if (error instanceof SyntaxError || error instanceof z.ZodError) return failure("malformed");
  return failure(begun ? "cut" : "unreachable");
}

async function readInto(
  reader: AnswerReader,
  answer: Response,
  watch: Watch,
  onText: AskOptions["onText"],
): Promise<void> {
  const type = answer.headers.get("content-type") ?? "";
  if (!type.includes("text/event-stream")) {
    // An endpoint that does not stream, or is no endpoint of a model.
    const text = reader.take(JSON.parse(await textOf(answer, watch, MOST_BYTES)));
    reader.done ||= reader.text !== "" || reader.calls().length > 0;
    if (text !== "") onText?.(text);
    return;
  }
  const events = new EventReader();
  for await (const text of textsOf(answer, watch, MOST_BYTES))
    for (const data of events.take(text)) {
      if (data.trim() === "[DONE]") {
        reader.done = true;
        return;
      }
      const more = reader.take(JSON.parse(data));
      if (more !== "") onText?.(more);
    }
}

async function textOf(answer: Response, watch: Watch, most = MOST_OF_ERROR): Promise<string> {
  let whole = "";
  for await (const text of textsOf(answer, watch, most)) whole += text;
  return whole;
}

/** The body's text as it comes, no more than `most` bytes; left early, the connection is let go of. */
async function* textsOf(answer: Response, watch: Watch, most: number): AsyncGenerator<string> {
  const reader = answer.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await watch.over(reader.read());
      if (done) break;
      const bytes = value as Uint8Array;
      size += bytes.byteLength;
      if (size > most) {
        if (most === MOST_OF_ERROR) return;
        throw new AnswerFailed("too_large", "");
      }
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Ends a request that is called off, or that is silent for too long. */
class Watch {
  why: "aborted" | "timeout" | undefined;
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #ended = Promise.withResolvers<never>();
  readonly #off = () => this.#stop("aborted");

  constructor(clock: Clock, silenceMs: number, outer: AbortSignal | undefined) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#outer = outer;
    // Nobody may be waiting when it ends.
    this.#ended.promise.catch(() => {});
    outer?.addEventListener("abort", this.#off, { once: true });
    if (outer?.aborted) this.#stop("aborted");
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The next sign of life, in time: not every runtime ends a read with its signal. */
  async over<T>(next: Promise<T>): Promise<T> {
    const timer = this.#clock.setTimeout(() => this.#stop("timeout"), this.#silenceMs);
    try {
      return await Promise.race([next, this.#ended.promise]);
    } finally {
      this.#clock.clearTimeout(timer);
    }
  }

  end(): void {
    this.#outer?.removeEventListener("abort", this.#off);
  }

  #stop(why: "aborted" | "timeout"): void {
    this.why ??= why;
    this.#ended.reject(new Error(why));
    this.#controller.abort();
  }
}
