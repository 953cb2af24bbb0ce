/** What comes to an item that is there: rounds of it, or items of their own (PIPE-1 to PIPE-3, OFFER-9). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Any, newId } from "../testing/client.ts";
import { catchLetters } from "../testing/letters.ts";
import {
  anOffice,
  connected,
  type Desk,
  fakeCalls,
  handback,
  itemOf,
  patch,
  queue,
  seen,
  take,
  wake,
  wakeOf,
} from "../testing/office.ts";

beforeEach(() => {
  fakeCalls();
  catchLetters();
});
afterEach(() => void vi.useRealTimers());

const titles = async (desk: Desk) => (await seen(desk)).items.map((i: Any) => i.title);

const said = (key: string, body = key) => ({ key, actor: "anna", kind: "comment" as const, body });

describe("rounds", () => {
  const pr = { type: "pr" as const, ref: "acme/shop#7" };

  test("PIPE-3: the same wake again changes nothing", async () => {
    const desk = await anOffice();
    const letter = wakeOf({ title: "once" });
    for (const again of [1, 2, 3]) await desk.letter("wake", { ...letter, title: `once ${again}` });
    expect(await titles(desk)).toEqual(["once 1"]);
  });

  test("PIPE-2: feedback on what an item made is a round of it, with its session and journal", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const id = await queue(desk, "A");
    await take(agent, id);
    await agent.must("session", { workItemId: id, sessionId: "s1" });
    await agent.must("journal", { workItemId: id, text: "chose oak" });
    await agent.must("work_made", {
      workItemId: id,
      pr: { repo: { owner: "acme", name: "shop" }, number: 7 },
    });
    await handback(agent, id);
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const offer = await take(agent, id, agent.frames.length - 1);
    expect(offer).toMatchObject({ workItem: { id, kind: "review_feedback", priority: 30 }, sessionId: "s1" });
    expect(offer.context.feedback.map((f: Any) => f.body)).toEqual(["c1"]);
    expect(offer.context.journal.map((l: Any) => l.text)).toContain("chose oak");
    expect((await itemOf(desk, id)).round).toBe(2);
  });

  test("PIPE-2: feedback on a pull request that nobody said was made in an item is a round of its ticket's", async () => {
    const desk = await anOffice();
    const ticket = { type: "ticket" as const, ref: "BP-1" };
    await wake(desk, { subject: ticket, refs: [{ ...ticket, role: "trigger", source: "evt_1" }] });
    const linked = { ...ticket, role: "linked" as const, source: `link:${pr.ref}` };
    const refs = [{ ...pr, role: "trigger" as const, source: "evt_2" }, linked];
    await wake(desk, { kind: "review_feedback", subject: pr, refs, feedback: said("c1") });
    await wake(desk, {
      kind: "review_feedback",
      subject: { ...pr, ref: "acme/shop#99" },
      feedback: said("c2"),
    });
    const { items } = await seen(desk);
    expect(items).toHaveLength(2);
    expect(items.filter((i: Any) => i.ticket === "BP-1")).toMatchObject([
      { kind: "assigned", pr: pr.ref, round: 1 },
    ]);
  });

  test("PIPE-2: what comes while it is queued joins it, and an offer that is out is sent anew", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const first = (await agent.next((f) => f.type === "offer")).payload;
    const from = agent.frames.length;
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c2") });
    const { workItem, context } = (await agent.next((f) => f.type === "offer", from)).payload;
    expect(workItem.id).toBe(first.workItem.id);
    expect(context.feedback.map((f: Any) => f.body)).toEqual(["c1", "c2"]);
  });

  test("PIPE-2: what comes while it runs goes into one round after its hand-back", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const { id } = (await agent.next((f) => f.type === "offer")).payload.workItem;
    await take(agent, id);
    for (const key of ["c2", "c3", "c2"])
      await wake(desk, { kind: "review_feedback", subject: pr, feedback: said(key) });
    expect((await itemOf(desk, id)).round).toBe(1);
    const from = agent.frames.length;
    await handback(agent, id);
    const offer = await take(agent, id, from);
    expect(offer.context.feedback.map((f: Any) => f.body)).toEqual(["c2", "c3"]);
    expect((await seen(desk)).items.length).toBe(1);
  });

  test("PIPE-2: feedback on what was canceled is a new item", async () => {
    const desk = await anOffice();
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c1") });
    const [first] = (await seen(desk)).items;
    await patch(desk, first.id, { status: "canceled" });
    await wake(desk, { kind: "review_feedback", subject: pr, feedback: said("c2") });
    const { items } = await seen(desk);
    expect(items.map((i: Any) => i.state)).toEqual(["queued", "canceled"]);
  });

  test("OFFER-9: a reply in the thread of earlier work is a chat about it, unless that waits for the writer", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const requester = { id: newId("usr"), name: "Max" };
    const origin = { channel: "C1", thread: "T1", requester, direct: false, participant: true };
    const chat = (key: string, more: object = {}) =>
      wake(desk, {
        kind: "chat",
        title: key,
        origin,
        subject: { type: "chat_thread", ref: "C1/T1" },
        requester: { ...requester, kind: "human" },
        feedback: { key, actor: "Max", kind: "chat", body: key },
        ...more,
      });
    await chat("first");
    const { id } = (await agent.next((f) => f.type === "offer")).payload.workItem;
    await take(agent, id);
    await agent.must("journal", { workItemId: id, text: "noted" });
    await handback(agent, id, { status: "waiting" });
    let from = agent.frames.length;
    await chat("an answer");
    const again = await take(agent, id, from);
    expect(again.context.feedback.map((f: Any) => f.body)).toEqual(["an answer"]);
    await handback(agent, id, { status: "done" });
    from = agent.frames.length;
    await chat("one more thing");
    const next = (await agent.next((f) => f.type === "offer", from)).payload;
    expect(next.workItem.id).not.toBe(id);
    expect(next.workItem.origin.about).toEqual({ id, title: "first", state: "finished" });
    expect(next.context.journal.map((l: Any) => l.text)).toContain("noted");
  });

  test("PIPE-1: a cancel takes what is queued away, and is told what runs by a note", async () => {
    const desk = await anOffice();
    const agent = await connected(desk);
    const ticket = { type: "ticket" as const, ref: "BP-1" };
    await wake(desk, { subject: ticket, title: "runs" });
    const { id } = (await agent.next((f) => f.type === "offer")).payload.workItem;
    await take(agent, id);
    await wake(desk, { subject: ticket, title: "waits" });
    await desk.letter("cancel", {
      ref: ticket,
      why: "BP-1 was closed",
      eventId: newId("evt"),
      by: "ticket-closed",
    });
    const { items } = await seen(desk);
    expect(items.map((i: Any) => [i.title, i.state])).toEqual([
      ["runs", "active"],
      ["waits", "canceled"],
    ]);
    expect(items[1].why_waiting).toBe("BP-1 was closed");
    await handback(agent, id, { status: "interrupted" });
    const next = await connected(desk);
    const { context } = (await next.next((f) => f.type === "offer")).payload;
    expect(context.journal.map((l: Any) => l.text)).toContain("BP-1 was closed (ticket-closed)");
  });
});
