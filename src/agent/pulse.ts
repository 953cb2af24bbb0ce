/** Heartbeats on a timer of their own, whatever the items do (OFF-6). */
import type { Clock } from "../sdk/clock.ts";
import { OfficeError } from "./errors.ts";
import type { Link } from "./link.ts";
import type { Requests } from "./requests.ts";

export interface PulseParts {
  link: Link;
  requests: Requests;
  clock: Clock;
  /** The items that the agent is on, until their hand-back is acknowledged. */
  active: () => readonly string[];
}

/** Of the time that the office asks for: a timer that is late by a little must not be too late. */
const SHARE = 0.7;
/** An interval outside of these is a mistake: it would flood the office, or a timer would take it for none. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 600_000;
/** So many intervals without a word from the office are a dead connection. */
const SILENT = 2;

export class Pulse {
  readonly #parts: PulseParts;
  #timer: unknown;

  constructor(parts: PulseParts) {
    this.#parts = parts;
  }

  /** Begins with a connection. */
  start(askedMs: number): void {
    const { clock } = this.#parts;
    clock.clearTimeout(this.#timer);
    const heartbeatMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, askedMs));
    const everyMs = Math.max(1, Math.floor(heartbeatMs * SHARE));
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      this.#beat(heartbeatMs);
      if (this.#parts.link.isReady) this.start(heartbeatMs);
    }, everyMs);
  }

  stop(): void {
    this.#parts.clock.clearTimeout(this.#timer);
  }

  #beat(heartbeatMs: number): void {
    const { link, requests, clock, active } = this.#parts;
    if (clock.now() - link.heardAt > SILENT * heartbeatMs) {
      link.drop("silent");
      return;
    }
    // It would be kept back anyway, and the frame that is out is a sign of life itself.
    if (link.isHeld) return;
    const items = active();
    const payloads = items.length === 0 ? [{}] : items.map((workItemId) => ({ workItemId }));
    for (const payload of payloads)
      requests.ask("heartbeat", payload, { once: true }).catch((error: unknown) => {
        // A refusal for an item has been dealt with as any other; the rest shows as silence.
        if (!(error instanceof OfficeError)) throw error;
      });
  }
}
