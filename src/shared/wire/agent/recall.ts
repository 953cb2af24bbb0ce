import * as z from "zod";
import { frame } from "./frame.ts";

export const recall = frame(
  "recall",
  {
    query: z.string(),
    with: z.string().optional(),
    about: z.string().optional(),
    since: z.string().optional(),
    limit: z.int(),
  },
  "Searches the caller's own history (RECALL-1).",
);

export const recallResult = frame(
  "recall_result",
  {
    moments: z.array(
      z.object({
        at: z.string(),
        kind: z.string(),
        where: z
          .object({
            type: z.string(),
            ref: z.string(),
            title: z.string().optional(),
            url: z.string().optional(),
          })
          .optional(),
        who: z.string().optional(),
        excerpt: z.string(),
        url: z.string().optional(),
      }),
    ),
    more: z.boolean(),
  },
  "What was found, newest first (RECALL-1).",
);
