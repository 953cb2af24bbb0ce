/** The frame of the agent protocol, version 3 (OFF-1): `{"id","replyTo"?,"type","payload"}`. */
import * as z from "zod";

export const PROTOCOL_VERSION = 3;
/** The largest frame, in bytes of UTF-8 (OFF-1). */
export const MAX_FRAME_BYTES = 1_048_576;
/** Close codes: the first three are the contract's, the others are ours (OFF-5, OFF-6). */
export const CLOSE = {
  auth_failed: 4401,
  replaced: 4409,
  version_mismatch: 4426,
  /** Nothing was heard for three heartbeats. */
  silent: 4408,
  /** The team's config changed: connect again for the new one. */
  restart: 1012,
  /** Too many connections have said no hello: try again (OFF-2). */
  crowded: 1013,
  /** Too much was sent before the welcome (OFF-2). */
  hasty: 1008,
} as const;

/** Which code when: OFF-4. */
export const agentErrorCode = z.enum([
  "malformed",
  "unknown_type",
  "invalid_message",
  "unauthenticated",
  "auth_failed",
  "version_mismatch",
  "replaced",
  "unknown_item",
  "not_found",
  "invalid",
  "unsupported",
  "failed",
]);
export type AgentErrorCode = z.infer<typeof agentErrorCode>;

const frameId = z.string().min(1).max(200);

/** What every frame has, before its payload is looked at. */
export const anyFrame = z.object({
  id: frameId,
  replyTo: frameId.optional(),
  type: z.string().min(1).max(100),
  payload: z.record(z.string(), z.unknown()),
});
export type AnyFrame = z.infer<typeof anyFrame>;

/** The schema of one message's whole frame. */
export function frame<const T extends string, S extends z.ZodRawShape>(type: T, fields: S, about: string) {
  return z
    .object({ id: frameId, replyTo: frameId.optional(), type: z.literal(type), payload: z.object(fields) })
    .describe(about);
}
