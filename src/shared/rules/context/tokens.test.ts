import { describe, expect, test } from "vitest";
import { newLog } from "./stream.kit.ts";
import { compactionDue, estimate, isOverfull, promptTokens } from "./tokens.ts";

const model = { window: 1000, output: 200 };

/** A stream whose one request was measured. */
function measured(usage: object) {
  const log = newLog();
  log.says("one");
  const request = log.open();
  log.answer(request, "x".repeat(300));
  log.succeed(request, { usage });
  return { log, request };
}

describe("REQ-8 estimates", () => {
  test("REQ-8 an item is its bytes by three, rounded up, and 8; an image 1,600", () => {
    const file = { filename: "f", path: "p", size: 1, url: "u" };
    expect(estimate({ role: "user", content: "" })).toBe(8);
    expect(estimate({ role: "user", content: "abcd" })).toBe(10);
    expect(estimate({ role: "user", content: "é€" })).toBe(10);
    expect(
      estimate({
        role: "user",
        content: "",
        files: [
          { ...file, contentType: "image/png" },
          { ...file, contentType: "text/plain" },
          { ...file, contentType: "image/jpeg" },
        ],
      }),
    ).toBe(3208);
  });

  test("REQ-8 what was reported is counted once: the answer is in it, what came after is estimated", () => {
    const { log } = measured({ inputTokens: 400, outputTokens: 120, reasoningOutputTokens: 20 });
    // What went into thinking is in no later prompt.
    expect(promptTokens(log.state)).toBe(500);
    log.says("abc");
    expect(promptTokens(log.state)).toBe(509);
  });

  test("REQ-8 without a report every item is estimated", () => {
    const log = newLog();
    log.says("abc");
    log.item("system", "abcdef");
    expect(promptTokens(log.state)).toBe(19);
  });

  test("REQ-8 a report of what a compaction has replaced since says nothing any more", () => {
    const { log, request } = measured({ inputTokens: 600, outputTokens: 10 });
    log.says("two");
    const open = log.open();
    log.item("developer", "Summary.", { compaction: { replacesHistoryThrough: request } });
    expect(log.state.measured).toBeNull();
    log.succeed(open, { usage: { inputTokens: 700, outputTokens: 10 } });
    expect(log.state.measured).toBeNull();
    expect(promptTokens(log.state)).toBeLessThan(150);
  });
});

describe("REQ-8 when it is summarised", () => {
  test("REQ-8 past half the window, through the measured request, and only then", () => {
    const half = measured({ inputTokens: 490, outputTokens: 10 });
    expect(compactionDue(half.log.state, model)).toBeUndefined();
    const past = measured({ inputTokens: 491, outputTokens: 10 });
    expect(compactionDue(past.log.state, model)).toBe(past.request);
  });

  test("REQ-8 one that failed is not asked for again before there is a new measure, and does no harm", () => {
    const { log, request } = measured({ inputTokens: 600, outputTokens: 10 });
    expect(compactionDue(log.state, { ...model, failed: request })).toBeUndefined();
    log.says("two");
    const second = log.open();
    log.succeed(second, { usage: { inputTokens: 640, outputTokens: 10 } });
    expect(compactionDue(log.state, { ...model, failed: request })).toBe(second);
  });

  test("REQ-8 where nothing would go none is asked for", () => {
    const { log, request } = measured({ inputTokens: 600, outputTokens: 10 });
    log.item("developer", "x".repeat(3000), { compaction: { replacesHistoryThrough: request } });
    expect(promptTokens(log.state)).toBeGreaterThan(500);
    expect(compactionDue(log.state, model)).toBeUndefined();
    const unasked = newLog();
    unasked.says("x".repeat(3000));
    expect(compactionDue(unasked.state, model)).toBeUndefined();
  });

  test("REQ-8 CTX-9 nor where a call still waits for its result in front of all that could go", () => {
    const log = newLog();
    log.says("one");
    const request = log.open();
    log.answer(request, "call");
    log.succeed(request, { usage: { inputTokens: 600, outputTokens: 10 }, calls: [`exe_${request}_1`] });
    // The barrier at the request keeps the call, whose answer came after it.
    expect(compactionDue(log.state, model)).toBe(request);
    log.item("developer", "Summary.", { compaction: { replacesHistoryThrough: request } });
    log.says("x".repeat(3000));
    log.open();
    expect(compactionDue(log.state, model)).toBeUndefined();
  });

  test("REQ-8 it is overfull when the answer has no place left", () => {
    const { log } = measured({ inputTokens: 790, outputTokens: 10 });
    expect(isOverfull(log.state, model)).toBe(false);
    log.says("");
    expect(isOverfull(log.state, model)).toBe(true);
  });
});
