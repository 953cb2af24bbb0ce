/** From a stream's history to the body of a provider's request (RENDER-1 to RENDER-4). */
import type { PromptFormat } from "../../../wire/context/http.ts";
import { type AnthropicRequest, anthropicRequest } from "./anthropic.ts";
import { type ItemsRequest, itemsRequest } from "./items.ts";
import { type ChatRequest, chatRequest } from "./openai-chat.ts";
import { type ResponsesRequest, responsesRequest } from "./openai-responses.ts";
import { type PromptInput, promptOf } from "./prompt.ts";

export type { AnthropicRequest } from "./anthropic.ts";
export { FILE_LIMITS, type FileBytes } from "./files.ts";
export type { ItemsRequest } from "./items.ts";
export type { HistoryItem } from "./lanes.ts";
export type { ChatRequest } from "./openai-chat.ts";
export type { ResponsesRequest } from "./openai-responses.ts";
export { PREAMBLE } from "./preamble.ts";
export { type PromptInput, pathsToSend, type ToolDefinition } from "./prompt.ts";

/** What each format's body is. */
export interface Requests {
  /** OpenAI's Responses, in short. */
  openai: ResponsesRequest;
  "openai-responses": ResponsesRequest;
  "openai-chat": ChatRequest;
  anthropic: AnthropicRequest;
  items: ItemsRequest;
}

const FORMATS: { [F in PromptFormat]: (input: PromptInput) => Requests[F] } = {
  openai: (input) => responsesRequest(promptOf(input)),
  "openai-responses": (input) => responsesRequest(promptOf(input)),
  "openai-chat": (input) => chatRequest(promptOf(input), input.developer),
  anthropic: (input) => anthropicRequest(promptOf(input)),
  items: (input) => itemsRequest(promptOf(input)),
};

/**
 * The body of a provider's request, without model and sampling: a pure function of what it is given, the same
 * bytes in Node and in workerd (RENDER-4). The more a stream grows, the longer the beginning that stays the same.
 */
export function renderPrompt<F extends PromptFormat>(input: PromptInput, format: F): Requests[F] {
  return FORMATS[format](input);
}
