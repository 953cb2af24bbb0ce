import * as z from "zod";
import { frame } from "./frame.ts";
import { link, sessionUsage } from "./parts.ts";

export const accept = frame(
  "accept",
  { workItemId: z.string(), runtime: z.string(), model: z.string() },
  "Takes the offered item (OFFER-1).",
);

export const decline = frame(
  "decline",
  { workItemId: z.string(), reason: z.string() },
  "Gives the offered item back to its place in the queue (OFFER-3).",
);

export const progress = frame(
  "progress",
  { workItemId: z.string(), text: z.string() },
  "A line on how the item goes, shown to people (ITEM-1).",
);

export const session = frame(
  "session",
  { workItemId: z.string(), sessionId: z.string(), model: z.string().optional() },
  "Keeps the runtime's session of an item for its later rounds (OFFER-5).",
);

export const usage = frame(
  "usage",
  {
    windows: z.array(
      z.object({ name: z.string(), utilization: z.number(), resetsAt: z.string().optional() }),
    ),
  },
  "The windows of model usage that the runtime sees, in place of the last report (ITEM-1, USE-3).",
);

export const journal = frame(
  "journal",
  { workItemId: z.string(), text: z.string() },
  "Adds a line to the item's journal, which later rounds are given (ITEM-1).",
);

export const handback = frame(
  "handback",
  {
    workItemId: z.string(),
    summary: z.string(),
    links: z.array(link),
    status: z.enum(["done", "waiting", "blocked", "silent", "interrupted"]),
    toReview: z.array(z.string()).optional(),
    usage: z.array(sessionUsage).optional(),
  },
  "Ends the round with a summary and what it used (OFFER-6).",
);

export const fail = frame(
  "fail",
  { workItemId: z.string(), reason: z.string(), usage: z.array(sessionUsage).optional() },
  "Ends the round: the agent could not do it (OFFER-6).",
);

export const workMade = frame(
  "work_made",
  {
    workItemId: z.string(),
    ticket: z.string().optional(),
    pr: z
      .object({
        repo: z.object({ owner: z.string(), name: z.string(), host: z.string().optional() }),
        number: z.int(),
        url: z.string().optional(),
      })
      .optional(),
  },
  "Records on the item a ticket or a pull request that was made in it (ITEM-1).",
);
