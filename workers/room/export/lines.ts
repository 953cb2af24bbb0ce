/** Rows as the lines of an export (LOG-6), each as it stood at the export's head. */
import type { Exported, Receipt } from "../../../src/shared/wire/index.ts";
import { type ApprovalRow, approversOf, type QuestionRow, requestOf } from "../store/approvals.ts";
import type { FileRow } from "../store/files.ts";
import type { WholeRow } from "../store/log.ts";
import type { GrantRow } from "../store/policy.ts";
import type { FileRef, ParticipantRow, RunRow, SpaceRow, StayRow, WordsRow } from "../types.ts";

/** Up to where an export reaches: what came later is not yet so. */
export interface Until {
  head: number;
  now: number;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** A field that is there when its column is. */
function opt<K extends string, V>(key: K, value: V | null | undefined): { [P in K]?: V } {
  return (value === null || value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
}

/** A time as its field, when its column is. */
function when<K extends string>(key: K, ms: number | null | undefined): { [P in K]?: string } {
  return (ms === null || ms === undefined ? {} : { [key]: iso(ms) }) as { [P in K]?: string };
}

function yes<K extends string>(key: K, value: number | boolean | null): { [P in K]?: true } {
  return (value ? { [key]: true } : {}) as { [P in K]?: true };
}

export function participantLine(p: ParticipantRow): Exported<"participant"> {
  const budget = { ...opt("lines", p.context_lines), ...opt("chars", p.context_chars) };
  return {
    type: "participant",
    participant_id: p.id,
    kind: p.kind,
    name: p.name,
    ...opt("role", p.role),
    ...opt("harness_id", p.harness_id),
    ...opt("time_zone", p.time_zone),
    ...(Object.keys(budget).length > 0 ? { context: budget } : {}),
    ...(p.can === null ? {} : { can: JSON.parse(p.can) as string[] }),
    cursor: p.cursor,
    created_at: iso(p.created_at),
    ...yes("withdrawn", p.withdrawn),
    ...when("removed_at", p.removed_at),
    ...opt("office_handle", p.office_handle),
    ...yes("office_paused", p.office_paused),
  };
}

export function spaceLine(s: SpaceRow): Exported<"space"> {
  return {
    type: "space",
    space_id: s.id,
    title: s.title,
    visibility: s.visibility,
    ...yes("archived", s.archived),
    ...opt("direct", s.direct?.split(" ")),
    ...opt("lead", s.lead),
    ...(s.ceiling_set ? { ceiling_usd: s.ceiling_usd } : {}),
    ...opt("harness_id", s.harness_id),
    ...opt("agent_name", s.agent_name),
    ...opt("claimed_by", s.claimed_by),
    created_seq: s.created_seq,
  };
}

export function stayLine(s: StayRow): Exported<"stay"> {
  const { space_id, participant_id, joined_seq, role } = s;
  return {
    type: "stay",
    space_id,
    participant_id,
    joined_seq,
    ...opt("left_seq", s.left_seq),
    role,
    ...opt("handle", s.handle),
  };
}

export interface HandleRow {
  space_id: string;
  handle: string;
  participant_id: string;
  released_at: number | null;
}

export function handleLine({ released_at, space_id, handle, participant_id }: HandleRow): Exported<"handle"> {
  return { type: "handle", space_id, handle, participant_id, ...when("released_at", released_at) };
}

export interface PolicyRow {
  version: number;
  rules: string;
  classes: string;
  at: number;
  by: string;
}

export function policyLine({ version, rules, classes, at, by }: PolicyRow): Exported<"policy"> {
  return {
    type: "policy",
    version,
    rules: JSON.parse(rules) as Exported<"policy">["rules"],
    classes: JSON.parse(classes) as Exported<"policy">["classes"],
    at: iso(at),
    by,
  };
}

export function fileLine(f: FileRow, { head }: Until): Exported<"file"> {
  const { space_id, name, version, attachment_id, message_id, seq, by, at, superseded_seq } = f;
  return {
    type: "file",
    space_id,
    name,
    version,
    attachment_id,
    message_id,
    seq,
    by,
    at: iso(at),
    ...opt("replaces", f.replaces),
    ...(superseded_seq !== null && superseded_seq <= head ? { superseded_seq } : {}),
  };
}

export function runLine(r: RunRow, messageIds: string[], { head }: Until): Exported<"run"> {
  const ended = r.ended_seq !== null && r.ended_seq <= head;
  return {
    type: "run",
    run_id: r.id,
    space_id: r.space_id,
    agent_id: r.agent_id,
    harness_id: r.harness_id,
    message_ids: messageIds,
    started_seq: r.started_seq,
    started_at: iso(r.started_at),
    delivered_seq: r.delivered_seq,
    heard_at: iso(r.heard_at),
    ...yes("paused", r.paused),
    ...when("stopping_at", r.stopping_at),
    ...opt("step", r.step),
    ...(r.cost_micros === null ? {} : { cost_usd: r.cost_micros / 1_000_000 }),
    ...opt("input_tokens", r.input_tokens),
    ...opt("output_tokens", r.output_tokens),
    ...(ended
      ? {
          ...opt("ended_seq", r.ended_seq),
          ...when("ended_at", r.ended_at),
          ...opt("outcome", r.outcome as Exported<"run">["outcome"]),
        }
      : {}),
  };
}

/** An ask without its resume_token, which is its harness's alone (APR-10). */
export function approvalLine(a: ApprovalRow, until: Until): Exported<"approval"> {
  const { space_id, run_id, agent_id, harness_id, asked, fallback, asked_seq, version } = a;
  const settled =
    a.state !== "pending" &&
    (a.decided_seq === null ? (a.decided_at ?? 0) <= until.now : a.decided_seq <= until.head);
  return {
    type: "approval",
    approval_id: a.id,
    space_id,
    run_id,
    agent_id,
    harness_id,
    asked,
    request: requestOf(a),
    ...yes("matters", a.matters),
    approvers: approversOf(a),
    fallback,
    asked_seq,
    asked_at: iso(a.asked_at),
    expires_at: iso(a.expires_at),
    ...opt("rule", a.rule),
    version,
    state: settled ? a.state : "pending",
    ...(settled
      ? {
          ...opt("decision", a.decision),
          ...opt("via", a.via),
          ...opt("decided_by", a.decided_by),
          ...opt("decided_seq", a.decided_seq),
          ...when("decided_at", a.decided_at),
          ...(a.input === null ? {} : { input: JSON.parse(a.input) as unknown }),
          ...opt("grant_id", a.grant_id),
        }
      : {}),
  };
}

export function grantLine(g: GrantRow, { now }: Until): Exported<"grant"> {
  const { agent_id, approval_id, space_id, given_by, revoked_at } = g;
  const revoked = revoked_at !== null && revoked_at <= now;
  return {
    type: "grant",
    grant_id: g.id,
    agent_id,
    action: JSON.parse(g.action) as Exported<"grant">["action"],
    risk: JSON.parse(g.risk) as Exported<"grant">["risk"],
    approval_id,
    space_id,
    given_by,
    given_at: iso(g.given_at),
    expires_at: iso(g.expires_at),
    ...(revoked ? { ...when("revoked_at", revoked_at), ...opt("revoked_by", g.revoked_by) } : {}),
  };
}

export function questionLine(q: QuestionRow, { now }: Until): Exported<"question"> {
  const { space_id, run_id, agent_id, harness_id, asked, text } = q;
  const later = q.answered_at !== null && q.answered_at > now;
  return {
    type: "question",
    question_id: q.id,
    space_id,
    run_id,
    agent_id,
    harness_id,
    asked,
    text,
    ...(q.options === null ? {} : { options: JSON.parse(q.options) as string[] }),
    ...(q.put_to === null ? {} : { to: JSON.parse(q.put_to) as string[] }),
    asked_at: iso(q.asked_at),
    state: later ? "open" : q.state,
    ...(later
      ? {}
      : {
          ...opt("answer", q.answer),
          ...opt("answered_by", q.answered_by),
          ...when("answered_at", q.answered_at),
        }),
  };
}

/** A fact of the log with the words that it brought, as far as they were not deleted since. */
export function factLine(row: WholeRow, words: WordsRow | undefined): Exported<"fact"> {
  const { seq, id, type, at, actor_kind, actor_id, harness_id, sender, key, hash } = row;
  const speaks = actor_kind === "agent" && harness_id !== null;
  return {
    type: "fact",
    seq,
    id,
    fact: type,
    at: iso(at),
    ...opt("space_id", row.space_id),
    ...opt("run_id", row.run_id),
    actor: { kind: actor_kind, id: actor_id, ...(speaks ? { harness_id } : {}) },
    body: JSON.parse(row.body) as Record<string, unknown>,
    ...(words && words.text !== null
      ? {
          words: {
            message_id: words.id,
            edition: words.edition,
            text: words.text,
            mentions: JSON.parse(words.mentions) as string[],
            files: JSON.parse(words.files) as FileRef[],
          },
        }
      : {}),
    ...(sender !== null && key !== null && hash !== null
      ? { write: { sender, key, hash, receipt: JSON.parse(row.receipt ?? "{}") as Partial<Receipt> } }
      : {}),
  };
}
