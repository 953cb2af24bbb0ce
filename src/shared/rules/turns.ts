/** A run as its clocks look at it (TURN-5). */
export interface Turn {
  started_at: number;
  /**
   * When its harness was last heard of it, or was last sent a decision, an answer or a resume: the clocks start
   * anew then.
   */
  heard_at: number;
  paused: boolean;
  /** It has an open ask or question, or one whose outcome its harness has not been sent yet. */
  waiting: boolean;
  ended: boolean;
}

export type TurnState = "working" | "waiting" | "paused" | "silent" | "expired" | "ended";

/** With nothing heard for so long a run is not working any more. */
export const SILENT_MS = 10 * 60_000;
/** With nothing heard for so long the room ends it. */
export const EXPIRED_MS = 60 * 60_000;
/** So long after its harness went the room ends it. */
export const GONE_MS = 10 * 60_000;

/**
 * How a run stands (TURN-5): `working` counts as working; `silent` goes on but does not; `expired` is the room's to
 * end as failed. While it is paused or waits for somebody none of the clocks runs, also not that of a harness
 * that is gone: asks outlive processes.
 */
export function turnState(turn: Turn, now: number, harnessGoneSince?: number): TurnState {
  if (turn.ended) return "ended";
  if (turn.paused) return "paused";
  if (turn.waiting) return "waiting";
  if (now >= expiryOf(turn, harnessGoneSince)) return "expired";
  return now >= silenceOf(turn) ? "silent" : "working";
}

/** When a run's state changes next if nothing happens; `undefined` where only an event changes it. */
export function nextTurnChange(turn: Turn, now: number, harnessGoneSince?: number): number | undefined {
  const state = turnState(turn, now, harnessGoneSince);
  const expiry = expiryOf(turn, harnessGoneSince);
  if (state === "working") return Math.min(silenceOf(turn), expiry);
  return state === "silent" ? expiry : undefined;
}

function lastHeard(turn: Turn): number {
  return Math.max(turn.heard_at, turn.started_at);
}

function silenceOf(turn: Turn): number {
  return lastHeard(turn) + SILENT_MS;
}

/** When the room ends a run that nothing more is heard of. */
export function expiryOf(turn: Turn, harnessGoneSince: number | undefined): number {
  const heard = lastHeard(turn);
  const unheard = heard + EXPIRED_MS;
  if (harnessGoneSince === undefined) return unheard;
  // A harness may speak over HTTP while its socket is away, and a wait may have ended since it went.
  return Math.min(unheard, Math.max(harnessGoneSince, heard) + GONE_MS);
}
