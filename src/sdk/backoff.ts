/** What to do after a connection ends, and how long to wait before the next (CONN-8). */

/** Close codes after which a client stops: trying again would be refused again, or fight its successor. */
const FINAL = new Set([4400, 4401, 4403, 4409]);
export const SLOW_DOWN = 4429;

/** Whether a client reconnects after this close code (CONN-8). */
export function reconnects(closeCode: number): boolean {
  return !FINAL.has(closeCode);
}

export interface BackoffOptions {
  /** The widest first wait. */
  baseMs?: number;
  /** The widest wait of all. */
  capMs?: number;
}

/**
 * Full jitter: anything from nothing up to a ceiling that doubles with each attempt. A deploy drops every
 * socket at once; without it they would all come back at once.
 */
export function fullJitter(attempt: number, random: () => number, options: BackoffOptions = {}): number {
  const { baseMs = 500, capMs = 30_000 } = options;
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.floor(random() * ceiling);
}
