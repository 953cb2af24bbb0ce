/** Questions that an agent puts to people (ASK). */
import * as z from "zod";
import { fact, verb } from "./envelope.ts";
import { id } from "./ids.ts";

const words = z.string().min(1).max(8000);
const option = z.string().min(1).max(500);

export const questionAsk = verb("question.ask", {
  question_id: id("qst"),
  text: words,
  options: z.array(option).min(1).max(20).optional(),
  /** The people it is put to; without them, anyone of the space but guests. */
  to: z.union([id("usr"), z.array(id("usr")).min(1).max(50)]).optional(),
}).describe("An agent asks people something. Its run waits for the answer.");
export const questionAnswer = verb("question.answer", { question_id: id("qst"), text: words }).describe(
  "Answers a question, once.",
);

export const questionAsked = fact("question.asked", {
  question_id: id("qst"),
  agent_id: z.string(),
  text: z.string(),
  options: z.array(z.string()).optional(),
  to: z.array(z.string()).optional(),
}).describe("An agent asks people something.");
export const questionAnswered = fact("question.answered", {
  question_id: id("qst"),
  by: z.string(),
  text: z.string(),
  /** Which of the options it is, from 0, where it is one. */
  option: z.int().nonnegative().optional(),
}).describe("A question was answered.");

export const questionState = z.enum(["open", "answered", "cancelled"]);
export type QuestionState = z.infer<typeof questionState>;
export const questionReceipt = z.object({
  state: questionState,
  by: z.string().optional(),
  text: z.string().optional(),
});
