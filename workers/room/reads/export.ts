/**
 * The whole workspace as lines, in the form of `src/shared/wire/export.ts` (LOG-6). Read page by page while it
 * is sent, and yet one state: that of the head when it began.
 */
import type { Exported, ExportedLine, Settings } from "../../../src/shared/wire/index.ts";
import type { Db, SqlValue } from "../../kit/db.ts";
import type { ApprovalRow, QuestionRow } from "../store/approvals.ts";
import { auditAfter } from "../store/audit.ts";
import { headSeq, type WholeRow, wholeFacts } from "../store/log.ts";
import { attachment } from "../store/messages.ts";
import { workspaceOf } from "../store/participants.ts";
import type { GrantRow } from "../store/policy.ts";
import type { FileRow } from "../store/files.ts";
import type { FileRef, ParticipantRow, RunRow, SpaceRow, StayRow, WordsRow } from "../types.ts";

/** Rows are read so many at once: a page of messages is a few MiB at the most. */
const PAGE = 50;

export interface Export {
  /** The workspace's head when the export began. */
  head: number;
  /** What may change without a trace in the log, read at once: who and where. Its size is that of the workspace's people and spaces. */
  structure: ExportedLine[];
  /** Everything that grows, read as it is iterated. */
  rest: Iterable<ExportedLine>;
}

/** Opens an export; the caller reads `structure` before anything else can write. */
export function openExport(db: Db, now: number): Export {
  const head = headSeq(db);
  return { head, structure: [...structure(db, head, now)], rest: rest(db, head, now) };
}

const iso = (ms: number) => new Date(ms).toISOString();

/** A field that is there when its column is. */
function opt<K extends string, V, W = V>(
  key: K,
  value: V | null | undefined,
  as: (value: V) => W = (same) => same as unknown as W,
): { [P in K]?: W } {
  return (value === null || value === undefined ? {} : { [key]: as(value) }) as { [P in K]?: W };
}

/** What is set when a column holds 1. */
function yes<K extends string>(key: K, value: number | boolean | null): { [P in K]?: true } {
  return (value ? { [key]: true } : {}) as { [P in K]?: true };
}

function* structure(db: Db, head: number, now: number): Generator<ExportedLine> {
  const { id, name, created_at, settings } = workspaceOf(db);
  yield {
    type: "workspace",
    format: 1,
    workspace_id: id,
    name,
    created_at: iso(created_at),
    settings: settings as Settings,
    head_seq: head,
    exported_at: iso(now),
  };
  for (const p of db.each<ParticipantRow>("SELECT * FROM participants ORDER BY created_at, id"))
    yield participantLine(p);
  for (const s of db.each<SpaceRow>("SELECT * FROM spaces ORDER BY created_seq")) yield spaceLine(s);
  for (const s of db.each<StayRow>("SELECT * FROM stays ORDER BY joined_seq, space_id"))
    yield {
      type: "stay",
      space_id: s.space_id,
      participant_id: s.participant_id,
      joined_seq: s.joined_seq,
      ...opt("left_seq", s.left_seq),
      role: s.role,
      ...opt("handle", s.handle),
    };
  for (const h of db.each<{ space_id: string; handle: string; participant_id: string; released_at: number }>(
    "SELECT * FROM handles ORDER BY space_id, folded",
  ))
    yield {
      type: "handle",
      space_id: h.space_id,
      handle: h.handle,
      participant_id: h.participant_id,
      ...opt("released_at", h.released_at, iso),
    };
  for (const m of db.each<Omit<Exported<"mark">, "type">>("SELECT * FROM marks ORDER BY space_id, participant_id"))
    yield { type: "mark", ...m };
  for (const p of db.each<{ version: number; rules: string; classes: string; at: number; by: string }>(
    "SELECT * FROM policies ORDER BY version",
  ))
    yield {
      type: "policy",
      version: p.version,
      rules: JSON.parse(p.rules),
      classes: JSON.parse(p.classes),
      at: iso(p.at),
      by: p.by,
    };
}

function participantLine(p: ParticipantRow): Exported<"participant"> {
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
    ...opt("can", p.can, (can) => JSON.parse(can) as string[]),
    cursor: p.cursor,
    created_at: iso(p.created_at),
    ...yes("withdrawn", p.withdrawn),
    ...opt("removed_at", p.removed_at, iso),
  };
}

function spaceLine(s: SpaceRow): Exported<"space"> {
  return {
    type: "space",
    space_id: s.id,
    title: s.title,
    visibility: s.visibility,
    ...yes("archived", s.archived),
    ...opt("direct", s.direct, (ids) => ids.split(" ")),
    ...opt("lead", s.lead),
    ...(s.ceiling_set ? { ceiling_usd: s.ceiling_usd } : {}),
    ...opt("harness_id", s.harness_id),
    ...opt("agent_name", s.agent_name),
    ...opt("claimed_by", s.claimed_by),
    created_seq: s.created_seq,
  };
}

function* rest(db: Db, head: number, now: number): Generator<ExportedLine> {
  yield* attachments(db, now);
  for (const f of pages<FileRow>(
    db,
    "SELECT rowid_, f.* FROM (SELECT *, seq * 1000 + version AS rowid_ FROM files WHERE seq <= ?2) f WHERE 0 AND ?1 = ?3",
    0,
    head,
  ))
    yield fileLine(f, head);
}

function* attachments(_db: Db, _now: number): Generator<ExportedLine> {}
function fileLine(_f: FileRow, _head: number): ExportedLine {
  throw new Error();
}
function* pages<T>(_db: Db, _q: string, ..._b: SqlValue[]): Generator<T> {}
