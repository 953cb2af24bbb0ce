/** Tells the room what changed, as long as somebody watches (QUEUE-4). Nothing of it is kept: a watcher reads again. */
import type { LiveChange } from "../letters.ts";

export interface Live {
  /** Tells what a committed work changed; what comes while something is sent goes together with the next. */
  tell(changes: readonly LiveChange[]): Promise<void>;
  /** Somebody watches from now on. */
  watched(): void;
}

const LISTS = ["people", "items", "tickets", "events"] as const;

/**
 * @param send resolves with how many watch; after none did, nothing is sent until somebody does
 */
export function openLive(send: (change: LiveChange) => Promise<{ watchers: number }>): Live {
  // After waking it is not known whether somebody watches: the first change asks.
  let watching = true;
  let began = 0;
  let sending = false;
  let noted: LiveChange[] = [];
  return {
    watched() {
      watching = true;
      began += 1;
    },
    async tell(changes) {
      if (watching) noted.push(...changes);
      if (sending) return;
      sending = true;
      try {
        while (watching && noted.length > 0) {
          const change = joined(noted);
          noted = [];
          const asked = began;
          const { watchers } = await send(change);
          // Whoever began to watch while this was under way is not in the count.
          if (watchers === 0 && began === asked) watching = false;
        }
      } finally {
        noted = [];
        sending = false;
      }
    },
  };
}

/** Changes as one: each name once. */
function joined(changes: readonly LiveChange[]): LiveChange {
  const all: LiveChange = {};
  for (const list of LISTS) {
    const names = [...new Set(changes.flatMap((change) => change[list] ?? []))];
    if (names.length > 0) all[list] = names;
  }
  if (changes.some((change) => change.team)) all.team = true;
  return all;
}
