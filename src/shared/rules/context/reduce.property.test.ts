/** What holds of every log (CTX-6). A failure prints its seed; FC_SEED runs that one again. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { STREAM_PAYLOADS, type StreamEventType } from "../../wire/context/event.ts";
import { apply, blank, reduce } from "./reduce.ts";
import { reference } from "./reference.cases.ts";
import { empty, historyOf, isCompaction, type StreamEvent, type StreamState } from "./state.ts";
import { asJson, broken, log } from "./streams.cases.ts";

const seed = Number(process.env["FC_SEED"] ?? Date.now() % 2 ** 31);
console.info(`CTX-6 seed ${seed}`);
const always = (runs: number) => ({ numRuns: runs, seed });

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
/** Everything but how far was read. */
const besides = ({ head: _head, ...rest }: StreamState) => rest;
const isWhole = ({ type, payload }: StreamEvent) =>
  Object.hasOwn(STREAM_PAYLOADS, type) && STREAM_PAYLOADS[type as StreamEventType].safeParse(payload).success;
const cutLog = log.chain((events) => fc.tuple(fc.constant(events), fc.nat(events.length)));

const results = ({ items }: StreamState) =>
  items.filter(({ item }) => item.actor?.type === "script" && item.actor.executionId === item.key);

describe("CTX-6 of every log", () => {
  test("CTX-6 replay equals incremental", () => {
    fc.assert(
      fc.property(log, (events) => {
        expect(events.reduce(apply, empty())).toEqual(reduce(events));
      }),
      always(500),
    );
  });

  test("CTX-6 any prefix and then the rest equals all", () => {
    fc.assert(
      fc.property(cutLog, ([events, cut]) => {
        expect(reduce(events.slice(cut), reduce(events.slice(0, cut)))).toEqual(reduce(events));
      }),
      always(500),
    );
  });

  test("CTX-6 STREAM-3 a snapshot changes nothing, wherever it was taken", () => {
    fc.assert(
      fc.property(cutLog, ([events, cut]) => {
        const snapshot = asJson(reduce(events.slice(0, cut)));
        expect(snapshot).toEqual(reduce(events.slice(0, cut)));
        expect(reduce(events.slice(cut), snapshot)).toEqual(reduce(events));
      }),
      always(500),
    );
  });

  test("CTX-6 STREAM-3 an event that was read already changes nothing", () => {
    fc.assert(
      fc.property(cutLog, ([events, cut]) => {
        const state = reduce(events);
        expect(reduce(events.slice(cut), state)).toEqual(state);
      }),
      always(200),
    );
  });

  test("CTX-6 the state that is given stays as it is", () => {
    fc.assert(
      fc.property(cutLog, ([events, cut]) => {
        const from = frozen(reduce(events.slice(0, cut)));
        const before = asJson(from);
        reduce(frozen(events.slice(cut)), from);
        expect(from).toEqual(before);
      }),
      always(200),
    );
  });

  test("CTX-1 CTX-6 unknown events and broken items change nothing", () => {
    fc.assert(
      fc.property(log, (events) => {
        expect(besides(reduce(events))).toEqual(besides(reduce(events.filter(isWhole))));
      }),
      always(500),
    );
  });

  test("CTX-6 it takes anything for an event, and what it makes of it is JSON", () => {
    const anything = fc.oneof(
      broken,
      fc.record({
        offset: fc.oneof(fc.integer(), broken),
        type: fc.string(),
        payload: broken,
        at: fc.double(),
      }),
      fc.record({
        offset: fc.nat(100),
        type: fc.constantFrom(...Object.keys(STREAM_PAYLOADS)),
        payload: broken,
        at: fc.oneof(fc.nat(), broken),
      }),
    );
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 40 }), (events) => {
        const state = reduce(events as StreamEvent[]);
        expect(asJson(state)).toEqual(state);
      }),
      always(500),
    );
  });

  test("CTX-1 CTX-2 CTX-3 CTX-4 CTX-5 the reducer is the rules, word by word", () => {
    fc.assert(
      fc.property(log, (events) => {
        const state = reduce(events);
        const { covered, failures, open, pending, paused } = state;
        const shown = {
          covered,
          failures,
          open: open?.offset,
          pending: pending?.offset,
          paused: paused !== null,
        };
        expect({ items: historyOf(state), ...shown }).toEqual(reference(events));
      }),
      always(700),
    );
  });
});

describe("CTX-4 of every log", () => {
  test("CTX-4 CTX-9 a barrier parts no call from its result, and drops none that is still without one", () => {
    fc.assert(
      fc.property(log, (events) => {
        const before = events.map((_event, i) => reduce(events.slice(0, i + 1)));
        for (const [i, { barrier, items, calls }] of before.entries()) {
          const seen = new Set(items.map(({ offset }) => offset));
          for (const call of calls) {
            if (call.result === null) expect(call.answer).toBeGreaterThan(barrier?.through ?? 0);
            else expect(seen.has(call.answer) && seen.has(call.result)).toBe(true);
          }
          // Calls that are no longer looked after are gone with their results.
          const gone = before[i - 1]?.calls.filter(({ id }) => !calls.some((call) => call.id === id)) ?? [];
          for (const call of gone)
            expect([seen.has(call.answer), seen.has(call.result ?? 0)]).toEqual([false, false]);
        }
      }),
      always(300),
    );
  });

  test("CTX-4 at most one summary is seen; system items and what came after the barrier stay", () => {
    fc.assert(
      fc.property(log, (events) => {
        let before = empty();
        for (const event of events) {
          const after = apply(before, event);
          if (after.barrier?.offset === event.offset) {
            const { through } = after.barrier;
            const summaries = after.items.filter(({ item }) => isCompaction(item));
            expect(summaries.map(({ offset }) => offset)).toEqual([event.offset]);
            const stay = before.items.filter(
              ({ offset, item }) => !isCompaction(item) && (item.role === "system" || offset > through),
            );
            expect(after.items.filter(({ item }) => !isCompaction(item))).toEqual(stay);
            const at = after.items.findIndex(({ item }) => isCompaction(item));
            expect(after.items.slice(0, at).every(({ offset }) => offset <= through)).toBe(true);
            expect(through).toBeGreaterThan(before.barrier?.through ?? 0);
          }
          before = after;
        }
      }),
      always(500),
    );
  });

  test("CTX-2 CTX-5 a request covers all that was read before it, and its trigger is pending no more", () => {
    fc.assert(
      fc.property(log, (events) => {
        let before = empty();
        for (const event of events) {
          const after = apply(before, event);
          expect(after.covered).toBeGreaterThanOrEqual(before.covered);
          if (after.covered > before.covered)
            expect(after).toMatchObject({
              open: { offset: event.offset, trigger: before.pending?.offset },
              pending: null,
            });
          if (after.open && after.pending) expect(after.pending.offset).toBeGreaterThan(after.open.offset);
          before = after;
        }
      }),
      always(300),
    );
  });

  test("STREAM-5 what is blanked in the stored events and what is blanked by the redaction is the same", () => {
    fc.assert(
      fc.property(
        log.filter((events) => events.length > 0),
        fc.nat(),
        (events, pick) => {
          const state = reduce(events);
          const seen = state.items.filter(({ item }) => !isCompaction(item));
          const target = seen[pick % Math.max(seen.length, 1)];
          fc.pre(target !== undefined);
          const { offset, item } = target ?? { offset: 0, item: undefined };
          const same = (of: { offset: number; payload: unknown }) =>
            of.offset === offset || (item?.key !== undefined && (of.payload as typeof item).key === item.key);
          const stored = events.map((event) =>
            event.type === "context-item" &&
            isWhole(event) &&
            same(event) &&
            !isCompaction(event.payload as never)
              ? { ...event, payload: blank(event.payload as never) }
              : event,
          );
          const redaction = {
            offset: state.head + 1,
            type: "context-item-redacted",
            payload: { offset },
            at: 0,
          };
          expect(reduce([redaction], state)).toEqual(reduce([...stored, redaction]));
          expect(besides(reduce([redaction], state)).items).toEqual(reduce(stored).items);
          expect(results(state).length).toBe(results(reduce(stored)).length);
        },
      ),
      always(500),
    );
  });
});
