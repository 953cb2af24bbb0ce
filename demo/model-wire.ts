/** The two forms in which a model is asked, as a provider has them: what it takes and the events that it sends. */
import * as z from "zod";

const part = z.looseObject({ type: z.string() });
const content = z.union([z.string(), z.array(part).min(1)]);
const role = z.enum(["system", "developer", "user", "assistant"]);
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const parameters = z.looseObject({ type: z.literal("object") });
const sampling = {
  model: z.string().min(1),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().optional(),
};

/** `POST …/chat/completions`. Unknown keys are refused, as OpenAI does. */
export const chatRequest = z.strictObject({
  ...sampling,
  messages: z.array(z.strictObject({ role, content, name: z.string().optional() })).min(1),
  stream_options: z.strictObject({ include_usage: z.boolean() }).optional(),
  max_tokens: z.int().positive().optional(),
  max_completion_tokens: z.int().positive().optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({ name: toolName, description: z.string().optional(), parameters }),
      }),
    )
    .min(1)
    .optional(),
});

/** `POST …/responses`. */
export const responsesRequest = z.strictObject({
  ...sampling,
  input: z.array(z.strictObject({ type: z.literal("message").optional(), role, content })).min(1),
  instructions: z.string().optional(),
  store: z.boolean().optional(),
  max_output_tokens: z.int().positive().optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        name: toolName,
        description: z.string().optional(),
        parameters,
        strict: z.boolean().nullable().optional(),
      }),
    )
    .min(1)
    .optional(),
});

/** What is asked of the model, whichever form it came in. */
export interface Asked {
  form: "chat" | "responses";
  model: string;
  stream: boolean;
  /** Each message as one text; parts that are no text are named. */
  messages: { role: string; text: string }[];
  tools: string[];
}

export function askedIn(form: Asked["form"], body: unknown): z.ZodSafeParseResult<Asked> {
  const read =
    form === "chat"
      ? chatRequest.transform((it) => ({
          ...it,
          given: it.messages,
          names: it.tools?.map((t) => t.function),
        }))
      : responsesRequest.transform((it) => ({ ...it, given: it.input, names: it.tools }));
  return read
    .transform(({ model, stream = false, given, names = [] }) => ({
      form,
      model,
      stream,
      messages: given.map((one) => ({ role: one.role, text: textOf(one.content) })),
      tools: names.map(({ name }) => name),
    }))
    .safeParse(body);
}

function textOf(given: z.infer<typeof content>): string {
  if (typeof given === "string") return given;
  return given.map((one) => (typeof one["text"] === "string" ? one["text"] : `(${one.type})`)).join("");
}

/** What a model says: words, and tools that it calls. */
export interface Said {
  text: string;
  calls: { tool: string; input: unknown }[];
  usage: Usage;
  /** Why it ended: `length` when it ran into its limit. */
  ended: "stop" | "length";
}
export interface Usage {
  input: number;
  output: number;
  cached?: number | undefined;
  reasoning?: number | undefined;
}

/** What goes wrong with an answer. `after` counts pieces of words that were sent before. */
export type Fault =
  /** Waits between pieces. */
  | { kind: "slow"; ms: number }
  /** Sends no more until it is let go on: `release`. */
  | { kind: "held"; after: number }
  /** The connection breaks. */
  | { kind: "cut"; after: number }
  /** Ends in good order, before the model has said that it is done. */
  | { kind: "unfinished"; after: number }
  /** A frame that is no JSON. */
  | { kind: "malformed"; after: number }
  /** An error inside the stream. */
  | { kind: "broken"; after: number; code: string }
  /** A refusal instead of an answer. */
  | { kind: "status"; status: number; retryAfterS?: number; code?: string }
  /** Takes the request and never says a word. */
  | { kind: "silent" };

/** One answer of a script. */
export interface Scripted {
  text?: string;
  calls?: Said["calls"];
  /** Without it the size of the request and of the answer is counted. */
  usage?: Usage;
  ended?: Said["ended"];
  fault?: Fault;
}

/** One request that came. */
export interface Seen {
  path: string;
  authorization: string | undefined;
  body: unknown;
  /** `left` when the client went away before the end. */
  state: "open" | "answered" | "left";
}

/** The input of a call as the model writes it; a text stands as it is, so that a broken one can be written. */
const argumentsOf = (input: unknown): string => (typeof input === "string" ? input : JSON.stringify(input));

interface Form {
  /** The whole answer, for who did not ask for a stream. */
  whole(said: Said): object;
  /** The events of a stream, one frame each; `text` ones carry a piece of the words. */
  frames(said: Said): Frame[];
}
export interface Frame {
  data: string;
  event?: string;
  isText: boolean;
}

const ID = "resp_scripted";

/** Words in pieces, as a model writes them. */
function pieces(text: string): string[] {
  return text.match(/\S*\s*/g)?.filter((piece) => piece !== "") ?? [];
}

const chatUsage = ({ input, output, cached, reasoning }: Usage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
  ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
});
const chatCalls = (calls: Said["calls"]) =>
  calls.map(({ tool, input }, index) => ({
    index,
    id: `call_${index + 1}`,
    type: "function",
    function: { name: tool, arguments: argumentsOf(input) },
  }));
const finishOf = ({ calls, ended }: Said) => (calls.length > 0 && ended === "stop" ? "tool_calls" : ended);

const chat: Form = {
  whole: (said) => ({
    id: ID,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: said.text === "" ? null : said.text,
          ...(said.calls.length > 0 && { tool_calls: chatCalls(said.calls) }),
        },
        finish_reason: finishOf(said),
      },
    ],
    usage: chatUsage(said.usage),
  }),
  frames(said) {
    const chunk = (delta: object, finish_reason: string | null = null): Frame => ({
      data: JSON.stringify({
        id: ID,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason }],
      }),
      isText: "content" in delta && delta.content !== "",
    });
    const calls = chatCalls(said.calls).flatMap((call) => {
      const { index, id, type, function: made } = call;
      const half = Math.ceil(made.arguments.length / 2);
      return [
        { index, id, type, function: { name: made.name, arguments: made.arguments.slice(0, half) } },
        { index, function: { arguments: made.arguments.slice(half) } },
      ].map((piece) => chunk({ tool_calls: [piece] }));
    });
    return [
      chunk({ role: "assistant", content: "" }),
      ...pieces(said.text).map((content) => chunk({ content })),
      ...calls,
      chunk({}, finishOf(said)),
      {
        data: JSON.stringify({
          id: ID,
          object: "chat.completion.chunk",
          choices: [],
          usage: chatUsage(said.usage),
        }),
        isText: false,
      },
      { data: "[DONE]", isText: false },
    ];
  },
};

const responses: Form = {
  whole: (said) => ({
    id: ID,
    object: "response",
    status: said.ended === "stop" ? "completed" : "incomplete",
    error: null,
    incomplete_details: said.ended === "stop" ? null : { reason: "max_output_tokens" },
    output: outputOf(said),
    usage: {
      input_tokens: said.usage.input,
      input_tokens_details: { cached_tokens: said.usage.cached ?? 0 },
      output_tokens: said.usage.output,
      output_tokens_details: { reasoning_tokens: said.usage.reasoning ?? 0 },
      total_tokens: said.usage.input + said.usage.output,
    },
  }),
  frames(said) {
    const output = outputOf(said);
    let sequence_number = 0;
    const frame = (type: string, fields: object): Frame => {
      sequence_number += 1;
      return {
        event: type,
        data: JSON.stringify({ type, sequence_number, ...fields }),
        isText: type === "response.output_text.delta",
      };
    };
    const begun = { id: ID, object: "response", status: "in_progress", output: [] };
    const items = output.flatMap((item, output_index) => [
      frame("response.output_item.added", { output_index, item: { ...item, status: "in_progress" } }),
      ...(item.type === "message"
        ? pieces(said.text).map((delta) =>
            frame("response.output_text.delta", { item_id: item.id, output_index, content_index: 0, delta }),
          )
        : [
            frame("response.function_call_arguments.delta", {
              item_id: item.id,
              output_index,
              delta: item.arguments,
            }),
          ]),
      frame("response.output_item.done", { output_index, item }),
    ]);
    return [
      frame("response.created", { response: begun }),
      ...items,
      frame(said.ended === "stop" ? "response.completed" : "response.incomplete", {
        response: this.whole(said),
      }),
    ];
  },
};

function outputOf({ text, calls }: Said) {
  const words = {
    type: "message" as const,
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
  return [
    ...(text === "" ? [] : [words]),
    ...calls.map(({ tool, input }, n) => ({
      type: "function_call" as const,
      id: `fc_${n + 1}`,
      call_id: `call_${n + 1}`,
      name: tool,
      arguments: argumentsOf(input),
      status: "completed",
    })),
  ];
}

export const FORMS: Record<Asked["form"], Form> = { chat, responses };

/** What a provider says of a request that it does not take. */
export function refusal(status: number, message: string, code: string | null = null): object {
  const type = status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param: null, code } };
}
