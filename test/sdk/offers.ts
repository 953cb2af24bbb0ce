/** Offers with everything in them, for the tests of prompts: `text` makes each thing that somebody wrote. */
import type { Offer } from "../../src/agent/item.ts";

const AT = "2026-09-02T14:22:16.004Z";

/** An offer in which every string of the outside is what `text` makes of it. */
export function fullOffer(text: (what: string) => string): Offer {
  const why = { role: "linked", source: text("link:acme/shop#12"), addedAt: AT } as const;
  const pr = {
    ref: text("acme/shop#12"),
    number: 12,
    title: text("Fix the login"),
    url: text("https://github.com/acme/shop/pull/12"),
  };
  return {
    workItem: {
      id: text("itm_1"),
      kind: text("review_feedback"),
      title: text("Fix the login"),
      priority: 30,
      trigger: "human",
      parentId: text("itm_0"),
      subject: { type: text("pr"), ref: text("acme/shop#12") },
      origin: {
        channel: text("spc_1"),
        thread: text("msg_1"),
        requester: { id: text("usr_1"), name: text("Anna") },
        direct: false,
        participant: false,
        files: [
          {
            id: text("att_1"),
            name: text("screen.png"),
            mimetype: text("image/png"),
            size: 2048,
            url: text("https://files.example.com/1"),
          },
        ],
        about: { id: text("itm_9"), title: text("Earlier"), state: "finished" },
      },
    },
    context: {
      journal: [{ at: AT, author: text("ada"), text: text("Found the cause.\nIt is the cookie.") }],
      subjects: [
        {
          type: text("pr"),
          ref: text("acme/shop#12"),
          title: text("Fix the login"),
          url: text("https://github.com/acme/shop/pull/12"),
          headRef: text("bp-12-login"),
          baseRef: text("main"),
          state: "open",
          draft: true,
          own: true,
        },
      ],
      links: [{ url: text("https://example.com/spec"), title: text("The spec") }],
      feedback: [
        {
          actor: text("bob"),
          kind: "review",
          state: text("changes_requested"),
          url: text("https://github.com/acme/shop/pull/12#r1"),
          commentId: text("81"),
          docId: text("doc_1"),
          anchorText: text("the part"),
          at: AT,
          body: text("Please add a test."),
          comments: [
            {
              id: text("82"),
              path: text("src/login.ts"),
              line: 7,
              body: text("This one."),
              url: text("https://github.com/acme/shop/pull/12#r2"),
              threadId: text("T1"),
            },
          ],
        },
      ],
      conversation: [
        {
          kind: "comment",
          author: text("carl"),
          at: AT,
          state: text("commented"),
          url: text("https://github.com/acme/shop/pull/12#c1"),
          body: text("Is it ready?"),
        },
      ],
      wake: {
        tickets: [
          {
            key: text("BP-12"),
            title: text("Login fails"),
            url: text("https://example.com/BP-12"),
            status: text("active"),
            assignee: text("Ada"),
            description: text("With Safari.\nAlways."),
            comments: [
              {
                author: text("Anna"),
                at: AT,
                url: text("https://example.com/BP-12#1"),
                body: text("Urgent."),
              },
            ],
            moreComments: 3,
            reviews: [
              {
                pr: text("acme/shop#11"),
                ticket: text("BP-11"),
                resolved: true,
                path: text("src/a.ts"),
                line: 3,
                url: text("https://github.com/acme/shop/pull/11#r1"),
                author: text("bob"),
                at: AT,
                body: text("Name it."),
              },
            ],
            moreReviews: 2,
            why,
          },
        ],
        prs: [
          {
            ...pr,
            state: "open",
            draft: true,
            ci: "failure",
            failing: [text("unit tests")],
            mergeable: "conflicting",
            review: text("changes_requested"),
            unresolvedThreads: 1,
            threads: [
              {
                path: text("src/login.ts"),
                line: 7,
                url: text("https://github.com/acme/shop/pull/12#r2"),
                author: text("bob"),
                body: text("This one."),
              },
            ],
            ticket: text("BP-12"),
            stackedOn: text("acme/shop#10"),
            stackedBy: [text("acme/shop#13"), text("acme/shop#14")],
            why,
          },
        ],
        docs: [
          {
            id: text("doc_1"),
            title: text("Design"),
            url: text("https://docs.example.com/1"),
            ticket: text("BP-12"),
            why,
          },
        ],
        chats: [
          {
            channel: text("spc_1"),
            thread: text("msg_1"),
            messages: [{ author: text("Anna"), at: AT, text: text("Can you look?") }],
            moreMessages: 4,
            why,
          },
        ],
        merge: {
          pr: {
            ...pr,
            head: text("bp-12-login"),
            base: text("main"),
            draft: false,
            approvedBy: [text("bob")],
            changesRequestedBy: [],
            ci: "success",
            failing: [{ name: text("lint"), url: text("https://ci.example.com/1") }],
            mergeable: "clean",
            unresolvedThreads: 0,
          },
          base: { ref: text("main"), ci: "failure", failing: [{ name: text("deploy") }] },
          others: [
            {
              ...pr,
              author: text("milo"),
              draft: true,
              approved: false,
              ci: "pending",
              mergeable: "unknown",
              relation: ["same_base", "overlapping_files"],
              files: [text("src/login.ts")],
            },
          ],
          moreOthers: 5,
          recentMerges: [{ ...pr, author: text("milo"), at: AT }],
        },
        failedChecks: [
          {
            pr: text("acme/shop#9"),
            sha: text("0a1b2c3"),
            name: text("unit tests"),
            url: text("https://ci.example.com/2"),
            timedOut: true,
            steps: [{ name: text("Run npm test"), lines: [text("1 failed"), text("exit 1")], omitted: 40 }],
            note: text("only the end"),
          },
        ],
        omitted: 6,
      },
    },
    sessionId: text("sess_1"),
    interrupted: true,
  };
}
