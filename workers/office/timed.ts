/**
 * What an office does of its own accord, by the name of its alarm (`desk.alarm`). Each runs in one transaction; an
 * alarm may come early, so each looks at what is due by `desk.now` and sets the next.
 */
import type { Desk } from "./desk.ts";
import { HOUSE_ALARM } from "./feed/rounds.ts";
import { restart } from "./queue/membership.ts";
import { releaseDue } from "./queue/moves.ts";
import { pauseOver } from "./queue/people.ts";
import { tellStuck } from "./queue/stuck.ts";
import { reportsAlarm } from "./reports.ts";
import { lookForOpen, RESIDENT_ALARM } from "./resident/resident.ts";

export const TIMED: Readonly<Record<string, (desk: Desk) => void>> = {
  // What may be offered is looked for after every piece of work.
  offer: () => {},
  moving: releaseDue,
  paused: pauseOver,
  restart,
  stuck: tellStuck,
  reports: reportsAlarm,
  // What ended is handed back after the commit, as after one that touched a stream (feed/endings.ts).
  [HOUSE_ALARM]: (desk) => void desk.streams.touched.add(""),
  [RESIDENT_ALARM]: lookForOpen,
  // What is due is sent at the end of the work: `after` of the part (turns.ts).
  acts: () => {},
};
