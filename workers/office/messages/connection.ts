/** Signs of life (OFF-6). They write no row: what was heard when is in the socket's attachment. */
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import type { Desk } from "../desk.ts";
import { runningItem } from "./own.ts";

export function ping(): Record<string, never> {
  return {};
}

/** A heartbeat; one that names an item learns whether that is still the agent's (OFFER-7). */
export function heartbeat(desk: Desk, { workItemId }: AgentPayload<"heartbeat">): Record<string, never> {
  if (workItemId !== undefined) runningItem(desk, workItemId);
  return {};
}
