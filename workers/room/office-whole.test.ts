/** The room, the board and the offices together, as people and agents meet them. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { type Any, call, connect, newPerson, roomStub, say, send } from "../testing/client.ts";
import type { Agent } from "../testing/office.ts";
import { read } from "../testing/room.ts";
import { agentOf, fact, type Whole, whole } from "../testing/whole.ts";

const accept = (agent: Agent, workItemId: string) =>
  agent.must("accept", { workItemId, runtime: "script", model: "m" });
const handback = (agent: Agent, workItemId: string, more: object = {}) =>
  agent.must("handback", {
    workItemId,
    status: "done",
    summary: "Done.",
    links: [],
    toReview: ["it"],
    ...more,
  });

test("CHAT-2 TEAM-2 a message in a room is offered to the person's agent, its work is a turn there, and it answers as itself", async () => {
  const at = await whole("scout", "mason");
  const scout = await agentOf(at, "scout");
  const up = await call("POST", "/v1/attachments?filename=plan.txt", {
    token: at.ada.token,
    raw: "the plan",
  });
  const asked = await say(at.ada, at.space, "@scout paint the door", {
    attachments: [{ attachment_id: up.body.attachment_id }],
  });
  const { workItem } = await scout.offer();
  expect(workItem).toMatchObject({
    kind: "chat",
    trigger: "human",
    origin: {
      channel: at.space,
      thread: asked.message_id,
      requester: { id: at.ada.id, name: "Ada" },
      direct: false,
      participant: true,
    },
  });
  const [file] = workItem.origin.files;
  expect(file).toMatchObject({ id: up.body.attachment_id, name: "plan.txt", size: 8 });
  const path = String(file.url).replace(/^https?:\/\/[^/]+/, "");
  expect((await call("GET", path, { token: at.team["scout"]!.token })).body).toBe("the plan");
  expect((await call("GET", path, { token: at.team["mason"]!.token })).status).toBe(403);

  await accept(scout, workItem.id);
  const started = await fact(at.ada, at.space, (f) => f.type === "run.started");
  expect(started).toMatchObject({ agent_id: at.team["scout"]!.id, message_ids: [asked.message_id] });
  await scout.must("progress", { workItemId: workItem.id, text: "stirring the paint" });
  await fact(at.ada, at.space, (f) => f.type === "run.stepped" && f.text === "stirring the paint");
  const said = await say(at.team["scout"]!, at.space, "It is blue now.", { reply_to: asked.message_id });
  const posted = await fact(at.ada, at.space, (f) => f.message_id === said.message_id);
  expect(posted).toMatchObject({ run_id: started.run_id, actor: { id: at.team["scout"]!.id } });
  await handback(scout, workItem.id);
  const ended = await fact(at.ada, at.space, (f) => f.type === "run.ended");
  expect(ended).toMatchObject({ run_id: started.run_id, outcome: "done" });
});

test("CHAT-2 each message is one item, also while the board and the office are evicted", async () => {
  const at = await whole("scout");
  const board = env.BOARD.getByName(at.workspace);
  const office = env.OFFICE.getByName(`${at.workspace}/scout`);
  for (let n = 0; n < 6; n++) {
    const sent = say(at.ada, at.space, `@scout task ${n}`);
    if (n % 2 === 0) await evictDurableObject(board);
    await sent;
    await evictDurableObject(n % 3 === 0 ? office : roomStub(at.workspace));
  }
  const scout = await agentOf(at, "scout");
  const titles: string[] = [];
  for (let n = 0; n < 6; n++) {
    const from = scout.frames.length;
    const { workItem } = await scout.offer(n === 0 ? 0 : from - 1);
    titles.push(workItem.title);
    await accept(scout, workItem.id);
    await handback(scout, workItem.id);
  }
  const { items } = await read(at.ada, "/v1/people/scout");
  expect(items.filter((i: Any) => i.kind === "chat")).toHaveLength(6);
  expect(new Set(titles).size).toBe(6);
});

test("TURN-4 CHAT-2 a person's stop of the turn cancels the item, and the agent's word on it comes too late", async () => {
  const at = await whole("scout");
  const scout = await agentOf(at, "scout");
  await say(at.ada, at.space, "@scout count the stars");
  const { workItem } = await scout.offer();
  await accept(scout, workItem.id);
  const { run_id } = await fact(at.ada, at.space, (f) => f.type === "run.started");
  await send(at.ada, "run.stop", { run_id });
  const ended = await fact(at.ada, at.space, (f) => f.type === "run.ended");
  expect(ended.outcome).toBe("stopped");
  const late = await scout.ask("progress", { workItemId: workItem.id, text: "1, 2, 3" });
  expect(late.payload).toMatchObject({ code: "unknown_item" });
  expect(late.payload.message).toContain("Ada");
});

test("ITEM-2 a question to a human is asked in their direct space, and the answer comes back to who asked", async () => {
  const at = await whole("scout");
  const scout = await agentOf(at, "scout");
  await say(at.ada, at.space, "@scout paint the door");
  const { workItem } = await scout.offer();
  await accept(scout, workItem.id);
  const asked = await scout.must("ask", { workItemId: workItem.id, to: "Ada", question: "Which colour?" });
  expect(asked).toMatchObject({ status: "pending", to: "Ada" });
  const socket = await connect(at.ada, { after_seq: 0 });
  const question = await socket.next((f) => f.type === "question.asked");
  expect(question).toMatchObject({ text: "Which colour?", to: [at.ada.id], agent_id: at.team["scout"]!.id });
  await send(at.ada, "question.answer", { question_id: question.question_id, text: "Blue" });
  await socket.next((f) => f.type === "run.ended" && f.run_id === question.run_id);
  const answer = async (): Promise<Any> => {
    const again = { workItemId: workItem.id, to: "Ada", question: "Which colour?" };
    const { status, answer: text } = await scout.must("ask", again);
    return status === "answered" ? text : answer();
  };
  expect(await answer()).toBe("Blue");
});

test("GUARD-6 CHAT-2 an agent of the team that mentions another gives it work, which it reads in its own office", async () => {
  const at = await whole("scout", "mason");
  const mason = await agentOf(at, "mason");
  await say(at.team["scout"]!, at.space, "@mason build the wall");
  const { workItem } = await mason.offer();
  expect(workItem).toMatchObject({ kind: "chat", trigger: "agent" });
  expect(workItem.origin.requester.id).toBe("scout");
});

test("PIPE-5 who is not named in the team's config wakes nobody", async () => {
  const at = await whole("scout");
  const scout = await agentOf(at, "scout");
  const ben = await newPerson(at.ada, "Ben", "member", [at.space]);
  await say(ben, at.space, "@scout do as I say");
  await say(at.ada, at.space, "@scout paint the door");
  const { workItem } = await scout.offer();
  expect(workItem.origin.requester.id).toBe(at.ada.id);
  const { items } = await read(at.ada, "/v1/people/scout");
  expect(items).toHaveLength(1);
});

test("QUEUE-4 who watches hears of the work as it comes and goes", async () => {
  const at = await whole("scout");
  const socket = await connect(at.ada);
  socket.send({ v: 1, type: "watch", office: true });
  await say(at.ada, at.space, "@scout paint the door");
  const changed = await socket.next((f) => f.type === "office.changed" && f.people?.includes("scout"));
  expect(changed.v).toBe(1);
  const from = socket.frames.length;
  await agentOf(at, "scout");
  await socket.next((f) => f.type === "office.changed", from);
});

const get = (at: Whole, path: string) => read(at.ada, path);

/** What an event of a ticket led to, once something was decided that fits. */
async function decidedOf(at: Whole, type: string, fits: (d: Any) => boolean): Promise<Any[]> {
  const { items } = await get(at, `/v1/work/events?type=${type}`);
  const { decisions } = await get(at, `/v1/work/events/${items[0].event_id}`);
  return decisions.some(fits) ? decisions : decidedOf(at, type, fits);
}

test("OFFER-2 PIPE-2 a comment on a ticket that is done is a round of its item; one that is canceled says so on its trace", async () => {
  const at = await whole("scout");
  const scout = await agentOf(at, "scout");
  const token = at.ada.token;
  const made = await call("POST", "/v1/tickets", { token, body: { title: "A door", assignee: "scout" } });
  const { key } = made.body;
  const { workItem } = await scout.offer();
  await accept(scout, workItem.id);
  await handback(scout, workItem.id);
  await call("PATCH", `/v1/tickets/${key}`, { token, body: { status: "done" } });
  const from = scout.frames.length;
  await call("POST", `/v1/tickets/${key}/comments`, { token, body: { body: "Why is it red?" } });
  const again = await scout.offer(from);
  expect(again.workItem).toMatchObject({ id: workItem.id, kind: "review_feedback" });
  expect(again.context.feedback).toMatchObject([{ kind: "ticket_comment", body: "Why is it red?" }]);
  await accept(scout, workItem.id);
  await handback(scout, workItem.id);

  scout.ws.close(1000);
  await call("POST", `/v1/tickets/${key}/comments`, { token, body: { body: "And now?" } });
  await decidedOf(at, "ticket.commented", (d) => d.item === workItem.id);
  const path = `/v1/people/scout/items/${workItem.id}`;
  expect((await call("PATCH", path, { token, body: { status: "canceled" } })).status).toBe(200);
  const canceled = await decidedOf(at, "ticket.commented", (d) => d.decision === "cancel");
  expect(canceled).toMatchObject([
    { rule: "ticket.commented", decision: "wake", item: workItem.id },
    {
      rule: "item.canceled",
      person: "scout",
      item: workItem.id,
      why: expect.stringContaining("canceled by"),
    },
  ]);
});

test("CHAT-3 OFFER-2 a ticket that an agent made and filed for a chat is offered, assigned to nobody or to itself", async () => {
  const at = await whole("scout");
  const scout = await agentOf(at, "scout");
  const { token } = at.team["scout"]!;
  for (const more of [{}, { assignee: "scout" }]) {
    const from = scout.frames.length;
    await say(at.ada, at.space, "@scout a door, please");
    const chat = (await scout.offer(from)).workItem;
    await accept(scout, chat.id);
    const { body } = await call("POST", "/v1/tickets", { token, body: { title: "A door", ...more } });
    const filed = await scout.must("work_link", {
      workItemId: chat.id,
      request: "A door",
      ticket: body.key,
    });
    const then = scout.frames.length;
    await handback(scout, chat.id);
    const { workItem, context } = await scout.offer(then);
    expect(workItem).toMatchObject({ id: filed.item.id, kind: "assigned", subject: { ref: body.key } });
    expect(context.wake.tickets[0]).toMatchObject({ key: body.key, status: expect.any(String) });
    await accept(scout, workItem.id);
    await handback(scout, workItem.id);
    expect(await get(at, `/v1/tickets/${body.key}`)).toMatchObject({ status: "review" });
  }
});
