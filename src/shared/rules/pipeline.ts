/**
 * What follows from an event: the team's rules, then the default ones, each with its reason (PIPE-1). Pure: the
 * same event and facts decide the same, whatever was decided before.
 */
import type { Team } from "../wire/team.ts";
import type { WorkEvent, WorkEventType } from "../wire/work.ts";
import { DEFAULT_RULES } from "./pipeline-rules.ts";
import { ruleDecides, ruleMatches } from "./pipeline-team.ts";
import type { Decision, Facts } from "./pipeline-types.ts";

/** What comes in great numbers and wakes nobody by itself: a trace that says so each time would say nothing. */
const QUIET: ReadonlySet<WorkEventType> = new Set(["check.updated", "push"]);

/** What counts as talk between agents: a wake may follow from it (PIPE-2). */
const TALK: ReadonlySet<WorkEventType> = new Set([
  "ticket.assigned",
  "ticket.commented",
  "pr.opened",
  "pr.ready",
  "pr.reviewed",
  "pr.commented",
  "pr.inline_commented",
  "pr.review_requested",
  "doc.commented",
]);

/** Whether an agent's event counts towards `policies.agent_events`. Comments that came with a review count with it. */
export function countsAsTalk(event: WorkEvent): boolean {
  if (neverCounts(event)) return false;
  // The board tells of an assignment by itself; other trackers may make a ticket that is somebody's already.
  if (event.type === "ticket.created") return Boolean(event.ticket?.assignee);
  return event.source !== "office" && (TALK.has(event.type) || event.type === "pr.inline_commented");
}

/** An inline comment that answers none came with a review, which counts for it, also when it wakes. */
export function neverCounts({ type, comment }: WorkEvent): boolean {
  return type === "pr.inline_commented" && comment?.reply_to === undefined;
}

/**
 * Whether a wake would go on without people. A question is bounded by its own chain, and a room by its guard: who was
 * addressed there and not woken would leave a turn that nobody takes (ITEM-2, CHAT-2).
 */
function goesOn({ type, chat }: WorkEvent, { who, agentEvents }: Facts, limit: number): boolean {
  if (type === "question.asked") return false;
  if (type === "chat.message" && chat?.channel.startsWith("spc_")) return false;
  return (who.kind === "person" || who.kind === "bot") && agentEvents >= limit;
}

/** Every decision of an event, in order: all matching rules decide, and one with `stop` is the last (PIPE-1). */
export function decide(event: WorkEvent, facts: Facts, team: Team): Decision[] {
  const found: Decision[] = [];
  let stopped = false;
  for (const rule of team.pipeline.rules) {
    if (!ruleMatches(rule, event, facts)) continue;
    found.push(...ruleDecides(rule, event, facts, team));
    if (!rule.stop) continue;
    stopped = true;
    break;
  }
  if (!stopped) found.push(...byDefault(event, facts, team));
  return settled(found, event, facts, team);
}

function byDefault(event: WorkEvent, facts: Facts, team: Team): Decision[] {
  const rules = DEFAULT_RULES.filter((rule) => rule.on.includes(event.type));
  const { who } = facts;
  if (who.trusted) return rules.flatMap((rule) => rule.decide(event, facts, team));
  const found = rules.filter((rule) => rule.fact).flatMap((rule) => rule.decide(event, facts, team));
  if (QUIET.has(event.type) || found.length > 0) return found;
  return [{ rule: "untrusted", decision: "ignore", why: `${who.name} is ${who.why}` }];
}

/** Takes back what nobody may be woken by, and leaves one wake a person (PIPE-1, PIPE-2, PIPE-5). */
function settled(found: readonly Decision[], event: WorkEvent, facts: Facts, team: Team): Decision[] {
  const out: Decision[] = [];
  const woken = new Map<string, string>();
  const muted: { rule: string; person?: string }[] = [];
  const teams = new Set(team.pipeline.rules.map((rule) => rule.id));
  const { who } = facts;
  const limit = team.policies.agent_events;
  let toldOfTalk = false;
  for (const decision of found) {
    if (decision.decision === "ignore" && teams.has(decision.rule)) muted.push(decision);
    if (decision.decision === "act" && facts.caused) {
      out.push(ignored(decision.rule, "an act of the pipeline made this: it leads to no other"));
      continue;
    }
    if (decision.decision !== "wake") {
      out.push(decision);
      continue;
    }
    const { person } = decision;
    const quiet = muted.find((m) => m.person === undefined || m.person === person);
    const before = woken.get(person);
    if (!who.trusted) out.push(ignored("untrusted", `${who.name} is ${who.why}`, person));
    else if (who.handle === person) out.push(ignored("own-doing", `${person} did it`, person));
    else if (quiet) out.push(ignored(quiet.rule, `${decision.rule} would wake ${person}`, person));
    else if (before !== undefined)
      out.push(ignored(decision.rule, `${before} wakes ${person} already`, person));
    else if (goesOn(event, facts, limit)) {
      const why = `${facts.agentEvents} events by agents led here since a trusted human's last: the limit is ${limit}`;
      out.push(ignored("agent-events", why, person));
      if (!toldOfTalk) out.push(talkOf(facts, limit));
      toldOfTalk = true;
    } else {
      woken.set(person, decision.rule);
      out.push(decision);
    }
  }
  return out;
}

const ignored = (rule: string, why: string, person?: string): Decision => ({
  rule,
  decision: "ignore",
  why,
  ...(person === undefined ? {} : { person }),
});

function talkOf(facts: Facts, limit: number): Decision {
  const about = facts.pr?.ref ?? facts.ticket?.key ?? facts.doc?.title ?? "work of theirs";
  return {
    rule: "agent-events",
    decision: "tell",
    why: "agents go on among themselves",
    cause: `agent-events:${facts.stretch}`,
    text: `${limit} events by agents led to ${about} since a person's last: there they wake nobody until a person says something.`,
  };
}
