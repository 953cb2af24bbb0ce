/**
 * What else happens when a stream changes; the parts that have a say in it stand in table.ts. A hook runs inside the
 * transaction of the append, so that what it writes stands or falls with it; an outside one runs after the commit and
 * may wait for others.
 */
import type { ModelUsage } from "../../../src/shared/wire/context/item.ts";
import type { Desk, Look } from "../desk.ts";
import type { StreamName } from "./paths.ts";
import type { StatesMemory } from "./states.ts";

/** A request that was open and is no more (REQ-1). */
export interface Ended {
  stream: StreamName;
  /** The offset of `llm-request-requested`, and of what triggered it. */
  request: number;
  trigger: number;
  /** `interrupted`: by an item of that policy. `cancelled`: written, as at its deadline (REQ-5). */
  outcome: "succeeded" | "failed" | "cancelled" | "interrupted";
  /** The offset of the event that ended it. */
  by: number;
  /** The answer that counts, if there is one (CTX-3). */
  answer?: { offset: number; content: string };
  /** Ids of the calls in the answer (CTX-9). */
  calls: readonly string[];
  /** Why it failed. */
  reason?: string;
  /** What the provider counted. */
  usage?: ModelUsage;
}

export interface StreamHook {
  /** A request was opened by the office (REQ-1). */
  opened?(
    desk: Desk,
    opened: { stream: StreamName; request: number; trigger: number; deadline: number },
  ): void;
  /** After a settlement, or another end of a request; once each. It may append (`appendTo`). */
  ended?(desk: Desk, ended: Ended): void;
  /** The stream paused or goes on (REQ-6). */
  paused?(desk: Desk, stream: StreamName, reason: string | undefined): void;
}

/** A compaction that is asked for (REQ-8): what is at or below the measured request is to be summarised. */
export interface CompactionAsk {
  stream: StreamName;
  /** The offset of the request whose usage was measured: the barrier. */
  through: number;
}

/** What works beside the transactions has of its office. */
export interface Beside {
  work<T>(work: (desk: Desk) => T): T;
  look(): Look;
  /** What is in memory of reduced states: for reading them. */
  readonly states: StatesMemory;
  /** Keeps the object until it is done. */
  waitUntil(done: Promise<unknown>): void;
  fault(error: unknown): void;
}

export interface StreamOutside {
  /** Events were appended to a stream and are stored. */
  committed?(beside: Beside, stream: StreamName): void;
  /**
   * Writes a compaction, as the office, with `appendTo`. Asked once for each measured request while the object is
   * awake; what it throws is logged, and the stream goes on without (REQ-8).
   */
  compact?(beside: Beside, ask: CompactionAsk): Promise<void>;
}
