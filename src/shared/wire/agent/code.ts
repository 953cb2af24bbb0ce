import * as z from "zod";
import { frame } from "./frame.ts";
import { ticketStatus } from "./ops.ts";
import { step } from "./parts.ts";

export const ticketPrs = frame(
  "ticket_prs",
  { headRef: z.string(), title: z.string(), body: z.string() },
  "Asks which ticket a pull request would link to (ITEM-4, WORK-6).",
);

export const ticketPrsResult = frame(
  "ticket_prs_result",
  {
    ticket: z.string().optional(),
    status: ticketStatus.optional(),
    prs: z.array(
      z.object({
        ref: z.string(),
        number: z.int(),
        title: z.string(),
        url: z.string().optional(),
        state: z.enum(["open", "closed", "merged"]),
        authorKind: z.enum(["human", "agent", "bot"]),
      }),
    ),
  },
  "The ticket, and the pull requests that it has.",
);

export const prList = frame(
  "pr_list",
  {
    state: z.enum(["open", "merged", "closed", "all"]),
    author: z.string().optional(),
    ticket: z.string().optional(),
    repo: z.string().optional(),
    limit: z.int(),
  },
  "Asks for pull requests as the board has them (ITEM-4).",
);

export const prListResult = frame(
  "pr_list_result",
  {
    prs: z.array(
      z.object({
        ref: z.string(),
        number: z.int(),
        title: z.string(),
        url: z.string().optional(),
        state: z.enum(["open", "closed", "merged"]),
        draft: z.boolean(),
        author: z.string(),
        ci: z.enum(["none", "pending", "success", "failure"]),
        mergeable: z.enum(["clean", "conflicting", "unknown"]),
        review: z.string().optional(),
        unresolvedThreads: z.int(),
        ticket: z.string().optional(),
        updatedAt: z.string(),
      }),
    ),
    more: z.int(),
  },
  "The pull requests that fit, and how many more do.",
);

export const ciLog = frame(
  "ci_log",
  { url: z.string(), lines: z.int() },
  "Asks for the end of a failed check's log (WORK-5).",
);

export const ciLogResult = frame(
  "ci_log_result",
  { repo: z.string(), steps: z.array(step) },
  "The failed steps and their last lines, secrets masked (WORK-5).",
);
