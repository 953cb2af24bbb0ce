/** Whom a question is for (ITEM-2): a handle, else a name, else a trusted human, else a role. */
import type { TeamHuman, TeamPerson } from "../wire/team.ts";

export type PersonState = "idle" | "working" | "paused" | "offline";
/** How somebody is, for choosing among those of one role. */
export interface Standing {
  status: PersonState;
  queued: number;
}
export type AskTarget =
  | { kind: "person"; handle: string }
  | { kind: "human"; human: TeamHuman }
  /** Everybody who has the role waits already for what this would ask, or is the asker. */
  | { kind: "none"; role: string };

export interface AskTeam {
  people: readonly TeamPerson[];
  humans: readonly TeamHuman[];
  roles: Readonly<Record<string, { title: string }>>;
}

const folded = (text: string) => text.normalize("NFC").trim().toLowerCase().replaceAll(/\s+/g, " ");
/** Who may answer soonest goes first among those with equal queues. */
const SOONEST: Record<PersonState, number> = { idle: 0, working: 1, paused: 2, offline: 3 };

/**
 * @param chain the handles whose items led to the question, the asker last: none of a role is chosen among them
 * @returns undefined when nobody is called so
 */
export function askTarget(
  to: string,
  team: AskTeam,
  standing: (handle: string) => Standing,
  chain: readonly string[],
): AskTarget | undefined {
  const wanted = folded(to).replace(/^@/, "");
  if (wanted === "") return undefined;
  const person =
    team.people.find((p) => p.handle === wanted) ?? team.people.find((p) => folded(p.name) === wanted);
  if (person) return { kind: "person", handle: person.handle };
  const human = team.humans.find((h) => folded(h.name) === wanted || h.user === to.trim());
  if (human) return { kind: "human", human };
  const role = roleOf(wanted, team);
  if (role === undefined) return undefined;
  const free = team.people
    .filter((p) => p.role === role && !chain.includes(p.handle))
    .map((p) => ({ handle: p.handle, ...standing(p.handle) }))
    .toSorted(
      (a, b) =>
        Number(a.status !== "idle") - Number(b.status !== "idle") ||
        a.queued - b.queued ||
        SOONEST[a.status] - SOONEST[b.status],
    );
  return free[0] ? { kind: "person", handle: free[0].handle } : { kind: "none", role };
}

/** A role that somebody has, by its name or its title. */
function roleOf(wanted: string, team: AskTeam): string | undefined {
  const taken = Object.entries(team.roles).filter(([name]) => team.people.some((p) => p.role === name));
  return (taken.find(([name]) => folded(name) === wanted) ??
    taken.find(([, { title }]) => folded(title) === wanted))?.[0];
}
