/** What the pipeline decides on and what it decides (PIPE-1). Plain data: the board reads it and carries it out. */

import type { OfferedItem, OfferFeedback } from "../wire/agent/index.ts";
import type { Op, TicketStatus } from "../wire/agent/ops.ts";
import type { Who } from "./trust.ts";
import type { Ci, Mergeable, PrState } from "./work-state.ts";

/** A ticket as it stands once the event is in. People are handles of the team. */
export interface TicketFact {
  key: string;
  title?: string;
  url?: string;
  description?: string;
  status?: TicketStatus;
  assignee?: string;
  /** Whose it is: the assignee, else the person who made it when nobody is assigned. */
  owner?: string;
  /** Whom it was assigned to before this event. */
  before?: string;
  /** Who has items about it. */
  workers: string[];
}

export interface CheckFact {
  name: string;
  url?: string;
  summary?: string;
}

export interface PrFact {
  ref: string;
  repo: string;
  number: number;
  title?: string;
  url?: string;
  state: PrState;
  draft: boolean;
  head?: string;
  headSha?: string;
  /** The person of the team who opened it. */
  owner?: string;
  ticket?: TicketFact;
  /** Whether another pull request of its ticket is open, and whether one of them is merged, this one included. */
  otherOpen: boolean;
  anyMerged: boolean;
  ci: Ci;
  failing: CheckFact[];
  mergeable: Mergeable;
  /** Persons of the team whose review is asked for. */
  requested: string[];
  /** Why it cannot be merged yet; absent when it can. */
  notReady?: string;
  mergedBy?: string;
  mergeSha?: string;
  mergeCi: Ci;
  mergeFailing: CheckFact[];
}

export interface DocFact {
  id: string;
  title?: string;
  url?: string;
  owner?: string;
  ticket?: string;
}

export interface Facts {
  /** The board's id of the event. */
  eventId: string;
  who: Who;
  ticket?: TicketFact;
  pr?: PrFact;
  doc?: DocFact;
  /** For an assignment, a message, a question, a schedule: the person whom it names. */
  named?: string;
  /** For an item's event: the status in which its round found the ticket. */
  found?: TicketStatus;
  /** Whether a pull request of the ticket is open. */
  openPr?: boolean;
  /** For an inline comment: its thread's name at the host, where the host told it. */
  threadName?: string;
  /** Persons whose review this event asks for. */
  asked: string[];
  /** Events by agents that led here since a trusted human's last, this one included (PIPE-2). */
  agentEvents: number;
  /** Which stretch of them it is: a human is told once for each. */
  stretch: string;
  /** Whether an act of the pipeline itself made it: such events wake, and lead to no further act. */
  caused: boolean;
  /** What a ticket's work has used so far, for the fields of its tracker (USE-2). */
  used: Record<string, { tokens: number; costUsd: number; runs: number }>;
}

/** What a wake is about, in the letter's words. */
export interface RefFact {
  type: "ticket" | "pr" | "doc" | "chat_thread";
  ref: string;
  title?: string;
  url?: string;
}

/** A wake as the letter to an office carries it, without what the board adds: key, event and rule. */
export interface WakeDraft {
  kind: string;
  title: string;
  trigger: OfferedItem["trigger"];
  subject?: RefFact;
  /** What else it is about: linked to the subject. */
  linked: RefFact[];
  body?: string;
  feedback?: OfferFeedback & { key: string };
  origin?: NonNullable<OfferedItem["origin"]>;
  requester?: { id: string; name?: string; kind: "human" | "agent" };
  question?: { id: string; from: string; parentId?: string; chain: string[]; text: string };
  room?: { spaceId: string; messageId: string };
}

/** An op before it has its key. */
export type OpDraft = Op extends infer O ? (O extends { key: string } ? Omit<O, "key"> : never) : never;

export type Decision = { rule: string; why: string } & (
  | {
      decision: "wake";
      person: string;
      /** Decided once for this key; a `fresh` one again after what it stood for has ended. */
      key: string;
      wake: WakeDraft;
    }
  | { decision: "cancel"; person: string; ref: { type: "ticket" | "pr"; ref: string } }
  | { decision: "act"; person?: string; key: string; ops: OpDraft[] }
  | { decision: "tell"; cause: string; text: string }
  | { decision: "ignore"; person?: string }
);
