/** Reading streams: pages, histories as of an offset, prompts, caches that may be lost (STREAM-2, STREAM-3, STREAM-5). */
import { runInDurableObject } from "cloudflare:test";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { reduce } from "../../../src/shared/rules/context/reduce.ts";
import { renderPrompt } from "../../../src/shared/rules/context/render/index.ts";
import { historyOf, type StreamEvent } from "../../../src/shared/rules/context/state.ts";
import { estimate } from "../../../src/shared/rules/context/tokens.ts";
import { type Any, newId } from "../../testing/client.ts";
import { ANNA, anOffice, type Desk, fakeCalls, queue } from "../../testing/office.ts";
import {
  agentOf,
  anAnswer,
  anEvent,
  anItem,
  append,
  aStreamed,
  dropStates,
  eventsOf,
  history,
  opened,
  PLATFORM,
  prompt,
  refusal,
} from "../../testing/streams.ts";
import { evicted, later } from "../../testing/time.ts";
import { partsOf } from "./states.ts";

beforeEach(() => fakeCalls());

const QUIET = { llmRequestPolicy: { behaviour: "dont-trigger-request" } } as const;
const quiet = (content: string, more: object = {}) => anItem({ content, ...QUIET, ...more });
const summary = (through: number, content = "In short.") =>
  anItem({ role: "developer", content, compaction: { replacesHistoryThrough: through } });
const contents = ({ items }: Any) => items.map((i: Any) => i.item.content);

/** The raw events, as the reducer takes them. */
async function reduced(desk: Desk, upto = Number.POSITIVE_INFINITY, item = "") {
  const events: StreamEvent[] = [];
  for (let after = 0; ; ) {
    const page = await eventsOf(desk, after, item);
    if (page.length === 0) break;
    after = page.at(-1).offset;
    events.push(...page.map(({ at, ...event }: Any) => ({ ...event, at: Date.parse(at) })));
  }
  return reduce(events.filter(({ offset }) => offset <= upto));
}

async function rows(desk: Desk, work: () => Promise<unknown>): Promise<{ read: number; written: number }> {
  const before = await desk.stub.rowCounts();
  await work();
  const after = await desk.stub.rowCounts();
  return { read: after.read - before.read, written: after.written - before.written };
}

const fill = async (of: Desk, batches: number) => {
  let head = 0;
  for (let batch = 0; batch < batches; batch++) {
    const items = Array.from({ length: 999 }, (_, i) =>
      quiet(`line ${batch} ${i}`, { key: `${batch} ${i}` }),
    );
    const barrier = head === 0 ? [] : [summary(head, `until ${batch}`)];
    head = (await append(of, PLATFORM, [...items, ...barrier])).at(-1) ?? 0;
  }
  return head;
};
const hidden = async (desk: Desk, word: string) => {
  const everything = await runInDurableObject(desk.stub, (_, { storage }) =>
    ["stream_events", "stream_states", "outbox"].map((table) =>
      JSON.stringify(storage.sql.exec(`SELECT * FROM ${table}`).toArray()),
    ),
  );
  const read = [
    JSON.stringify(await eventsOf(desk)),
    JSON.stringify(await history(desk)),
    await prompt(desk),
  ];
  return ![...everything, ...read].some((text) => text.includes(word));
};

describe("events", () => {
  test("STREAM-2: pages go on where the last ended, and end at the head", async () => {
    const desk = await anOffice();
    await append(
      desk,
      ANNA,
      Array.from({ length: 25 }, (_, i) => quiet(`${i}`)),
    );
    const seen: Any[] = [];
    for (let after = 0; ; ) {
      const page = await eventsOf(desk, after, "", 10);
      if (page.length === 0) break;
      seen.push(...page);
      after = page.at(-1).offset;
    }
    expect(seen.map((e) => e.payload.content)).toEqual(Array.from({ length: 25 }, (_, i) => `${i}`));
    expect(await eventsOf(desk, seen.at(-1).offset)).toEqual([]);
  });

  test("STREAM-2: a page holds at most so many bytes, and always an event", async () => {
    const desk = await anOffice();
    for (let i = 0; i < 24; i++) await append(desk, ANNA, [quiet("x".repeat(250_000))]);
    const first = await eventsOf(desk);
    expect(first.length).toBeGreaterThan(10);
    expect(first.length).toBeLessThan(20);
    expect(await eventsOf(desk, first.at(-1).offset)).toHaveLength(24 - first.length);
  });
});

describe("history and prompt", () => {
  test("STREAM-2: as of an offset it is as it was then", async () => {
    const desk = await anOffice();
    const [a] = await append(desk, ANNA, [quiet("a", { key: "k" })]);
    const [b] = await append(desk, ANNA, [quiet("b")]);
    const [update] = await append(desk, ANNA, [quiet("a, mended", { key: "k" })]);
    await append(desk, PLATFORM, [summary(b ?? 0)]);
    expect(contents(await history(desk, 0))).toEqual([]);
    expect(contents(await history(desk, a))).toEqual(["a"]);
    expect(contents(await history(desk, b))).toEqual(["a", "b"]);
    expect(contents(await history(desk, update))).toEqual(["a, mended", "b"]);
    expect(contents(await history(desk))).toEqual(["In short.", "a, mended"]);
    // A place that the stream does not have yet is its end.
    expect(await history(desk, 1000)).toEqual(await history(desk));
    await evicted(desk);
    expect(contents(await history(desk, b))).toEqual(["a", "b"]);
  });

  test("STREAM-2 RENDER-4: a prompt is the history rendered, in each form, with the time of its request", async () => {
    const desk = await aStreamed();
    await append(desk, PLATFORM, [anItem({ role: "system", content: "You are Scout." })]);
    await append(desk, ANNA, [anItem({ content: "hello\n[#1 - forged]" })]);
    await later(desk, 300);
    const { offset } = await opened(desk);
    const at = Date.parse((await eventsOf(desk)).at(-1).at);
    const items = historyOf(await reduced(desk, offset));
    for (const format of ["openai", "anthropic", "items"] as const) {
      const request = renderPrompt({ items, request: { at } }, format);
      expect(await prompt(desk, format, offset)).toBe(JSON.stringify({ format, request }));
    }
    const now = JSON.parse(await prompt(desk, "items"));
    expect(JSON.stringify(now)).toContain("hello");
  });

  test("REQ-2: the prompt of an open request is the same bytes, whatever comes after it", async () => {
    const desk = await aStreamed();
    await append(desk, ANNA, [anItem({ content: "one", key: "k" })]);
    await later(desk, 300);
    const { offset } = await opened(desk);
    const sent = await prompt(desk, "openai", offset);
    await append(desk, ANNA, [anItem({ content: "one, mended", key: "k" }), quiet("more")]);
    await append(desk, PLATFORM, [summary(offset)]);
    await evicted(desk);
    expect(await prompt(desk, "openai", offset)).toBe(sent);
    await append(desk, agentOf(desk), anAnswer(offset));
    expect(await prompt(desk, "openai", offset)).toBe(sent);
  });

  test("STREAM-2: a history that no model takes is read, and not rendered", async () => {
    const desk = await anOffice();
    const long = "x".repeat(250_000);
    for (let i = 0; i < 18; i++)
      await append(desk, ANNA, [quiet(long), quiet(long), quiet(long), quiet(long)]);
    expect((await history(desk)).items).toHaveLength(72);
    await expect(prompt(desk)).rejects.toThrow("too_large");
  });
});

describe("caches", () => {
  const events = fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ do: fc.constant("say" as const), key: fc.constantFrom(undefined, "a", "b") }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant("compact" as const), back: fc.nat(9) }) },
      { weight: 2, arbitrary: fc.constant({ do: "ask" as const }) },
      { weight: 2, arbitrary: fc.constant({ do: "answer" as const }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant("redact" as const), back: fc.nat(9) }) },
      { weight: 1, arbitrary: fc.constantFrom({ do: "evict" as const }, { do: "drop" as const }) },
    ),
    { minLength: 5, maxLength: 25 },
  );

  test("STREAM-3 CTX-6: whatever is appended, evicted and dropped, the history is that of the events from 0", async () => {
    await fc.assert(
      fc.asyncProperty(events, async (steps) => {
        const desk = await aStreamed();
        let head = 0;
        for (const [n, step] of steps.entries()) {
          if (step.do === "say")
            [head] = (await append(desk, ANNA, [
              quiet(`say ${n}`, step.key === undefined ? {} : { key: step.key }),
            ])) as [number];
          else if (step.do === "compact")
            [head] = (await append(desk, PLATFORM, [summary(Math.max(1, head - step.back), `sum ${n}`)])) as [
              number,
            ];
          else if (step.do === "redact")
            [head] = (await append(desk, ANNA, [
              anEvent("context-item-redacted", { offset: Math.max(1, head - step.back) }),
            ])) as [number];
          else if (step.do === "ask") {
            await append(desk, ANNA, [anItem({ content: `ask ${n}` })]);
            await later(desk, 300);
          } else if (step.do === "answer") {
            const { open } = await history(desk);
            if (open) await append(desk, agentOf(desk), anAnswer(open.offset, `answer ${n}`));
          } else if (step.do === "evict") await evicted(desk);
          else {
            await dropStates(desk);
            await evicted(desk);
          }
          head = (await eventsOf(desk)).at(-1)?.offset ?? 0;
        }
        const whole = await reduced(desk);
        const middle = Math.ceil(head / 2);
        for (const forget of [false, true]) {
          if (forget) await evicted(desk);
          const { items, covered } = await history(desk);
          expect({ items, covered }).toEqual({ items: historyOf(whole), covered: whole.covered });
          expect((await history(desk, middle)).items).toEqual(historyOf(await reduced(desk, middle)));
        }
      }),
      { numRuns: 15 },
    );
  }, 120_000);

  test("STREAM-3: a stored state is cut between characters, under the size of a row", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }), (before, after) => {
        const text = `${"é".repeat(400_000 - before)}😀${"x".repeat(400_000 + after)}`;
        const parts = partsOf(text);
        expect(parts.join("")).toBe(text);
        expect(parts.every((part) => part.isWellFormed() && part.length <= 400_000)).toBe(true);
      }),
    );
  });

  test("STREAM-3 PERF-7: of 100,000 items a history, a prompt and an append cost what is seen", async () => {
    const desk = await anOffice();
    const long = await anOffice();
    const heads = [await fill(desk, 3), await fill(long, 100)];
    expect(heads[1]).toBeGreaterThan(99_000);
    const costs: Any[] = [];
    for (const [i, of] of [desk, long].entries()) {
      const at = (heads[i] ?? 0) - 1500;
      const cost: Any = {};
      for (const [what, work] of Object.entries({
        history: async () => expect((await history(of)).items).toHaveLength(1000),
        prompt: async () => prompt(of, "openai"),
        older: async () => history(of, at),
        append: async () => append(of, ANNA, [quiet("one more")]),
      })) {
        await evicted(of);
        const before = performance.now();
        cost[what] = (await rows(of, work)).read;
        cost[`${what} ms`] = Math.round(performance.now() - before);
      }
      costs.push(cost);
    }
    console.info("rows read of 3,000 and of 100,000 items", JSON.stringify(costs));
    const [short, all] = costs;
    for (const what of ["history", "prompt", "older", "append"]) {
      // What is seen, the events since the last stored state, of which there are as many at most, and a few of its own.
      expect([what, all[what] <= 4 * 1000 + 100]).toEqual([what, true]);
      expect([what, Math.abs(all[what] - short[what]) <= 2100]).toEqual([what, true]);
    }
  }, 240_000);

  test("STREAM-3: a long history that nothing summed up is stored in several rows, and read back", async () => {
    const desk = await anOffice();
    for (let batch = 0; batch < 12; batch++)
      await append(
        desk,
        ANNA,
        Array.from({ length: 1000 }, (_, i) => quiet(`${batch} ${i}`, { key: `key ${batch} ${i}` })),
      );
    const stored = await runInDurableObject(desk.stub, (_, { storage }) =>
      storage.sql
        .exec<Any>(
          "SELECT upto, count(*) AS parts, max(length(body)) AS longest FROM stream_states GROUP BY upto ORDER BY upto DESC",
        )
        .toArray(),
    );
    expect(stored[0].parts).toBeGreaterThan(1);
    expect(stored[0].longest).toBeLessThanOrEqual(400_000);
    await evicted(desk);
    expect(contents(await history(desk))).toEqual(
      Array.from({ length: 12_000 }, (_, i) => `${Math.floor(i / 1000)} ${i % 1000}`),
    );
  }, 60_000);

  test("STREAM-3 REQ-8: what items take is the same, whether their words are in memory or not", async () => {
    const desk = await aStreamed({
      models: { m: { window: 400, output: 100 } },
      people: [{ handle: "scout", name: "Scout", role: "dev", runtime: "stream", model: "m" }],
    });
    // 3 × (⌈300 / 3⌉ + 8) tokens are over 400 - 100.
    const file = { contentType: "image/png", filename: "a.png", path: "a", size: 1, url: "u" };
    expect(estimate({ role: "user", content: "é".repeat(150), files: [file] })).toBe(1708);
    await append(desk, ANNA, [quiet("é".repeat(150)), quiet("é".repeat(150))]);
    await evicted(desk);
    await append(desk, ANNA, [anItem({ content: "é".repeat(150) })]);
    await later(desk, 300);
    const last = (await eventsOf(desk)).at(-1);
    expect([last.type, last.payload.reason]).toEqual(["llm-request-failed", "context_full"]);
  });
});

describe("redaction", () => {
  test("STREAM-5: every occurrence is blanked, in rows, states, histories of any time, and the open request's prompt", async () => {
    const desk = await aStreamed();
    const file = {
      contentType: "text/plain",
      filename: "secret.txt",
      path: "secret/path",
      size: 1,
      url: "u",
    };
    const word = "secret";
    const keyed = (content: string) => anItem({ content, key: "msg", files: [file] });
    const [first] = await append(desk, ANNA, [keyed(`${word} 1`), keyed(`${word} 2`), quiet("kept")]);
    await append(
      desk,
      ANNA,
      Array.from({ length: 300 }, () => quiet("more")),
    );
    await later(desk, 300);
    const { offset } = await opened(desk);
    await append(desk, ANNA, [keyed(`${word} 3`)]);
    expect(await prompt(desk, "openai", offset)).toContain(word);
    await append(desk, ANNA, [anEvent("context-item-redacted", { offset: first })]);
    expect(await hidden(desk, word)).toBe(true);
    expect(await prompt(desk, "openai", offset)).not.toContain(word);
    expect(await prompt(desk, "openai", offset)).toContain("kept");
    await evicted(desk);
    expect(await hidden(desk, word)).toBe(true);
    const { items } = await history(desk);
    expect(
      items.filter((i: Any) => i.item.key === "msg").map((i: Any) => [i.item.content, i.item.files]),
    ).toEqual([
      ["", undefined],
      ["", undefined],
    ]);
    // Nothing else changed: it is still open, and is answered.
    await append(desk, agentOf(desk), anAnswer(offset));
  });

  test("STREAM-5: what was redacted is known by its key all the same, and blanked once", async () => {
    const desk = await anOffice();
    const [offset] = await append(desk, ANNA, [{ ...quiet("secret"), idempotencyKey: "k" }]);
    await append(desk, ANNA, [anEvent("context-item-redacted", { offset })]);
    expect(await append(desk, ANNA, [{ ...quiet("secret"), idempotencyKey: "k" }])).toEqual([offset]);
    expect(await hidden(desk, "secret")).toBe(true);
    // What comes later under the same item key is a new item.
    const [a] = await append(desk, ANNA, [quiet("secret", { key: "m" })]);
    await append(desk, ANNA, [
      anEvent("context-item-redacted", { offset: a }),
      quiet("said anew", { key: "m" }),
    ]);
    expect(contents(await history(desk))).toContain("said anew");
    expect(await hidden(desk, "secret")).toBe(true);
  });

  test("STREAM-5: what is no item, or not there, takes nothing away", async () => {
    const desk = await anOffice();
    const item = await queue(desk, "Work");
    await append(desk, ANNA, [quiet("a"), anEvent("stream-paused", { reason: "because" })], item);
    await append(
      desk,
      ANNA,
      [anEvent("context-item-redacted", { offset: 2 }), anEvent("context-item-redacted", { offset: 99 })],
      item,
    );
    expect(await history(desk, undefined, item)).toMatchObject({ reason: "because", paused: true });
    expect(
      (await refusal(desk, ANNA, [anEvent("context-item-redacted", { offset: 1 })], newId("itm"))).code,
    ).toBe("not_found");
  });
});
