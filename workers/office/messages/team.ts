/** What the board knows of the team and of the caller's work (ITEM-3, ITEM-4). */
import { firstBytes } from "../../../src/shared/rules/text.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import { looking, mustAgent } from "../handler.ts";

const LONGEST_WORK = 16_384;

export const roster = looking<"roster", AgentPayload<"roster_result">>(
  async ({ env, workspace, handle }) => mustAgent(await CALLS.roster(env, workspace, handle)),
  (_desk, _asked, _frame, found) => found,
);

export const currentWork = looking<"current_work", AgentPayload<"current_work_result">>(
  async ({ env, workspace, handle }) => mustAgent(await CALLS.currentWork(env, workspace, handle)),
  (_desk, _asked, _frame, { text }) => ({ text: firstBytes(text, LONGEST_WORK) }),
);
