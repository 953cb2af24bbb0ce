import * as z from "zod";
import { id } from "./ids.ts";

/** An instant, ISO 8601 in UTC. */
export const instant = z.iso.datetime({ offset: false });

/** Who an event is attributed to; the server fills it in (ENV-2, ENV-5). */
export const actor = z.object({
  kind: z.enum(["person", "harness", "agent", "system"]),
  /** The participant's id, or `system`. */
  id: z.string(),
  /** For an agent: the harness that it speaks through. */
  harness_id: z.string().optional(),
});
export type Actor = z.infer<typeof actor>;

/** A position in the workspace's log (ENV-3). */
export const seq = z.int().nonnegative();

/** What every event has in common (ENV-1). */
export const envelope = {
  v: z.literal(1),
  id: id("evt"),
  ts: instant,
  workspace_id: id("ws"),
  space_id: id("spc").optional(),
  run_id: id("run").optional(),
  seq: seq.optional(),
  idempotency_key: z.string().min(1).max(200).optional(),
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

/** A verb: an event that a client sends and the log keeps, so that it needs a key (ENV-4). */
export function verb<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  const idempotency_key = z.string().min(1).max(200);
  const shape: unknown = { v, type: z.literal(type), ...rest, idempotency_key, ...fields };
  return z.object(shape as VerbShape<T, S>);
}

/** An ephemeral client frame: `ack`, `read`, `typing`. Not logged, so it needs no key (LOG-2). */
export function signal<const T extends string, S extends z.ZodRawShape>(type: T, fields: S) {
  return z.object({ v, type: z.literal(type), id: id("evt").optional(), ...fields });
}
