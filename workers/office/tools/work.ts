/** The agent's own work: what there is, what it takes on, and how it hands back (CTX-8). */
import { AgentRefused } from "../handler.ts";
import type { Called, Calling } from "./calling.ts";
import { say } from "./say.ts";

const ON_NOTHING = "You are on no work now: there is nothing to hand back. Your answer ends the turn.";
const NO_CHAT = "Work is taken on from a conversation. Say in your answer what should be done.";

export async function work({ need, id, item }: Calling<"work">): Promise<Called> {
  const output = await say(need, "work_list", item ? { workItemId: item.id } : {}, id);
  return { ok: true, output };
}

export async function takeWork({ need, id, item, input }: Calling<"take_work">): Promise<Called> {
  if (!item) throw new AgentRefused("invalid", NO_CHAT);
  const { title, body, ticket } = input;
  const output =
    ticket === undefined
      ? await say(need, "work_queue", { workItemId: item.id, title, ...(body !== undefined && { body }) }, id)
      : await say(need, "work_link", { workItemId: item.id, ticket, request: title }, id);
  return { ok: true, output };
}

export async function handBack({ need, id, item, input }: Calling<"hand_back">): Promise<Called> {
  if (!item) throw new AgentRefused("invalid", ON_NOTHING);
  const { status, summary, to_review } = input;
  await say(
    need,
    "handback",
    { workItemId: item.id, status, summary, links: [], ...(to_review && { toReview: to_review }) },
    id,
  );
  return { ok: true, output: { item: item.id, status } };
}
