/** A person whom the office runs itself, against the scripted model over real HTTP (CTX-8, REQ-7). */
import { evictDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Scripted } from "../../../demo/model-wire.ts";
import { ChatReader } from "../../../src/context/answer.ts";
import type { Any } from "../../testing/client.ts";
import { ANNA, anOffice, aTeam, type Desk, eventually } from "../../testing/office.ts";
import { ScriptedModel } from "../../testing/scripted.ts";
import { anEvent, anItem, append, eventsOf, history } from "../../testing/streams.ts";
import { later } from "../../testing/time.ts";
import { CALLS } from "../calls.ts";

afterEach(() => void vi.restoreAllMocks());

interface At {
  desk: Desk;
  model: ScriptedModel;
}

/** Scout, run by the office, with a model of its own. */
async function resident(more: object = {}, person: object = {}): Promise<At> {
  const model = new ScriptedModel();
  const scout = { handle: "scout", name: "Scout", role: "dev", runtime: "resident", model: model.name };
  return { desk: await anOffice({ people: [{ ...scout, ...person }], ...more }), model };
}
const say = (desk: Desk, content: string, more: object = {}) =>
  append(desk, ANNA, [anItem({ content, ...more })]);
/** A message that has in it what the model is to say, step by step. */
const script = (...steps: Scripted[]) => `Do this.\nscript:${JSON.stringify(steps)}`;
const interrupt = { llmRequestPolicy: { behaviour: "interrupt-current-request" } } as const;

async function of(desk: Desk, type: string, item = ""): Promise<Any[]> {
  return (await eventsOf(desk, 0, item)).filter((event) => event.type === type);
}
async function items(desk: Desk, item = ""): Promise<Any[]> {
  return (await history(desk, undefined, item)).items.map((entry: Any) => entry.item);
}
async function said(desk: Desk, item = ""): Promise<string[]> {
  return (await items(desk, item)).filter(({ role }) => role === "assistant").map(({ content }) => content);
}
const until = (desk: Desk, answers: number, item = "") =>
  eventually(async () => {
    const all = await said(desk, item);
    if (all.length < answers) throw new Error(`said so far: ${JSON.stringify(all)}`);
    return all;
  });

/** Resolves once so many pieces of words were read by whoever asks models here. */
function heard(pieces: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // oxlint-disable-next-line typescript/unbound-method -- called with the reader that it is of
  const { take } = ChatReader.prototype;
  let count = 0;
  vi.spyOn(ChatReader.prototype, "take").mockImplementation(function (this: ChatReader, part) {
    const more = take.call(this, part);
    if (more !== "") count += 1;
    if (count === pieces) resolve();
    return more;
  });
  return promise;
}

describe("CTX-8: the resident runner", () => {
  test("CTX-8 REQ-3: what is said to the person is answered by their model, with what it used", async () => {
    const { desk, model } = await resident();
    await model.says({ text: "Blue, of course.", usage: { input: 90, output: 4, cached: 60 } });
    await say(desk, "Which colour?");
    expect(await until(desk, 1)).toEqual(["Blue, of course."]);
    const [settled] = await of(desk, "llm-request-succeeded");
    expect(settled.payload).toEqual({
      requestOffset: 2,
      usage: { inputTokens: 90, outputTokens: 4, cachedInputTokens: 60 },
    });
    const [asked] = await model.asked(1, 1);
    expect(asked).toMatchObject({ path: "/v1/chat/completions", state: "answered" });
    expect(asked?.authorization).toBeUndefined();
    const { messages, tools } = asked!.body;
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
    expect(messages[1]?.content).toContain("Which colour?");
    expect(tools?.map((tool) => tool.function.name)).toContain("hand_back");
  });

  test("CTX-9: its calls are carried out, each result stands in the stream, and it goes on", async () => {
    const { desk } = await resident();
    const calls = [
      { tool: "work", input: {} },
      { tool: "sing", input: {} },
      { tool: "post", input: { text: "Hello?" } },
    ];
    await say(desk, script({ text: "I look.", calls }, { text: "Done." }));
    expect(await until(desk, 2)).toEqual([expect.stringContaining("```call"), "Done."]);
    const results = (await items(desk)).filter(({ actor }) => actor?.type === "script");
    expect(results.map(({ key, content }) => [key, JSON.parse(content).ok])).toEqual([
      ["exe_2_1", true],
      ["exe_2_2", false],
      ["exe_2_3", false],
    ]);
    expect(JSON.parse(results[0].content).output).toEqual({ items: [] });
    expect(results.map((result) => result.llmRequestPolicy.behaviour)).toEqual([
      "dont-trigger-request",
      "dont-trigger-request",
      "after-current-request",
    ]);
    expect(results[0].refs).toEqual([
      { type: "event", streamPath: "/people/scout", offset: 3, eventType: "context-item" },
    ]);
  });

  test("CTX-8: the streams of its items are run beside its own", async () => {
    const { desk } = await resident();
    const made = (await desk.stub.addItem(ANNA, { title: "Paint the door", kind: "assigned" })) as Any;
    const { id } = made.value.item;
    await append(desk, ANNA, [anItem({ content: script({ text: "The item." }) })], id);
    await say(desk, script({ text: "My own." }));
    expect(await until(desk, 1, id)).toEqual(["The item."]);
    expect(await until(desk, 1)).toEqual(["My own."]);
  });

  test("SECRET-1 CTX-8: the workspace's own key is used, and the one before it while it is rotated", async () => {
    const { desk, model } = await resident();
    vi.spyOn(CALLS, "secretValues").mockResolvedValue(["sk-new-and-bad", "sk-old-and-good"]);
    await model.says({ fault: { kind: "status", status: 401 } }, { text: "Yes." });
    await say(desk, "Are you there?");
    expect(await until(desk, 1)).toEqual(["Yes."]);
    expect((await model.asked(2, 2)).map(({ authorization }) => authorization)).toEqual([
      "Bearer sk-new-and-bad",
      "Bearer sk-old-and-good",
    ]);
    expect(JSON.stringify(await eventsOf(desk))).not.toContain("sk-");
  });

  test("CTX-8: without a model, or a binding for it, the failure says what to do", async () => {
    for (const [model, words] of [
      [undefined, "names no model"],
      ["@cf/meta/llama", "no AI binding"],
    ] as const) {
      const { desk } = await resident({}, { model });
      await say(desk, "Hello?");
      await eventually(async () => {
        const [failed] = await of(desk, "llm-request-failed");
        expect(failed?.payload.reason).toContain(words);
      });
    }
  });

  test("CTX-8: who is run elsewhere is not run here, and who is no more is let go of", async () => {
    const { desk, model } = await resident({}, { runtime: "stream" });
    await say(desk, "Hello?");
    await eventually(async () => expect((await history(desk)).open).toBeDefined());
    await later(desk, 31_000);
    expect(await model.asked()).toEqual([]);

    const there = await resident();
    await there.model.says({ text: "One two three.", fault: { kind: "held", after: 1 } });
    await say(there.desk, "Hello?");
    await there.model.asked(1);
    await there.desk.setTeam({
      ...there.desk.team,
      people: there.desk.team.people.map((one) => ({ ...one, runtime: "claude" })),
    });
    await say(there.desk, "Still there?");
    expect((await there.model.asked(1, 1))[0]?.state).toBe("left");
    expect(await said(there.desk)).toEqual([]);
  });
});

describe("REQ-3: interrupting a resident", () => {
  test("REQ-3: the connection is closed, how far it came is told, and it answers what is newer", async () => {
    const { desk, model } = await resident();
    const words = heard(2);
    await model.says({ text: "Once upon a time.", fault: { kind: "held", after: 2 } }, { text: "Yes?" });
    await say(desk, "Tell me a story.");
    await words;
    await say(desk, "Stop.", interrupt);
    expect(await until(desk, 2)).toEqual(["Once upon\n[interrupted]", "Yes?"]);
    const partial = (await items(desk)).find(({ content }) => content.endsWith("[interrupted]"));
    expect(partial).toMatchObject({
      role: "assistant",
      refs: [{ type: "event", streamPath: "/people/scout", offset: 2, eventType: "llm-request-requested" }],
    });
    expect((await model.asked(2, 2)).map(({ state }) => state)).toEqual(["left", "answered"]);
  });

  test("REQ-3: a person's stop pauses it: nothing is asked until somebody speaks again", async () => {
    const { desk, model } = await resident();
    const words = heard(1);
    await model.says({ text: "Once upon a time.", fault: { kind: "held", after: 1 } }, { text: "Yes?" });
    await say(desk, "Tell me a story.");
    await words;
    await append(desk, ANNA, [
      anItem({ role: "developer", content: "Stop.", ...interrupt }),
      anEvent("stream-paused", { reason: "stop" }),
    ]);
    expect(await until(desk, 1)).toEqual(["Once\n[interrupted]"]);
    await later(desk, 60_000);
    expect(await model.asked()).toHaveLength(1);
    await say(desk, "Go on.");
    expect(await until(desk, 2)).toEqual(["Once\n[interrupted]", "Yes?"]);
  });
});

describe("REQ-4 REQ-5: a resident's model fails", () => {
  test("REQ-2: what may succeed later is tried again within the request, with the same bytes", async () => {
    const { desk, model } = await resident();
    await model.says(
      { text: "Half.", fault: { kind: "cut", after: 0 } },
      { fault: { kind: "status", status: 429, retryAfterS: 0 } },
      { text: "Whole." },
    );
    await say(desk, "Hello?");
    expect(await until(desk, 1)).toEqual(["Whole."]);
    const asked = await model.asked(3, 3);
    expect(new Set(asked.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await of(desk, "llm-request-requested")).toHaveLength(1);
  });

  test("REQ-4: what does not succeed fails with its reason, and is tried again later, three times in all", async () => {
    const { desk, model } = await resident();
    const refused: Scripted = { fault: { kind: "status", status: 400, code: "bad_prompt" } };
    await model.says(refused, refused, refused, { text: "Too late." });
    await say(desk, "Hello?");
    for (let n = 1; n <= 3; n++) {
      await eventually(async () => expect(await of(desk, "llm-request-failed")).toHaveLength(n));
      await later(desk, 60_000);
    }
    expect(await model.asked()).toHaveLength(3);
    const [failed] = await of(desk, "llm-request-failed");
    expect(failed.payload.reason).toMatch(/^refused: .*400/);
    expect(await said(desk)).toEqual([]);
  });

  test("REQ-5: at its deadline a request that is never answered is given up", async () => {
    const { desk, model } = await resident();
    await model.says({ fault: { kind: "silent" } }, { text: "Here I am." });
    await say(desk, "Hello?");
    await model.asked(1);
    await later(desk, 10 * 60_000);
    expect(await of(desk, "llm-request-cancelled")).toHaveLength(1);
    expect((await model.asked(1, 1))[0]?.state).toBe("left");
    await say(desk, "And now?");
    await later(desk, 300);
    expect(await until(desk, 1)).toEqual(["Here I am."]);
  });
});

describe("REQ-7: a resident's office is evicted", () => {
  test("REQ-7 REQ-1: before the request is opened the alarm opens it, and it is run", async () => {
    const { desk } = await resident();
    await say(desk, script({ text: "Here." }));
    await evictDurableObject(desk.stub);
    expect(await until(desk, 1)).toEqual(["Here."]);
  });

  test("REQ-7: asleep between turns it costs nothing, and wakes to the next", async () => {
    const { desk } = await resident();
    await say(desk, script({ text: "One." }));
    await until(desk, 1);
    await eventually(async () => expect((await history(desk)).open).toBeUndefined());
    await evictDurableObject(desk.stub);
    await say(desk, script({ text: "Two." }));
    expect(await until(desk, 2)).toEqual(["One.", "Two."]);
  });
});

/** With a model that takes little. */
async function long(): Promise<At> {
  const { desk, model } = await resident();
  await desk.setTeam(
    aTeam({ people: desk.team.people, models: { [model.name]: { window: 4000, output: 100 } } }),
  );
  return { desk, model };
}

describe("REQ-8: a resident's stream is summarised", () => {
  test("REQ-8 CTX-4: over half the window the model sums up, and its summary stands in place of what it sums up", async () => {
    const { desk, model } = await long();
    const usage = { input: 2500, output: 10 };
    await model.says(
      { text: "Blue.", usage },
      { text: "Anna wants a blue door.", usage: { input: 2600, output: 9 } },
    );
    await say(desk, "Which colour?");
    const summary = await eventually(async () => {
      const found = (await items(desk)).find(({ compaction }) => compaction);
      if (!found) throw new Error("no summary yet");
      return found;
    });
    expect(summary).toMatchObject({
      role: "developer",
      content: "Anna wants a blue door.",
      compaction: { replacesHistoryThrough: 2, usage: { inputTokens: 2600, outputTokens: 9 } },
    });
    expect((await items(desk)).map(({ content }) => content)).toEqual(["Anna wants a blue door.", "Blue."]);
    const [measured, side] = await model.asked(2, 2);
    const first = measured!.body.messages;
    expect(side!.body.messages.slice(0, first.length)).toEqual(first);
    expect(side!.body.messages.at(-1)?.content).toContain("summary");
    expect(await of(desk, "llm-request-requested")).toHaveLength(1);
  });

  test("REQ-8: a summary that fails does no harm", async () => {
    const { desk, model } = await long();
    vi.spyOn(console, "error").mockImplementation(() => {});
    const usage = { input: 2500, output: 10 };
    const broken: Scripted = { fault: { kind: "status", status: 400 } };
    await model.says({ text: "Blue.", usage }, broken, { text: "Twice." });
    await say(desk, "Which colour?");
    await model.asked(2, 2);
    await say(desk, "How often?");
    expect(await until(desk, 2)).toEqual(["Blue.", "Twice."]);
  });
});
