/** Requests that wait for something to happen (HTTP-3). A pending call keeps the object awake anyway. */
export interface Waiting {
  /** Resolves at the next fact, or when the time is up. */
  next(withinMs: number): Promise<void>;
  /** Something happened. */
  wake(): void;
}

export function openWaiting(): Waiting {
  const waiting = new Set<() => void>();
  return {
    next: (withinMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(done, withinMs);
        function done() {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        }
        waiting.add(done);
      }),
    wake() {
      const all = [...waiting];
      waiting.clear();
      for (const done of all) done();
    },
  };
}
