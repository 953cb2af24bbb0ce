/** Messages: whom they are for, edits, deletions and what is left of them, session_ref (ADDR, LOG, NEW-6, NEW-7). */
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type Any,
  call,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  refused,
  roomStub,
  say,
  send,
  verb,
} from "../testing/client.ts";
import {
  as,
  codeOf,
  declare,
  eventsOf,
  live,
  pulled,
  read,
  replay,
  settled,
  sql,
  upload,
} from "../testing/room.ts";

/** Ada and Bob, guest Gus; Scouts with Scout and Quill, Ledgers with Ledger: all in one space of Ada's. */
async function aRoom() {
  const { id, owner } = await newWorkspace();
  const [bob, gus] = await Promise.all([newPerson(owner, "Bob"), newPerson(owner, "Gus", "guest")]);
  const [scouts, ledgers] = await Promise.all([newHarness(owner, "Scouts"), newHarness(owner, "Ledgers")]);
  const [scout = "", quill = ""] = await declare(scouts, "Scout", "Quill");
  const [ledger = ""] = await declare(ledgers, "Ledger");
  const space = await newSpace(owner, "Room", [bob.id, gus.id, scout, quill, ledger]);
  return { id, owner, bob, gus, scouts, ledgers, scout, quill, ledger, space };
}

let room: Awaited<ReturnType<typeof aRoom>>;
beforeEach(async () => {
  room = await aRoom();
});

/** Says something and reads back, as Ada is shown it, whom it was for. */
async function addressees(by: Party, text: string, more: object = {}): Promise<Any> {
  const { seq } = await say(by, room.space, text, more);
  const { events } = await read(room.owner, `/v1/events?after=${seq - 1}&limit=1`);
  const { scout, quill, ledger, bob } = room;
  const name = new Map([
    [scout, "Scout"],
    [quill, "Quill"],
    [ledger, "Ledger"],
    [bob.id, "Bob"],
  ]);
  const named = (ids?: string[]) => (ids ?? []).map((i) => name.get(i) ?? i);
  return [named(events[0].addressed_to), named(events[0].mentions)];
}

async function post(by: Party, body: Any): Promise<Any> {
  return (await call("POST", "/v1/events", { token: by.token, body })).body;
}

describe("ADDR: whom a message is for", () => {
  test("ADDR-2 ADDR-3: from a person the mentioned, else nobody when a person is mentioned, else the answered", async () => {
    const { owner, gus, scouts, scout, space } = room;
    expect(await addressees(owner, "@quill, @SCOUT: @Scout!")).toEqual([
      ["Quill", "Scout"],
      ["Quill", "Scout"],
    ]);
    expect(await addressees(owner, "@Bob and @Ledger")).toEqual([["Ledger"], ["Bob", "Ledger"]]);
    const said = await say(scouts, space, "a word", as(scout));
    const reply = { reply_to: said.message_id };
    expect(await addressees(owner, "@Bob what do you say?", reply)).toEqual([[], ["Bob"]]);
    expect(await addressees(owner, "go on", reply)).toEqual([["Scout"], []]);
    expect(await addressees(owner, "go on")).toEqual([[], []]);
    expect(await addressees(owner, "`@Scout` me@Scout.org scout")).toEqual([[], []]);
    expect(await addressees(owner, "@everyone hi")).toEqual([["Scout", "Quill", "Ledger"], []]);
    expect(await addressees(gus, "@everyone hi")).toEqual([[], []]);
    expect(await addressees(gus, "@Scout hi")).toEqual([["Scout"], ["Scout"]]);
  });

  test("ADDR-3: the only agent of a space needs no mention", async () => {
    const { owner, bob, scout, scouts } = room;
    const space = await newSpace(owner, "Pair", [bob.id, scout]);
    await say(bob, space, "hello");
    expect((await pulled(scouts)).at(-1)).toMatchObject({ type: "message.new", for: [scout] });
    await say(bob, space, "@Ada hello");
    expect((await pulled(scouts)).at(-1)).toMatchObject({ type: "message.overheard", for: [] });
  });

  test("ADDR-4 ENV-5: from an agent the other agents it mentions, never itself, nobody by a reply alone", async () => {
    const { scouts, ledgers, scout, ledger, space } = room;
    expect(await addressees(scouts, "@Scout @Quill @Ledger @Bob", as(scout))).toEqual([
      ["Quill", "Ledger"],
      ["Scout", "Quill", "Ledger", "Bob"],
    ]);
    const said = await say(ledgers, space, "a sum", as(ledger));
    expect(await addressees(scouts, "thanks", { ...as(scout), reply_to: said.message_id })).toEqual([[], []]);
    expect(await addressees(scouts, "@everyone look", as(scout))).toEqual([[], []]);
    expect(await codeOf(scouts, "message.post", { space_id: space, text: "hi", ...as(ledger) })).toBe(
      "forbidden",
    );
  });

  test("ADDR-1: the later comer's handle gets a number, and both are reached by their own", async () => {
    const { owner, ledgers, space } = room;
    const [second = ""] = await declare(await newHarness(owner, "Twins"), "Scout");
    await send(owner, "member.add", { space_id: space, participant_id: second });
    const { items } = await read(owner, `/v1/spaces/${space}/members`);
    expect(items.find((m: Any) => m.participant_id === second).handle).toBe("Scout2");
    expect((await addressees(owner, "@Scout2 hi"))[0]).toEqual([second]);
    expect((await addressees(owner, "@Scout hi"))[0]).toEqual(["Scout"]);
    // A name given up is not given again, but its holder may take it back.
    await send(ledgers, "participant.rename", { participant_id: room.ledger, name: "Counter" });
    await send(room.bob, "participant.rename", { name: "Ledger" });
    const handles = async () =>
      Object.fromEntries(
        (await read(owner, `/v1/spaces/${space}/members`)).items.map((m: Any) => [m.name, m.handle]),
      );
    expect(await handles()).toMatchObject({ Counter: "Counter", Ledger: "Ledger2" });
    await send(ledgers, "participant.rename", { participant_id: room.ledger, name: "Ledger" });
    const { items: now } = await read(owner, `/v1/spaces/${space}/members`);
    expect(now.find((m: Any) => m.participant_id === room.ledger).handle).toBe("Ledger");
    expect((await addressees(owner, "@Ledger hi"))[0]).toEqual(["Ledger"]);
  });

  test("ADDR-5 LOG-8: it is decided once; a withdrawn agent is not addressed, and a notice says so once", async () => {
    const { owner, bob, scouts, scout, space } = room;
    const before = await say(owner, space, "@Scout first");
    const page = await live(bob);
    const robot = await live(scouts);
    await send(scouts, "agent.withdraw", { agent_id: scout });
    await say(owner, space, "@Scout @Scout second");
    const notices = eventsOf(await settled(page)).filter((f) => f.type === "notice.posted");
    expect(notices).toMatchObject([
      { code: "not_reachable", about: [scout], space_id: space, actor: { kind: "system" } },
    ]);
    expect(eventsOf(await settled(robot)).map((f) => f.type)).toEqual(["message.overheard", "notice.posted"]);
    const { context } = await read(owner, `/v1/spaces/${space}/context`);
    expect(context.lines.slice(-2).map((l: Any) => [l.text, l.addressed_to])).toEqual([
      ["@Scout first", [scout]],
      ["@Scout @Scout second", []],
    ]);
    expect((await replay(scouts)).find((f) => f.seq === before.seq)).toMatchObject({
      type: "message.new",
      for: [scout],
    });
    // To the other harnesses a notice about somebody else's agent is nothing.
    expect((await pulled(room.ledgers)).some((f) => f.type === "notice.posted")).toBe(false);
  });

  test("ADDR-6: NO_REPLY alone ends the run as no_reply, posts nothing, and its receipt carries the end's seq", async () => {
    const { owner, scouts, scout, space } = room;
    const start = async () => {
      const run_id = newId("run");
      await send(scouts, "run.start", { run_id, space_id: space, agent_id: scout });
      return run_id;
    };
    const run_id = await start();
    const page = await live(owner);
    const receipt = await say(scouts, space, " no_reply\n", { ...as(scout), run_id });
    expect(receipt).not.toHaveProperty("message_id");
    const [ended, ...rest] = eventsOf(await settled(page));
    expect(ended).toMatchObject({ type: "run.ended", seq: receipt.seq, run_id, outcome: "no_reply" });
    expect(rest).toEqual([]);
    expect(await codeOf(scouts, "run.step", { run_id, text: "x" })).toBe("unknown_run");
    // Without a run, with other words or with a file it is a message.
    const file = await upload(room.id, scouts.id, { filename: "a.txt", content: "a" });
    const second = await start();
    expect(await say(scouts, space, "NO_REPLY", as(scout))).toHaveProperty("message_id");
    expect(await say(scouts, space, "NO_REPLY.", { ...as(scout), run_id: second })).toHaveProperty(
      "message_id",
    );
    const withFile = { ...as(scout), run_id: second, attachments: [{ attachment_id: file }] };
    expect(await say(scouts, space, "NO_REPLY", withFile)).toHaveProperty("message_id");
  });
});

describe("LOG: verbs in, facts out", () => {
  test("LOG-1 LOG-2: what is stored is facts, and what only the server says is refused", async () => {
    const { id, owner, space } = room;
    const types = (await sql(id, "SELECT DISTINCT type FROM log ORDER BY type")).map((r) => r.type);
    expect(types).toEqual(["agent.declared", "member.joined", "space.created"]);
    for (const type of [
      "message.posted",
      "message.new",
      "message.overheard",
      "member.joined",
      "notice.posted",
    ])
      expect([type, await codeOf(owner, type, { space_id: space, text: "x" })]).toEqual([type, "forbidden"]);
    expect(await codeOf(owner, "message.shout", { space_id: space, text: "x" })).toBe("unknown_type");
    const page = await live(owner);
    const before = (await sql(id, "SELECT count(*) AS n FROM log"))[0].n;
    for (const frame of [
      { type: "ack", seq: 3 },
      { type: "read", space_id: space, seq: 3 },
      { type: "typing", space_id: space },
    ])
      page.send({ v: 1, ...frame });
    await settled(page);
    expect((await sql(id, "SELECT count(*) AS n FROM log"))[0].n).toBe(before);
  });

  test("LOG-7 ENV-2: a sender may leave out what the server stamps, and its own values are replaced", async () => {
    const { owner, bob, space } = room;
    const forged = {
      ts: "1999-01-01T00:00:00.000Z",
      workspace_id: newId("ws"),
      seq: 1,
      actor: { kind: "person", id: bob.id },
      from: { participant_id: bob.id },
      addressed_to: [room.scout],
      mentions: [room.scout],
      unknown: { deep: [1] },
    };
    const receipt = await say(owner, space, "mine", forged);
    const fact = (await pulled(owner)).at(-1);
    expect(fact).toMatchObject({
      seq: receipt.seq,
      actor: { kind: "person", id: owner.id },
      addressed_to: [],
    });
    expect(fact.from.participant_id).toBe(owner.id);
    expect(fact.ts.slice(0, 4)).not.toBe("1999");
    expect(fact).not.toHaveProperty("unknown");
    expect(fact).not.toHaveProperty("mentions");
  });

  test("LOG-7 LIMIT-1: no text and no file is invalid; text over 64 KiB and 21 files are refused", async () => {
    const { id, owner, space } = room;
    const at = async (fields: object) =>
      (await refused(owner, "message.post", { space_id: space, ...fields })).code;
    expect(await at({})).toBe("invalid");
    expect(await at({ text: " \n\t" })).toBe("invalid");
    expect(await at({ text: 7 })).toBe("invalid");
    expect(await at({ text: "é".repeat(32 * 1024) + "x" })).toBe("too_large");
    await say(owner, space, "é".repeat(32 * 1024));
    const files = await Promise.all(
      Array.from({ length: 21 }, async (_, i) => ({
        attachment_id: await upload(id, owner.id, { filename: `${i}.txt`, content: `${i}` }),
      })),
    );
    expect(await at({ attachments: files })).toBe("invalid");
    await say(owner, space, "", { attachments: files.slice(0, 20) });
  });
});

describe("LOG-4: deletions", () => {
  test("LOG-4: after a deletion no byte of the words is left in any table, the search index's own included", async () => {
    const { id, owner, bob, space } = room;
    const rare = Array.from({ length: 60 }, (_, i) => `z${(i * 7919).toString(36)}q${i}`);
    const words = ["zyzzyva", "quetzalcoatl", "xylophonist", "機密文書", "Ünverwechselbar", ...rare];
    const file = await upload(id, bob.id, {
      filename: "zyzzyva-report.txt",
      content: "zyzzyva",
      transcript: "xylophonist",
    });
    for (let i = 0; i < 30; i++)
      await say(owner, space, `zyx xylem quest 文書 unv ${i} plain words around it`);
    const said = await say(bob, space, `${words.join(" ")} first`, {
      attachments: [{ attachment_id: file }],
    });
    await send(bob, "message.edit", { message_id: said.message_id, text: `second ${words.join(", ")}` });
    const answer = await say(owner, space, "I see", { reply_to: said.message_id });
    const found = async (needle: string) =>
      runInDurableObject(roomStub(id), (_, { storage }) => {
        const hits: string[] = [];
        const tables = storage.sql
          .exec<{ name: string }>(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 4) <> '_cf_' AND name <> 'words'",
          )
          .toArray();
        const bytes = Buffer.from(needle, "utf8");
        for (const { name } of tables)
          for (const row of storage.sql.exec(`SELECT * FROM "${name}"`).raw())
            for (const value of row) {
              const held = Buffer.from(
                value instanceof ArrayBuffer ? new Uint8Array(value) : Buffer.from(String(value)),
              );
              if (held.includes(bytes)) hits.push(name);
            }
        return hits;
      });
    expect(await found("zyzzyva")).toContain("messages");
    await send(bob, "message.delete", { message_id: said.message_id });
    for (const word of [...words, "unverwechselbar", "密", "zyzz", "quetz", "xylophon"])
      expect([word, await found(word)]).toEqual([word, []]);
    for (const word of words.slice(0, 6)) {
      const { body } = await call("GET", `/v1/search?q=${encodeURIComponent(word)}`, { token: owner.token });
      expect(body.items).toEqual([]);
    }
    expect((await read(owner, "/v1/search?q=quest&limit=200")).items).toHaveLength(30);
    const reply = (await pulled(room.ledgers)).find((f) => f.message_id === answer.message_id);
    expect(reply.replying_to).toMatchObject({ deleted: true, from: { id: bob.id } });
    expect(Object.keys(reply.replying_to).toSorted()).toEqual([
      "at",
      "deleted",
      "from",
      "kind",
      "message_id",
      "seq",
    ]);
  });

  test("LOG-4 ATT-3: a file goes with its message, unless another still carries it", async () => {
    const { id, bob, owner, space } = room;
    const file = await upload(id, bob.id, { filename: "plan.txt", content: "plan" });
    const attachments = [{ attachment_id: file }];
    const first = await say(bob, space, "one", { attachments });
    const second = await say(owner, space, "two", { attachments });
    const names = async () =>
      (await read(bob, `/v1/spaces/${space}/files`)).items.map((f: Any) => [f.name, f.message_id]);
    await send(bob, "message.delete", { message_id: first.message_id });
    expect(await names()).toEqual([["plan.txt", second.message_id]]);
    expect(await sql(id, "SELECT id FROM attachments")).toHaveLength(1);
    await send(owner, "message.delete", { message_id: second.message_id });
    expect(await names()).toEqual([]);
    expect(await sql(id, "SELECT id FROM attachments")).toEqual([]);
    expect(await sql(id, "SELECT sha256 FROM blobs")).toEqual([]);
  });
});

describe("ENV-4: one write, once", () => {
  test("ENV-4: the same key and body is answered alike; another body, or another key for the id, is conflict", async () => {
    const { owner, bob, space } = room;
    const event = verb("message.post", { space_id: space, text: "once" });
    const first = (await post(owner, event)).receipts[0];
    const again = (await post(owner, { ...event, id: newId("evt"), ts: "2020-01-01T00:00:00Z" })).receipts[0];
    expect(again).toEqual({ ...first, of: again.of, duplicate: true });
    expect((await post(owner, { ...event, text: "twice" })).code).toBe("conflict");
    expect((await post(owner, { ...event, idempotency_key: newId("evt") })).code).toBe("conflict");
    expect((await post(bob, { ...event, id: newId("evt") })).receipts[0]).not.toHaveProperty("duplicate");
    const texts = (await pulled(owner)).filter((f) => f.text === "once");
    expect(texts.map((f) => f.from.participant_id)).toEqual([owner.id, bob.id]);
  });
});
