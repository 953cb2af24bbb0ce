import type { Addressees } from "./addressing.ts";
import { verdictOf } from "./guard.ts";
import { counted } from "./note-words.ts";
import type { WhyDecision, WhyFact } from "./why.ts";
import { type GuardFacts, heldBy } from "./why-held.ts";
import { dollars, type Names, nameIn, namesIn } from "./why-words.ts";

export interface SpendFacts {
  ceiling_usd: number;
  spent_usd: number;
  since_seq: number;
  uncounted_runs: number;
}

/** What `message.posted` keeps of its decisions. */
export interface PostedFacts {
  message_id: string;
  addressed_to: readonly string[];
  why: string;
  held?: true;
  held_from?: readonly string[];
  unreachable?: readonly string[];
  after_stop?: readonly string[];
  made?: "file";
  repeat?: "file" | "words";
  guard?: GuardFacts;
  shut?: "pause" | "day";
  spend?: SpendFacts;
}

/** What has become of a message since it was said. */
export interface Became {
  /** Its hand-overs, oldest first. */
  handed: readonly { agent_id: string; seq: number; why: HandedFacts["why"] }[];
  /** Whom it is still held from. */
  waiting: readonly string[];
  /** Whom it was held from and never handed to, and the newer held message that took its place. */
  superseded: readonly { agent_id: string; by_message_id: string }[];
  /** It waits for the room to be still, so that the lead may be handed it. */
  for_lead: boolean;
}

/** What `message.handed` keeps. */
export interface HandedFacts {
  message_id: string;
  takers: readonly string[];
  why: "held" | "lead" | "not_picked_up";
  because?: {
    act?: number;
    still_s?: number;
    still_since?: string;
    waited_for?: string;
    waited_s?: number;
  };
}

export function whyPosted(
  { actor, seq }: WhyFact,
  body: PostedFacts,
  became: Became | undefined,
  names: Names,
): WhyDecision[] {
  const byPerson = actor.kind === "person";
  return [
    addressed(body, byPerson, names),
    ...unreached(body, names),
    ...guarded(body),
    ...held(body, names),
    ...handedLater(body, became, names),
    ...forLead(body, byPerson, became),
    ...acted(byPerson, seq),
    ...spent(body),
  ];
}

/** Whom the words were for, before the guard and the ceilings had their say. */
export function wantedOf(body: PostedFacts): readonly string[] {
  return body.after_stop ?? body.held_from ?? body.addressed_to;
}

/** Whom it was for and by which part of the rule (ADDR-3, ADDR-4); after a stop it was for nobody (TURN-4). */
function addressed(body: PostedFacts, byPerson: boolean, names: Names): WhyDecision {
  const to = namesIn(names, wantedOf(body));
  const facts = { by: body.why, addressed_to: wantedOf(body) };
  if (body.after_stop)
    return {
      rule: "TURN-4",
      says: `It is for nobody: its turn had been asked to stop, else it would have been for ${to}.`,
      facts: { by: body.why, would_have_been: body.after_stop },
    };
  const nobody = wantedOf(body).length === 0;
  return { rule: byPerson ? "ADDR-3" : "ADDR-4", says: addressWords(body.why, to, nobody, byPerson), facts };
}

function addressWords(why: string, to: string, nobody: boolean, byPerson: boolean): string {
  switch (why as Addressees["rule"]) {
    case "mentioned":
    case "agent-mentioned":
      return nobody
        ? "It is for nobody: whom it mentions cannot be addressed, and it goes to no other."
        : `It is for ${to}, whom it mentions.`;
    case "everyone":
      return nobody
        ? "It is for nobody: a person said @everyone, and no agent here can be addressed."
        : `It is for ${to}: a person said @everyone.`;
    case "reply":
      return nobody
        ? "It is for nobody: it answers an agent that cannot be addressed, and goes to no other."
        : `It is for ${to}, whose message it answers.`;
    case "only-agent":
      return `It is for ${to}, the only agent of the space that can be addressed.`;
    case "person-mentioned":
      return "It is for no agent: it mentions people, and no agent.";
    default:
      return byPerson
        ? "It is for nobody: it mentions nobody, answers no agent, and there is not exactly one agent to ask."
        : "It is for nobody: an agent's words are only for agents that it mentions.";
  }
}

function unreached({ unreachable = [] }: PostedFacts, names: Names): WhyDecision[] {
  if (unreachable.length === 0) return [];
  const says = `${namesIn(names, unreachable)} cannot be addressed, so the room says that nobody was asked.`;
  return [{ rule: "ADDR-5", says, facts: { unreachable } }];
}

const SINCE = {
  person: "a person last acted",
  work: "an agent last made something new",
  start: "the room began",
};

/** How the agents' talk stood (GUARD-1 to GUARD-3). */
function guarded({ guard, made, repeat }: PostedFacts): WhyDecision[] {
  const out: WhyDecision[] = [];
  if (made)
    out.push({
      rule: "GUARD-1",
      says: "It brings a file that is new to the space, so the count of messages between agents begins anew.",
      facts: { made },
    });
  if (!guard) return out;
  const { count, total, since_seq, since, stop, hold } = guard;
  if (!made)
    out.push({
      rule: "GUARD-1",
      says: `It is message number ${count} between agents since ${SINCE[since]}.`,
      facts: { count, total, since, since_seq },
    });
  if (repeat)
    out.push({
      rule: "GUARD-3",
      says:
        repeat === "file"
          ? "It brings a file that was here already."
          : "It says much the same as its sender had.",
      facts: { repeat },
    });
  if (guard.circling)
    out.push({
      rule: "GUARD-3",
      says: "The same agents are taking turns with nothing new.",
      facts: { circling: true },
    });
  const { stage } = verdictOf(
    { count, total, circling: guard.circling ?? false },
    guard,
    guard.pause !== undefined,
  );
  if (stage === "nudge" || stage === "warning")
    out.push({
      rule: "GUARD-2",
      says: `It was said with a ${stage}: from ${stop} messages on agents are told to stop.`,
      facts: { stage, count, stop, hold },
    });
  return out;
}

/** From whom it was held, and why (GUARD-2, GUARD-4, GUARD-5, GUARD-7, SPEND-2, SPEND-5). */
function held(body: PostedFacts, names: Names): WhyDecision[] {
  if (!body.held) return [];
  const from = body.held_from ?? [];
  const by =
    body.shut === "day"
      ? { rule: "SPEND-5", because: "the workspace has reached its ceiling for the day", facts: {} }
      : body.shut === "pause"
        ? { rule: "GUARD-5", because: "the agents here are paused until somebody resumes them", facts: {} }
        : body.guard && heldBy(body.guard);
  if (!by) return [];
  const says = `It was held from ${namesIn(names, from)}: ${by.because}.`;
  return [{ rule: by.rule, says, facts: { held_from: from, ...by.facts } }];
}

/** When and to whom it was handed after all (GUARD-4, LEAD-2, TURN-7). */
function handedLater(body: PostedFacts, became: Became | undefined, names: Names): WhyDecision[] {
  if (!became) return [];
  const out: WhyDecision[] = became.handed.map(({ agent_id, seq, why }) => ({
    rule: HANDED[why],
    says: `It was handed to ${nameIn(names, agent_id)} later: see the event at ${seq}.`,
    facts: { to: agent_id, seq, why },
  }));
  if (became.waiting.length > 0)
    out.push({
      rule: "GUARD-4",
      says: `It waits for ${namesIn(names, became.waiting)} until a person acts.`,
      facts: { waiting: became.waiting },
    });
  for (const { agent_id, by_message_id } of became.superseded)
    out.push({
      rule: "GUARD-4",
      says: `It was never handed to ${nameIn(names, agent_id)}: only the newest held message is.`,
      facts: { agent_id, newer: by_message_id },
    });
  const lost = (body.held_from ?? []).filter(
    (id) =>
      !became.handed.some((h) => h.agent_id === id) &&
      !became.waiting.includes(id) &&
      !became.superseded.some((s) => s.agent_id === id),
  );
  if (lost.length > 0)
    out.push({
      rule: "NEW-9",
      says: `It was never handed to ${namesIn(names, lost)}: the message was deleted, or they were gone.`,
      facts: { lost },
    });
  return out;
}

const HANDED = { held: "GUARD-4", lead: "LEAD-2", not_picked_up: "TURN-7" } as const;

/** Whether the lead is handed what was nobody's (LEAD-2, LEAD-3). */
function forLead(body: PostedFacts, byPerson: boolean, became: Became | undefined): WhyDecision[] {
  if (!byPerson) return [];
  if (body.why === "person-mentioned")
    return [{ rule: "LEAD-3", says: "The lead is not handed it: its only mentions are people.", facts: {} }];
  if (!became?.for_lead) return [];
  return [{ rule: "LEAD-2", says: "The lead is handed it once the room has gone still.", facts: {} }];
}

function acted(byPerson: boolean, seq: number): WhyDecision[] {
  if (!byPerson) return [];
  const says = "A person acted: the count of messages between agents and the job begin anew here.";
  return [{ rule: "GUARD-1", says, facts: { since_seq: seq } }];
}

/** What the job had spent at that time (SPEND-1). */
function spent({ spend }: PostedFacts): WhyDecision[] {
  if (!spend) return [];
  const { spent_usd, ceiling_usd, uncounted_runs, since_seq } = spend;
  const more = uncounted_runs > 0 ? `, and ${counted(uncounted_runs, "run")} that said no cost` : "";
  const says = `The job had spent ${dollars(spent_usd)} of ${dollars(ceiling_usd)} then${more}.`;
  return [{ rule: "SPEND-1", says, facts: { spent_usd, ceiling_usd, uncounted_runs, since_seq } }];
}

/** Why a message was handed over, and why it had not been before (NEW-9). */
export function whyHanded(
  body: HandedFacts,
  posted: { seq: number; body: PostedFacts } | undefined,
  names: Names,
): WhyDecision[] {
  const { takers, message_id, because = {} } = body;
  const to = namesIn(names, takers);
  const facts = { to: takers, message_id, ...(posted ? { message_seq: posted.seq } : {}), ...because };
  const first: WhyDecision = { rule: HANDED[body.why], says: handedWords(body, to, names), facts };
  return [first, ...(posted?.body.held ? held(posted.body, names) : [])];
}

function handedWords({ why, because = {} }: HandedFacts, to: string, names: Names): string {
  if (why === "lead")
    return `It was nobody's turn, so ${to} was handed it as the lead, once the room had been still for ${because.still_s} seconds.`;
  if (why === "not_picked_up")
    return `${nameIn(names, because.waited_for ?? "An agent")} had not begun it within a minute, so it went to the lead, ${to}.`;
  return `A person acted, so ${to} was handed the newest message that was held back.`;
}
