/** One frame of a welcomed agent: what it is, whether it came before, and its one answer (OFF-1, OFF-4, OFF-8). */
import { createHash } from "node:crypto";
import { isWithin, MOST_ANSWER } from "../../src/shared/rules/frame-fit.ts";
import { byteLength } from "../../src/shared/rules/text.ts";
import {
  AGENT_MESSAGES,
  type AgentErrorCode,
  type AgentMessageType,
  type AgentPayload,
  type AgentRequest,
  ANSWERS,
  type AnyFrame,
  anyFrame,
  MAX_FRAME_BYTES,
} from "../../src/shared/wire/agent/index.ts";
import { canonicalJson } from "../kit/canonical.ts";
import { Refused } from "../kit/result.ts";
import { checked, idOf, isRecord, type Json, parseJson } from "../room/parse.ts";
import type { Desk, Look } from "./desk.ts";
import { AgentRefused, type AnyHandler, type FrameOf } from "./handler.ts";
import { HANDLERS } from "./protocol.ts";
import { parts } from "./turns.ts";

/** An answer before it is a frame. */
export interface Answer {
  type: AgentMessageType;
  payload: object;
}

export function errorAnswer(code: AgentErrorCode, message: string): Answer {
  return { type: "error", payload: { code, message } };
}

/** Reads one text frame; refuses what is none, with the id to reply to where there is one (OFF-4). */
export function readFrame(data: string | ArrayBuffer): AnyFrame {
  if (typeof data !== "string")
    throw new AgentRefused("malformed", "Frames are text. Send one JSON object in a text frame.");
  if (
    data.length > MAX_FRAME_BYTES ||
    (data.length * 3 > MAX_FRAME_BYTES && byteLength(data) > MAX_FRAME_BYTES)
  )
    throw new AgentRefused("malformed", "A frame is at most 1 MiB. Send less, or a link to it.");
  const json = recordOf(data);
  // Any string is a query (RECALL-1): of what is no text nothing can be found, so it stands for a space.
  if (json["type"] === "recall" && isRecord(json["payload"]) && typeof json["payload"]["query"] === "string")
    json["payload"]["query"] = json["payload"]["query"].toWellFormed().replaceAll("\0", " ");
  return fitting(anyFrame, json, answerTo(json));
}

function recordOf(data: string): Json {
  let json: unknown;
  try {
    json = parseJson(data);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const deep = orNothing(data);
    // It is a request all the same: whoever waits for its answer must hear of it (OFF-1).
    if (isRecord(deep)) throw new FrameRefused("invalid_message", error.message, answerTo(deep));
    throw new AgentRefused("malformed", error.message);
  }
  if (!isRecord(json)) throw new AgentRefused("malformed", "A frame is one JSON object.");
  return json;
}

/** Reads what nests deep, to look at its first level and no further; undefined for what is no JSON. */
function orNothing(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** The id that an answer names: of a frame without a usable one it names none. */
function answerTo(json: Json): string | undefined {
  return idOf(json) || undefined;
}

/** A refusal that can name the frame that it answers. */
export class FrameRefused extends AgentRefused {
  readonly replyTo: string | undefined;
  constructor(code: AgentErrorCode, message: string, replyTo: string | undefined) {
    super(code, message);
    this.replyTo = replyTo;
  }
}

function fitting<S extends Parameters<typeof checked>[0]>(
  schema: S,
  value: unknown,
  replyTo: string | undefined,
) {
  try {
    return checked(schema, value);
  } catch (error) {
    if (error instanceof Refused) throw new FrameRefused("invalid_message", error.message, replyTo);
    throw error;
  }
}

/** The payload of a frame of a known type; what does not fit is `invalid_message`, naming the path (OFF-4). */
export function payloadOf<T extends AgentMessageType>(type: T, frame: AnyFrame): AgentPayload<T> {
  const parsed = fitting(AGENT_MESSAGES[type], frame, frame.id) as { payload: AgentPayload<T> };
  return parsed.payload;
}

/** What of a frame decides whether it is the same again. */
export function hashOf(type: string, payload: unknown): string {
  return createHash("sha256")
    .update(`${type}\n${canonicalJson(payload)}`)
    .digest("hex")
    .slice(0, 32);
}

/** Ids of a connection's frames are known for so many of them (OFF-1). */
const KEPT = 5000;

/** What came before under an id of this connection. */
function earlier(
  desk: Desk,
  connection: string,
  id: string,
): { hash: string; answer: string | null } | undefined {
  return desk.db.one("SELECT hash, answer FROM answers WHERE connection = ? AND id = ?", connection, id);
}

function keep(desk: Desk, connection: string, frame: FrameOf, answer: Answer | undefined): void {
  desk.db.run(
    "INSERT OR REPLACE INTO answers (connection, id, hash, answer) VALUES (?, ?, ?, ?)",
    connection,
    frame.id,
    frame.hash,
    answer === undefined ? null : JSON.stringify(answer),
  );
  const n = desk.db.one<{ n: number }>("SELECT last_insert_rowid() AS n")?.n ?? 0;
  if (n % 500 === 0) desk.db.run("DELETE FROM answers WHERE n <= ?", n - KEPT);
}

/** Whether a row keeps a frame of this id. */
export function wasKept(db: Desk["db"], connection: string, id: string): boolean {
  return db.one("SELECT 1 FROM answers WHERE connection = ? AND id = ?", connection, id) !== undefined;
}

export interface FrameNeeds {
  /** Runs one piece of work in a transaction, if this connection still stands; `then` sends what it answers. */
  work(work: (desk: Desk) => Answer, then: (answer: Answer) => void): void;
  look(): Look;
  connection: string;
  fault(error: unknown): void;
}

/** A request that was read, and how it is run. */
export interface Asked {
  type: AgentRequest;
  frame: FrameOf;
  payload: object;
  handler: AnyHandler<AgentRequest>;
}

/** Sorts a frame: a request to answer, or nothing (an answer of the agent to something of ours). */
export function sort(frame: AnyFrame): Asked | { error: AgentPayload<"error">; replyTo: string } | undefined {
  const { type } = frame;
  if (!Object.hasOwn(AGENT_MESSAGES, type))
    throw new FrameRefused(
      "unknown_type",
      `There is no message of the type ${JSON.stringify(type)}.`,
      frame.id,
    );
  if (type === "ack" || type === "pong") return undefined;
  if (type === "error") {
    // An error is never answered with one: two sides that do not understand each other would never end.
    const parsed = AGENT_MESSAGES.error.safeParse(frame);
    return parsed.success && frame.replyTo !== undefined
      ? { error: parsed.data.payload, replyTo: frame.replyTo }
      : undefined;
  }
  if (type === "hello")
    throw new FrameRefused(
      "invalid",
      "This connection has said hello already. Say it once, first.",
      frame.id,
    );
  if (!Object.hasOwn(ANSWERS, type))
    throw new FrameRefused("invalid", `Only the office sends ${type}.`, frame.id);
  const asked = type as Exclude<AgentRequest, "hello">;
  const handler = HANDLERS[asked];
  if (!handler) throw new FrameRefused("unsupported", `This office does not take ${type}.`, frame.id);
  return {
    type: asked,
    payload: payloadOf(asked, frame),
    frame: { id: frame.id, hash: hashOf(type, frame.payload) },
    handler: handler as unknown as AnyHandler<AgentRequest>,
  };
}

const ANOTHER = "This id was used for another frame of this connection. Give each frame an id of its own.";

const TOO_LONG = "The answer has more than the 1 MiB of a frame. Ask for less at a time.";

/** Answers a request: what came before as before, everything else by its handler (OFF-1). */
export function answer(need: FrameNeeds, asked: Asked, then: (answer: Answer) => void): Promise<void> | void {
  const { handler, frame, payload, type } = asked;
  const run = (desk: Desk, found: unknown): Answer => {
    const before = handler.kept ? earlier(desk, need.connection, frame.id) : undefined;
    if (before && before.hash !== frame.hash) return errorAnswer("invalid", ANOTHER);
    if (before?.answer) return JSON.parse(before.answer) as Answer;
    parts.heard(desk);
    const made = handler.take(desk, payload, frame, found);
    if (!isWithin(made, MOST_ANSWER)) throw new AgentRefused("invalid", TOO_LONG);
    const done: Answer = { type: ANSWERS[type], payload: made };
    if (handler.kept && !before) keep(desk, need.connection, frame, handler.writes ? done : undefined);
    return done;
  };
  /** A refusal undid everything; the answer to a write is kept all the same, so that a repeat gets it too. */
  const refused = (error: unknown): void => {
    if (!(error instanceof AgentRefused)) {
      need.fault(error);
      return then(errorAnswer("failed", "Something went wrong here and nothing was changed. Try again."));
    }
    const said = errorAnswer(error.code, error.message);
    need.work((desk) => {
      parts.heard(desk);
      error.aside?.(desk);
      if (handler.kept && handler.writes && error.code !== "failed") keep(desk, need.connection, frame, said);
      return said;
    }, then);
  };
  const finish = (found: unknown): void => {
    try {
      need.work((desk) => run(desk, found), then);
    } catch (error) {
      refused(error);
    }
  };
  if (!handler.before) return finish(undefined);
  // A repeat of a write does not ask anybody again.
  const known = repeated(need, asked);
  if (known) return then(known);
  return handler.before(need.look(), payload).then(finish, refused);
}

function repeated(need: FrameNeeds, { frame, handler }: Asked): Answer | undefined {
  const before = need
    .look()
    .db.one<{ hash: string; answer: string | null }>(
      "SELECT hash, answer FROM answers WHERE connection = ? AND id = ?",
      need.connection,
      frame.id,
    );
  if (before && before.hash !== frame.hash) return errorAnswer("invalid", ANOTHER);
  return before?.answer && handler.writes ? (JSON.parse(before.answer) as Answer) : undefined;
}
