/** The default rules, one a row of the table in PIPE-1. Each says what it decides of an event, or nothing. */
import type { WorkEvent } from "../wire/work.ts";
import { feedback, ignore, moveOp, type Rule } from "./pipeline-rule.ts";
import { PR_RULES } from "./pipeline-rules-prs.ts";
import type { Decision, Facts, OpDraft } from "./pipeline-types.ts";
import * as wakes from "./pipeline-wakes.ts";
import { isOpen } from "./work-state.ts";

const assigned: Rule = {
  id: "ticket.assigned",
  on: ["ticket.assigned", "ticket.created"],
  decide(event, { ticket, named, ...facts }) {
    if (!ticket || !named) return [];
    if (ticket.assignee !== named)
      return ignore(assigned.id, `${ticket.key} is not assigned to ${named} any more`);
    if (!isOpen(ticket.status)) return ignore(assigned.id, `${ticket.key} is ${ticket.status}`);
    return [
      {
        rule: assigned.id,
        decision: "wake",
        why: `${ticket.key} is assigned to ${named}`,
        person: named,
        key: `assigned:${ticket.key}:${named}`,
        wake: wakes.assignedWake(event, facts, ticket),
      },
    ];
  },
};

/** Rounds that do the ticket's own work: it is active while one runs, and to be reviewed after (PIPE-7). */
const isWorkOn = (kind: string): boolean => kind === "assigned" || kind === "review_feedback";

const accepted: Rule = {
  id: "item.accepted",
  on: ["item.accepted"],
  decide(event, { ticket }) {
    const { item } = event;
    if (!item || !ticket) return [];
    if (!isWorkOn(item.kind))
      return ignore(accepted.id, `an item of kind ${item.kind} leaves the ticket where it is`);
    if (!isOpen(ticket.status)) return ignore(accepted.id, `${ticket.key} is ${ticket.status}`);
    const ops = moveOp(ticket, "active");
    if (ops.length === 0) return ignore(accepted.id, `${ticket.key} is active already`);
    const key = `active:${item.id}:${item.round}`;
    const why = `${item.person} has begun on ${ticket.key}`;
    return [{ rule: accepted.id, decision: "act", why, person: item.person, key, ops }];
  },
};

const closed: Rule = {
  id: "ticket.closed",
  on: ["ticket.closed", "ticket.unassigned", "ticket.assigned"],
  decide(event, { ticket }) {
    if (!ticket) return [];
    const { before } = ticket;
    const gone = before && before !== ticket.assignee ? [before] : [];
    const people =
      event.type === "ticket.closed"
        ? [...new Set([...gone, ...(ticket.assignee ? [ticket.assignee] : []), ...ticket.workers])]
        : gone;
    if (event.type === "ticket.closed" && isOpen(ticket.status))
      return ignore(closed.id, `${ticket.key} was opened again since`);
    const why =
      event.type === "ticket.closed"
        ? `${ticket.key} is ${ticket.status ?? "done"}`
        : `${ticket.key} is not assigned to ${before ?? "them"} any more`;
    const ref = { type: "ticket" as const, ref: ticket.key };
    return people.map((person) => ({ rule: event.type, decision: "cancel", why, person, ref }));
  },
};

const ticketCommented: Rule = {
  id: "ticket.commented",
  on: ["ticket.commented"],
  decide: (event, facts) =>
    facts.ticket
      ? feedback("ticket.commented", event, facts, facts.ticket.owner, wakes.ticketRef(facts.ticket))
      : [],
};

const docCommented: Rule = {
  id: "doc.commented",
  on: ["doc.commented"],
  decide: (event, facts) =>
    facts.doc
      ? feedback(
          "doc.commented",
          event,
          facts,
          facts.doc.owner,
          wakes.docRef(facts.doc),
          facts.ticket ? [wakes.ticketRef(facts.ticket)] : [],
        )
      : [],
};

const docLinked: Rule = {
  id: "doc.linked",
  on: ["doc.linked"],
  decide(_event, { doc, ticket, who }) {
    if (!doc || !ticket || !who.handle) return [];
    const link = { id: doc.id, title: doc.title ?? doc.id, url: doc.url ?? "" };
    const why = `${who.handle} wrote ${link.title} for ${ticket.key}`;
    const key = `doc:${doc.id}:${ticket.key}`;
    const ops: OpDraft[] = [{ op: "link_doc", ticket: ticket.key, doc: link }];
    return [{ rule: docLinked.id, decision: "act", why, person: who.handle, key, ops }];
  },
};

const chat: Rule = {
  id: "chat.message",
  on: ["chat.message"],
  decide(event, { named, ...facts }) {
    if (!event.chat) return [];
    if (!named) return ignore(chat.id, `${event.chat.to} is not of the team`);
    const key = `chat:${event.chat.channel}:${event.chat.message}:${named}`;
    const wake = wakes.chatWake(event, facts, event.chat);
    return [
      {
        rule: chat.id,
        decision: "wake",
        why: `${facts.who.name} writes to ${named}`,
        person: named,
        key,
        wake,
      },
    ];
  },
};

const question: Rule = {
  id: "question.asked",
  on: ["question.asked"],
  decide(event, facts) {
    if (!event.question || !facts.named) return [];
    const key = `question:${event.question.id}`;
    const wake = wakes.questionWake(facts, event.question);
    return [
      { rule: question.id, decision: "wake", why: `${facts.who.name} asks`, person: facts.named, key, wake },
    ];
  },
};

const schedule: Rule = {
  id: "schedule.due",
  on: ["schedule.due"],
  decide(event, facts) {
    const { schedule: due } = event;
    if (!due || !facts.named) return [];
    const key = `schedule:${due.id}:${due.due}`;
    const why = `schedule ${due.id} was due at ${due.due}`;
    return [
      { rule: schedule.id, decision: "wake", why, person: facts.named, key, wake: wakes.scheduleWake(due) },
    ];
  },
};

const ended: Rule = {
  id: "item.ended",
  on: ["item.ended"],
  decide(event, facts, team) {
    const { item } = event;
    if (!item) return [];
    const decided: Decision[] = [];
    const { ticket, found: before, openPr } = facts;
    const key = `${item.id}:${item.round}`;
    const by = { rule: ended.id, decision: "act" as const, person: item.person };
    if (ticket && before && isOpen(ticket.status)) {
      // A silent end leaves the ticket as the round found it.
      if (item.status === "silent" && before !== ticket.status)
        decided.push({
          ...by,
          key: `back:${key}`,
          ops: moveOp(ticket, before),
          why: `the round ended silently: ${ticket.key} goes back to ${before}`,
        });
    }
    if (ticket && item.status === "done" && ticket.status === "active") {
      // An open pull request says itself when it is to be reviewed; without one, only this does.
      const again = before === "review";
      if (again || (isWorkOn(item.kind) && !openPr))
        decided.push({
          ...by,
          key: `back:${key}`,
          ops: moveOp(ticket, "review"),
          why: `the round is done: ${ticket.key} is ${again ? "in review again" : "to be reviewed"}`,
        });
    }
    if (team.usage.track_cost && team.tracker.kind === "events") {
      const ops = item.tickets.flatMap((of): OpDraft[] => {
        const used = facts.used[of];
        if (!used) return [];
        const set = (field: "tokens" | "cost_usd" | "runs", value: number): OpDraft => ({
          op: "set_field",
          ticket: of,
          field,
          value,
        });
        return [set("tokens", used.tokens), set("cost_usd", used.costUsd), set("runs", used.runs)];
      });
      if (ops.length > 0)
        decided.push({ ...by, key: `used:${key}`, ops, why: "what the tickets have used so far" });
    }
    return decided;
  },
};

/** The table of PIPE-1, in its order. */
export const DEFAULT_RULES: readonly Rule[] = [
  assigned,
  accepted,
  closed,
  ticketCommented,
  ...PR_RULES,
  docCommented,
  docLinked,
  chat,
  question,
  schedule,
  ended,
];

/** Keys that stand for something which this event ended: the same may be decided anew from here on. */
export function endedKeys(event: WorkEvent, { ticket, pr, who, asked }: Facts): string[] {
  const { item } = event;
  if (ticket && event.type === "ticket.closed") return [`assigned:${ticket.key}:`];
  if (ticket && (event.type === "ticket.unassigned" || event.type === "ticket.assigned"))
    return ticket.before && ticket.before !== ticket.assignee
      ? [`assigned:${ticket.key}:${ticket.before}`]
      : [];
  if (item && event.type === "item.ended" && ["done", "silent", "canceled"].includes(item.status ?? ""))
    return item.tickets.map((key) => `assigned:${key}:${item.person}`);
  if (!pr) return [];
  if (event.type === "pr.reviewed" && who.handle) return [`review:${pr.ref}:${who.handle}`];
  if (event.type === "pr.review_request_removed") return asked.map((p) => `review:${pr.ref}:${p}`);
  return event.type === "pr.closed" || event.type === "pr.merged" ? [`review:${pr.ref}:`] : [];
}
