/** The guard over agents talking to agents, kept up message by message (GUARD). */
import {
  afterAct,
  afterMessage,
  afterWork,
  EMPTY_EXCHANGE,
  EXCHANGE_FROM,
  type ExchangeState,
  isRepeat,
  judge,
  REPEAT_LOOKS_BACK,
} from "../../../src/shared/rules/guard.ts";
import type { Db } from "../../kit/db.ts";
import { headSeq, linesBefore } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import type { FileRef, PauseCause, PostedBody, StoredExchange, StoredGuard } from "../types.ts";
import type { Writer } from "../writer.ts";

/** How many lines are looked through for them: the guard pauses long before. */
const MAX_SCANNED = 500;

export interface Act {
  seq: number;
  at: number;
  by: string;
}

/**
 * What a person last did in a space after `known`. Posts are found among the lines, newest first, so that a
 * post costs no row of its own for it (PERF-1); acts that are no lines are kept.
 */
export function lastAct(db: Db, spaceId: string, known: number): Act | undefined {
  const kept = db.one<Act>("SELECT seq, at, by FROM acts WHERE space_id = ?", spaceId);
  const post = db.one<Act>(
    `SELECT log.seq, log.at, log.actor_id AS by FROM lines JOIN log ON log.seq = lines.seq
     WHERE lines.space_id = ? AND lines.seq > ? AND log.actor_kind = 'person' AND log.type = 'message.posted'
     ORDER BY lines.seq DESC LIMIT 1`,
    spaceId,
    Math.max(known, kept?.seq ?? 0),
  );
  const act = post ?? kept;
  return act && act.seq > known ? act : undefined;
}

/** Keeps an act that the lines do not show (any more): a decision, a resume, a post that is deleted now. */
export function keepAct(db: Db, spaceId: string, act: Act): void {
  db.run(
    `INSERT INTO acts (space_id, seq, at, by) VALUES (?, ?, ?, ?)
     ON CONFLICT (space_id) DO UPDATE SET seq = excluded.seq, at = excluded.at, by = excluded.by
     WHERE excluded.seq > acts.seq`,
    spaceId,
    act.seq,
    act.at,
    act.by,
  );
}

export interface PauseRow {
  space_id: string;
  cause: PauseCause;
  lasting: number;
  told: number;
}

export function pauseOf(db: Db, spaceId: string): PauseRow | undefined {
  return db.one("SELECT * FROM pauses WHERE space_id = ?", spaceId);
}

/** What is stored: the state, and up to where of the log it knows of acts. */
interface Stored {
  state: ExchangeState;
  upto: number;
}

/** The exchange of a space as it stands now: a person's post is applied when it is next looked at. */
export function exchangeOf(db: Db, spaceId: string): Stored {
  const row = db.one<{ state: string }>("SELECT state FROM exchanges WHERE space_id = ?", spaceId);
  const stored: Stored = row ? (JSON.parse(row.state) as Stored) : { state: EMPTY_EXCHANGE, upto: 0 };
  const act = lastAct(db, spaceId, stored.upto);
  return act ? { state: afterAct(stored.state, act), upto: act.seq } : stored;
}

export function keepExchange(db: Db, spaceId: string, state: ExchangeState): void {
  const stored: Stored = { state, upto: headSeq(db) };
  db.run("INSERT OR REPLACE INTO exchanges (space_id, state) VALUES (?, ?)", spaceId, JSON.stringify(stored));
}

export interface Said {
  messageId: string;
  text: string;
  files: readonly FileRef[];
}

export interface Judged {
  held: boolean;
  /** The guard's own pause is due once this message is in (GUARD-7). */
  pause: boolean;
  exchange?: StoredExchange;
  /** What it rested on, to be kept with the message (WHY-1). */
  kept: Pick<PostedBody, "made" | "repeat" | "guard" | "shut">;
}

/**
 * Counts an agent's message and says whether it goes through (GUARD-1 to GUARD-4). `toAgents` false: it is
 * for no agent, and only a new file in it matters.
 */
export function judgeAgentMessage(w: Writer, spaceId: string, said: Said, toAgents: boolean): Judged {
  const { db } = w;
  const fresh = newFile(db, spaceId, said.files);
  if (!toAgents && fresh === undefined) return { held: false, pause: false, kept: {} };
  const stored = exchangeOf(db, spaceId);
  const seq = headSeq(db) + 1;
  const by = w.actor.id;
  let state = stored.state;
  let kept: Judged["kept"] = {};
  if (fresh !== undefined) {
    // The message that is the work counts 0, but what only a person resets goes on counting (GUARD-7).
    const total = state.total + (toAgents ? 1 : 0);
    state = { ...afterWork(state, { seq, at: w.now, by, made: "file", file: fresh }), total };
    kept = { made: "file" };
  } else {
    const repeat = repeatOf(w, spaceId, said, state.since.seq);
    if (repeat) kept = { repeat: repeat.kind };
    state = afterMessage(state, {
      message_id: said.messageId,
      seq,
      at: w.now,
      by,
      ...(repeat ? { repeat } : {}),
    });
  }
  keepExchange(db, spaceId, state);
  if (!toAgents) return { held: false, pause: false, kept };
  const pause = pauseOf(db, spaceId);
  const paused = pause !== undefined;
  const verdict = judge(state, w.workspace.settings.guard, paused);
  return {
    held: verdict.held,
    pause: verdict.pause && !paused,
    kept: { ...kept, guard: guardOf(w, state, verdict.circling, pause) },
    ...(state.count >= EXCHANGE_FROM ? { exchange: factsOf(w, state, verdict, paused) } : {}),
  };
}

function guardOf(
  w: Writer,
  state: ExchangeState,
  circling: boolean,
  pause: PauseRow | undefined,
): StoredGuard {
  const { stop, hold } = w.workspace.settings.guard;
  return {
    count: state.count,
    total: state.total,
    since_seq: state.since.seq,
    since: state.since.kind,
    ...(circling ? { circling } : {}),
    stop,
    hold,
    ...(pause ? { pause: pause.cause } : {}),
  };
}

function factsOf(
  w: Writer,
  state: ExchangeState,
  verdict: ReturnType<typeof judge>,
  paused: boolean,
): StoredExchange {
  const { since } = state;
  return {
    count: state.count,
    since: {
      kind: since.kind,
      seq: since.seq,
      ...(since.at === undefined ? {} : { at: new Date(since.at).toISOString() }),
      ...(since.by === undefined ? {} : { by: since.by }),
      ...(since.made === undefined ? {} : { made: since.made }),
      ...(since.file === undefined ? {} : { file: since.file }),
    },
    minutes: Math.max(0, Math.floor((w.now - (since.at ?? w.workspace.created_at)) / 60_000)),
    ...(state.person === undefined ? {} : { person: state.person }),
    repeats: state.repeats,
    circling: verdict.circling,
    stage: verdict.stage,
    ...(verdict.allowance === undefined ? {} : { allowance: verdict.allowance }),
    paused,
  };
}

/** The attachment whose bytes are new to the space (GUARD-1); its name stays out of the log (LOG-4). */
function newFile(db: Db, spaceId: string, files: readonly FileRef[]): string | undefined {
  return files.map((file) => fileState(db, spaceId, file)).find((f) => f && !f.known)?.id;
}

function fileState(db: Db, spaceId: string, file: FileRef): { id: string; known: boolean } | undefined {
  const row = db.one<{ sha256: string }>("SELECT sha256 FROM attachments WHERE id = ?", file.attachment_id);
  if (!row) return undefined;
  const known = db.one(
    `SELECT 1 FROM attachments a JOIN attachment_uses u ON u.attachment_id = a.id
     WHERE a.sha256 = ? AND u.space_id = ? LIMIT 1`,
    row.sha256,
    spaceId,
  );
  return { id: file.attachment_id, known: known !== undefined };
}

/** Whether a message says again what was there (GUARD-3). */
function repeatOf(w: Writer, spaceId: string, said: Said, sinceSeq: number) {
  const again = said.files.map((file) => fileState(w.db, spaceId, file)).find((f) => f?.known);
  if (again) return { kind: "file" as const, file: again.id };
  return isRepeat(said.text, ownTexts(w, spaceId, sinceSeq)) ? { kind: "words" as const } : undefined;
}

/** The sender's own last texts since the reset, newest first, read only as far as they are compared. */
function* ownTexts(w: Writer, spaceId: string, sinceSeq: number): Generator<string> {
  let scanned = 0;
  let yielded = 0;
  for (const row of linesBefore(w.db, spaceId, headSeq(w.db) + 1, sinceSeq)) {
    scanned += 1;
    if (row.type === "message.posted" && row.actor_id === w.actor.id) {
      const text = wordsOf(w.db, (JSON.parse(row.body) as PostedBody).message_id)?.text;
      if (text) {
        yielded += 1;
        yield text;
      }
    }
    if (scanned >= MAX_SCANNED || yielded >= REPEAT_LOOKS_BACK) return;
  }
}
