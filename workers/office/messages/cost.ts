/** What a ticket's work used (USE-2). */
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import { looking, mustAgent } from "../handler.ts";

export const ticketUsage = looking<"ticket_usage", AgentPayload<"ticket_usage_result">>(
  async ({ env, workspace }, { ticket }) => mustAgent(await CALLS.ticketUsage(env, workspace, ticket)),
  (_desk, _asked, _frame, found) => found,
);
