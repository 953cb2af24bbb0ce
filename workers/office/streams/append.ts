/**
 * The one way into a stream (STREAM-1, STREAM-4), from a request, from another part of the office, from the driver:
 * who may write it is decided and stamped, repeats are answered, the batch is judged as a whole, and what it ends is
 * told to the hooks. All of it within the caller's transaction.
 */
import { canonicalJson } from "../../../src/shared/rules/canonical.ts";
import { judge, type NewEvent } from "../../../src/shared/rules/context/settle.ts";
import { isCompaction } from "../../../src/shared/rules/context/state.ts";
import { spelled, stamp, type Writer } from "../../../src/shared/rules/context/trust.ts";
import { byteLength } from "../../../src/shared/rules/text.ts";
import { APPEND_LIMITS, type AppendEvent } from "../../../src/shared/wire/context/http.ts";
import type { Refusal } from "../../../src/shared/wire/errors.ts";
import { notFound, Refused, refuse } from "../../kit/result.ts";
import type { Desk } from "../desk.ts";
import { tellHooks } from "./ended.ts";
import { nameOf } from "./paths.ts";
import { redact } from "./redact.ts";
import { keep, stateAtHead, withWords } from "./states.ts";
import { eventOfKey, insertEvent, makeStream, mustExist, streamId } from "./store.ts";

export const OFFICE: Writer = { kind: "office" };
/** One event, so that what followers are sent fits a frame of 1 MiB with what stands around it. */
const MAX_EVENT_BYTES = APPEND_LIMITS.bytes - 65_536;

/** An event and in whose name it is written: a token may write as its person and as the platform in one batch. */
export interface Given {
  event: AppendEvent;
  writer: Writer;
  /** Whose keys its key is among: left out, the writer's. */
  sender?: string;
}

/**
 * Appends a batch to a stream of this office, all or nothing, and hands back an offset for each event: that of an
 * older one where the same writer sent the same event under the same key (STREAM-1). Throws `Refused`.
 */
export function appendTo(
  desk: Desk,
  path: string,
  events: readonly AppendEvent[],
  by: Writer = OFFICE,
): number[] {
  return appendAll(
    desk,
    path,
    events.map((event) => ({ event, writer: by })),
  );
}

/** The same, each event in the name that goes with it. */
export function appendAll(desk: Desk, path: string, given: readonly Given[]): number[] {
  const { db, streams } = desk;
  const name = nameOf(path);
  if (name?.handle !== desk.handle) notFound("stream");
  const item = name.item ?? "";
  mustExist(db, item);
  if (given.length === 0 || given.length > APPEND_LIMITS.events)
    refuse("invalid", `Append 1 to ${APPEND_LIMITS.events} events at once.`);

  const stamped = given.map(({ event, writer, sender = spelled(writer) ?? "" }, index) => ({
    event: stampedBy(event, writer, path, index),
    writer,
    sender,
  }));
  const stream = streamId(db, item) ?? makeStream(db, item);
  const before = stateAtHead(db, streams, stream);
  const offsets: number[] = [];
  const fresh: Fresh[] = [];
  const keyed = new Map<string, NewEvent>();
  let head = before.state.head;
  for (const [index, { event, writer, sender }] of stamped.entries()) {
    const { idempotencyKey: idem } = event;
    const name = idem === undefined ? undefined : `${sender}\n${idem}`;
    const inBatch = name === undefined ? undefined : keyed.get(name);
    const known =
      inBatch ?? (idem === undefined ? undefined : repeated(eventOfKey(db, stream, sender, idem)));
    if (known) {
      mustBeSame(known, event, index);
      offsets.push(known.offset);
      continue;
    }
    head += 1;
    const made: NewEvent = { ...event, offset: head };
    if (name !== undefined) keyed.set(name, made);
    fresh.push({ event: made, writer, sender, index });
    offsets.push(head);
  }
  if (fresh.length === 0) return offsets;

  // An answer that came before its settlement is looked into: its words are read again (CTX-9).
  const { open } = before.state;
  let state = withWords(db, stream, before.state, ({ offset }) => offset === open?.answer);
  for (const run of runsOf(fresh)) {
    const [{ writer }] = run;
    const judged = judge(
      state,
      run.map(({ event }) => event),
      desk.now,
      writer,
      path,
    );
    if (!judged.ok) refused(judged.refusal, run[judged.index]?.index ?? 0);
    state = judged.state;
  }
  for (const { event, sender } of fresh) {
    const { offset, type, payload, idempotencyKey: idem } = event;
    const itemKey =
      event.type === "context-item" && !isCompaction(event.payload) ? event.payload.key : undefined;
    insertEvent(db, stream, {
      offset,
      type,
      payload: JSON.stringify(payload),
      at: desk.now,
      sender,
      idem,
      itemKey,
    });
    if (event.type === "context-item-redacted") redact(db, stream, event.payload.offset);
  }
  keep(db, streams, stream, state, before);
  streams.touched.add(item);
  streams.undriven.add(item);
  const batch = fresh.map(({ event }) => event);
  tellHooks(desk, { stream: name, id: stream }, before.state, batch, state);
  return offsets;
}

type Fresh = Required<Given> & { event: NewEvent; index: number };

/** Neighbours in one name: each group is judged as its writer's. */
function runsOf(fresh: readonly Fresh[]): [Fresh, ...Fresh[]][] {
  const runs: [Fresh, ...Fresh[]][] = [];
  for (const one of fresh) {
    const last = runs.at(-1);
    if (last && spelled(last[0].writer) === spelled(one.writer)) last.push(one);
    else runs.push([one]);
  }
  return runs;
}

function stampedBy(event: AppendEvent, writer: Writer, path: string, index: number): AppendEvent {
  const stamped = stamp(event, writer, path);
  if (!stamped.ok) refused(stamped.refusal, index);
  if (byteLength(JSON.stringify(stamped.event.payload)) > MAX_EVENT_BYTES)
    refused({ code: "too_large", message: `An event is at most ${MAX_EVENT_BYTES} bytes.` }, index);
  return stamped.event;
}

/** A refusal of the whole batch, which names the event that it is about. */
function refused(refusal: Refusal, index: number): never {
  throw new Refused({ details: [{ path: `events.${index}`, message: refusal.message }], ...refusal });
}

interface Known {
  offset: number;
  type: string;
  /** Undefined: it was redacted, and what it was is not known any more (STREAM-5). */
  payload: unknown;
}

function repeated(row: ReturnType<typeof eventOfKey>): Known | undefined {
  return (
    row && { offset: row.offset, type: row.type, payload: row.redacted ? undefined : JSON.parse(row.payload) }
  );
}

function mustBeSame(known: Known, event: AppendEvent, index: number): void {
  if (known.payload === undefined) return;
  if (known.type === event.type && canonicalJson(known.payload) === canonicalJson(event.payload)) return;
  refused(
    {
      code: "conflict",
      message: `The idempotencyKey of event ${index} was used for another one, at offset ${known.offset}. Give each event its own.`,
    },
    index,
  );
}
