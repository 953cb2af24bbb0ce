/**
 * An export run through the rules once more, with other settings or another policy (WHY-2): what would have been
 * addressed, held, paused, handed, allowed or spent otherwise. Each fact is judged as it stands in the log: what
 * agents would have said otherwise nobody knows. With the same settings nothing differs.
 */

import type * as z from "zod";
import type { Exported, ExportedLine, PolicyClasses, PolicyRule, Settings } from "../wire/index.ts";
import { defaultSettings, patchSettings, type settingsPatch } from "../wire/participant.ts";
import { afterWork } from "./guard.ts";
import type { Policy } from "./policy.ts";
import { replayAsk, replayAskDecided } from "./replay-asks.ts";
import { replayStillness } from "./replay-lead.ts";
import { replayHanded, replayPost } from "./replay-messages.ts";
import { haltRuns, type Outcome, pauseAgents, personActed } from "./replay-room.ts";
import { replayRun } from "./replay-runs.ts";
import {
  applyStanding,
  ceilingIn,
  emptyState,
  type ReplayedSpace,
  type ReplayState,
  spaceIn,
  spentOut,
} from "./replay-state.ts";
import { toUsd } from "./spend.ts";

export interface ReplayOptions {
  /** Part of the tree, as `settings.set` takes it: it stands over whatever the workspace had set at the time. */
  settings?: z.infer<typeof settingsPatch> | undefined;
  policy?: { rules: readonly PolicyRule[]; classes: PolicyClasses } | undefined;
}

/** One thing that would have been otherwise. */
export interface ReplayChange {
  seq: number;
  event_id: string;
  at: string;
  space_id?: string | undefined;
  what: "addressed" | "held" | "handed" | "paused" | "run" | "ask";
  /** The message, run or ask that it is about. */
  id?: string | undefined;
  was: string;
  would: string;
  rule: string;
  says: string;
}

/** How often something was so, and would be. */
export interface WasWould {
  was: number;
  would: number;
}

export interface Replayed {
  changes: ReplayChange[];
  totals: Record<"messages_for_agents" | "held" | "handed" | "pauses" | "runs" | "spent_usd", WasWould> &
    Record<"asks_allowed" | "asks_denied" | "asks_put_to_people", WasWould>;
  facts: number;
}

/** What the parts of a replay share while it runs. */
export interface Replay {
  readonly state: ReplayState;
  /** The settings as the workspace had them. */
  recorded: Settings;
  readonly policies: Map<number, Policy>;
  readonly policy: Policy | undefined;
  readonly approvals: Map<string, Exported<"approval">>;
  /** What the room would have done with the last main fact, and the log has not shown yet. */
  pending: { outcome: Outcome; of: Exported<"fact"> }[];
  readonly out: Replayed;
  change(
    of: Pick<Exported<"fact">, "seq" | "id" | "at" | "space_id">,
    change: Omit<ReplayChange, "seq" | "event_id" | "at" | "space_id">,
  ): void;
}

const none = (): WasWould => ({ was: 0, would: 0 });

/** Takes an export line by line, as it is read; `finish` says what differs. */
export function openReplay(options: ReplayOptions = {}): {
  take(line: ExportedLine): void;
  finish(): Replayed;
  /** How the rooms stand after what was taken so far. */
  readonly state: ReplayState;
} {
  const recorded = defaultSettings();
  const effective = (settings: Settings): Settings =>
    options.settings ? patchSettings(settings, options.settings) : settings;
  const out: Replayed = {
    changes: [],
    totals: {
      messages_for_agents: none(),
      held: none(),
      handed: none(),
      pauses: none(),
      runs: none(),
      spent_usd: none(),
      asks_allowed: none(),
      asks_denied: none(),
      asks_put_to_people: none(),
    },
    facts: 0,
  };
  const replay: Replay = {
    state: emptyState(effective(recorded)),
    recorded,
    policies: new Map(),
    policy: options.policy && { version: 0, ...options.policy },
    approvals: new Map(),
    pending: [],
    out,
    change: ({ seq, id, at, space_id }, change) =>
      void out.changes.push({ seq, event_id: id, at, space_id, ...change }),
  };
  return {
    state: replay.state,
    take(line) {
      if (line.type === "participant" && line.can?.includes("pause"))
        replay.state.canPause.add(line.participant_id);
      else if (line.type === "policy") replay.policies.set(line.version, line);
      else if (line.type === "approval") replay.approvals.set(line.approval_id, line);
      else if (line.type === "fact") {
        out.facts += 1;
        if (isMain(line)) flush(replay);
        replayStillness(replay, line);
        if (line.fact === "settings.changed") {
          replay.recorded = line.body["settings"] as Settings;
          replay.state.settings = effective(replay.recorded);
        }
        applyStanding(replay.state, line);
        replay.pending.push(...outcomesOf(replay, line).map((outcome) => ({ outcome, of: line })));
      }
    },
    finish() {
      flush(replay);
      const { spent_usd } = out.totals;
      for (const run of replay.state.runs.values()) {
        spent_usd.was += run.micros ?? 0;
        if (!run.notBegun) spent_usd.would += run.micros ?? 0;
      }
      out.totals.spent_usd = { was: toUsd(spent_usd.was), would: toUsd(spent_usd.would) };
      return out;
    },
  };
}

/** Whether a fact begins something, instead of following from the one before. */
function isMain(fact: Exported<"fact">): boolean {
  if (fact.write) return true;
  const why = fact.body["why"];
  return fact.fact === "run.ended" || (fact.fact === "message.handed" && why !== "held");
}

/** What the room would have done and the log does not have. */
function flush(replay: Replay): void {
  for (const { outcome, of } of replay.pending) {
    if (outcome.kind === "paused") {
      replay.out.totals.pauses.would += 1;
      const space = spaceIn(replay.state, outcome.spaceId);
      if (outcome.cause !== "guard") haltRuns(replay.state, space);
      replay.change(of, {
        what: "paused",
        was: "not paused",
        would: `paused: ${outcome.cause}`,
        ...PAUSES[outcome.cause],
      });
    } else {
      replay.out.totals.handed.would += 1;
      replay.change(of, {
        what: "handed",
        id: outcome.messageId,
        was: "not handed",
        would: `handed to ${outcome.takers.join(", ")}`,
        rule: "GUARD-4",
        says: "A person acted, so what would have been held is handed over.",
      });
    }
  }
  replay.pending = [];
}

const PAUSES = {
  person: { rule: "GUARD-5", says: "A person paused the agents." },
  spend: { rule: "SPEND-2", says: "The job would have reached its ceiling." },
  day: { rule: "SPEND-5", says: "The workspace would have reached its ceiling for the day." },
  guard: { rule: "GUARD-7", says: "The agents would have talked for too long without a person." },
} as const;

/** What the room would do with a fact; facts that are themselves the room's doing are held against that. */
function outcomesOf(replay: Replay, fact: Exported<"fact">): Outcome[] {
  const { state } = replay;
  if (fact.space_id === undefined) return [];
  const space = spaceIn(state, fact.space_id);
  const { body, at, seq, actor } = fact;
  const act = { seq, at, by: actor.id };
  switch (fact.fact) {
    case "message.posted":
      return replayPost(replay, space, fact);
    case "message.handed":
      return replayHanded(replay, space, fact);
    case "agents.paused":
      if (!fact.write) return replayPaused(replay, fact);
      pauseAgents(space, "person", body["lasting"] === true);
      return [];
    case "agents.resumed":
      if (!fact.write) return [];
      space.pause = undefined;
      return personActed(state, space, act);
    case "space.set":
      return replaySet(state, space, fact);
    case "run.started":
    case "run.used":
    case "run.ended":
    case "run.stopped":
      return replayRun(replay, space, fact);
    case "question.asked":
      space.exchange = afterWork(space.exchange, { seq, at: Date.parse(at), by: actor.id, made: "question" });
      return [];
    case "question.answered":
      return personActed(state, space, act);
    case "approval.requested":
      replayAsk(replay, space, fact);
      return [];
    case "approval.decided":
      return replayAskDecided(replay, space, fact) ? personActed(state, space, act) : [];
    default:
      return [];
  }
}

/** The room paused its agents: it still would, or would not. */
function replayPaused(replay: Replay, fact: Exported<"fact">): Outcome[] {
  const { pauses } = replay.out.totals;
  pauses.was += 1;
  const cause = fact.body["cause"];
  const at = replay.pending.findIndex(
    ({ outcome }) =>
      outcome.kind === "paused" && outcome.spaceId === fact.space_id && outcome.cause === cause,
  );
  if (at >= 0) {
    replay.pending.splice(at, 1);
    pauses.would += 1;
    return [];
  }
  replay.change(fact, {
    what: "paused",
    was: `paused: ${String(cause)}`,
    would: "not paused",
    rule: PAUSES[cause as keyof typeof PAUSES].rule,
    says: "The room would not have paused its agents here.",
  });
  return [];
}

/** Raising the ceiling is an act, lowering it may pause (SPEND-2). */
function replaySet(state: ReplayState, space: ReplayedSpace, fact: Exported<"fact">): Outcome[] {
  const { lead, ceiling_usd } = fact.body as { lead?: string | null; ceiling_usd?: number | null };
  const before = ceilingIn(state, space);
  if (lead !== undefined) space.lead = lead ?? undefined;
  if (ceiling_usd === undefined) return [];
  space.ceiling = ceiling_usd;
  if (ceiling_usd === null || (before !== null && ceiling_usd > before))
    return personActed(state, space, { seq: fact.seq, at: fact.at, by: fact.actor.id });
  return spentOut(state, space, fact.at) === "spend" ? pauseAgents(space, "spend", false) : [];
}
