/** What a model says, put together from what its endpoint sends, in either of the two forms of OpenAI. */
import * as z from "zod";
import { errorIn, type FailureReason, reasonSaid } from "./failures.ts";

/** A call as the model made it. An input that is no JSON stands as its text: whoever checks it says what is wrong. */
export interface CallMade {
  tool: string;
  input: unknown;
}

/** Tokens as the endpoint counts them; the field names of a compaction's `usage`. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens?: number;
  reasoningOutputTokens?: number;
}

/** An endpoint's own report that it failed, inside an answer that had begun. */
export class AnswerFailed extends Error {
  readonly reason: FailureReason;
  constructor(reason: FailureReason, said: string) {
    super(said);
    this.reason = reason;
  }
}

/** Takes an answer's parts as they come. */
export interface AnswerReader {
  /** One event's data, or a whole answer; hands back new words. Throws {@link AnswerFailed}. */
  take(part: unknown): string;
  readonly text: string;
  calls(): CallMade[];
  readonly usage: Usage | undefined;
  /** Whether the model has said that it is done. */
  done: boolean;
  /** It ran into its limit: words or calls may be missing. */
  readonly cut: boolean;
}

const count = z.number().int().nonnegative().nullish().catch(undefined);
const words = z.string().nullish();

const chatUsage = z.object({
  prompt_tokens: z.number().int().nonnegative(),
  completion_tokens: z.number().int().nonnegative(),
  prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
  completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
});
const chatCall = z.object({
  index: z.number().int().nonnegative().optional(),
  function: z.object({ name: words, arguments: z.unknown() }).nullish(),
  // Older models of Workers AI put them flat.
  name: words,
  arguments: z.unknown().optional(),
});
const chatMessage = z.object({ content: words, refusal: words, tool_calls: z.array(chatCall).nullish() });
const chatPart = z.object({
  choices: z
    .array(z.object({ delta: chatMessage.nullish(), message: chatMessage.nullish(), finish_reason: words }))
    .nullish(),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
  // Workers AI's own form, and how it wraps an answer that is no stream.
  response: z.unknown().optional(),
  tool_calls: z.array(chatCall).nullish(),
  result: z.unknown().optional(),
});

/** Chat Completions, and what Workers AI makes of them. */
export class ChatReader implements AnswerReader {
  text = "";
  usage: Usage | undefined;
  done = false;
  cut = false;
  readonly #calls = new Map<number, { tool: string; input: unknown }>();

  take(part: unknown): string {
    const read = chatPart.parse(part);
    if (read.result !== undefined && read.result !== null) return this.take(read.result);
    if (read.error !== undefined && read.error !== null) fail(read.error);
    this.usage =
      usageOf(read.usage, chatUsage, (it) => ({
        inputTokens: it.prompt_tokens,
        outputTokens: it.completion_tokens,
        cachedInputTokens: it.prompt_tokens_details?.cached_tokens,
        reasoningOutputTokens: it.completion_tokens_details?.reasoning_tokens,
      })) ?? this.usage;
    const choice = read.choices?.[0];
    const said = choice?.delta ?? choice?.message;
    const more = `${said?.content ?? said?.refusal ?? ""}${typeof read.response === "string" ? read.response : ""}`;
    this.text += more;
    for (const call of said?.tool_calls ?? read.tool_calls ?? []) this.#call(call);
    const reason = choice?.finish_reason;
    if (typeof reason === "string" && reason !== "") {
      if (reason === "content_filter") throw new AnswerFailed("filtered", "");
      this.done = true;
      this.cut = reason === "length";
    }
    return more;
  }

  #call({ index, function: named, ...flat }: z.infer<typeof chatCall>): void {
    const at = index ?? this.#calls.size;
    const there = this.#calls.get(at) ?? { tool: "", input: "" };
    this.#calls.set(at, there);
    there.tool += named?.name ?? flat.name ?? "";
    const more = named?.arguments ?? flat.arguments;
    if (typeof more === "string" && typeof there.input === "string") there.input += more;
    else if (more !== undefined && more !== null) there.input = more;
  }

  calls(): CallMade[] {
    return [...this.#calls.entries()]
      .toSorted(([a], [b]) => a - b)
      .map(([, { tool, input }]) => ({ tool, input: inputOf(input) }));
  }
}

const responsesUsage = z.object({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  input_tokens_details: z.object({ cached_tokens: count }).nullish().catch(undefined),
  output_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(undefined),
});
const outputItem = z.object({
  type: z.string(),
  content: z.array(z.object({ type: z.string(), text: words, refusal: words })).nullish(),
  name: words,
  arguments: z.unknown().optional(),
});
const response = z.object({
  status: words,
  output: z.array(outputItem).nullish(),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
  incomplete_details: z.object({ reason: words }).nullish(),
});
const responsesPart = z.object({
  type: words,
  delta: words,
  item: outputItem.nullish(),
  response: response.nullish(),
});

/** The Responses form. What the last event carries whole goes before what came in pieces. */
export class ResponsesReader implements AnswerReader {
  text = "";
  usage: Usage | undefined;
  done = false;
  cut = false;
  #calls: CallMade[] = [];

  take(part: unknown): string {
    const read = responsesPart.parse(part);
    switch (read.type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        this.text += read.delta ?? "";
        return read.delta ?? "";
      case "response.output_item.done":
        if (read.item?.type === "function_call") this.#calls.push(callOf(read.item));
        return "";
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return read.response ? this.#whole(read.response) : "";
      case "error":
        return fail(part);
      default:
        return this.#plain(part);
    }
  }

  /** An answer that came whole, since the endpoint does not stream; other events say nothing that is needed. */
  #plain(part: unknown): string {
    const read = z.object({ object: z.literal("response") }).safeParse(part);
    if (read.success) return this.#whole(response.parse(part));
    const { error } = z.looseObject({ error: z.unknown().optional() }).parse(part);
    return error === undefined || error === null ? "" : fail(error);
  }

  #whole({ status, output, usage, error, incomplete_details }: z.infer<typeof response>): string {
    if (status === "failed" || (error !== undefined && error !== null)) fail(error);
    const reason = incomplete_details?.reason;
    if (reason === "content_filter") throw new AnswerFailed("filtered", "");
    this.usage = usageOf(usage, responsesUsage, (it) => ({
      inputTokens: it.input_tokens,
      outputTokens: it.output_tokens,
      cachedInputTokens: it.input_tokens_details?.cached_tokens,
      reasoningOutputTokens: it.output_tokens_details?.reasoning_tokens,
    }));
    const items = output ?? [];
    const whole = items.flatMap(({ content }) => content ?? []).map((one) => one.text ?? one.refusal ?? "");
    const before = this.text;
    if (whole.length > 0) this.text = whole.join("");
    const calls = items.filter(({ type }) => type === "function_call").map(callOf);
    if (calls.length > 0) this.#calls = calls;
    this.done = true;
    this.cut = status === "incomplete";
    return this.text.startsWith(before) ? this.text.slice(before.length) : "";
  }

  calls(): CallMade[] {
    return this.#calls;
  }
}

function callOf({ name, arguments: given }: z.infer<typeof outputItem>): CallMade {
  return { tool: name ?? "", input: inputOf(given) };
}

/** The input of a call; no input at all is an empty one. */
function inputOf(given: unknown): unknown {
  if (typeof given !== "string") return given ?? {};
  if (given.trim() === "") return {};
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

type Counts = { [K in keyof Usage]: number | null | undefined };

function usageOf<T>(given: unknown, schema: z.ZodType<T>, as: (it: T) => Counts): Usage | undefined {
  const read = schema.safeParse(given);
  if (!read.success) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens, reasoningOutputTokens } = as(read.data);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(typeof cachedInputTokens === "number" && { cachedInputTokens }),
    ...(typeof reasoningOutputTokens === "number" && { reasoningOutputTokens }),
  };
}

function fail(error: unknown): never {
  const { code, message } = errorIn(error);
  throw new AnswerFailed(reasonSaid(code, message) ?? "unavailable", message);
}
