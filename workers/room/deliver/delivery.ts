/** message.new and message.overheard: a message as one harness is handed it (NEW, REPLY, WIN, NOTE). */

import { byteLength } from "../../../src/shared/rules/text.ts";
import { cutLine } from "../../../src/shared/rules/window.ts";
import type {
  Attachment,
  Line,
  MessageNew,
  MessageOverheard,
  ReplyingTo,
  Room,
} from "../../../src/shared/wire/index.ts";
import { FRAME_BYTES } from "../parse.ts";
import { factAt, linesBefore } from "../store/log.ts";
import { attachmentsOf } from "../store/messages.ts";
import type { MemberRow } from "../store/spaces.ts";
import type { HandedBody, LogRow, PostedBody, StoredExchange, StoredSpend, WordsRow } from "../types.ts";
import { exchangeFor } from "./exchange.ts";
import { bodyOf, envelopeOf, membersAt, wasSent } from "./frames.ts";
import { contextOf, lineOf } from "./lines.ts";
import { roomFor } from "./roster.ts";
import { lineFrom, type Round, senderOf, urlFor, type Viewer } from "./viewer.ts";

/** How many lines go with an older message that is answered (REPLY-2). */
const MAX_BEFORE = 3;
/** How many characters of an answered message stay when a frame would be too large. */
const MAX_QUOTED = 1000;
/** The most bytes that "older lines were left out" adds to a note. */
const NOTE_GROWS = 100;
const SYSTEM = { kind: "system", id: "system" } as const;

/** A message as a harness gets it, once, if it does (NEW-1). */
export function deliveryOf(
  round: Round,
  viewer: Viewer,
  row: LogRow,
): MessageNew | MessageOverheard | undefined {
  if (!wasSent(round, viewer, row)) return undefined;
  const body = bodyOf(row) as unknown as PostedBody;
  // A deleted one has nothing to take a turn on; that it was deleted comes as its own event.
  if ((round.words(body.message_id)?.text ?? null) === null) return undefined;
  const takers = body.held ? [] : body.addressed_to.filter((id) => viewer.own.has(id));
  return takers.length > 0
    ? messageNew(round, viewer, row, body, takers)
    : messageOverheard(round, viewer, row, body);
}

function messageOverheard(round: Round, viewer: Viewer, row: LogRow, body: PostedBody): MessageOverheard {
  return {
    type: "message.overheard",
    ...common(round, viewer, row, body, []),
    ...(body.held ? { held: true as const } : {}),
  };
}

function messageNew(
  round: Round,
  viewer: Viewer,
  row: LogRow,
  body: PostedBody,
  takers: string[],
): MessageNew {
  const message = common(round, viewer, row, body, takers);
  return turnOf(round, viewer, message, {
    row,
    takers,
    since: body.since?.[viewer.id] ?? 0,
    spend: body.spend,
    exchange: body.exchange,
    addressedTo: body.addressed_to,
  });
}

/** A hand-over: the message's words under the hand-over's own id and seq, as of then (NEW-9). */
export function handedOf(round: Round, viewer: Viewer, row: LogRow): MessageNew | undefined {
  const handed = bodyOf(row) as unknown as HandedBody;
  const takers = handed.takers.filter((id) => viewer.own.has(id));
  const words = round.words(handed.message_id);
  const said = words && factAt(round.db, words.seq);
  if (takers.length === 0 || !said || words.text === null) return undefined;
  const posted = bodyOf(said) as unknown as PostedBody;
  const { turns: _turns, ...body } = posted;
  const message = {
    ...common(round, viewer, said, { ...body, addressed_to: handed.takers }, takers),
    ...envelopeOf(round, row),
  };
  const frame = turnOf(round, viewer, message, {
    row,
    takers,
    since: handed.since?.[viewer.id] ?? 0,
    spend: handed.spend,
    exchange: posted.exchange,
    addressedTo: handed.takers,
    without: said.seq,
    lead: handed.lead === true,
  });
  return { ...frame, handed: true, ...(handed.lead ? { lead: true as const } : {}) };
}

interface TurnFacts {
  /** The delivery's own row: lines below it are its context. */
  row: LogRow;
  takers: string[];
  since: number;
  spend: StoredSpend | undefined;
  exchange: StoredExchange | undefined;
  addressedTo: readonly string[];
  /** The message itself, when it stands among the lines (NEW-9). */
  without?: number;
  lead?: boolean;
}

/** Adds what only a turn has: context, room, exchange, and the lines around an older message it answers. */
function turnOf(round: Round, viewer: Viewer, message: ReturnType<typeof common>, of: TurnFacts): MessageNew {
  const { row, takers } = of;
  const spaceId = row.space_id ?? "";
  const space = round.space(spaceId);
  const here = membersAt(round, row);
  const { budget } = viewer;
  const context =
    budget.lines > 0 && budget.chars > 0
      ? contextOf(round, viewer, {
          spaceId,
          before: row.seq,
          since: of.since,
          budget,
          here,
          without: viewer.own,
          ...(of.without === undefined ? {} : { withoutSeq: of.without }),
          asOf: row.seq,
        })
      : undefined;
  const room: Room | undefined =
    space &&
    roomFor(round, viewer, {
      space,
      here,
      takers,
      truncated: context?.truncated ?? false,
      handedAsLead: of.lead ?? false,
      spend: of.spend,
    });
  const firstLine = context?.lines[0]?.seq ?? row.seq;
  const { replying_to } = message;
  const answered =
    replying_to && replying_to.seq < firstLine
      ? { ...replying_to, ...linesAround(round, viewer, replying_to.seq, spaceId, here) }
      : replying_to;
  const frame: MessageNew = {
    type: "message.new",
    ...message,
    ...(answered ? { replying_to: answered } : {}),
    ...(context ? { context: { ...context, ...(of.spend ? { spend: of.spend } : {}) } } : {}),
    ...(room ? { room } : {}),
    ...(of.exchange ? { exchange: exchangeFor(round, spaceId, of.exchange, of.addressedTo, takers) } : {}),
  };
  return fitted(round, viewer, frame, of, here);
}

/** Takes the oldest lines out until the frame fits, and says so in the notes (WIN-8). */
function fitted(
  round: Round,
  viewer: Viewer,
  frame: MessageNew,
  of: TurnFacts,
  here: readonly MemberRow[],
): MessageNew {
  const { row, takers } = of;
  const { context, replying_to: quote } = frame;
  let over = byteLength(JSON.stringify(frame)) - FRAME_BYTES;
  if (over <= 0) return frame;
  // Each note is about to say that lines are missing.
  over += takers.length * NOTE_GROWS;
  const dropOldest = (lines: Line[]) => {
    while (over > 0 && lines.length > 0) over -= byteLength(JSON.stringify(lines.shift())) + 1;
    return lines;
  };
  // What stands before an answered message is older than the context.
  const before = dropOldest([...(quote?.before ?? [])]);
  const smaller: MessageNew = quote
    ? { ...frame, replying_to: { ...quote, before: before.length > 0 ? before : undefined } }
    : frame;
  if (over <= 0) return smaller;
  if (!context) return hostile(smaller);
  const lines = dropOldest([...context.lines]);
  const space = round.space(row.space_id ?? "");
  return hostile({
    ...smaller,
    context: { ...context, lines, truncated: true, before: lines[0]?.seq ?? row.seq },
    ...(space
      ? {
          room: roomFor(round, viewer, {
            space,
            here,
            takers: of.takers,
            truncated: true,
            handedAsLead: of.lead ?? false,
            spend: of.spend,
          }),
        }
      : {}),
  });
}

/**
 * What is too large without any lines was made to be: words whose every character is escaped, answered by
 * such words, for dozens of agents with the longest names. The words themselves stay whole.
 */
function hostile(frame: MessageNew): MessageNew {
  if (!tooLarge(frame)) return frame;
  const { replying_to: quote, room } = frame;
  const quoted = quote ? { ...frame, replying_to: cutLine(quote, MAX_QUOTED) } : frame;
  if (!tooLarge(quoted) || !room?.rules) return quoted;
  return { ...quoted, room: { ...room, notes: room.rules } };
}

function tooLarge(frame: MessageNew): boolean {
  return byteLength(JSON.stringify(frame)) > FRAME_BYTES;
}

/** What both deliveries have. */
function common(round: Round, viewer: Viewer, row: LogRow, body: PostedBody, takers: string[]) {
  const spaceId = row.space_id ?? "";
  const words = round.words(body.message_id);
  const files = words ? filesOf(round, viewer, words) : [];
  const mentions = words ? (JSON.parse(words.mentions) as string[]) : [];
  const turns = (body.turns ?? [])
    .filter(([agent]) => viewer.own.has(agent) && agent !== row.actor_id && !takers.includes(agent))
    .map(([agent_id, run_id]) => ({ agent_id, run_id }));
  const { v, ...envelope } = envelopeOf(round, row);
  const replyingTo =
    body.reply_to === undefined
      ? undefined
      : replyingToOf(round, viewer, spaceId, body.reply_to, membersAt(round, row));
  return {
    v,
    ...envelope,
    actor: SYSTEM,
    message_id: body.message_id,
    from: senderOf(round, viewer, row.actor_id, spaceId, body),
    text: words?.text ?? "",
    ...(files.length > 0 ? { attachments: files } : {}),
    ...(mentions.length > 0 ? { mentions } : {}),
    ...(body.reply_to === undefined ? {} : { reply_to: body.reply_to }),
    ...(replyingTo ? { replying_to: replyingTo } : {}),
    ...(body.session_ref === undefined ? {} : { session_ref: body.session_ref }),
    addressed_to: body.addressed_to,
    ...(viewer.declared ? { for: takers } : {}),
    ...(turns.length > 0 && !body.held ? { working_turns: turns } : {}),
  };
}

function filesOf(round: Round, viewer: Viewer, words: WordsRow): Attachment[] {
  return attachmentsOf(round.db, words).map((file) => ({
    ...file,
    ...urlFor(round, viewer, file.attachment_id),
  }));
}

/** The message that is answered, as the room reads it now (REPLY-1). */
function replyingToOf(
  round: Round,
  viewer: Viewer,
  spaceId: string,
  messageId: string,
  here: readonly MemberRow[],
): ReplyingTo | undefined {
  const words = round.words(messageId);
  const row = words && factAt(round.db, words.seq);
  if (!words || !row) return undefined;
  const base = {
    seq: row.seq,
    at: new Date(row.at).toISOString(),
    kind: "said" as const,
    from: lineFrom(round, viewer, row.actor_id, spaceId, here),
    message_id: messageId,
  };
  const line = words.text === null ? undefined : lineOf(round, viewer, row, here);
  if (!line) return { ...base, deleted: true };
  const files = filesOf(round, viewer, words);
  return {
    ...line,
    ...base,
    ...(words.edition > 1 ? { edited: true as const } : {}),
    ...(files.length > 0 ? { attachments: files } : {}),
  };
}

/** Up to three lines said just before a message that is older than the context (REPLY-2). */
function linesAround(
  round: Round,
  viewer: Viewer,
  seq: number,
  spaceId: string,
  here: readonly MemberRow[],
): Pick<ReplyingTo, "before"> {
  const lines = [];
  for (const row of linesBefore(round.db, spaceId, seq, 0)) {
    const line = row.type === "message.posted" ? lineOf(round, viewer, row, here) : undefined;
    if (line) lines.push(line);
    if (lines.length === MAX_BEFORE) break;
  }
  return lines.length > 0 ? { before: lines.toReversed() } : {};
}
