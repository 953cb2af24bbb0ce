/**
 * Why the room did what it did (WHY-1): the decisions behind one fact of the log, each with the rule that made
 * it, a sentence and the facts used. It reads what the decision kept with its fact and asks the rules again
 * with that; it decides nothing of its own.
 */
import type { Actor, FactType } from "../wire/index.ts";
import { type AskBehind, whyAsk } from "./why-asks.ts";
import { type Became, type HandedFacts, type PostedFacts, whyHanded, whyPosted } from "./why-messages.ts";
import { type PauseFacts, type RunFacts, type StopBehind, whyPause, whyRun } from "./why-runs.ts";
import { type Names, nameIn } from "./why-words.ts";

export interface WhyDecision {
  rule: string;
  /** One plain sentence. */
  says: string;
  facts: Record<string, unknown>;
}

/** The fact that is asked about, as it stands in the log. */
export interface WhyFact {
  seq: number;
  type: FactType;
  /** ISO 8601. */
  at: string;
  actor: Pick<Actor, "kind" | "id">;
  body: Readonly<Record<string, unknown>>;
}

/** What stands elsewhere and is needed for the answer; each only for the facts that it is about. */
export interface WhyBehind {
  /** Names of everybody whose id may be said. */
  names: Names;
  /** A message: what has become of it since. */
  became?: Became | undefined;
  /** A hand-over or a message: why it was for whom it was. */
  posted?: { seq: number; body: PostedFacts } | undefined;
  ask?: AskBehind | undefined;
  /** A run that ended: who had stopped it. */
  stop?: StopBehind | undefined;
}

/** Every decision behind a fact, the first is what it is about. Never empty. */
export function whyOf(fact: WhyFact, behind: WhyBehind): WhyDecision[] {
  const { type } = fact;
  const body: unknown = fact.body;
  switch (type) {
    case "message.posted":
      return whyPosted(fact, body as PostedFacts, behind.became, behind.names);
    case "message.handed":
      return whyHanded(body as HandedFacts, behind.posted, behind.names);
    case "agents.paused":
    case "agents.resumed":
      return whyPause(fact, body as PauseFacts, behind.names);
    case "run.started":
    case "run.ended":
    case "run.paused":
    case "run.resumed":
    case "run.stopped":
      return whyRun(fact, body as RunFacts, behind.stop, behind.names);
    case "approval.requested":
    case "approval.routed":
    case "approval.decided":
    case "approval.expired":
    case "approval.cancelled":
    case "grant.made":
    case "grant.revoked":
      return whyAsk(fact, behind.ask, behind.names);
    case "notice.posted":
      return [whyNotice(fact)];
    default:
      return [whyDone(fact, behind.names)];
  }
}

type Plain = Exclude<
  FactType,
  `approval.${string}` | `grant.${string}` | "notice.posted" | "message.posted" | "message.handed"
>;

/** By which right somebody does what decides nothing else. */
const RIGHTS: Partial<Record<Plain, [rule: string, did: string]>> = {
  "message.edited": ["LOG-4", "edited their own message; an edit addresses nobody anew"],
  "message.deleted": [
    "SPACE-7",
    "deleted a message, as its author, the space's owner, or an owner or admin in it",
  ],
  "message.heard": ["TURN-3", "said what the turn has heard"],
  "space.created": ["SPACE-7", "made the space, and owns it"],
  "space.renamed": ["SPACE-7", "renamed the space, as one of its people who is no guest"],
  "space.archived": ["SPACE-2", "archived the space, as its owner or as an owner or admin in it"],
  "space.unarchived": ["SPACE-2", "brought the space back, as its owner or as an owner or admin in it"],
  "space.claimed": ["SPACE-3", "put an agent in the place that was kept for it"],
  "space.set": ["SPACE-7", "set the lead or the ceiling, as the space's owner or as an owner or admin in it"],
  "member.joined": ["SPACE-7", "let somebody in"],
  "member.left": ["SPACE-7", "left, or took somebody out"],
  "member.role_changed": ["SPACE-7", "changed somebody's standing in the space"],
  "participant.renamed": [
    "SPACE-7",
    "gave somebody another name: oneself, an own agent, or as an owner or admin",
  ],
  "participant.removed": ["SPACE-7", "removed somebody from the workspace, as an owner or admin"],
  "participant.role_changed": ["SPACE-7", "changed somebody's standing in the workspace"],
  "agent.declared": ["CONN-2", "declared an agent of its own"],
  "agent.withdrawn": ["ADDR-5", "withdrew an agent of its own, which is addressed no more"],
  "agent.paused": ["ADDR-5", "said that an agent is paused, and is asked nothing until it goes on"],
  "agent.resumed": ["ADDR-5", "said that an agent goes on"],
  "settings.changed": ["SPACE-7", "changed the workspace's settings, as an owner or admin"],
  "policy.changed": ["POL-2", "set the policy, as an owner or admin"],
  "run.stepped": ["TURN-1", "said what the turn is doing"],
  "run.used": ["SPEND-4", "reported what the turn has cost so far"],
  "question.asked": ["ASK-1", "asked people a question in a turn"],
  "question.answered": ["ASK-1", "answered the question, once, as somebody it was put to"],
  "file.transcribed": ["ATT-7", "wrote down what is said in a file"],
};

function whyDone({ type, actor, body }: WhyFact, names: Names): WhyDecision {
  const [rule, did] = RIGHTS[type as Plain] ?? ["LOG-1", `caused ${type}`];
  const { because: _because, ...facts } = body;
  return { rule, says: `${nameIn(names, actor.id)} ${did}.`, facts: { by: actor.id, ...facts } };
}

/** What each of the room's own lines is there for (LOG-8). */
const NOTICES: Record<string, [rule: string, says: string]> = {
  not_reachable: ["ADDR-5", "An agent was mentioned that cannot be addressed, and the room says so once."],
  signed_in: ["AUTH-8", "Somebody signed in elsewhere by a link, and is told of it."],
  run_stopped: ["TURN-4", "A stop leaves a line that says who stopped whom."],
  run_failed: ["TURN-5", "The room ended a turn that was not heard from, and says so."],
  not_picked_up: ["TURN-7", "An agent did not begin what another gave it, and the room says so once."],
  agents_paused: ["GUARD-7", "The room paused its agents, since they talked for long without a person."],
  spend_ceiling: ["SPEND-2", "The room paused its agents at a ceiling, and says so."],
  held_by_pause: [
    "GUARD-5",
    "While a lasting pause holds, people's words for agents wait, and the room says so once.",
  ],
  office: ["QUEUE-6", "The office tells people what became of work, once a cause."],
  brief: ["SPEND-1", "Work was filed from here, so a new job began."],
};

function whyNotice({ body }: WhyFact): WhyDecision {
  const code = String(body["code"]);
  const [rule, says] = NOTICES[code] ?? ["LOG-8", "The room said something of its own."];
  return { rule, says, facts: { code, about: body["about"] } };
}
