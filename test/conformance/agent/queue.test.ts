/** QUEUE, OFFER, ITEM: the queue and the rounds, from the outside. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Any, call, get, newPerson, post } from "../kit.ts";
import { accept, addItem, atWork, connectAgent, handback, newTeam, offered, type Team } from "./kit.ts";

const patch = (team: Team, handle: string, id: string, body: object) =>
  call("PATCH", `/v1/people/${handle}/items/${id}`, { token: team.owner.token, body });
const person = async (team: Team, handle: string): Promise<Any> =>
  (await get(team.owner, `/v1/people/${handle}`)).body;
const itemOf = async (team: Team, handle: string, id: string): Promise<Any> =>
  (await person(team, handle)).items.find((i: Any) => i.id === id);

describe("the queue", () => {
  test("QUEUE-2 QUEUE-3: items are offered one at a time, in order of priority, then of coming", async () => {
    const team = await newTeam(["ada"]);
    const [c, a, b] = [
      await addItem(team, "ada", "C", { priority: 60 }),
      await addItem(team, "ada", "A", { priority: 20 }),
      await addItem(team, "ada", "B", { priority: 20 }),
    ];
    const agent = await connectAgent(team, "ada");
    for (const { id } of [a, b, c]) {
      await offered(agent, id);
      await agent.fence();
      expect(agent.frames.findLast((f) => f.type === "offer").payload.workItem.id).toBe(id);
      await accept(agent, id);
      expect((await agent.ask("handback", handback(id))).type).toBe("ack");
    }
  });

  test("QUEUE-2: work_place moves an own queued item; a place needs what it is relative to", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const busy = await atWork(team, agent, "ada", "Busy");
    const [a, b, c] = [
      await addItem(team, "ada", "A"),
      await addItem(team, "ada", "B"),
      await addItem(team, "ada", "C"),
    ];
    const order = async () =>
      (await agent.ask("work_list", { workItemId: busy })).payload.items.map((i: Any) => i.title);
    expect(await order()).toEqual(["Busy", "A", "B", "C"]);
    await agent.ask("work_place", { workItemId: c.id, position: "next" });
    expect(await order()).toEqual(["Busy", "C", "A", "B"]);
    await agent.ask("work_place", { workItemId: c.id, position: "after", relativeTo: a.id });
    expect(await order()).toEqual(["Busy", "A", "C", "B"]);
    await agent.ask("work_place", { workItemId: b.id, position: "before", relativeTo: a.id });
    expect(await order()).toEqual(["Busy", "B", "A", "C"]);
    await agent.ask("work_place", { workItemId: b.id, position: "last" });
    expect(await order()).toEqual(["Busy", "A", "C", "B"]);
    expect((await agent.refused("work_place", { workItemId: a.id, position: "before" })).code).toBe(
      "invalid",
    );
    expect((await agent.refused("work_place", { workItemId: busy, position: "next" })).code).toBe("invalid");
    const self = { workItemId: a.id, position: "after", relativeTo: a.id };
    expect((await agent.refused("work_place", self)).code).toBe("invalid");
  });

  test("QUEUE-1: a change that cannot be is invalid and says which are possible", async () => {
    const team = await newTeam(["ada"]);
    const item = await addItem(team, "ada", "A");
    const answer = await patch(team, "ada", item.id, { status: "done" });
    expect(answer.status).toBe(422);
    expect(answer.body.message).toMatch(/blocked.*canceled|canceled.*blocked/);
    expect((await patch(team, "ada", item.id, { status: "canceled" })).status).toBe(200);
    // canceled → queued by a person.
    expect((await patch(team, "ada", item.id, { status: "queued" })).body.item.state).toBe("queued");
    const { history } = await itemOf(team, "ada", item.id);
    expect(history.map((h: Any) => h.to).slice(-3)).toEqual(["queued", "canceled", "queued"]);
    for (const change of history)
      expect(change).toMatchObject({ at: expect.any(String), by: expect.anything() });
  });

  test("QUEUE-4: paused, nothing is offered, also not on reconnect; what runs goes on", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const running = await atWork(team, agent, "ada");
    expect((await post(team.owner, "/v1/people/ada/pause", { reason: "lunch" })).body.status).toBe("working");
    expect((await agent.ask("progress", { workItemId: running, text: "on" })).type).toBe("ack");
    await agent.ask("handback", handback(running));
    const item = await addItem(team, "ada", "Later");
    expect((await person(team, "ada")).status).toBe("paused");
    const again = await connectAgent(team, "ada");
    await again.fence();
    expect(again.frames.filter((f) => f.type === "offer")).toEqual([]);
    await post(team.owner, "/v1/people/ada/resume", {});
    await offered(again, item.id);
  });

  test("QUEUE-4 SPACE-1: a guest sees no queue and puts nothing into it", async () => {
    const team = await newTeam(["ada"]);
    const guest = await newPerson(team.owner, "Gus", "guest");
    expect((await get(guest, "/v1/people")).status).toBe(403);
    expect((await post(guest, "/v1/people/ada/items", { title: "x" })).status).toBe(403);
  });
});

describe("offers", () => {
  test("OFFER-1: an offer comes again after a reconnect until it is accepted, and accepting twice is harmless", async () => {
    const team = await newTeam(["ada"]);
    const item = await addItem(team, "ada", "A", { body: "Make it blue." });
    const first = await connectAgent(team, "ada");
    await offered(first, item.id);
    const second = await connectAgent(team, "ada");
    const { workItem } = await offered(second, item.id);
    expect(workItem).toMatchObject({ title: "A", kind: "assigned", trigger: "human" });
    await accept(second, item.id);
    await accept(second, item.id);
    const third = await connectAgent(team, "ada");
    expect(third.welcome.resume).toEqual([item.id]);
  });

  test("OFFER-1: accepting what was withdrawn is an error and changes nothing", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const item = await addItem(team, "ada", "A");
    await offered(agent, item.id);
    await patch(team, "ada", item.id, { status: "canceled" });
    const refused = await agent.refused("accept", { workItemId: item.id, runtime: "r", model: "m" });
    expect(["invalid", "unknown_item"]).toContain(refused.code);
    expect((await itemOf(team, "ada", item.id)).state).toBe("canceled");
  });

  test("OFFER-3: a declined item goes back and the next is offered meanwhile", async () => {
    const team = await newTeam(["ada"]);
    const [a, b] = [await addItem(team, "ada", "A"), await addItem(team, "ada", "B")];
    const agent = await connectAgent(team, "ada");
    await offered(agent, a.id);
    expect((await agent.ask("decline", { workItemId: a.id, reason: "no paint" })).type).toBe("ack");
    await offered(agent, b.id);
    expect((await agent.ask("decline", { workItemId: a.id, reason: "no paint" })).type).toBe("ack");
    expect(await itemOf(team, "ada", a.id)).toMatchObject({ state: "queued", position: 1 });
  });

  test("OFFER-5: interrupted goes to the front and comes with its session; nothing more on that connection", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada", "Long");
    await agent.ask("session", { workItemId: id, sessionId: "s-1" });
    await addItem(team, "ada", "Urgent", { priority: 1 });
    const cut = handback(id, { status: "interrupted", toReview: undefined });
    expect((await agent.ask("handback", cut)).type).toBe("ack");
    await agent.fence();
    const offers = agent.frames.filter((f) => f.type === "offer").map((f) => f.payload.workItem.title);
    expect(offers).toEqual(["Long"]);
    const next = await connectAgent(team, "ada");
    const offer = await offered(next);
    expect(offer).toMatchObject({ workItem: { id, title: "Long" }, sessionId: "s-1", interrupted: true });
  });
});

describe("rounds", () => {
  test("ITEM-1: progress and journal are kept, shown, and given to the next round", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    await agent.ask("progress", { workItemId: id, text: "sanding" });
    await agent.ask("journal", { workItemId: id, text: "The wood is oak." });
    await agent.ask("journal", { workItemId: id, text: "The wood is oak." });
    expect((await itemOf(team, "ada", id)).progress).toBe("sanding");
    await agent.ask("handback", handback(id, { status: "waiting", toReview: undefined, summary: "Waits." }));
    expect((await itemOf(team, "ada", id)).state).toBe("waiting");
    const from = agent.frames.length;
    await patch(team, "ada", id, { status: "queued" });
    const { context } = await offered(agent, id, from);
    const lines = context.journal.filter((l: Any) => l.text === "The wood is oak.");
    expect(lines).toMatchObject([{ author: "ada" }]);
  });

  test("ITEM-1: what is over a limit is invalid", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    const over: [string, object][] = [
      ["progress", { text: "x".repeat(501) }],
      ["journal", { text: "x".repeat(16 * 1024 + 1) }],
      ["fail", { reason: "x".repeat(4 * 1024 + 1) }],
      ["handback", { summary: "x".repeat(64 * 1024 + 1), links: [], status: "done" }],
    ];
    for (const [type, more] of over)
      expect([type, (await agent.refused(type, { workItemId: id, ...more })).code]).toEqual([
        type,
        "invalid",
      ]);
    expect((await itemOf(team, "ada", id)).state).toBe("active");
  });

  test("OFF-8: the same hand-back again is acked, another is invalid", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    await agent.ask("handback", handback(id));
    expect((await agent.ask("handback", handback(id))).type).toBe("ack");
    const again = await connectAgent(team, "ada");
    expect((await again.ask("handback", handback(id))).type).toBe("ack");
    expect((await again.refused("handback", handback(id, { summary: "Other." }))).code).toBe("invalid");
    expect((await again.refused("fail", { workItemId: id, reason: "no" })).code).toBe("invalid");
  });

  test("OFFER-6: done without anything to review is blocked, and the journal says why", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    expect((await agent.ask("handback", handback(id, { toReview: undefined }))).type).toBe("ack");
    expect((await itemOf(team, "ada", id)).state).toBe("blocked");
  });

  test.each([
    ["done", "done"],
    ["silent", "done"],
    ["waiting", "waiting"],
    ["blocked", "blocked"],
  ])("OFFER-6: handed back as %s the item is %s", async (status, state) => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    await agent.ask("handback", handback(id, { status }));
    expect((await itemOf(team, "ada", id)).state).toBe(state);
  });

  test("OFFER-6: a failed item is blocked", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    expect((await agent.ask("fail", { workItemId: id, reason: "no brush" })).type).toBe("ack");
    expect((await itemOf(team, "ada", id)).state).toBe("blocked");
  });

  test("OFFER-7: a stopped item's messages get unknown_item with words that say so, and a late hand-back is acked", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    expect((await patch(team, "ada", id, { status: "canceled" })).body.item.state).toBe("canceled");
    const refused = await agent.refused("progress", { workItemId: id, text: "x" });
    expect(refused.code).toBe("unknown_item");
    expect(refused.message).toContain("Anna");
    expect((await agent.ask("handback", handback(id))).type).toBe("ack");
    expect((await itemOf(team, "ada", id)).state).toBe("canceled");
  });

  test("OFFER-7: a queued item moves to a teammate whole", async () => {
    const team = await newTeam(["ada", "milo"]);
    const item = await addItem(team, "ada", "A", { body: "Make it blue." });
    expect((await patch(team, "ada", item.id, { person: "milo" })).status).toBe(200);
    const milo = await connectAgent(team, "milo");
    await offered(milo, item.id);
    await accept(milo, item.id);
    expect((await itemOf(team, "milo", item.id)).state).toBe("active");
  });

  test("OFFER-7: work_move changes own items, and only as QUEUE-1 allows", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    const moved = await agent.ask("work_move", { workItemId: id, status: "canceled" });
    expect(moved.payload.item).toMatchObject({ id, status: "canceled" });
    expect((await agent.refused("work_move", { workItemId: id, status: "blocked" })).code).toBe("invalid");
  });

  test("ITEM-4: work_status answers in the order asked, up to 500", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    const { payload } = await agent.ask("work_status", { workItemIds: ["x", id, id] });
    expect(payload.items).toEqual([
      { workItemId: "x", state: "unknown" },
      { workItemId: id, state: "active" },
      { workItemId: id, state: "active" },
    ]);
    const many = Array.from({ length: 501 }, () => randomUUID());
    expect((await agent.refused("work_status", { workItemIds: many })).code).toBe("invalid");
  });
});
