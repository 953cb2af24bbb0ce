/** Who has to make room when too many sockets have said no hello (OFF-2). */

export interface Unknown {
  /** Where it comes from; left out, nobody knows. */
  address?: string | undefined;
  /** Since when it is open, ms. */
  since: number;
  /** Whether its hello has come and is being looked at. */
  checked: boolean;
}

/**
 * Of more than `most`, those that are turned away: of the address that has most of them the oldest, so that whoever
 * opens many crowds out only themselves. One whose hello is being checked stays: it may be the agent's own.
 */
export function crowdedOut<T extends Unknown>(sockets: readonly T[], most: number): T[] {
  const out: T[] = [];
  const left = sockets.toSorted((a, b) => a.since - b.since);
  while (left.length > most) {
    const per = new Map<string | undefined, number>();
    for (const { address } of left) per.set(address, (per.get(address) ?? 0) + 1);
    const many = (one: T) => per.get(one.address) ?? 0;
    const first = left
      .filter((one) => !one.checked)
      .reduce<T | undefined>(
        (best, one) => (best === undefined || many(one) > many(best) ? one : best),
        undefined,
      );
    if (first === undefined) break;
    left.splice(left.indexOf(first), 1);
    out.push(first);
  }
  return out;
}
