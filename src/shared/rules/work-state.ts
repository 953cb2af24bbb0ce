/**
 * What the board knows, worked out of events that come twice, late and in any order (WORK-1). Everything here is
 * a join: taking the same events in another order leaves the same, as long as no two say different things of one
 * moment; then what came last stands, and a merge stands over a close over an opening.
 */
import type { WorkEvent } from "../wire/work.ts";
import { isOffice } from "./trust.ts";

/** A field as its source last gave it, and when, ms by the source's own clock. */
export interface Stamp {
  v: unknown;
  at: number;
}
export type Fields = Record<string, Stamp>;

/** A source whose clock runs ahead must not hold a field for ever. */
export const AHEAD_MS = 60_000;

/** When an event happened, ms: by its source's clock, which is not believed about the future. */
export function timeOf(at: string, now: number): number {
  return Math.max(0, Math.min(Date.parse(at), now + AHEAD_MS));
}

/** Puts what an event gives over what stands; what is older than the field stays out (WORK-1). */
export function put(have: Fields, given: Record<string, unknown>, at: number): Fields {
  const fields = { ...have };
  for (const [name, v] of Object.entries(given)) {
    if (v === undefined) continue;
    const stands = fields[name];
    if (!stands || at >= stands.at) fields[name] = { v, at };
  }
  return fields;
}

/** A field's value as text. */
export function textOf(fields: Fields, name: string): string | undefined {
  const v = fields[name]?.v;
  return typeof v === "string" ? v : undefined;
}

// ---- pull requests ----------------------------------------------------------------------------------

export type PrState = "open" | "closed" | "merged";
export type Mergeable = "clean" | "conflicting" | "unknown";

const SAYS: Partial<Record<WorkEvent["type"], PrState>> = {
  "pr.opened": "open",
  "pr.closed": "closed",
  "pr.merged": "merged",
};

/** What an event says of its pull request, as fields. */
export function prGiven(
  event: Pick<WorkEvent, "type" | "pr" | "ticket" | "reviewer" | "actor" | "source">,
): Record<string, unknown> {
  const { pr, type, reviewer } = event;
  if (!pr) return {};
  const state = pr.state ?? SAYS[type];
  // An office tells of a pull request before its host does: whose login opened it is the host's to say.
  const opener = type === "pr.opened" && event.source !== "office" ? event.actor.id : undefined;
  const author = pr.author ?? opener;
  const merger = pr.merged_by ?? (type === "pr.merged" ? event.actor.id : undefined);
  const given: Record<string, unknown> = {
    title: pr.title,
    body: pr.body,
    url: pr.url,
    author,
    author_by: author && event.source,
    author_kind: pr.author_kind,
    head: pr.head,
    head_sha: pr.head_sha,
    base: pr.base,
    merge_sha: pr.merge_sha,
    merged_by: merger,
    merger_by: merger && event.source,
    ticket: event.ticket?.key,
    draft: pr.draft ?? (type === "pr.ready" ? false : undefined),
    requested: pr.requested,
    requested_by: pr.requested || reviewer ? event.source : undefined,
  };
  if (pr.mergeable) given["mergeable"] = { of: pr.head_sha ?? null, is: pr.mergeable };
  if (state) given[`state:${state}`] = true;
  if (reviewer && type === "pr.review_requested") given[`requested:${reviewer}`] = true;
  if (reviewer && type === "pr.review_request_removed") given[`requested:${reviewer}`] = false;
  // Who has reviewed is asked no more, until somebody asks again.
  if (type === "pr.reviewed") given[`requested:${event.actor.id}`] = false;
  return given;
}

/** The newest state; at equal times merged over closed over open. A merge is a close, so no close takes it back. */
export function prState(fields: Fields): PrState {
  const at = (state: PrState) => fields[`state:${state}`]?.at ?? Number.NEGATIVE_INFINITY;
  const [open, closed, merged] = [at("open"), at("closed"), at("merged")];
  if (merged > Number.NEGATIVE_INFINITY && merged >= open) return "merged";
  return closed > Number.NEGATIVE_INFINITY && closed >= open ? "closed" : "open";
}

/** Whether it merges cleanly, as said of the head that it has now. */
export function mergeableOf(fields: Fields): Mergeable {
  const stamp = fields["mergeable"];
  const said = stamp?.v as { of: string | null; is: Mergeable } | undefined;
  if (!stamp || !said) return "unknown";
  const head = fields["head_sha"];
  const fits = said.of === null ? !head || stamp.at >= head.at : !head || said.of === head.v;
  return fits ? said.is : "unknown";
}

/** Whose review is asked for now: the newest that was said of each. */
export function requestedOf(fields: Fields): string[] {
  const whole = fields["requested"];
  const names = new Set(Array.isArray(whole?.v) ? (whole.v as string[]) : []);
  const wholeAt = whole?.at ?? Number.NEGATIVE_INFINITY;
  for (const [name, stamp] of Object.entries(fields)) {
    if (!name.startsWith("requested:") || stamp.at < wholeAt) continue;
    if (stamp.v === true) names.add(name.slice("requested:".length));
    else names.delete(name.slice("requested:".length));
  }
  return [...names].toSorted();
}

// ---- reviews ----------------------------------------------------------------------------------------

export type ReviewState = "approved" | "changes_requested" | "commented" | "dismissed";
export interface ReviewLine {
  id: string;
  /** Whoever wrote it, in one spelling. */
  reviewer: string;
  /** When it was first heard of, ms: a later dismissal does not make it newer. */
  at: number;
  state: ReviewState;
  /** The head that it was made on. */
  sha?: string;
}

/** A review's state: what was said last, and a dismissal over everything said at that time. */
export function reviewGiven(
  review: NonNullable<WorkEvent["review"]>,
  head: string | undefined,
): Record<string, unknown> {
  const { state, body, sha = head, url } = review;
  const given: Record<string, unknown> = { body, sha, url };
  given[state === "dismissed" ? "dismissed" : "state"] = state === "dismissed" ? true : state;
  return given;
}

/** The state of a review from its fields: once dismissed, it stays so. */
export function reviewState(fields: Fields): ReviewState {
  return fields["dismissed"] ? "dismissed" : ((textOf(fields, "state") as ReviewState) ?? "commented");
}

/** The latest verdict of each reviewer: a comment is none, and a dismissed one leaves none (PIPE-5). */
export function verdicts<T extends ReviewLine>(reviews: readonly T[]): Map<string, T> {
  const latest = new Map<string, T>();
  for (const review of reviews) {
    if (review.state === "commented") continue;
    const stands = latest.get(review.reviewer);
    if (!stands || review.at > stands.at || (review.at === stands.at && review.id > stands.id))
      latest.set(review.reviewer, review);
  }
  for (const [who, review] of latest) if (review.state === "dismissed") latest.delete(who);
  return latest;
}

// ---- checks -----------------------------------------------------------------------------------------

export type CheckStatus = "pending" | "success" | "failure";
export interface CheckLine {
  run: string | null;
  at: number;
  status: CheckStatus;
}

const RANK: Record<CheckStatus, number> = { pending: 0, success: 1, failure: 2 };

/** Numbers of runs by their size; one without a number is older than any. */
function runOrder(a: string | null, b: string | null): number {
  const [x, y] = [(a ?? "").replace(/^0+/, ""), (b ?? "").replace(/^0+/, "")];
  return x.length - y.length || (x < y ? -1 : Number(x > y));
}

/** Whether a check as it comes stands over what stands: the newer run, else the newer word about it (WORK-1). */
export function newerCheck(have: CheckLine, given: CheckLine): boolean {
  const order = runOrder(given.run, have.run) || given.at - have.at || RANK[given.status] - RANK[have.status];
  return order >= 0;
}

export type Ci = "none" | CheckStatus;

/** The checks of one head together: failed once one has, as hosts show it. */
export function ciOf(statuses: readonly CheckStatus[]): Ci {
  if (statuses.length === 0) return "none";
  if (statuses.includes("failure")) return "failure";
  return statuses.includes("pending") ? "pending" : "success";
}

/** Whether every check has finished and one failed: only then is it worth a round (PIPE-1). */
export function haveFailed(statuses: readonly CheckStatus[]): boolean {
  return statuses.includes("failure") && !statuses.includes("pending");
}

// ---- tickets and documents --------------------------------------------------------------------------

/** What an event says of its ticket, as fields. */
export function ticketGiven(
  event: Pick<WorkEvent, "type" | "ticket" | "source" | "actor">,
): Record<string, unknown> {
  const { ticket, type } = event;
  if (!ticket) return {};
  const ours = event.source === "office" || isOffice({ source: event.source, id: event.actor.id });
  const closed = ticket.status === "canceled" ? "canceled" : "done";
  const assignee = ticket.assignee === undefined && type === "ticket.unassigned" ? null : ticket.assignee;
  return {
    // What we ourselves do to a ticket does not make it ours.
    source: ours ? undefined : event.source,
    title: ticket.title,
    url: ticket.url,
    description: ticket.description,
    parent: ticket.parent,
    status: type === "ticket.closed" ? closed : ticket.status,
    assignee,
    // Whose name it is depends on who names them so (PIPE-5).
    assignee_by: assignee === undefined ? undefined : event.source,
  };
}

/** Whether a ticket of this status is worked on; nothing known counts as open. */
export function isOpen(status: string | null | undefined): boolean {
  return status !== "done" && status !== "canceled";
}
