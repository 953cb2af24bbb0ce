import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fault, type ModelServer, type Scripted, startModelServer } from "../../demo/model-server.ts";
import { FakeClock } from "../../test/sdk/fakes.ts";
import { type AiBinding, type Model, type ModelForm, openAiModel, workersAiModel } from "./model.ts";

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server.close());

let models = 0;
/** A model with a script of its own. */
function aModel(form: ModelForm, answers: Scripted[], more: object = {}): Model {
  models += 1;
  const model = `m${models}`;
  server.script(model, ...answers);
  return openAiModel({ baseUrl: server.baseUrl, model, form, apiKey: "sk-the-key-of-this-test", ...more });
}
const FORMS = ["openai-chat", "openai-responses"] as const;
const promptOf = (form: ModelForm) => {
  const messages = [{ role: "user", content: "Hello?" }];
  return form === "openai-chat" ? { messages } : { input: messages };
};
const WORDS = "One two three.\nGrüße, 👋🏽!";

describe.each(FORMS)("CTX-8: a model asked as %s", (form) => {
  const prompt = promptOf(form);

  test("CTX-8: words come as they are written, with the tokens that the endpoint counts", async () => {
    const usage = { input: 120, output: 7, cached: 100, reasoning: 3 };
    const model = aModel(form, [{ text: WORDS, usage }]);
    const heard: string[] = [];
    const answer = await model.ask(prompt, { onText: (more) => heard.push(more) });
    expect(answer).toEqual({
      ok: true,
      text: WORDS,
      calls: [],
      cut: false,
      usage: { inputTokens: 120, outputTokens: 7, cachedInputTokens: 100, reasoningOutputTokens: 3 },
    });
    expect(heard.length).toBeGreaterThan(3);
    expect(heard.join("")).toBe(WORDS);
    expect(server.seen(model.name)[0]).toMatchObject({
      path: form === "openai-chat" ? "/v1/chat/completions" : "/v1/responses",
      authorization: "Bearer sk-the-key-of-this-test",
    });
  });

  test("CTX-9: calls are handed over in order; an input that is no JSON stands as it was written", async () => {
    const calls = [
      { tool: "post", input: { text: 'said "so"' } },
      { tool: "search", input: {} },
      { tool: "ask", input: '{"text": "half' },
    ];
    const answer = await aModel(form, [{ text: "On it.", calls }]).ask(prompt);
    expect(answer).toMatchObject({ ok: true, text: "On it.", calls });
    const alone = await aModel(form, [{ calls }]).ask(prompt);
    expect(alone).toMatchObject({ ok: true, text: "", calls });
  });

  test("CTX-8: an endpoint that does not stream is understood all the same", async () => {
    const calls = [{ tool: "post", input: { text: "x" } }];
    const model = aModel(form, [{ text: WORDS, calls }], {
      more: { stream: false, stream_options: undefined },
    });
    const heard: string[] = [];
    const answer = await model.ask(prompt, { onText: (more) => heard.push(more) });
    expect(answer).toMatchObject({ ok: true, text: WORDS, calls });
    expect(heard).toEqual([WORDS]);
  });

  test("CTX-8: an answer that ran into its limit says so, and the limit is asked for by its name", async () => {
    const model = aModel(form, [{ text: "Half a", ended: "length" }], {
      output: 50,
      more: { temperature: 0 },
    });
    expect(await model.ask(prompt)).toMatchObject({ ok: true, text: "Half a", cut: true });
    expect(server.seen(model.name)[0]?.body).toMatchObject({
      temperature: 0,
      [form === "openai-chat" ? "max_completion_tokens" : "max_output_tokens"]: 50,
    });
  });

  test.each<[string, Fault, object]>([
    ["breaks before a word", { kind: "cut", after: 0 }, { reason: "cut", retry: true }],
    ["breaks in the middle", { kind: "cut", after: 2 }, { reason: "cut", retry: true }],
    ["ends before it is done", { kind: "unfinished", after: 2 }, { reason: "cut", retry: true }],
    ["is no JSON", { kind: "malformed", after: 2 }, { reason: "malformed", retry: true }],
    [
      "fails in the middle",
      { kind: "broken", after: 2, code: "server_error" },
      { reason: "unavailable", retry: true },
    ],
    [
      "is over a limit in the middle",
      { kind: "broken", after: 2, code: "rate_limit_exceeded" },
      { reason: "rate_limited", retry: true },
    ],
  ])("CTX-8: an answer that %s is a failure with its words so far", async (_, fault, expected) => {
    const answer = await aModel(form, [{ text: WORDS, fault }]).ask(prompt);
    const after = "after" in fault ? fault.after : 0;
    expect(answer).toMatchObject({ ok: false, failure: expected });
    expect(answer.text).toBe(["", "One ", "One two "][after]);
  });

  test.each<[number, string | undefined, object]>([
    [400, undefined, { reason: "refused", retry: false }],
    [400, "context_length_exceeded", { reason: "context_full", retry: false }],
    [401, "invalid_api_key", { reason: "denied", retry: false }],
    [403, undefined, { reason: "denied", retry: false }],
    [404, "model_not_found", { reason: "not_found", retry: false }],
    [408, undefined, { reason: "timeout", retry: true }],
    [413, undefined, { reason: "context_full", retry: false }],
    [429, "rate_limit_exceeded", { reason: "rate_limited", retry: true }],
    [429, "insufficient_quota", { reason: "quota", retry: false }],
    [500, undefined, { reason: "unavailable", retry: true }],
    [503, "overloaded", { reason: "unavailable", retry: true }],
  ])("CTX-8: a refusal with %i %s says whether to try again", async (status, code, expected) => {
    const fault: Fault = { kind: "status", status, ...(code !== undefined && { code }) };
    const answer = await aModel(form, [{ fault }]).ask(prompt);
    expect(answer).toMatchObject({ ok: false, failure: expected, text: "" });
  });

  test("CTX-8: how long to wait is passed on", async () => {
    const answer = await aModel(form, [{ fault: { kind: "status", status: 429, retryAfterS: 7 } }]).ask(
      prompt,
    );
    expect(answer).toMatchObject({ failure: { reason: "rate_limited", retryAfterMs: 7000 } });
  });

  test("REQ-3: called off in the middle, the connection is closed and the words so far are kept", async () => {
    const model = aModel(form, [{ text: WORDS, fault: { kind: "held", after: 2 } }]);
    const stop = new AbortController();
    const answer = await model.ask(prompt, {
      signal: stop.signal,
      onText: (more) => more.startsWith("two") && stop.abort(),
    });
    expect(answer).toMatchObject({ ok: false, failure: { reason: "aborted" }, text: "One two " });
    await server.until(model.name, 1, 1);
    expect(server.seen(model.name)[0]?.state).toBe("left");
  });

  test("CTX-8: what never answers, or stops in the middle, is given up in time", async () => {
    for (const [fault, text] of [
      [{ kind: "silent" }, ""],
      [{ kind: "held", after: 1 }, "One "],
    ] satisfies [Fault, string][]) {
      const clock = new FakeClock();
      const model = aModel(form, [{ text: WORDS, fault }], { clock, silenceMs: 5000 });
      const first = Promise.withResolvers<void>();
      const asking = model.ask(prompt, { onText: () => first.resolve() });
      await server.until(model.name, 1);
      if (text !== "") await first.promise;
      await clock.advance(4999);
      expect(clock.pending).toBe(1);
      await clock.advance(1);
      expect(await asking).toMatchObject({ ok: false, failure: { reason: "timeout", retry: true }, text });
      await server.until(model.name, 1, 1);
    }
  });

  test("CTX-8: an endpoint that is slow and steady is waited for", async () => {
    const model = aModel(form, [{ text: WORDS, fault: { kind: "slow", ms: 3 } }]);
    expect(await model.ask(prompt)).toMatchObject({ ok: true, text: WORDS });
  });
});

describe("CTX-8: an endpoint that is none", () => {
  test("CTX-8: nobody there, and a page instead of an answer", async () => {
    const page = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<html>Welcome</html>");
    });
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", () => resolve()));
    const baseUrl = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    const model = openAiModel({ baseUrl, model: "m" });
    expect(await model.ask(promptOf("openai-chat"))).toMatchObject({
      failure: { reason: "malformed", retry: true },
    });
    await new Promise((resolve) => page.close(resolve));
    expect(await model.ask(promptOf("openai-chat"))).toMatchObject({
      failure: { reason: "unreachable", retry: true },
    });
  });

  test("CTX-8: the key follows no redirect, and stands in no failure", async () => {
    const asked: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.end("{}");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", () => resolve()));
    const away = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    let status = 307;
    const first = createServer((request, response) => {
      response.writeHead(status, { location: away, "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `Is ${request.headers.authorization} yours?` } }));
    });
    await new Promise<void>((resolve) => first.listen(0, "127.0.0.1", () => resolve()));
    const baseUrl = `http://127.0.0.1:${(first.address() as AddressInfo).port}/v1/`;
    const model = openAiModel({ baseUrl, model: "m", apiKey: "sk-the-key-of-this-test" });
    for (status of [307, 400, 401]) {
      const answer = await model.ask(promptOf("openai-chat"));
      expect(answer).toMatchObject({ ok: false, failure: { retry: false } });
      expect(JSON.stringify(answer)).not.toContain("sk-the");
    }
    expect(asked).toEqual([]);
    await Promise.all([first, other].map((one) => new Promise((resolve) => one.close(resolve))));
  });
});

/** A binding that answers as the platform does. */
const binding = (answer: () => Response): AiBinding & { asked: unknown[] } => {
  const asked: unknown[] = [];
  return {
    asked,
    run: async (...args) => {
      asked.push(args.slice(0, 2));
      return answer();
    },
  };
};
const stream = (...frames: string[]) =>
  new Response(frames.map((frame) => `data: ${frame}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

describe("CTX-8: Workers AI", () => {
  const prompt = promptOf("openai-chat");

  test("CTX-8: the newer models speak as OpenAI's do", async () => {
    const ai = binding(() =>
      stream(
        '{"choices":[{"delta":{"content":"Hel"}}]}',
        '{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
        "[DONE]",
      ),
    );
    const model = workersAiModel({ ai, model: "@cf/a/model", output: 9 });
    expect(await model.ask(prompt)).toMatchObject({
      ok: true,
      text: "Hello",
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    expect(ai.asked).toEqual([
      ["@cf/a/model", { ...prompt, stream: true, stream_options: { include_usage: true }, max_tokens: 9 }],
    ]);
  });

  test("CTX-9: the older ones have a form of their own, as a stream and whole", async () => {
    const streamed = binding(() =>
      stream(
        '{"response":"Hel"}',
        '{"response":"lo","tool_calls":[{"name":"post","arguments":{"text":"x"}}]}',
        '{"response":"","usage":{"prompt_tokens":3,"completion_tokens":2}}',
        "[DONE]",
      ),
    );
    const whole = binding(() =>
      Response.json({
        success: true,
        result: {
          response: "Hello",
          tool_calls: [{ name: "post", arguments: { text: "x" } }],
          usage: { prompt_tokens: 3, completion_tokens: 2 },
        },
      }),
    );
    for (const ai of [streamed, whole])
      expect(await workersAiModel({ ai, model: "@cf/a/model" }).ask(prompt)).toMatchObject({
        ok: true,
        text: "Hello",
        calls: [{ tool: "post", input: { text: "x" } }],
        usage: { inputTokens: 3, outputTokens: 2 },
      });
  });

  test("CTX-8: a binding that throws is a failure like any other", async () => {
    const ai: AiBinding = { run: () => Promise.reject(new Error("no such model")) };
    expect(await workersAiModel({ ai, model: "@cf/a/model" }).ask(prompt)).toMatchObject({
      failure: { reason: "unreachable" },
    });
  });
});
