/**
 * What a viewer is sent of a fact: a pure reading of the log, so that live, replay and `GET /v1/events` hand
 * over the same (CONN-12). Undefined: nothing.
 */
import type { Actor, ParticipantKind, ServerEvent } from "../../../src/shared/wire/index.ts";
import { attachment, attachmentsOf } from "../store/messages.ts";
import { type MemberRow, membersSince, wereThere } from "../store/spaces.ts";
import type { LogRow, PostedBody } from "../types.ts";
import { askFields, askForHarness, seesAsApprover } from "./asks.ts";
import { deliveryOf, handedOf } from "./delivery.ts";
import { kindFor, type Round, senderOf, type Viewer } from "./viewer.ts";

/** A fact as this viewer is sent it, if it is sent at all. */
export function frameFor(round: Round, viewer: Viewer, row: LogRow): ServerEvent | undefined {
  return viewer.kind === "person" ? forPerson(round, viewer, row) : forHarness(round, viewer, row);
}

/** A frame as text. What all people are sent alike is written out once a round. */
export function frameText(round: Round, viewer: Viewer, row: LogRow): string | undefined {
  const frame = frameFor(round, viewer, row);
  if (!frame) return undefined;
  return viewer.kind === "person"
    ? round.once(`text ${row.seq}`, () => JSON.stringify(frame))
    : JSON.stringify(frame);
}

/** Facts for a person: those of their spaces, and the workspace's own. The bytes are the same for everybody. */
function forPerson(round: Round, viewer: Viewer, row: LogRow): ServerEvent | undefined {
  if (!personSees(round, viewer, row)) return undefined;
  return round.once(`fact ${row.seq}`, () => factOf(round, viewer, row));
}

function personSees(round: Round, viewer: Viewer, row: LogRow): boolean {
  if (row.space_id !== null) {
    if (round.present(row.space_id).has(viewer.id)) return true;
    if (seesAsApprover(round, viewer, row)) return true;
    return row.type === "member.left" && bodyOf(row).participant_id === viewer.id;
  }
  // A notice without a space is somebody's own: a sign-in, say.
  if (row.type === "notice.posted") return (bodyOf(row).about as string[]).includes(viewer.id);
  if (!viewer.guest) return true;
  // A guest knows of those they share a space with, and of nothing else of the workspace.
  const about = bodyOf(row).participant_id ?? bodyOf(row).agent_id;
  if (typeof about !== "string") return false;
  return about === viewer.id || sharesSpace(round, viewer.id, about);
}

/** Whether two participants are in one space now (SPACE-8). */
export function sharesSpace(round: Pick<Round, "db">, a: string, b: string): boolean {
  return (
    round.db.one(
      `SELECT 1 FROM stays x JOIN stays y ON y.space_id = x.space_id AND y.left_seq IS NULL
       WHERE x.participant_id = ? AND x.left_seq IS NULL AND y.participant_id = ? LIMIT 1`,
      a,
      b,
    ) !== undefined
  );
}

function forHarness(round: Round, viewer: Viewer, row: LogRow): ServerEvent | undefined {
  const { space_id } = row;
  if (space_id === null) return undefined;
  // How its asks end reaches a harness wherever its agents are by then.
  const ask = askForHarness(round, viewer, row);
  if (ask) return { ...factHead(round, viewer, row), ...ask.body, type: ask.type ?? row.type } as ServerEvent;
  const present = round.present(space_id);
  const here = [...viewer.own].some((id) => present.has(id));
  const body = bodyOf(row);
  if (!here) {
    const left = row.type === "member.left" && viewer.own.has(String(body.participant_id));
    return left ? factOf(round, viewer, row) : undefined;
  }
  switch (row.type) {
    case "message.posted":
      return deliveryOf(round, viewer, row);
    case "message.handed":
      return handedOf(round, viewer, row);
    case "run.paused":
    case "run.resumed":
    case "run.stopped":
      return viewer.own.has(String(body.agent_id)) ? wishOf(round, row) : undefined;
    case "message.edited":
    case "message.deleted":
    case "file.transcribed": {
      const words = round.words(String(body.message_id));
      const said = words && postedRow(round, words.seq);
      return said && wasSent(round, viewer, said) ? factOf(round, viewer, row) : undefined;
    }
    case "space.created":
    case "space.renamed":
    case "space.archived":
    case "space.unarchived":
    case "space.claimed":
    case "space.set":
    case "member.joined":
    case "member.left":
    case "member.role_changed":
      return factOf(round, viewer, row);
    case "notice.posted":
      return (body.about as string[]).some((id) => viewer.own.has(id))
        ? factOf(round, viewer, row)
        : undefined;
    default:
      return undefined;
  }
}

function postedRow(round: Round, seq: number): LogRow | undefined {
  return round.once(`row ${seq}`, () =>
    round.db.one<LogRow>(
      "SELECT seq, id, type, at, space_id, run_id, actor_kind, actor_id, harness_id, body FROM log WHERE seq = ?",
      seq,
    ),
  );
}

/** Whether a harness was sent a message: one of its own was in the space, and it did not say it itself (NEW-1). */
export function wasSent(round: Round, viewer: Viewer, row: LogRow): boolean {
  const here = membersAt(round, row);
  if (!here.some((m) => viewer.own.has(m.id))) return false;
  if (row.harness_id !== viewer.id) return true;
  const body = bodyOf(row) as unknown as PostedBody;
  const others = [
    ...body.addressed_to,
    ...(body.held_from ?? []),
    ...(body.turns ?? []).map(([agent]) => agent),
  ];
  return others.some((id) => id !== row.actor_id && viewer.own.has(id));
}

/** Who was in the space of a fact when it was appended. The stays are read once for all of a replay. */
export function membersAt(round: Round, row: LogRow): MemberRow[] {
  const spaceId = row.space_id ?? "";
  const kept = round.once(`stays ${spaceId}`, () => ({
    from: Number.POSITIVE_INFINITY,
    rows: [] as MemberRow[],
  }));
  if (row.seq < kept.from) {
    kept.rows = membersSince(round.db, spaceId, row.seq);
    kept.from = row.seq;
  }
  return wereThere(kept.rows, row.seq);
}

export function bodyOf(row: LogRow): Record<string, unknown> {
  return JSON.parse(row.body) as Record<string, unknown>;
}

export function envelopeOf(round: Round, row: LogRow) {
  return {
    v: 1 as const,
    id: row.id,
    ts: new Date(row.at).toISOString(),
    workspace_id: round.workspaceId,
    ...(row.space_id === null ? {} : { space_id: row.space_id }),
    ...(row.run_id === null ? {} : { run_id: row.run_id }),
    seq: row.seq,
  };
}

const WISH = { "run.paused": "run.pause", "run.resumed": "run.resume", "run.stopped": "run.stop" } as const;

/** What a run's harness is asked to do: the fact under the verb's name (TURN-4). */
function wishOf(round: Round, row: LogRow): ServerEvent {
  const { v, ...envelope } = envelopeOf(round, row);
  const type = WISH[row.type as keyof typeof WISH];
  const actor = { kind: row.actor_kind, id: row.actor_id };
  return { v, type, ...envelope, actor, agent_id: bodyOf(row).agent_id } as ServerEvent;
}

/** A fact as it is said: the log's body, with the words as they are now. */
function factOf(round: Round, viewer: Viewer, row: LogRow): ServerEvent {
  const fact = factHead(round, viewer, row);
  // Why it was decided so is asked for, and not sent (WHY-1).
  const { because: _because, ...body } = bodyOf(row);
  if (row.type === "message.handed") return { ...fact, ...handedFields(row) } as ServerEvent;
  if (row.type === "message.posted") return { ...fact, ...postedFields(round, viewer, row) } as ServerEvent;
  if (row.type === "message.edited") return { ...fact, ...editedFields(round, row) } as ServerEvent;
  if (row.type === "file.transcribed") return { ...fact, ...transcribedFields(round, row) } as ServerEvent;
  if (row.type === "member.joined") body.kind = kindFor(viewer, body.kind as ParticipantKind);
  return { ...fact, ...askFields(round, row, body) } as ServerEvent;
}

function factHead(round: Round, viewer: Viewer, row: LogRow) {
  const { v, ...envelope } = envelopeOf(round, row);
  return { v, type: row.type, ...envelope, actor: actorFor(viewer, row) };
}

function actorFor(viewer: Viewer, row: LogRow): Actor {
  const asHarness = viewer.kind === "harness" && !viewer.declared && row.actor_kind === "agent";
  return {
    kind: asHarness ? "harness" : row.actor_kind,
    id: row.actor_id,
    ...(row.actor_kind === "agent" && row.harness_id !== null && !asHarness
      ? { harness_id: row.harness_id }
      : {}),
  };
}

function postedFields(round: Round, viewer: Viewer, row: LogRow) {
  const body = bodyOf(row) as unknown as PostedBody;
  const words = round.words(body.message_id);
  const gone = !words || words.text === null;
  const files = gone ? [] : attachmentsOf(round.db, words);
  const mentions = gone ? [] : (JSON.parse(words.mentions) as string[]);
  return {
    message_id: body.message_id,
    from: senderOf(round, viewer, row.actor_id, row.space_id ?? "", body),
    text: gone ? "" : words.text,
    ...(files.length > 0 ? { attachments: files } : {}),
    ...(mentions.length > 0 ? { mentions } : {}),
    ...(body.reply_to === undefined ? {} : { reply_to: body.reply_to }),
    ...(body.session_ref === undefined ? {} : { session_ref: body.session_ref }),
    addressed_to: body.addressed_to,
    ...(body.held ? { held: true } : {}),
    ...(!gone && words.edition > 1 ? { edited_at: new Date(words.at).toISOString() } : {}),
    ...(gone ? { deleted: true } : {}),
  };
}

/** What people are told of a hand-over; why and what for stand in `GET /v1/why`. */
function handedFields(row: LogRow) {
  const { message_id, takers, lead } = bodyOf(row);
  return { message_id, takers, ...(lead === true ? { lead } : {}) };
}

function editedFields(round: Round, row: LogRow) {
  const messageId = String(bodyOf(row).message_id);
  const words = round.words(messageId);
  const gone = !words || words.text === null;
  return {
    message_id: messageId,
    text: gone ? "" : words.text,
    mentions: gone ? [] : (JSON.parse(words.mentions) as string[]),
    edited_at: new Date(row.at).toISOString(),
    ...(gone ? { deleted: true } : {}),
  };
}

/** A transcript goes with its message: of a deleted one nothing is said, wherever else the file may be. */
function transcribedFields(round: Round, row: LogRow) {
  const { message_id, attachment_id } = bodyOf(row) as { message_id: string; attachment_id: string };
  const words = round.words(message_id);
  const gone = !words || words.text === null;
  const transcript = gone ? undefined : attachment(round.db, attachment_id)?.transcript;
  return { message_id, attachment_id, transcript: transcript ?? "" };
}
