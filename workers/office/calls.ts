/**
 * What an office asks other objects, each call in one place (tests put their own answers here). Calls answer with
 * unions; what they throw is that the other was out of reach.
 */
import type { Result } from "../kit/result.ts";
import { boardOf, roomOf } from "../objects.ts";
import type { Credential } from "../room/types.ts";
import type { Found, Identity, OfferAnswer, OfferAsk } from "./letters.ts";

interface RoomCalls {
  identify(credential: Credential): Promise<Result<Identity>>;
  runHeard(runIds: string[]): Promise<void>;
}
interface BoardCalls {
  offer(ask: OfferAsk): Promise<Result<OfferAnswer>>;
  find(handle: string, target: string): Promise<Result<Found>>;
  itemsOfOthers(handle: string, ids: string[]): Promise<string[]>;
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
};
