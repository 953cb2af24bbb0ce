/** Rooms made in other ways, what contexts show of them, marks, typing and presence (SPACE-2 to SPACE-5, SPACE-8). */
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type Any,
  call,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  say,
  send,
} from "../testing/client.ts";
import {
  as,
  codeOf,
  declare,
  eventsOf,
  hello,
  lasting,
  live,
  pulled,
  read,
  replay,
  settled,
} from "../testing/room.ts";

afterEach(() => void vi.useRealTimers());

async function aHouse() {
  const { id, owner } = await newWorkspace();
  const [bob, cleo] = await Promise.all([newPerson(owner, "Bob"), newPerson(owner, "Cleo")]);
  const harness = await newHarness(owner, "Scouts");
  return { id, owner, bob, cleo, harness };
}

const linesOf = async (by: Party, space: string): Promise<Any[]> =>
  (await read(by, `/v1/spaces/${space}/context`)).context.lines;

function shownAs(who: Party, name: string, role?: string) {
  return { id: who.id, kind: "person", name, ...(role ? { role } : {}), workspace_role: "member" };
}

describe("SPACE-2: what happens to a space is in its lines", () => {
  test("SPACE-2 WIN-3: joining, leaving, renaming, archiving and unarchiving are lines, by who did them", async () => {
    const { bob, cleo } = await aHouse();
    const space = await newSpace(bob, "First", [cleo.id]);
    const s = { space_id: space };
    await send(cleo, "space.rename", { ...s, title: "Second" });
    await send(cleo, "participant.rename", { name: "Cleopatra" });
    await send(bob, "space.archive", s);
    await send(bob, "space.unarchive", s);
    await send(bob, "member.role", { ...s, participant_id: cleo.id, role: "owner" });
    await send(cleo, "member.remove", { ...s, participant_id: cleo.id });
    const lines = (await linesOf(bob, space)).map(({ seq: _, at: __, ...line }) => line);
    expect(lines).toEqual([
      { kind: "joined", from: shownAs(bob, "Bob", "owner") },
      { kind: "joined", from: shownAs(cleo, "Cleopatra") },
      { kind: "renamed", from: shownAs(cleo, "Cleopatra"), title: "Second" },
      { kind: "renamed", from: shownAs(cleo, "Cleopatra"), name: "Cleopatra", previous: "Cleo" },
      { kind: "archived", from: shownAs(bob, "Bob", "owner") },
      { kind: "unarchived", from: shownAs(bob, "Bob", "owner") },
      { kind: "left", from: shownAs(cleo, "Cleopatra") },
    ]);
  });

  test("SPACE-2: an archived space refuses posts until it is brought back", async () => {
    const { bob } = await aHouse();
    const space = await newSpace(bob, "Old");
    await send(bob, "space.archive", { space_id: space });
    expect(await codeOf(bob, "message.post", { space_id: space, text: "hi" })).toBe("conflict");
    expect(await codeOf(bob, "space.archive", { space_id: space })).toBe("conflict");
    expect((await read(bob, `/v1/spaces/${space}`)).archived).toBe(true);
    await send(bob, "space.unarchive", { space_id: space });
    await say(bob, space, "hi");
  });
});

describe("SPACE-3: a space asked of a harness", () => {
  test("SPACE-3 NEW-2: until it is claimed the harness stands there in its own right, under the name it was asked by", async () => {
    const { bob, harness } = await aHouse();
    const [quill = ""] = await declare(harness, "Quill");
    const socket = await live(harness);
    const { space_id } = await send(bob, "space.create", {
      title: "Plan",
      harness_id: harness.id,
      agent_name: "Penny",
    });
    const members = (await read(bob, `/v1/spaces/${space_id}/members`)).items;
    expect(members).toMatchObject([
      { name: "Bob" },
      { participant_id: harness.id, kind: "harness", name: "Penny", handle: "Penny", harness: "Scouts" },
    ]);
    await say(bob, space_id, "make a plan");
    const turn = await socket.next((f) => f.type === "message.new");
    expect(turn).toMatchObject({ addressed_to: [harness.id], for: [harness.id] });
    expect(Object.keys(turn.room.notes)).toEqual([harness.id]);
    // It speaks there as itself, not as an agent that is not there.
    expect(await codeOf(harness, "message.post", { space_id, text: "hi", ...as(quill) })).not.toBe("none");
    await say(harness, space_id, "on it");
  });

  test("SPACE-3: the agent takes the place, joining and handle; no line says so; old words are answered by it", async () => {
    const { owner, bob, harness } = await aHouse();
    const { space_id } = await send(bob, "space.create", {
      title: "Plan",
      harness_id: harness.id,
      agent_name: "Penny",
    });
    await say(bob, space_id, "make a plan");
    const old = await say(harness, space_id, "here is the plan");
    const before = await linesOf(bob, space_id);
    const turns = (await replay(harness)).filter((f) => f.type === "message.new").map(lasting);
    const [quill = ""] = await declare(harness, "Quill");
    const other = await newHarness(owner, "Others");
    const [alien = ""] = await declare(other, "Alien");
    const s = { space_id };
    expect(await codeOf(harness, "space.claim", { ...s, agent_id: alien })).toBe("forbidden");
    expect(await codeOf(other, "space.claim", { ...s, agent_id: alien })).toBe("not_found");
    expect(await codeOf(bob, "space.claim", { ...s, agent_id: quill })).not.toBe("none");
    await send(harness, "space.claim", { ...s, agent_id: quill });
    expect(await codeOf(harness, "space.claim", { ...s, agent_id: quill })).toBe("conflict");

    expect((await linesOf(bob, space_id)).map((l) => [l.seq, l.kind])).toEqual(
      before.map((l) => [l.seq, l.kind]),
    );
    const members = (await read(bob, `/v1/spaces/${space_id}/members`)).items;
    expect(members).toMatchObject([
      { name: "Bob" },
      { participant_id: quill, kind: "agent", name: "Quill", handle: "Penny", harness: "Scouts" },
    ]);
    expect(members).toHaveLength(2);
    const socket = await live(harness);
    await say(bob, space_id, "well done", { reply_to: old.message_id });
    const turn = await socket.next((f) => f.type === "message.new");
    expect(turn).toMatchObject({ addressed_to: [quill], for: [quill] });
    await say(bob, space_id, "@Penny and now?");
    expect(await socket.next((f) => f.text?.startsWith("@Penny"))).toMatchObject({ for: [quill] });
    // Its harness's own words from before the claim are left out of its window like its own.
    expect(turn.context.lines.map((l: Any) => l.text ?? l.kind)).not.toContain("here is the plan");
    // A turn from before the claim is handed over again with the members there were.
    const again = (await replay(harness)).find((f) => f.seq === turns[0].seq);
    expect(again.room.members.map((m: Any) => m.participant_id)).toEqual(
      turns[0].room.members.map((m: Any) => m.participant_id),
    );
  });
});

describe("SPACE-4: direct spaces", () => {
  test("SPACE-4: the same set is the same space, and nobody can be added", async () => {
    const { owner, bob, cleo, harness } = await aHouse();
    const [scout = ""] = await declare(harness, "Scout");
    const first = await send(bob, "space.create", { direct: [cleo.id, scout] });
    const again = await send(cleo, "space.create", { direct: [scout, bob.id, cleo.id] });
    const other = await send(bob, "space.create", { direct: [cleo.id] });
    expect(again.space_id).toBe(first.space_id);
    expect(other.space_id).not.toBe(first.space_id);
    const item = await read(cleo, `/v1/spaces/${first.space_id}`);
    expect(item.direct.toSorted()).toEqual([bob.id, cleo.id, scout].toSorted());
    expect(item.visibility).toBe("private");
    const add = { space_id: first.space_id, participant_id: owner.id };
    expect(await codeOf(bob, "member.add", add)).toBe("conflict");
    expect(await codeOf(bob, "space.create", { direct: [bob.id] })).toBe("invalid");
    expect(await codeOf(bob, "space.create", { direct: [cleo.id], visibility: "open" })).toBe("invalid");
    // To one agent and one person a message needs no mention.
    await say(bob, first.space_id, "hello");
    expect((await pulled(harness)).at(-1)).toMatchObject({ type: "message.new", addressed_to: [scout] });
  });
});

describe("SPACE-5: harnesses with and without agents", () => {
  test("SPACE-5 NEW-2: one that has declared none is shown every agent as a harness, and gets no `for`", async () => {
    const { owner, bob, harness } = await aHouse();
    const plain = await newHarness(owner, "Plain");
    const [scout = "", quill = ""] = await declare(harness, "Scout", "Quill");
    const space = await newSpace(bob, "Room", [plain.id, scout]);
    const old = await live(plain);
    const modern = await live(harness);
    await send(bob, "member.add", { space_id: space, participant_id: quill });
    await say(harness, space, "@Plain please", as(scout));
    await say(harness, space, "hm", as(quill));
    await say(plain, space, "done");
    await say(bob, space, "@Plain and?");
    await send(bob, "member.remove", { space_id: space, participant_id: quill });
    const frames = eventsOf(await settled(old));
    expect(frames.map((f) => f.type)).toEqual([
      "member.joined",
      "message.new",
      "message.overheard",
      "message.new",
      "member.left",
    ]);
    expect(JSON.stringify(frames)).not.toContain('"agent"');
    expect(frames[0]).toMatchObject({ participant_id: quill, kind: "harness" });
    expect(frames[1]).toMatchObject({
      from: { participant_id: scout, kind: "harness" },
      addressed_to: [plain.id],
    });
    for (const frame of frames) expect(frame).not.toHaveProperty("for");
    const ids = frames[1].room.members.map((m: Any) => [m.kind, m.participant_id]);
    expect(ids).toContainEqual(["harness", scout]);
    expect(ids).toContainEqual(["harness", plain.id]);
    for (const path of ["members", "context"])
      expect(JSON.stringify(await read(plain, `/v1/spaces/${space}/${path}`))).not.toContain('"agent"');
    const seen = eventsOf(await settled(modern));
    expect(
      seen.filter((f) => f.type.startsWith("message.")).map((f) => [f.type, f.for, f.from.kind]),
    ).toEqual([
      ["message.overheard", [], "harness"],
      ["message.overheard", [], "person"],
    ]);
    expect(JSON.stringify(seen)).toContain('"kind":"agent"');
    // Declaring its first agent changes the view for good.
    await hello(plain, { agents: [{ name: "New" }] });
    expect((await pulled(plain)).find((f) => f.type === "message.new")).toMatchObject({ for: [plain.id] });
  });
});

describe("SPACE-8: marks, typing, presence", () => {
  test("SPACE-8: read_seq, unread and mentioned count what others said after the mark, to 100", async () => {
    const { owner, bob, cleo } = await aHouse();
    await send(owner, "settings.set", { settings: { limits: { writes_per_s: 1000, burst: 1000 } } });
    const space = await newSpace(bob, "Room", [cleo.id]);
    const item = async (by: Party) => {
      const { read_seq, unread, mentioned, last_seq } = await read(by, `/v1/spaces/${space}`);
      return { read_seq, unread, mentioned, last_seq };
    };
    const first = await say(bob, space, "@Cleo look");
    await say(cleo, space, "my own");
    const third = await say(bob, space, "and then");
    expect(await item(cleo)).toEqual({ read_seq: 0, unread: 2, mentioned: 1, last_seq: third.seq });
    const page = await live(cleo);
    const second = await live(cleo);
    page.send({ v: 1, type: "read", space_id: space, seq: first.seq });
    const told = await second.next((f) => f.type === "read");
    expect(told).toEqual({ v: 1, type: "read", space_id: space, seq: first.seq });
    expect(await item(cleo)).toEqual({ read_seq: first.seq, unread: 1, mentioned: 0, last_seq: third.seq });
    // Only forward, never beyond the head, and nothing of it is logged.
    page.send({ v: 1, type: "read", space_id: space, seq: 1 });
    page.send({ v: 1, type: "read", space_id: space, seq: 10_000 });
    await settled(page);
    expect(await item(cleo)).toMatchObject({ read_seq: third.seq, unread: 0 });
    expect((await settled(second)).filter((f) => f.type === "read").map((f) => f.seq)).toEqual([
      first.seq,
      third.seq,
    ]);
    await send(bob, "message.delete", { message_id: (await say(bob, space, "oops")).message_id });
    expect(await item(cleo)).toMatchObject({ unread: 0 });
    const posts = Array.from({ length: 102 }, (_, i) => i);
    for (const i of posts) await say(bob, space, i % 2 ? "@Cleo" : "line");
    expect(await item(cleo)).toMatchObject({ unread: 100, mentioned: 50 });
    expect((await read(cleo, "/v1/spaces")).items[0]).toMatchObject({ unread: 100 });
  });

  test("SPACE-8 CONN-11: typing goes to the people of the space at most once in three seconds", async () => {
    const { owner, bob, cleo, harness } = await aHouse();
    const [scout = ""] = await declare(harness, "Scout");
    const space = await newSpace(bob, "Room", [cleo.id, scout]);
    const [page, mine, outside, robot] = [
      await live(cleo),
      await live(bob),
      await live(owner),
      await live(harness),
    ];
    const typing = { v: 1, type: "typing", space_id: space };
    for (let i = 0; i < 3; i++) mine.send(typing);
    await settled(mine);
    const count = async () => (await settled(page)).filter((f) => f.type === "typing").length;
    expect(await count()).toBe(1);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_001 });
    mine.send(typing);
    robot.send({ ...typing, ...as(scout) });
    await settled(mine);
    await settled(robot);
    expect(await count()).toBe(3);
    expect(page.frames.findLast((f) => f.type === "typing")).toEqual({ ...typing, participant_id: scout });
    expect((await settled(mine)).filter((f) => f.type === "typing").map((f) => f.participant_id)).toEqual([
      scout,
    ]);
    for (const socket of [outside, robot])
      expect((await settled(socket)).some((f) => f.type === "typing")).toBe(false);
    expect(await outside.ask({ ...typing, id: newId("evt") })).toMatchObject({ code: "not_found" });
    expect((await replay(cleo)).some((f) => f.type === "typing")).toBe(false);
  });

  test("SPACE-8: presence is told once when it changes, only to people who share a space", async () => {
    const { owner, bob, cleo } = await aHouse();
    await newSpace(bob, "Room", [cleo.id]);
    const [page, outside] = [await live(cleo), await live(owner)];
    const first = await live(bob);
    const second = await live(bob);
    const seen = async () =>
      (await settled(page)).filter((f) => f.type === "presence").map((f) => [f.participant_id, f.online]);
    expect(await seen()).toEqual([[bob.id, true]]);
    const online = async () =>
      (
        await read(cleo, `/v1/spaces/${(await read(cleo, "/v1/spaces")).items[0].space_id}/members`)
      ).items.map((m: Any) => [m.name, m.online]);
    expect(await online()).toEqual([
      ["Bob", true],
      ["Cleo", true],
    ]);
    first.ws.close(1000, "bye");
    await first.closed;
    expect(await seen()).toEqual([[bob.id, true]]);
    second.ws.close(1000, "bye");
    await second.closed;
    expect(await seen()).toEqual([
      [bob.id, true],
      [bob.id, false],
    ]);
    // Ended by the server, too, it is told once.
    const third = await live(bob);
    await call("POST", "/v1/sign-out", { token: bob.token });
    expect((await third.closed).code).toBe(4401);
    await settled(page);
    expect((await seen()).slice(2)).toEqual([
      [bob.id, true],
      [bob.id, false],
    ]);
    expect((await settled(outside)).some((f) => f.type === "presence")).toBe(false);
  });
});
