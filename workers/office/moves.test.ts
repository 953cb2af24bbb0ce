/** Work that is taken away or goes elsewhere (OFFER-7, TEAM-3). */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters, lettersNow } from "../testing/letters.ts";
import {
  type Agent,
  anOffice,
  connected,
  type Desk,
  eventually,
  fakeCalls,
  handback,
  handbackOf,
  itemOf,
  later,
  patch,
  queue,
  seen,
  take,
} from "../testing/office.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const offers = (agent: Agent) =>
  agent.frames.filter((f) => f.type === "offer").map((f) => f.payload.workItem.title);

const asked = async (agent: Agent, type: string, payload: object) => (await agent.ask(type, payload)).payload;

async function atWork(desk: Desk, title = "A", item: object = {}): Promise<{ agent: Agent; id: string }> {
  const agent = await connected(desk);
  const id = await queue(desk, title, item);
  await take(agent, id);
  return { agent, id };
}

/** Two people of one team. */
async function two() {
  const scout = await anOffice();
  const bob = await anOffice({}, scout.workspace, "bob");
  return { scout, bob };
}

const arrived = (desk: Desk, id: string) =>
  eventually(async () => {
    const found = await itemOf(desk, id);
    expect(found).toBeDefined();
    return found;
  });

describe("what a person stops", () => {
  test("OFFER-7: it changes at once; its messages are told so, and only then the agent is free", async () => {
    const desk = await anOffice();
    const { agent, id } = await atWork(desk);
    await queue(desk, "B");
    const { value } = await patch(desk, id, { status: "canceled" });
    expect(value.item.state).toBe("canceled");
    await agent.ask("ping");
    expect(offers(agent)).toEqual(["A"]);
    const refused = await asked(agent, "progress", { workItemId: id, text: "on" });
    expect(refused).toMatchObject({ code: "unknown_item" });
    expect(refused.message).toContain("stopped by Anna");
    await agent.next((f) => f.type === "offer" && f.payload.workItem.title === "B");
    expect((await asked(agent, "heartbeat", { workItemId: id })).code).toBe("unknown_item");
  });

  test.each([["handback"], ["fail"], ["decline"], ["hello"]])(
    "OFFER-7: the agent is free at its %s",
    async (how) => {
      const desk = await anOffice();
      const { agent, id } = await atWork(desk);
      await queue(desk, "B");
      await patch(desk, id, { status: "blocked" });
      let by = agent;
      if (how === "handback") await handback(agent, id);
      if (how === "fail") await agent.must("fail", { workItemId: id, reason: "stopped" });
      if (how === "decline") await agent.must("decline", { workItemId: id, reason: "stopped" });
      if (how === "hello") {
        by = await connected(desk);
        expect(by.frames[0].payload.resume).toEqual([]);
      }
      await by.next((f) => f.type === "offer" && f.payload.workItem.title === "B");
      expect((await itemOf(desk, id)).state).toBe("blocked");
    },
  );

  test("OFFER-7: a late hand-back is acked and kept as a note, its usage is counted, and it is no report", async () => {
    const desk = await anOffice();
    const { agent, id } = await atWork(desk, "A", { ticket: "BP-1" });
    await patch(desk, id, { status: "canceled" });
    const models = { m: { inputTokens: 5, outputTokens: 7, cacheReadTokens: 0, cacheCreationTokens: 0 } };
    const late = {
      summary: "half of it",
      links: [{ url: "https://x/1" }],
      usage: [{ session: "s", models }],
    };
    await handback(agent, id, late);
    await handback(agent, id, late);
    expect((await asked(agent, "handback", handbackOf(id))).code).toBe("invalid");
    expect(await itemOf(desk, id)).toMatchObject({ state: "canceled", links: [{ url: "https://x/1" }] });
    expect(await asked(agent, "chat_report", { workItemId: id, kind: "result" })).toMatchObject({
      post: false,
    });
    await patch(desk, id, { status: "queued" });
    const again = await take(agent, id, agent.frames.length - 1);
    expect(again.context.journal.map((l: Any) => l.text)).toEqual([
      "Handed back after it was stopped: half of it",
    ]);
    await eventually(() => {
      const used = lettersNow(desk, "board", "used");
      expect(used).toMatchObject([
        { item: id, round: 1, tickets: ["BP-1"], models: [{ model: "m", inputTokens: 5 }] },
      ]);
    });
  });

  test("OFFER-7: work_move: an own item queued, blocked, canceled; the table says what cannot be", async () => {
    const desk = await anOffice();
    const { agent, id } = await atWork(desk);
    const move = (workItemId: string, status: string) => asked(agent, "work_move", { workItemId, status });
    expect((await move(id, "queued")).item).toMatchObject({ id, status: "queued" });
    await take(agent, id, agent.frames.length - 1);
    expect((await move(id, "blocked")).item.status).toBe("blocked");
    expect((await move(id, "blocked")).item.status).toBe("blocked");
    expect((await move(id, "canceled")).item.status).toBe("canceled");
    const no = await move(id, "queued");
    expect(no).toMatchObject({ code: "invalid" });
    expect(no.message).toContain("by a person only");
    // It is free for the next, and its hand-back is late.
    const b = await queue(desk, "B");
    await take(agent, b);
    await handback(agent, id);
    expect((await itemOf(desk, id)).state).toBe("canceled");
  });

  test("QUEUE-2: work_place moves an own queued item only", async () => {
    const desk = await anOffice();
    const { agent, id } = await atWork(desk, "busy");
    const [a, b, c] = [await queue(desk, "A"), await queue(desk, "B"), await queue(desk, "C")];
    const place = (workItemId: string, position: string, relativeTo?: string) =>
      asked(agent, "work_place", { workItemId, position, ...(relativeTo && { relativeTo }) });
    const order = async () => (await agent.must("work_list")).items.map((i: Any) => i.title);
    await place(c, "next");
    expect(await order()).toEqual(["busy", "C", "A", "B"]);
    await place(c, "last");
    await place(b, "before", a);
    expect(await order()).toEqual(["busy", "B", "A", "C"]);
    expect((await place(a, "after")).code).toBe("invalid");
    expect((await place(a, "after", a)).code).toBe("invalid");
    expect((await place(a, "after", id)).code).toBe("invalid");
    expect((await place(a, "after", newId("itm"))).code).toBe("unknown_item");
    expect((await place(id, "next")).code).toBe("invalid");
  });
});

describe("what goes to a teammate", () => {
  test("OFFER-7: a queued item moves at once, whole", async () => {
    const { scout, bob } = await two();
    const id = await queue(scout, "A", { body: "Make it blue.", ticket: "BP-1", priority: 7 });
    expect((await patch(scout, id, { person: "bob" })).value.item).toMatchObject({ id, state: "queued" });
    expect(await itemOf(scout, id)).toBeUndefined();
    expect(await arrived(bob, id)).toMatchObject({ state: "queued", priority: 7, ticket: "BP-1", round: 1 });
    expect((await itemOf(bob, id)).history.map((h: Any) => h.why)).toEqual([
      "given by Anna",
      "moved from scout to bob",
      "came from scout",
    ]);
    const agent = await connected(bob);
    const offer = await take(agent, id);
    expect(offer.context.journal[0].text).toBe("Make it blue.");
    const before = await connected(scout);
    expect((await asked(before, "accept", { workItemId: id, runtime: "r", model: "m" })).code).toBe(
      "unknown_item",
    );
    const { items } = await before.must("work_status", { workItemIds: [id] });
    expect(items[0].state).toBe("not_yours");
  });

  test("OFFER-7: a running item goes when its agent was told", async () => {
    const { scout, bob } = await two();
    const { agent, id } = await atWork(scout);
    await agent.must("session", { workItemId: id, sessionId: newId("evt") });
    await agent.must("journal", { workItemId: id, text: "oak" });
    const { value } = await patch(scout, id, { person: "bob" });
    expect(value.item).toMatchObject({
      state: "queued",
      why_waiting: "It goes to bob as soon as scout has let go of it.",
    });
    expect((await seen(bob)).items).toEqual([]);
    const refused = await asked(agent, "journal", { workItemId: id, text: "more" });
    expect(refused.code).toBe("unknown_item");
    expect(refused.message).toContain("Anna moved this item to bob");
    await arrived(bob, id);
    const theirs = await connected(bob);
    const offer = await take(theirs, id);
    expect(offer.sessionId).toBeUndefined();
    expect(offer.context.journal.map((l: Any) => l.text)).toEqual(["oak"]);
    expect((await itemOf(bob, id)).round).toBe(2);
  });

  test("OFFER-7: else after two minutes; a hand-back that comes later follows it as a note", async () => {
    const { scout, bob } = await two();
    const { agent, id } = await atWork(scout);
    await patch(scout, id, { person: "bob" });
    await later(scout, 119_000, agent);
    expect((await seen(bob)).items).toEqual([]);
    await later(scout, 2000, agent);
    await arrived(bob, id);
    await handback(agent, id, { summary: "half of it" });
    await handback(agent, id, { summary: "half of it" });
    expect((await asked(agent, "handback", handbackOf(id))).code).toBe("unknown_item");
    const theirs = await connected(bob);
    const notes = ["Handed back after it was moved: half of it"];
    await eventually(() => {
      const offer = theirs.frames.findLast((f) => f.type === "offer");
      expect(offer?.payload.context.journal.map((l: Any) => l.text)).toEqual(notes);
    });
    await eventually(() => expect(lettersNow(scout, "board", "used").length).toBe(1));
  });

  test("OFFER-7: a hand-back in time lets it go, and its words go along", async () => {
    const { scout, bob } = await two();
    const { agent, id } = await atWork(scout);
    await patch(scout, id, { person: "bob" });
    await handback(agent, id, { summary: "half of it" });
    await handback(agent, id, { summary: "half of it" });
    await arrived(bob, id);
    const offer = await take(await connected(bob), id);
    expect(offer.context.journal.map((l: Any) => l.text)).toEqual([
      "Handed back after it was moved: half of it",
    ]);
  });

  test("OFFER-7: an item may come back", async () => {
    const { scout, bob } = await two();
    const id = await queue(scout, "A");
    await patch(scout, id, { person: "bob" });
    await arrived(bob, id);
    await patch(bob, id, { person: "scout" });
    await arrived(scout, id);
    await take(await connected(scout), id);
    expect(await itemOf(bob, id)).toBeUndefined();
  });

  test("OFFER-7: nobody, a finished item, and two things at once are refused", async () => {
    const desk = await anOffice();
    const id = await queue(desk, "A");
    const code = async (more: object) => (await patch(desk, id, more)).error?.code;
    expect(await code({ person: "nobody" })).toBe("invalid");
    expect(await code({ person: "bob", status: "blocked" })).toBe("invalid");
    await patch(desk, id, { status: "canceled" });
    expect(await code({ person: "bob" })).toBe("invalid");
    expect((await patch(desk, newId("itm"), { status: "queued" })).error.code).toBe("not_found");
  });

  test("TEAM-3: what a removed person had is moved to a teammate, who goes on with it", async () => {
    const { scout, bob } = await two();
    const { agent, id } = await atWork(scout);
    await agent.must("journal", { workItemId: id, text: "oak" });
    await scout.letter("removed", { by: "Anna" });
    await agent.closed;
    await patch(scout, id, { person: "bob" });
    await arrived(bob, id);
    const offer = await take(await connected(bob), id);
    expect(offer.context.journal.map((l: Any) => l.text)).toEqual(["oak"]);
  });
});
