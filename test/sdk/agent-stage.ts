/** A stream, a model and tools in memory, with an agent that can be killed at any step between them. */
import {
  type Answer,
  type AskOptions,
  type Call,
  type Model,
  type RunAgentOptions,
  runAgent,
  type ToolHost,
  type ToolResult,
} from "../../src/context/index.ts";
import { FakeStream } from "./fake-stream.ts";
import { FakeClock } from "./fakes.ts";

/** What the model does with the n-th request that it is asked, from 1. */
export type Mind = (n: number, options: AskOptions) => Answer | Promise<Answer>;

export const answer = (text: string, calls: { tool: string; input: unknown }[] = []): Answer => ({
  ok: true,
  text,
  calls,
  cut: false,
  usage: { inputTokens: 10, outputTokens: 2 },
});

/** Ends the process at a step: before it is done, or after it and before anybody hears of it. */
export interface Kill {
  at: number;
  when: "before" | "after";
}
const never = new Promise<never>(() => {});

export class Stage {
  readonly clock = new FakeClock();
  readonly stream = new FakeStream(this.clock);
  /** The prompts of each request, by its offset. */
  readonly prompts = new Map<number, string[]>();
  readonly called: Call[] = [];
  /** What calls have made, by the call's id: made twice it is one thing. */
  readonly made = new Map<string, unknown>();
  readonly withdrawn: string[] = [];
  readonly kept: string[] = [];
  readonly errors: Error[] = [];
  readonly #mind: Mind;
  readonly #tool: (call: Call, signal: AbortSignal) => Promise<ToolResult | "later">;

  constructor(mind: Mind, tool?: (call: Call, signal: AbortSignal) => Promise<ToolResult | "later">) {
    this.#mind = mind;
    this.#tool = tool ?? (async ({ input }) => ({ ok: true, output: input }));
  }

  /** Starts a process; `steps` counts what it did. */
  agent(more: Partial<RunAgentOptions> = {}, kill?: Kill) {
    const steps: string[] = [];
    let isDead = false;
    const step = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
      if (isDead) return never;
      steps.push(name);
      const mine = kill?.at === steps.length ? kill.when : undefined;
      if (mine === "before") isDead = true;
      if (isDead) return never;
      const done = await work();
      if (mine === "after") isDead = true;
      return isDead ? never : done;
    };
    const client = this.stream.client();
    const stream = {
      ...client,
      append: (...args: Parameters<typeof client.append>) => step("append", () => client.append(...args)),
      read: (...args: Parameters<typeof client.read>) => step("read", () => client.read(...args)),
      history: (...args: Parameters<typeof client.history>) => step("history", () => client.history(...args)),
    };
    const model: Model = {
      name: "m",
      form: "openai-chat",
      ask: (prompt, options = {}) =>
        step("ask", () => {
          const offset = this.stream.state.open?.offset ?? 0;
          const asked = [...(this.prompts.get(offset) ?? []), JSON.stringify(prompt)];
          this.prompts.set(offset, asked);
          return this.#mind(this.prompts.size, options);
        }),
    };
    const host: ToolHost = {
      tools: [],
      call: (call, signal) =>
        step("call", () => {
          this.called.push(call);
          this.made.set(call.id, call.input);
          return this.#tool(call, signal);
        }),
      withdraw: async ({ id }) => void this.withdrawn.push(id),
      keep: async (text, filename) => {
        this.kept.push(text);
        return { contentType: "text/plain", filename, path: "p", size: text.length, url: "u" };
      },
    };
    const onError = (error: Error) => void this.errors.push(error);
    const running = runAgent({ stream, model, host, clock: this.clock, onError, ...more });
    return { ...running, steps };
  }

  /** Lets time pass until nothing is left to do. */
  async settle(): Promise<void> {
    for (let n = 0; n < 600; n++) {
      const { open, pending, calls } = this.stream.state;
      if (n > 0 && !open && !pending && calls.every(({ result }) => result !== null)) return;
      await this.clock.advance(n < 20 ? 100 : 2000);
    }
    throw new Error(`never settled: ${JSON.stringify(this.stream.state)}`);
  }

  /** What the agent has said, in order. */
  said(): string[] {
    return this.stream.state.items
      .filter(({ item }) => item.role === "assistant")
      .map(({ item }) => item.content);
  }
  results() {
    return this.stream.state.items.flatMap(({ item }) =>
      item.actor?.type === "script"
        ? [{ key: item.key, ...JSON.parse(item.content), goesOn: item.llmRequestPolicy?.behaviour }]
        : [],
    );
  }
}
