/** How a pull request that is to be merged stands to the repository's others (OFFER-8). */
import type { Wake } from "../wire/agent/index.ts";

export type Merge = NonNullable<Wake["merge"]>;
type Other = Merge["others"][number];
type Relation = Other["relation"][number];

/** Files that both change, of which an offer names the first few. */
export const OVERLAPS = 5;

/** The branches of a pull request, as far as they are known. */
export interface Branches {
  ref: string;
  head: string | null;
  base: string | null;
}
export type OtherPr = Branches & Omit<Other, "relation" | "ref">;

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
function closeness({ relation }: Other): number {
  if (relation.includes("stacked_on_it") || relation.includes("under_it")) return 3;
  if (relation.includes("overlapping_files")) return 2;
  return relation.includes("same_base") ? 1 : 0;
}

/** The other open pull requests, the related ones first, then the newest; of too many the rest is counted (OFFER-8). */
export function othersOf(
  pr: Branches,
  others: readonly OtherPr[],
  items: number,
): Pick<Merge, "others" | "moreOthers"> {
  const related = others
    .filter((other) => other.ref !== pr.ref)
    .map(({ head, base, files, ...other }) => ({
      ...other,
      relation: relationOf(pr, { ref: other.ref, head, base }, files),
      files: files.slice(0, OVERLAPS),
    }))
    .toSorted((a, b) => closeness(b) - closeness(a) || b.number - a.number);
  const more = related.length - items;
  return { others: related.slice(0, items), ...(more > 0 && { moreOthers: more }) };
}
