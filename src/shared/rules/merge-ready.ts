/** Whether a pull request can be merged, and whose verdicts count (PIPE-1, PIPE-5). */
import type { Team } from "../wire/team.ts";
import type { Who } from "./trust.ts";
import { type Ci, type Mergeable, type PrState, type ReviewLine, verdicts } from "./work-state.ts";

export interface MergeFacts {
  state: PrState;
  draft: boolean;
  headSha?: string;
  /** When its head was last named, ms: for reviews that do not say what they are of. */
  headAt: number;
  /** `reviewer` is the key of who it is; `who` is that somebody. */
  reviews: readonly (ReviewLine & { who: Who })[];
  /** Keys of whose it is: the author's, and that of the person who made it. */
  authors: readonly string[];
  ci: Ci;
  /** Whether its repository has checks at all: without any, none is missing. */
  checked: boolean;
  mergeable: Mergeable;
  openThreads: number;
}

export interface Verdict {
  /** Names of who approves the head as it is, and of who asks for changes. */
  approvedBy: string[];
  changesRequestedBy: string[];
  /** Why it cannot be merged yet; absent when it can. */
  notReady?: string;
  /** Nothing but the host's word on whether it merges cleanly is missing. */
  onlyHostMissing?: true;
}

/** Whether a review is of the head as it is now. */
function ofHead(review: ReviewLine, facts: MergeFacts): boolean {
  if (facts.headSha === undefined) return true;
  return review.sha === undefined ? review.at >= facts.headAt : review.sha === facts.headSha;
}

/** An approval counts on the head as it is, never an author's own, an agent's only where the team says so. */
function counts(who: Who, policy: Team["policies"]["merge"]): boolean {
  if (!who.trusted) return false;
  return who.kind === "human" || policy.agents_approve;
}

export function mergeVerdict(facts: MergeFacts, policy: Team["policies"]["merge"]): Verdict {
  const others = facts.reviews.filter((r) => r.who.trusted && !facts.authors.includes(r.reviewer));
  const latest = [...verdicts(others).values()];
  const approved = latest.filter((r) => r.state === "approved" && ofHead(r, facts) && counts(r.who, policy));
  const against = latest.filter((r) => r.state === "changes_requested");
  const why = (of: MergeFacts) => whyNot(of, approved.length, against.length, policy.approvals);
  const notReady = why(facts);
  const ready = (of: MergeFacts) => why(of) === undefined;
  return {
    approvedBy: approved.map((r) => r.who.name).toSorted(),
    changesRequestedBy: against.map((r) => r.who.name).toSorted(),
    ...(notReady === undefined ? {} : { notReady }),
    ...(notReady !== undefined && facts.mergeable === "unknown" && ready({ ...facts, mergeable: "clean" })
      ? { onlyHostMissing: true as const }
      : {}),
  };
}

function whyNot(facts: MergeFacts, approved: number, against: number, wanted: number): string | undefined {
  if (facts.state !== "open") return `it is ${facts.state}`;
  if (facts.draft) return "it is a draft";
  if (against > 0) return "changes are asked for";
  if (approved < wanted) return `${approved} of ${wanted} approvals of its head`;
  if (facts.ci === "failure") return "checks failed";
  if (facts.ci === "pending") return "checks are running";
  if (facts.ci === "none" && facts.checked) return "no check has reported on its head";
  if (facts.openThreads > 0) return `${facts.openThreads} open review threads`;
  if (facts.mergeable !== "clean") return `whether it merges cleanly is ${facts.mergeable}`;
  return undefined;
}
