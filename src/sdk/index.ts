/**
 * The client of Bullpen's rooms, as `bullpen/sdk`: for Node 22 and newer, browsers and Workers.
 *
 * `connectHarness` for a program that takes its agents' turns, `connectPerson` for a page or a command line,
 * `BullpenHttp` for single requests.
 */

export type { ErrorCode } from "../shared/wire/errors.ts";
export type {
  Attachment,
  Context,
  Exchange,
  File,
  Line,
  MessageNew,
  MessageOverheard,
  Outcome,
  Receipt,
  ReplyingTo,
  Room,
  RoomMember,
  Sender,
  ServerEvent,
  ServerFrame,
  Verb,
  VerbInput,
  VerbType,
  Welcome,
} from "../shared/wire/index.ts";
export type { Answer, ApproveOptions, AskOptions, Decision } from "./asks.ts";
export { type BackoffOptions, fullJitter, reconnects } from "./backoff.ts";
export type { ClientOptions, SendOptions, VerbFields } from "./client.ts";
export { type Clock, systemClock } from "./clock.ts";
export {
  type Connection,
  type ConnectionOptions,
  type HelloFields,
  openConnection,
  type SocketConstructor,
  type SocketLike,
  type Status,
} from "./connection.ts";
export { BullpenError, type BullpenErrorOptions } from "./errors.ts";
export type { Content, Downloadable, Uploaded, UploadOptions } from "./files.ts";
export { connectHarness, type Harness, type HarnessOptions } from "./harness.ts";
export { BullpenHttp, type Fetch, type HttpOptions, type Query, type RequestOptions } from "./http.ts";
export { newId } from "./ids.ts";
export { connectPerson, type PersonConnection, type PersonOptions } from "./person.ts";
export { type PromptOptions, promptFor, quoteMessage } from "./prompt.ts";
export type { ResumedTurn, ResumeHandlers } from "./resume.ts";
export type { ReplyOptions, Run, TurnResult, Usage } from "./run.ts";
export type { Overheard, Turn } from "./turn.ts";
