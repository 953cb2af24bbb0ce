import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agents, type Event, replay, run, settings, talk, usual, weighted } from "./guard.cases.ts";
import { EXCHANGE_FROM, isCircling, isRepeat, judge } from "./guard.ts";

const after = (...more: Event[]) => replay([...talk(9), ...more]);

const circle = (names: string, repeatAt: number) =>
  isCircling(
    replay(
      Array.from(names, (by, i) => ({
        type: "message",
        by,
        ...(i === repeatAt ? { repeat: { kind: "words" as const } } : {}),
      })),
    ),
  );
describe("GUARD-1 the count", () => {
  test("GUARD-1 counts from the reset, which a person's act and new work are", () => {
    expect(after().count).toBe(9);
    expect(after({ type: "act", by: "usr_ann" })).toEqual({
      since: { kind: "person", seq: 10, at: 10_000, by: "usr_ann" },
      count: 0,
      recent: [],
      repeats: [],
      total: 0,
      person: "usr_ann",
    });
    expect(after({ type: "work", by: "agt_a", made: "question" })).toMatchObject({
      since: { kind: "work", seq: 10, by: "agt_a", made: "question" },
      count: 0,
      total: 9,
    });
  });

  test("GUARD-1 the message that is the work counts 0, the next 1; the total counts both (GUARD-7)", () => {
    const withFile: Event = { type: "message", by: "agt_a", newFile: true };
    expect(replay([...talk(9), withFile])).toMatchObject({ count: 0, total: 10, recent: [] });
    expect(replay([...talk(9), withFile, ...talk(1)])).toMatchObject({ count: 1, total: 11 });
  });

  test("GUARD-1 the state is of a fixed size", () => {
    const long = replay(
      talk(5000).map((event) => ({ ...event, repeat: { kind: "words" as const } }) as Event),
    );
    expect([long.count, long.recent.length, long.repeats.length]).toEqual([5000, 6, 20]);
    expect(long.repeats.at(-1)?.message_id).toBe("msg_5000");
  });
});

describe("GUARD-2 the stages", () => {
  test("GUARD-2 quiet below half the stop, then nudge, warning from the stop, held from the hold", () => {
    const stages = run(talk(60, agents), usual).map(({ stage }) => stage);
    expect(stages.slice(0, 7).every((stage) => stage === "quiet")).toBe(true);
    expect(stages.slice(7, 15).every((stage) => stage === "nudge")).toBe(true);
    expect(stages.slice(15, 47).every((stage) => stage === "warning")).toBe(true);
    expect(stages.slice(47).every((stage) => stage === "held")).toBe(true);
    expect(EXCHANGE_FROM).toBe(8);
  });

  test("GUARD-2 message number `hold` is the first held", () => {
    fc.assert(
      fc.property(settings, (set) => {
        const hold = set.hold ?? 192;
        const held = run(talk(hold + 3), set).map(({ held }) => held);
        expect(held.indexOf(true)).toBe(hold - 1);
        expect(held.slice(hold - 1)).toEqual([true, true, true, true]);
      }),
    );
  });

  test("GUARD-2 half of an odd stop is rounded to nobody's favour", () => {
    const stages = run(talk(12, agents), { stop: 17, hold: null, circles: true });
    expect(stages.findIndex(({ stage }) => stage === "nudge")).toBe(8);
  });

  test("GUARD-2 with `hold: null` there is no allowance, and only a pause holds", () => {
    const off = { ...usual, hold: null };
    for (const verdict of run(talk(191), off)) {
      expect(verdict.held).toBe(false);
      expect(verdict).not.toHaveProperty("allowance");
    }
    expect(judge(replay(talk(1)), off, true)).toMatchObject({ stage: "held", held: true, pause: false });
    expect(judge(replay(talk(1)), usual, false).allowance).toBe(48);
  });

  test("GUARD-5 while paused everything from agents for agents is held, new work too", () => {
    fc.assert(
      fc.property(fc.array(weighted, { maxLength: 40 }), settings, (events, set) => {
        const verdict = judge(replay([...events, ...talk(1)]), set, true);
        expect(verdict).toMatchObject({ stage: "held", held: true, pause: false });
      }),
    );
    const work = replay([{ type: "message", by: "agt_a", newFile: true }]);
    expect(judge(work, usual, true).held).toBe(true);
  });
});

describe("GUARD-3 repeats and circles", () => {
  const eight = "one two three four five six seven eight";
  test.each([
    [eight, true],
    ["ONE, two; three four — five six seven eight!", true],
    ["eight seven six five four three two one", true],
    [`${eight} nine ten`, true],
    [`${eight} nine ten eleven`, false],
    ["one two three four five six seven", false],
    ["one one one one two two two two", false],
    ["", false],
  ])("GUARD-3 %j after eight words: %s", (text, repeats) => {
    expect(isRepeat(text, ["something else", eight])).toBe(repeats);
    expect(isRepeat(text, [])).toBe(false);
  });

  test.each([
    ["abab", 3, true],
    ["abab", 0, true],
    ["abab", -1, false],
    ["aaaa", 3, false],
    ["bab", 2, false],
    ["abba", 3, false],
    ["cabab", 0, false],
    ["cabab", 1, true],
    ["abcabc", 5, true],
    ["abcabc", 0, true],
    ["abcabc", -1, false],
    ["abcacb", 5, false],
    ["abcabd", 5, false],
    ["abaaba", 5, false],
    ["dabcabc", 0, false],
    ["abcdabcd", 7, false],
  ])("GUARD-3 turns by %s with the repeat at %i are a circle: %s", (names, repeatAt, circles) => {
    expect(circle(names, repeatAt)).toBe(circles);
  });

  test("GUARD-3 a circle warns at any count, unless circles are off", () => {
    const state = replay(talk(4).map((e) => ({ ...e, repeat: { kind: "words" as const } }) as Event));
    expect(judge(state, usual, false)).toMatchObject({ stage: "warning", circling: true });
    const off = judge(state, { ...usual, circles: false }, false);
    expect(off).toMatchObject({ stage: "quiet", circling: false });
  });

  test("GUARD-3 new work ends a circle", () => {
    const round = talk(4).map((e) => ({ ...e, repeat: { kind: "words" as const } }) as Event);
    expect(isCircling(replay([...round, { type: "work", by: "agt_a", made: "approval" }]))).toBe(false);
  });
});
