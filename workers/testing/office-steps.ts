/** The steps of random work in two offices, and what the model knows of an item (office-world.ts). */
import type { ItemState } from "../../src/shared/rules/item-states.ts";
import type { Any } from "./client.ts";
import type { Agent } from "./office.ts";

export const HANDLES = ["scout", "bob"] as const;
export type Handle = (typeof HANDLES)[number];

/** One step; numbers choose among what there is, so that steps can be left out in shrinking. */
export type Op =
  | { op: "add" | "connect" | "drop" | "accept" | "decline" | "tell" | "late"; who: Handle }
  | {
      op: "handback";
      who: Handle;
      status: "done" | "waiting" | "blocked" | "silent" | "interrupted" | "fail";
    }
  | { op: "feedback" | "move" | "place" | "stray"; n: number }
  | { op: "patch"; n: number; to: "queued" | "blocked" | "done" | "canceled" }
  | { op: "repeat"; n: number; sameId: boolean }
  | { op: "hibernate" | "close" | "abort" }
  | { op: "jump"; minutes: number; silent: boolean };

export interface Item {
  id: string;
  ticket: string;
  at: Handle;
  state: ItemState;
  /** Feedback that no accepted round was offered. */
  pending: number;
  declines: number;
  /** An agent may still believe that it has it. */
  held: boolean;
  /** It leaves as soon as that agent has let go. */
  moving: boolean;
  /** Rounds that an agent accepted. */
  accepted: number;
  /** How its agent ended the newest of those. */
  outcome?: Said["frame"];
}
export interface Said {
  who: Handle;
  item: string;
  frame: { id: string; type: string; payload: object };
  connection: Agent;
  answer?: Any;
}
