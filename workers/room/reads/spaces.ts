/** Reads of spaces: the list, who is in one, its context, files, runs, and the events. */
import type * as z from "zod";
import type * as http from "../../../src/shared/wire/http.ts";
import type { Context, ServerEvent } from "../../../src/shared/wire/index.ts";
import { notFound, refuse } from "../../kit/result.ts";
import { frameFor } from "../deliver/frames.ts";
import { contextOf, fileOf } from "../deliver/lines.ts";
import { rosterOf } from "../deliver/roster.ts";
import { DEFAULT_BUDGET, MAX_BUDGET } from "../deliver/viewer.ts";
import { readSeq } from "../signals.ts";
import { currentFiles, versionsOf } from "../store/files.ts";
import { factsAfter, headSeq } from "../store/log.ts";
import { workspaceOf } from "../store/participants.ts";
import { messagesOf, shownState, stateOf } from "../store/runs.ts";
import { isIn, isOpen, leadOf, members, space } from "../store/spaces.ts";
import type { RunRow, SpaceRow } from "../types.ts";
import { type PageArgs, pageOf, type Reader } from "./index.ts";

/** Unread lines are counted up to here (SPACE-8). */
const MAX_COUNTED = 100;
/** How many facts one call looks through before it hands back what it has. */
const MAX_SCANNED = 2000;

/** A space that the caller may read: its own, or an open one to a member of the workspace (SPACE-6). */
function readable(r: Reader, spaceId: string): SpaceRow {
  const mine = isIn(r.db, spaceId, r.viewer.id);
  const open = !mine && r.viewer.kind === "person" && !r.viewer.guest && isOpen(r.db, spaceId);
  const found = mine || open ? space(r.db, spaceId) : undefined;
  if (!found) notFound("space");
  return found;
}

export function spaces(r: Reader, { cursor, limit }: PageArgs) {
  const seesOpen = r.viewer.kind === "person" && !r.viewer.guest;
  const rows = r.db.all<SpaceRow>(
    `SELECT * FROM spaces WHERE created_seq > ?1 AND (id IN (
       SELECT space_id FROM stays WHERE left_seq IS NULL AND participant_id IN
         (SELECT ?2 UNION ALL SELECT id FROM participants WHERE harness_id = ?2)
     ) OR (?3 AND visibility = 'open')) ORDER BY created_seq LIMIT ?4`,
    Number(cursor ?? 0) || 0,
    r.viewer.id,
    seesOpen ? 1 : 0,
    limit + 1,
  );
  const page = pageOf(rows, limit, (s) => String(s.created_seq));
  return { ...page, items: page.items.map((s) => itemOf(r, s)) };
}

export function spaceItem(r: Reader, args: { space_id: string }) {
  return itemOf(r, readable(r, args.space_id));
}

function itemOf(r: Reader, of: SpaceRow): z.infer<typeof http.spaceItem> {
  const here = members(r.db, of.id);
  const mark = readSeq(r.db, of.id, r.viewer.id) ?? 0;
  const lead = leadOf(of, here);
  const last = r.db.one<{ seq: number | null }>(
    "SELECT max(seq) AS seq FROM lines WHERE space_id = ?",
    of.id,
  );
  return {
    space_id: of.id,
    title: of.title,
    visibility: of.visibility,
    archived: of.archived !== 0,
    ...(of.direct === null ? {} : { direct: of.direct.split(" ") }),
    ...(lead === undefined ? {} : { lead }),
    ceiling_usd: of.ceiling_set ? of.ceiling_usd : workspaceOf(r.db).settings.spend.job_usd,
    members: here.length,
    joined: here.some((m) => r.viewer.own.has(m.id)),
    read_seq: mark,
    ...unreadOf(r, of.id, mark),
    last_seq: last?.seq ?? 0,
  };
}

/** Said lines by others after the mark, counted to 100, and those among them that mention oneself (SPACE-8). */
function unreadOf(r: Reader, spaceId: string, mark: number): { unread: number; mentioned: number } {
  const rows = r.db.all<{ mentions: string }>(
    `SELECT m.mentions FROM lines JOIN log ON log.seq = lines.seq
     JOIN messages m ON m.id = json_extract(log.body, '$.message_id')
     WHERE lines.space_id = ? AND lines.seq > ? AND log.type = 'message.posted' AND log.actor_id <> ?
       AND m.edition = (SELECT max(edition) FROM messages WHERE id = m.id)
     ORDER BY lines.seq DESC LIMIT ?`,
    spaceId,
    mark,
    r.viewer.id,
    MAX_COUNTED,
  );
  const mentioned = rows.filter((row) =>
    (JSON.parse(row.mentions) as string[]).some((id) => r.viewer.own.has(id)),
  );
  return { unread: rows.length, mentioned: mentioned.length };
}

export function memberList(r: Reader, args: { space_id: string }) {
  const of = readable(r, args.space_id);
  const here = members(r.db, of.id);
  const items = rosterOf(r.round, r.viewer, of, here).map((m): z.infer<typeof http.memberItem> => {
    const row = here.find((h) => h.id === m.participant_id);
    return {
      ...m,
      role: row?.space_role ?? "member",
      ...(row?.kind === "person" && row.role !== null ? { workspace_role: row.role } : {}),
      // Whether a person of the team is there, its office says: GET /v1/people.
      ...(row?.office_handle ? {} : { online: r.online(row?.harness_id ?? m.participant_id) }),
    };
  });
  return { items };
}

export interface ContextArgs {
  space_id: string;
  before?: number | undefined;
  lines?: number | undefined;
  chars?: number | undefined;
}

/** The pull route: pages back to the room's first line (WIN-4, WIN-7). */
export function context(r: Reader, args: ContextArgs): { context: Context } {
  const of = readable(r, args.space_id);
  const budget = {
    lines: Math.min(args.lines ?? DEFAULT_BUDGET.lines, MAX_BUDGET.lines),
    chars: Math.min(args.chars ?? DEFAULT_BUDGET.chars, MAX_BUDGET.chars),
  };
  return {
    context: contextOf(r.round, r.viewer, {
      spaceId: of.id,
      before: args.before ?? headSeq(r.db) + 1,
      since: 0,
      budget,
      here: members(r.db, of.id),
    }),
  };
}

export function files(r: Reader, args: PageArgs & { space_id: string; name?: string | undefined }) {
  const of = readable(r, args.space_id);
  const at = Number(args.cursor ?? Number.NaN);
  if (args.name !== undefined) {
    const below = Number.isFinite(at) ? at : Number.MAX_SAFE_INTEGER;
    const page = pageOf(versionsOf(r.db, of.id, args.name, below, args.limit + 1), args.limit, (f) =>
      String(f.version),
    );
    return { ...page, items: page.items.flatMap((f) => fileOf(r.round, r.viewer, f) ?? []) };
  }
  const skip = Number.isFinite(at) && at > 0 ? at : 0;
  const rows = currentFiles(r.db, of.id, skip + args.limit + 1).slice(skip);
  const page = pageOf(rows, args.limit, () => String(skip + args.limit));
  return { ...page, items: page.items.flatMap((f) => fileOf(r.round, r.viewer, f) ?? []) };
}

export function runs(r: Reader, args: PageArgs & { space_id: string }) {
  const of = readable(r, args.space_id);
  const rows = r.db.all<RunRow>(
    "SELECT * FROM runs WHERE space_id = ? AND started_seq < ? ORDER BY started_seq DESC LIMIT ?",
    of.id,
    Number(args.cursor ?? Number.NaN) || Number.MAX_SAFE_INTEGER,
    args.limit + 1,
  );
  const page = pageOf(rows, args.limit, (row) => String(row.started_seq));
  return { ...page, items: page.items.map((row) => runItem(r, row)) };
}

function runItem(r: Reader, row: RunRow): z.infer<typeof http.runItem> {
  return {
    run_id: row.id,
    agent_id: row.agent_id,
    message_ids: messagesOf(r.db, row),
    state: shownState(stateOf(r.db, row, r.round.now)),
    ...(row.outcome === null ? {} : { outcome: row.outcome as "done" }),
    ...(row.step === null ? {} : { step: row.step }),
    started_at: new Date(row.started_at).toISOString(),
    ...(row.ended_at === null ? {} : { ended_at: new Date(row.ended_at).toISOString() }),
    ...(row.cost_micros === null ? {} : { cost_usd: row.cost_micros / 1_000_000 }),
  };
}

export interface EventsArgs {
  after: number;
  space_id?: string | undefined;
  limit: number;
}

/** The same frames as the socket's, page by page (CONN-12, HTTP-3). */
export function events(
  r: Reader,
  args: EventsArgs,
): { events: ServerEvent[]; head_seq: number; next_after: number } {
  const head = headSeq(r.db);
  if (args.after > head)
    refuse(
      "invalid",
      "after is beyond the head of the log. Start from head_seq of GET /v1/events?after=0&limit=1.",
      {
        details: [{ path: "after", message: `is beyond ${head}` }],
      },
    );
  const found: ServerEvent[] = [];
  let at = args.after;
  for (let scanned = 0; scanned < MAX_SCANNED && found.length < args.limit && at < head; ) {
    const rows = factsAfter(r.db, at, 200);
    for (const row of rows) {
      at = row.seq;
      scanned += 1;
      if (args.space_id !== undefined && row.space_id !== args.space_id) continue;
      const frame = frameFor(r.round, r.viewer, row);
      if (frame) found.push(frame);
      if (found.length === args.limit) break;
    }
    if (rows.length === 0) break;
  }
  return { events: found, head_seq: head, next_after: at };
}
