/** GitHub's deliveries as events of work (WORK-2): everything that is not understood is nothing. */
import { type WorkEvent, workEvent } from "../../wire/work.ts";
import { checkRun, checkSuite, push, status, workflowJob } from "./checks.ts";
import type { Draft, Fields } from "./fields.ts";
import { issueComment, issues } from "./issues.ts";
import { repoOf } from "./parts.ts";
import {
  pullRequest,
  pullRequestReview,
  pullRequestReviewComment,
  pullRequestReviewThread,
} from "./pulls.ts";

type Reader = (payload: Fields, repo: string, received: string) => Draft[];
/** The deliveries that are understood, by the name in `x-github-event`. */
const READERS: Readonly<Record<string, Reader>> = {
  pull_request: pullRequest,
  pull_request_review: pullRequestReview,
  pull_request_review_comment: pullRequestReviewComment,
  pull_request_review_thread: pullRequestReviewThread,
  issue_comment: issueComment,
  issues,
  check_run: checkRun,
  check_suite: checkSuite,
  status,
  workflow_job: workflowJob,
  push,
};
/** Their names, for people who set a webhook up. */
export const GITHUB_EVENTS = Object.keys(READERS);

/**
 * What a delivery says happened, with ids made of the delivery's own (WORK-2). `received` stands in where the
 * payload has no time. Pure, and never throws: a payload is hostile until it is parsed.
 */
export function fromGithub(name: string, payload: unknown, delivery: string, received: string): WorkEvent[] {
  const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  if (!read || typeof payload !== "object" || payload === null) return [];
  const repo = repoOf(payload as Fields);
  if (repo === undefined) return [];
  return read(payload as Fields, repo, received).flatMap((draft, n) => {
    const id = n === 0 ? `github:${delivery}` : `github:${delivery}.${n}`;
    const event = workEvent.safeParse({ ...draft, id, source: "github" });
    return event.success ? [event.data] : [];
  });
}

/**
 * The events about repositories that the team names, in the team's own spelling: the host takes any case, and a
 * reference must be one and the same everywhere. All others are kept as nothing.
 */
export function ofTeam(events: readonly WorkEvent[], repositories: readonly { repo: string }[]): WorkEvent[] {
  const spelled = new Map(repositories.map(({ repo }) => [repo.toLowerCase(), repo]));
  return events.flatMap((event) => {
    const given = event.pr?.repo ?? event.check?.repo ?? event.push?.repo ?? event.ticket?.key.split("#")[0];
    const repo = given === undefined ? undefined : spelled.get(given.toLowerCase());
    if (repo === undefined) return [];
    const { pr, check, push: pushed, ticket } = event;
    return [
      {
        ...event,
        ...(pr && { pr: { ...pr, repo } }),
        ...(check && { check: { ...check, repo } }),
        ...(pushed && { push: { ...pushed, repo } }),
        ...(ticket && { ticket: { ...ticket, ...spellTicket(ticket, spelled) } }),
      },
    ];
  });
}

function spellTicket(ticket: NonNullable<WorkEvent["ticket"]>, spelled: ReadonlyMap<string, string>) {
  const spell = (key: string) => key.replace(/^[^#]*/, (repo) => spelled.get(repo.toLowerCase()) ?? repo);
  return { key: spell(ticket.key), ...(ticket.parent && { parent: spell(ticket.parent) }) };
}
