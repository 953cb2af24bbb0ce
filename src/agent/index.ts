/**
 * The client of Bullpen's office, as `bullpen/agent`: for Node 22 and newer. `connectAgent` takes an agent
 * teammate's items one after the other, and loses none of what it hands back over a crash.
 */

export type {
  AgentPayload,
  AgentRequest,
  AnswerTo,
  Link,
  OfferContext,
  OfferedItem,
  OfferFeedback,
  Op,
  SessionUsage,
  TicketStatus,
  Wake,
} from "../shared/wire/agent/index.ts";
export type { Team } from "../shared/wire/team.ts";
export type { ActContext, OnAct } from "./acts.ts";
export { type Agent, type AgentHelpers, type AgentOptions, connectAgent } from "./agent.ts";
export { OfficeError, type OfficeErrorCode } from "./errors.ts";
export { fileStore } from "./file-store.ts";
export type { HandBack, Item, ItemResult, Offer } from "./item.ts";
export type { OnItem, OnOffer } from "./items.ts";
export type { AgentStatus, AgentWelcome } from "./link.ts";
export { type ItemPromptOptions, promptForItem } from "./prompt.ts";
export type { OnReport } from "./reports.ts";
export type { AskOptions } from "./requests.ts";
export type { AgentReport } from "./rooms.ts";
export { type AgentStore, memoryStore } from "./store.ts";
