/** Bodies and answers of a stream's routes and the frames of its socket (STREAM-1, STREAM-2; shapes.md). */
import * as z from "zod";
import { instant } from "../envelope.ts";
import { eventKey, STREAM_PAYLOADS, type StreamEventType, streamEvent } from "./event.ts";
import { contextItem, offset } from "./item.ts";

/** What one append may hold (STREAM-1). */
export const APPEND_LIMITS = { events: 1000, bytes: 1_048_576, contentBytes: 262_144 } as const;

const appended = <const T extends StreamEventType, P extends z.ZodType>(type: T, payload: P) =>
  z.object({ type: z.literal(type), payload, idempotencyKey: eventKey.optional() });

/** One event on its way in. */
export const appendEvent = z.discriminatedUnion("type", [
  appended("context-item", STREAM_PAYLOADS["context-item"]),
  appended("llm-request-requested", STREAM_PAYLOADS["llm-request-requested"]),
  appended("llm-request-succeeded", STREAM_PAYLOADS["llm-request-succeeded"]),
  appended("llm-request-failed", STREAM_PAYLOADS["llm-request-failed"]),
  appended("llm-request-cancelled", STREAM_PAYLOADS["llm-request-cancelled"]),
  appended("stream-paused", STREAM_PAYLOADS["stream-paused"]),
  appended("stream-resumed", STREAM_PAYLOADS["stream-resumed"].default({})),
  appended("context-item-redacted", STREAM_PAYLOADS["context-item-redacted"]),
]);
export type AppendEvent = z.infer<typeof appendEvent>;

/** `POST /v1/streams/<path>`: a batch, all or nothing (STREAM-1). */
export const appendBody = z.object({
  events: z.array(appendEvent).min(1).max(APPEND_LIMITS.events),
});
export const appendAnswer = z.object({
  offsets: z.array(offset).describe("One for each event: positive, increasing, with gaps."),
});

/** `GET /v1/streams/<path>` */
export const streamRead = z.object({
  events: z.array(streamEvent),
  head: z.int().nonnegative().describe("The newest offset; 0 while the stream is empty."),
});

/** `GET …/history`: the reduced items as of an offset (STREAM-2). */
export const historyAnswer = z.object({
  items: z.array(z.object({ offset: offset.describe("Of its latest update."), item: contextItem })),
  covered: z.int().nonnegative().describe("The offset of the newest request; 0 before the first (CTX-2)."),
  pending: z
    .object({
      offset: offset.describe("The newest trigger."),
      external: z.boolean().describe("Whether somebody from outside waits for an answer (CTX-5)."),
      since: instant.describe("When the first input came, or when the next try is due (REQ-1, REQ-4)."),
    })
    .optional(),
  open: z.object({ offset, trigger: offset, deadline: instant }).optional(),
  paused: z.boolean(),
  reason: z.string().optional().describe("Why it is paused."),
});
export type HistoryAnswer = z.infer<typeof historyAnswer>;

/** `openai` is short for its Responses. */
export const promptFormat = z.enum(["openai", "openai-responses", "openai-chat", "anthropic", "items"]);
export type PromptFormat = z.infer<typeof promptFormat>;

/** `GET …/prompt`: the provider's body without model and sampling (RENDER-1). */
export const promptAnswer = z.object({ format: promptFormat, request: z.looseObject({}) });

/** What a follower of `…/live` is sent (STREAM-2). */
export const liveFrame = z.discriminatedUnion("type", [
  z.object({ type: z.literal("event"), event: streamEvent }),
  z.object({ type: z.literal("caught_up"), offset: z.int().nonnegative() }),
  z.object({ type: z.literal("sync"), n: z.int().positive() }),
]);
export type LiveFrame = z.infer<typeof liveFrame>;
