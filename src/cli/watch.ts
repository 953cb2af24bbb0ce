/** Something of the office, read anew whenever it changes (QUEUE-4). */
import { asError, BullpenError } from "../sdk/errors.ts";
import type { OfficeChanged } from "../shared/wire/connection.ts";
import { followSocket } from "./follow.ts";
import type { Session } from "./session.ts";
import { note } from "./terminal.ts";

/** A change that was told while nobody listened yet is seen by then. */
const LOOK_MS = 15_000;

export interface Watched<T> {
  /** Whether a change is about it. */
  concerns(change: OfficeChanged): boolean;
  read(): Promise<T>;
  /** Told the first time, and whenever it is otherwise than it was. */
  show(value: T): void;
}

/** Watches until Ctrl-C; rejects when the server refuses for good. */
export async function watchOffice<T>(session: Session, watched: Watched<T>): Promise<void> {
  const { head_seq } = await session.http.get<{ head_seq: number }>("/v1/events", { after: 0, limit: 1 });
  const stop = new AbortController();
  // For the rest of the process: npm and a terminal both pass Ctrl-C on, so that it may come twice.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  let failure: unknown;
  let shown = "";
  let stale = false;
  let reading = false;
  const refresh = async (): Promise<void> => {
    stale = true;
    if (reading) return;
    reading = true;
    try {
      while (stale) {
        stale = false;
        const value = await watched.read();
        const text = JSON.stringify(value);
        if (text === shown) continue;
        shown = text;
        watched.show(value);
      }
    } catch (error) {
      // What is out of reach for a moment is read when the connection is back.
      if (error instanceof BullpenError && error.retryable) return;
      failure = error;
      stop.abort();
    } finally {
      reading = false;
    }
  };
  const timer = setInterval(() => void refresh(), LOOK_MS);
  try {
    await followSocket(session, {
      after: head_seq,
      once: false,
      office: true,
      signal: stop.signal,
      onFrame(frame) {
        if (frame.type === "caught_up" || (frame.type === "office.changed" && watched.concerns(frame)))
          void refresh();
      },
      onState: (state) => note(state === "lost" ? "Connection lost; trying again." : "Connected again."),
    });
  } finally {
    clearInterval(timer);
  }
  if (failure !== undefined) throw asError(failure);
}
