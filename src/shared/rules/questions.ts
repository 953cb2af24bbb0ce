/** ITEM-2: questions between teammates. */
import { foldTitle } from "./filing.ts";

/** The form in which two questions, and whom they ask, are compared. */
export const foldQuestion = foldTitle;

/**
 * Why a question may not be asked: of oneself, or in a ring, where somebody waits already for what this would ask
 * of them. `chain` has the handles whose items led to this one, the asker last.
 */
export function askFault(chain: readonly string[], to: string): "self" | "ring" | undefined {
  if (chain.at(-1) === to) return "self";
  return chain.includes(to) ? "ring" : undefined;
}

/** The chain of whoever works on an item: of the question that it is, if it is one, and then themselves. */
export function chainOf(question: { chain: readonly string[] } | undefined, self: string): string[] {
  const before = question?.chain ?? [];
  return [...before.filter((handle) => handle !== self), self];
}
