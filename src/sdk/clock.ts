/** Time and chance come in from outside, so that tests own them. */
export interface Clock {
  /** Milliseconds since 1970. */
  now: () => number;
  /** A number from 0 up to 1, for jitter. */
  random: () => number;
  setTimeout: (run: () => void, ms: number) => unknown;
  clearTimeout: (handle: unknown) => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (handle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
};

/** Resolves to true when the promise settles in time, to false when the time is up. */
export async function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  let handle: unknown;
  const late = new Promise<boolean>((resolve) => {
    handle = clock.setTimeout(() => resolve(false), ms);
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clock.clearTimeout(handle);
  }
}
