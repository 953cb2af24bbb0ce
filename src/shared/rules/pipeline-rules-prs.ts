/** The default rules about pull requests and their merges (PIPE-1). */
import { feedback, ignore, moveOp, type Rule } from "./pipeline-rule.ts";
import type { Decision, PrFact, RefFact } from "./pipeline-types.ts";
import * as wakes from "./pipeline-wakes.ts";
import { isOpen } from "./work-state.ts";

const linkedOf = (pr: PrFact): RefFact[] => (pr.ticket ? [wakes.ticketRef(pr.ticket)] : []);

const prSaid: Rule = {
  id: "pr.feedback",
  on: ["pr.reviewed", "pr.commented", "pr.inline_commented"],
  decide(event, facts) {
    const { pr } = facts;
    if (!pr) return [];
    if (pr.state !== "open") return ignore(event.type, `${pr.ref} is ${pr.state}`);
    const { review } = event;
    if (event.type === "pr.reviewed" && review?.state === "dismissed")
      return ignore(event.type, "a review that was taken back asks for nothing");
    // Hosts wrap each inline comment in a review without words: the comment comes by itself.
    if (event.type === "pr.reviewed" && review?.state === "commented" && !review.body?.trim())
      return ignore(event.type, "a review without words: its comments come by themselves");
    return feedback(event.type, event, facts, pr.owner, wakes.prRef(pr), linkedOf(pr));
  },
};

const checksFailed: Rule = {
  id: "pr.checks_failed",
  on: ["pr.checks_failed"],
  decide(event, facts) {
    const { pr } = facts;
    if (!pr) return [];
    if (pr.state !== "open") return ignore(checksFailed.id, `${pr.ref} is ${pr.state}`);
    if (!pr.owner) return ignore(checksFailed.id, `${pr.ref} is nobody's of the team`);
    const sha = event.pr?.head_sha;
    if (sha && pr.headSha && sha !== pr.headSha) return ignore(checksFailed.id, `${pr.ref} has a newer head`);
    return [
      {
        rule: checksFailed.id,
        decision: "wake",
        why: `every check of ${pr.ref} has finished, and ${pr.failing.length || "some"} failed`,
        person: pr.owner,
        key: `checks:${pr.ref}:${pr.headSha ?? sha ?? ""}:${pr.owner}`,
        wake: wakes.feedbackWake(
          event,
          facts,
          wakes.prRef(pr),
          linkedOf(pr),
          wakes.checksFeedback(event, pr),
        ),
      },
    ];
  },
};

const reviewRequested: Rule = {
  id: "pr.review_requested",
  on: ["pr.review_requested", "pr.ready"],
  decide(event, facts) {
    const { pr } = facts;
    if (!pr) return [];
    // Asked for on a draft, it is due once the draft is ready.
    const asked = event.type === "pr.ready" ? pr.requested : facts.asked;
    if (asked.length === 0) return [];
    if (pr.state !== "open") return ignore(reviewRequested.id, `${pr.ref} is ${pr.state}`);
    if (pr.draft) return ignore(reviewRequested.id, `${pr.ref} is a draft: it waits until it is ready`);
    return asked.map((person): Decision => {
      if (person === pr.owner)
        return { rule: reviewRequested.id, decision: "ignore", person, why: `${pr.ref} is ${person}'s own` };
      if (!pr.requested.includes(person))
        return {
          rule: reviewRequested.id,
          decision: "ignore",
          person,
          why: `${person} is not asked any more`,
        };
      return {
        rule: reviewRequested.id,
        decision: "wake",
        why: `${person} is asked to review ${pr.ref}`,
        person,
        key: `review:${pr.ref}:${person}`,
        wake: wakes.prWake("review", event, facts, pr),
      };
    });
  },
};

const readyToMerge: Rule = {
  id: "pr.ready_to_merge",
  on: ["pr.ready_to_merge"],
  decide(event, facts, team) {
    const { pr } = facts;
    if (!pr) return [];
    const { id } = readyToMerge;
    if (pr.notReady) return ignore(id, `${pr.ref} cannot be merged: ${pr.notReady}`);
    if (!pr.owner) return ignore(id, `${pr.ref} is nobody's of the team`);
    const why = `${pr.ref} is approved, green and clean, with no open thread`;
    const head = pr.headSha ?? "";
    if (team.policies.merge.by === "human")
      return [
        {
          rule: id,
          decision: "tell",
          why,
          cause: `ready:${pr.ref}:${head}`,
          text: `${pr.ref} can be merged. The team leaves that to people.`,
        },
      ];
    const key = `merge:${pr.ref}:${head}:${pr.owner}`;
    return [
      {
        rule: id,
        decision: "wake",
        why,
        person: pr.owner,
        key,
        wake: wakes.prWake("merge", event, facts, pr),
      },
    ];
  },
};

const mergeFailed: Rule = {
  id: "merge.checks",
  on: ["merge.checks_failed", "merge.timed_out"],
  decide(event, facts) {
    const { pr } = facts;
    if (!pr) return [];
    if (!pr.mergedBy) return ignore(event.type, `${pr.ref} was merged by nobody of the team`);
    const why =
      event.type === "merge.timed_out"
        ? `the checks of ${pr.ref}'s merge ran past their time`
        : `checks of ${pr.ref}'s merge failed`;
    return [
      {
        rule: event.type,
        decision: "wake",
        why,
        person: pr.mergedBy,
        key: `merged:${pr.ref}:${pr.mergeSha ?? ""}:${pr.mergedBy}`,
        wake: wakes.prWake("merge", event, facts, pr),
      },
    ];
  },
};

/** Who makes a change at the tracker about a pull request: its author, else whose the ticket is. */
const maker = (pr: PrFact): { person?: string } => {
  const person = pr.owner ?? pr.ticket?.assignee ?? pr.ticket?.owner;
  return person ? { person } : {};
};

const prOpened: Rule = {
  id: "pr.opened",
  on: ["pr.opened", "pr.ready"],
  decide(event, { pr }) {
    if (!pr?.ticket) return [];
    if (pr.state !== "open") return ignore(event.type, `${pr.ref} is ${pr.state}`);
    const { ticket } = pr;
    const link: Decision = {
      rule: event.type,
      decision: "act",
      why: `${pr.ref} is for ${ticket.key}`,
      ...maker(pr),
      key: `link:${pr.ref}:${ticket.key}`,
      ops: [{ op: "link_pr", ticket: ticket.key, pr: pr.ref, url: pr.url ?? "", title: pr.title ?? pr.ref }],
    };
    // An office tells that it was made; whether it is ready is the host's word.
    if (pr.draft || event.source === "office") return [link];
    const ops = isOpen(ticket.status) ? moveOp(ticket, "review") : [];
    if (ops.length === 0) return [link];
    const why = `${pr.ref} is to be reviewed`;
    return [
      link,
      { rule: event.type, decision: "act", why, ...maker(pr), key: `review:${pr.ref}:${ticket.key}`, ops },
    ];
  },
};

const prMerged: Rule = {
  id: "pr.merged",
  on: ["pr.merged", "pr.closed"],
  fact: true,
  decide(event, { pr }) {
    const ticket = pr?.ticket;
    if (!pr || !ticket) return [];
    if (pr.state === "open" || !pr.anyMerged) return [];
    if (pr.otherOpen) return ignore(event.type, `${ticket.key} has another open pull request`);
    if (!isOpen(ticket.status)) return ignore(event.type, `${ticket.key} is ${ticket.status} already`);
    const why = `no pull request of ${ticket.key} is open, and one was merged`;
    return [
      {
        rule: event.type,
        decision: "act",
        why,
        ...maker(pr),
        key: `done:${pr.ref}:${ticket.key}`,
        ops: moveOp(ticket, "done"),
      },
    ];
  },
};

/** The rows of the table that are about pull requests. */
export const PR_RULES: readonly Rule[] = [
  prSaid,
  checksFailed,
  reviewRequested,
  readyToMerge,
  mergeFailed,
  prOpened,
  prMerged,
];
