/** Plain data that the Room's files hand to each other. */
import type { Scope } from "../../src/shared/wire/http.ts";
import type {
  Actor,
  Context,
  Exchange,
  FactType,
  ParticipantKind,
  Settings,
  SpaceRole,
  VerbType,
  WorkspaceRole,
} from "../../src/shared/wire/index.ts";

/** What the gateway knows of a caller: it hashes the secret, so that the object need not wait for it. */
export interface Credential {
  tokenId: string;
  /** SHA-256 of the token's secret, hex. */
  secretHash: string;
  /** The origin that the caller used: signed URLs start with it. */
  origin: string;
}

export interface ParticipantRow {
  id: string;
  kind: ParticipantKind;
  name: string;
  role: WorkspaceRole | null;
  harness_id: string | null;
  time_zone: string | null;
  context_lines: number | null;
  context_chars: number | null;
  can: string | null;
  /** When a harness with turns going lost its last connection (TURN-5). */
  gone_at: number | null;
  cursor: number;
  created_at: number;
  withdrawn: number;
  removed_at: number | null;
  /** An agent of the built-in office harness: the person of the team that it is (TEAM-2). */
  office_handle: string | null;
  /** That person is paused, so the agent is asked nothing (ADDR-5). */
  office_paused: number;
  /** Whether its office keeps streams, and is told what is said where it is (CTX-7). */
  office_hears: number;
}

/** An authenticated caller. */
export interface Caller {
  participant: ParticipantRow;
  tokenId: string;
  scopes: Scope[];
  /** A hook's token: what it may send (WORK-4). */
  hook?: { source: string; types: string[] };
  origin: string;
}

export interface SpaceRow {
  id: string;
  title: string;
  visibility: "private" | "open";
  archived: number;
  direct: string | null;
  lead: string | null;
  ceiling_usd: number | null;
  ceiling_set: number;
  harness_id: string | null;
  agent_name: string | null;
  claimed_by: string | null;
  created_seq: number;
}

export interface StayRow {
  space_id: string;
  participant_id: string;
  joined_seq: number;
  left_seq: number | null;
  role: SpaceRole;
  handle: string | null;
  claimed_seq: number | null;
}

/** One fact of the log as it is stored. */
export interface LogRow {
  seq: number;
  id: string;
  type: FactType;
  at: number;
  space_id: string | null;
  run_id: string | null;
  actor_kind: Actor["kind"];
  actor_id: string;
  harness_id: string | null;
  body: string;
}

export interface RunRow {
  id: string;
  space_id: string;
  agent_id: string;
  harness_id: string;
  started_seq: number;
  started_at: number;
  delivered_seq: number;
  heard_at: number;
  paused: number;
  stopping_at: number | null;
  step: string | null;
  cost_micros: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  ended_seq: number | null;
  ended_at: number | null;
  outcome: string | null;
}

/** The newest edition of a message's words. A deleted one has `text: null`. */
export interface WordsRow {
  id: string;
  edition: number;
  seq: number;
  at: number;
  text: string | null;
  /** JSON: participant ids. */
  mentions: string;
  /** JSON: {@link FileRef}s. */
  files: string;
}
export interface FileRef {
  attachment_id: string;
  replaces?: string;
}

/** What `message.posted` keeps in the log: everything about a message but its words. */
export interface PostedBody {
  message_id: string;
  role: SpaceRole;
  workspace_role?: WorkspaceRole;
  reply_to?: string;
  /** The message that its reply chain began with, where that is another than `reply_to` (CHAT-2). */
  thread?: string;
  session_ref?: string;
  addressed_to: string[];
  /** Which rule of ADDR decided (WHY-1). */
  why: string;
  /** Agents with a turn going in the space when it was said (NEW-3). */
  turns?: [agentId: string, runId: string][];
  /** For each addressed harness, where its last words here began (WIN-2). */
  since?: Record<string, number>;
  held?: true;
  /** Whom it was held from: `addressed_to` is empty then (GUARD-4). */
  held_from?: string[];
  /** How the agents' talk stood, from a count of eight (GUARD-2); names and looking are as of sending. */
  exchange?: StoredExchange;
  /** What the job had spent (SPEND-1). */
  spend?: StoredSpend;
  /** Mentioned agents that could not be addressed (ADDR-5). */
  unreachable?: string[];
  /** Whom it would have been for, had its run not been asked to stop (TURN-4). */
  after_stop?: string[];
  /** It brought a file that was new to the space (GUARD-1). */
  made?: "file";
  /** It said again what was there, or brought a file that was (GUARD-3). */
  repeat?: "file" | "words";
  /** What the guard counted, and by which settings it judged (WHY-1). */
  guard?: StoredGuard;
  /** Why a person's words had to wait (GUARD-5, SPEND-5). */
  shut?: "pause" | "day";
}

export interface StoredGuard {
  count: number;
  total: number;
  /** Where the count began. */
  since_seq: number;
  since: "person" | "work" | "start";
  circling?: true;
  stop: number;
  hold: number | null;
  /** The agents were paused when it was said. */
  pause?: PauseCause;
}

export type PauseCause = "person" | "spend" | "day" | "guard";

/** Files in it stand by their attachment's id: names are no part of the log (LOG-4). */
export type StoredExchange = Omit<Exchange, "note" | "person_looking" | "also_for">;
export type StoredSpend = NonNullable<Context["spend"]>;

/** What `message.handed` keeps: a delivery of its own to the takers' harnesses (NEW-9). */
export interface HandedBody {
  message_id: string;
  takers: string[];
  lead?: true;
  /** Which rule handed it, and why (WHY-1). */
  why: "held" | "lead" | "not_picked_up";
  since?: Record<string, number>;
  spend?: StoredSpend;
  because?: HandedBecause;
}

/**
 * What a decision of the room rested on. A body's `because` is only for `GET /v1/why`: no frame has it (WHY-1).
 */
export interface HandedBecause {
  /** The act of a person that let held messages go (GUARD-4). */
  act?: number;
  /** How long the room had to be still, and since when it was (LEAD-2). */
  still_s?: number;
  still_since?: string;
  /** Who had not begun it (TURN-7). */
  waited_for?: string;
  waited_s?: number;
}

export interface PausedBecause {
  /** What the job had spent (SPEND-2). */
  spend?: StoredSpend;
  /** What the workspace had spent on a day (SPEND-5). */
  day?: { day: string; spent_usd: number; ceiling_usd: number };
  /** Messages for agents since a person acted, and how many there may be (GUARD-7). */
  total?: number;
  most?: number;
}

export interface ResumedBecause {
  /** A person's act ended the pause, or a day's ceiling no longer held. */
  by: "act" | "day";
  act?: number;
}

export interface EndedBecause {
  cause: "no_reply" | "stopped" | "silent" | "gone" | "left" | "answered" | "taken_back";
}

export interface HaltedBecause {
  cause: PauseCause;
}

export interface Workspace {
  id: string;
  name: string;
  created_at: number;
  settings: Settings;
}

export type { VerbType };
