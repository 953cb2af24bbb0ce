/** What a prompt of a thousand items costs to render (PERF-7): `node bench/render.ts`. */
import { type HistoryItem, renderPrompt } from "../src/shared/rules/context/render/index.ts";
import budgets from "./budgets.json" with { type: "json" };

/** Messages of people, answers with calls, and results, by turns: half a kilobyte each. */
export function conversation(length: number): HistoryItem[] {
  return Array.from({ length }, (_, i): HistoryItem => {
    const offset = i * 3 + 1;
    const call = `exe_${offset - 4}_1`;
    const path = "/people/scout";
    if (i % 3 === 0)
      return {
        offset,
        item: {
          role: "user",
          content: "Please look at ticket #42 of the shop: it says [x] <b> and a < b.\nThanks.\n".repeat(7),
          key: `msg_01K4ZQPX00000000000${offset}`,
          actor: { type: "user", origin: "web" },
          refs: [{ type: "user", userId: "prt_01K4ZQPX000000000000000001" }],
        },
      };
    if (i % 3 === 1) {
      const json = `{"id":"exe_${offset - 1}_1","input":{"query":"shop"},"tool":"search"}`;
      const content = `${"I look where it comes from. ".repeat(16)}\n\`\`\`call\n${json}\n\`\`\``;
      return { offset, item: { role: "assistant", content, llmRequestOffset: offset - 1 } };
    }
    return {
      offset,
      item: {
        role: "developer",
        content: JSON.stringify({ ok: true, output: "One line of what was found. ".repeat(18) }),
        key: call,
        actor: { type: "script", executionId: call },
        refs: [{ type: "event", streamPath: path, offset: offset - 3, eventType: "context-item" }],
      },
    };
  });
}

export const MEASURED = ["openai-responses", "openai-chat", "anthropic", "items"] as const;

/** The quickest of so many times, in ms: what else the machine does is not counted. */
export function fastestRender(format: (typeof MEASURED)[number], times: number): number {
  const items = conversation(budgets.render.items);
  let fastest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    renderPrompt({ items, request: { at: 0 } }, format);
    fastest = Math.min(fastest, performance.now() - began);
  }
  return fastest;
}

if (import.meta.main) {
  console.log(`${budgets.render.items} items, ${budgets.render.rule}: ${budgets.render.ms} ms`);
  for (const format of MEASURED)
    console.log(`${format.padEnd(18)}${fastestRender(format, 300).toFixed(2)} ms`);
}
