/** What a handler of an agent's request is made of (protocol.ts tells how one is added). */
import type {
  AgentErrorCode,
  AgentPayload,
  AgentRequest,
  AnswerTo,
} from "../../src/shared/wire/agent/index.ts";
import type { Result } from "../kit/result.ts";
import type { Desk, Look } from "./desk.ts";

/** A request that is not done, and why (OFF-4). */
export class AgentRefused extends Error {
  readonly code: AgentErrorCode;
  /** What is written all the same, with the answer. */
  readonly aside: ((desk: Desk) => void) | undefined;
  constructor(code: AgentErrorCode, message: string, aside?: (desk: Desk) => void) {
    super(message);
    this.code = code;
    this.aside = aside;
  }
}

/** The value of another object's answer, or its refusal as an agent is told it (OFF-4). */
export function mustAgent<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const { code, message } = result.error;
  const as: Partial<Record<typeof code, AgentErrorCode>> = {
    not_found: "not_found",
    invalid: "invalid",
    conflict: "invalid",
    forbidden: "invalid",
    unsupported: "unsupported",
  };
  throw new AgentRefused(as[code] ?? "failed", message);
}

/** The frame that a request came in. */
export interface FrameOf {
  id: string;
  /** Of its type and payload: the same text has the same hash. */
  hash: string;
}

export interface Handler<T extends AgentRequest, Found = unknown> {
  writes: boolean;
  /** Whether the frame's id is kept in a row; not for what comes all the time and changes none (OFF-6). */
  kept: boolean;
  before?: (look: Look, payload: AgentPayload<T>) => Promise<Found>;
  take: (desk: Desk, payload: AgentPayload<T>, frame: FrameOf, found: Found) => AgentPayload<AnswerTo<T>>;
}
type Take<T extends AgentRequest, Found = undefined> = Handler<T, Found>["take"];
type Before<T extends AgentRequest, Found> = (look: Look, payload: AgentPayload<T>) => Promise<Found>;
/** A handler whose `Found` is its own affair. */
// oxlint-disable-next-line typescript/no-explicit-any -- what `before` finds goes to the same row's `take` alone
export type AnyHandler<T extends AgentRequest> = Handler<T, any>;

/** A request that changes rows (OFF-1). */
export function write<T extends AgentRequest>(take: Take<T>): Handler<T, undefined> {
  return { writes: true, kept: true, take };
}
/** A request that changes nothing. */
export function read<T extends AgentRequest>(take: Take<T>): Handler<T, undefined> {
  return { writes: false, kept: true, take };
}
/** A sign of life: it changes nothing, and comes too often for a row (OFF-6). */
export function sign<T extends AgentRequest>(take: Take<T>): Handler<T, undefined> {
  return { writes: false, kept: false, take };
}
/** A request that changes rows after it asked elsewhere. */
export function asking<T extends AgentRequest, F>(before: Before<T, F>, take: Take<T, F>): Handler<T, F> {
  return { writes: true, kept: true, before, take };
}
/** A request that changes nothing and must ask elsewhere. */
export function looking<T extends AgentRequest, F>(before: Before<T, F>, take: Take<T, F>): Handler<T, F> {
  return { writes: false, kept: true, before, take };
}
