/** Deliveries about pull requests: themselves, their reviews, comments and threads (WORK-2, PIPE-1). */
import type { WorkEventType } from "../../wire/work.ts";
import {
  bodyAt,
  type Draft,
  type Fields,
  flagAt,
  idAt,
  instantAt,
  known,
  listAt,
  objectAt,
  textAt,
  urlAt,
} from "./fields.ts";
import { authorOf, commentOf, namedPr, prOf, senderOf, takenAwayAt, writerOf, writtenAt } from "./parts.ts";

/** What an action on a pull request is; all others change something of it and are `pr.updated`. */
const ACTIONS: Readonly<Record<string, WorkEventType>> = {
  opened: "pr.opened",
  reopened: "pr.opened",
  ready_for_review: "pr.ready",
  review_requested: "pr.review_requested",
  review_request_removed: "pr.review_request_removed",
};
/** After these the host has to find out anew whether it merges. */
const MOVED = new Set(["opened", "reopened", "synchronize"]);

export function pullRequest(payload: Fields, repo: string, received: string): Draft[] {
  const pull = objectAt(payload, "pull_request");
  const pr = prOf(repo, pull);
  const action = textAt(payload, "action", 60) ?? "";
  if (!pr) return [];
  const reviewer = textAt(objectAt(payload, "requested_reviewer"), "login", 200);
  let type = Object.hasOwn(ACTIONS, action) ? (ACTIONS[action] as WorkEventType) : "pr.updated";
  if (action === "closed") type = pr.state === "merged" ? "pr.merged" : "pr.closed";
  // A team's review is asked for of nobody in particular.
  if (type.startsWith("pr.review_request") && reviewer === undefined) type = "pr.updated";
  const rebased = action === "edited" && Object.hasOwn(objectAt(payload, "changes"), "base");
  if ((MOVED.has(action) || rebased) && pr.mergeable === undefined) pr.mergeable = "unknown";
  return [
    known({
      type,
      at: instantAt(pull, "updated_at") ?? received,
      actor: senderOf(payload, pull),
      pr,
      reviewer: type.startsWith("pr.review_request") ? reviewer : undefined,
    }),
  ];
}

/** What is done to a review; what the host thinks of later is nothing. */
const REVIEWED = new Set(["submitted", "edited", "dismissed"]);
const STATES = ["approved", "changes_requested", "commented", "dismissed"] as const;

export function pullRequestReview(payload: Fields, repo: string, received: string): Draft[] {
  const given = objectAt(payload, "review");
  const pull = objectAt(payload, "pull_request");
  const pr = prOf(repo, pull);
  const id = idAt(given, "id");
  const state = STATES.find((one) => one === textAt(given, "state", 40)?.toLowerCase());
  const action = textAt(payload, "action", 60) ?? "";
  if (!pr || id === undefined || state === undefined || !REVIEWED.has(action)) return [];
  const submitted = instantAt(given, "submitted_at");
  const first = action === "submitted";
  return [
    {
      type: "pr.reviewed",
      // An edited or dismissed one keeps its time: what changed then is newer.
      at: (first ? submitted : instantAt(given, "updated_at")) ?? instantAt(pull, "updated_at") ?? received,
      actor: authorOf(given),
      pr,
      review: known({
        id,
        state,
        body: bodyAt(given, "body"),
        sha: textAt(given, "commit_id", 80),
        url: urlAt(given, "html_url"),
      }),
    },
  ];
}

export function pullRequestReviewComment(payload: Fields, repo: string, received: string): Draft[] {
  const given = objectAt(payload, "comment");
  const pr = prOf(repo, objectAt(payload, "pull_request"));
  const comment = commentOf(given);
  const action = textAt(payload, "action", 60);
  if (!pr || !comment) return [];
  if (action === "deleted")
    return [
      {
        type: "pr.updated",
        at: takenAwayAt(given, received),
        actor: senderOf(payload),
        pr: namedPr(pr),
        comment: { ...comment, body: "", deleted: true },
      },
    ];
  if (action !== "created" && action !== "edited") return [];
  const actor = writerOf(payload, given);
  return [{ type: "pr.inline_commented", at: writtenAt(given, received), actor, pr, comment }];
}

export function pullRequestReviewThread(payload: Fields, repo: string, received: string): Draft[] {
  const pr = prOf(repo, objectAt(payload, "pull_request"));
  const given = objectAt(payload, "thread");
  const comments = listAt(given, "comments", 1000);
  const first = comments.find((one) => idAt(one, "in_reply_to_id") === undefined) ?? comments[0];
  const id = first && (idAt(first, "in_reply_to_id") ?? idAt(first, "id"));
  const action = textAt(payload, "action", 60);
  if (!pr || id === undefined || (action !== "resolved" && action !== "unresolved")) return [];
  const resolved = action === "resolved";
  return [
    {
      type: resolved ? "pr.thread_resolved" : "pr.thread_unresolved",
      // The pull request is not touched by it, and the thread has no time of its own on every host.
      at: instantAt(payload, "updated_at") ?? received,
      actor: senderOf(payload),
      pr: namedPr(pr),
      thread: known({ id, resolved, host: textAt(given, "node_id") }),
    },
  ];
}

/** Whether an issue's payload is a pull request's: GitHub has one conversation for both. */
export function isPull(issue: Fields): boolean {
  return (
    Object.hasOwn(issue, "pull_request") &&
    issue["pull_request"] !== null &&
    flagAt(issue, "pull_request") !== false
  );
}
