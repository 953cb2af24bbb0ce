/**
 * The first frame of an agent's socket (OFF-2). One reading for the Office and for the gateway, which answers for
 * persons that are not there: whoever asks cannot tell the two apart.
 */

import { hello } from "../wire/agent/connection.ts";
import { MAX_FRAME_BYTES, PROTOCOL_VERSION } from "../wire/agent/frame.ts";
import type { AgentPayload } from "../wire/agent/index.ts";

/** How long a socket may be silent before its hello, ms (OFF-2). */
export const HELLO_WITHIN_MS = 10_000;

/** What is said to who does not begin with hello, or with none that can be read (OFF-2). */
export const NO_HELLO = `The first frame is hello: {"id","type":"hello","payload":{"person","token","protocolVersion":${PROTOCOL_VERSION},"agentVersion"}}.`;
/** What is said to a bad token, another's handle, and a person that is not there: alike (OFF-2). */
export const BAD_TOKEN =
  "This is not a token of that person. Make one: bullpen token create --person HANDLE.";

export type FirstFrame =
  | { ok: true; id: string; hello: AgentPayload<"hello"> }
  | { ok: false; message: string; replyTo?: string };

/** Reads the first frame; anything but a whole hello is refused with what to send (OFF-2). */
export function readFirstFrame(data: string | ArrayBuffer): FirstFrame {
  if (typeof data !== "string" || data.length > MAX_FRAME_BYTES) return { ok: false, message: NO_HELLO };
  let given: unknown;
  try {
    given = JSON.parse(data);
  } catch {
    return { ok: false, message: NO_HELLO };
  }
  const parsed = hello.safeParse(given);
  if (parsed.success) return { ok: true, id: parsed.data.id, hello: parsed.data.payload };
  const id = idOf(given);
  const [fault] = isHello(given) ? parsed.error.issues : [];
  const says = fault ? `${fault.path.map(String).join(".")}: ${fault.message}. ${NO_HELLO}` : NO_HELLO;
  return { ok: false, message: says, ...(id === undefined ? {} : { replyTo: id }) };
}

function isHello(given: unknown): boolean {
  return typeof given === "object" && given !== null && "type" in given && given.type === "hello";
}

/** The frame's id where it has a usable one: what the answer's `replyTo` names (OFF-1). */
function idOf(given: unknown): string | undefined {
  if (typeof given !== "object" || given === null || !("id" in given)) return undefined;
  const parsed = hello.shape.id.safeParse(given.id);
  return parsed.success ? parsed.data : undefined;
}
