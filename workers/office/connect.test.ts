/** The agent's connection: who is let in, what is answered, and what ends it (OFF-1 to OFF-7). */
import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters } from "../testing/letters.ts";
import {
  ANNA,
  anOffice,
  aTeam,
  connected,
  type Desk,
  delivered,
  eventually,
  fakeCalls,
  handback,
  handbackOf,
  helloOf,
  itemOf,
  later,
  opened,
  queue,
  seen,
  stopClock,
  take,
  until,
} from "../testing/office.ts";
import { CALLS } from "./calls.ts";

beforeEach(() => fakeCalls());
afterEach(() => void vi.useRealTimers());

describe("replaced", () => {
  test("OFF-3: only valid credentials replace; the old one's frames change nothing more", async () => {
    const desk = await anOffice();
    const old = await connected(desk);
    const id = await queue(desk, "A");
    await take(old, id);
    const stranger = await opened(desk);
    await stranger.ask("hello", helloOf(desk, { token: "no" }));
    expect((await old.ask("ping")).type).toBe("pong");

    const now = await connected(desk);
    old.say("handback", handbackOf(id));
    expect((await old.next((f) => f.type === "error")).payload.code).toBe("replaced");
    expect((await old.closed).code).toBe(4409);
    await now.ask("ping");
    expect((await itemOf(desk, id)).state).toBe("active");
  });

  test("OFF-3: what an old connection asked of the board changes nothing when it is answered", async () => {
    const desk = await anOffice();
    const old = await connected(desk);
    const id = await queue(desk, "A");
    await take(old, id);
    await old.must("work_made", { workItemId: id, ticket: "BP-1" });
    const gate = { asked: 0, open: false };
    vi.spyOn(CALLS, "find").mockImplementationOnce(async () => {
      gate.asked += 1;
      await until(() => gate.open);
      return { ok: true, value: { open: false } as Any };
    });
    old.say("handback", handbackOf(id, { toReview: [] }));
    await eventually(() => expect(gate.asked).toBe(1));
    const now = await connected(desk);
    gate.open = true;
    for (let n = 0; n < 20; n++) await now.ask("ping");
    expect((await itemOf(desk, id)).state).toBe("active");
  });
});

describe("frames", () => {
  test("OFF-1: each request gets exactly one response", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const ids = ["ping", "heartbeat", "work_list", "nonsense", "welcome"].map((type) => agent.say(type));
    ids.push(agent.say("progress", { workItemId: "x", text: "y" }));
    await agent.next((f) => f.replyTo === ids.at(-1));
    await agent.ask("ping");
    expect(ids.map((id) => agent.frames.filter((f) => f.replyTo === id).length)).toEqual(ids.map(() => 1));
  });

  test("OFF-1: a repeated write gets its first answer and does nothing, also after hibernation; another payload is invalid", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    const twice = async (type: string, payload: object, other: object) => {
      const frame = { id: newId("evt"), type };
      const answers: Any[] = [];
      for (const more of [{}, {}, other]) {
        const from = agent.frames.length;
        agent.ws.send(JSON.stringify({ ...frame, payload: { ...payload, ...more } }));
        answers.push((await agent.next((f) => f.replyTo === frame.id, from)).payload);
        await evictDurableObject(desk.stub, { webSockets: "hibernate" });
      }
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2].code).toBe("invalid");
    };
    await twice("journal", { workItemId: id, text: "one" }, { text: "other" });
    await agent.must("journal", { workItemId: id, text: "two" });
    await twice("handback", handbackOf(id, { status: "waiting" }), { summary: "other" });
    await twice("work_move", { workItemId: id, status: "queued" }, { status: "canceled" });
    expect((await itemOf(desk, id)).history.length).toBe(4);
  });

  test("OFF-1: a refused write gets its refusal again, a repeated read is answered afresh", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await agent.next((f) => f.type === "offer");
    const again = async (frame: Any) => {
      const from = agent.frames.length;
      agent.ws.send(JSON.stringify(frame));
      return (await agent.next((f) => f.replyTo === frame.id, from)).payload;
    };
    const journal = { id: "j", type: "journal", payload: { workItemId: id, text: "x" } };
    expect((await again(journal)).code).toBe("invalid");
    const list = { id: "l", type: "work_list", payload: {} };
    expect((await again(list)).items[0].status).toBe("queued");
    await agent.must("accept", { workItemId: id, runtime: "r", model: "m" });
    expect((await again(journal)).code).toBe("invalid");
    expect((await again(list)).items[0].status).toBe("active");
    expect((await again({ ...list, payload: { workItemId: id } })).code).toBe("invalid");
  });

  const codes: [string, Any, string][] = [
    ["no JSON", "{", "malformed"],
    ["a list", [], "malformed"],
    ["over 1 MiB", { id: "1", type: "ping", payload: { x: "y".repeat(1_048_576) } }, "malformed"],
    ["nested too deep", `${"[".repeat(100)}${"]".repeat(100)}`, "malformed"],
    ["no type", { id: "1", payload: {} }, "invalid_message"],
    ["a payload that is no object", { id: "1", type: "ping", payload: 7 }, "invalid_message"],
    ["a missing field", { id: "1", type: "accept", payload: { workItemId: "x" } }, "invalid_message"],
    [
      "a lone surrogate",
      '{"id":"1","type":"journal","payload":{"workItemId":"x","text":"\\ud800"}}',
      "invalid_message",
    ],
    ["an unknown type", { id: "1", type: "accep", payload: {} }, "unknown_type"],
    ["a type of every object", { id: "1", type: "constructor", payload: {} }, "unknown_type"],
    ["what the office sends", { id: "1", type: "offer", payload: {} }, "invalid"],
    ["another's item", { id: "1", type: "heartbeat", payload: { workItemId: newId("itm") } }, "unknown_item"],
  ];
  test.each(codes)("OFF-4: %s", async (_what, frame, code) => {
    const agent = await connected(await anOffice());
    agent.ws.send(typeof frame === "string" ? frame : JSON.stringify(frame));
    const { payload, replyTo } = await agent.next((f) => f.type === "error");
    expect(payload.code).toBe(code);
    expect(replyTo).toBe(code === "malformed" ? undefined : "1");
    expect((await agent.ask("ping")).type).toBe("pong");
  });

  test("OFF-4: binary is malformed; ack, pong and error of the agent are not answered", async () => {
    const agent = await connected(await anOffice());
    agent.ws.send(new Uint8Array([1, 2]));
    await agent.next((f) => f.type === "error" && f.payload.code === "malformed");
    const from = agent.frames.length;
    agent.say("ack");
    agent.say("pong");
    agent.say("error", { code: "failed", message: "?" }, { replyTo: "nothing" });
    agent.say("error", { nonsense: true });
    await agent.ask("ping");
    expect(agent.frames.length).toBe(from + 1);
  });

  test("OFF-4: an agent that sends faster than is read is told to wait, and loses nothing by it", async () => {
    stopClock();
    const agent = await connected(await anOffice());
    const ids: string[] = [];
    for (let n = 0; n < 1100; n++) ids.push(agent.say("ping"));
    await agent.next((f) => f.replyTo === ids.at(-1));
    const refused = agent.frames.filter((f) => f.payload.code === "failed");
    expect(refused.length).toBeGreaterThan(0);
    expect(agent.frames.length).toBe(1101);
  });
});

test("OFF-4: what waits behind an answer from elsewhere is bounded: failed, and it may be sent again", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const id = await queue(desk, "A");
  await take(agent, id);
  await agent.must("work_made", { workItemId: id, ticket: "BP-1" });
  const gate = { open: false };
  vi.spyOn(CALLS, "find").mockImplementationOnce(async () => {
    await until(() => gate.open);
    return { ok: true, value: { open: true } as Any };
  });
  const first = agent.say("handback", handbackOf(id, { toReview: [], status: "done" }));
  const large = Array.from({ length: 6 }, () =>
    agent.say("journal", { workItemId: id, text: "x".repeat(1_000_000) }),
  );
  const refused = await agent.next((f) => f.replyTo === large.at(-1));
  expect(refused.payload).toMatchObject({ code: "failed", message: expect.stringContaining("waits") });
  expect((await agent.ask("ping")).type).toBe("pong");
  expect(agent.frames.some((f) => f.replyTo === first)).toBe(false);
  gate.open = true;
  // Each is answered in its turn: here with what is wrong with it.
  expect((await agent.next((f) => f.replyTo === large[0])).payload.code).toBe("invalid");
  expect((await agent.ask("journal", { workItemId: id, text: "y" })).payload.code).toBe("invalid");
});

describe("the end of a connection", () => {
  test("OFF-5: a changed config closes with 1012 between two items, before the next offer", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await desk.setTeam(aTeam({ key: "XX" }));
    await queue(desk, "B");
    await later(desk, 11_000, agent);
    expect(agent.isClosed).toBe(false);
    await handback(agent, id);
    await agent.ask("ping");
    expect(agent.frames.filter((f) => f.type === "offer").length).toBe(1);
    await later(desk, 11_000, agent);
    expect((await agent.closed).code).toBe(1012);
    const next = await connected(desk);
    expect(next.frames[0].payload.team.key).toBe("XX");
    await next.next((f) => f.type === "offer");
  });

  test("OFF-6: nothing heard for three heartbeats closes with 4408; an accepted item stays theirs", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await later(desk, 89_000, agent);
    expect(agent.isClosed).toBe(false);
    await later(desk, 91_000);
    expect((await agent.closed).code).toBe(4408);
    expect(await seen(desk)).toMatchObject({ status: "offline", connected: false });
    expect((await itemOf(desk, id)).state).toBe("active");
    expect((await connected(desk)).frames[0].payload.resume).toEqual([id]);
  });

  test("OFF-6: heartbeats and pings write no row", async () => {
    catchLetters();
    stopClock();
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await agent.ask("heartbeat", { workItemId: id });
    await delivered(desk);
    const before = (await desk.stub.rowCounts()).written;
    for (let n = 0; n < 20; n++) {
      await agent.ask("heartbeat", { workItemId: id });
      await agent.ask("ping");
    }
    expect((await desk.stub.rowCounts()).written).toBe(before);
  });

  test("OFF-2: a revoked token ends its connection", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const tokenId = `tok_${desk.token.split("_")[2]}`;
    await desk.letter("token_revoked", { tokenId: newId("tok") });
    expect((await agent.ask("ping")).type).toBe("pong");
    await desk.letter("token_revoked", { tokenId });
    expect((await agent.closed).code).toBe(4401);
  });

  test("TEAM-3: taken out of the team, the connection ends and open items are blocked; put back, it has its history", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const [a, b] = [await queue(desk, "A"), await queue(desk, "B")];
    await take(agent, a);
    await desk.letter("removed", { by: "Anna" });
    expect((await agent.closed).code).toBe(4401);
    const stranger = await opened(desk);
    expect((await stranger.ask("hello", helloOf(desk))).payload.code).toBe("auth_failed");
    for (const id of [a, b])
      expect(await itemOf(desk, id)).toMatchObject({
        state: "blocked",
        why_waiting: "scout was taken out of the team by Anna",
      });
    const more = (await desk.stub.addItem(ANNA, { title: "C", kind: "assigned" })) as Any;
    expect(more.error.code).toBe("conflict");
    await desk.setTeam(desk.team);
    await connected(desk);
    expect((await seen(desk)).items.length).toBe(2);
  });
});

describe("OFF-7: an eviction between any two frames", () => {
  const KINDS: Record<string, (desk: Desk) => Promise<void>> = {
    hibernate: (desk) => evictDurableObject(desk.stub, { webSockets: "hibernate" }),
    close: (desk) => evictDurableObject(desk.stub, { webSockets: "close" }),
    abort: () => abortAllDurableObjects(),
  };
  test.each(Object.keys(KINDS))("OFF-7: %s changes nothing", async (kind) => {
    const desk = await anOffice();
    let agent = await connected(desk);
    const id = await queue(desk, "A");
    const evict = async () => {
      // Only what runs can be evicted.
      await desk.stub.rowCounts();
      await KINDS[kind]!(desk);
      if (kind !== "hibernate") agent = await connected(desk);
    };
    await evict();
    await agent.next((f) => f.type === "offer");
    const steps: [string, object][] = [
      ["accept", { workItemId: id, runtime: "r", model: "m" }],
      ["session", { workItemId: id, sessionId: newId("evt") }],
      ["progress", { workItemId: id, text: "on" }],
      ["journal", { workItemId: id, text: "line" }],
      ["handback", handbackOf(id)],
    ];
    for (const [type, payload] of steps) {
      await evict();
      await agent.must(type, payload);
      await evict();
      // The ack was lost: the same again is harmless (OFF-8).
      if (type === "accept" || type === "journal" || type === "handback") await agent.must(type, payload);
    }
    await evict();
    expect(await itemOf(desk, id)).toMatchObject({ state: "done", round: 1, progress: "on" });
    await queue(desk, "B");
    await agent.next((f) => f.type === "offer" && f.payload.workItem.title === "B");
    await runDurableObjectAlarm(desk.stub);
  });
});
