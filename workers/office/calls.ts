/**
 * What an office asks other objects, each call in one place (tests put their own answers here). Calls answer with
 * unions; what they throw is that the other was out of reach.
 */
import type { AgentPayload } from "../../src/shared/wire/agent/index.ts";
import type { Result } from "../kit/result.ts";
import { boardOf, roomOf } from "../objects.ts";
import type { AgentAct, AgentActAnswer, AgentActArgs } from "../room/office/agent.ts";
import type { Credential } from "../room/types.ts";
import type { AskAnswer, AskAsk, Found, Identity, OfferAnswer, OfferAsk, RoomMessage } from "./letters.ts";

interface RoomCalls {
  identify(credential: Credential): Promise<Result<Identity>>;
  runHeard(runIds: string[]): Promise<void>;
  roomMessage(handle: string, spaceId: string, messageId: string): Promise<Result<RoomMessage>>;
  asAgent<N extends AgentAct>(
    handle: string,
    name: N,
    args: AgentActArgs<N>,
  ): Promise<Result<AgentActAnswer<N>>>;
}
interface BoardCalls {
  offer(ask: OfferAsk): Promise<Result<OfferAnswer>>;
  find(handle: string, target: string): Promise<Result<Found>>;
  itemsOfOthers(handle: string, ids: string[]): Promise<string[]>;
  ask(ask: AskAsk): Promise<Result<AskAnswer>>;
  roster(handle: string): Promise<Result<AgentPayload<"roster_result">>>;
  currentWork(handle: string): Promise<Result<AgentPayload<"current_work_result">>>;
  ticketPrs(asked: AgentPayload<"ticket_prs">): Promise<Result<AgentPayload<"ticket_prs_result">>>;
  prList(asked: AgentPayload<"pr_list">): Promise<Result<AgentPayload<"pr_list_result">>>;
  ciLog(asked: AgentPayload<"ci_log">): Promise<Result<AgentPayload<"ci_log_result">>>;
  ticketUsage(key: string): Promise<Result<AgentPayload<"ticket_usage_result">>>;
  secretValues(name: string): Promise<string[]>;
}
const room = (env: Env, workspace: string) => roomOf(env, workspace) as unknown as RoomCalls;
const board = (env: Env, workspace: string) => boardOf(env, workspace) as unknown as BoardCalls;

export const CALLS = {
  /** Who a token is (OFF-2). */
  identify: (env: Env, workspace: string, credential: Credential) =>
    room(env, workspace).identify(credential),
  /** Runs whose agent was heard: they go on (TURN-5). */
  runHeard: (env: Env, workspace: string, runIds: string[]) => room(env, workspace).runHeard(runIds),
  /** Whether an offer still stands, and what it carries (OFFER-2). */
  offer: (env: Env, workspace: string, ask: OfferAsk) => board(env, workspace).offer(ask),
  /** What a target names. */
  find: (env: Env, workspace: string, handle: string, target: string) =>
    board(env, workspace).find(handle, target),
  /** Which of these items are in somebody else's office (ITEM-4). */
  itemsOfOthers: (env: Env, workspace: string, handle: string, ids: string[]) =>
    board(env, workspace).itemsOfOthers(handle, ids),
  /** A room's message that the person's agent may see, as the room has it (CHAT-1). */
  roomMessage: (env: Env, workspace: string, handle: string, spaceId: string, messageId: string) =>
    room(env, workspace).roomMessage(handle, spaceId, messageId),
  /** What the office does in rooms for its person, as their agent's own token would (CHAT-2, CTX-8). */
  asAgent: <N extends AgentAct>(
    env: Env,
    workspace: string,
    handle: string,
    name: N,
    args: AgentActArgs<N>,
  ) => room(env, workspace).asAgent(handle, name, args),
  /** Puts a question to somebody; the same id again is the same question (ITEM-2). */
  ask: (env: Env, workspace: string, ask: AskAsk) => board(env, workspace).ask(ask),
  roster: (env: Env, workspace: string, handle: string) => board(env, workspace).roster(handle),
  currentWork: (env: Env, workspace: string, handle: string) => board(env, workspace).currentWork(handle),
  ticketPrs: (env: Env, workspace: string, asked: AgentPayload<"ticket_prs">) =>
    board(env, workspace).ticketPrs(asked),
  prList: (env: Env, workspace: string, asked: AgentPayload<"pr_list">) =>
    board(env, workspace).prList(asked),
  ciLog: (env: Env, workspace: string, asked: AgentPayload<"ci_log">) => board(env, workspace).ciLog(asked),
  /** A secret of the workspace, the newest value first (SECRET-1). */
  secretValues: (env: Env, workspace: string, name: string) => board(env, workspace).secretValues(name),
  ticketUsage: (env: Env, workspace: string, key: string) => board(env, workspace).ticketUsage(key),
};
