/** What harnesses are sent of messages: who gets what, edits, deletions, replies (NEW, REPLY, LOG-4). */
import { beforeEach, describe, expect, test } from "vitest";
import {
  type Any,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  refused,
  type Socket,
  say,
  send,
} from "../testing/client.ts";
import {
  as,
  codeOf,
  declare,
  eventsOf,
  lasting,
  live,
  pulled,
  read,
  replay,
  settled,
  sql,
  upload,
} from "../testing/room.ts";

/** Ada and Bob; Scouts with Scout and Quill, Ledgers with Ledger: all in one space of Ada's. */
async function aRoom() {
  const { id, owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const [scouts, ledgers] = await Promise.all([newHarness(owner, "Scouts"), newHarness(owner, "Ledgers")]);
  const [scout = "", quill = ""] = await declare(scouts, "Scout", "Quill");
  const [ledger = ""] = await declare(ledgers, "Ledger");
  const space = await newSpace(owner, "Room", [bob.id, scout, quill, ledger]);
  return { id, owner, bob, scouts, ledgers, scout, quill, ledger, space };
}

let room: Awaited<ReturnType<typeof aRoom>>;
beforeEach(async () => {
  room = await aRoom();
});

async function seen(socket: Socket): Promise<Any[]> {
  return eventsOf(await settled(socket));
}

function typeAndFor(f: Any): [string, string[]] {
  return [f.type, f.for];
}

async function startRun(agent: string, message_ids: string[] = []): Promise<string> {
  const run_id = newId("run");
  const { scouts, space } = room;
  await send(scouts, "run.start", { run_id, space_id: space, agent_id: agent, message_ids });
  return run_id;
}

describe("NEW: who gets what", () => {
  test("NEW-1 NEW-2 NEW-5: each message once, as a turn to whose it is and as overheard to the others", async () => {
    const { owner, scouts, ledgers, scout, quill, ledger, space } = room;
    const [ours, theirs] = [await live(scouts), await live(ledgers)];
    await say(owner, space, "@Scout @Quill @Ledger all of you");
    await say(owner, space, "@Ledger only you");
    await say(owner, space, "nobody");
    expect((await seen(ours)).map(typeAndFor)).toEqual([
      ["message.new", [scout, quill]],
      ["message.overheard", []],
      ["message.overheard", []],
    ]);
    expect((await seen(theirs)).map(typeAndFor)).toEqual([
      ["message.new", [ledger]],
      ["message.new", [ledger]],
      ["message.overheard", []],
    ]);
    for (const frame of [...(await seen(ours)), ...(await seen(theirs))]) {
      expect(frame.addressed_to).toBeDefined();
      if (frame.type !== "message.overheard") continue;
      for (const key of ["context", "room", "exchange", "handed", "lead", "held"])
        expect(frame).not.toHaveProperty(key);
    }
  });

  test("NEW-1 NEW-3: its own message comes back only when another of its agents is addressed or has a turn going", async () => {
    const { scouts, ledgers, ledger, scout, quill, space } = room;
    const ours = await live(scouts);
    await say(scouts, space, "one, to nobody", as(scout));
    await say(scouts, space, "@Ledger two", as(scout));
    await say(scouts, space, "@Quill three", as(scout));
    const run = await startRun(quill);
    const own = await startRun(scout);
    await say(scouts, space, "four", { ...as(scout), run_id: own });
    await say(scouts, space, "@Scout five", { ...as(quill), run_id: run });
    await say(ledgers, space, "@Quill six", as(ledger));
    await say(ledgers, space, "seven", as(ledger));
    const frames = (await seen(ours)).map((f) => [f.type, f.text, f.for, f.working_turns]);
    const turn = { scout: { agent_id: scout, run_id: own }, quill: { agent_id: quill, run_id: run } };
    expect(frames).toEqual([
      ["message.new", "@Quill three", [quill], undefined],
      ["message.overheard", "four", [], [turn.quill]],
      ["message.new", "@Scout five", [scout], undefined],
      ["message.new", "@Quill six", [quill], [turn.scout]],
      ["message.overheard", "seven", [], expect.arrayContaining([turn.scout, turn.quill])],
    ]);
    // As of when it was said, also when the turns have ended since.
    await send(scouts, "run.end", { run_id: run, outcome: "done" });
    const again = (await replay(scouts)).find((f) => f.text === "seven");
    expect(again.working_turns).toEqual(expect.arrayContaining([turn.scout, turn.quill]));
  });

  test("NEW-1: a harness is sent what is said while one of its own is there, not before and not after", async () => {
    const { owner, ledgers, ledger, space } = room;
    const other = await newHarness(owner, "Other");
    const [agent = ""] = await declare(other, "Agent");
    const socket = await live(other);
    await say(owner, space, "before");
    const who = { space_id: space, participant_id: agent };
    await send(owner, "member.add", who);
    await say(owner, space, "during");
    await send(owner, "member.remove", who);
    await say(owner, space, "away");
    await send(owner, "member.add", who);
    await say(owner, space, "again");
    expect((await seen(socket)).map((f) => f.text ?? f.type)).toEqual([
      "member.joined",
      "during",
      "member.left",
      "member.joined",
      "again",
    ]);
    const words = (await replay(other)).flatMap((f) => f.text ?? []);
    expect(words).toEqual(["during", "again"]);
    expect((await pulled(ledgers)).filter((f) => f.text === "away")).toHaveLength(1);
    expect(ledger).toBeTruthy();
  });

  test("NEW-4: who said it stands as when it was said, and is called as now", async () => {
    const { owner, bob, scouts, space } = room;
    await say(bob, space, "@Scout hello");
    await send(owner, "participant.role", { participant_id: bob.id, role: "guest" });
    await send(bob, "participant.rename", { name: "Robert" });
    await say(bob, space, "@Scout hello again");
    const froms = (await pulled(scouts)).filter((f) => f.type === "message.new").map((f) => f.from);
    const bobNow = { participant_id: bob.id, kind: "person", display_name: "Robert" };
    expect(froms).toEqual([
      { ...bobNow, role: "member", workspace_role: "member" },
      { ...bobNow, role: "guest", workspace_role: "guest" },
    ]);
    await say(scouts, space, "@Ledger hm", as(room.scout));
    expect((await pulled(room.ledgers)).at(-1).from).toEqual({
      participant_id: room.scout,
      kind: "agent",
      display_name: "Scout",
      role: "member",
    });
  });

  test("NEW-6: session_ref is passed on untouched, up to 200 characters", async () => {
    const { owner, scouts, space } = room;
    const session_ref = "visit: 7/\u00e9 𝒳 ";
    await say(owner, space, "@Scout go on", { session_ref });
    expect((await pulled(scouts)).at(-1).session_ref).toBe(session_ref);
    expect((await pulled(owner)).at(-1).session_ref).toBe(session_ref);
    await say(owner, space, "@Scout", { session_ref: "x".repeat(200) });
    const long = await refused(owner, "message.post", {
      space_id: space,
      text: "x",
      session_ref: "x".repeat(201),
    });
    expect([long.code, long.details[0].path]).toEqual(["invalid", "session_ref"]);
  });

  test("NEW-8: a delivery has the event's own id and seq on every way and every time, and the system as its actor", async () => {
    const { owner, scouts, space } = room;
    const socket = await live(scouts);
    const receipt = await say(owner, space, "@Scout look");
    const [first] = await seen(socket);
    expect(first).toMatchObject({
      id: receipt.id,
      seq: receipt.seq,
      actor: { kind: "system", id: "system" },
    });
    const again = (await replay(scouts)).find((f) => f.seq === receipt.seq);
    const got = (await pulled(scouts)).find((f) => f.seq === receipt.seq);
    expect(lasting(again)).toEqual(lasting(first));
    expect(lasting(got)).toEqual(lasting(first));
    expect(first).not.toHaveProperty("idempotency_key");
  });
});

describe("REPLY: what is answered", () => {
  test("REPLY-1: as the room reads it now: edited, deleted; unknown and elsewhere are invalid in the same words", async () => {
    const { owner, bob, scouts, space } = room;
    const said = await say(bob, space, "the old words");
    await say(owner, space, "@Scout see", { reply_to: said.message_id });
    const quote = async () => (await pulled(scouts)).find((f) => f.text === "@Scout see").replying_to;
    const base = {
      seq: said.seq,
      kind: "said",
      message_id: said.message_id,
      from: { id: bob.id, kind: "person", name: "Bob", role: "member", workspace_role: "member" },
    };
    expect(await quote()).toEqual({
      ...base,
      at: expect.any(String),
      text: "the old words",
      addressed_to: [],
    });
    await send(bob, "message.edit", { message_id: said.message_id, text: "the new words" });
    expect(await quote()).toMatchObject({ ...base, text: "the new words", edited: true });
    await send(bob, "message.delete", { message_id: said.message_id });
    expect(await quote()).toEqual({ ...base, at: expect.any(String), deleted: true });
    // A deleted message can still be answered.
    await say(owner, space, "@Scout too late", { reply_to: said.message_id });
    expect((await pulled(scouts)).at(-1).replying_to.deleted).toBe(true);
    const elsewhere = await say(owner, await newSpace(owner, "Other"), "x");
    const answers = [];
    for (const reply_to of [elsewhere.message_id, newId("msg")]) {
      const { of: _, ...answer } = await refused(owner, "message.post", {
        space_id: space,
        text: "x",
        reply_to,
      });
      answers.push(answer);
    }
    expect(answers[0].code).toBe("invalid");
    expect(answers[1]).toEqual(answers[0]);
  });

  test("REPLY-2: up to three lines said before it, only on a turn, only when it is older than the context", async () => {
    const { owner, bob, scouts, ledgers, scout, space } = room;
    for (const text of ["one", "two", "three", "four"]) await say(bob, space, text);
    await send(owner, "space.rename", { space_id: space, title: "Renamed" });
    const said = await say(bob, space, "the question");
    const reply = { reply_to: said.message_id };
    await say(owner, space, "@Scout in context", reply);
    await say(scouts, space, "I spoke", as(scout));
    await say(owner, space, "@Scout out of context", reply);
    await say(owner, space, "to nobody", reply);
    const quote = async (by: typeof scouts, text: string) =>
      (await pulled(by)).find((f) => f.text === text).replying_to;
    expect(await quote(scouts, "@Scout in context")).not.toHaveProperty("before");
    const before = (await quote(scouts, "@Scout out of context")).before;
    expect(before.map((l: Any) => [l.kind, l.text])).toEqual([
      ["said", "two"],
      ["said", "three"],
      ["said", "four"],
    ]);
    expect(await quote(scouts, "to nobody")).not.toHaveProperty("before");
    expect(await quote(ledgers, "@Scout out of context")).not.toHaveProperty("before");
  });

  test("REPLY-3 ATT-4: its files come with URLs of this connection's own", async () => {
    const { id, owner, bob, scouts, ledgers, space } = room;
    const file = await upload(id, bob.id, { filename: "a.txt", content: "a" });
    const said = await say(bob, space, "", { attachments: [{ attachment_id: file }] });
    await say(owner, space, "@Scout @Ledger see", { reply_to: said.message_id });
    const [a, b] = await Promise.all(
      [scouts, ledgers].map(async (h) => (await pulled(h)).at(-1).replying_to.attachments[0]),
    );
    expect(a).toMatchObject({ attachment_id: file, filename: "a.txt", byte_size: 1 });
    expect(new URL(a.url).pathname).toBe(`/v1/attachments/${file}`);
    expect(a.url).not.toBe(b.url);
    expect((await pulled(owner)).find((f) => f.attachments)).not.toHaveProperty("attachments.0.url");
  });
});

describe("NEW-7: edits and deletions", () => {
  test("NEW-7 LOG-4: an edit reaches every harness that was sent the message, addresses nobody anew, keeps its history", async () => {
    const { id, owner, scouts, ledgers, scout, ledger, space } = room;
    const later = await newHarness(owner, "Later");
    const [late = ""] = await declare(later, "Late");
    const said = await say(scouts, space, "teh sum", as(scout));
    await send(owner, "member.add", { space_id: space, participant_id: late });
    const [page, own, other, new_] = [
      await live(owner),
      await live(scouts),
      await live(ledgers),
      await live(later),
    ];
    const text = "the sum, @Ledger";
    expect(await codeOf(owner, "message.edit", { message_id: said.message_id, text })).toBe("forbidden");
    expect(await codeOf(scouts, "message.edit", { message_id: said.message_id, text: " " })).toBe("invalid");
    const receipt = await send(scouts, "message.edit", { message_id: said.message_id, text, ...as(scout) });
    const seen = async (socket: typeof page) => eventsOf(await settled(socket));
    const edited = {
      type: "message.edited",
      seq: receipt.seq,
      message_id: said.message_id,
      text,
      mentions: [ledger],
    };
    expect(await seen(page)).toMatchObject([edited]);
    expect(await seen(other)).toMatchObject([edited]);
    expect((await seen(other))[0].edited_at).toBe((await seen(other))[0].ts);
    expect(await seen(own)).toEqual([]);
    expect(await seen(new_)).toEqual([]);
    // The message itself keeps whom it was for and reads as it is now.
    expect((await pulled(ledgers)).find((f) => f.message_id === said.message_id)).toMatchObject({
      type: "message.overheard",
      text,
      addressed_to: [],
    });
    expect((await read(owner, "/v1/search?q=teh")).items).toEqual([]);
    expect((await read(owner, "/v1/search?q=sum")).items).toMatchObject([{ message_id: said.message_id }]);
    const editions = await sql(
      id,
      "SELECT edition, text FROM messages WHERE id = ? ORDER BY edition",
      said.message_id,
    );
    expect(editions).toEqual([
      { edition: 1, text: "teh sum" },
      { edition: 2, text },
    ]);
  });

  test("NEW-7 LOG-4: a deletion reaches who was sent it; what is deleted cannot be edited or deleted again", async () => {
    const { owner, bob, scouts, space } = room;
    const said = await say(bob, space, "@Scout forget this");
    const [page, robot] = [await live(owner), await live(scouts)];
    const gone = { message_id: said.message_id };
    const receipt = await send(bob, "message.delete", gone);
    for (const socket of [page, robot])
      expect(eventsOf(await settled(socket))).toMatchObject([
        { type: "message.deleted", seq: receipt.seq, ...gone },
      ]);
    expect(await codeOf(bob, "message.edit", { ...gone, text: "x" })).toBe("gone");
    expect(await codeOf(bob, "message.delete", gone)).toBe("gone");
    const fact = (await pulled(owner)).find((f) => f.message_id === said.message_id);
    expect(fact).toMatchObject({ text: "", deleted: true });
    expect(fact).not.toHaveProperty("mentions");
    const lines = (await read(owner, `/v1/spaces/${space}/context`)).context.lines;
    expect(lines.some((l: Any) => l.message_id === said.message_id)).toBe(false);
    // A harness that was away is not given a turn without words.
    expect((await replay(scouts)).filter((f) => f.message_id === said.message_id).map((f) => f.type)).toEqual(
      ["message.deleted"],
    );
  });
});
