/**
 * How many parsed events a second the reducer takes (PERF-7): `node bench/reduce.ts`. A stream as an agent's is: people
 * write, some of it overheard, one edits; requests, answers, every tenth with a call; a compaction every thousand turns.
 */
import { callId } from "../src/shared/rules/context/calls.ts";
import { reduce } from "../src/shared/rules/context/reduce.ts";
import type { StreamEvent } from "../src/shared/rules/context/state.ts";

/** A stream of at least so many events, as `JSON.parse` hands them over. */
export function stream(events: number): StreamEvent[] {
  const out: StreamEvent[] = [];
  const start = Date.UTC(2026, 0, 1);
  const add = (type: string, payload: unknown): number => {
    const offset = out.length + 1;
    out.push({ offset, type, payload, at: start + offset * 1000 });
    return offset;
  };
  const deadline = new Date(start + 1e12).toISOString();
  const message = (n: number, more: object) =>
    add("context-item", {
      role: "user",
      content: `Message ${n}: could you look at the numbers of last week again, please?`,
      key: `msg_${n}`,
      refs: [{ type: "user", userId: `usr_${n % 7}` }],
      actor: { type: "user", origin: "web" },
      ...more,
    });
  for (let n = 1; out.length < events; n++) {
    for (let i = 0; i < 3; i++)
      message(n * 10 + i, { llmRequestPolicy: { behaviour: "dont-trigger-request" } });
    const first = message(n * 10 + 4, {});
    const trigger = n % 5 === 0 ? message(n * 10 + 4, { content: "I meant the week before." }) : first;
    const request = add("llm-request-requested", { trigger, deadline });
    const id = callId(request, 1);
    const calls = n % 10 === 0 ? [id] : [];
    const answer = add("context-item", {
      role: "assistant",
      content: `Here they are.${calls.length > 0 ? `\n\n\`\`\`call\n{"id":"${id}","input":{},"tool":"search"}\n\`\`\`` : ""}`,
      llmRequestOffset: request,
      actor: { type: "agent", path: "/people/alex" },
    });
    const usage = { inputTokens: 1000 + n, outputTokens: 50 };
    add("llm-request-succeeded", { requestOffset: request, usage, calls });
    for (const executionId of calls)
      add("context-item", {
        role: "developer",
        content: '{"ok":true,"output":"12"}',
        key: executionId,
        refs: [{ type: "event", streamPath: "/people/alex", offset: answer, eventType: "context-item" }],
        actor: { type: "script", executionId },
        llmRequestPolicy: { behaviour: "dont-trigger-request" },
      });
    if (n % 1000 === 0)
      add("context-item", {
        role: "developer",
        content: "What was said so far.",
        compaction: { replacesHistoryThrough: request },
      });
  }
  // Text and keys as they come from a row, not as they were put together here.
  return JSON.parse(JSON.stringify(out)) as StreamEvent[];
}

/** The fastest of some runs, in events a second: short ones, since a busy machine takes turns away. */
export function rate(events: readonly StreamEvent[], runs: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    reduce(events);
    best = Math.min(best, performance.now() - start);
  }
  return (events.length / best) * 1000;
}

if (import.meta.main) {
  const events = stream(20_000);
  console.log(`${Math.round(rate(events, 100)).toLocaleString("en")} events a second, of ${events.length}`);
}
