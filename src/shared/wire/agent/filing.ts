import * as z from "zod";
import { frame } from "./frame.ts";
import { subject, workBrief } from "./parts.ts";

export const workCheck = frame(
  "work_check",
  { workItemId: z.string(), request: z.string() },
  "Asks whether a request may be filed from a chat item (CHAT-3).",
);

export const workLink = frame(
  "work_link",
  { workItemId: z.string(), ticket: z.string(), request: z.string() },
  "Files a ticket that was made from a chat item as work (CHAT-3).",
);

export const workLinkResult = frame(
  "work_link_result",
  { url: z.string().optional(), item: workBrief, waiting: z.boolean(), work: z.array(workBrief) },
  "The item that carries the ticket, and whether it waits (CHAT-3).",
);

export const workFileFor = frame(
  "work_file_for",
  { workItemId: z.string(), ticket: z.string(), request: z.string(), assignee: z.string() },
  "Records a ticket that was made from a chat item for somebody else (CHAT-3).",
);

export const workQueue = frame(
  "work_queue",
  { workItemId: z.string(), title: z.string(), body: z.string().optional() },
  "Files work from a chat item without a ticket (CHAT-3).",
);

export const workQueueResult = frame(
  "work_queue_result",
  { url: z.string().optional(), item: workBrief, waiting: z.boolean(), work: z.array(workBrief) },
  "The item made, and whether it waits (CHAT-3).",
);

export const workAttach = frame(
  "work_attach",
  {
    workItemId: z.string(),
    target: z.string(),
    confirmed: z.boolean().optional(),
    request: z.string().optional(),
  },
  "Makes a chat request part of work that is there (CHAT-4).",
);

export const workAttachResult = frame(
  "work_attach_result",
  {
    url: z.string().optional(),
    item: workBrief,
    waiting: z.boolean(),
    work: z.array(workBrief),
    attached: z.object({ ticket: subject.optional(), pr: subject.optional() }),
  },
  "The work that the request is part of now (CHAT-4).",
);
