/** People, repositories and pull requests as GitHub's payloads have them (WORK-2). */
import type { WorkEvent } from "../../wire/work.ts";
import {
  bodyAt,
  type Fields,
  flagAt,
  idAt,
  instantAt,
  known,
  listAt,
  objectAt,
  textAt,
  urlAt,
  wholeAt,
} from "./fields.ts";

export type Pr = NonNullable<WorkEvent["pr"]>;
export type Comment = NonNullable<WorkEvent["comment"]>;
type Actor = WorkEvent["actor"];

const REPO = /^[\w.-]+\/[\w.-]+$/;

/** `owner/name` of the repository that a delivery is about. */
export function repoOf(payload: Fields): string | undefined {
  const name = textAt(objectAt(payload, "repository"), "full_name", 300);
  return name !== undefined && REPO.test(name) ? name : undefined;
}

/** Who did it, by login. A deleted account is `ghost`, as the host shows it. */
export function actorOf(user: Fields, association?: string): Actor {
  const login = textAt(user, "login", 200) ?? "ghost";
  const bot = textAt(user, "type", 40) === "Bot" || login.endsWith("[bot]");
  return known({ id: login, kind: bot ? ("bot" as const) : ("human" as const), association });
}

/** Who wrote something, with what GitHub calls them towards the repository (PIPE-5). */
export function authorOf(written: Fields): Actor {
  return actorOf(objectAt(written, "user"), textAt(written, "author_association", 40));
}

/** Who sent a delivery. What GitHub calls somebody is said of authors only. */
export function senderOf(payload: Fields, authored: Fields = {}): Actor {
  const sender = actorOf(objectAt(payload, "sender"));
  const author = authorOf(authored);
  return author.id === sender.id ? author : sender;
}

/**
 * Whose words a comment has: its author's, until somebody else wrote them anew. Who may edit what others wrote is not
 * who they are (PIPE-5).
 */
export function writerOf(payload: Fields, comment: Fields): Actor {
  return textAt(payload, "action", 60) === "edited" ? senderOf(payload, comment) : authorOf(comment);
}

/** A pull request as it stands in a payload, as far as the payload says. */
export function prOf(repo: string, pull: Fields): Pr | undefined {
  const number = wholeAt(pull, "number");
  if (!number) return undefined;
  const author = actorOf(objectAt(pull, "user"));
  const head = objectAt(pull, "head");
  const state = stateOf(pull);
  return known({
    repo,
    number,
    title: textAt(pull, "title", 1000),
    body: bodyAt(pull, "body"),
    url: urlAt(pull, "html_url"),
    state,
    draft: flagAt(pull, "draft"),
    author: author.id,
    author_kind: author.kind,
    head: textAt(head, "ref"),
    head_sha: textAt(head, "sha", 80),
    base: textAt(objectAt(pull, "base"), "ref"),
    // Of one that is open it is a try of the host's own, which is no commit of the base.
    merge_sha: state === "merged" ? textAt(pull, "merge_commit_sha", 80) : undefined,
    merged_by: textAt(objectAt(pull, "merged_by"), "login", 200),
    mergeable: mergeableOf(pull),
    requested: Array.isArray(pull["requested_reviewers"])
      ? listAt(pull, "requested_reviewers", 100).flatMap((user) => textAt(user, "login", 200) ?? [])
      : undefined,
  });
}

/** Which one it is and no more: for events whose time is not the snapshot's, which may be an old one. */
export function namedPr({ repo, number, title, url, author }: Pr): Pr {
  return known({ repo, number, title, url, author });
}

/** The pull request that a comment's issue is, as far as an issue says. */
export function prOfIssue(repo: string, issue: Fields): Pr | undefined {
  const pr = prOf(repo, issue);
  if (!pr) return undefined;
  return instantAt(objectAt(issue, "pull_request"), "merged_at") ? { ...pr, state: "merged" } : pr;
}

function stateOf(pull: Fields): Pr["state"] {
  if (flagAt(pull, "merged") || instantAt(pull, "merged_at")) return "merged";
  const state = textAt(pull, "state", 20);
  return state === "open" || state === "closed" ? state : undefined;
}

/** `null` is not worked out yet: it says nothing. */
function mergeableOf(pull: Fields): Pr["mergeable"] {
  const mergeable = flagAt(pull, "mergeable");
  if (mergeable === undefined)
    return textAt(pull, "mergeable_state", 40) === "dirty" ? "conflicting" : undefined;
  return mergeable ? "clean" : "conflicting";
}

/** A comment, on the conversation or on a line. */
export function commentOf(comment: Fields): Comment | undefined {
  const id = idAt(comment, "id");
  if (id === undefined) return undefined;
  const path = textAt(comment, "path", 1000);
  const root = idAt(comment, "in_reply_to_id");
  return known({
    id,
    body: bodyAt(comment, "body") ?? "",
    url: urlAt(comment, "html_url"),
    path,
    line: path === undefined ? undefined : (wholeAt(comment, "line") ?? wholeAt(comment, "original_line")),
    // A thread is known by its first comment: that is all that a comment says of it.
    thread: path === undefined ? undefined : (root ?? id),
    reply_to: root,
    review: idAt(comment, "pull_request_review_id"),
  });
}

/** When something was last written, else when it came. */
export function writtenAt(written: Fields, received: string): string {
  return instantAt(written, "updated_at") ?? instantAt(written, "created_at") ?? received;
}

/** When something was taken away: the host does not say, so it is when we heard, and after it was written. */
export function takenAwayAt(written: Fields, received: string): string {
  const at = writtenAt(written, received);
  return at > received ? at : received;
}
