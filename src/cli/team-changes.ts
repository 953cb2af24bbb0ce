/** What one config of a team has otherwise than another, as lines that people read before they say yes. */
import type { Team } from "../shared/wire/team.ts";

export interface TeamChange {
  kind: "added" | "removed" | "changed";
  /** `policies.merge.by`; an entry of a list stands by its name: `people.scout`. */
  path: string;
  from?: unknown;
  to?: unknown;
}

/** What names an entry of a list: its place is no name, since entries come and go before it. */
const NAMES: Record<string, string> = {
  people: "handle",
  humans: "name",
  repositories: "repo",
  schedules: "id",
  "pipeline.rules": "id",
};

/** Every difference, in the order of the config (TEAM-1). */
export function changesOf(from: Team, to: Team): TeamChange[] {
  return between("", from, to);
}

function between(path: string, from: unknown, to: unknown): TeamChange[] {
  if (same(from, to)) return [];
  const name = NAMES[path];
  if (name !== undefined && Array.isArray(from) && Array.isArray(to)) {
    const changes = entries(path, keyed(from, name), keyed(to, name));
    // The first rule that says stop ends it: their order is a part of what they say.
    return changes.length > 0 ? changes : [{ kind: "changed", path, from: "one order", to: "another" }];
  }
  if (isObject(from) && isObject(to))
    return entries(path, new Map(Object.entries(from)), new Map(Object.entries(to)));
  return [{ kind: "changed", path, from, to }];
}

function entries(path: string, from: Map<string, unknown>, to: Map<string, unknown>): TeamChange[] {
  const changes: TeamChange[] = [];
  for (const key of new Set([...from.keys(), ...to.keys()])) {
    const at = path === "" ? key : `${path}.${key}`;
    if (!to.has(key)) changes.push({ kind: "removed", path: at, from: from.get(key) });
    else if (!from.has(key)) changes.push({ kind: "added", path: at, to: to.get(key) });
    else changes.push(...between(at, from.get(key), to.get(key)));
  }
  return changes;
}

function keyed(list: readonly unknown[], name: string): Map<string, unknown> {
  return new Map(list.map((entry) => [String((entry as Record<string, unknown>)[name]), entry]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, i) => same(one, b[i]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => same(a[key], b[key]));
}
