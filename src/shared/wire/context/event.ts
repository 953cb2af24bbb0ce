/** The events of a context stream (STREAM-1). */
import * as z from "zod";
import { instant } from "../envelope.ts";
import { contextItem, modelUsage, offset } from "./item.ts";

const reason = z.string().min(1).max(2000);
const ofRequest = offset.describe("The offset of the request that it ends.");

/** Every type of event and its payload. A settlement of what is not open is `conflict` (STREAM-1). */
export const STREAM_PAYLOADS = {
  "context-item": contextItem,
  "llm-request-requested": z
    .object({
      trigger: offset.describe("The offset of the item that asks for it."),
      deadline: instant.describe("When it expires (REQ-5)."),
    })
    .describe("A model is asked. What it sees is the history up to this event (REQ-2)."),
  "llm-request-succeeded": z
    .object({
      requestOffset: ofRequest,
      usage: modelUsage.optional(),
      calls: z
        .array(z.string().max(100))
        .max(1000)
        .optional()
        .describe("The ids of the calls in the answer, `exe_<request offset>_<n>` (CTX-9)."),
    })
    .describe("It was answered; the answer stands before it in the same batch (REQ-3)."),
  "llm-request-failed": z
    .object({ requestOffset: ofRequest, reason })
    .describe("It failed. It is tried again, three attempts in all (REQ-4)."),
  "llm-request-cancelled": z
    .object({ requestOffset: ofRequest })
    .describe("It was given up, as at its deadline (REQ-5)."),
  "stream-paused": z.object({ reason }).describe("No request is opened any more (REQ-6)."),
  "stream-resumed": z.object({}).describe("Requests are opened again (REQ-6)."),
  "context-item-redacted": z
    .object({ offset: offset.describe("The offset of an item, or of one of its updates.") })
    .describe("The item's words and files were taken away, from every place where they were (STREAM-5)."),
} as const;
export type StreamEventType = keyof typeof STREAM_PAYLOADS;
export type StreamPayloads = { [T in StreamEventType]: z.infer<(typeof STREAM_PAYLOADS)[T]> };
export const STREAM_EVENT_TYPES = Object.keys(STREAM_PAYLOADS) as StreamEventType[];

/** Whether a type is one of these (STREAM-1). */
export function isStreamEventType(type: string): type is StreamEventType {
  return Object.hasOwn(STREAM_PAYLOADS, type);
}

/** The writer's name for one event of a stream: the same key and body again is the same event (STREAM-1). */
export const eventKey = z
  .string()
  .min(1)
  .max(200)
  .describe("The writer's name for this event: the same key and body again is the same event.");

function stored<const T extends StreamEventType>(type: T) {
  return z.object({
    offset: offset.describe("Its place in the stream: increasing, with gaps."),
    type: z.literal(type),
    payload: STREAM_PAYLOADS[type],
    at: instant.describe("When it was appended."),
    idempotencyKey: eventKey.optional(),
  });
}

/** An event as it is read and followed (STREAM-2). A reader passes over types that it does not know (CTX-1). */
export const streamEvent = z
  .discriminatedUnion("type", [
    stored("context-item"),
    stored("llm-request-requested"),
    stored("llm-request-succeeded"),
    stored("llm-request-failed"),
    stored("llm-request-cancelled"),
    stored("stream-paused"),
    stored("stream-resumed"),
    stored("context-item-redacted"),
  ])
  .meta({ description: "One event of a context stream, as it is read (STREAM-2).", type: "object" });
export type StreamEventRead = z.infer<typeof streamEvent>;
