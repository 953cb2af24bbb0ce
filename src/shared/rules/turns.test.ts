import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextTurnChange, type Turn, turnState } from "./turns.ts";

const MINUTE = 60_000;
const turn = (more: Partial<Turn> = {}): Turn => ({
  started_at: 0,
  heard_at: 0,
  paused: false,
  waiting: false,
  ended: false,
  ...more,
});

describe("TURN-5 how a run stands", () => {
  test.each([
    [0, undefined, "working"],
    [10 * MINUTE - 1, undefined, "working"],
    [10 * MINUTE, undefined, "silent"],
    [60 * MINUTE - 1, undefined, "silent"],
    [60 * MINUTE, undefined, "expired"],
    [5 * MINUTE, 0, "working"],
    [10 * MINUTE, 0, "expired"],
    [14 * MINUTE, 5 * MINUTE, "silent"],
    [15 * MINUTE, 5 * MINUTE, "expired"],
    [60 * MINUTE, 55 * MINUTE, "expired"],
  ] as const)("TURN-5 at %i ms, its harness gone since %s: %s", (now, gone, state) => {
    expect(turnState(turn(), now, gone)).toBe(state);
  });

  test.each([
    [{ paused: true }, "paused"],
    [{ waiting: true }, "waiting"],
    [{ paused: true, waiting: true }, "paused"],
    [{ ended: true, paused: true }, "ended"],
  ] as const)("TURN-5 none of the clocks runs for %j", (more, state) => {
    for (const now of [0, 60 * MINUTE, 30 * 24 * 60 * MINUTE]) {
      expect(turnState(turn(more), now, 0)).toBe(state);
      expect(nextTurnChange(turn(more), now, 0)).toBeUndefined();
    }
  });

  test("TURN-5 the clocks start anew once its harness was sent the decision, also that of one that is gone", () => {
    const late = 8 * 60 * MINUTE;
    const resumed = turn({ heard_at: late });
    expect(turnState(resumed, late + 9 * MINUTE, MINUTE)).toBe("working");
    expect(turnState(resumed, late + 10 * MINUTE, MINUTE)).toBe("expired");
    expect(turnState(resumed, late + 10 * MINUTE)).toBe("silent");
    expect(turnState(resumed, late + 60 * MINUTE)).toBe("expired");
  });

  test("TURN-5 nothing changes before the time said, and something does at it", () => {
    const hours = fc.nat(3 * 60 * MINUTE);
    fc.assert(
      fc.property(hours, hours, fc.option(hours, { nil: undefined }), hours, (heard_at, now, gone, later) => {
        const one = turn({ heard_at });
        const state = turnState(one, now, gone);
        const next = nextTurnChange(one, now, gone);
        expect(next === undefined).toBe(state === "expired");
        if (next === undefined) return;
        expect(next).toBeGreaterThan(now);
        expect(turnState(one, Math.min(now + later, next - 1), gone)).toBe(state);
        expect(turnState(one, next, gone)).not.toBe(state);
      }),
    );
  });
});
