import * as z from "zod";
import { frame } from "./frame.ts";

export const ask = frame(
  "ask",
  { to: z.string(), question: z.string(), workItemId: z.string().optional() },
  "Asks a teammate or a human (ITEM-2).",
);

export const askResult = frame(
  "ask_result",
  { id: z.string(), to: z.string(), status: z.enum(["answered", "pending"]), answer: z.string().optional() },
  "Where a question stands (ITEM-2).",
);

export const answer = frame(
  "answer",
  { questionId: z.string(), answer: z.string() },
  "Answers a question that was offered as an item (ITEM-2).",
);
