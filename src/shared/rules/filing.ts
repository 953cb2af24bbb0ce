/** CHAT-3 and CHAT-4: filing a chat's request as work. */
import { foldHandle } from "./handles.ts";

/** The form in which titles of requests are compared: case, forms of letters and spaces folded. Idempotent. */
export function foldTitle(title: string): string {
  return foldHandle(title.normalize("NFKC").replace(/\s+/gu, " ").trim()).replace(/\s+/gu, " ").trim();
}

/** A request that a message filed already: which ticket it went to, for `work_queue` none. */
export interface Filed {
  ticket: string | null;
  verb: FilingVerb;
  /** Whom it was filed for, when for somebody else. */
  assignee: string | null;
}
export type FilingVerb = "work_link" | "work_file_for" | "work_queue";

/**
 * Whether a request may be filed (CHAT-3): one filing a title and message. The same again, with the same ticket
 * and for the same person, is the first answer; anything else is refused.
 */
export function decideFiling(before: Filed | undefined, now: Filed): "new" | "repeat" | "taken" {
  if (!before) return "new";
  const same =
    before.verb === now.verb &&
    fold(before.ticket) === fold(now.ticket) &&
    fold(before.assignee) === fold(now.assignee);
  return same ? "repeat" : "taken";
}

const fold = (text: string | null) => (text === null ? null : foldTitle(text));

/**
 * Whether a person is busy (CHAT-3): another item than the chat's own is queued or active. Then what is filed
 * stands last and waits; else it is next.
 */
export function isBusy(items: readonly { id: string; state: string }[], chatItem: string): boolean {
  return items.some(({ id, state }) => id !== chatItem && (state === "queued" || state === "active"));
}

/** What the target of `work_attach` is like, as the board knows it. */
export interface AttachTarget {
  mine: boolean;
  open: boolean;
  inReview: boolean;
}

/** Why a request cannot be attached to existing work (CHAT-4); `undefined` when it can. */
export function attachFault(
  target: AttachTarget,
  confirmed: boolean,
): "not_yours" | "over" | "in_review" | undefined {
  if (!target.mine) return "not_yours";
  if (!target.open) return "over";
  return target.inReview && !confirmed ? "in_review" : undefined;
}
