/**
 * Commits in groups (BATCH-2). The first work runs at once; while its rows are made durable, what arrives
 * waits and then runs together, so that under load many writes share one commit and their deliveries leave
 * in batched frames. A lone writer waits for nobody.
 */
export interface GroupCommit {
  /** Runs work in the next group, at once when no commit is under way; resolves with what it answers. */
  run<T>(work: () => T): Promise<T>;
  /** Whether a group is running now: what it sends leaves at its end. */
  readonly running: boolean;
}

export interface GroupCommitNeeds {
  /** How many rows were written so far: a group that wrote none needs no commit. */
  written(): number;
  /** Resolves when what was written is durable. */
  durable(): Promise<void>;
  /** Sends what the group has to say. The platform holds it back until the rows are durable. */
  flush(): void;
  /** Keeps the object until a commit is done. */
  hold(until: Promise<void>): void;
}

export function openGroupCommit(need: GroupCommitNeeds): GroupCommit {
  let queue: (() => void)[] = [];
  let committing = false;
  let running = false;

  const drain = (): void => {
    while (queue.length > 0 && !committing && !running) {
      const before = need.written();
      const group = queue;
      queue = [];
      running = true;
      try {
        for (const work of group) work();
      } finally {
        running = false;
      }
      need.flush();
      if (need.written() === before) continue;
      committing = true;
      need.hold(commit());
    }
  };
  const commit = async (): Promise<void> => {
    try {
      await need.durable();
    } finally {
      committing = false;
      drain();
    }
  };

  return {
    get running() {
      return running;
    },
    run: (work) =>
      new Promise((resolve, reject) => {
        queue.push(() => {
          try {
            resolve(work());
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
        drain();
      }),
  };
}
