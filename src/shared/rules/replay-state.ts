/** What a replay keeps of a workspace: rooms as the rules see them, rebuilt from the log fact by fact. */
import type { Exported, Settings } from "../wire/index.ts";
import type { Party } from "./addressing.ts";
import { EMPTY_EXCHANGE, type ExchangeState } from "./guard.ts";
import { type Job, jobAt, overCeiling, toMicros } from "./spend.ts";

export type Cause = "person" | "spend" | "day" | "guard";

export interface ReplayedSpace {
  id: string;
  /** Everybody in it, in the order of joining. */
  members: Map<string, Party["kind"]>;
  lead?: string | undefined;
  /** Absent where it has none of its own. */
  ceiling?: number | null;
  /** A harness that the space was asked of, and the agent that claimed it (SPACE-3). */
  harness?: string | undefined;
  claimedBy?: string | undefined;
  exchange: ExchangeState;
  pause?: { cause: Cause; lasting: boolean } | undefined;
  /** The newest message held from each agent (GUARD-4). */
  held: Map<string, string>;
  job: Job;
  act?: number;
  /** A person's words that were nobody's, for a lead that the settings have only now (LEAD-2). */
  unclaimed: string[];
  stillFrom: number;
  working: Set<string>;
}

export interface ReplayedMessage {
  id: string;
  author: string;
  /** Where it stands in the log. */
  fact: Pick<Exported<"fact">, "seq" | "id" | "at" | "space_id">;
  deleted: boolean;
  /** Whom it did not reach, as it was and as it would be. */
  heldWas: Set<string>;
  heldWould: Set<string>;
}

export interface ReplayedRun {
  spaceId: string;
  agentId: string;
  harnessId: string;
  /** What it has reported; null for nothing yet. */
  micros: number | null;
  stopping: boolean;
  ended: boolean;
  /** It would not have begun: what it reports is not spent. */
  notBegun: boolean;
}

export interface ReplayState {
  settings: Settings;
  spaces: Map<string, ReplayedSpace>;
  messages: Map<string, ReplayedMessage>;
  runs: Map<string, ReplayedRun>;
  /** Agents that are withdrawn, and everybody removed (ADDR-5). */
  gone: Set<string>;
  /** Agents of the office that are paused: they are asked nothing (ADDR-5). */
  paused: Set<string>;
  canPause: Set<string>;
  /** What was spent on each UTC day, in micro-dollars (SPEND-5). */
  days: Map<string, number>;
}

export function emptyState(settings: Settings): ReplayState {
  return {
    settings,
    spaces: new Map(),
    messages: new Map(),
    runs: new Map(),
    gone: new Set(),
    paused: new Set(),
    canPause: new Set(),
    days: new Map(),
  };
}

export function spaceIn(state: ReplayState, id: string): ReplayedSpace {
  const known = state.spaces.get(id);
  if (known) return known;
  const made: ReplayedSpace = {
    id,
    members: new Map(),
    exchange: EMPTY_EXCHANGE,
    held: new Map(),
    job: jobAt(undefined, undefined),
    unclaimed: [],
    stillFrom: 0,
    working: new Set(),
  };
  state.spaces.set(id, made);
  return made;
}

export function partiesOf(state: ReplayState, space: ReplayedSpace): Party[] {
  return [...space.members].map(([id, kind]) => ({ id, kind, addressable: !state.gone.has(id) }));
}

/** The lead: the one set while it is there, else the agent that joined first (LEAD-1). */
export function leadIn(state: ReplayState, space: ReplayedSpace): string | undefined {
  const agents = partiesOf(state, space).filter(({ kind, addressable }) => kind !== "person" && addressable);
  if (agents.length < 2) return undefined;
  return agents.find(({ id }) => id === space.lead)?.id ?? agents[0]?.id;
}

/** What a job may cost in a space: its own ceiling, else the workspace's (SPEND-2). */
export function ceilingIn(state: ReplayState, space: ReplayedSpace): number | null {
  return space.ceiling === undefined ? state.settings.spend.job_usd : space.ceiling;
}

/** Why no turn is handed out in a space at a time, if so (SPEND-2, SPEND-5). */
export function spentOut(state: ReplayState, space: ReplayedSpace, at: string): "spend" | "day" | undefined {
  const perDay = state.settings.spend.day_usd;
  if (perDay !== null && (state.days.get(dayOf(at)) ?? 0) >= toMicros(perDay)) return "day";
  const job = jobAt(space.job, space.act);
  return overCeiling(job, ceilingIn(state, space)) === undefined ? undefined : "spend";
}

export function dayOf(at: string): string {
  return at.slice(0, 10);
}

/** Applies what says who is where and as what: facts that no setting changes. */
export function applyStanding(state: ReplayState, fact: Exported<"fact">): void {
  const { body } = fact;
  const space = fact.space_id === undefined ? undefined : spaceIn(state, fact.space_id);
  const id = String(body["participant_id"] ?? body["agent_id"]);
  switch (fact.fact) {
    case "member.joined":
      space?.members.set(id, body["kind"] as Party["kind"]);
      return;
    case "member.left":
      space?.members.delete(id);
      return;
    case "space.created":
      if (space) space.harness = body["harness_id"] as string | undefined;
      return;
    case "space.claimed":
      if (space) claim(space, String(body["harness_id"]), id);
      return;
    case "agent.declared":
      state.gone.delete(id);
      return;
    case "agent.paused":
      state.paused.add(id);
      return;
    case "agent.resumed":
      state.paused.delete(id);
      return;
    case "notice.posted":
      // A brief begins a job (SPEND-1).
      if (space && body["code"] === "brief") space.job = jobAt(space.job, fact.seq);
      return;
    case "agent.withdrawn":
    case "participant.removed":
      state.gone.add(id);
      state.paused.delete(id);
      return;
    case "message.deleted": {
      const message = state.messages.get(String(body["message_id"]));
      if (message) message.deleted = true;
      return;
    }
  }
}

/** The agent takes the harness's place and its joining (SPACE-3). */
function claim(space: ReplayedSpace, harness: string, agent: string): void {
  space.claimedBy = agent;
  const places = [...space.members].map(([id, kind]): [string, Party["kind"]] =>
    id === harness ? [agent, "agent"] : [id, kind],
  );
  space.members = new Map(places);
  // What was held from the harness waits for the agent now, and so does the lead's place.
  const held = space.held.get(harness);
  space.held.delete(harness);
  if (held !== undefined) space.held.set(agent, held);
  if (space.lead === harness) space.lead = agent;
}
