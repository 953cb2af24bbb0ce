import type { WhyDecision, WhyFact } from "./why.ts";
import type { Cause } from "./why-held.ts";
import type { SpendFacts } from "./why-messages.ts";
import { dollars, type Names, nameIn } from "./why-words.ts";

/** What the facts of runs keep. */
export interface RunFacts {
  agent_id: string;
  message_ids?: readonly string[];
  outcome?: string;
  cost_usd?: number;
  because?: { cause: string };
}

export interface StopBehind {
  seq: number;
  by: string;
}

/** What `agents.paused` and `agents.resumed` keep. */
export interface PauseFacts {
  cause?: Cause;
  lasting?: boolean;
  because?: {
    spend?: SpendFacts;
    day?: { day: string; spent_usd: number; ceiling_usd: number };
    total?: number;
    most?: number;
    by?: "act" | "day";
    act?: number;
  };
}

/** Who or what paused the agents of a space, and what let them go on (GUARD-5, GUARD-7, SPEND-2, SPEND-5). */
export function whyPause({ type, actor }: WhyFact, body: PauseFacts, names: Names): WhyDecision[] {
  const who = nameIn(names, actor.id);
  const because = body.because ?? {};
  if (type === "agents.resumed") return [whyResumed(who, actor.id, because)];
  switch (body.cause) {
    case "spend":
      return [{ rule: "SPEND-2", says: spendWords(because.spend), facts: { ...because.spend } }];
    case "day":
      return [
        {
          rule: "SPEND-5",
          says: `The workspace has spent ${dollars(because.day?.spent_usd ?? 0)} of ${dollars(because.day?.ceiling_usd ?? 0)} today, so no turn is handed out.`,
          facts: { ...because.day },
        },
      ];
    case "guard":
      return [
        {
          rule: "GUARD-7",
          says: `There were ${because.total} messages for agents since a person acted, and there may be fewer than ${because.most}.`,
          facts: { total: because.total, most: because.most },
        },
      ];
    default: {
      const until = body.lasting ? ", until somebody resumes them" : "";
      const facts = { by: actor.id, lasting: body.lasting ?? false };
      return [
        { rule: "GUARD-5", says: `${who} paused the agents here${until}.`, facts },
        { rule: "SPACE-7", says: "The people of a space but guests may pause its agents.", facts: {} },
      ];
    }
  }
}

function whyResumed(who: string, by: string, because: NonNullable<PauseFacts["because"]>): WhyDecision {
  if (because.by === "day")
    return { rule: "SPEND-5", says: "The workspace's ceiling for the day holds no more.", facts: {} };
  if (because.by === "act")
    return {
      rule: "GUARD-5",
      says: `${who} acted in the space, which ends a pause that is not lasting.`,
      facts: { by, act: because.act },
    };
  return { rule: "GUARD-5", says: `${who} let the agents here go on.`, facts: { by } };
}

/** The same test that paused says which of the two ceilings it was (SPEND-2, SPEND-3). */
function spendWords(spend: SpendFacts | undefined): string {
  if (!spend) return "The job has reached its ceiling.";
  const { spent_usd, ceiling_usd, uncounted_runs } = spend;
  if (spent_usd >= ceiling_usd)
    return `The job has spent ${dollars(spent_usd)} of ${dollars(ceiling_usd)}, so the room paused its agents.`;
  return `${uncounted_runs} runs of the job said no cost, and with more than 20 the room pauses as at the ceiling.`;
}

/** Why a run began, stopped or ended, and who did that (TURN). */
export function whyRun(
  { type, actor }: WhyFact,
  body: RunFacts,
  stop: StopBehind | undefined,
  names: Names,
): WhyDecision[] {
  const who = nameIn(names, actor.id);
  const agent = nameIn(names, body.agent_id);
  const facts = { by: actor.id, agent_id: body.agent_id };
  switch (type) {
    case "run.started": {
      const { message_ids = [] } = body;
      const says =
        message_ids.length > 0
          ? `${agent} takes its turn with the messages named.`
          : `${agent} takes a turn without a message.`;
      return [{ rule: "TURN-1", says, facts: { ...facts, message_ids } }];
    }
    case "run.ended":
      return [whyEnded(body, facts, agent, stop, names)];
    default: {
      const did = { "run.paused": "paused", "run.resumed": "let go on", "run.stopped": "stopped" }[
        type as "run.paused"
      ];
      if (body.because)
        return [
          {
            rule: "SPEND-3",
            says: `The room ${did} the turn of ${agent}: a ceiling is reached, and at it running turns are paused or stopped.`,
            facts: { ...facts, cause: body.because.cause },
          },
        ];
      return [
        { rule: "TURN-4", says: `${who} ${did} the turn of ${agent}.`, facts },
        {
          rule: "SPACE-7",
          says: "The people of a space may do this; a guest stops only runs on their own message.",
          facts: {},
        },
      ];
    }
  }
}

function whyEnded(
  body: RunFacts,
  of: { by: string; agent_id: string },
  agent: string,
  stop: StopBehind | undefined,
  names: Names,
): WhyDecision {
  const { outcome, cost_usd, because } = body;
  const facts = { ...of, outcome, ...(cost_usd === undefined ? {} : { cost_usd }) };
  switch (because?.cause) {
    case "no_reply":
      return { rule: "ADDR-6", says: `${agent} answered NO_REPLY alone: it had nothing to add.`, facts };
    case "stopped": {
      const by = stop ? nameIn(names, stop.by) : "somebody";
      const says = `${by} had stopped the turn of ${agent}, and the room ended it when half a minute was over.`;
      return {
        rule: "TURN-4",
        says,
        facts: { ...facts, ...(stop ? { stopped_by: stop.by, stopped_seq: stop.seq } : {}) },
      };
    }
    case "silent":
      return { rule: "TURN-5", says: `Nothing was heard of the turn of ${agent} for an hour.`, facts };
    case "gone":
      return { rule: "TURN-5", says: `The harness of ${agent} was gone for ten minutes.`, facts };
    case "left":
      return {
        rule: "SPACE-4",
        says: `${agent} left, was removed or was withdrawn, which ends what it has going.`,
        facts,
      };
    case "answered":
      return { rule: "ITEM-2", says: `What ${agent} asked was answered, so nothing waits any more.`, facts };
    case "taken_back":
      return { rule: "ITEM-2", says: `${agent} wants no answer any more, so nobody is asked.`, facts };
    default:
      return {
        rule: "TURN-1",
        says: `The harness of ${agent} said that the turn is over: ${outcome}.`,
        facts,
      };
  }
}
