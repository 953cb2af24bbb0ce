import * as z from "zod";
import { id } from "./ids.ts";

/** An instant, ISO 8601 in UTC. */
export const instant = z.iso.datetime({ offset: false });

/** Who an event is attributed to; the server fills it in (ENV-2, ENV-5). */
export const actor = z
  .object({
    kind: z.enum(["person", "harness", "agent", "system"]),
    id: z.string().describe("The participant's id, or `system`."),
    harness_id: z.string().optional().describe("For an agent: the harness that runs it."),
  })
  .meta({
    id: "Actor",
    description: "Who did it. A harness may claim one of its own agents here; all else is filled in.",
  });
export type Actor = z.infer<typeof actor>;

/** A position in the workspace's log (ENV-3). */
export const seq = z.int().nonnegative();

const place = seq.describe("Its place in the workspace's log.");
const key = z
  .string()
  .min(1)
  .max(200)
  .describe("The sender's name for this write: the same key and content again is the same write.");

/** What every event has in common (ENV-1). */
export const envelope = {
  v: z.literal(1),
  id: id("evt").describe("The event's own id; whoever sends it mints it, and it stays the same on a replay."),
  ts: instant.describe("When the server took it."),
  workspace_id: id("ws"),
  space_id: id("spc").optional().describe("The space it belongs to."),
  run_id: id("run").optional().describe("The run it belongs to."),
  seq: place.optional(),
  idempotency_key: key.optional(),
  actor,
};

type Envelope = typeof envelope;
/** What a field replaces of the envelope is its own: `space_id` is required where a verb says so. */
type EventShape<T extends string, S extends z.ZodRawShape> = Omit<Envelope, keyof S> & {
  type: z.ZodLiteral<T>;
} & S;
type VerbShape<T extends string, S extends z.ZodRawShape> = Omit<Envelope, keyof S | "idempotency_key"> & {
  type: z.ZodLiteral<T>;
  idempotency_key: z.ZodString;
} & S;

const { v, ...rest } = envelope;

/** An event that the server sends: the envelope, its type, and its own fields. */
export function event<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  const shape: unknown = { v, type: z.literal(type), ...rest, ...fields };
  return z.object(shape as EventShape<T, S>);
}

/** A fact: an event that the log keeps, so that it has a place there (LOG-1). */
export function fact<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  return event(type, { seq: place, ...fields });
}

/** A verb: an event that a client sends and the log keeps, so that it needs a key (ENV-4). */
export function verb<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  const shape: unknown = { v, type: z.literal(type), ...rest, idempotency_key: key, ...fields };
  return z.object(shape as VerbShape<T, S>);
}

/** An ephemeral client frame: `ack`, `read`, `typing`. Not logged, so it needs no key (LOG-2). */
export function signal<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  return z.object({ v, type: z.literal(type), id: id("evt").optional(), ...fields });
}
