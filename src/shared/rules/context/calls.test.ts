import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteLength, firstCodePoints } from "../text.ts";
import {
  answerWith,
  callId,
  callsIn,
  isCallKey,
  MAX_RESULT_BYTES,
  resultContent,
  resultFault,
  resultItem,
  resultKey,
} from "./calls.ts";
import { isCallOf } from "./reduce.ts";

describe("CTX-9 calls in an answer", () => {
  test("CTX-9 each is a fenced block of one line of canonical JSON, numbered from 1", () => {
    const { content, calls } = answerWith("Let me see.", 12, [
      { tool: "search", input: { q: "a", limit: 3 } },
      { tool: "post", input: { text: "two\nlines" } },
    ]);
    expect(content).toBe(
      [
        "Let me see.",
        "",
        "```call",
        '{"id":"exe_12_1","input":{"limit":3,"q":"a"},"tool":"search"}',
        "```",
        "",
        "```call",
        '{"id":"exe_12_2","input":{"text":"two\\nlines"},"tool":"post"}',
        "```",
      ].join("\n"),
    );
    expect(calls.map(({ id }) => id)).toEqual([callId(12, 1), callId(12, 2)]);
  });

  test("CTX-9 what is written is read back, whatever the words before it quote", () => {
    const quote = fc.constantFrom(
      '```call\n{"id":"exe_12_1","input":{},"tool":"rm"}\n```',
      "```call\n{}\n```",
      "```",
      "```call",
      '````\n```call\n{"id":"exe_12_2","input":{},"tool":"rm"}\n```\n````',
    );
    const words = fc.array(fc.oneof(fc.string(), quote), { maxLength: 5 }).map((parts) => parts.join("\n"));
    const call = fc.record({ tool: fc.string({ minLength: 1 }), input: fc.jsonValue() });
    fc.assert(
      fc.property(words, fc.array(call, { minLength: 1, maxLength: 4 }), (text, asked) => {
        const { content, calls } = answerWith(text, 12, asked);
        const read = callsIn(
          content,
          calls.map(({ id }) => id),
        );
        expect(read).toEqual(JSON.parse(JSON.stringify(calls)));
      }),
      { numRuns: 500 },
    );
  });

  test("CTX-9 a block that the settlement does not name is a quote, a name without a block is none", () => {
    const block = '```call\n{"id":"exe_3_1","input":1,"tool":"x"}\n```';
    expect(callsIn(block, [])).toEqual([]);
    expect(callsIn(block, ["exe_3_2"])).toBeUndefined();
    expect(callsIn("", ["exe_3_1"])).toBeUndefined();
    for (const line of [
      "{",
      "null",
      '{"id":"exe_3_1"}',
      '{"id":"exe_3_1","tool":"","input":1}',
      '{"id":7,"tool":"x","input":1}',
    ])
      expect(callsIn(`\`\`\`call\n${line}\n\`\`\``, ["exe_3_1"])).toBeUndefined();
    expect(callsIn(`> ${block}`, ["exe_3_1"])).toBeUndefined();
  });

  test("CTX-9 ids are the request's, and their keys are known as such", () => {
    expect(isCallOf(12, callId(12, 3))).toBe(true);
    for (const id of ["exe_12_0", "exe_12_01", "exe_12_", "exe_1_2", "exe_12_1 ", "exe_121_1"])
      expect(isCallOf(12, id)).toBe(false);
    expect(["exe_1_1", "exe_12_30"].every(isCallKey)).toBe(true);
    expect(["exe_1", "exe_a_1", "xexe_1_1", "exe_1_1_1", ""].some(isCallKey)).toBe(false);
  });
});

describe("CTX-9 results", () => {
  test("CTX-9 the item of a result names its call four times over", () => {
    const call = { id: "exe_5_1", answer: 6, streamPath: "/people/alex" };
    expect(resultItem(call, "{}", { last: false })).toEqual({
      role: "developer",
      content: "{}",
      key: "exe_5_1",
      refs: [{ type: "event", streamPath: "/people/alex", offset: 6, eventType: "context-item" }],
      actor: { type: "script", executionId: "exe_5_1" },
      llmRequestPolicy: { behaviour: "dont-trigger-request" },
    });
    const file = { contentType: "text/plain", filename: "f", path: "p", size: 1, url: "u" };
    expect(resultItem(call, "{}", { last: true, files: [file] })).toMatchObject({
      files: [file],
      llmRequestPolicy: { behaviour: "after-current-request" },
    });
    expect(resultKey("exe_5_1")).toBe("result:exe_5_1");
  });

  test("CTX-9 what fits is whole", () => {
    expect(resultContent(true, { b: 1, a: "x" })).toEqual({
      content: '{"ok":true,"output":{"a":"x","b":1}}',
    });
    expect(resultContent(false, undefined)).toEqual({ content: '{"ok":false,"output":null}' });
  });

  test("CTX-9 it is one line of at most 16 KiB, and says how many bytes are left out", () => {
    const piece = fc.constantFrom("x", "é", "€", "🂡", "\u0000", "\n", '"', "\\", "\ud800");
    const long = fc
      .array(piece, { minLength: 1, maxLength: 4 })
      .chain((parts) => fc.integer({ min: 1, max: 20_000 }).map((n) => parts.join("").repeat(n)));
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.oneof(
          long,
          long.map((text) => ({ text })),
          fc.jsonValue(),
        ),
        (ok, output) => {
          const { content, whole } = resultContent(ok, output);
          expect(byteLength(content)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
          expect(content.includes("\n")).toBe(false);
          expect(resultFault(content)).toBeUndefined();
          const read = JSON.parse(content) as { ok: boolean; output: unknown; left_out?: number };
          expect(read.ok).toBe(ok);
          expect(read.left_out === undefined).toBe(whole === undefined);
          if (whole === undefined) return;
          const kept = read.output as string;
          expect(whole.startsWith(kept)).toBe(true);
          expect(byteLength(kept) + (read.left_out ?? 0)).toBe(byteLength(whole));
          // One character more would not have fitted.
          const more = JSON.stringify({
            ...read,
            output: kept + firstCodePoints(whole.slice(kept.length), 1),
          });
          expect(byteLength(more)).toBeGreaterThan(MAX_RESULT_BYTES - 2);
        },
      ),
      { numRuns: 200 },
    );
  });
});
