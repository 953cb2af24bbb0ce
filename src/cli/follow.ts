/** Following the log: over a socket as a person, by held requests as a harness. */

import { fullJitter } from "../sdk/backoff.ts";
import type { Status } from "../sdk/connection.ts";
import { BullpenError } from "../sdk/errors.ts";
import { connectPerson } from "../sdk/person.ts";
import type { ServerEvent, ServerFrame } from "../shared/wire/index.ts";
import type { Session } from "./session.ts";

export interface Following {
  /** Goes on after this seq. */
  after: number;
  onFrame: (frame: ServerFrame) => void;
  /** Told when the connection is lost, and when it is back. */
  onState: (state: "lost" | "back") => void;
  /** Ends it, as Ctrl-C does. */
  signal: AbortSignal;
  /** Whether it ends by itself when everything up to now has arrived. */
  once: boolean;
  /** Whether it is told of the office, too. */
  office?: boolean;
}

/** Follows as a person does, until told to stop; rejects when the server ends it for good. */
export async function followSocket({ url, token }: Session, following: Following): Promise<void> {
  const { after, onFrame, onState, signal, once, office = false } = following;
  let lost = false;
  const connection = connectPerson({
    url,
    token,
    afterSeq: after,
    office,
    onEvent(frame) {
      onFrame(frame);
      if (once && frame.type === "caught_up") connection.close();
    },
    onStatus({ state }: Status) {
      if (state === "waiting" && !lost) onState("lost");
      if (state === "open" && lost) onState("back");
      if (state !== "connecting") lost = state === "waiting";
    },
  });
  const stop = (): void => connection.close();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  const error = await connection.closed;
  signal.removeEventListener("abort", stop);
  if (error) throw error;
}

interface EventsPage {
  events: ServerEvent[];
  head_seq: number;
  next_after: number;
}

/**
 * Follows what a harness is sent, without its socket: a harness has one, and a second would take its place
 * (CONN-7, HTTP-3).
 */
export async function followPolling({ http }: Session, following: Following): Promise<void> {
  const { onFrame, onState, signal, once } = following;
  let after = following.after;
  let failures = 0;
  let caughtUp = false;
  while (!signal.aborted) {
    try {
      const wait = caughtUp ? 25 : 0;
      const page = await http.get<EventsPage>("/v1/events", { after, limit: 200, wait }, { signal });
      if (failures > 0) onState("back");
      failures = 0;
      for (const event of page.events) onFrame(event);
      after = page.next_after;
      if (caughtUp || after < page.head_seq) continue;
      caughtUp = true;
      onFrame({ v: 1, type: "caught_up", seq: after });
      if (once) return;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof BullpenError && error.retryable)) throw error;
      if (failures === 0) onState("lost");
      await pause(fullJitter(failures, Math.random), signal);
      failures += 1;
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
