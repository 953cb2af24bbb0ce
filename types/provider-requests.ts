/**
 * What is rendered, against the request types that the providers publish (RENDER-1). Nothing here runs: `npm run
 * types` fails when a body and its provider no longer fit. These packages are for this file alone.
 */
import type { MessageCreateParamsNonStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import type { ResponseCreateParamsNonStreaming } from "openai/resources/responses/responses";
import type {
  AnthropicRequest,
  ChatRequest,
  ResponsesRequest,
} from "../src/shared/rules/context/render/index.ts";

export const responses = (body: ResponsesRequest): ResponseCreateParamsNonStreaming => ({
  model: "any",
  ...body,
});

export const chat = (body: ChatRequest): ChatCompletionCreateParamsNonStreaming => ({
  model: "any",
  ...body,
});

export const anthropic = (body: AnthropicRequest): MessageCreateParamsNonStreaming => ({
  model: "any",
  max_tokens: 1,
  ...body,
});

// Assignable is not enough, for a key that the provider does not know is assignable too, and refused when it is
// sent. So every key, at any depth, is one that the provider's type has at that place.
type KeyOf<T> = T extends unknown ? keyof T : never;
type At<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never;
type ItemOf<T> = T extends readonly (infer I)[] ? I : never;
type Unknown<Ours, Theirs> = unknown extends Ours | Theirs
  ? never
  : Ours extends readonly (infer I)[]
    ? Unknown<I, ItemOf<Theirs>>
    : Ours extends object
      ? { [K in keyof Ours]-?: K extends KeyOf<Theirs> ? Unknown<Ours[K], At<Theirs, K>> : K }[keyof Ours]
      : never;
type AllKnown<Ours, Theirs> = [Unknown<Ours, Theirs>] extends [never] ? true : Unknown<Ours, Theirs>;

export const known: [
  AllKnown<ResponsesRequest, ResponseCreateParamsNonStreaming>,
  AllKnown<ChatRequest, ChatCompletionCreateParamsNonStreaming>,
  AllKnown<AnthropicRequest, MessageCreateParamsNonStreaming>,
] = [true, true, true];

// The check itself: it finds one at the top, and one deep inside.
type Wrong = { input: { role: "user"; content: { type: "input_text"; text: string; colour: string }[] }[] };
export const found: [
  AllKnown<{ entries: string[] }, ResponseCreateParamsNonStreaming>,
  AllKnown<Wrong, ResponseCreateParamsNonStreaming>,
] = ["entries", "colour"];
