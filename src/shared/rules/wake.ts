/** What an offer's bundle holds of all that hangs together, and why each thing belongs (OFFER-8). */

/** How a thing belongs, in the contract's order: of several the first counts. */
export const ROLES = [
  "trigger",
  "subject",
  "created",
  "attached",
  "mentioned",
  "inferred",
  "linked",
] as const;
export type Role = (typeof ROLES)[number];

/** Something that work is about, by its kind and its name. */
export interface Thing {
  type: "ticket" | "pr" | "doc" | "chat_thread";
  ref: string;
}
/** What an item refers to by itself. */
export interface Given extends Thing {
  role: Role;
  source: string;
  addedAt?: string;
}
export interface Why {
  role: Role;
  source: string;
  addedAt?: string;
}
export interface Picked extends Thing {
  why: Why;
}
export interface Walk {
  /** What the item refers to: the walk begins at the trigger, then the subject, then the rest. */
  given: readonly Given[];
  /** What a thing is linked to: a ticket's pull requests, parent and children, a stack, documents. */
  linked: (thing: Thing) => readonly Thing[];
  /** Whether there is such a thing, and when it was last touched, ms. */
  touched: (thing: Thing) => number | undefined;
  /** At most so many things are picked (`pipeline.context.items`). */
  items: number;
}

/** Things beyond the limit that are still looked at, to be counted: the walk ends somewhere. */
const COUNTED = 500;

const nameOf = ({ type, ref }: Thing): string => `${type} ${ref}`;

const isRoot = ({ role }: Given): boolean => role === "trigger" || role === "subject";

/** The things of an item, each once with the strongest of its roles, the strongest first. */
function strongest(given: readonly Given[]): Given[] {
  const things = new Map<string, Given>();
  for (const one of given) {
    const have = things.get(nameOf(one));
    if (!have || ROLES.indexOf(one.role) < ROLES.indexOf(have.role)) things.set(nameOf(one), one);
  }
  return [...things.values()].toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role));
}

/**
 * Breadth first from the trigger, then the subject; what else the item refers to is one step away from it. Each
 * thing is picked once. Of too many the farthest are left out, of those as far away the oldest, and counted
 * (OFFER-8).
 */
export function walk({ given, linked, touched, items }: Walk): { picked: Picked[]; omitted: number } {
  const found: (Picked & { far: number; touched: number })[] = [];
  const seen = new Set<string>();
  const most = items + COUNTED;
  const take = (thing: Thing, far: number, why: Why): void => {
    if (seen.has(nameOf(thing)) || found.length >= most) return;
    seen.add(nameOf(thing));
    const at = touched(thing);
    if (at !== undefined) found.push({ type: thing.type, ref: thing.ref, why, far, touched: at });
  };
  const things = strongest(given);
  // The item itself is a step between its root and what else it refers to.
  for (const { role, source, addedAt, ...thing } of things.filter(isRoot))
    take(thing, 0, { role, source, ...(addedAt !== undefined && { addedAt }) });
  const roots = found.length;
  for (const { role, source, addedAt, ...thing } of things.filter((one) => !isRoot(one)))
    take(thing, 1, { role, source, ...(addedAt !== undefined && { addedAt }) });
  let layer = found.slice(0, roots);
  for (let far = 1; far === 1 || layer.length > 0; far++) {
    const next = found.length;
    for (const thing of layer)
      for (const other of linked(thing)) take(other, far, { role: "linked", source: `link:${thing.ref}` });
    layer = far === 1 ? found.slice(roots) : found.slice(next);
  }
  const kept = new Set(
    found.toSorted((a, b) => a.far - b.far || b.touched - a.touched).slice(0, Math.max(0, items)),
  );
  return {
    picked: found.filter((one) => kept.has(one)).map(({ type, ref, why }) => ({ type, ref, why })),
    omitted: found.length - kept.size,
  };
}
