/** What a wake says, made of the event: text of others stays in `body` and `feedback`, as data (PIPE-4). */
import type { WorkEvent } from "../wire/work.ts";
import type { DocFact, Facts, PrFact, RefFact, TicketFact, WakeDraft } from "./pipeline-types.ts";
import { codePoints, firstCodePoints } from "./text.ts";
import { OWN_SOURCES, type Who } from "./trust.ts";

const TITLE = 200;
const CHECKS = 50;

/** One line of at most 200 characters. */
function line(text: string): string {
  const flat = text.replace(/\s+/gu, " ").trim();
  return codePoints(flat) <= TITLE ? flat : `${firstCodePoints(flat, TITLE - 1)}…`;
}

/** What started it, in the contract's words (OFFER-9). */
export function triggerOf(event: WorkEvent, who: Who): WakeDraft["trigger"] {
  if (event.type === "schedule.due") return "schedule";
  if (who.kind === "human") return "human";
  return who.kind === "person" ? "agent" : "automation";
}

/** Who asked for it, so that they are told how it ended. */
export function requesterOf(event: WorkEvent, who: Who): Pick<WakeDraft, "requester"> {
  if (who.kind === "person" && who.handle)
    return { requester: { id: who.handle, name: who.name, kind: "agent" } };
  if (who.kind === "human")
    return { requester: { id: who.user ?? event.actor.id, name: who.name, kind: "human" } };
  return {};
}

const named = (more: { title?: string; url?: string }): { title?: string; url?: string } => ({
  ...(more.title === undefined ? {} : { title: more.title }),
  ...(more.url === undefined ? {} : { url: more.url }),
});
export const ticketRef = (t: TicketFact): RefFact => ({ type: "ticket", ref: t.key, ...named(t) });
export const prRef = (p: PrFact): RefFact => ({ type: "pr", ref: p.ref, ...named(p) });
export const docRef = (d: DocFact): RefFact => ({ type: "doc", ref: d.id, ...named(d) });

/** A ticket's wake: the work itself. */
export function assignedWake(event: WorkEvent, facts: Facts, ticket: TicketFact): WakeDraft {
  return {
    kind: "assigned",
    title: line(ticket.title ? `${ticket.key}: ${ticket.title}` : ticket.key),
    trigger: triggerOf(event, facts.who),
    subject: ticketRef(ticket),
    linked: [],
    ...(ticket.description ? { body: ticket.description } : {}),
    ...requesterOf(event, facts.who),
  };
}

/** A pull request's wake: a review to make, or a merge to decide. */
export function prWake(kind: string, event: WorkEvent, facts: Facts, pr: PrFact): WakeDraft {
  const what = kind === "review" ? "Review" : kind === "merge" ? "Merge" : kind;
  return {
    kind,
    title: line(`${what} ${pr.ref}${pr.title ? `: ${pr.title}` : ""}`),
    trigger: triggerOf(event, facts.who),
    subject: prRef(pr),
    linked: pr.ticket ? [ticketRef(pr.ticket)] : [],
    ...requesterOf(event, facts.who),
  };
}

/** Whoever gave the feedback, as the agent can mention them: a login at a host, a name among ourselves. */
const actorName = (event: WorkEvent, who: Who): string =>
  OWN_SOURCES.includes(event.source) ? who.name : event.actor.id;

type Feedback = NonNullable<WakeDraft["feedback"]>;

/** The feedback of an event, or nothing when it says nothing. */
export function feedbackOf(event: WorkEvent, facts: Facts): Feedback | undefined {
  const base = { actor: actorName(event, facts.who), at: event.at };
  const { comment, review, pr, ticket, doc } = event;
  if (event.type === "pr.reviewed" && review && pr)
    return {
      ...base,
      kind: "review",
      state: review.state,
      ...(review.url === undefined ? {} : { url: review.url }),
      body: review.body ?? "",
      key: `review:${pr.repo}#${pr.number}:${review.id}`,
    };
  if (!comment) return undefined;
  const said = {
    ...base,
    ...(comment.url === undefined ? {} : { url: comment.url }),
    commentId: comment.id,
    body: comment.body,
  };
  if (event.type === "pr.commented" && pr)
    return { ...said, kind: "comment", key: `comment:${pr.repo}#${pr.number}:${comment.id}` };
  if (event.type === "pr.inline_commented" && pr)
    return {
      ...said,
      kind: "inline_comment",
      // Where it stands on the diff, and the thread to answer in.
      comments: [
        {
          id: comment.id,
          path: comment.path ?? "",
          ...(comment.line === null || comment.line === undefined ? {} : { line: comment.line }),
          body: comment.body,
          ...(comment.url === undefined ? {} : { url: comment.url }),
          threadId: facts.threadName ?? comment.thread ?? comment.reply_to ?? comment.id,
        },
      ],
      key: `inline:${pr.repo}#${pr.number}:${comment.id}`,
    };
  if (event.type === "ticket.commented" && ticket)
    return { ...said, kind: "ticket_comment", key: `ticket:${ticket.key}:${comment.id}` };
  if (event.type === "doc.commented" && doc)
    return {
      ...said,
      kind: "doc_comment",
      docId: doc.id,
      ...(comment.anchor === undefined ? {} : { anchorText: comment.anchor }),
      key: `doc:${doc.id}:${comment.id}`,
    };
  return undefined;
}

/** A round because somebody said something about the person's work. */
export function feedbackWake(
  event: WorkEvent,
  facts: Facts,
  subject: RefFact,
  linked: RefFact[],
  feedback: Feedback,
): WakeDraft {
  const what = subject.type === "doc" ? (subject.title ?? subject.ref) : subject.ref;
  const title = subject.type === "doc" || !subject.title ? "" : `: ${subject.title}`;
  return {
    kind: "review_feedback",
    title: line(`Feedback on ${what}${title}`),
    trigger: triggerOf(event, facts.who),
    subject,
    linked,
    feedback,
    ...requesterOf(event, facts.who),
  };
}

/** The failed checks of a head, as feedback: names, links and summaries. */
export function checksFeedback(event: WorkEvent, pr: PrFact): Feedback {
  const shown = pr.failing.slice(0, CHECKS).map(({ name, url, summary }) => {
    const about = summary ? `\n  ${firstCodePoints(summary, 1000).replaceAll("\n", "\n  ")}` : "";
    return `- ${name}${url ? ` ${url}` : ""}${about}`;
  });
  const more = pr.failing.length - shown.length;
  return {
    actor: "office",
    kind: "ci_failure",
    at: event.at,
    body: `These checks failed on ${pr.headSha ?? "the head"}:\n${shown.join("\n")}${more > 0 ? `\n- and ${more} more` : ""}`,
    key: `checks:${pr.ref}:${pr.headSha ?? ""}`,
  };
}

/** A request from a conversation (CHAT-1, CHAT-2). The office makes it a round when an item waits for the writer. */
export function chatWake(event: WorkEvent, facts: Facts, chat: NonNullable<WorkEvent["chat"]>): WakeDraft {
  const { who } = facts;
  const id = who.user ?? (who.kind === "person" ? (who.handle ?? event.actor.id) : event.actor.id);
  const files = chat.files?.length ? { files: chat.files } : {};
  const shown = chat.text.trim() === "" ? `Files from ${who.name}` : chat.text;
  return {
    kind: "chat",
    title: line(shown),
    trigger: triggerOf(event, who),
    subject: { type: "chat_thread", ref: `${chat.channel}/${chat.thread}` },
    linked: [],
    origin: {
      channel: chat.channel,
      thread: chat.thread,
      requester: { id, name: who.name },
      direct: chat.direct,
      participant: chat.participant,
      ...files,
    },
    requester: { id, name: who.name, kind: who.kind === "person" ? "agent" : "human" },
    feedback: {
      actor: who.name,
      kind: "chat",
      at: event.at,
      body: chat.text,
      commentId: chat.message,
      key: `chat:${chat.channel}:${chat.message}`,
    },
    ...(event.source === "room" ? { room: { spaceId: chat.channel, messageId: chat.message } } : {}),
  };
}

/** A teammate's question (ITEM-2). */
export function questionWake(facts: Facts, question: NonNullable<WorkEvent["question"]>): WakeDraft {
  const from = facts.who.handle ?? "";
  return {
    kind: "question",
    title: line(`Question from ${facts.who.name}: ${question.text}`),
    trigger: facts.who.kind === "person" ? "agent" : "human",
    linked: [],
    body: question.text,
    requester: { id: from, name: facts.who.name, kind: "agent" },
    question: {
      id: question.id,
      from,
      ...(question.item ? { parentId: question.item } : {}),
      chain: question.chain,
      text: question.text,
    },
  };
}

/** Work that comes by the clock (OFFER-9). */
export function scheduleWake(schedule: NonNullable<WorkEvent["schedule"]>): WakeDraft {
  return {
    kind: "assigned",
    title: line(schedule.title),
    trigger: "schedule",
    linked: [],
    ...(schedule.body ? { body: schedule.body } : {}),
  };
}

/** A wake of the team's own rule: about whatever the event is about. */
export function ruleWake(kind: string, event: WorkEvent, facts: Facts): WakeDraft {
  const { pr, ticket, doc, who } = facts;
  const subject = pr ? prRef(pr) : ticket ? ticketRef(ticket) : doc ? docRef(doc) : undefined;
  const linked = pr?.ticket ? [ticketRef(pr.ticket)] : [];
  if (event.chat) return { ...chatWake(event, facts, event.chat), kind };
  const feedback = feedbackOf(event, facts);
  const what = subject ? `${subject.ref}${subject.title ? `: ${subject.title}` : ""}` : event.type;
  return {
    kind,
    title: line(feedback ? `Feedback on ${what}` : what),
    trigger: triggerOf(event, who),
    ...(subject ? { subject } : {}),
    linked,
    ...(feedback ? { feedback } : ticket?.description ? { body: ticket.description } : {}),
    ...requesterOf(event, who),
  };
}
