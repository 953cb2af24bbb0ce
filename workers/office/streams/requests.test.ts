/** A request's life, as the office drives it on real objects by real alarms (REQ-1 to REQ-8). */
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import type { Any } from "../../testing/client.ts";
import { ANNA, anOffice, type Desk, eventually, fakeCalls, queue } from "../../testing/office.ts";
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
  hookOf,
  interrupts,
  PLATFORM,
  refusal,
  requestsOf,
  TURN,
} from "../../testing/streams.ts";
import { evicted, later } from "../../testing/time.ts";
import type { Office } from "../office.ts";

beforeEach(() => fakeCalls());

const says = (content: string, more: object = {}) => anItem({ content, ...more });
const types = async (desk: Desk, item = "") => (await eventsOf(desk, 0, item)).map((e) => e.type);
const loop = () => anItem({ role: "developer", content: "and on" });

describe("opening", () => {
  test("REQ-1: what comes within 250 ms is one request, for the newest, counted from the first", async () => {
    const desk = await aStreamed();
    // Clocks stand still, in a time to come: no alarm fires by itself.
    const start = Date.now() + 3_600_000;
    const at = (ms: number) =>
      runInDurableObject(desk.stub, async (office: Office) => {
        office.wall = () => start + ms;
        await office.alarm();
      });
    await at(0);
    await append(desk, ANNA, [says("a")]);
    await at(150);
    await append(desk, ANNA, [says("b")]);
    await evicted(desk);
    await at(249);
    expect(await requestsOf(desk)).toEqual([]);
    await at(250);
    const [request, ...more] = await requestsOf(desk);
    expect(more).toEqual([]);
    expect(request.payload.trigger).toBe(2);
    expect(Date.parse(request.payload.deadline) - Date.parse(request.at)).toBe(600_000);
    expect(await history(desk)).toMatchObject({ covered: 3, open: { offset: 3, trigger: 2 } });
    expect((await history(desk)).pending).toBeUndefined();
  });

  test("REQ-1: the alarm comes by itself, without anybody's call", async () => {
    const desk = await aStreamed();
    await append(desk, ANNA, [says("a")]);
    await eventually(async () => expect(await requestsOf(desk)).toHaveLength(1));
  });

  test("REQ-1: one request is open at a time; what comes meanwhile asks for the next", async () => {
    const desk = await aStreamed();
    const first = await asked(desk);
    await append(desk, ANNA, [says("more")]);
    await later(desk, 60_000);
    expect(await requestsOf(desk)).toHaveLength(1);
    expect(await history(desk)).toMatchObject({ pending: { external: true }, open: { offset: first } });
    await append(desk, agentOf(desk), anAnswer(first));
    await later(desk, TURN);
    expect(await requestsOf(desk)).toHaveLength(2);
  });

  test("REQ-1 CTX-5: what asks for nothing opens nothing, and sets no alarm", async () => {
    const desk = await aStreamed();
    const quiet = { llmRequestPolicy: { behaviour: "dont-trigger-request" as const } };
    await append(desk, PLATFORM, [anItem({ role: "system", content: "a" }), says("b", quiet)]);
    await append(desk, agentOf(desk), [anItem({ role: "assistant", content: "c" })]);
    await append(desk, ANNA, [says("d", quiet)]);
    const alarms = await runInDurableObject(desk.stub, (_, { storage }) =>
      storage.sql.exec<Any>("SELECT name FROM alarms WHERE name LIKE 'stream%'").toArray(),
    );
    expect(alarms).toEqual([]);
    await later(desk, 3_600_000);
    expect(await requestsOf(desk)).toEqual([]);
  });

  test("REQ-1: streams of one office go on beside each other", async () => {
    const desk = await aStreamed();
    const items = [await queue(desk, "A"), await queue(desk, "B"), ""];
    for (const item of items) await append(desk, ANNA, [says("hello")], item);
    await evicted(desk);
    await later(desk, TURN);
    for (const item of items) expect(await requestsOf(desk, item)).toHaveLength(1);
  });

  test("REQ-1 REQ-7: nothing is opened for who is not run, or was taken out; what waits goes on when they are", async () => {
    const desk = await anOffice();
    await append(desk, ANNA, [says("hello")]);
    await later(desk, 60_000);
    expect(await requestsOf(desk)).toEqual([]);
    const person = { handle: "scout", name: "Scout", role: "dev" };
    await desk.setTeam({ ...desk.team, people: [{ ...person, runtime: "stream", identities: {} }] });
    await later(desk, 10);
    const [request] = await requestsOf(desk);
    expect(request.payload.trigger).toBe(1);
    await append(desk, agentOf(desk), anAnswer(request.offset));
    await desk.letter("removed", { by: "Anna" });
    await append(desk, ANNA, [says("are you there?")]);
    await later(desk, 60_000);
    expect(await requestsOf(desk)).toHaveLength(1);
  });
});

describe("settling", () => {
  test("REQ-3: the answer and the settlement are one batch, and settling happens once", async () => {
    const desk = await aStreamed();
    const agent = agentOf(desk);
    const request = await asked(desk);
    const usage = { inputTokens: 10, outputTokens: 2 };
    await append(desk, agent, anAnswer(request, "Hi.", { usage }));
    await evicted(desk);
    for (const more of [
      anAnswer(request),
      [fails(request)],
      [anEvent("llm-request-cancelled", { requestOffset: request })],
    ])
      expect((await refusal(desk, agent, more)).code).toBe("conflict");
    expect((await history(desk)).items.map((i: Any) => i.item.content)).toEqual(["hello", "Hi."]);
    await later(desk, 700_000);
    expect(await types(desk)).toEqual([
      "context-item",
      "llm-request-requested",
      "context-item",
      "llm-request-succeeded",
    ]);
  });

  test("REQ-3: an interrupt closes what is open, and the next request is for it", async () => {
    const desk = await aStreamed();
    const request = await asked(desk);
    await append(desk, ANNA, [interrupts("stop, rather this")]);
    expect((await history(desk)).open).toBeUndefined();
    await evicted(desk);
    expect((await refusal(desk, agentOf(desk), anAnswer(request))).code).toBe("conflict");
    await later(desk, TURN);
    const next = (await requestsOf(desk)).at(-1);
    expect(next.payload.trigger).toBe(3);
    const ref = { type: "event", streamPath: "/people/scout", offset: request };
    const partial = anItem({ role: "assistant", content: "Half of\n[interrupted]", refs: [ref] } as Any);
    await append(desk, agentOf(desk), [partial]);
    await append(desk, agentOf(desk), anAnswer(next.offset, "Whole."));
    expect((await history(desk)).items.map((i: Any) => i.item.content)).toEqual([
      "hello",
      "stop, rather this",
      "Half of\n[interrupted]",
      "Whole.",
    ]);
  });

  test("REQ-3: a person's stop is one batch: it closes what is open and asks for nothing", async () => {
    const desk = await aStreamed();
    await asked(desk);
    await append(desk, PLATFORM, [
      anItem({
        role: "developer",
        content: "Anna stopped you.",
        llmRequestPolicy: { behaviour: "interrupt-current-request" },
      }),
      anEvent("stream-paused", { reason: "stop" }),
    ]);
    expect(await history(desk)).toMatchObject({ paused: true, reason: "stop" });
    await later(desk, 60_000);
    expect(await requestsOf(desk)).toHaveLength(1);
    await append(desk, ANNA, [says("go on then")]);
    await later(desk, TURN);
    expect(await requestsOf(desk)).toHaveLength(2);
    expect((await history(desk)).paused).toBe(false);
  });
});

describe("failing and expiring", () => {
  test("REQ-4: a failure tries again after 10 s, then 20 s, three attempts in all, also with its memory lost", async () => {
    const desk = await aStreamed();
    const agent = agentOf(desk);
    let request = await asked(desk);
    for (const wait of [10_000, 20_000]) {
      await append(desk, agent, [fails(request)]);
      await evicted(desk);
      const before = await requestsOf(desk);
      await later(desk, wait - 1000);
      expect(await requestsOf(desk)).toHaveLength(before.length);
      await later(desk, 1100);
      const now = await requestsOf(desk);
      expect(now).toHaveLength(before.length + 1);
      expect(now.at(-1).payload.trigger).toBe(1);
      request = now.at(-1).offset;
    }
    await append(desk, agent, [fails(request)]);
    await later(desk, 3_600_000);
    expect(await requestsOf(desk)).toHaveLength(3);
    expect((await history(desk)).pending).toBeUndefined();
  });

  test("REQ-4 REQ-2: whoever writes meanwhile does not wait with it, and the next try sees what came", async () => {
    const desk = await aStreamed();
    const request = await asked(desk);
    await append(desk, agentOf(desk), [fails(request)]);
    await append(desk, ANNA, [says("are you there?")]);
    await later(desk, TURN);
    const [, second] = await requestsOf(desk);
    expect(second.payload.trigger).toBe(4);
    const seen = async (at: number) => (await history(desk, at)).items.map((i: Any) => i.item.content);
    expect([await seen(request), await seen(second.offset)]).toEqual([
      ["hello"],
      ["hello", "are you there?"],
    ]);
    // The count began anew: two more failures are tried again.
    await append(desk, agentOf(desk), [fails(second.offset)]);
    await later(desk, 10_100);
    expect(await requestsOf(desk)).toHaveLength(3);
  });

  test("REQ-5: an open request expires at its deadline: the alarm cancels it, also after an eviction", async () => {
    const desk = await aStreamed();
    const request = await asked(desk);
    await evicted(desk);
    await later(desk, 590_000);
    expect(await types(desk)).not.toContain("llm-request-cancelled");
    await evicted(desk);
    await later(desk, 10_100);
    const last = (await eventsOf(desk)).at(-1);
    expect([last.type, last.payload]).toEqual(["llm-request-cancelled", { requestOffset: request }]);
    expect((await refusal(desk, agentOf(desk), anAnswer(request))).code).toBe("conflict");
    await later(desk, 3_600_000);
    expect(await requestsOf(desk)).toHaveLength(1);
  });

  test("REQ-5: from its deadline on a settlement is a conflict, alarm or not", async () => {
    const desk = await aStreamed();
    const request = await asked(desk);
    const wall = Date.now() + 700_000;
    await runInDurableObject(desk.stub, (office: Office) => {
      office.wall = () => wall;
    });
    for (const batch of [
      anAnswer(request),
      [fails(request)],
      [anEvent("llm-request-cancelled", { requestOffset: request })],
    ])
      expect((await refusal(desk, agentOf(desk), batch)).code).toBe("conflict");
    // What comes then is not lost: the office cancels what is open, and opens the next.
    await append(desk, ANNA, [says("are you there?")]);
    expect((await eventsOf(desk)).at(-1).type).toBe("llm-request-cancelled");
    expect(await history(desk)).toMatchObject({ pending: { external: true } });
  });
});

describe("pausing", () => {
  test("REQ-6: after 100 turns without anybody from outside it pauses itself; somebody from outside resumes it", async () => {
    const desk = await aStreamed();
    const agent = agentOf(desk);
    let request = await asked(desk);
    // The first is Anna's: it does not count.
    for (let turn = 0; turn <= 100; turn++) {
      await append(desk, agent, [...anAnswer(request, "next"), loop()]);
      if (turn === 50) await evicted(desk);
      await later(desk, TURN);
      const { open } = await history(desk);
      if (!open) break;
      request = open.offset;
    }
    expect(await requestsOf(desk)).toHaveLength(101);
    const last = (await eventsOf(desk, 300)).at(-1);
    expect([last.type, last.payload.reason]).toEqual(["stream-paused", "turns"]);
    await append(desk, agent, [loop()]);
    await later(desk, 60_000);
    expect(await requestsOf(desk)).toHaveLength(101);
    await append(desk, hookOf("github"), [says("a comment")]);
    await later(desk, TURN);
    expect(await requestsOf(desk)).toHaveLength(102);
    expect((await history(desk)).paused).toBe(false);
  }, 120_000);

  test("REQ-6: a pause drains what is open and loses no input from outside", async () => {
    const desk = await aStreamed();
    const request = await asked(desk);
    await append(desk, ANNA, [anEvent("stream-paused", { reason: "lunch" })]);
    await append(desk, ANNA, [says("when you are back")]);
    await append(desk, agentOf(desk), anAnswer(request));
    await evicted(desk);
    await later(desk, 60_000);
    expect(await requestsOf(desk)).toHaveLength(1);
    await append(desk, ANNA, [anEvent("stream-resumed")]);
    await later(desk, TURN);
    expect((await requestsOf(desk)).at(-1).payload.trigger).toBe(4);
  });
});
