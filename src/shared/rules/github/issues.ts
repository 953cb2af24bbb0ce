/** Deliveries about issues, which are tickets here, and about the conversation of both (WORK-2, WORK-3). */
import type { WorkEvent, WorkEventType } from "../../wire/work.ts";
import {
  bodyAt,
  type Draft,
  type Fields,
  instantAt,
  known,
  listAt,
  objectAt,
  textAt,
  urlAt,
  wholeAt,
} from "./fields.ts";
import { commentOf, namedPr, prOfIssue, senderOf, takenAwayAt, writerOf, writtenAt } from "./parts.ts";
import { isPull } from "./pulls.ts";

type Ticket = NonNullable<WorkEvent["ticket"]>;

const ACTIONS: Readonly<Record<string, WorkEventType>> = {
  opened: "ticket.created",
  assigned: "ticket.assigned",
  unassigned: "ticket.unassigned",
  closed: "ticket.closed",
  deleted: "ticket.closed",
  transferred: "ticket.closed",
};

export function issues(payload: Fields, repo: string, received: string): Draft[] {
  const issue = objectAt(payload, "issue");
  const action = textAt(payload, "action", 60) ?? "";
  const ticket = ticketOf(repo, issue);
  if (!ticket || isPull(issue)) return [];
  const type = Object.hasOwn(ACTIONS, action) ? (ACTIONS[action] as WorkEventType) : "ticket.updated";
  if (action === "assigned") {
    const assignee = textAt(objectAt(payload, "assignee"), "login", 200);
    if (assignee !== undefined) ticket.assignee = assignee;
  }
  if (action === "unassigned") ticket.assignee ??= lastOf(issue);
  if (action === "deleted" || action === "transferred") ticket.status = "canceled";
  // An open issue says nothing of how far its work is; one that was opened again is no longer done.
  if (action === "reopened") ticket.status = "ready";
  return [{ type, at: instantAt(issue, "updated_at") ?? received, actor: senderOf(payload, issue), ticket }];
}

/** A comment on an issue, or on the conversation of a pull request. */
export function issueComment(payload: Fields, repo: string, received: string): Draft[] {
  const issue = objectAt(payload, "issue");
  const given = objectAt(payload, "comment");
  const comment = commentOf(given);
  const pr = isPull(issue) ? prOfIssue(repo, issue) : undefined;
  const ticket = isPull(issue) ? undefined : ticketOf(repo, issue);
  const action = textAt(payload, "action", 60);
  if (!comment || !(pr || ticket)) return [];
  if (action === "deleted")
    return [
      {
        type: pr ? "pr.updated" : "ticket.updated",
        at: takenAwayAt(given, received),
        actor: senderOf(payload),
        ...known({ pr: pr && namedPr(pr), ticket: ticket && { key: ticket.key } }),
        comment: { ...comment, body: "", deleted: true },
      },
    ];
  if (action !== "created" && action !== "edited") return [];
  return [
    {
      type: pr ? "pr.commented" : "ticket.commented",
      at: writtenAt(given, received),
      actor: writerOf(payload, given),
      ...known({ pr, ticket }),
      comment,
    },
  ];
}

/** An issue as a ticket: its key is `owner/repo#n`. */
function ticketOf(repo: string, issue: Fields): Ticket | undefined {
  const number = wholeAt(issue, "number");
  if (!number) return undefined;
  const closed = textAt(issue, "state", 20) === "closed";
  const reason = textAt(issue, "state_reason", 40);
  return known({
    key: `${repo}#${number}`,
    title: textAt(issue, "title", 1000),
    url: urlAt(issue, "html_url"),
    status: !closed ? undefined : reason === "not_planned" || reason === "duplicate" ? "canceled" : "done",
    assignee: assigneeOf(issue),
    parent: parentOf(issue),
    description: bodyAt(issue, "body"),
  });
}

/** A ticket is one person's: of several the event that assigned them says whose it is. */
function assigneeOf(issue: Fields): string | null | undefined {
  if (!Array.isArray(issue["assignees"])) return undefined;
  const logins = listAt(issue, "assignees", 100).flatMap((user) => textAt(user, "login", 200) ?? []);
  return logins.length > 1 ? undefined : (logins[0] ?? null);
}

function lastOf(issue: Fields): string | null {
  const last = listAt(issue, "assignees", 100).at(-1);
  return (last && textAt(last, "login", 200)) ?? null;
}

/** The issue that this is a part of, from its address at the API. */
function parentOf(issue: Fields): string | undefined {
  const found = /\/repos\/([\w.-]+\/[\w.-]+)\/issues\/(\d{1,15})$/.exec(
    urlAt(issue, "parent_issue_url") ?? "",
  );
  return found ? `${found[1]}#${found[2]}` : undefined;
}
