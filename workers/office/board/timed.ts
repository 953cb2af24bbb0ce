/** What the board does of its own accord, by the name of its alarm: one function a name, in one transaction. */
import type { BoardLedger } from "./ledger.ts";
import { runSchedules, SCHEDULES_ALARM } from "./team/schedules.ts";
import { MERGES_ALARM, mergesDue } from "./work/derive.ts";

export const TIMED: Record<string, (ledger: BoardLedger) => void> = {
  [SCHEDULES_ALARM]: runSchedules,
  [MERGES_ALARM]: mergesDue,
};
