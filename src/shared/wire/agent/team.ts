import * as z from "zod";
import { frame } from "./frame.ts";

export const roster = frame("roster", {}, "Asks who is in the team and what everybody is on (ITEM-3).");

export const rosterResult = frame(
  "roster_result",
  {
    members: z.array(
      z.object({
        handle: z.string(),
        name: z.string(),
        role: z.string(),
        title: z.string().optional(),
        summary: z.string().optional(),
        status: z.enum(["idle", "working", "paused", "offline"]),
        current: z.string().optional(),
        usage: z
          .object({ window: z.string(), utilization: z.number(), resetsAt: z.string().optional() })
          .optional(),
      }),
    ),
    humans: z.array(z.object({ name: z.string() })).optional(),
  },
  "The team (ITEM-3).",
);

export const currentWork = frame("current_work", {}, "Asks for the caller's open work as text (ITEM-4).");

export const currentWorkResult = frame(
  "current_work_result",
  { text: z.string() },
  "The caller's open work as text.",
);
