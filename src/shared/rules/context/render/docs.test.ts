/** The page that explains the model's view says what the rules make of its stream. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { promptText } from "../../../../cli/context.ts";
import type { ContextItem } from "../../../wire/context/item.ts";
import { reduce } from "../reduce.ts";
import { historyOf, type StreamEvent } from "../state.ts";
import { PREAMBLE, renderPrompt } from "./index.ts";

const page = readFileSync(new URL("../../../../../docs/context.md", import.meta.url), "utf8");
/** The fenced blocks of the page, by their headings. */
function blockUnder(heading: string): string {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading));
  const block = section === undefined ? undefined : /```text\n([\s\S]*?)\n```/.exec(section)?.[1];
  if (block === undefined) throw new Error(`no block under ${heading}`);
  return block;
}

const NOON = Date.UTC(2026, 11, 1, 12);
const ANNA = {
  actor: { type: "user", origin: "web" },
  refs: [{ type: "user", userId: "prt_anna" }],
} as const;
const quiet = { llmRequestPolicy: { behaviour: "dont-trigger-request" } } as const;
const CALL = '```call\n{"id":"exe_3_1","input":{"query":"opening hours"},"tool":"search"}\n```';

function item(role: ContextItem["role"], content: string, more: object = {}): [string, object] {
  return ["context-item", { role, content, ...more }];
}
const all: [string, object][] = [
  item("system", "You are Ada of the shop."),
  item("user", "Open on Monday?", { key: "msg_a", ...ANNA }),
  ["llm-request-requested", { trigger: 2, deadline: new Date(NOON + 600_000).toISOString() }],
  item("assistant", `I look.\n\n${CALL}`, { llmRequestOffset: 3 }),
  ["llm-request-succeeded", { requestOffset: 3, calls: ["exe_3_1"] }],
  item("user", "And on Tueday?", { key: "msg_b", ...ANNA }),
  item("user", "And on Tuesday?", { key: "msg_b", ...ANNA, ...quiet }),
  item("developer", '{"ok":true,"output":"Monday to Saturday, 9 to 5"}', {
    key: "exe_3_1",
    actor: { type: "script", executionId: "exe_3_1" },
    refs: [{ type: "event", streamPath: "/people/ada", offset: 4, eventType: "context-item" }],
  }),
  ["llm-request-requested", { trigger: 8, deadline: new Date(NOON + 600_000).toISOString() }],
  item("user", "Open on Sunday?", { key: "msg_a", ...ANNA, ...quiet }),
  item("assistant", "Yes, both days.", { llmRequestOffset: 9 }),
  ["llm-request-succeeded", { requestOffset: 9 }],
  item("developer", "Anna asked about Monday and Tuesday.", { compaction: { replacesHistoryThrough: 9 } }),
];
const events = all.map(([type, payload], i): StreamEvent => ({ offset: i + 1, type, payload, at: NOON }));
const historyAt = (at: number) => historyOf(reduce(events.slice(0, at)));

/** Both columns of the picture: what stands in a line, by offset. */
function lineOf(offset: number, event: [string, object]): RegExp {
  const [type, payload] = event as [string, Record<string, unknown>];
  const told =
    type === "context-item"
      ? `${String(payload["role"])} +${String(payload["content"]).slice(0, 5).replace(/[{}]/g, "\\$&")}`
      : Object.entries(payload)
          .filter(([name]) => name === "trigger" || name === "requestOffset")
          .map(([name, value]) => `${name.replace("Offset", "")} ${String(value)}`)
          .join("");
  return new RegExp(`^ *${offset}  ${type} +${told}`, "m");
}
const told = (picture: string) =>
  [...picture.matchAll(/#(\d+) +(system|developer|user|assistant) /g)].map(([, offset, role]) => [
    Number(offset),
    role,
  ]);

it("CTX-1, CTX-2: the page's picture of a stream and its history is what the reducer makes of it", () => {
  const picture = blockUnder("A stream and its history");
  for (const [i, event] of all.slice(0, 12).entries()) expect(picture).toMatch(lineOf(i + 1, event));
  expect(told(picture)).toEqual(historyAt(12).map(({ offset, item }) => [offset, item.role]));
});

it("CTX-4: so is the one of a compaction", () => {
  expect(told(blockUnder("When it gets long"))).toEqual(
    historyAt(13).map(({ offset, item }) => [offset, item.role]),
  );
});

it("RENDER-1: and so is the prompt of its second request", () => {
  const body = renderPrompt({ items: historyAt(9), request: { at: NOON } }, "openai");
  expect(body.input[0]?.content).toBe(PREAMBLE);
  expect(blockUnder("What is sent")).toBe(promptText({ input: body.input.slice(1) }));
});
