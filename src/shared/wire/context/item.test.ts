/** Holds the context's schemas against the contract, which wins over any prose. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { broken, item } from "../../rules/context/streams.cases.ts";
import { appendBody, contextItem } from "./index.ts";

const root = new URL("../../../../", import.meta.url);
const read = (path: string) =>
  JSON.parse(readFileSync(new URL(path, root), "utf8")) as Record<string, unknown>;
const ajv = new Ajv2020({ strictTypes: false, validateFormats: false });
const contract = ajv.compile(read("contract/context-item.schema.json"));
const published = ajv.compile(read("schemas/context/item.json"));

describe("an item", () => {
  test("CTX-1 HTTP-4 the contract, what is published and what validates take the same items", () => {
    fc.assert(
      fc.property(fc.oneof(item, broken), (value) => {
        const taken = contextItem.safeParse(value).success;
        // The two read `__proto__` as a field that they do not know only where they are asked for it by name.
        fc.pre(value === undefined || !JSON.stringify(value).includes("__proto__"));
        expect([contract(value), published(value)]).toEqual([taken, taken]);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["an unknown key at the root", { role: "user", content: "", mood: "good" }],
    [
      "an unknown key at the root that every object has",
      JSON.parse('{"role":"user","content":"","__proto__":1}'),
    ],
    ["an unknown role", { role: "tool", content: "" }],
    ["no content", { role: "user" }],
    ["an empty key", { role: "user", content: "", key: "" }],
    ["an offset of 0", { role: "assistant", content: "", llmRequestOffset: 0 }],
    ["an offset that is no whole number", { role: "assistant", content: "", llmRequestOffset: 1.5 }],
    ["an offset past what counts exactly", { role: "assistant", content: "", llmRequestOffset: 2 ** 53 }],
    [
      "a file without its URL",
      { role: "user", content: "", files: [{ contentType: "a/b", filename: "", path: "", size: 0 }] },
    ],
    ["an actor of no known type", { role: "user", content: "", actor: { type: "root" } }],
    ["a policy of no known kind", { role: "user", content: "", llmRequestPolicy: { behaviour: "now" } }],
    ["a compaction without a barrier", { role: "developer", content: "", compaction: {} }],
  ])("CTX-1 %s is refused", (_what, value) => {
    expect(contextItem.safeParse(value).success).toBe(false);
  });

  test("STREAM-4 unknown keys below the root are dropped", () => {
    const actor = { type: "user", origin: "web", admin: true };
    const parsed = contextItem.parse({
      role: "user",
      content: "",
      actor,
      refs: [{ type: "user", userId: "u", x: 1 }],
    });
    expect(parsed).toEqual({
      role: "user",
      content: "",
      actor: { type: "user", origin: "web" },
      refs: [{ type: "user", userId: "u" }],
    });
  });

  test("CTX-4 a compaction on another role is taken: it is inert there, and the published schema says so", () => {
    const value = { role: "user", content: "", compaction: { replacesHistoryThrough: 3 } };
    expect([contextItem.safeParse(value).success, published(value)]).toEqual([true, true]);
    expect(read("schemas/context/item.json")).toMatchObject({
      if: { required: ["compaction"], properties: { role: { const: "developer" } } },
      else: { properties: { compaction: { description: expect.stringContaining("Inert") } } },
    });
  });
});

describe("an append", () => {
  test("STREAM-1 the types of events are known; another is refused", () => {
    const events = [
      { type: "context-item", payload: { role: "user", content: "Hi." } },
      { type: "llm-request-requested", payload: { trigger: 1, deadline: "2026-01-01T00:00:00Z" } },
      {
        type: "llm-request-succeeded",
        payload: { requestOffset: 2, usage: { inputTokens: 1, outputTokens: 1 }, calls: ["exe_2_1"] },
      },
      { type: "llm-request-failed", payload: { requestOffset: 2, reason: "429" } },
      { type: "llm-request-cancelled", payload: { requestOffset: 2 } },
      { type: "stream-paused", payload: { reason: "lunch" } },
      { type: "stream-resumed" },
      { type: "context-item-redacted", payload: { offset: 1 }, idempotencyKey: "k" },
    ];
    for (const event of events) expect(appendBody.safeParse({ events: [event] }).success).toBe(true);
    expect(appendBody.safeParse({ events: [{ type: "moon-phase", payload: {} }] }).success).toBe(false);
  });

  test("STREAM-1 a batch has 1 to 1,000 events", () => {
    const event = { type: "stream-resumed", payload: {} };
    const sizes = [0, 1, 1000, 1001].map(
      (n) => appendBody.safeParse({ events: Array.from({ length: n }, () => event) }).success,
    );
    expect(sizes).toEqual([false, true, true, false]);
  });
});
