import * as z from "zod";
import { frame } from "./frame.ts";
import { chatFile, failedCheck, link, requester, step, subject, why } from "./parts.ts";

export const offer = frame(
  "offer",
  {
    workItem: z.object({
      id: z.string(),
      kind: z.string(),
      title: z.string(),
      priority: z.number(),
      trigger: z.enum(["human", "agent", "automation", "schedule"]),
      parentId: z.string().optional(),
      subject: z.object({ type: z.string(), ref: z.string() }).optional(),
      origin: z
        .object({
          channel: z.string(),
          thread: z.string(),
          requester: requester,
          direct: z.boolean(),
          participant: z.boolean(),
          files: z.array(chatFile).optional(),
          about: z
            .object({ id: z.string(), title: z.string(), state: z.enum(["running", "finished"]) })
            .optional(),
        })
        .optional(),
    }),
    context: z.object({
      journal: z.array(z.object({ at: z.string(), author: z.string(), text: z.string() })),
      subjects: z.array(subject),
      links: z.array(link),
      feedback: z
        .array(
          z.object({
            actor: z.string(),
            kind: z.enum([
              "review",
              "comment",
              "inline_comment",
              "chat",
              "ticket_comment",
              "doc_comment",
              "blocked",
              "ci_failure",
            ]),
            state: z.string().optional(),
            url: z.string().optional(),
            commentId: z.string().optional(),
            docId: z.string().optional(),
            anchorText: z.string().optional(),
            at: z.string().optional(),
            body: z.string(),
            comments: z
              .array(
                z.object({
                  id: z.string(),
                  path: z.string(),
                  line: z.int().optional(),
                  body: z.string(),
                  url: z.string().optional(),
                  threadId: z.string().optional(),
                }),
              )
              .optional(),
          }),
        )
        .optional(),
      conversation: z
        .array(
          z.object({
            kind: z.enum(["comment", "review"]),
            author: z.string(),
            at: z.string(),
            state: z.string().optional(),
            url: z.string().optional(),
            body: z.string(),
          }),
        )
        .optional(),
      wake: z
        .object({
          tickets: z.array(
            z.object({
              key: z.string(),
              title: z.string(),
              url: z.string().optional(),
              status: z.string().optional(),
              assignee: z.string().optional(),
              description: z.string().optional(),
              comments: z.array(
                z.object({
                  author: z.string(),
                  at: z.string(),
                  url: z.string().optional(),
                  body: z.string(),
                }),
              ),
              moreComments: z.int().optional(),
              reviews: z
                .array(
                  z.object({
                    pr: z.string(),
                    ticket: z.string().optional(),
                    resolved: z.boolean(),
                    path: z.string().optional(),
                    line: z.int().optional(),
                    url: z.string().optional(),
                    author: z.string(),
                    at: z.string(),
                    body: z.string(),
                  }),
                )
                .optional(),
              moreReviews: z.int().optional(),
              why: why,
            }),
          ),
          prs: z.array(
            z.object({
              ref: z.string(),
              number: z.int(),
              title: z.string(),
              url: z.string().optional(),
              state: z.enum(["open", "closed", "merged"]),
              draft: z.boolean(),
              ci: z.enum(["none", "pending", "success", "failure"]),
              failing: z.array(z.string()),
              mergeable: z.enum(["clean", "conflicting", "unknown"]),
              review: z.string().optional(),
              unresolvedThreads: z.int(),
              threads: z.array(
                z.object({
                  path: z.string().optional(),
                  line: z.int().optional(),
                  url: z.string().optional(),
                  author: z.string(),
                  body: z.string(),
                }),
              ),
              ticket: z.string().optional(),
              stackedOn: z.string().optional(),
              stackedBy: z.array(z.string()),
              why: why,
            }),
          ),
          docs: z.array(
            z.object({
              id: z.string(),
              title: z.string(),
              url: z.string().optional(),
              ticket: z.string().optional(),
              why: why,
            }),
          ),
          chats: z.array(
            z.object({
              channel: z.string(),
              thread: z.string(),
              messages: z.array(z.object({ author: z.string(), at: z.string(), text: z.string() })),
              moreMessages: z.int().optional(),
              why: why,
            }),
          ),
          merge: z
            .object({
              pr: z.object({
                ref: z.string(),
                number: z.int(),
                title: z.string(),
                url: z.string().optional(),
                head: z.string(),
                base: z.string(),
                draft: z.boolean(),
                approvedBy: z.array(z.string()),
                changesRequestedBy: z.array(z.string()),
                ci: z.enum(["none", "pending", "success", "failure"]),
                failing: z.array(failedCheck),
                mergeable: z.enum(["clean", "conflicting", "unknown"]),
                unresolvedThreads: z.int(),
              }),
              base: z.object({
                ref: z.string(),
                ci: z.enum(["none", "pending", "success", "failure", "unknown"]),
                failing: z.array(failedCheck),
              }),
              others: z.array(
                z.object({
                  ref: z.string(),
                  number: z.int(),
                  title: z.string(),
                  url: z.string().optional(),
                  author: z.string(),
                  draft: z.boolean(),
                  approved: z.boolean(),
                  ci: z.enum(["none", "pending", "success", "failure"]),
                  mergeable: z.enum(["clean", "conflicting", "unknown"]),
                  relation: z.array(z.enum(["stacked_on_it", "under_it", "same_base", "overlapping_files"])),
                  files: z.array(z.string()),
                }),
              ),
              moreOthers: z.int().optional(),
              recentMerges: z.array(
                z.object({
                  ref: z.string(),
                  number: z.int(),
                  title: z.string(),
                  url: z.string().optional(),
                  author: z.string(),
                  at: z.string(),
                }),
              ),
            })
            .optional(),
          failedChecks: z
            .array(
              z.object({
                pr: z.string(),
                sha: z.string().optional(),
                name: z.string(),
                url: z.string().optional(),
                timedOut: z.boolean().optional(),
                steps: z.array(step),
                note: z.string().optional(),
              }),
            )
            .optional(),
          omitted: z.int().optional(),
        })
        .optional(),
    }),
    sessionId: z.string().optional(),
    interrupted: z.boolean().optional(),
  },
  "An item to take, with all that is needed to start. It comes again until it is accepted (OFFER-1).",
);
