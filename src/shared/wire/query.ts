/** Query strings of the HTTP routes: text that comes out as what it stands for. */
import * as z from "zod";
import { approvalState } from "./approval.ts";
import { promptFormat } from "./context/http.ts";

const digits = z.string().regex(/^\d{1,15}$/, { error: "must be a whole number" });

/** A whole number from 0, as text. */
export const whole = digits.transform(Number).pipe(z.int().nonnegative());

/** The page of a list: `cursor` takes the `next` of the page before (HTTP-2). */
export const pageQuery = z.object({
  cursor: z.string().min(1).max(100).optional().describe("The `next` of the page before."),
  limit: digits
    .transform((text) => Math.min(Number(text), 200))
    .pipe(z.int().min(1).max(200))
    .default(50)
    .describe("How many a page holds; more than 200 is read as 200."),
});

export const eventsQuery = z.object({
  after: whole.optional().describe("The last `seq` that you have handled. Nothing of it is stored."),
  space_id: z.string().optional().describe("Only the events of this space."),
  limit: pageQuery.shape.limit,
  wait: z.coerce
    .number()
    .min(0)
    .max(25)
    .default(0)
    .describe("Seconds to hold the request when there is nothing yet."),
});

export const searchQuery = pageQuery.extend({
  q: z.string().min(1).max(500).describe("Words; all must occur, and the last may be a beginning."),
});

export const contextQuery = z.object({
  before: whole.optional().describe("Only lines with a smaller `seq`: the `before` of the page before."),
  lines: whole.optional().describe("At most so many lines."),
  chars: whole.optional().describe("At most so many characters of text."),
});

export const filesQuery = pageQuery.extend({
  name: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("Every version of the file of this name, newest first."),
});

export const approvalsQuery = pageQuery.extend({
  state: approvalState.optional().describe("Only asks in this state."),
});

export const policyQuery = z.object({
  version: whole.optional().describe("The policy as it stood in this version."),
});

export const uploadQuery = z.object({
  filename: z.string().default("").describe("What the file is called: 1 to 255 bytes, folders are dropped."),
  wait: z.coerce
    .number()
    .min(0)
    .max(8)
    .default(0)
    .describe("Seconds to hold the answer of a voice note for its transcript."),
});

export const importQuery = z.object({
  from: z.coerce.number().int().min(1).default(1).describe("Which line of the export the body begins with."),
});

export const streamQuery = z.object({
  after: whole.default(0).describe("The last offset that you have."),
  limit: digits
    .transform((text) => Math.min(Number(text), 1000))
    .pipe(z.int().min(1).max(1000))
    .default(100)
    .describe("How many events a page holds at most; more than 1,000 is read as 1,000."),
});

export const followQuery = z.object({ after: streamQuery.shape.after });

export const historyQuery = z.object({
  at: whole.optional().describe("The history as of this offset; left out, as it is now."),
});

export const promptQuery = historyQuery.extend({
  format: promptFormat.default("openai").describe("Whose request it is rendered as."),
});
