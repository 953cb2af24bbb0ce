import { mostWithoutPerson, verdictOf } from "./guard.ts";

export type Cause = "person" | "spend" | "day" | "guard";

/** What the guard counted when it judged a message, and by which settings. */
export interface GuardFacts {
  count: number;
  total: number;
  since_seq: number;
  since: "person" | "work" | "start";
  circling?: true;
  stop: number;
  hold: number | null;
  pause?: Cause;
}

/** Which rule holds a message between agents back, if one does: the guard's own verdict, asked again. */
export function heldBy(guard: GuardFacts): { rule: string; because: string; facts: object } | undefined {
  const { count, total, hold, pause } = guard;
  const counts = { count, total, circling: guard.circling ?? false };
  if (!verdictOf(counts, guard, pause !== undefined).held) return undefined;
  if (pause) return { ...PAUSED[pause], facts: { pause } };
  if (verdictOf(counts, guard, false).pause) {
    const most = mostWithoutPerson(hold);
    return {
      rule: "GUARD-7",
      because: `it is message number ${total} for agents since a person acted, and there may be fewer than ${most}`,
      facts: { total, most },
    };
  }
  return {
    rule: "GUARD-2",
    because: `it is message number ${count} between agents, and from number ${hold} on they wait for a person`,
    facts: { count, hold },
  };
}

const PAUSED: Record<Cause, { rule: string; because: string }> = {
  person: { rule: "GUARD-5", because: "a person had paused the agents here" },
  spend: { rule: "SPEND-2", because: "the agents here were paused at the ceiling of their job" },
  day: { rule: "SPEND-5", because: "the agents here were paused at the workspace's ceiling for the day" },
  guard: { rule: "GUARD-7", because: "the room had paused its agents, who talked for long without a person" },
};
