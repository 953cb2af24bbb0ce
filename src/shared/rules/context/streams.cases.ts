/** Streams that the tests of the context share: whole and broken items, and logs as offices and attackers write them. */
import * as fc from "fast-check";
import type { ContextItem } from "../../wire/context/item.ts";
import { apply } from "./reduce.ts";
import { empty, type StreamEvent } from "./state.ts";

export const START = Date.UTC(2026, 0, 1);
export const iso = (ms: number): string => new Date(ms).toISOString();
export const person = { type: "user", origin: "web" } as const;
export const agent = { type: "agent", path: "/people/alex" } as const;

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
/** Without the keys that are undefined: as JSON has it. */
export const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const actors = fc.constantFrom<ContextItem["actor"]>(
  undefined,
  person,
  { type: "user", origin: "mcp" },
  agent,
  { type: "script", executionId: "exe_3_1" },
  { type: "slack", userId: "U1" },
  { type: "telegram" },
  { type: "email", address: "a@example.com" },
  { type: "github", login: "octo" },
  { type: "integration", name: "tracker" },
);
const refs = fc.array(
  fc.constantFrom<NonNullable<ContextItem["refs"]>[number]>(
    { type: "user", userId: "usr_1" },
    { type: "event", streamPath: "/people/alex", offset: 4 },
    { type: "event", streamPath: "/people/alex", offset: 4, eventType: "context-item" },
    { type: "file", path: "att_1" },
    { type: "git-commit", repoPath: "/r", commitOid: "abc" },
  ),
  { maxLength: 2 },
);
const files = fc.array(
  fc.record({
    contentType: fc.constantFrom("image/png", "text/plain"),
    filename: fc.string(),
    path: fc.string(),
    size: fc.nat(),
    url: fc.string(),
  }),
  { maxLength: 2 },
);
const behaviours = fc.constantFrom(
  "dont-trigger-request",
  "interrupt-current-request",
  "after-current-request",
);
/** An offset near those that a short log has. */
const near = fc.integer({ min: 1, max: 60 });

/** Any item that fits the schema. */
export const item: fc.Arbitrary<ContextItem> = fc
  .record({
    role: fc.constantFrom("system", "developer", "user", "assistant"),
    content: fc.string({ maxLength: 12, unit: "binary" }),
    key: optional(fc.constantFrom("a", "b", "c", "exe_3_1", "__proto__")),
    files: optional(files),
    refs: optional(refs),
    actor: actors,
    llmRequestPolicy: optional(behaviours.map((behaviour) => ({ behaviour }))),
    llmRequestOffset: fc.option(near, { nil: undefined, freq: 1 }),
    compaction: fc.option(
      near.map((replacesHistoryThrough) => ({ replacesHistoryThrough })),
      { nil: undefined, freq: 8 },
    ),
  })
  .map((made) => asJson(made) as ContextItem);

/** JSON of any kind, which may come close to an item. */
export const broken: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.constant(undefined),
  fc
    .tuple(item, fc.constantFrom("role", "content", "key", "actor", "extra", "__proto__"), fc.jsonValue())
    .map(
      ([whole, key, value]) =>
        JSON.parse(
          `${JSON.stringify(whole).slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(value)}}`,
        ) as unknown,
    ),
);

/** What a log says; `aim` false: of something that has moved on, or was never there. */
type Act =
  | { do: "item"; item: ContextItem }
  | { do: "open"; deadline: number }
  | { do: "answer"; item: ContextItem; calls: number }
  | { do: "end"; type: "succeeded" | "failed" | "cancelled"; reason: string; usage: boolean }
  | { do: "result"; behaviour: string }
  | { do: "compact"; below: number; content: string }
  | { do: "pause"; reason: string }
  | { do: "resume" }
  | { do: "redact"; back: number }
  | { do: "other"; type: string; payload: unknown };

const weighted = <T>(weights: Record<string, number>, of: { [kind: string]: fc.Arbitrary<T> }) =>
  fc.oneof(
    ...Object.entries(weights).map(([kind, weight]) => ({ weight, arbitrary: of[kind] as fc.Arbitrary<T> })),
  );
const said = <const D extends Act["do"], R extends object>(
  what: D,
  fields: { [K in keyof R]: fc.Arbitrary<R[K]> },
) => fc.record(fields).map((rest) => ({ do: what, ...rest }) as unknown as Act);

const keys = optional(fc.constantFrom("a", "b", "c"));
/** What asks for a request, as nearly all items do. */
const asking = fc
  .record({
    role: fc.constantFrom("user" as const, "developer" as const),
    content: fc.string(),
    key: keys,
    actor: fc.constantFrom<ContextItem["actor"]>(person, person, agent, undefined),
    llmRequestPolicy: fc.constantFrom(undefined, undefined, undefined, {
      behaviour: "interrupt-current-request" as const,
    }),
  })
  .map((made) => asJson(made) as ContextItem);

const act: fc.Arbitrary<Act> = weighted<Act>(
  {
    asks: 6,
    item: 2,
    open: 6,
    answer: 5,
    end: 3,
    result: 4,
    compact: 2,
    pause: 1,
    resume: 1,
    redact: 1,
    other: 1,
  },
  {
    asks: said("item", { item: asking }),
    item: said("item", { item }),
    open: said("open", { deadline: fc.constantFrom(600_000, 600_000, 600_000, 300) }),
    answer: said("answer", { item, calls: fc.integer({ min: 0, max: 2 }) }),
    end: said("end", {
      type: fc.constantFrom("succeeded" as const, "failed" as const, "failed" as const, "cancelled" as const),
      reason: fc.constantFrom("429", "429", "context_full"),
      usage: fc.boolean(),
    }),
    result: said("result", { behaviour: behaviours }),
    compact: said("compact", { below: fc.nat(20), content: fc.string() }),
    pause: said("pause", { reason: fc.constantFrom("stop", "stop", "turns", "lunch") }),
    resume: fc.constant({ do: "resume" }),
    redact: said("redact", { back: fc.nat(6) }),
    other: said("other", {
      type: fc.constantFrom(
        "context-item",
        "llm-request-requested",
        "stream-paused",
        "moon-phase",
        "toString",
      ),
      payload: broken,
    }),
  },
);

/** A log with gaps between its offsets, about what an office, an agent and whoever has an old database write. */
export const log: fc.Arbitrary<StreamEvent[]> = fc
  .array(
    fc.record({
      act,
      gap: fc.integer({ min: 1, max: 3 }),
      pause: fc.nat(400),
      aim: fc.constantFrom(true, true, true, true, true, true, true, false),
    }),
    { maxLength: 60, size: "max" },
  )
  .map(written);

/** The acts as events, each aimed by what the stream has come to. */
function written(acts: readonly { act: Act; gap: number; pause: number; aim: boolean }[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  let state = empty();
  let offset = 0;
  let at = START;
  const add = (type: string, payload: unknown) => {
    const event = asJson({ offset, type, payload, at });
    events.push(event);
    state = apply(state, event);
    offset += 1;
  };
  for (const { act: one, gap, pause, aim } of acts) {
    offset += gap;
    at += pause;
    const request = (aim ? state.open?.offset : undefined) ?? Math.max(state.covered, 1);
    switch (one.do) {
      case "item":
        add("context-item", one.item);
        break;
      case "open":
        add("llm-request-requested", {
          trigger: (aim ? state.pending?.offset : undefined) ?? Math.max(1, offset - 2),
          deadline: iso(at + one.deadline),
        });
        break;
      case "answer": {
        const calls = Array.from({ length: one.calls }, (_, i) => `exe_${request}_${i + 1}`);
        add("context-item", { ...one.item, role: "assistant", llmRequestOffset: request });
        if (one.calls > 0) add("llm-request-succeeded", { requestOffset: request, calls });
        break;
      }
      case "end": {
        const usage =
          one.usage && one.type === "succeeded" ? { inputTokens: 900, outputTokens: 30 } : undefined;
        const reason = one.type === "failed" ? one.reason : undefined;
        add(`llm-request-${one.type}`, { requestOffset: request, usage, reason });
        break;
      }
      case "result": {
        const id = state.calls.find(({ result }) => (result === null) === aim)?.id ?? `exe_${request}_1`;
        add("context-item", {
          role: "developer",
          content: '{"ok":true,"output":1}',
          key: id,
          actor: { type: "script", executionId: id },
          llmRequestPolicy: { behaviour: one.behaviour },
        });
        break;
      }
      case "compact":
        add("context-item", {
          role: "developer",
          content: one.content,
          compaction: { replacesHistoryThrough: Math.max(1, offset + 1 - one.below) },
        });
        break;
      case "pause":
        add("stream-paused", { reason: one.reason });
        break;
      case "resume":
        add("stream-resumed", {});
        break;
      case "redact":
        add("context-item-redacted", {
          offset: (aim ? state.items.at(-1 - one.back)?.offset : undefined) ?? Math.max(1, offset - one.back),
        });
        break;
      case "other":
        add(one.type, one.payload);
        break;
    }
  }
  return events;
}
