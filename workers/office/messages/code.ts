/** Pull requests as the board has them, and the logs of checks (ITEM-4, WORK-5). */
import { stepsWithin } from "../../../src/shared/rules/ci-log.ts";
import { MOST_ANSWER } from "../../../src/shared/rules/frame-fit.ts";
import type { AgentPayload } from "../../../src/shared/wire/agent/index.ts";
import { CALLS } from "../calls.ts";
import { looking, mustAgent } from "../handler.ts";

const MOST_PRS = 100;
const MOST_LINES = 1000;
const clamped = (count: number, most: number): number => Math.max(1, Math.min(count, most));

export const ticketPrs = looking<"ticket_prs", AgentPayload<"ticket_prs_result">>(
  async ({ env, workspace }, asked) => mustAgent(await CALLS.ticketPrs(env, workspace, asked)),
  (_desk, _asked, _frame, found) => found,
);

export const prList = looking<"pr_list", AgentPayload<"pr_list_result">>(
  async ({ env, workspace }, asked) =>
    mustAgent(await CALLS.prList(env, workspace, { ...asked, limit: clamped(asked.limit, MOST_PRS) })),
  (_desk, _asked, _frame, found) => found,
);

export const ciLog = looking<"ci_log", AgentPayload<"ci_log_result">>(
  async ({ env, workspace }, asked) =>
    mustAgent(await CALLS.ciLog(env, workspace, { ...asked, lines: clamped(asked.lines, MOST_LINES) })),
  (_desk, _asked, _frame, { repo, steps }) => ({ repo, steps: stepsWithin(steps, MOST_ANSWER - 1024) }),
);
