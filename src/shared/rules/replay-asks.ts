import type { Exported } from "../wire/index.ts";
import { afterWork } from "./guard.ts";
import { quoted } from "./note-words.ts";
import { decidePolicy, type Policy } from "./policy.ts";
import type { Replay } from "./replay.ts";
import type { ReplayedSpace } from "./replay-state.ts";

type Then = "allow" | "ask" | "deny";

const EMPTY: Policy = { version: 0, rules: [], classes: {} };
const TOTAL = { allow: "asks_allowed", deny: "asks_denied", ask: "asks_put_to_people" } as const;

/**
 * An ask, judged again (POL-1, APR-7): by the policy that is tried, else by the version that stood then. The
 * classes that policy added then stay with it, for nobody knows which of them its harness had said.
 */
export function replayAsk(replay: Replay, space: ReplayedSpace, fact: Exported<"fact">): void {
  const ask = replay.approvals.get(String(fact.body["approval_id"]));
  if (!ask) return;
  const { was, would, rule } = outcomeOf(replay, ask);
  replay.out.totals[TOTAL[was]].was += 1;
  replay.out.totals[TOTAL[would]].would += 1;
  if (would === "ask" && (was !== "ask" || ask.request.approvers.some((id) => id.startsWith("usr_"))))
    space.exchange = afterWork(space.exchange, {
      seq: fact.seq,
      at: Date.parse(fact.at),
      by: fact.actor.id,
      made: "approval",
    });
  if (was === would) return;
  const by =
    rule === undefined ? "No rule matches it" : `Rule ${quoted(rule, 80)} is the first that matches it`;
  replay.change(fact, {
    what: "ask",
    id: ask.approval_id,
    was: WORDS[was],
    would: WORDS[would],
    rule: "POL-1",
    says: `${by}: ${would}.`,
  });
}

const WORDS = { allow: "allowed at once", deny: "denied at once", ask: "put to people" } as const;

function outcomeOf(replay: Replay, ask: Exported<"approval">): { was: Then; would: Then; rule?: string } {
  const policy = replay.policy ?? replay.policies.get(ask.version) ?? EMPTY;
  const { action, risk } = ask.request;
  const judged = decidePolicy(policy, { action, risk, agent_id: ask.agent_id, space_id: ask.space_id });
  const byGrant = ask.via === "grant";
  const byPolicy = ask.via === "policy" && ask.decided_by === undefined;
  const was: Then = byGrant ? "allow" : byPolicy ? (ask.decision ?? "ask") : "ask";
  // A policy's deny goes before a grant, a grant before the rest of the policy.
  const would: Then = byGrant && judged.then !== "deny" ? "allow" : judged.then;
  return { was, would, ...(judged.rule === undefined ? {} : { rule: judged.rule }) };
}

/** Whether a decision is a person's act in the space: not where nobody would have been asked (GUARD-1). */
export function replayAskDecided(replay: Replay, space: ReplayedSpace, fact: Exported<"fact">): boolean {
  const ask = replay.approvals.get(String(fact.body["approval_id"]));
  if (!fact.write || fact.actor.kind !== "person" || !space.members.has(fact.actor.id)) return false;
  return ask === undefined || outcomeOf(replay, ask).would === "ask";
}
