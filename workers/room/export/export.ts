/**
 * The whole workspace as lines, in the form of `src/shared/wire/export.ts` (LOG-6). It is read page by page
 * while it is sent, and yet is one state: that of the head when it began.
 */
import type { Exported, ExportedLine } from "../../../src/shared/wire/index.ts";
import type { Db, SqlValue } from "../../kit/db.ts";
import type { ApprovalRow, QuestionRow } from "../store/approvals.ts";
import { auditAfter } from "../store/audit.ts";
import type { FileRow } from "../store/files.ts";
import { factAt, headSeq, type WholeRow, wholeFacts } from "../store/log.ts";
import { attachment } from "../store/messages.ts";
import { workspaceOf } from "../store/participants.ts";
import type { GrantRow } from "../store/policy.ts";
import type { ParticipantRow, RunRow, SpaceRow, StayRow, WordsRow } from "../types.ts";
import * as line from "./lines.ts";

/** Rows are read so many at once: a page of messages is a few MiB at the most. */
const PAGE = 50;

/**
 * Opens an export. `structure` is read at once, before anything else can write: who and where, which may change
 * without a seq of its own; it is as large as the workspace has people and spaces. `rest` is everything that
 * grows with the log, read as it is iterated: each row has the seq or the time that it is of.
 */
export function openExport(
  db: Db,
  now: number,
): { structure: Iterable<ExportedLine>; rest: Iterable<ExportedLine> } {
  const until = { head: headSeq(db), now };
  const records = db.one<{ n: number }>("SELECT n FROM audit_head")?.n ?? 0;
  return { structure: structure(db, until), rest: rest(db, until, records) };
}

function* structure(db: Db, { head, now }: line.Until): Generator<ExportedLine> {
  const { id, name, created_at, settings } = workspaceOf(db);
  yield {
    type: "workspace",
    format: 1,
    workspace_id: id,
    name,
    created_at: line.iso(created_at),
    settings,
    head_seq: head,
    exported_at: line.iso(now),
  };
  for (const row of db.each<ParticipantRow>("SELECT * FROM participants ORDER BY created_at, id"))
    yield line.participantLine(row);
  for (const row of db.each<SpaceRow>("SELECT * FROM spaces ORDER BY created_seq")) yield line.spaceLine(row);
  for (const row of db.each<StayRow>("SELECT * FROM stays ORDER BY joined_seq, space_id"))
    yield line.stayLine(row);
  for (const row of db.each<line.HandleRow>("SELECT * FROM handles ORDER BY space_id, folded"))
    yield line.handleLine(row);
  for (const row of db.each<Omit<Exported<"mark">, "type">>(
    "SELECT * FROM marks ORDER BY space_id, participant_id",
  ))
    yield { type: "mark", ...row };
  for (const row of db.each<line.PolicyRow>("SELECT * FROM policies ORDER BY version"))
    yield line.policyLine(row);
}

function* rest(db: Db, until: line.Until, records: number): Generator<ExportedLine> {
  const { head, now } = until;
  yield* attachments(db, now);
  for (const row of files(db, head)) yield line.fileLine(row, until);
  for (const row of byId<RunRow>(db, "runs", "started_seq <= ?", head))
    yield line.runLine(row, messagesOf(db, row), until);
  for (const row of byId<ApprovalRow>(db, "approvals", "asked_seq <= ?", head))
    yield line.approvalLine(row, until);
  for (const row of byId<GrantRow>(db, "grants", "given_at <= ?", now)) yield line.grantLine(row, until);
  for (const row of byId<QuestionRow>(db, "questions", "asked_at <= ?", now))
    yield line.questionLine(row, until);
  yield* facts(db, head);
  yield* audit(db, records);
}

/** Rows page by page; nothing is held open in between, where others may write. */
function* paged<T>(read: (last: T | undefined) => T[]): Generator<T> {
  for (let last: T | undefined; ; ) {
    const rows = read(last);
    yield* rows;
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

type ById = "attachments" | "runs" | "approvals" | "grants" | "questions";

function byId<T extends { id: string }>(db: Db, table: ById, where: string, bound: SqlValue): Generator<T> {
  return paged<T>((last) =>
    db.all(
      `SELECT * FROM ${table} WHERE ${where} AND id > ? ORDER BY id LIMIT ?`,
      bound,
      last?.id ?? "",
      PAGE,
    ),
  );
}

function* attachments(db: Db, now: number): Generator<ExportedLine> {
  interface Row {
    id: string;
    uploaded_by: string;
    created_at: number;
  }
  for (const { id, uploaded_by, created_at } of byId<Row>(db, "attachments", "created_at <= ?", now)) {
    // One that was deleted since its page was read has no bytes any more.
    const file = attachment(db, id);
    if (file) yield { type: "attachment", ...file, uploaded_by, created_at: line.iso(created_at) };
  }
}

function files(db: Db, head: number): Generator<FileRow> {
  return paged<FileRow>((last) =>
    db.all(
      `SELECT * FROM files WHERE seq <= ? AND (space_id, name, version) > (?, ?, ?)
       ORDER BY space_id, name, version LIMIT ?`,
      head,
      last?.space_id ?? "",
      last?.name ?? "",
      last?.version ?? 0,
      PAGE,
    ),
  );
}

/** What a run took: its first fact says so. */
function messagesOf(db: Db, row: RunRow): string[] {
  const started = factAt(db, row.started_seq);
  return started ? (JSON.parse(started.body) as { message_ids: string[] }).message_ids : [];
}

function* facts(db: Db, head: number): Generator<ExportedLine> {
  for (const row of paged<WholeRow>((last) => wholeFacts(db, last?.seq ?? 0, head, PAGE)))
    yield line.factLine(row, wordsWith(db, row));
}

/** The words that a fact brought: with them an export is its own order, and an edit after its head is not in it. */
function wordsWith(db: Db, row: WholeRow): WordsRow | undefined {
  if (row.type !== "message.posted" && row.type !== "message.edited") return undefined;
  const { message_id, edition = 1 } = JSON.parse(row.body) as { message_id: string; edition?: number };
  return db.one("SELECT * FROM messages WHERE id = ? AND edition = ?", message_id, edition);
}

function* audit(db: Db, records: number): Generator<ExportedLine> {
  for (let n = 0; n < records; ) {
    const page = [...auditAfter(db, n, Math.min(PAGE, records - n))];
    for (const { type: event, ...record } of page) yield { type: "audit", event, ...record };
    const last = page.at(-1)?.n;
    // A record that is missing ends it: the audit's own check says so better.
    if (last === undefined) return;
    n = last;
  }
}
