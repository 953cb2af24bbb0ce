import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type ModelServer, startModelServer } from "../../demo/model-server.ts";
import { answer, type Kill, type Mind, Stage } from "../../test/sdk/agent-stage.ts";
import { ANNA } from "../../test/sdk/fake-stream.ts";
import { settle } from "../../test/sdk/fakes.ts";
import { BullpenError } from "../sdk/index.ts";
import { failure } from "./failures.ts";
import { type Answer, openAiModel } from "./model.ts";

const CALLS = [
  { tool: "post", input: { text: "On it." } },
  { tool: "search", input: { query: "door" } },
];
/** First it calls two tools, then it is done. */
const working: Mind = (n) => (n === 1 ? answer("I will look.", CALLS) : answer("Done."));
const interrupt = { llmRequestPolicy: { behaviour: "interrupt-current-request" } };
const fails = (reason: Parameters<typeof failure>[0], more: object = {}): Answer => ({
  ok: false,
  failure: { ...failure(reason), ...more },
  text: "",
});
/** Says some words and goes on until it is called off. */
const endless: Mind = (n, { signal, onText }) =>
  n > 1
    ? answer("Something else, then.")
    : new Promise((resolve) => {
        onText?.("Once upon a time");
        signal?.addEventListener("abort", () =>
          resolve({ ok: false, failure: failure("aborted"), text: "Once upon a time " }),
        );
      });

/** It makes these calls, and is done. */
const once = (...calls: { tool: string; input: unknown }[]): Mind => {
  return (n) => (n === 1 ? answer("", calls) : answer("Done."));
};

describe("REQ-7: an agent's process", () => {
  test("REQ-3 CTX-9: answers, carries out its calls in order, and goes on with their results", async () => {
    const stage = new Stage(working);
    stage.agent();
    const asked = stage.stream.say("Paint the door.");
    await stage.settle();
    expect(stage.said()).toEqual([expect.stringContaining("I will look.\n\n```call\n"), "Done."]);
    expect(stage.called.map(({ tool, input }) => ({ tool, input }))).toEqual(CALLS);
    expect(stage.results()).toEqual([
      { key: "exe_2_1", ok: true, output: CALLS[0]?.input, goesOn: "dont-trigger-request" },
      { key: "exe_2_2", ok: true, output: CALLS[1]?.input, goesOn: "after-current-request" },
    ]);
    expect(stage.stream.of("llm-request-succeeded").map(({ payload }) => payload)).toEqual([
      { requestOffset: 2, usage: { inputTokens: 10, outputTokens: 2 }, calls: ["exe_2_1", "exe_2_2"] },
      { requestOffset: 7, usage: { inputTokens: 10, outputTokens: 2 } },
    ]);
    expect(stage.stream.of("llm-request-requested")[0]?.payload).toMatchObject({ trigger: asked });
    expect(stage.errors).toEqual([]);
  });

  test("REQ-7: killed at any step, the next one goes on: one answer each, every call makes one thing", async () => {
    const whole = new Stage(working);
    const { steps } = whole.agent();
    whole.stream.say("Paint the door.");
    await whole.settle();
    const said = whole.said();
    expect(steps.length).toBeGreaterThan(8);
    for (let at = 1; at <= steps.length; at++)
      for (const when of ["before", "after"] as const) {
        const kill: Kill = { at, when };
        const stage = new Stage(working);
        stage.stream.say("Paint the door.");
        stage.agent({}, kill);
        for (let n = 0; n < 10; n++) await stage.clock.advance(400);
        stage.agent();
        await stage.settle();
        const results = stage.results().map(({ key, ok }) => `${key} ${ok}`);
        const step = `${when} ${steps[at - 1]} ${at}`;
        expect({ step, said: stage.said(), made: [...stage.made.keys()], results }).toEqual({
          step,
          said,
          made: ["exe_2_1", "exe_2_2"],
          results: ["exe_2_1 true", "exe_2_2 true"],
        });
        for (const prompts of stage.prompts.values()) expect(new Set(prompts).size).toBe(1);
      }
  });

  test("REQ-7: two processes on one stream settle each request once", async () => {
    const stage = new Stage(working);
    stage.agent();
    stage.agent();
    stage.stream.say("Paint the door.");
    await stage.settle();
    expect(stage.said()).toHaveLength(2);
    expect(stage.results()).toHaveLength(2);
    expect(stage.stream.of("llm-request-succeeded")).toHaveLength(2);
  });

  test("REQ-7: what was settled while nobody listened is not run again; what is open is", async () => {
    const stage = new Stage((n) => answer(`Answer ${n}.`));
    const first = stage.agent();
    stage.stream.say("One.");
    await stage.settle();
    await first.stop();
    await first.ended;
    stage.stream.say("Two.");
    await stage.clock.advance(300);
    expect(stage.stream.state.open).not.toBeNull();
    const second = stage.agent();
    await stage.settle();
    stage.stream.drop();
    await stage.settle();
    expect(stage.said()).toEqual(["Answer 1.", "Answer 2."]);
    expect(second.steps.filter((step) => step === "ask")).toHaveLength(1);
  });

  test("CTX-9: a quoted block is no call, to who was there and to who comes later", async () => {
    const quoted = 'Like this:\n\n```call\n{"id":"exe_2_1","input":{},"tool":"post"}\n```';
    const stage = new Stage((n) => (n === 1 ? answer(quoted) : answer("Done.")));
    const first = stage.agent();
    stage.stream.say("How do you call tools?");
    await stage.settle();
    await first.stop();
    stage.agent();
    stage.stream.say("Thanks.");
    await stage.settle();
    expect(stage.called).toEqual([]);
  });

  test("REQ-7: a refusal for good ends it, and says why", async () => {
    const stage = new Stage(working);
    const client = stage.stream.client();
    const refused = new Error("no");
    const { ended } = stage.agent({ stream: { ...client, read: () => Promise.reject(refused) } });
    await expect(ended).rejects.toBe(refused);
  });
});

describe("REQ-3: interrupting", () => {
  test("REQ-3: the request is called off, how far it came is told, and the next sees both", async () => {
    const stage = new Stage(endless);
    stage.agent();
    stage.stream.say("Tell me a story.");
    await stage.clock.advance(300);
    const { offset } = stage.stream.state.open ?? { offset: 0 };
    stage.stream.say("Stop, something else.", interrupt);
    await stage.settle();
    const partial = stage.stream.state.items.find(({ item }) => item.content.includes("[interrupted]"));
    expect(partial?.item).toMatchObject({
      role: "assistant",
      content: "Once upon a time\n[interrupted]",
      refs: [{ type: "event", streamPath: "/people/scout", offset, eventType: "llm-request-requested" }],
    });
    expect(partial?.item.llmRequestOffset).toBeUndefined();
    expect(stage.said()).toEqual(["Once upon a time\n[interrupted]", "Something else, then."]);
    expect([...stage.prompts.values()][1]?.[0]).toContain("Once upon a time");
  });

  test("REQ-3: before a word was said nothing is told", async () => {
    const stage = new Stage((n, { signal }) =>
      n > 1
        ? answer("Yes?")
        : new Promise((resolve) => signal?.addEventListener("abort", () => resolve(fails("aborted")))),
    );
    stage.agent();
    stage.stream.say("Tell me a story.");
    await stage.clock.advance(300);
    stage.stream.say("Stop.", interrupt);
    await stage.settle();
    expect(stage.said()).toEqual(["Yes?"]);
  });

  test("REQ-3: an answer that was committed first stands, and the interrupt is a newer trigger", async () => {
    const stage = new Stage((n) => answer(`Answer ${n}.`));
    stage.agent();
    stage.stream.say("One.");
    await stage.settle();
    stage.stream.say("Stop.", interrupt);
    await stage.settle();
    expect(stage.said()).toEqual(["Answer 1.", "Answer 2."]);
  });

  test("CTX-9: calls that are under way are given up, without asking for anything by themselves", async () => {
    let release: (() => void) | undefined;
    const stage = new Stage(working, ({ input }) => {
      if (stage.called.length > 1) return Promise.resolve({ ok: true, output: input });
      return new Promise((resolve) => {
        release = () => resolve({ ok: true, output: "late" });
      });
    });
    stage.agent();
    stage.stream.say("Paint the door.");
    await stage.clock.advance(1000);
    expect(stage.called).toHaveLength(1);
    stage.stream.say("Stop.", interrupt);
    await stage.settle();
    release?.();
    await settle();
    expect(stage.results()).toMatchObject([
      { key: "exe_2_1", ok: false, goesOn: "dont-trigger-request" },
      { key: "exe_2_2", ok: false, goesOn: "dont-trigger-request" },
    ]);
    expect(stage.withdrawn).toEqual(["exe_2_1", "exe_2_2"]);
    expect(stage.said().at(-1)).toBe("Done.");
    expect(stage.stream.of("llm-request-requested")).toHaveLength(2);
  });
});

describe("REQ-4: failing", () => {
  test("REQ-2: what may succeed later is tried again within the request, with the same bytes", async () => {
    let asked = 0;
    const stage = new Stage(() => {
      asked += 1;
      return asked < 3 ? fails("rate_limited", { retryAfterMs: 7000 }) : answer("At last.");
    });
    stage.agent();
    stage.stream.say("Hello?");
    await stage.clock.advance(7240);
    expect(asked).toBe(1);
    await stage.clock.advance(60);
    expect(asked).toBe(2);
    await stage.settle();
    expect(stage.said()).toEqual(["At last."]);
    expect(stage.stream.of("llm-request-requested")).toHaveLength(1);
    const [prompts = []] = [...stage.prompts.values()];
    expect(prompts).toHaveLength(3);
    expect(new Set(prompts).size).toBe(1);
  });

  test("REQ-4: what does not succeed is a failure with its reason, and the office tries anew", async () => {
    const stage = new Stage((n) => (n < 3 ? fails("denied") : answer("Here.")));
    stage.agent();
    stage.stream.say("Hello?");
    await stage.settle();
    const reasons = stage.stream.of("llm-request-failed").map(({ payload }) => payload as { reason: string });
    expect(reasons.map(({ reason }) => reason.split(":")[0])).toEqual(["denied", "denied"]);
    expect(stage.said()).toEqual(["Here."]);
  });

  test("REQ-8: a prompt that is larger than the window fails by that name", async () => {
    const stage = new Stage(() => fails("context_full"));
    stage.agent();
    stage.stream.say("Hello?");
    await stage.settle();
    expect(stage.stream.of("llm-request-failed").map(({ payload }) => payload)).toEqual([
      { requestOffset: 2, reason: "context_full" },
    ]);
  });

  test("REQ-5: at its deadline a request is given up, and nothing is written of it", async () => {
    const stage = new Stage(endless);
    stage.agent();
    stage.stream.say("Hello?");
    await stage.clock.advance(300);
    await stage.clock.advance(10 * 60_000);
    expect(stage.stream.of("llm-request-cancelled")).toHaveLength(1);
    expect(stage.said()).toEqual([]);
  });

  test("REQ-7: an answer that the office refuses is a failure, and is not asked for again and again", async () => {
    const stage = new Stage(working);
    const client = stage.stream.client();
    const append: typeof client.append = async (events) => {
      if (events.length > 1)
        stage.stream.append([{ ...events[0], payload: { role: "system" } } as never], ANNA);
      return client.append(events);
    };
    stage.agent({ stream: { ...client, append } });
    stage.stream.say("Hello?");
    await stage.settle();
    const [failed] = stage.stream.of("llm-request-failed");
    expect(failed?.payload).toMatchObject({ reason: expect.stringContaining("did not take the answer") });
  });

  test("REQ-7: a stream that is out of reach, or whose answers are lost, is tried again until it is there", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("ok", "before", "after"), { minLength: 1, maxLength: 25 }),
        async (faults) => {
          const stage = new Stage(working);
          const client = stage.stream.client();
          const broken =
            <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
            async (...args: A): Promise<T> => {
              const fault = faults.shift();
              if (fault === "before") throw new BullpenError("unavailable", "out of reach");
              const done = await work(...args);
              if (fault === "after") throw new BullpenError("unavailable", "the answer was lost");
              return done;
            };
          const stream = {
            append: broken((...args: Parameters<typeof client.append>) => client.append(...args)),
            read: broken((...args: Parameters<typeof client.read>) => client.read(...args)),
            history: broken((...args: Parameters<typeof client.history>) => client.history(...args)),
          };
          stage.agent({ stream: { ...client, ...stream } });
          stage.stream.say("Paint the door.");
          await stage.settle();
          expect(stage.said()).toHaveLength(2);
          expect(stage.results()).toHaveLength(2);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("CTX-9: calls", () => {
  test("CTX-9: a process has tools of its own, and what is wrong with a call is told to the model", async () => {
    const stage = new Stage(
      once(
        { tool: "add", input: { a: 1, b: 2 } },
        { tool: "add", input: { a: "1" } },
        { tool: "add", input: "{half" },
        { tool: "fail", input: {} },
      ),
    );
    const numbers = z.object({ a: z.number(), b: z.number() });
    stage.agent({
      tools: [
        {
          name: "add",
          description: "Adds.",
          input: numbers,
          run(input) {
            const { a, b } = numbers.parse(input);
            return { sum: a + b };
          },
        },
        {
          name: "fail",
          description: "Fails.",
          input: z.object({}),
          run() {
            throw new Error("It is raining.");
          },
        },
      ],
    });
    stage.stream.say("Add.");
    await stage.settle();
    expect(stage.results()).toMatchObject([
      { ok: true, output: { sum: 3 } },
      { ok: false, output: expect.stringContaining("a must be a number") },
      { ok: false, output: expect.stringContaining("not JSON") },
      { ok: false, output: "It is raining." },
    ]);
    const [[prompt = ""] = []] = [...stage.prompts.values()];
    expect(JSON.parse(prompt).tools[0].function).toMatchObject({ name: "add", description: "Adds." });
  });

  test("CTX-9: a call that waits for somebody is asked about until it is decided, and holds up no other", async () => {
    let decided = false;
    const stage = new Stage(
      once({ tool: "approve", input: {} }, { tool: "post", input: {} }),
      async ({ tool }) => {
        if (tool === "approve" && !decided) return "later";
        return { ok: true, output: tool };
      },
    );
    stage.agent();
    stage.stream.say("Buy paint.");
    await stage.clock.advance(60_000);
    expect(stage.results()).toMatchObject([{ output: "post", goesOn: "dont-trigger-request" }]);
    await stage.clock.advance(30 * 60_000);
    decided = true;
    await stage.settle();
    expect(stage.results()[1]).toMatchObject({
      ok: true,
      output: "approve",
      goesOn: "after-current-request",
    });
    expect(stage.said().at(-1)).toBe("Done.");
  });

  test("CTX-9: a tool that never answers has failed; calls that ran out of time ask for nothing, and it is told so", async () => {
    const calls = Array.from({ length: 6 }, () => ({ tool: "hang", input: {} }));
    const stage = new Stage(once(...calls), () => new Promise(() => {}));
    stage.agent();
    stage.stream.say("Wait.");
    await stage.clock.advance(300);
    for (let n = 0; n < 70; n++) await stage.clock.advance(10_000);
    const results = stage.results();
    expect(results).toHaveLength(6);
    for (const result of results) expect(result).toMatchObject({ ok: false, goesOn: "dont-trigger-request" });
    expect(results[0].output).toContain("did not answer in time");
    expect(results[5].output).toContain("took too long");
    const notices = stage.stream.state.items.filter(({ item }) => item.content.includes("given up. Go on"));
    expect(notices).toHaveLength(1);
    expect(stage.stream.of("llm-request-requested").map(({ payload }) => payload)).toMatchObject([
      {},
      { trigger: notices[0]?.offset },
    ]);
  });

  test("CTX-9: a tool that is out of reach is tried again before it has failed", async () => {
    let tries = 0;
    const stage = new Stage(
      once({ tool: "flaky", input: {} }, { tool: "gone", input: {} }),
      async ({ tool }) => {
        tries += 1;
        if (tool === "gone" || tries < 3) throw new Error("out of reach");
        return { ok: true, output: "there" };
      },
    );
    stage.agent();
    stage.stream.say("Go.");
    await stage.settle();
    expect(stage.results()).toMatchObject([{ ok: true, output: "there" }, { ok: false }]);
  });

  test("CTX-9: of a long result the whole is in a file", async () => {
    const long = "ü".repeat(40_000);
    const stage = new Stage(once({ tool: "read", input: {} }), async () => ({ ok: true, output: long }));
    stage.agent();
    stage.stream.say("Read it.");
    await stage.settle();
    const [result] = stage.results();
    expect(result.ok).toBe(true);
    expect(result.left_out).toBe(80_000 - new TextEncoder().encode(result.output).length);
    expect(stage.kept).toEqual([long]);
    const item = stage.stream.state.items.find(({ item }) => item.key === "exe_2_1")?.item;
    expect(item?.files).toMatchObject([{ filename: "exe_2_1.txt", size: 40_000 }]);
  });

  test("CTX-9: whatever a model writes can be stored", async () => {
    const odd = { tool: "", input: { "\ud800": "\0 \udfff" } };
    const stage = new Stage((n) => (n === 1 ? answer("a\0b\ud800c", [odd]) : answer("x".repeat(300_000))));
    stage.agent();
    stage.stream.say("Go.");
    await stage.settle();
    expect(stage.said()[0]).toContain("ab\ufffdc");
    expect(stage.said()[1]).toHaveLength(256 * 1024 - 2);
    expect(stage.said()[1]?.endsWith("\n[cut off]")).toBe(true);
    expect(stage.results()[0]).toMatchObject({ ok: true });
  });
});

describe("CTX-8: over real HTTP", () => {
  let server: ModelServer;
  beforeAll(async () => void (server = await startModelServer()));
  afterAll(() => server.close());

  test("CTX-8 REQ-3: a scripted model calls, is cut, is interrupted, and answers", async () => {
    const stage = new Stage(working);
    const model = openAiModel({ baseUrl: server.baseUrl, model: "whole", form: "openai-responses" });
    server.script(
      "whole",
      { text: "Hm.", calls: [{ tool: "post", input: { text: "x" } }], fault: { kind: "cut", after: 0 } },
      { text: "Hm.", calls: [{ tool: "post", input: { text: "x" } }] },
      { text: "A long story.", fault: { kind: "held", after: 2 } },
      { text: "Done." },
    );
    const heard = Promise.withResolvers<void>();
    const ask: typeof model.ask = (prompt, options) =>
      model.ask(prompt, { ...options, onText: (more) => more.startsWith("long") && heard.resolve() });
    stage.agent({ model: { ...model, ask } });
    stage.stream.say("Paint the door.");
    const until = async (so: () => boolean) => {
      while (!so()) {
        await stage.clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await until(() => server.seen("whole").length === 3);
    await until(() => stage.results().length === 1);
    await heard.promise;
    stage.stream.say("Stop.", interrupt);
    await until(() => stage.said().at(-1) === "Done.");
    expect(server.seen("whole").map(({ state }) => state)).toEqual(["left", "answered", "left", "answered"]);
    expect(stage.said()).toEqual([
      expect.stringContaining("Hm."),
      expect.stringMatching(/^A long\n\[interrupted\]$/),
      "Done.",
    ]);
    expect(server.seen("whole")[0]?.body).toEqual(server.seen("whole")[1]?.body);
  });
});
