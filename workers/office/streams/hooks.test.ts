/** What else happens when a stream changes: compactions that are asked for, and parts that are told (REQ-3, REQ-8). */
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Any } from "../../testing/client.ts";
import { ANNA, type Desk, eventually, fakeCalls, queue } from "../../testing/office.ts";
import {
  agentOf,
  anAnswer,
  anEvent,
  anItem,
  append,
  aStreamed,
  asked,
  eventsOf,
  fails,
  history,
  interrupts,
  opened,
  refusal,
  requestsOf,
  TURN,
} from "../../testing/streams.ts";
import { evicted, later } from "../../testing/time.ts";
import { appendTo } from "./append.ts";
import type { CompactionAsk, Ended, StreamHook, StreamOutside } from "./hooks.ts";
import { STREAM_HOOKS, STREAM_OUTSIDE } from "./table.ts";

beforeEach(() => fakeCalls());

const says = (content: string, more: object = {}) => anItem({ content, ...more });
const types = async (desk: Desk, item = "") => (await eventsOf(desk, 0, item)).map((e) => e.type);

/** A model of 1,000 tokens. */
const small = () =>
  aStreamed({
    models: { m: { window: 1000, output: 100 } },
    people: [{ handle: "scout", name: "Scout", role: "dev", runtime: "stream", model: "m" }],
  });
const used = (inputTokens: number) => ({ usage: { inputTokens, outputTokens: 10 } });
const summarise: StreamOutside["compact"] = async (beside, { stream, through }) =>
  void beside.work((desk) =>
    appendTo(desk, `/people/${stream.handle}`, [
      {
        type: "context-item",
        payload: {
          role: "developer",
          content: "In short.",
          compaction: { replacesHistoryThrough: through },
        },
      },
    ]),
  );

/** Puts a part into the office's tables for one test, as the shell would have it: an outside one in place of its own. */
async function withParts<T>(
  parts: { hook?: StreamHook; outside?: StreamOutside },
  work: () => Promise<T>,
): Promise<T> {
  const hooks = STREAM_HOOKS as StreamHook[];
  const outside = STREAM_OUTSIDE as StreamOutside[];
  if (parts.hook) hooks.push(parts.hook);
  const own = parts.outside ? outside.splice(0, outside.length, parts.outside) : [];
  try {
    return await work();
  } finally {
    if (parts.hook) hooks.splice(hooks.indexOf(parts.hook), 1);
    if (parts.outside) outside.splice(0, outside.length, ...own);
  }
}

describe("a window that fills", () => {
  test("REQ-8: over half the window a compaction is asked for, once, with the measured request as its barrier", async () => {
    const desk = await small();
    const asks: CompactionAsk[] = [];
    const outside: StreamOutside = {
      compact: async (beside, ask) => {
        asks.push(ask);
        await summarise(beside, ask);
      },
    };
    await withParts({ outside }, async () => {
      const first = await asked(desk);
      await append(desk, agentOf(desk), anAnswer(first, "ok", used(480)));
      expect(asks).toEqual([]);
      const second = await asked(desk, "more");
      await append(desk, agentOf(desk), anAnswer(second, "ok", used(500)));
      await eventually(() => expect(asks).toHaveLength(1));
      expect(asks).toEqual([{ stream: { handle: "scout" }, through: second }]);
      await eventually(async () =>
        expect((await history(desk)).items.map((i: Any) => i.item.content)).toEqual(["In short.", "ok"]),
      );
      await later(desk, 60_000);
      await evicted(desk);
      await later(desk, 60_000);
      expect(asks).toHaveLength(1);
    });
  });

  test("REQ-8: one that fails is without harm: it is logged, not asked for again, and the stream goes on", async () => {
    const desk = await small();
    let tries = 0;
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const outside: StreamOutside = {
      compact: async () => {
        tries += 1;
        throw new Error("no model");
      },
    };
    await withParts({ outside }, async () => {
      const first = await asked(desk);
      await append(desk, agentOf(desk), anAnswer(first, "ok", used(600)));
      await eventually(() => expect(logged).toHaveBeenCalled());
      const next = await asked(desk, "more");
      expect(next).toBeGreaterThan(first);
      expect(tries).toBe(1);
    });
    logged.mockRestore();
  });

  test("REQ-8: over the window less the output it is compacted first, and opened then", async () => {
    const desk = await small();
    const waits = Promise.withResolvers<void>();
    const outside: StreamOutside = {
      compact: async (beside, ask) => {
        await waits.promise;
        await summarise(beside, ask);
      },
    };
    await withParts({ outside }, async () => {
      const first = await asked(desk);
      await append(desk, agentOf(desk), anAnswer(first, "ok", used(880)));
      await append(desk, ANNA, [says("x".repeat(300))]);
      await later(desk, TURN);
      expect(await requestsOf(desk)).toHaveLength(1);
      waits.resolve();
      await eventually(async () => expect(await requestsOf(desk)).toHaveLength(2));
      expect((await history(desk)).items.map((i: Any) => i.item.content.slice(0, 9))).toEqual([
        "In short.",
        "ok",
        "xxxxxxxxx",
      ]);
    });
  });

  test("REQ-8: what fits no window fails, and is not tried again", async () => {
    const desk = await small();
    await append(desk, ANNA, [says("x".repeat(3000))]);
    await later(desk, TURN);
    const [, request, failure] = await eventsOf(desk);
    expect(request.type).toBe("llm-request-requested");
    expect(failure.payload).toEqual({ requestOffset: request.offset, reason: "context_full" });
    await later(desk, 3_600_000);
    expect(await types(desk)).toHaveLength(3);
    // Somebody who takes things away helps.
    await append(desk, ANNA, [anEvent("context-item-redacted", { offset: 1 }), says("and now?")]);
    await later(desk, TURN);
    expect(await history(desk)).toMatchObject({ open: { trigger: 5 } });
  });
});

describe("hooks", () => {
  test("REQ-3: each end of a request is told once, with its answer, in the append's transaction", async () => {
    const desk = await aStreamed();
    const told: Any[] = [];
    const hook: StreamHook = {
      opened: (_, { request, trigger }) => void told.push({ opened: request, trigger }),
      ended: (_, ended: Ended) => void told.push(ended),
      paused: (_desk, _stream, reason) => void told.push({ paused: reason }),
    };
    await withParts({ hook }, async () => {
      const agent = agentOf(desk);
      const first = await asked(desk);
      await append(desk, agent, anAnswer(first, "Hi.", { usage: { inputTokens: 1, outputTokens: 1 } }));
      const second = await asked(desk, "more");
      await append(desk, agent, [fails(second, "500")]);
      await append(desk, ANNA, [interrupts("not open: only a trigger")]);
      await later(desk, TURN);
      const third = (await opened(desk)).offset;
      await append(desk, ANNA, [interrupts("stop")]);
      await refusal(desk, agent, anAnswer(third));
      await append(desk, ANNA, [anEvent("stream-paused", { reason: "lunch" }), anEvent("stream-resumed")]);
      await later(desk, TURN);
      const fourth = (await opened(desk)).offset;
      await evicted(desk);
      await later(desk, 700_000);
      const stream = { handle: "scout" };
      expect(told.map(({ by: _, trigger: __, ...rest }) => rest)).toEqual([
        { opened: first },
        {
          stream,
          request: first,
          outcome: "succeeded",
          calls: [],
          answer: { offset: first + 1, content: "Hi." },
          usage: { inputTokens: 1, outputTokens: 1 },
        },
        { opened: second },
        { stream, request: second, outcome: "failed", calls: [], reason: "500" },
        { opened: third },
        { stream, request: third, outcome: "interrupted", calls: [] },
        { paused: "lunch" },
        { paused: undefined },
        { opened: fourth },
        { stream, request: fourth, outcome: "cancelled", calls: [] },
      ]);
    });
  });

  test("STREAM-1: what a hook refuses undoes the append, in rows and in memory", async () => {
    const desk = await aStreamed();
    const request = await asked(desk);
    const hook: StreamHook = {
      ended: () => {
        throw new Error("no");
      },
    };
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    await withParts({ hook }, async () => {
      expect((await refusal(desk, agentOf(desk), anAnswer(request))).code).toBe("internal");
    });
    logged.mockRestore();
    expect(await history(desk)).toMatchObject({ open: { offset: request } });
    await append(desk, agentOf(desk), anAnswer(request, "Now."));
    expect((await history(desk)).items.map((i: Any) => i.item.content)).toEqual(["hello", "Now."]);
  });

  test("STREAM-1: a hook may append, here and to other streams, and those go on, too", async () => {
    const desk = await aStreamed();
    // Paused, they are offered nothing: what is on the item's stream is the test's alone.
    await desk.stub.pause(ANNA, {});
    const item = await queue(desk, "Work");
    const hook: StreamHook = {
      ended: (of, { stream, outcome }) => {
        if (stream.item === undefined && outcome === "succeeded")
          appendTo(of, `/people/scout/items/${item}`, [
            { type: "context-item", payload: { role: "developer", content: "Go on with it." } },
          ]);
      },
    };
    await withParts({ hook }, async () => {
      await append(desk, agentOf(desk), anAnswer(await asked(desk)));
      await later(desk, TURN);
      const there = await eventsOf(desk, 0, item);
      const told = there.find((e) => e.payload.content === "Go on with it.");
      expect(there.at(-1)).toMatchObject({
        type: "llm-request-requested",
        payload: { trigger: told.offset },
      });
    });
  });
});
