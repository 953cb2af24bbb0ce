/**
 * What the parts of an office do at the turns of a connection, and at the end of every piece of work. Each
 * function runs inside the transaction of what it follows.
 */
import { byteLength } from "../../src/shared/rules/text.ts";
import type { AgentPayload } from "../../src/shared/wire/agent/index.ts";
import { ACTS } from "./acts.ts";
import type { Desk } from "./desk.ts";
import { FEED } from "./feed/part.ts";
import { QUEUE } from "./queue/part.ts";
import { REPORTS } from "./reports.ts";
import { STREAMS } from "./streams/drive.ts";

/** What a welcome carries besides the config (OFF-5). */
export type Welcomed = Pick<AgentPayload<"welcome">, "reports" | "acts">;

export interface Part {
  /** A connection was welcomed: what its welcome has of this part, in at most `room` bytes (OFF-5). */
  welcomed?: (desk: Desk, room: number) => Partial<Welcomed>;
  /** A frame of the connection is about to be taken. Reads unless something came to an end by it. */
  heard?: (desk: Desk) => void;
  /** The connection of this id ended; `desk.connection` is undefined already. */
  ended?: (desk: Desk, connection: string) => void;
  /** The agent answered a frame of ours with an error; true when the frame was this part's (OFF-4). */
  erred?: (desk: Desk, replyTo: string, error: AgentPayload<"error">) => boolean;
  /** At the end of every piece of work: sends what may be sent now. */
  after?: (desk: Desk) => void;
}

/** In the order in which they run. */
export const PARTS: readonly Part[] = [REPORTS, ACTS, QUEUE, FEED, STREAMS];

export const parts = {
  welcomed(desk: Desk, room: number): Partial<Welcomed> {
    const all: Partial<Welcomed> = {};
    for (const part of PARTS)
      if (part.welcomed) Object.assign(all, part.welcomed(desk, room - byteLength(JSON.stringify(all))));
    return all;
  },
  heard: (desk: Desk): void => PARTS.forEach((part) => part.heard?.(desk)),
  ended: (desk: Desk, id: string): void => PARTS.forEach((part) => part.ended?.(desk, id)),
  erred: (desk: Desk, replyTo: string, error: AgentPayload<"error">): boolean =>
    PARTS.some((part) => part.erred?.(desk, replyTo, error) ?? false),
  after: (desk: Desk): void => PARTS.forEach((part) => part.after?.(desk)),
};
