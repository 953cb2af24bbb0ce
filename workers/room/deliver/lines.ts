/** Lines of a room's history (WIN-3), and the windows cut from them (WIN-1 to WIN-5). */
import { fitWindow } from "../../../src/shared/rules/window.ts";
import type { Context, File, Line } from "../../../src/shared/wire/index.ts";
import { currentFiles, type FileRow } from "../store/files.ts";
import { linesBefore } from "../store/log.ts";
import { attachment, attachmentsOf } from "../store/messages.ts";
import type { MemberRow } from "../store/spaces.ts";
import type { LogRow, PostedBody } from "../types.ts";
import { kindFor, lineFrom, type Round, urlFor, type Viewer } from "./viewer.ts";

/** How many of a room's files go with a context (WIN-5). */
const MAX_FILES = 20;

/** One row of the log as a line; undefined when it is none (any more). */
export function lineOf(
  round: Round,
  viewer: Viewer,
  row: LogRow,
  here: readonly MemberRow[],
): Line | undefined {
  const spaceId = row.space_id ?? "";
  const body = JSON.parse(row.body) as Record<string, unknown>;
  const base = (kind: Line["kind"], who: string): Line => ({
    seq: row.seq,
    at: new Date(row.at).toISOString(),
    kind,
    from: lineFrom(round, viewer, who, spaceId, here),
  });
  switch (row.type) {
    case "message.posted":
      return said(round, base("said", row.actor_id), body as unknown as PostedBody);
    case "member.joined":
      return base("joined", String(body.participant_id));
    case "member.left":
      return base("left", String(body.participant_id));
    case "participant.renamed":
      return {
        ...base("renamed", String(body.participant_id)),
        name: String(body.name),
        previous: String(body.previous),
      };
    case "space.renamed":
      return { ...base("renamed", row.actor_id), title: String(body.title) };
    case "space.archived":
      return base("archived", row.actor_id);
    case "space.unarchived":
      return base("unarchived", row.actor_id);
    default:
      return undefined;
  }
}

function said(round: Round, line: Line, body: PostedBody): Line | undefined {
  const words = round.words(body.message_id);
  if (!words || words.text === null) return undefined;
  const files = attachmentsOf(round.db, words);
  const transcript = files.flatMap((f) => f.transcript ?? []).join("\n");
  return {
    ...line,
    message_id: body.message_id,
    text: words.text,
    ...(transcript ? { transcript } : {}),
    ...(files.length > 0 ? { files: files.map((f) => f.filename) } : {}),
    addressed_to: body.addressed_to,
    ...(body.held ? { held: true as const } : {}),
  };
}

export interface WindowOf {
  spaceId: string;
  /** Lines below this seq … */
  before: number;
  /** … and above this one. */
  since: number;
  budget: { lines: number; chars: number };
  here: readonly MemberRow[];
  /** Whose words are left out: a harness's own (WIN-2). */
  without?: ReadonlySet<string>;
  /** A message that is handed over is no line of its own context (NEW-9). */
  withoutSeq?: number;
}

/** The newest lines that fit, read only as far as they go (LOG-3). */
export function windowOf(round: Round, viewer: Viewer, of: WindowOf): { lines: Line[]; truncated: boolean } {
  function* newestFirst(): Generator<Line> {
    // Several harnesses ask for the same stretch in one round; rows already read are not read again.
    for (const row of shared(round, of.spaceId, of.before)) {
      if (row.seq <= of.since) return;
      if (row.seq === of.withoutSeq) continue;
      if (row.type === "message.posted" && of.without?.has(row.actor_id)) continue;
      const line = lineOf(round, viewer, row, of.here);
      if (line) yield line;
    }
  }
  return fitWindow(newestFirst(), of.budget);
}

/** The lines of a space below a seq, newest first, read once a round and only as far as somebody asks. */
function shared(round: Round, spaceId: string, before: number): Iterable<LogRow> {
  const tape = round.once(`lines ${spaceId} ${before}`, () => ({ rows: [] as LogRow[], done: false }));
  return {
    *[Symbol.iterator]() {
      for (let i = 0; ; i++) {
        if (i === tape.rows.length && !tape.done) readMore(round, tape, spaceId, before);
        const row = tape.rows[i];
        if (!row) return;
        yield row;
      }
    },
  };
}

function readMore(
  round: Round,
  tape: { rows: LogRow[]; done: boolean },
  spaceId: string,
  before: number,
): void {
  const below = tape.rows.at(-1)?.seq ?? before;
  let count = 0;
  for (const row of linesBefore(round.db, spaceId, below, 0)) {
    tape.rows.push(row);
    if (++count === 32) return;
  }
  tape.done = true;
}

/** The context of a message or of the pull route; `asOf` the message's seq (WIN-1, WIN-5, WIN-7). */
export function contextOf(round: Round, viewer: Viewer, of: WindowOf & { asOf?: number }): Context {
  const { lines, truncated } = windowOf(round, viewer, of);
  const files = filesOf(round, viewer, of.spaceId, of.asOf);
  return {
    lines,
    since_seq: of.since,
    truncated,
    before: lines[0]?.seq ?? of.before,
    ...(files.length > 0 ? { files } : {}),
  };
}

export function filesOf(round: Round, viewer: Viewer, spaceId: string, asOf?: number): File[] {
  return round
    .once(`files ${spaceId} ${asOf ?? ""}`, () => currentFiles(round.db, spaceId, MAX_FILES, asOf))
    .flatMap((row) => fileOf(round, viewer, row) ?? []);
}

export function fileOf(round: Round, viewer: Viewer, row: FileRow): File | undefined {
  const facts = attachment(round.db, row.attachment_id);
  const by = round.who(row.by);
  if (!facts || !by) return undefined;
  const { filename: _, transcript: __, attachment_id, ...bytes } = facts;
  return {
    name: row.name,
    version: row.version,
    attachment_id,
    ...bytes,
    by: { id: by.id, kind: kindFor(viewer, by.kind), name: by.name },
    at: new Date(row.at).toISOString(),
    message_id: row.message_id,
    ...(row.replaces === null ? {} : { replaces: row.replaces }),
    ...(viewer.kind === "harness" ? urlFor(round, viewer, attachment_id) : {}),
  };
}
