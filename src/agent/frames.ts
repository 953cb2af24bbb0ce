/** Frames of the agent protocol as text, both ways: every one is hostile until it is parsed (OFF-1). */
import type * as z from "zod";
import {
  AGENT_MESSAGES,
  type AgentMessageType,
  type AgentPayload,
  type AnyFrame,
  anyFrame,
  MAX_FRAME_BYTES,
} from "../shared/wire/agent/index.ts";
import { OfficeError } from "./errors.ts";

/** A frame of ours, or of the office's once it is parsed. */
export interface Frame {
  id: string;
  replyTo?: string;
  type: string;
  payload: Record<string, unknown>;
}

/** A name for a frame: random, since a repeat after a crash is found by it (OFF-8). */
export function frameId(): string {
  return `frm_${crypto.randomUUID()}`;
}

/** Reads a frame's outer form; undefined for what is none. */
export function readFrame(data: unknown): AnyFrame | undefined {
  if (typeof data !== "string") return undefined;
  try {
    const parsed = anyFrame.safeParse(JSON.parse(data));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** What a message of this type carries, or why it is not one: with the path of the first fault. */
export function readPayload<T extends AgentMessageType>(
  type: T,
  payload: unknown,
): { ok: true; payload: AgentPayload<T> } | { ok: false; fault: string } {
  const parsed = AGENT_MESSAGES[type].shape.payload.safeParse(payload) as z.ZodSafeParseResult<
    AgentPayload<T>
  >;
  if (parsed.success) return { ok: true, payload: parsed.data };
  const [issue] = parsed.error.issues;
  return {
    ok: false,
    fault: `${["payload", ...(issue?.path ?? [])].join(".")}: ${issue?.message ?? "wrong"}`,
  };
}

/** A payload of ours, checked before anybody waits for its answer. */
export function ownPayload<T extends AgentMessageType>(type: T, payload: unknown): AgentPayload<T> {
  const read = readPayload(type, payload);
  if (!read.ok) throw new OfficeError("invalid_message", `${type}: ${read.fault}.`);
  return read.payload;
}

/** The text of a frame; one that the office would not read is refused here, where it can be said of what. */
export function frameText(frame: Frame): string {
  const text = JSON.stringify(frame);
  if (new TextEncoder().encode(text).byteLength > MAX_FRAME_BYTES)
    throw new OfficeError("invalid", `${frame.type} is over 1 MiB: say less.`);
  return text;
}

const CUT = "\n(cut: it was longer)";

/** What no frame may hold, NUL and halves of characters, is replaced. */
export function asText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

/** Text of at most so many bytes of UTF-8: what a message may hold (ITEM-1); a cut says so. */
export function fitted(text: string, mostBytes: number): string {
  const whole = asText(text);
  const bytes = new TextEncoder().encode(whole);
  if (bytes.byteLength <= mostBytes) return whole;
  // A character cut in two at the end is left out.
  return new TextDecoder().decode(bytes.subarray(0, mostBytes - CUT.length), { stream: true }) + CUT;
}
