/**
 * A message of the agent protocol that the office says for its person itself: the same handler as for one that came
 * on the agent's socket, so that the same rules hold (OFF-1, CTX-8). Repeats are known by what they change.
 */
import type { AgentPayload, AgentRequest, AnswerTo } from "../../../src/shared/wire/agent/index.ts";
import type { Desk, Look } from "../desk.ts";
import { hashOf } from "../frames.ts";
import { AgentRefused } from "../handler.ts";
import { HANDLERS } from "../protocol.ts";

/** What a piece of work beside the transactions has of its office. */
export interface Needs {
  work<T>(work: (desk: Desk) => T): T;
  look(): Look;
}

/** @throws AgentRefused, with the words that the agent would have been answered with */
export async function say<T extends Exclude<AgentRequest, "hello">>(
  need: Needs,
  type: T,
  payload: AgentPayload<T>,
  id: string,
): Promise<AgentPayload<AnswerTo<T>>> {
  const handler = HANDLERS[type];
  if (!handler) throw new AgentRefused("unsupported", `This office does not take ${type}.`);
  const frame = { id, hash: hashOf(type, payload) };
  try {
    const found: unknown = await handler.before?.(need.look(), payload);
    return need.work((desk) => handler.take(desk, payload, frame, found));
  } catch (error) {
    if (error instanceof AgentRefused && error.aside) need.work(error.aside);
    throw error;
  }
}
