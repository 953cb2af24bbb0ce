/**
 * An export of a workspace (LOG-6): NDJSON, one of these a line, in this order of types. Times are ISO 8601,
 * seqs and ids the workspace's own. No line has a token, a session, an invite or a `resume_token`.
 */
import * as z from "zod";
import { action, approvalState, decidedVia, decision, fallback, riskClass, shownAsk } from "./approval.ts";
import { actor, instant, seq } from "./envelope.ts";
import { settings } from "./participant.ts";
import { participantKind, spaceRole, storedAttachment, workspaceRole } from "./parts.ts";
import { policyClasses, policyRule } from "./policy.ts";
import { questionState } from "./question.ts";
import { outcome } from "./run.ts";

/** Changes when a reader of the form before could not take a line any more. */
export const EXPORT_FORMAT = 1;

function exportLine<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  return z.object({ type: z.literal(type), ...fields });
}

const yes = z.literal(true).optional();
const text = z.string();

/** The first line: whose export it is, and up to where. */
export const exportedWorkspace = exportLine("workspace", {
  format: z.literal(EXPORT_FORMAT),
  workspace_id: text,
  name: text,
  created_at: instant,
  settings,
  head_seq: seq,
  exported_at: instant,
});
export const exportedParticipant = exportLine("participant", {
  participant_id: text,
  kind: participantKind,
  name: text,
  role: workspaceRole.optional(),
  harness_id: text.optional(),
  time_zone: text.optional(),
  context: z.object({ lines: z.int().optional(), chars: z.int().optional() }).optional(),
  can: z.array(text).optional(),
  cursor: seq,
  created_at: instant,
  withdrawn: yes,
  removed_at: instant.optional(),
  /** An agent of the office: the person of the team that it is (TEAM-2), and whether it is paused (ADDR-5). */
  office_handle: text.optional(),
  office_paused: yes,
});
/** `ceiling_usd` is absent where the space has none of its own. */
export const exportedSpace = exportLine("space", {
  space_id: text,
  title: text,
  visibility: z.enum(["private", "open"]),
  archived: yes,
  direct: z.array(text).optional(),
  lead: text.optional(),
  ceiling_usd: z.number().nullable().optional(),
  harness_id: text.optional(),
  agent_name: text.optional(),
  claimed_by: text.optional(),
  created_seq: seq,
});
/** Somebody's stay in a space, from a seq to a seq. */
export const exportedStay = exportLine("stay", {
  space_id: text,
  participant_id: text,
  joined_seq: seq,
  left_seq: seq.optional(),
  role: spaceRole,
  handle: text.optional(),
});
/** A handle that is or was given, since it rests before another gets it (ADDR-1). */
export const exportedHandle = exportLine("handle", {
  space_id: text,
  handle: text,
  participant_id: text,
  released_at: instant.optional(),
});
export const exportedMark = exportLine("mark", { space_id: text, participant_id: text, read_seq: seq });
export const exportedPolicy = exportLine("policy", {
  version: z.int().positive(),
  rules: z.array(policyRule),
  classes: policyClasses,
  at: instant,
  by: text,
});
/** A file's facts and the hash of its bytes, which are fetched and checked by it. */
export const exportedAttachment = exportLine("attachment", {
  ...storedAttachment.omit({ replaces: true }).shape,
  uploaded_by: text,
  created_at: instant,
});
export const exportedFile = exportLine("file", {
  space_id: text,
  name: text,
  version: z.int().positive(),
  attachment_id: text,
  message_id: text,
  seq,
  by: text,
  at: instant,
  replaces: text.optional(),
  superseded_seq: seq.optional(),
});
export const exportedRun = exportLine("run", {
  run_id: text,
  space_id: text,
  agent_id: text,
  harness_id: text,
  message_ids: z.array(text),
  started_seq: seq,
  started_at: instant,
  delivered_seq: seq,
  heard_at: instant,
  paused: yes,
  stopping_at: instant.optional(),
  step: text.optional(),
  cost_usd: z.number().optional(),
  input_tokens: z.int().optional(),
  output_tokens: z.int().optional(),
  ended_seq: seq.optional(),
  ended_at: instant.optional(),
  outcome: outcome.optional(),
});
export const exportedApproval = exportLine("approval", {
  approval_id: text,
  space_id: text,
  run_id: text,
  agent_id: text,
  harness_id: text,
  /** The hash of what its harness sent: the same ask again is told by it (APR-1). */
  asked: text,
  request: shownAsk,
  matters: yes,
  approvers: z.array(text),
  fallback,
  asked_seq: seq,
  asked_at: instant,
  expires_at: instant,
  rule: text.optional(),
  version: z.int().nonnegative(),
  state: approvalState,
  decision: decision.optional(),
  via: decidedVia.optional(),
  decided_by: text.optional(),
  decided_seq: seq.optional(),
  decided_at: instant.optional(),
  input: z.unknown().optional(),
  grant_id: text.optional(),
});
export const exportedGrant = exportLine("grant", {
  grant_id: text,
  agent_id: text,
  action,
  risk: z.array(riskClass),
  approval_id: text,
  space_id: text,
  given_by: text,
  given_at: instant,
  expires_at: instant,
  revoked_at: instant.optional(),
  revoked_by: text.optional(),
});
export const exportedQuestion = exportLine("question", {
  question_id: text,
  space_id: text,
  run_id: text,
  agent_id: text,
  harness_id: text,
  asked: text,
  text,
  options: z.array(text).optional(),
  to: z.array(text).optional(),
  asked_at: instant,
  state: questionState,
  answer: text.optional(),
  answered_by: text.optional(),
  answered_at: instant.optional(),
});

/** The words that a fact brought: those of one edition of a message. Deleted ones are nowhere (LOG-4). */
export const exportedWords = z.object({
  message_id: text,
  edition: z.int().positive(),
  text,
  mentions: z.array(text),
  files: z.array(z.object({ attachment_id: text, replaces: text.optional() })),
});
/** What a write left with its main fact, so that the same key is the same write after an import (ENV-4). */
export const exportedWrite = z.object({
  sender: text,
  key: text,
  hash: text,
  receipt: z.record(text, z.unknown()),
});
/** One fact of the log. `fact` is its type, `body` what the log holds of it, decisions included. */
export const exportedFact = exportLine("fact", {
  seq,
  id: text,
  fact: text,
  at: instant,
  space_id: text.optional(),
  run_id: text.optional(),
  actor,
  body: z.record(text, z.unknown()),
  words: exportedWords.optional(),
  write: exportedWrite.optional(),
});
export const exportedAudit = exportLine("audit", {
  n: z.int().positive(),
  at: instant,
  event: text,
  by: text,
  subject: text,
  saw: text.optional(),
  detail: z.record(text, z.unknown()).optional(),
  prev: text,
  hash: text,
});
/** The last line: without it the export was cut short. */
export const exportedEnd = exportLine("end", {
  /** How many lines stand before this one. */
  lines: z.int().nonnegative(),
  /** Of their bytes, line feeds included, in hex. */
  sha256: text,
});

export const exportedLine = z.discriminatedUnion("type", [
  exportedWorkspace,
  exportedParticipant,
  exportedSpace,
  exportedStay,
  exportedHandle,
  exportedMark,
  exportedPolicy,
  exportedAttachment,
  exportedFile,
  exportedRun,
  exportedApproval,
  exportedGrant,
  exportedQuestion,
  exportedFact,
  exportedAudit,
  exportedEnd,
]);
export type ExportedLine = z.infer<typeof exportedLine>;
export type Exported<T extends ExportedLine["type"]> = Extract<ExportedLine, { type: T }>;
