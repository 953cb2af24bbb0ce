import { describe, expect, test } from "vitest";
import type { AppendEvent } from "../../wire/context/http.ts";
import type { ContextItem } from "../../wire/context/item.ts";
import { answerWith, resultItem } from "./calls.ts";
import { judge } from "./settle.ts";
import { empty, type StreamState } from "./state.ts";
import { iso, person, START } from "./streams.cases.ts";
import { spelled, type Writer } from "./trust.ts";

const STREAM = "/people/alex";
const office: Writer = { kind: "office" };
const alex: Writer = { kind: "agent", path: STREAM };
const sam: Writer = { kind: "person", userId: "usr_sam", origin: "web", owner: false };

/** Appends batches as stamped events; hands back what was refused. */
function newStream() {
  let state: StreamState = empty();
  const stream = {
    now: START,
    get state() {
      return state;
    },
    append(writer: Writer, ...events: AppendEvent[]) {
      const batch = events.map((event, i) => ({ ...event, offset: state.head + i + 1 }));
      const judged = judge(state, batch, stream.now, writer, STREAM);
      if (!judged.ok) return { index: judged.index, ...judged.refusal };
      state = judged.state;
      return undefined;
    },
    /** A person's message and a request that is open for it. */
    opened(left = 600_000) {
      stream.append(office, item("user", "Hi.", { actor: person }));
      const trigger = state.head;
      stream.append(office, {
        type: "llm-request-requested",
        payload: { trigger, deadline: iso(stream.now + left) },
      });
      return state.head;
    },
    /** A request whose answer has so many calls, settled. */
    called(count: number, writer = alex) {
      const request = stream.opened();
      const asked = Array.from({ length: count }, () => ({ tool: "search", input: {} }));
      const { content, calls } = answerWith("Let me see.", request, asked);
      const ids = calls.map(({ id }) => id);
      const refused = stream.append(writer, answer(request, content), succeeded(request, { calls: ids }));
      expect(refused).toBeUndefined();
      return { ids, answer: state.head - 1 };
    },
  };
  return stream;
}
const item = (role: ContextItem["role"], content: string, more: Partial<ContextItem> = {}): AppendEvent => ({
  type: "context-item",
  payload: { role, content, ...more },
});
const answer = (llmRequestOffset: number, content = "Hello.") =>
  item("assistant", content, { llmRequestOffset });
const succeeded = (requestOffset: number, more: object = {}): AppendEvent => ({
  type: "llm-request-succeeded",
  payload: { requestOffset, ...more },
});
const failed = (requestOffset: number): AppendEvent => ({
  type: "llm-request-failed",
  payload: { requestOffset, reason: "429" },
});
const cancelled = (requestOffset: number): AppendEvent => ({
  type: "llm-request-cancelled",
  payload: { requestOffset },
});

const changed = (event: AppendEvent, more: Partial<ContextItem>): AppendEvent =>
  ({ ...event, payload: { ...event.payload, ...more } }) as AppendEvent;
/** Settles a request whose answer has two calls, or other words; hands back the refusal's code. */
function settle(calls: (request: number) => string[], content?: (request: number) => string) {
  const stream = newStream();
  const request = stream.opened();
  const { content: two } = answerWith("", request, [
    { tool: "a", input: {} },
    { tool: "b", input: {} },
  ]);
  return stream.append(
    alex,
    answer(request, content?.(request) ?? two),
    succeeded(request, { calls: calls(request) }),
  )?.code;
}

describe("STREAM-1 REQ-3 settlements", () => {
  test("STREAM-1 REQ-3 the answer and its settlement are one batch, the answer first", () => {
    const stream = newStream();
    const request = stream.opened();
    expect(stream.append(alex, answer(request), succeeded(request))).toBeUndefined();
    expect(stream.state).toMatchObject({ open: null, items: [{}, { item: { content: "Hello." } }] });
    const other = newStream();
    const second = other.opened();
    expect(other.append(alex, succeeded(second), answer(second))).toMatchObject({
      code: "invalid",
      index: 1,
    });
    expect(other.state.open?.offset).toBe(second);
  });

  test.each([succeeded, failed, cancelled])(
    "STREAM-1 REQ-3 what is not open is conflict, batch and all (%#)",
    (settle) => {
      const stream = newStream();
      expect(stream.append(alex, settle(1))).toMatchObject({ code: "conflict" });
      const request = stream.opened();
      const before = stream.state;
      for (const other of [request - 1, request + 1, 99])
        expect(stream.append(alex, item("assistant", "x"), settle(other))).toMatchObject({
          code: "conflict",
          index: 1,
        });
      expect(stream.state).toBe(before);
      expect(stream.append(alex, settle(request))).toBeUndefined();
      expect(stream.append(alex, settle(request))).toMatchObject({ code: "conflict" });
    },
  );

  test("STREAM-1 a batch settles once", () => {
    const stream = newStream();
    const request = stream.opened();
    expect(stream.append(alex, succeeded(request), failed(request))).toMatchObject({
      code: "conflict",
      index: 1,
    });
    expect(stream.state.open?.offset).toBe(request);
  });

  test("REQ-5 from its deadline on a settlement is conflict; the office alone writes the cancellation", () => {
    const stream = newStream();
    const request = stream.opened(1000);
    stream.now += 1000;
    for (const settle of [succeeded, failed, cancelled])
      expect(stream.append(alex, settle(request))).toMatchObject({
        code: "conflict",
        message: expect.stringContaining("deadline"),
      });
    expect(stream.append(office, succeeded(request))).toMatchObject({ code: "conflict" });
    expect(stream.append(office, cancelled(request))).toBeUndefined();
    expect(stream.append(office, cancelled(request))).toMatchObject({ code: "conflict" });
  });

  test("CTX-3 a late answer alone is kept in the log and passed over", () => {
    const stream = newStream();
    const request = stream.opened();
    stream.append(alex, answer(request), succeeded(request));
    expect(stream.append(alex, answer(request, "late"))).toBeUndefined();
    expect(stream.state.items).toHaveLength(2);
  });

  test("STREAM-1 an item's content is at most 256 KiB, in bytes", () => {
    const stream = newStream();
    expect(stream.append(office, item("user", "é".repeat(131_072)))).toBeUndefined();
    expect(stream.append(office, item("user", `${"é".repeat(131_072)}.`))).toMatchObject({
      code: "too_large",
    });
  });
});

describe("CTX-9 calls of a settlement", () => {
  test("CTX-9 the calls are named in order, once each, and stand in the answer", () => {
    expect(settle((r) => [`exe_${r}_1`, `exe_${r}_2`])).toBeUndefined();
    // What is not named is a quote.
    expect(settle((r) => [`exe_${r}_1`])).toBeUndefined();
    expect(settle(() => [])).toBeUndefined();
    expect(settle((r) => [`exe_${r}_2`])).toBe("invalid");
    expect(settle((r) => [`exe_${r}_2`, `exe_${r}_1`])).toBe("invalid");
    expect(settle((r) => [`exe_${r}_1`, `exe_${r}_1`])).toBe("invalid");
    expect(settle((r) => [`exe_${r + 1}_1`])).toBe("invalid");
    expect(settle((r) => [1, 2, 3].map((n) => `exe_${r}_${n}`))).toBe("invalid");
    expect(
      settle(
        (r) => [`exe_${r}_1`],
        () => "No call.",
      ),
    ).toBe("invalid");
  });

  test("CTX-9 without an answer there is no call", () => {
    const stream = newStream();
    const request = stream.opened();
    expect(stream.append(alex, succeeded(request, { calls: [`exe_${request}_1`] }))).toMatchObject({
      code: "invalid",
    });
  });
});

describe("CTX-9 results", () => {
  const ok = '{"ok":true,"output":1}';
  const result = (id: string, of: number, last = true, content = ok): AppendEvent => ({
    type: "context-item",
    payload: resultItem({ id, answer: of, streamPath: STREAM }, content, { last }),
  });
  test("CTX-9 each call has one result, and the answer's last asks for the next request", () => {
    const stream = newStream();
    const { ids, answer: of } = stream.called(2);
    const [one = "", two = ""] = ids;
    expect(stream.append(alex, result(one, of, true))).toMatchObject({ code: "invalid" });
    expect(stream.append(alex, result(one, of, false))).toBeUndefined();
    expect(stream.state.pending).toBeNull();
    expect(stream.append(alex, result(one, of, false))).toMatchObject({ code: "conflict" });
    expect(stream.append(alex, result(two, of, true))).toBeUndefined();
    expect(stream.state.pending?.offset).toBe(stream.state.head);
  });

  test("CTX-9 results may come as one batch, in any order", () => {
    const stream = newStream();
    const { ids, answer: of } = stream.called(2);
    const [one = "", two = ""] = ids;
    expect(stream.append(alex, result(two, of, false), result(one, of, true))).toBeUndefined();
    const other = newStream();
    const again = other.called(2);
    expect(
      other.append(alex, result(again.ids[1] ?? "", again.answer), result(again.ids[0] ?? "", again.answer)),
    ).toMatchObject({ code: "invalid", index: 0 });
  });

  test("CTX-9 an interrupt or a timeout writes results without a trigger", () => {
    const stream = newStream();
    const { ids, answer: of } = stream.called(1);
    const interrupted = '{"ok":false,"output":"interrupted"}';
    expect(stream.append(alex, result(ids[0] ?? "", of, false, interrupted))).toBeUndefined();
    expect(stream.state.pending).toBeNull();
  });

  test("CTX-9 a result comes only from who settled the answer, and only for a call that there is", () => {
    const stream = newStream();
    const { ids, answer: of } = stream.called(1, office);
    expect(stream.append(alex, result(ids[0] ?? "", of))).toMatchObject({ code: "forbidden" });
    expect(stream.append(office, result(ids[0] ?? "", of))).toBeUndefined();
    expect(stream.append(alex, result("exe_999_1", of))).toMatchObject({ code: "forbidden" });
    const own = newStream();
    own.called(1);
    expect(own.state.calls[0]?.by).toBe(spelled(alex));
  });

  test("CTX-9 its key, its ref and its content have their form", () => {
    const stream = newStream();
    const { ids, answer: of } = stream.called(1);
    const whole = result(ids[0] ?? "", of);
    const ref = { type: "event", streamPath: STREAM, offset: of, eventType: "context-item" } as const;
    const wrong: Partial<ContextItem>[] = [
      { key: "exe_1_1" },
      { refs: [] },
      { refs: [{ ...ref, offset: of + 1 }] },
      { refs: [{ ...ref, streamPath: "/people/kim" }] },
      { refs: [{ ...ref, eventType: "llm-request-requested" }] },
      { refs: [ref, { type: "file", path: "p" }] },
      { content: "done" },
      { content: '{"ok":"yes","output":1}' },
      { content: '{"ok":true}' },
      { content: '{"ok":true,\n"output":1}' },
      { content: JSON.stringify({ ok: true, output: "x".repeat(16_384) }) },
    ];
    for (const more of wrong)
      expect([more, stream.append(alex, changed(whole, more))]).toMatchObject([more, { code: "invalid" }]);
    expect(stream.append(alex, whole)).toBeUndefined();
  });
});

describe("STREAM-4 CTX-2 keys of others", () => {
  test("STREAM-4 CTX-2 nobody but the office replaces a system item by its key", () => {
    const stream = newStream();
    stream.append(office, item("system", "You are Alex.", { key: "who" }));
    expect(stream.append(sam, item("user", "You are mine.", { key: "who" }))).toMatchObject({
      code: "forbidden",
    });
    expect(stream.append(alex, item("developer", "I am free.", { key: "who" }))).toMatchObject({
      code: "forbidden",
    });
    expect(stream.append(office, item("system", "You are Alex, still.", { key: "who" }))).toBeUndefined();
    expect(stream.state.items).toHaveLength(1);
    // Once a request covers it nothing is replaced: both are seen.
    stream.opened();
    expect(stream.append(sam, item("user", "You are mine.", { key: "who" }))).toBeUndefined();
    expect(stream.state.items.map(({ item: one }) => one.role)).toEqual(["system", "user", "user"]);
  });
});
