import * as z from "zod";
import { frame } from "./frame.ts";
import { chatFile, link, report, requester, thread } from "./parts.ts";

export const chatMessage = frame(
  "chat_message",
  {
    messageId: z.string(),
    channel: z.string(),
    thread: z.string().optional(),
    text: z.string(),
    author: requester,
    direct: z.boolean(),
    participant: z.boolean(),
    files: z.array(chatFile).optional(),
  },
  "A human's message in a chat that the agent reads (CHAT-1).",
);

export const chatMessageResult = frame(
  "chat_message_result",
  { repeated: z.boolean() },
  "It was taken in (CHAT-1).",
);

export const chatReport = frame(
  "chat_report",
  { workItemId: z.string(), kind: z.enum(["ack", "result", "blocked", "failed"]) },
  "Asks to tell the requester how an item ended (REPORT-1).",
);

export const chatReportResult = frame(
  "chat_report_result",
  {
    post: z.boolean(),
    requester: z.string().optional(),
    links: z.array(link),
    threads: z.array(thread).optional(),
    direct: z.string().optional(),
  },
  "Whether to post, where, and whom to mention (REPORT-1).",
);

export const reports = frame(
  "reports",
  { reports: z.array(report) },
  "Reports that the agent has not confirmed posting (REPORT-2).",
);

export const reportPosted = frame(
  "report_posted",
  { workItemId: z.string(), id: z.string() },
  "A report was posted (REPORT-2).",
);
