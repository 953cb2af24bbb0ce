/** What the default rules have in common (PIPE-1). */
import type { Team } from "../wire/team.ts";
import type { WorkEvent, WorkEventType } from "../wire/work.ts";
import type { Decision, Facts, OpDraft, RefFact, TicketFact } from "./pipeline-types.ts";
import * as wakes from "./pipeline-wakes.ts";

export interface Rule {
  id: string;
  on: readonly WorkEventType[];
  /** A host or a tracker lets nobody do this who may not: it counts whoever did it (PIPE-5). */
  fact?: true;
  decide(event: WorkEvent, facts: Facts, team: Team): Decision[];
}

/** A rule's reason for doing nothing. */
export const ignore = (rule: string, why: string): Decision[] => [{ rule, decision: "ignore", why }];

/** Moves a ticket, unless it is there or finished; what is not as we know it then is left alone. */
export function moveOp(ticket: TicketFact, to: NonNullable<TicketFact["status"]>): OpDraft[] {
  if (ticket.status === to) return [];
  return [{ op: "move", ticket: ticket.key, to, ...(ticket.status ? { expect: ticket.status } : {}) }];
}

/** Feedback for whoever's it is: a round, once a comment. */
export function feedback(
  rule: string,
  event: WorkEvent,
  facts: Facts,
  owner: string | undefined,
  subject: RefFact,
  linked: RefFact[] = [],
): Decision[] {
  if (facts.who.kind === "office") return ignore(rule, "the office's own words are nobody's feedback");
  if (!owner) return ignore(rule, `${subject.ref} is nobody's of the team`);
  const given = wakes.feedbackOf(event, facts);
  if (!given) return ignore(rule, "it says nothing");
  return [
    {
      rule,
      decision: "wake",
      why: `${subject.ref} is ${owner}'s`,
      person: owner,
      key: `feedback:${given.key}:${owner}`,
      wake: wakes.feedbackWake(event, facts, subject, linked, given),
    },
  ];
}
