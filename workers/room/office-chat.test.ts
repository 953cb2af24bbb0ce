import { describe, expect, test } from "vitest";
import { workEvent } from "../../src/shared/wire/work.ts";
import { type Any, call, newHarness, newSpace, type Party, roomStub, say, send } from "../testing/client.ts";
import { factsOf, pass } from "../testing/judge.ts";
import { as, declare, read, sql } from "../testing/room.ts";
import {
  clearLetters,
  evictHeld,
  holdLetters,
  sentBy,
  type TeamRoom,
  teamRoom,
  waiting,
} from "../testing/team-room.ts";

const events = (room: TeamRoom) => waiting(room.workspace, "event");
const agent = (room: TeamRoom, handle: string): Party => room.team[handle]!;

describe("CHAT-2 messages for the team's people", () => {
  test("CHAT-2 one for a person of the team is one event to the board, with all that it needs", async () => {
    const room = await teamRoom("scout", "otter");
    const asked = await say(room.bob, room.space, "@Scout find the door");
    const [event, ...more] = await events(room);
    expect(more).toEqual([]);
    const posted = (await factsOf(room.bob, room.space)).find((f) => f.message_id === asked.message_id);
    expect(event).toEqual({
      target: "board",
      kind: "event",
      id: `${posted.id}:scout`,
      type: "chat.message",
      source: "room",
      at: posted.ts,
      actor: { id: room.bob.id, name: "Bob", kind: "human" },
      chat: {
        message: asked.message_id,
        channel: room.space,
        thread: asked.message_id,
        text: "@Scout find the door",
        direct: false,
        participant: true,
        to: "scout",
      },
    });
    const { target: _target, kind: _kind, ...whole } = event;
    expect(workEvent.parse(whole)).toEqual(whole);
  });

  test("CHAT-2 what is for nobody of the team, or for another harness's agent, writes no letter", async () => {
    const room = await teamRoom("scout", "otter");
    const crew = await newHarness(room.owner, "Crew");
    const [ping = ""] = await declare(crew, "Ping");
    await send(room.owner, "member.add", { space_id: room.space, participant_id: ping });
    for (const text of ["hello all", "@Bob hello", "@Ping hello"]) await say(room.owner, room.space, text);
    await say(room.owner, await newSpace(room.owner, "Empty"), "nobody here");
    await send(crew, "message.post", { space_id: room.space, text: "hello", ...as(ping) });
    expect(await waiting(room.workspace)).toEqual([]);
  });

  test("CHAT-2 to several it is one event each; `@everyone` is all of them", async () => {
    const room = await teamRoom("scout", "otter");
    await say(room.bob, room.space, "@everyone look");
    const all = await events(room);
    expect(new Set(all.map((e) => e.chat.to))).toEqual(new Set(["otter", "scout"]));
    expect(new Set(all.map((e) => e.id)).size).toBe(2);
  });

  test("CHAT-2 the thread is the message that the reply chain began with, however long", async () => {
    const room = await teamRoom("scout", "otter");
    const first = (await say(room.bob, room.space, "A thing")).message_id;
    let last = first;
    for (let n = 0; n < 5; n++)
      last = (await say(room.owner, room.space, `and ${n}`, { reply_to: last })).message_id;
    await say(room.bob, room.space, "@Scout what of it?", { reply_to: last });
    expect((await events(room)).at(-1).chat).toMatchObject({ thread: first });
    // A chain from before threads were kept is followed to its beginning.
    await sql(room.workspace, "UPDATE log SET body = json_remove(body, '$.thread')");
    await say(room.bob, room.space, "@Scout and now?", { reply_to: last });
    expect((await events(room)).at(-1).chat).toMatchObject({ thread: first });
    expect(await roomStub(room.workspace).roomMessage("scout", room.space, last)).toMatchObject({
      value: { thread: first },
    });
  });

  test("CHAT-2 files come by name and size without a URL, an empty text is fine, voice comes as its words", async () => {
    const room = await teamRoom("scout");
    const up = await call("POST", "/v1/attachments?filename=map.txt", {
      token: room.bob.token,
      raw: "the map",
    });
    const { attachment_id } = up.body;
    const { space_id } = await send(room.bob, "space.create", { direct: [agent(room, "scout").id] });
    const { message_id } = await say(room.bob, space_id, "", { attachments: [{ attachment_id }] });
    const [event] = await events(room);
    expect(event.chat).toMatchObject({ text: "", direct: true, to: "scout" });
    expect(event.chat.files).toEqual([
      { id: attachment_id, name: "map.txt", mimetype: "text/plain", size: 7, url: "" },
    ]);
    await roomStub(room.workspace).transcribed(attachment_id, "go left at the oak");
    const changed = { kind: "message_changed", messageId: message_id, text: "go left at the oak" };
    const sent = await waiting(room.workspace, "message_changed");
    expect(sent).toHaveLength(2);
    expect(sent).toEqual(
      expect.arrayContaining([
        { target: "board", ...changed },
        { target: "office/scout", ...changed },
      ]),
    );
  });

  test("CHAT-2 an author of the team is named by handle, another harness's agent by its id", async () => {
    const room = await teamRoom("scout", "otter");
    const crew = await newHarness(room.owner, "Crew");
    const [ping = ""] = await declare(crew, "Ping");
    await send(room.owner, "member.add", { space_id: room.space, participant_id: ping });
    await say(agent(room, "scout"), room.space, "@Otter your turn");
    await send(crew, "message.post", { space_id: room.space, text: "@Otter mine, too", ...as(ping) });
    expect((await events(room)).map((e) => e.actor)).toEqual([
      { id: "scout", name: "Scout", kind: "agent" },
      { id: ping, name: "Ping", kind: "agent" },
    ]);
  });

  test("CHAT-2 exactly once, also when the board is out of reach and the room is evicted in between", async () => {
    const room = await teamRoom("scout");
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) {
      ids.push((await say(room.bob, room.space, `@Scout ${text}`)).message_id);
      await evictHeld(room.workspace);
    }
    await pass(room.workspace, 2);
    await holdLetters(room.workspace);
    expect(await events(room)).toHaveLength(3);
    const sent = await sentBy(room.workspace);
    expect(sent.map(({ target, letter }) => [target, (letter.body as Any).chat.message])).toEqual(
      ids.map((id) => ["board", id]),
    );
    expect(new Set(sent.map(({ letter }) => letter.n)).size).toBe(3);
    expect(await waiting(room.workspace)).toEqual([]);
    expect(await sentBy(room.workspace)).toEqual([]);
  });

  test("CHAT-2 ENV-8 a refused write leaves no letter, and the next one leaves at its time", async () => {
    const room = await teamRoom("scout");
    const frame = (text: string, space_id = room.space) => ({
      v: 1,
      type: "message.post",
      id: `evt_01M8QET38BBTQDTZA6DN6SC${text.length.toString().padStart(3, "0")}`,
      idempotency_key: text,
      space_id,
      text,
    });
    const frames = [frame("@Scout one"), frame("@Scout two!", "spc_01M8QET38BBTQDTZA6DN6SCKBG")];
    const { status } = await call("POST", "/v1/events", { token: room.bob.token, body: frames });
    expect(status).toBe(404);
    expect(await waiting(room.workspace)).toEqual([]);
    await say(room.bob, room.space, "@Scout three");
    expect(await sentBy(room.workspace)).toHaveLength(1);
  });

  test("GUARD-4 CHAT-2 a held message waits: its letter is written when a person lets it go, with its words as they are", async () => {
    const room = await teamRoom("scout", "otter");
    await send(room.bob, "agents.pause", { space_id: room.space });
    const { message_id } = await say(agent(room, "scout"), room.space, "@Otter go on");
    await send(agent(room, "scout"), "message.edit", { message_id, text: "@Otter go on, gently" });
    expect(await events(room)).toEqual([]);
    await say(room.bob, room.space, "All right.");
    const facts = await factsOf(room.bob, room.space);
    const handed = facts.find((f) => f.type === "message.handed");
    const [event, ...more] = (await events(room)).filter((e) => e.chat.message === message_id);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      id: `${handed.id}:otter`,
      actor: { id: "scout" },
      chat: { to: "otter", text: "@Otter go on, gently" },
    });
  });

  test("LEAD-2 CHAT-2 a person of the team who leads is handed what was nobody's turn", async () => {
    const room = await teamRoom("scout", "otter");
    const { message_id } = await say(room.bob, room.space, "Who has the map?");
    expect(await events(room)).toEqual([]);
    await pass(room.workspace, 21);
    await holdLetters(room.workspace);
    expect((await events(room)).map((e) => [e.chat.to, e.chat.message])).toEqual([["otter", message_id]]);
  });

  test("NEW-7 edits and deletions reach the board and the offices that were sent the message, and no other", async () => {
    const room = await teamRoom("scout", "otter");
    const { message_id } = await say(room.bob, room.space, "@Scout find the door");
    const other = await say(room.bob, room.space, "@Bob note to self");
    await clearLetters(room.workspace);
    await send(room.bob, "message.edit", { message_id, text: "@Otter find the window" });
    await send(room.bob, "message.edit", { message_id: other.message_id, text: "nothing" });
    await send(room.bob, "message.delete", { message_id });
    const of = (target: string) => ({ target, kind: "message_changed", messageId: message_id });
    const sent = (await waiting(room.workspace)).toSorted((a, b) => (a.target < b.target ? -1 : 1));
    expect(sent).toEqual([
      { ...of("board"), text: "@Otter find the window" },
      { ...of("board"), deleted: true },
      { ...of("office/scout"), text: "@Otter find the window" },
      { ...of("office/scout"), deleted: true },
    ]);
  });

  test("TURN-7 what the office takes in counts as picked up: it is never passed on, however long it takes", async () => {
    const room = await teamRoom("scout", "otter", "heron");
    await say(agent(room, "scout"), room.space, "@Heron please look");
    await pass(room.workspace, 3600);
    const facts = await factsOf(room.bob, room.space);
    expect(facts.filter((f) => f.code === "not_picked_up" || f.type === "message.handed")).toEqual([]);
  });
});

describe("GUARD-6 the team's agents among themselves", () => {
  test("GUARD-6 GUARD-2 two that answer each other for ever are held, and the letters stop", async () => {
    const room = await teamRoom("scout", "otter");
    await say(room.bob, room.space, "@Scout settle it with Otter");
    await clearLetters(room.workspace);
    for (let n = 0; n < 60; n++) {
      const [by, to] = n % 2 === 0 ? ["scout", "Otter"] : ["otter", "Scout"];
      await say(agent(room, by ?? ""), room.space, `@${to} thought ${n} about ${n * 7} and ${n * 13}`);
    }
    expect(await events(room)).toHaveLength(47);
    const held = (await factsOf(room.bob, room.space)).filter((f) => f.held === true);
    expect(held).toHaveLength(13);
  });

  test("GUARD-6 GUARD-7 with a new file each time they are paused", async () => {
    const room = await teamRoom("scout", "otter");
    await send(room.owner, "settings.set", {
      settings: { guard: { stop: 2, hold: 4 }, limits: { writes_per_s: 500, burst: 1000 } },
    });
    await say(room.bob, room.space, "@Scout settle it with Otter");
    await clearLetters(room.workspace);
    for (let n = 0; n < 20; n++) {
      const [by, to] = n % 2 === 0 ? ["scout", "Otter"] : ["otter", "Scout"];
      const party = agent(room, by ?? "");
      const path = `/v1/attachments?filename=${n}.txt`;
      const { attachment_id } = (await call("POST", path, { token: party.token, raw: `file ${n}` })).body;
      await say(party, room.space, `@${to} see ${n}`, { attachments: [{ attachment_id }] });
    }
    expect(await events(room)).toHaveLength(15);
    expect((await factsOf(room.bob, room.space)).filter((f) => f.code === "agents_paused")).toHaveLength(1);
  });
});

describe("CHAT-1 a message looked up", () => {
  test("CHAT-1 the stored words of what the agent may see; all else does not exist", async () => {
    const room = await teamRoom("scout", "otter");
    const den = await newSpace(room.owner, "Den", [agent(room, "otter").id]);
    const said = await say(room.bob, room.space, "as it was said");
    const hidden = await say(room.owner, den, "not for Scout");
    const gone = await say(room.bob, room.space, "taken back");
    await send(room.bob, "message.delete", { message_id: gone.message_id });
    const look = (handle: string, space: string, message: string) =>
      roomStub(room.workspace).roomMessage(handle, space, message);
    expect(await look("scout", room.space, said.message_id)).toMatchObject({
      ok: true,
      value: {
        text: "as it was said",
        author: { id: room.bob.id, name: "Bob", kind: "human" },
        thread: said.message_id,
        files: [],
        direct: false,
      },
    });
    for (const [handle, space, message] of [
      ["scout", den, hidden.message_id],
      ["scout", room.space, hidden.message_id],
      ["scout", room.space, gone.message_id],
      ["scout", room.space, "msg_none"],
      ["ghost", room.space, said.message_id],
    ] as const)
      expect(await look(handle, space, message)).toMatchObject({ error: { code: "not_found" } });
    expect(await look("otter", den, hidden.message_id)).toMatchObject({ value: { text: "not for Scout" } });
    const { items } = await read(room.owner, "/v1/participants");
    expect(items.length).toBeGreaterThan(0);
  });
});
