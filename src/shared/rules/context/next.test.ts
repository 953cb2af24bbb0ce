import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEADLINE_MS, DEBOUNCE_MS, nextStep, type Step } from "./next.ts";
import { reduce } from "./reduce.ts";
import {
  ALONE,
  backoff,
  CONTEXT_FULL,
  endsByItself,
  MAX_ATTEMPTS,
  MAX_TURNS_ALONE,
  STOP,
} from "./requests.ts";
import { empty, type StreamState } from "./state.ts";
import { type Log, newLog } from "./stream.kit.ts";
import { log as anyLog, iso, START } from "./streams.cases.ts";
import { DEFAULT_WINDOW } from "./tokens.ts";

const model = { window: DEFAULT_WINDOW, output: 8000 };
const next = (log: Log, now = log.now): Step => nextStep(log.state, now, model);
const summary = (through: number) => ({ compaction: { replacesHistoryThrough: through } });

/** The agent alone with itself: a result asks for the next turn, as often as the office opens one. */
function turnAlone(log: Log): Step {
  log.item("developer", "Go on.");
  log.now += DEBOUNCE_MS;
  const step = next(log);
  if (step.do === "open") log.succeed(log.open());
  return step;
}

/** A stream whose one request was measured, with a message that waits. */
function filled(tokens: number) {
  const log = newLog();
  log.says("one");
  const request = log.open();
  log.answer(request, "First.");
  log.succeed(request, { usage: { inputTokens: tokens - 20, outputTokens: 20 } });
  const trigger = log.says("two");
  log.now += DEBOUNCE_MS;
  return { log, request, trigger };
}

describe("REQ-1 idle, pending, open, settled", () => {
  test("REQ-1 a stream to which nothing asks is idle", () => {
    const log = newLog();
    log.item("system", "You are Alex.");
    log.item("assistant", "Hello.");
    log.says("overheard", { llmRequestPolicy: { behaviour: "dont-trigger-request" } });
    expect(next(log)).toEqual({ do: "nothing" });
  });

  test("REQ-1 the debounce is 250 ms from the first input, and the newest trigger is named", () => {
    const log = newLog();
    log.says("one");
    expect(next(log)).toEqual({ do: "wait", until: START + 250 });
    log.now += 200;
    const newest = log.says("two");
    expect(next(log)).toEqual({ do: "wait", until: START + 250 });
    expect(next(log, START + 250)).toEqual({ do: "open", trigger: newest, full: false });
  });

  test("REQ-1 one request is open at a time; what came meanwhile is opened as soon as it is settled", () => {
    const log = newLog();
    log.says("one");
    const request = log.open();
    log.says("two");
    log.now += 5000;
    const second = log.open();
    expect(log.state).toMatchObject({ open: { offset: request }, covered: request });
    expect(next(log)).toEqual({ do: "wait", until: START + DEADLINE_MS });
    log.succeed(request);
    expect(next(log)).toEqual({ do: "open", trigger: second - 1, full: false });
  });

  test("REQ-1 an intent whose trigger has moved on, or without any, is ignored", () => {
    const log = newLog();
    const first = log.says("one");
    log.says("two");
    const intent = { trigger: first, deadline: iso(START + DEADLINE_MS) };
    log.add("llm-request-requested", intent);
    expect(log.state).toMatchObject({ open: null, covered: 0, pending: { offset: 2 } });
    log.succeed(log.open());
    log.add("llm-request-requested", { ...intent, trigger: 2 });
    expect(log.state).toMatchObject({ open: null, pending: null });
  });

  test.each(["llm-request-succeeded", "llm-request-cancelled"])("REQ-1 after %s it is idle again", (type) => {
    const log = newLog();
    log.says("one");
    log.add(type, { requestOffset: log.open() });
    expect(next(log)).toEqual({ do: "nothing" });
  });
});

describe("REQ-2 what an open request sees", () => {
  test("REQ-2 it is the history up to its offset, whatever is compacted, edited or answered later", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const opened: StreamState[] = [];
        let state = empty();
        for (const event of events) {
          state = reduce([event], state);
          if (state.open?.offset === event.offset) opened.push(state);
        }
        // What was read when it was opened has not moved under the rest of the log, and reads the same again.
        for (const { open, items } of opened)
          expect(reduce(events.filter(({ offset }) => offset <= (open?.offset ?? 0))).items).toEqual(items);
      }),
      { numRuns: 200 },
    );
  });
});

describe("REQ-3 interrupts", () => {
  const interrupting = { llmRequestPolicy: { behaviour: "interrupt-current-request" } } as const;

  test("REQ-3 an interrupt closes what is open and asks for the next", () => {
    const log = newLog();
    log.says("one");
    log.open();
    const interrupt = log.says("no", interrupting);
    expect(log.state.open).toBeNull();
    log.now += DEBOUNCE_MS;
    expect(next(log)).toMatchObject({ do: "open", trigger: interrupt });
  });

  test("REQ-3 with nothing open it cancels nothing; a system or assistant item interrupts nothing", () => {
    const log = newLog();
    log.says("one", interrupting);
    const request = log.open();
    log.item("system", "two", interrupting);
    log.item("assistant", "three", interrupting);
    expect(log.state.open?.offset).toBe(request);
  });

  test("REQ-3 REQ-4 a stop while a retry waits: what was stopped does not come back", () => {
    const log = newLog();
    log.says("one");
    log.fail(log.open());
    log.item("developer", "Sam stopped you.", interrupting);
    log.add("stream-paused", { reason: STOP });
    expect(log.state.pending).toBeNull();
    log.add("stream-resumed");
    expect(next(log)).toEqual({ do: "nothing" });
  });
});

describe("REQ-4 failures", () => {
  test("REQ-4 it is tried again after 10 s, doubling, three attempts in all", () => {
    const log = newLog();
    const trigger = log.says("one");
    log.fail(log.open());
    expect(next(log)).toEqual({ do: "wait", until: log.now + 10_000 });
    log.now += 10_000;
    expect(next(log)).toEqual({ do: "open", trigger, full: false });
    log.fail(log.open());
    expect(next(log)).toEqual({ do: "wait", until: log.now + 20_000 });
    log.now += 20_000;
    log.fail(log.open());
    expect(log.state.failures).toBe(MAX_ATTEMPTS);
    expect(next(log)).toEqual({ do: "nothing" });
    expect([1, 2, 3, 4, 5, 50].map(backoff)).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  test("REQ-4 somebody from outside is not made to wait, and has three attempts again", () => {
    const log = newLog();
    log.says("one");
    log.fail(log.open());
    const trigger = log.says("two");
    expect(next(log)).toEqual({ do: "wait", until: log.now + DEBOUNCE_MS });
    log.now += DEBOUNCE_MS;
    expect(next(log)).toEqual({ do: "open", trigger, full: false });
    expect(log.state.failures).toBe(0);
  });

  test("REQ-4 a failure never overwrites a newer trigger from outside", () => {
    const log = newLog();
    log.says("one");
    const request = log.open();
    const newer = log.says("two");
    log.now += DEBOUNCE_MS;
    log.fail(request);
    expect(log.state.failures).toBe(0);
    expect(next(log)).toEqual({ do: "open", trigger: newer, full: false });
  });

  test("REQ-4 the agent's own loop waits with the retry and shares its request", () => {
    const log = newLog();
    log.says("one");
    log.fail(log.open());
    const own = log.item("developer", "A result.");
    expect(next(log)).toEqual({ do: "wait", until: log.now + 10_000 });
    log.now += 10_000;
    expect(next(log)).toEqual({ do: "open", trigger: own, full: false });
    const request = log.open();
    const later = log.item("developer", "Another.");
    log.fail(request);
    expect(log.state.pending).toMatchObject({ offset: later, external: 1, retry: false });
    expect(next(log)).toEqual({ do: "wait", until: log.now + 20_000 });
  });

  test("REQ-4 after an answer the count begins anew", () => {
    const log = newLog();
    log.says("one");
    log.fail(log.open());
    log.succeed(log.open());
    expect(log.state.failures).toBe(0);
  });

  test("REQ-4 REQ-6 retries do not count as turns", () => {
    const log = newLog();
    log.item("developer", "Go on.");
    log.fail(log.open());
    log.fail(log.open());
    log.succeed(log.open());
    expect(log.state.turnsAlone).toBe(1);
  });
});

describe("REQ-5 expiry", () => {
  test("REQ-5 at its deadline the office writes the cancellation, and what waits is opened", () => {
    const log = newLog();
    log.says("one");
    const request = log.open();
    const waiting = log.says("two");
    log.now = START + DEADLINE_MS - 1;
    expect(next(log)).toEqual({ do: "wait", until: START + DEADLINE_MS });
    log.now += 1;
    expect(next(log)).toEqual({ do: "expire", request });
    log.add("llm-request-cancelled", { requestOffset: request });
    expect(next(log)).toEqual({ do: "open", trigger: waiting, full: false });
  });

  test("REQ-5 an expired request is none that failed: it is not tried again", () => {
    const log = newLog();
    log.says("one");
    const request = log.open(1);
    log.now += 1;
    log.fail(request);
    expect(log.state).toMatchObject({ failures: 0, open: { offset: request } });
    log.add("llm-request-cancelled", { requestOffset: request });
    expect(next(log)).toEqual({ do: "nothing" });
  });
});

describe("REQ-6 turns alone, pauses", () => {
  test("REQ-6 after 100 turns without anybody from outside the stream pauses itself", () => {
    const log = newLog();
    log.says("Start.");
    log.succeed(log.open());
    for (let turn = 1; turn <= MAX_TURNS_ALONE; turn++) expect(turnAlone(log).do).toBe("open");
    expect(turnAlone(log)).toEqual({ do: "pause", reason: ALONE });
    log.add("stream-paused", { reason: ALONE });
    expect(next(log)).toEqual({ do: "nothing" });
    const trigger = log.says("Still there?");
    log.now += DEBOUNCE_MS;
    expect(next(log)).toEqual({ do: "open", trigger, full: false });
    expect(log.state).toMatchObject({ paused: null, turnsAlone: 0 });
  });

  test("REQ-4 REQ-6 the last turn alone is tried again like any other", () => {
    const log = newLog();
    for (let turn = 1; turn < MAX_TURNS_ALONE; turn++) turnAlone(log);
    const trigger = log.item("developer", "Go on.");
    log.fail(log.open());
    log.now += 10_000;
    expect(log.state.turnsAlone).toBe(MAX_TURNS_ALONE);
    expect(next(log)).toEqual({ do: "open", trigger, full: false });
  });

  test("REQ-6 whoever resumes it is somebody: the count begins anew", () => {
    const log = newLog();
    for (let turn = 1; turn <= MAX_TURNS_ALONE; turn++) turnAlone(log);
    log.add("stream-paused", { reason: ALONE });
    log.add("stream-resumed");
    expect(turnAlone(log).do).toBe("open");
  });

  test("REQ-6 a pause drains what is open and loses no external input", () => {
    const log = newLog();
    log.says("one");
    const request = log.open();
    log.add("stream-paused", { reason: "lunch" });
    expect(next(log)).toEqual({ do: "wait", until: START + DEADLINE_MS });
    const waiting = log.says("two");
    log.succeed(request);
    log.now += 3_600_000;
    expect(next(log)).toEqual({ do: "nothing" });
    log.add("stream-resumed");
    expect(next(log)).toEqual({ do: "open", trigger: waiting, full: false });
  });

  test("REQ-6 the stream's own pause and a stop end with input from outside, nobody else's does", () => {
    expect([ALONE, STOP, "lunch", ""].map(endsByItself)).toEqual([true, true, false, false]);
    for (const reason of [ALONE, STOP, "lunch"]) {
      const log = newLog();
      log.add("stream-paused", { reason });
      log.item("developer", "own");
      expect(log.state.paused).not.toBeNull();
      log.says("outside");
      expect(log.state.paused === null).toBe(endsByItself(reason));
    }
  });
});

describe("REQ-7 whoever runs it", () => {
  test("REQ-7 it can be run again and again: settling the same request twice settles once", () => {
    const log = newLog();
    log.says("one");
    const request = log.open();
    for (let run = 0; run < 3; run++) {
      log.answer(request, "First.");
      log.succeed(request, { usage: { inputTokens: 1, outputTokens: 1 } });
    }
    expect(log.seen()).toEqual(["one", "First."]);
  });
});

describe("REQ-8 a full window", () => {
  const small = { window: 1000, output: 200 };
  test("REQ-8 over the window less the output it is compacted first", () => {
    const { log, request, trigger } = filled(795);
    expect(nextStep(log.state, log.now, small)).toEqual({ do: "compact", through: request });
    log.item("developer", "Summary.", summary(request));
    expect(nextStep(log.state, log.now, small)).toEqual({ do: "open", trigger, full: false });
  });

  test("REQ-8 if the compaction failed it is opened to fail, and that is not tried again", () => {
    const { log, request, trigger } = filled(795);
    expect(nextStep(log.state, log.now, { ...small, failed: request })).toEqual({
      do: "open",
      trigger,
      full: true,
    });
    log.fail(log.open(), CONTEXT_FULL);
    expect(log.state).toMatchObject({ open: null, pending: null });
    // Something new from outside is another try.
    log.says("three");
    expect(nextStep(log.state, log.now + DEBOUNCE_MS, small)).toEqual({ do: "compact", through: request });
  });

  test("REQ-8 what no compaction can help is opened to fail", () => {
    const log = newLog();
    const trigger = log.says("x".repeat(4000));
    log.now += DEBOUNCE_MS;
    expect(nextStep(log.state, log.now, small)).toEqual({ do: "open", trigger, full: true });
  });

  test("REQ-8 CTX-4 a call that waits for its result bounds what a compaction takes: it is tried once", () => {
    const log = newLog();
    log.says("one");
    const first = log.open();
    log.answer(first, "call");
    log.succeed(first, { calls: [`exe_${first}_1`] });
    log.says("two");
    const second = log.open();
    log.succeed(second, { usage: { inputTokens: 900, outputTokens: 20 } });
    const trigger = log.says("x".repeat(3000));
    log.now += DEBOUNCE_MS;
    expect(nextStep(log.state, log.now, small)).toEqual({ do: "compact", through: second });
    log.item("developer", "Summary.", summary(second));
    expect(log.state.barrier?.through).toBe(first);
    expect(nextStep(log.state, log.now, small)).toEqual({ do: "open", trigger, full: true });
  });
});

test("REQ-1 REQ-5 every state has a next step, and carrying it out comes to an end", () => {
  fc.assert(
    fc.property(anyLog, (events) => {
      let state: StreamState = reduce(events);
      let now = START + 3_600_000;
      let failed = 0;
      for (let i = 0; i < 20; i++) {
        const step = nextStep(state, now, { window: 2000, output: 100, failed });
        if (step.do === "nothing") return;
        const offset = state.head + 1;
        const event = (type: string, payload: unknown) => {
          state = reduce([{ offset, type, payload, at: now }], state);
        };
        if (step.do === "wait") {
          expect(step.until).toBeGreaterThan(now);
          now = step.until;
        } else if (step.do === "expire") event("llm-request-cancelled", { requestOffset: step.request });
        else if (step.do === "pause") event("stream-paused", { reason: step.reason });
        else if (step.do === "compact") failed = step.through;
        else {
          event("llm-request-requested", { trigger: step.trigger, deadline: iso(now + 1000) });
          expect(state.open?.offset).toBe(offset);
          state = reduce(
            [
              {
                offset: offset + 1,
                type: "llm-request-failed",
                payload: { requestOffset: offset, reason: "429" },
                at: now,
              },
            ],
            state,
          );
        }
      }
      expect.fail("it never came to rest");
    }),
    { numRuns: 300 },
  );
});
