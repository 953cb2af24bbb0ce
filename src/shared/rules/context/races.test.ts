/** The named races on the pure rules, each also from a snapshot before every step (CTX-6). */
import { describe, expect, test } from "vitest";
import { nextStep } from "./next.ts";
import { RACES, type Race } from "./races.cases.ts";
import { reduce } from "./reduce.ts";
import { judge, type NewEvent } from "./settle.ts";
import { empty, type StreamEvent, type StreamState } from "./state.ts";
import { asJson, START } from "./streams.cases.ts";
import { spelled, stamp, type Writer } from "./trust.ts";

const STREAM = "/people/alex";
const WRITERS: Record<Race["steps"][number]["by"], Writer> = {
  office: { kind: "office" },
  agent: { kind: "agent", path: STREAM },
  person: { kind: "person", userId: "usr_sam", origin: "web", owner: false },
};
const words = (state: StreamState) =>
  state.items.map(({ item }) => item.content.replace(/^```call\n\{"id":"exe_\d+_1".*\n```$/, "a call"));
const expected = (seen: string[]) => seen.map((one) => one.replace(/^call of \w+$/, "a call"));

describe("the named races", () => {
  test.each(RACES)("CTX-6 $name", ({ steps, ends }) => {
    let state = empty();
    const events: StreamEvent[] = [];
    const offsets: Record<string, number> = {};
    const of = (name: string) => offsets[name] ?? expect.fail(`nothing is called ${name} yet`);
    let head = 0;
    for (const [i, step] of steps.entries()) {
      const now = START + i * 1000;
      const writer = WRITERS[step.by];
      const batch = step.events(of, now, STREAM).map(({ as, ...event }): NewEvent => {
        const stamped = stamp(event, writer, STREAM);
        if (!stamped.ok) return expect.fail(stamped.refusal.message);
        head += 3;
        if (as !== undefined) offsets[as] = head;
        return { ...stamped.event, offset: head };
      });
      const judged = judge(asJson(state), batch, now, writer, STREAM);
      expect(judged.ok ? undefined : judged.refusal.code).toBe(step.refused);
      if (!judged.ok) continue;
      state = judged.state;
      const by = spelled(writer);
      events.push(...batch.map((event) => ({ ...event, at: now, ...(by === undefined ? {} : { by }) })));
    }
    expect(reduce(events)).toEqual(state);
    expect(words(state)).toEqual(expected(ends.seen));
    const name = (offset: number | undefined) =>
      offset === undefined ? null : Object.keys(offsets).find((one) => offsets[one] === offset);
    if (ends.pending !== undefined) expect(name(state.pending?.offset)).toBe(ends.pending);
    if (ends.open !== undefined) expect(name(state.open?.offset)).toBe(ends.open);
    if (ends.covered !== undefined) expect(name(state.covered)).toBe(ends.covered);
    if (ends.paused !== undefined) expect(state.paused !== null).toBe(ends.paused);
    for (const [at, seen] of Object.entries(ends.asOf ?? {}))
      expect(words(reduce(events.filter(({ offset }) => offset <= of(at))))).toEqual(expected(seen));
    // Whatever waits, the office knows what to do with it, at any time.
    expect(nextStep(state, START + 3_600_000, { window: 1000, output: 100 }).do).toMatch(
      state.open ? /^expire$/ : state.pending && !state.paused ? /^open$/ : /^nothing$/,
    );
  });
});
