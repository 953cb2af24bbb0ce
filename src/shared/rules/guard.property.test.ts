import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Event, message, replay, run, settings, talk, usual, weighted, work } from "./guard.cases.ts";
import { type ExchangeState, judge, type Repeat, type Reset } from "./guard.ts";

const isMessage = (event: Event) => event.type === "message";

/** The same from the whole list at once, as the rule is worded. */
function fromScratch(events: readonly Event[]): ExchangeState {
  const act = events.findLastIndex(({ type }) => type === "act");
  const reset = events.findLastIndex((e) => !isMessage(e) || (e.type === "message" && e.newFile));
  const last = events[reset];
  let since: Reset = { kind: "start", seq: 0 };
  if (last) {
    const seq = reset + 1;
    const base = { seq, at: seq * 1000, by: last.by };
    if (last.type === "act") since = { kind: "person", ...base };
    else if (last.type === "work") since = { kind: "work", ...base, made: last.made };
    else since = { kind: "work", ...base, made: "file", file: `f${seq}` };
  }
  const counted = events.flatMap((event, i) =>
    event.type === "message" && i > reset ? [{ ...event, message_id: `msg_${i + 1}` }] : [],
  );
  const repeats: Repeat[] = counted.flatMap(({ repeat, by, message_id }) =>
    repeat ? [{ message_id, by, ...repeat }] : [],
  );
  const person = events[act]?.by;
  return {
    since,
    count: counted.length,
    recent: counted
      .map(({ message_id, by, repeat }) => ({ message_id, by, repeat: repeat !== undefined }))
      .slice(-6),
    repeats: repeats.slice(-20),
    total: events.slice(act + 1).filter(isMessage).length,
    ...(person === undefined ? {} : { person }),
  };
}

test("GUARD-1 the state kept event by event is the log's, counted from scratch", () => {
  fc.assert(
    fc.property(fc.array(weighted, { maxLength: 120 }), (events) => {
      expect(replay(events)).toEqual(fromScratch(events));
    }),
    { numRuns: 300 },
  );
});

describe("GUARD-6 GUARD-7 it stops", () => {
  const aloneEvents = fc.array(fc.oneof(message, message, message, work), { minLength: 1, maxLength: 500 });

  test("GUARD-7 no talk without a person delivers four times the hold", () => {
    fc.assert(
      fc.property(aloneEvents, settings, (events, set) => {
        const delivered = run(events, set).filter(({ held }) => !held).length;
        expect(delivered).toBeLessThan(4 * (set.hold ?? 48));
      }),
    );
  });

  test("GUARD-6 between two pieces of work fewer than `hold` are delivered", () => {
    fc.assert(
      fc.property(aloneEvents, fc.integer({ min: 1, max: 8 }), (events, hold) => {
        const verdicts = run(events, { ...usual, hold });
        let since = 0;
        for (const event of events) {
          if (event.type === "work" || (event.type === "message" && event.newFile)) since = 0;
          if (event.type !== "message") continue;
          // The message that is the work counts 0 and is delivered beside those it lets through.
          if (verdicts.shift()?.held === false && !event.newFile) since += 1;
          expect(since).toBeLessThan(hold);
        }
      }),
    );
  });

  test("GUARD-7 two agents that answer each other with a new file each time are paused, once", () => {
    const verdicts = run(
      talk(400).map((event) => ({ ...event, newFile: true }) as Event),
      usual,
    );
    expect(verdicts.filter(({ held }) => !held)).toHaveLength(191);
    expect(verdicts.map(({ pause }) => pause).indexOf(true)).toBe(191);
    expect(verdicts.filter(({ pause }) => pause)).toHaveLength(1);
  });

  test("GUARD-7 an act begins the total anew", () => {
    const events = [...talk(300), { type: "act", by: "usr_ann" } as Event, ...talk(1)];
    expect(run(events, usual).at(-1)).toMatchObject({ held: false, pause: false });
  });

  test("GUARD-2 deciding twice decides the same and changes nothing", () => {
    fc.assert(
      fc.property(fc.array(weighted, { maxLength: 60 }), settings, fc.boolean(), (events, set, paused) => {
        const state = replay(events);
        const before = structuredClone(state);
        expect(judge(state, set, paused)).toEqual(judge(state, set, paused));
        expect(state).toEqual(before);
      }),
    );
  });
});
