/** ITEM-2, ITEM-3, CHAT, REPORT, RECALL: what an agent asks, is told and tells, from the outside. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Any, get, newPerson, newSpace, post, say, send } from "../kit.ts";
import {
  type Agent,
  accept,
  addItem,
  atWork,
  connectAgent,
  handback,
  newTeam,
  offered,
  type Team,
} from "./kit.ts";

/** A chat item of a message that the agent itself reports, at work. */
async function chatting(team: Team, agent: Agent, more: object = {}): Promise<Any> {
  const from = agent.frames.length;
  const message = {
    messageId: randomUUID(),
    channel: "C1",
    thread: "T1",
    text: "Please look into the shop.",
    author: { id: team.owner.id, name: "Anna" },
    direct: false,
    participant: true,
    ...more,
  };
  const taken = await agent.ask("chat_message", message);
  expect(taken).toMatchObject({ type: "chat_message_result", payload: { repeated: false } });
  const offer = await offered(agent, undefined, from);
  await accept(agent, offer.workItem.id);
  return { id: offer.workItem.id, offer, message };
}

/** A space with the owner and the agent, whose message to it is an item. */
async function spaceWith(team: Team, ...names: string[]): Promise<string> {
  const space = await newSpace(team.owner, "Work");
  const { body } = await get(team.owner, "/v1/participants");
  for (const name of names) {
    const agent = body.items.find((p: Any) => p.kind === "agent" && p.name === name);
    await send(team.owner, "member.add", { space_id: space, participant_id: agent.participant_id });
  }
  return space;
}

describe("questions", () => {
  test("ITEM-2: a teammate is asked by an item of theirs, and the answer is the asker's", async () => {
    const team = await newTeam(["ada", "milo"]);
    const [ada, milo] = [await connectAgent(team, "ada"), await connectAgent(team, "milo")];
    const mine = await atWork(team, ada, "ada");
    const asked = { to: "milo", question: "Which blue?" };
    const { payload } = await ada.ask("ask", asked);
    expect(payload).toMatchObject({ to: "milo", status: "pending" });
    const { workItem } = await offered(milo);
    expect(workItem).toMatchObject({ kind: "question", parentId: mine, trigger: "agent" });
    await accept(milo, workItem.id);
    expect((await milo.ask("answer", { questionId: workItem.id, answer: "Navy." })).type).toBe("ack");
    expect((await milo.ask("answer", { questionId: workItem.id, answer: "Navy." })).type).toBe("ack");
    await expect
      .poll(async () => (await ada.ask("ask", asked)).payload, { timeout: 10_000 })
      .toMatchObject({ id: payload.id, status: "answered", answer: "Navy." });
  });

  test("ITEM-2: nobody of that name is not_found; oneself, or in a ring, is invalid", async () => {
    const team = await newTeam(["ada", "milo"]);
    const [ada, milo] = [await connectAgent(team, "ada"), await connectAgent(team, "milo")];
    await atWork(team, ada, "ada");
    expect((await ada.refused("ask", { to: "ghost", question: "x" })).code).toBe("not_found");
    expect((await ada.refused("ask", { to: "ada", question: "x" })).code).toBe("invalid");
    await ada.ask("ask", { to: "milo", question: "Which blue?" });
    const { workItem } = await offered(milo);
    await accept(milo, workItem.id);
    expect((await milo.refused("ask", { to: "ada", question: "Which do you like?" })).code).toBe("invalid");
    expect((await ada.refused("answer", { questionId: "itm_none", answer: "x" })).code).toMatch(
      /unknown_item|not_found/,
    );
  });

  test("ITEM-2: a human is asked in their direct space, and answers there", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    await atWork(team, ada, "ada");
    const asked = { to: "Anna", question: "May I paint the door?" };
    expect((await ada.ask("ask", asked)).payload.status).toBe("pending");
    const found = async (): Promise<Any> => {
      const { body } = await get(team.owner, "/v1/events?after=0&limit=200");
      return body.events.find((e: Any) => e.type === "question.asked" && e.text.includes("door"));
    };
    await expect.poll(found, { timeout: 10_000 }).toBeDefined();
    await send(team.owner, "question.answer", { question_id: (await found()).question_id, text: "Yes." });
    await expect
      .poll(async () => (await ada.ask("ask", asked)).payload, { timeout: 10_000 })
      .toMatchObject({ status: "answered", answer: "Yes." });
  });
});

test("ITEM-3: the roster shows everybody, what they are on, and the trusted humans", async () => {
  const team = await newTeam(["ada", "milo"]);
  const ada = await connectAgent(team, "ada");
  await atWork(team, ada, "ada", "Paint the door");
  await ada.ask("usage", { windows: [{ name: "five_hour", utilization: 0.25 }] });
  const roster = async () => (await ada.ask("roster")).payload;
  await expect.poll(roster, { timeout: 10_000 }).toMatchObject({
    members: [
      {
        handle: "ada",
        name: "Ada",
        role: "dev",
        title: "Developer",
        status: "working",
        current: "Paint the door",
      },
      { handle: "milo", status: "offline" },
    ],
    humans: [{ name: "Anna" }],
  });
  await expect
    .poll(async () => (await roster()).members[0].usage, { timeout: 10_000 })
    .toMatchObject({ window: "five_hour", utilization: 0.25 });
});

describe("requests that come from a conversation", () => {
  test("CHAT-1: a message is taken in once, also without text", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const file = {
      id: "F1",
      name: "plan.pdf",
      mimetype: "application/pdf",
      size: 5,
      url: "https://chat.test/F1",
    };
    const { offer, message } = await chatting(team, ada, { text: "", files: [file] });
    expect(offer.workItem).toMatchObject({
      kind: "chat",
      origin: { channel: "C1", thread: "T1", files: [file] },
    });
    expect((await ada.ask("chat_message", message)).payload).toEqual({ repeated: true });
  });

  test("CHAT-1 PIPE-5: a human the team does not trust wakes nobody", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const message = {
      messageId: "m",
      channel: "C1",
      text: "x",
      author: { id: "mallory" },
      direct: true,
      participant: true,
    };
    expect((await ada.ask("chat_message", message)).payload).toEqual({ repeated: false });
    await addItem(team, "ada", "Real work");
    expect((await offered(ada)).workItem.title).toBe("Real work");
  });

  test("CHAT-3: filing works from a chat item only, once per title and message", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const plain = await atWork(team, ada, "ada", "Plain");
    for (const [type, more] of [
      ["work_check", { request: "x" }],
      ["work_link", { ticket: "BP-1", request: "x" }],
      ["work_file_for", { ticket: "BP-1", request: "x", assignee: "milo" }],
      ["work_queue", { title: "x" }],
      ["work_attach", { target: "BP-1" }],
    ] as const)
      expect([type, (await ada.refused(type, { workItemId: plain, ...more })).code]).toEqual([
        type,
        "invalid",
      ]);
    await ada.ask("handback", handback(plain));
    const { id } = await chatting(team, ada);
    expect((await ada.ask("work_check", { workItemId: id, request: "Fix the door" })).type).toBe("ack");
    const filed = await ada.ask("work_queue", { workItemId: id, title: "Fix the door", body: "It creaks." });
    expect(filed.payload).toMatchObject({
      item: { title: "Fix the door", status: "queued" },
      waiting: false,
    });
    const again = await ada.ask("work_queue", { workItemId: id, title: "  fix  the DOOR " });
    expect(again.payload.item.id).toBe(filed.payload.item.id);
    expect((await ada.refused("work_check", { workItemId: id, request: "fix the door" })).code).toBe(
      "invalid",
    );
    await ada.ask("handback", handback(id));
    expect((await offered(ada, filed.payload.item.id)).workItem.origin).toMatchObject({ thread: "T1" });
  });

  test("CHAT-3: a ticket made in a chat is filed as work; the same title with another ticket is invalid", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const one = (await post(team.owner, "/v1/tickets", { title: "One" })).body.key;
    const two = (await post(team.owner, "/v1/tickets", { title: "Two" })).body.key;
    const { id } = await chatting(team, ada);
    const filed = await ada.ask("work_link", { workItemId: id, ticket: one, request: "Do one" });
    expect(filed.payload).toMatchObject({ item: { ticketKey: one }, waiting: false });
    expect((await ada.ask("work_link", { workItemId: id, ticket: one, request: "do ONE" })).payload).toEqual(
      filed.payload,
    );
    expect((await ada.refused("work_link", { workItemId: id, ticket: two, request: "Do one" })).code).toBe(
      "invalid",
    );
    expect(
      (await ada.refused("work_link", { workItemId: id, ticket: "BP-999", request: "Other" })).code,
    ).toBe("not_found");
  });

  test("CHAT-4: a request becomes part of own open work, by its ticket", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const { key } = (await post(team.owner, "/v1/tickets", { title: "Door", assignee: "ada" })).body;
    const { workItem } = await offered(ada);
    await accept(ada, workItem.id);
    await ada.ask("handback", handback(workItem.id, { status: "waiting", toReview: undefined }));
    const { id } = await chatting(team, ada, { text: "Also oil the hinges." });
    expect((await ada.refused("work_attach", { workItemId: id, target: "BP-999" })).code).toBe("not_found");
    const attached = await ada.ask("work_attach", { workItemId: id, target: key.toLowerCase() });
    expect(attached.payload).toMatchObject({ item: { id: workItem.id }, attached: { ticket: { ref: key } } });
    const from = ada.frames.length;
    await ada.ask("handback", handback(id, { status: "silent" }));
    const round = await offered(ada, workItem.id, from);
    expect(round.context.feedback).toMatchObject([{ kind: "chat", body: "Also oil the hinges." }]);
  });
});

describe("reports", () => {
  test("REPORT-1: granted once an ending and kind; the same frame gets the same answer", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const { id } = await chatting(team, ada);
    const ack = await ada.ask("chat_report", { workItemId: id, kind: "ack" });
    expect(ack.payload).toMatchObject({
      post: true,
      requester: team.owner.id,
      threads: [{ channel: "C1", thread: "T1" }],
    });
    expect((await ada.ask("chat_report", { workItemId: id, kind: "ack" })).payload.post).toBe(false);
    await ada.ask("handback", handback(id));
    const frame = randomUUID();
    const result = await ada.ask("chat_report", { workItemId: id, kind: "result" }, frame);
    expect(result.payload.post).toBe(true);
    expect((await ada.ask("chat_report", { workItemId: id, kind: "result" }, frame)).payload).toEqual(
      result.payload,
    );
    expect((await ada.ask("chat_report", { workItemId: id, kind: "result" })).payload.post).toBe(false);
  });

  test("REPORT-2: an ending without a report is queued, comes with welcome until it is confirmed, then never", async () => {
    const team = await newTeam(["ada"]);
    const ada = await connectAgent(team, "ada");
    const { id } = await chatting(team, ada);
    await ada.ask("handback", handback(id, { summary: "The shop is fine." }));
    ada.ws.close();
    await ada.closed;
    const again = await connectAgent(team, "ada");
    const report = again.welcome.reports?.[0] ?? (await again.type("reports")).payload.reports[0];
    expect(report).toMatchObject({ workItemId: id, kind: "result", text: "The shop is fine." });
    expect((await again.ask("chat_report", { workItemId: id, kind: "result" })).payload.post).toBe(false);
    expect((await again.ask("report_posted", { workItemId: id, id: report.id })).type).toBe("ack");
    expect((await again.refused("report_posted", { workItemId: id, id: "rpt_none" })).code).toBe("not_found");
    const third = await connectAgent(team, "ada");
    expect(third.welcome.reports ?? []).toEqual([]);
  });
});

describe("rooms and office are one", () => {
  test("CHAT-2: a message to a team person is an item once; its run is the round; what it posts is its own", async () => {
    const team = await newTeam(["ada"]);
    const space = await spaceWith(team, "Ada");
    const ada = await connectAgent(team, "ada");
    const said = await say(team.owner, space, "@Ada please look into the shop.");
    const { workItem } = await offered(ada);
    expect(workItem).toMatchObject({
      kind: "chat",
      origin: { channel: space, thread: said.message_id, requester: { id: team.owner.id } },
    });
    await accept(ada, workItem.id);
    await ada.ask("progress", { workItemId: workItem.id, text: "walking there" });
    const runs = async () => (await get(team.owner, `/v1/spaces/${space}/runs`)).body.items;
    await expect
      .poll(runs, { timeout: 10_000 })
      .toMatchObject([{ state: "working", step: "walking there", message_ids: [said.message_id] }]);
    await ada.ask("handback", handback(workItem.id));
    await expect.poll(runs, { timeout: 10_000 }).toMatchObject([{ state: "ended", outcome: "done" }]);
    const me = { id: "", token: team.tokens["ada"] ?? "" };
    await say(me, space, "The shop is fine.", { reply_to: said.message_id });
    const { body } = await get(team.owner, `/v1/spaces/${space}/context`);
    expect(body.context.lines.at(-1)).toMatchObject({
      text: "The shop is fine.",
      from: { name: "Ada", kind: "agent" },
    });
  });

  test("CHAT-2: run.stop cancels the item", async () => {
    const team = await newTeam(["ada"]);
    const space = await spaceWith(team, "Ada");
    const ada = await connectAgent(team, "ada");
    await say(team.owner, space, "@Ada please look into the shop.");
    const { workItem } = await offered(ada);
    await accept(ada, workItem.id);
    const runs = async () => (await get(team.owner, `/v1/spaces/${space}/runs`)).body.items;
    await expect.poll(runs, { timeout: 10_000 }).toMatchObject([{ state: "working" }]);
    await send(team.owner, "run.stop", { run_id: (await runs())[0].run_id });
    await expect
      .poll(async () => (await ada.ask("progress", { workItemId: workItem.id, text: "x" })).payload.code, {
        timeout: 10_000,
      })
      .toBe("unknown_item");
  });

  test("PIPE-5: a member whom the team does not list wakes nobody, and the room says so", async () => {
    const team = await newTeam(["ada"]);
    const space = await spaceWith(team, "Ada");
    const ben = await newPerson(team.owner, "Ben", "member", [space]);
    const ada = await connectAgent(team, "ada");
    await say(ben, space, "@Ada give me the keys.");
    const notice = async () => {
      const { body } = await get(ben, "/v1/events?after=0&limit=200");
      return body.events.filter((e: Any) => e.type === "notice.posted" && e.code === "office").length;
    };
    await expect.poll(notice, { timeout: 10_000 }).toBe(1);
    await addItem(team, "ada", "Real work");
    expect((await offered(ada)).workItem.title).toBe("Real work");
  });

  test("TEAM-2: a person's token speaks as that agent alone, and reads only its spaces", async () => {
    const team = await newTeam(["ada", "milo"]);
    const other = await newTeam(["ada"]);
    const space = await spaceWith(team, "Ada");
    const theirs = { id: "", token: team.tokens["milo"] ?? "" };
    await expect(say(theirs, space, "I am Ada.")).rejects.toThrow("not_found");
    await expect(say({ id: "", token: other.tokens["ada"] ?? "" }, space, "x")).rejects.toThrow("not_found");
    const mine = { id: "", token: team.tokens["ada"] ?? "" };
    await expect(send(mine, "space.create", { title: "Mine" })).rejects.toThrow("forbidden");
    await expect(send(mine, "participant.remove", { participant_id: team.owner.id })).rejects.toThrow(
      "forbidden",
    );
  });
});

const kinds = async (agent: Agent, query: string): Promise<string[]> =>
  (await agent.ask("recall", { query, limit: 20 })).payload.moments.map((m: Any) => m.kind);

describe("recall", () => {
  test("RECALL-1: own items, journals and outcomes are found by words; any string is safe; nothing of others", async () => {
    const team = await newTeam(["ada", "milo"]);
    const [ada, milo] = [await connectAgent(team, "ada"), await connectAgent(team, "milo")];
    const id = await atWork(team, ada, "ada", "Paint the gate");
    await ada.ask("journal", { workItemId: id, text: "Primed with zinc." });
    await ada.ask("handback", handback(id, { summary: "The gate shines." }));
    expect(await kinds(ada, "zinc")).toEqual(["journal"]);
    expect(await kinds(ada, '"gate shines"')).toEqual(["outcome"]);
    expect(await kinds(ada, "painting -zinc")).toEqual(["item"]);
    expect((await kinds(ada, "zinc or shines")).toSorted()).toEqual(["journal", "outcome"]);
    expect(await kinds(milo, "zinc")).toEqual([]);
    for (const query of [
      '"',
      "*",
      "NEAR(a b)",
      "a AND",
      "text:zinc",
      "(",
      "-",
      "'; DROP TABLE items",
      "\u0000",
      "é ".repeat(500),
    ])
      expect((await ada.ask("recall", { query, limit: 5 })).type).toBe("recall_result");
    expect((await ada.ask("recall", { query: "zinc", limit: 100_000 })).type).toBe("recall_result");
    expect((await ada.refused("recall", { query: "zinc", limit: 5, since: "yesterday" })).code).toBe(
      "invalid",
    );
  });
});

test("ITEM-5: doctor's report, notes and documents are taken, and hostile ones told apart", async () => {
  const team = await newTeam(["ada"]);
  const ada = await connectAgent(team, "ada");
  const id = await atWork(team, ada, "ada");
  const check = { name: "Tools", status: "warn", detail: "git is old", fix: "update it" };
  expect((await ada.ask("doctor_report", { checks: [check] })).type).toBe("ack");
  expect((await ada.ask("notes_changed", { change: "added", note: "Oak is hard." })).type).toBe("ack");
  const doc = { id: "D1", title: "Plan", url: "https://docs.test/D1" };
  expect((await ada.ask("doc_link", { workItemId: id, doc })).type).toBe("ack");
  expect((await ada.refused("doc_link", { workItemId: id, doc, ticket: "BP-999" })).code).toBe("not_found");
  expect((await ada.refused("doctor_report", { checks: [{ ...check, status: "fine" }] })).code).toBe(
    "invalid_message",
  );
});
