/** Plain data that the Room's files hand to each other. */
import type { Scope } from "../../src/shared/wire/http.ts";
import type {
  Actor,
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
  cursor: number;
  created_at: number;
  withdrawn: number;
  removed_at: number | null;
}

/** An authenticated caller. */
export interface Caller {
  participant: ParticipantRow;
  tokenId: string;
  scopes: Scope[];
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
  session_ref?: string;
  addressed_to: string[];
  /** Which rule of ADDR decided (WHY-1). */
  why: string;
  /** Agents with a turn going in the space when it was said (NEW-3). */
  turns?: [agentId: string, runId: string][];
  /** For each addressed harness, where its last words here began (WIN-2). */
  since?: Record<string, number>;
  held?: true;
}

export interface Workspace {
  id: string;
  name: string;
  created_at: number;
  settings: Settings;
}

export type { VerbType };
