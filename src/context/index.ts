/**
 * The context of an agent, as `bullpen/context`: its streams, a model behind an OpenAI-compatible endpoint, and an
 * agent that needs nothing else to live in a room. For Node 22 and newer, and Workers.
 */
export type { AppendEvent, HistoryAnswer, PromptFormat } from "../shared/wire/context/http.ts";
export type { ContextItem } from "../shared/wire/context/item.ts";
export type { CallMade, Usage } from "./answer.ts";
export type { Failure, FailureReason } from "./failures.ts";
export type { Following, FollowOptions, StoredEvent } from "./follow.ts";
export {
  type AiBinding,
  type Answer,
  type AskOptions,
  type Model,
  type ModelForm,
  type ModelSettings,
  type OpenAiOptions,
  openAiModel,
  workersAiModel,
} from "./model.ts";
export { officeHostOf } from "./office-host.ts";
export { type RunAgentOptions, type RunningAgent, runAgent } from "./run.ts";
export { type ContextStream, openStream, type StreamOptions } from "./stream.ts";
export {
  type Call,
  OFFICE_TOOLS,
  type OfficeTool,
  type OwnTool,
  type ResultFile,
  type ToolHost,
  type ToolResult,
  type ToolSpec,
} from "./tools.ts";
