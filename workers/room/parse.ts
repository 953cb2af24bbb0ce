/** From hostile text to a stamped event of a known type (ENV-2, ENV-6, LOG-7). */
import type * as z from "zod";
import { isWellFormedText } from "../../src/shared/rules/text.ts";
import {
  DELIVERIES,
  FACTS,
  SERVER_FRAMES,
  SIGNALS,
  type Signal,
  type SignalType,
  VERBS,
  type Verb,
  type VerbType,
} from "../../src/shared/wire/index.ts";
import { refuse } from "../kit/result.ts";

/** The largest frame that is read or sent (CONN-1, WIN-8). */
export const FRAME_BYTES = 1024 * 1024;
/** The most events in one array (HTTP-1, BATCH-1). */
export const MAX_BATCH = 100;

export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Nothing of the wire nests deeper. What walks a value, ours or the platform's, may then use the stack. */
const MAX_DEPTH = 64;

/** Reads JSON, a frame's or a body's. */
export function parseJson(text: string): unknown {
  if (nestsDeeper(text, MAX_DEPTH))
    refuse("malformed", `This nests deeper than ${MAX_DEPTH} levels. Send it flatter, or as text.`);
  try {
    return JSON.parse(text);
  } catch {
    refuse("malformed", "This is not JSON. Send one JSON object, in a text frame or as the body.");
  }
}

/** Whether brackets outside of strings stand deeper than that. Of what is no JSON it may say either. */
function nestsDeeper(text: string, limit: number): boolean {
  if (text.length <= 2 * limit) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 0x22) {
      // To the quote that ends the string: one with an even number of backslashes before it.
      do i = text.indexOf('"', i + 1);
      while (i !== -1 && isEscaped(text, i));
      if (i === -1) return false;
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > limit) return true;
    } else if (char === 0x5d || char === 0x7d) depth -= 1;
  }
  return false;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
}

/** The frame's id where it has a usable one: what an error's `of` names. */
export function idOf(frame: unknown): string | undefined {
  return isRecord(frame) && typeof frame.id === "string" && frame.id.length <= 200 ? frame.id : undefined;
}

/** Whether a frame is one that nothing keeps: ack, read, typing. */
export function isSignal(frame: unknown): boolean {
  return isRecord(frame) && typeof frame.type === "string" && Object.hasOwn(SIGNALS, frame.type);
}

/** A person may send this fact's name for the verb behind it (LOG-2). */
export const ROUTED = "approval.routed";

/** Sorts a frame by its type, or says what is wrong with the type. */
export function typeOf(frame: unknown): { verb: VerbType } | { signal: SignalType } {
  if (!isRecord(frame)) refuse("malformed", "A frame is one JSON object with a type.");
  const { type } = frame;
  if (typeof type !== "string")
    refuse("malformed", "The frame has no type. Give it one, for example message.post.");
  if (Object.hasOwn(VERBS, type)) return { verb: type as VerbType };
  if (Object.hasOwn(SIGNALS, type)) return { signal: type as SignalType };
  if (type === ROUTED) return { verb: "approval.route" };
  if (type === "hello") refuse("conflict", "This connection has said hello already. Send it once, first.");
  if (Object.hasOwn(FACTS, type) || Object.hasOwn(DELIVERIES, type) || Object.hasOwn(SERVER_FRAMES, type))
    refuse("forbidden", `Only the server sends ${type}. Send the verb instead, for example message.post.`);
  refuse(
    "unknown_type",
    `There is no event of the type ${JSON.stringify(type.slice(0, 80))}. See /docs for the list.`,
  );
}

/** What happens in a run names it: where none is named the answer says so before anything else (ENV-7). */
const OF_A_RUN: ReadonlySet<string> = new Set([
  "approval.request",
  "message.heard",
  "run.step",
  "run.usage",
  "run.end",
]);

interface Stamp {
  workspaceId: string;
  ts: string;
}

/**
 * A verb, parsed and stamped. What the server fills in is put there before the schema is applied, so that a
 * sender's value is replaced and never refused (ENV-2).
 */
export function parseVerb<T extends VerbType>(type: T, frame: Json, stamp: Stamp): Verb<T> {
  if (OF_A_RUN.has(type) && (frame.run_id === undefined || frame.run_id === null))
    refuse("run_required", `${type} needs a run_id. Start a run first: run.start.`);
  const stamped = {
    v: 1,
    ...frame,
    type,
    ts: stamp.ts,
    workspace_id: stamp.workspaceId,
    actor: { kind: "system", id: "system" },
    seq: undefined,
  };
  return checked(VERBS[type] as z.ZodType, stamped) as Verb<T>;
}

/** A frame that is not logged; its `type` tells which. */
export function parseSignal(type: SignalType, frame: Json): Signal {
  return checked(SIGNALS[type] as z.ZodType<Signal>, { v: 1, ...frame });
}

/** Applies a schema; what does not fit is `invalid`, path by path. */
export function checked<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const details = parsed.error.issues
      .slice(0, 20)
      .map(({ path, message }) => ({ path: path.map(String).join("."), message }));
    const first = details[0];
    refuse("invalid", `${first?.path || "The body"} is not right: ${first?.message ?? "see the schema"}.`, {
      details,
    });
  }
  const fault = illFormed(parsed.data, "");
  if (fault !== undefined)
    refuse(
      "invalid",
      `${fault} holds characters that are no text (a lone surrogate or NUL). Take them out.`,
      {
        details: [{ path: fault, message: "must be well-formed Unicode without NUL" }],
      },
    );
  return parsed.data;
}

/** The path of the first string that storage could not give back as it came. */
function illFormed(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return isWellFormedText(value) ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const fault = illFormed(inner, path ? `${path}.${key}` : key);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
