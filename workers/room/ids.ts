/** Ids and times that never go back, also over a restart (ID-1, ENV-1). */
import { monotonicFactory } from "ulid";
import type { IdPrefix } from "../../src/shared/wire/ids.ts";

export interface Clock {
  /** Milliseconds; never less than it answered before. */
  now(): number;
  /** A new id, greater than every one minted here before. */
  mint(prefix: IdPrefix): string;
}

/**
 * @param last the newest time that the log holds: the clock starts after it, so that ids made before a
 *   restart in the same millisecond stay smaller.
 * @param wall milliseconds as the world has them
 */
export function openClock(last: number, wall: () => number): Clock {
  let latest = last;
  const next = monotonicFactory(() => crypto.getRandomValues(new Uint8Array(1))[0]! / 256);
  let seed = last + 1;
  return {
    now() {
      latest = Math.max(latest, wall());
      return latest;
    },
    mint(prefix) {
      seed = Math.max(seed, wall());
      return `${prefix}_${next(seed)}`;
    },
  };
}
