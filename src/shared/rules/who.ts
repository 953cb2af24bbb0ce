/** Whom a name of the team means: by handle, name, identity, or as a member of the workspace's rooms. */
import type { Team } from "../wire/team.ts";
import { foldTitle } from "./filing.ts";

/** The form in which names of people are compared. */
export function foldName(name: string): string {
  return foldTitle(name.replace(/^\s*@/u, ""));
}

/**
 * Every name, folded, under which the one that `name` means is known (RECALL-1): their handle, name and identities.
 * A name that the team does not have is only itself.
 */
export function namesOf(team: Team, name: string): string[] {
  const wanted = foldName(name);
  const all = new Set([wanted]);
  const known = [
    ...team.people.map((p) => [p.handle, p.name, ...Object.values(p.identities)]),
    ...team.humans.map((h) => [h.name, ...(h.user ? [h.user] : []), ...Object.values(h.identities)]),
  ];
  for (const names of known) {
    const folded = names.map(foldName);
    if (folded.includes(wanted)) for (const each of folded) all.add(each);
  }
  return [...all];
}

/**
 * Whom a question is put to, in one form for all the ways to write it (ITEM-2): a person's handle, else of a name
 * the person's handle or the human's name, else what may be a role.
 */
export function asked(team: Team, to: string): string {
  const wanted = foldName(to);
  const person =
    team.people.find(({ handle }) => foldName(handle) === wanted) ??
    team.people.find(({ name }) => foldName(name) === wanted);
  if (person) return person.handle;
  const human = team.humans.find(({ name, user }) => foldName(name) === wanted || user === to.trim());
  return human ? human.name : to.trim();
}
