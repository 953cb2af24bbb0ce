/** How a pull request that is to be merged stands to the repository's others (OFFER-8). */
import type { Wake } from "../wire/agent/index.ts";

export type Merge = NonNullable<Wake["merge"]>;
type Relation = Merge["others"][number]["relation"][number];

/** Files that both change, of which an offer names the first few. */
export const OVERLAPS = 5;

/** The branches of a pull request, as far as they are known. */
export interface Branches {
  key: string;
  number: number;
  head: string | null;
  base: string | null;
}
export interface Related<T> {
  pr: T;
  relation: Relation[];
  /** The first of the files that both change. */
  files: string[];
}

/** How another pull request relates to this one; nothing in common is an empty list. */
export function relationOf(pr: Branches, other: Branches, files: readonly string[]): Relation[] {
  const relation: Relation[] = [];
  if (pr.head !== null && other.base === pr.head) relation.push("stacked_on_it");
  if (pr.base !== null && other.head === pr.base) relation.push("under_it");
  if (pr.base !== null && other.base === pr.base) relation.push("same_base");
  if (files.length > 0) relation.push("overlapping_files");
  return relation;
}

/** A stack breaks, files conflict, and a base only moves: the closer relation first. */
function closeness(relation: readonly Relation[]): number {
  if (relation.includes("stacked_on_it") || relation.includes("under_it")) return 3;
  if (relation.includes("overlapping_files")) return 2;
  return relation.includes("same_base") ? 1 : 0;
}

/**
 * The other open pull requests, the related ones first, then the newest; of too many the rest is counted (OFFER-8).
 * @param shared the files that each changes too, by its key
 */
export function othersOf<T extends Branches>(
  pr: Branches,
  others: readonly T[],
  shared: ReadonlyMap<string, readonly string[]>,
  items: number,
): { others: Related<T>[]; more: number } {
  const related = others
    .filter((other) => other.key !== pr.key)
    .map((other): Related<T> => {
      const files = shared.get(other.key) ?? [];
      return { pr: other, relation: relationOf(pr, other, files), files: files.slice(0, OVERLAPS) };
    })
    .toSorted((a, b) => closeness(b.relation) - closeness(a.relation) || b.pr.number - a.pr.number);
  return { others: related.slice(0, items), more: Math.max(0, related.length - items) };
}
