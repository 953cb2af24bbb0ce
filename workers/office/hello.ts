/**
 * The first frame of an agent's socket (OFF-2). One reading, and one set of words, for the Office and for the
 * gateway, which answers for persons that are not there: whoever asks cannot tell the two apart.
 */
import { type AgentPayload, CLOSE, PROTOCOL_VERSION } from "../../src/shared/wire/agent/index.ts";
import { type Answer, errorAnswer, FrameRefused, payloadOf, readFrame } from "./frames.ts";
import { AgentRefused } from "./handler.ts";

/** How long a socket may be silent before its hello, ms (OFF-2). */
export const HELLO_MS = 10_000;

/** What ends a connection before it began. */
export interface NoWelcome {
  ok: false;
  answer: Answer;
  replyTo?: string | undefined;
  close: number;
  reason: string;
}
export type FirstFrame = { ok: true; id: string; hello: AgentPayload<"hello"> } | NoWelcome;

/** Reads the first frame; nothing but a right hello of our version goes on (OFF-2). */
export function firstFrame(data: string | ArrayBuffer): FirstFrame {
  try {
    const frame = readFrame(data);
    if (frame.type !== "hello") return noWelcome("unauthenticated", "The first frame is hello.", frame.id);
    const { protocolVersion } = frame.payload;
    if (Number.isInteger(protocolVersion) && protocolVersion !== PROTOCOL_VERSION)
      return noWelcome(
        "version_mismatch",
        `This office speaks version ${PROTOCOL_VERSION}. Bring the agent to it.`,
        frame.id,
      );
    return { ok: true, id: frame.id, hello: payloadOf("hello", frame) };
  } catch (error) {
    if (!(error instanceof AgentRefused)) throw error;
    const code = error.code === "malformed" ? "unauthenticated" : error.code;
    const replyTo = error instanceof FrameRefused ? error.replyTo : undefined;
    return { ...noWelcome(code, error.message, replyTo), reason: "the first frame must be hello" };
  }
}

/** A token that is not of this person, or of nobody: alike (OFF-2). */
export function badToken(handle: string, replyTo: string): NoWelcome {
  return noWelcome(
    "auth_failed",
    `This token is not ${handle}'s, or no longer valid. Ask for a new one.`,
    replyTo,
  );
}

/** The office, or whoever follows its streams, runs this person's agent: no other takes their work (CTX-7). */
export function runByOffice(handle: string, replyTo: string): NoWelcome {
  const said = noWelcome(
    "unsupported",
    `${handle}'s runtime is resident or stream: the office takes their work itself. Give them another runtime in the team's config to connect an agent.`,
    replyTo,
  );
  return { ...said, close: CLOSE.replaced, reason: "the office runs this agent" };
}

/** No hello in time (OFF-2). */
export function noHello(): NoWelcome {
  const said = noWelcome("unauthenticated", "No hello came within 10 seconds. Connect and say it first.");
  return { ...said, reason: "no hello in time" };
}

/** More came before the welcome than is kept (OFF-2). */
export function tooHasty(replyTo: string): NoWelcome {
  return {
    ok: false,
    answer: errorAnswer("failed", "Too much was sent before the welcome. Wait for it after hello."),
    replyTo,
    close: CLOSE.hasty,
    reason: "too much before the welcome",
  };
}

function noWelcome(code: Parameters<typeof errorAnswer>[0], message: string, replyTo?: string): NoWelcome {
  const close = code === "version_mismatch" ? CLOSE.version_mismatch : CLOSE.auth_failed;
  return { ok: false, answer: errorAnswer(code, message), replyTo, close, reason: code };
}
