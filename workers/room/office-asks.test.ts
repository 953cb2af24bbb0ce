import { expect, test } from "vitest";
import { type Any, newId, newPerson, refused, say, send } from "../testing/client.ts";
import { factsOf, pass } from "../testing/judge.ts";
import { read } from "../testing/room.ts";
import {
  clearLetters,
  deliver,
  evictHeld,
  setTeam,
  type TeamRoom,
  teamRoom,
  waiting,
} from "../testing/team-room.ts";

interface Asked extends TeamRoom {
  direct: string;
  question: Any;
  ask: string;
}

const letter = (room: TeamRoom, ask: string, user = room.bob.id) =>
  deliver(room.workspace, "office/scout", "ask", { ask, handle: "scout", user, text: "Which colour?" });

/** Scout asked Bob something. */
async function asked(): Promise<Asked> {
  const room = await teamRoom("scout", "otter");
  const ask = newId("evt");
  await letter(room, ask);
  const { items } = await read(room.bob, "/v1/spaces");
  const direct = items.find((s: Any) => s.direct)?.space_id;
  const question = (await factsOf(room.bob, direct)).find((f) => f.type === "question.asked");
  return { ...room, ask, direct, question };
}

const runs = async (room: Asked) => (await read(room.bob, `/v1/spaces/${room.direct}/runs`)).items;

test("ITEM-2 ASK-1 a question to a human stands in the direct space of the two, and its answer goes to the board once", async () => {
  const room = await asked();
  const scout = room.team["scout"]!;
  expect(room.question).toMatchObject({
    text: "Which colour?",
    to: [room.bob.id],
    agent_id: scout.id,
    actor: { kind: "agent", id: scout.id },
  });
  expect(await runs(room)).toMatchObject([{ state: "waiting", agent_id: scout.id, message_ids: [] }]);
  await evictHeld(room.workspace);
  // It waits for its human: no clock runs (TURN-5).
  await pass(room.workspace, 3 * 86_400);
  await clearLetters(room.workspace);
  const answer = { question_id: room.question.question_id, text: "Blue" };
  expect((await refused(room.owner, "question.answer", answer)).code).toBe("not_found");
  await send(room.bob, "question.answer", answer);
  expect(await waiting(room.workspace)).toEqual([
    { target: "board", kind: "answered", ask: room.ask, from: "scout", answer: "Blue", by: "Bob" },
  ]);
  expect((await refused(room.bob, "question.answer", answer)).code).toBe("conflict");
  expect(await waiting(room.workspace)).toHaveLength(1);
  const ended = (await factsOf(room.bob, room.direct)).find((f) => f.type === "run.ended");
  expect(ended).toMatchObject({ outcome: "done", cost_usd: 0 });
  expect((await read(room.bob, `/v1/why/${ended.id}`)).decisions[0].rule).toBe("ITEM-2");
});

test("ITEM-2 the same ask again is the same question; two asks are two, in one space", async () => {
  const room = await asked();
  await letter(room, room.ask);
  await letter(room, newId("evt"));
  const questions = (await factsOf(room.bob, room.direct)).filter((f) => f.type === "question.asked");
  expect(questions).toHaveLength(2);
  expect((await read(room.bob, "/v1/spaces")).items.filter((s: Any) => s.direct)).toHaveLength(1);
});

test("ITEM-2 taken back it is nobody's to answer, and the board hears nothing of it", async () => {
  const room = await asked();
  await clearLetters(room.workspace);
  await deliver(room.workspace, "board", "ask_canceled", { ask: room.ask });
  await deliver(room.workspace, "board", "ask_canceled", { ask: newId("evt") });
  const answer = { question_id: room.question.question_id, text: "Blue" };
  expect((await refused(room.bob, "question.answer", answer)).code).toBe("conflict");
  expect(await waiting(room.workspace)).toEqual([]);
  expect(await runs(room)).toMatchObject([{ state: "ended", outcome: "stopped" }]);
});

test("ITEM-2 who is not of the workspace, or leaves it, or stops the turn, will not answer: the board is told", async () => {
  const room = await asked();
  await clearLetters(room.workspace);
  const nobody = newId("usr");
  const lost = newId("evt");
  await letter(room, lost, nobody);
  const stranger = newId("evt");
  const guest = await newPerson(room.owner, "Gus", "guest");
  await letter(room, stranger, guest.id);
  const gone = "They are not in this workspace.";
  const apart = "They are a guest who shares no space with you.";
  const taken = "The question was taken off their list.";
  const canceled = { target: "board", kind: "question_canceled" };
  expect(await waiting(room.workspace)).toEqual([
    { ...canceled, ask: lost, to: nobody, why: gone },
    { ...canceled, ask: stranger, to: guest.id, why: apart },
  ]);
  await clearLetters(room.workspace);
  const [run] = await runs(room);
  await send(room.bob, "run.stop", { run_id: run.run_id });
  expect(await waiting(room.workspace, "question_canceled")).toEqual([
    { ...canceled, ask: room.ask, to: room.bob.id, why: taken },
  ]);
  await clearLetters(room.workspace);
  const second = newId("evt");
  await letter(room, second);
  await send(room.owner, "participant.remove", { participant_id: room.bob.id });
  expect(await waiting(room.workspace, "question_canceled")).toEqual([
    { ...canceled, ask: second, to: room.bob.id, why: gone },
  ]);
});

test("TEAM-3 ITEM-2 the asker leaves the team: its questions are answered by nobody, and it asks no more", async () => {
  const room = await asked();
  await clearLetters(room.workspace);
  await setTeam(room.workspace, "otter");
  expect(await waiting(room.workspace, "question_canceled")).toMatchObject([{ ask: room.ask }]);
  const late = newId("evt");
  await letter(room, late);
  expect((await waiting(room.workspace, "question_canceled")).at(-1)).toMatchObject({ ask: late });
});

test("ITEM-2 CHAT-2 what is said beside a question is a message for the agent, no part of the turn that waits", async () => {
  const room = await asked();
  await clearLetters(room.workspace);
  const { message_id } = await say(room.bob, room.direct, "Why do you ask?");
  expect((await waiting(room.workspace, "event")).map((e) => e.chat.message)).toEqual([message_id]);
  const said = await say(room.team["scout"]!, room.direct, "The door is bare.");
  const fact = (await factsOf(room.bob, room.direct)).find((f) => f.message_id === said.message_id);
  expect(fact.run_id).toBeUndefined();
  expect(await runs(room)).toMatchObject([{ state: "waiting" }]);
});
