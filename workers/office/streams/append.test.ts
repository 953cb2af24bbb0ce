/** Appending: all or nothing, once, in whose name; on the real object, by its calls (STREAM-1, STREAM-4). */
import { beforeEach, describe, expect, test } from "vitest";
import { type Any, newId } from "../../testing/client.ts";
import { ANNA, anOffice, fakeCalls, queue } from "../../testing/office.ts";
import {
  agentOf,
  anAnswer,
  anEvent,
  anItem,
  append,
  aStreamed,
  BEN,
  eventsOf,
  history,
  hookOf,
  opened,
  PLATFORM,
  refusal,
} from "../../testing/streams.ts";
import { evicted, later } from "../../testing/time.ts";

beforeEach(() => fakeCalls());

const said = (content: string, key?: string) => anItem({ content }, key);
const contents = async (desk: Any) => (await history(desk)).items.map((i: Any) => i.item.content);

const stored = async (desk: Any) => (await eventsOf(desk)).map((e) => e.payload);

describe("a batch", () => {
  test("STREAM-1: offsets grow, events are read back as they were stored, also after an eviction", async () => {
    const desk = await aStreamed();
    const first = await append(desk, ANNA, [said("a"), said("b")]);
    await evicted(desk);
    const more = await append(desk, ANNA, [said("c", "k")]);
    const offsets = [...first, ...more];
    expect(offsets.every((offset, i) => offset > (offsets[i - 1] ?? 0))).toBe(true);
    const events = await eventsOf(desk);
    expect(events.map((e) => [e.offset, e.type, e.payload.content, e.idempotencyKey])).toEqual([
      [offsets[0], "context-item", "a", undefined],
      [offsets[1], "context-item", "b", undefined],
      [offsets[2], "context-item", "c", "k"],
    ]);
    expect(events.every((e) => new Date(e.at).toISOString() === e.at)).toBe(true);
  });

  test("STREAM-1: the same key and body is the old event; another body rejects the whole batch", async () => {
    const desk = await aStreamed();
    const [first] = await append(desk, ANNA, [said("a", "one")]);
    const [again, fresh] = await append(desk, ANNA, [said("a", "one"), said("b")]);
    expect(again).toBe(first);
    const before = await eventsOf(desk);
    expect(before).toHaveLength(2);
    await evicted(desk);
    const { code, details } = await refusal(desk, ANNA, [said("c"), said("other", "one"), said("d")]);
    expect([code, details[0].path]).toEqual(["conflict", "events.1"]);
    expect(
      await refusal(
        desk,
        ANNA,
        [anEvent("stream-resumed")].map((e) => ({ ...e, idempotencyKey: "one" })),
      ),
    ).toMatchObject({ code: "conflict" });
    expect(await eventsOf(desk)).toEqual(before);
    const [next] = await append(desk, ANNA, [said("e")]);
    expect(next).toBeGreaterThan(fresh ?? 0);
  });

  test("STREAM-1: a key twice in one batch is one event, or a conflict", async () => {
    const desk = await aStreamed();
    const [a, b, c] = await append(desk, ANNA, [said("a", "k"), said("b"), said("a", "k")]);
    expect(c).toBe(a);
    expect(b).toBeGreaterThan(a ?? 0);
    expect((await refusal(desk, ANNA, [said("x", "n"), said("y", "n")])).code).toBe("conflict");
    expect(await eventsOf(desk)).toHaveLength(2);
  });

  test("STREAM-1: a key is its sender's own: nobody takes another's, nor the office's", async () => {
    const desk = await aStreamed();
    const offsets = [];
    for (const by of [ANNA, BEN, PLATFORM, hookOf("jira")])
      offsets.push(...(await append(desk, by, [said(`of ${by.name}`, "k")])));
    expect(new Set(offsets).size).toBe(4);
    expect(await append(desk, BEN, [said("of Ben", "k")])).toEqual([offsets[1]]);
  });

  test("STREAM-1: one event that may not be rejects all, and leaves nothing behind in memory or rows", async () => {
    const desk = await aStreamed();
    await append(desk, ANNA, [said("before")]);
    const bad = anItem({ role: "assistant", content: "not mine to say" });
    expect((await refusal(desk, BEN, [said("a"), said("b"), bad])).code).toBe("forbidden");
    const tooLarge = said("x".repeat(256 * 1024 + 1));
    expect((await refusal(desk, ANNA, [said("a"), tooLarge])).code).toBe("too_large");
    expect(
      (
        await refusal(
          desk,
          ANNA,
          Array.from({ length: 1001 }, () => said("a")),
        )
      ).code,
    ).toBe("invalid");
    expect((await refusal(desk, ANNA, [])).code).toBe("invalid");
    await append(desk, ANNA, [said("after")]);
    expect(await contents(desk)).toEqual(["before", "after"]);
    await evicted(desk);
    expect(await contents(desk)).toEqual(["before", "after"]);
  });

  test("STREAM-1: a content of 256 KiB and a batch of 1,000 are taken", async () => {
    const desk = await aStreamed();
    const long = "é".repeat(128 * 1024);
    await append(desk, ANNA, [said(long)]);
    const offsets = await append(
      desk,
      ANNA,
      Array.from({ length: 1000 }, (_, i) => said(`${i}`)),
    );
    expect(offsets).toHaveLength(1000);
    expect((await eventsOf(desk))[0].payload.content).toBe(long);
  });

  test("STREAM-1: a settlement of what is not open is a conflict, batch and all", async () => {
    const desk = await aStreamed();
    const agent = agentOf(desk);
    await append(desk, ANNA, [said("hello")]);
    expect((await refusal(desk, agent, anAnswer(1))).code).toBe("conflict");
    await later(desk, 300);
    const { offset } = await opened(desk);
    expect((await refusal(desk, agent, anAnswer(offset + 1))).code).toBe("conflict");
    const keyed = anAnswer(offset).map((event, i) => ({ ...event, idempotencyKey: `answer ${i}` }));
    const settled = await append(desk, agent, keyed);
    // Told again, for instance because the answer was lost: the same events.
    expect(await append(desk, agent, keyed)).toEqual(settled);
    expect((await refusal(desk, agent, anAnswer(offset))).code).toBe("conflict");
    expect(await contents(desk)).toEqual(["hello", "Done."]);
  });

  test("STREAM-1: a stream is there as soon as its item is, and one of no item never", async () => {
    // Of a person whom the office does not run: nothing is fed into it (CTX-7).
    const desk = await anOffice();
    const item = await queue(desk, "Work");
    expect(await eventsOf(desk, 0, item)).toEqual([]);
    expect(await history(desk, undefined, item)).toMatchObject({ items: [], covered: 0, paused: false });
    await append(desk, ANNA, [said("about it")], item);
    expect(await contents(desk)).toEqual([]);
    expect((await history(desk, undefined, item)).items).toHaveLength(1);
    expect((await refusal(desk, ANNA, [said("x")], newId("itm"))).code).toBe("not_found");
  });
});

describe("in whose name", () => {
  test("STREAM-4: a person's item has their actor and a ref to them, whatever role it has", async () => {
    const desk = await aStreamed();
    const actor = { type: "user", origin: "web" };
    const refs = [{ type: "user", userId: BEN.participantId }];
    await append(desk, BEN, [
      said("a"),
      anItem({ role: "developer", content: "b" }),
      anItem({ content: "c", actor } as Any),
    ]);
    expect(await stored(desk)).toEqual([
      { role: "user", content: "a", actor, refs },
      { role: "developer", content: "b", actor, refs },
      { role: "user", content: "c", actor, refs },
    ]);
  });

  test("STREAM-4: an agent writes assistant and developer items on its own streams", async () => {
    const desk = await aStreamed();
    const agent = agentOf(desk);
    const actor = { type: "agent", path: "/people/scout" };
    await append(desk, agent, [
      anItem({ role: "assistant", content: "a" }),
      anItem({ role: "developer", content: "b" }),
    ]);
    expect((await stored(desk)).map((p) => p.actor)).toEqual([actor, actor]);
    for (const role of ["user", "system"] as const)
      expect((await refusal(desk, agent, [anItem({ role, content: "x" })])).code).toBe("forbidden");
    const summary = anItem({ role: "developer", content: "x", compaction: { replacesHistoryThrough: 1 } });
    expect((await refusal(desk, agent, [summary])).code).toBe("forbidden");
    expect((await refusal(desk, { ...agent, handle: "bob" }, [said("x")])).code).toBe("not_found");
  });

  test("STREAM-4: a hook's items are its source's; a script's are results of calls", async () => {
    const desk = await aStreamed();
    await append(desk, hookOf("github"), [anItem({ content: "a", actor: { type: "github", login: "ada" } })]);
    await append(desk, hookOf("jira"), [said("b")]);
    expect((await stored(desk)).map((p) => p.actor)).toEqual([
      { type: "github", login: "ada" },
      { type: "integration", name: "jira" },
    ]);
    const script = anItem({
      role: "developer",
      content: "x",
      actor: { type: "script", executionId: "exe_1_1" },
    });
    expect((await refusal(desk, agentOf(desk), [script])).code).toBe("forbidden");
  });

  test("STREAM-4: a claimed other actor is forbidden, to people, agents and hooks", async () => {
    const desk = await aStreamed();
    const claims: Any[] = [
      { type: "user", origin: "mcp" },
      { type: "agent", path: "/people/bob" },
      { type: "github", login: "ada" },
      { type: "integration", name: "mine" },
      { type: "script", executionId: "exe_1_1" },
    ];
    for (const by of [ANNA, BEN, agentOf(desk), hookOf("slack")])
      for (const actor of claims)
        expect([
          by.name,
          (await refusal(desk, by, [anItem({ role: "developer", content: "x", actor })])).code,
        ]).toEqual([by.name, "forbidden"]);
    expect(await eventsOf(desk)).toEqual([]);
  });

  test("STREAM-4: an admin token writes as the platform; with both rights a person's item stays theirs", async () => {
    const desk = await aStreamed();
    const system = anItem({ role: "system", content: "You are Scout." });
    await append(desk, PLATFORM, [system, anItem({ role: "developer", content: "from the platform" })]);
    const both = { ...ANNA, scopes: ["person" as const, "admin" as const] };
    await append(desk, both, [anItem({ role: "system", content: "Be brief." }), said("hello")]);
    expect((await stored(desk)).map((p) => p.actor)).toEqual([
      undefined,
      undefined,
      undefined,
      { type: "user", origin: "web" },
    ]);
    const demoted = { ...PLATFORM, role: "member" as const };
    expect((await refusal(desk, demoted, [system])).code).toBe("forbidden");
  });

  test("STREAM-4: guests, harnesses and who is nobody's agent write nothing", async () => {
    const desk = await aStreamed();
    const guest = { ...BEN, role: "guest" as const };
    const harness = { ...BEN, kind: "harness" as const, role: null, scopes: ["harness" as const] };
    for (const by of [guest, harness]) expect((await refusal(desk, by, [said("x")])).code).toBe("forbidden");
  });

  test("STREAM-4: people pause and resume, an owner redacts; requests are the office's, settlements the agent's", async () => {
    const desk = await aStreamed();
    const [offset] = await append(desk, BEN, [said("a"), anEvent("stream-paused", { reason: "lunch" })]);
    expect(await history(desk)).toMatchObject({ paused: true, reason: "lunch" });
    await append(desk, BEN, [anEvent("stream-resumed")]);
    const redaction = anEvent("context-item-redacted", { offset });
    expect((await refusal(desk, BEN, [redaction])).code).toBe("forbidden");
    await append(desk, ANNA, [redaction]);
    const deadline = new Date(Date.now() + 1000).toISOString();
    const request = anEvent("llm-request-requested", { trigger: offset, deadline });
    for (const by of [ANNA, agentOf(desk)])
      expect((await refusal(desk, by, [request])).code).toBe("forbidden");
    await later(desk, 300);
    const { open } = await history(desk);
    const settled = anEvent("llm-request-failed", { requestOffset: open.offset, reason: "x" });
    expect((await refusal(desk, BEN, [settled])).code).toBe("forbidden");
    await append(desk, agentOf(desk), [settled]);
  });
});
