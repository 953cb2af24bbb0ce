/** The context window of a turn and the pull route beside it (WIN-1 to WIN-4, WIN-7, WIN-8). */
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import {
  type Any,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  say,
  send,
} from "../testing/client.ts";
import {
  as,
  declare,
  eventsOf,
  hello,
  lasting,
  live,
  pulled,
  read,
  replay,
  settled,
  sql,
  upload,
} from "../testing/room.ts";

/** Ada and Bob; Scouts with Scout and Quill: all in one space of Ada's. */
async function aRoom() {
  const { id, owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const scouts = await newHarness(owner, "Scouts");
  const [scout = "", quill = ""] = await declare(scouts, "Scout", "Quill");
  const space = await newSpace(owner, "Room", [bob.id, scout, quill]);
  return { id, owner, bob, scouts, scout, quill, space };
}

let room: Awaited<ReturnType<typeof aRoom>>;
beforeEach(async () => {
  room = await aRoom();
});

/** The turn that a mention of Scout makes. */
async function turn(text = "@Scout now", more: object = {}): Promise<Any> {
  const { seq } = await say(room.owner, room.space, text, more);
  return (await pulled(room.scouts, seq - 1)).find((f) => f.seq === seq);
}
async function context(path = ""): Promise<Any> {
  return (await read(room.bob, `/v1/spaces/${room.space}/context${path}`)).context;
}
/** A name of 80 characters, 79 without the letter before it. */
function longName(i: number): string {
  return `${String(i).padStart(3, "0")}${"𝒳".repeat(76)}`;
}
function words(lines: Any[]): string[] {
  return lines.map((l) => l.text ?? l.kind);
}

describe("a turn's window", () => {
  test("WIN-1 WIN-3: the lines since it joined, before this message and without it, oldest first", async () => {
    const { owner, bob, space, scout } = room;
    const said = await say(bob, space, "one, @Scout");
    await send(bob, "message.edit", { message_id: said.message_id, text: "one, corrected" });
    await send(bob, "message.delete", { message_id: (await say(bob, space, "two")).message_id });
    await send(owner, "space.rename", { space_id: space, title: "Den" });
    await send(bob, "participant.rename", { name: "Bobby" });
    await send(owner, "member.role", { space_id: space, participant_id: bob.id, role: "owner" });
    const { context: c, seq } = await turn();
    expect(words(c.lines)).toEqual(["joined", "one, corrected", "renamed", "renamed"]);
    expect(c.lines[1]).toEqual({
      seq: said.seq,
      at: expect.any(String),
      kind: "said",
      from: { id: bob.id, kind: "person", name: "Bobby", role: "owner", workspace_role: "member" },
      message_id: said.message_id,
      text: "one, corrected",
      addressed_to: [scout],
    });
    expect(c.lines.map((l: Any) => l.seq)).toEqual(
      c.lines.map((l: Any) => l.seq).toSorted((a: number, b: number) => a - b),
    );
    expect(c).toMatchObject({ truncated: false, before: c.lines[0].seq });
    expect(c.lines.at(-1).seq).toBeLessThan(seq);
  });

  test("WIN-1: 40 lines and 16,000 characters without a hello's budget, which holds until another is named", async () => {
    const { bob, scouts, space } = room;
    for (let i = 0; i < 45; i++) await say(bob, space, `line ${i}`);
    expect(words((await turn()).context.lines)).toEqual(
      Array.from({ length: 40 }, (_, i) => `line ${i + 5}`),
    );
    await hello(scouts, { context: { lines: 3, chars: 1000 } });
    expect(words((await turn()).context.lines)).toEqual(["line 43", "line 44", "@Scout now"]);
    await hello(scouts, {});
    expect((await turn()).context.lines).toHaveLength(3);
    await hello(scouts, { context: { lines: 100, chars: 12 } });
    await say(bob, space, "12345");
    await say(bob, space, "123456");
    expect(words((await turn()).context.lines)).toEqual(["12345", "123456"]);
    for (const none of [
      { lines: 0, chars: 100 },
      { lines: 5, chars: 0 },
    ]) {
      await hello(scouts, { context: none });
      const without = await turn();
      expect(without).not.toHaveProperty("context");
      expect(without).toHaveProperty("room");
    }
  });

  test("WIN-2 TURN-2: it starts where the turn began that said the harness's last words, without its own words", async () => {
    const { bob, scouts, scout, quill, space } = room;
    await say(bob, space, "before it all");
    const first = await turn("@Scout first");
    const run_id = newId("run");
    const run = { run_id, space_id: space, agent_id: scout, message_ids: [first.message_id] };
    await send(scouts, "run.start", run);
    await say(bob, space, "while it works");
    const merged = await turn("@Scout and this");
    await say(scouts, space, "still looking", as(quill));
    await say(scouts, space, "done", { ...as(scout), run_id });
    await send(scouts, "run.end", { run_id, outcome: "done" });
    await say(bob, space, "thanks");
    const second = await turn("@Scout second");
    expect(second.context.since_seq).toBe(first.seq);
    expect(words(second.context.lines)).toEqual(["while it works", "@Scout and this", "thanks"]);
    // A run that took several began at the newest of them.
    const again = newId("run");
    const message_ids = [merged.message_id, second.message_id];
    await send(scouts, "run.start", { ...run, run_id: again, message_ids });
    await say(scouts, space, "and that", { ...as(scout), run_id: again });
    expect((await turn()).context).toMatchObject({ since_seq: second.seq, lines: [] });
    // Said outside a turn it counts from itself.
    await say(bob, space, "a");
    const own = await say(scouts, space, "b", as(quill));
    await say(bob, space, "c");
    const third = await turn();
    expect([third.context.since_seq, words(third.context.lines)]).toEqual([own.seq, ["c"]]);
    // By its joining where it has said nothing, and by its own harness's words only.
    const { items } = await read(bob, `/v1/spaces/${space}/members`);
    expect(items).toHaveLength(4);
    const other = await newHarness(room.owner, "Others");
    const [late = ""] = await declare(other, "Late");
    const joined = await send(room.owner, "member.add", { space_id: space, participant_id: late });
    await turn("@Late welcome");
    expect((await pulled(other)).find((f) => f.type === "message.new").context.since_seq).toBe(joined.seq);
  });

  test("WIN-2: a repeat of a turn has the same window, whatever was said since", async () => {
    const { scouts, scout, space } = room;
    const socket = await live(scouts);
    await say(room.bob, space, "some words");
    await say(room.owner, space, "@Scout look");
    await say(scouts, space, "done", as(scout));
    await say(room.owner, space, "@Scout look again");
    const frames = eventsOf(await settled(socket)).filter((f) => f.type === "message.new");
    for (const again of [await replay(scouts), await pulled(scouts)])
      expect(again.filter((f) => f.type === "message.new").map(lasting)).toEqual(frames.map(lasting));
  });

  test("WIN-3: a line longer than the budget is cut with an ellipsis, counted in code points of text and transcript", async () => {
    const { id, bob, scouts, space } = room;
    await hello(scouts, { context: { lines: 10, chars: 10 } });
    await say(bob, space, "𝒳".repeat(11));
    expect(words((await turn()).context.lines)).toEqual(["joined", `${"𝒳".repeat(9)}…`]);
    await say(bob, space, "𝒳".repeat(10));
    expect(words((await turn()).context.lines)).toEqual(["𝒳".repeat(10)]);
    const voice = await upload(id, bob.id, { filename: "v.m4a", content: "v", transcript: "0123456789" });
    await say(bob, space, "ab", { attachments: [{ attachment_id: voice }] });
    const { lines, truncated } = (await turn()).context;
    expect(lines).toMatchObject([{ text: "ab", transcript: "0123456…", files: ["v.m4a"] }]);
    expect(truncated).toBe(true);
  });

  test("WIN-4 NOTE-2: truncated says that lines were left out, and so does the taker's note", async () => {
    const { bob, scouts, scout, space } = room;
    await hello(scouts, { context: { lines: 2, chars: 1000 } });
    const first = await turn();
    expect([words(first.context.lines), first.context.truncated]).toEqual([["joined"], false]);
    expect(first.room.notes[scout]).not.toContain("left out");
    for (let i = 0; i < 3; i++) await say(bob, space, `line ${i}`);
    const cut = await turn();
    expect(cut.context).toMatchObject({ truncated: true, before: cut.context.lines[0].seq });
    expect(cut.room.notes[scout]).toContain("left out");
    await say(scouts, space, "ok", as(scout));
    const none = await turn();
    expect(none.context).toMatchObject({ lines: [], truncated: false, before: none.seq });
  });

  test("WIN-8: no frame is over 1 MiB: the oldest lines go first, and the note says so", async () => {
    const { bob, owner, scouts, scout, space } = room;
    await hello(scouts, { context: { lines: 500, chars: 200_000 } });
    // A control character is one byte of text and six of JSON.
    const heavy = "\u0001".repeat(60_000);
    for (let i = 0; i < 3; i++) await say(bob, space, `${i}${heavy}`);
    const socket = await live(scouts);
    await say(owner, space, `@Scout ${heavy}`);
    const [frame] = eventsOf(await settled(socket));
    expect(new TextEncoder().encode(JSON.stringify(frame)).length).toBeLessThanOrEqual(1024 * 1024);
    expect(frame.context.lines.at(-1).text).toBe(`2${heavy}`);
    expect(frame.context).toMatchObject({ truncated: true, before: frame.context.lines[0].seq });
    expect(frame.room.notes[scout]).toContain("left out");
  });

  test("WIN-8: nor when fifty agents with the longest names take the turn at once, in a full space", async () => {
    const { id, owner } = room;
    const many = await newHarness(owner, "Many");
    const agents = await declare(many, ...Array.from({ length: 50 }, (_, i) => `A${longName(i)}`));
    const space = await newSpace(owner, "Full");
    const crowd = "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 248)";
    const who = "printf('usr_01K4ZQPX000000000000000%03d', i)";
    await sql(
      id,
      `${crowd} INSERT INTO participants (id, kind, name, role, time_zone, created_at)
       SELECT ${who}, 'person', i || ?, 'member', 'America/Argentina/ComodRivadavia', 0 FROM n`,
      "𝒳".repeat(77),
    );
    await sql(
      id,
      `INSERT INTO stays (space_id, participant_id, joined_seq, role, handle)
       SELECT ?1, id, 1, 'member', substr(name, 4) FROM participants WHERE created_at = 0 OR harness_id = ?2`,
      space,
      many.id,
    );
    const socket = await live(many);
    for (const heavy of ["é".repeat(32_000), "\u0001".repeat(64_000)]) {
      const said = await say(owner, space, heavy);
      const { seq } = await say(owner, space, `@everyone ${heavy}`, { reply_to: said.message_id });
      const frame = await socket.next((f) => f.seq === seq);
      expect(frame.for.toSorted()).toEqual(agents.toSorted());
      expect(Object.keys(frame.room.notes)).toHaveLength(50);
      expect(frame.text).toContain(heavy);
      expect(new TextEncoder().encode(JSON.stringify(frame)).length).toBeLessThanOrEqual(1024 * 1024);
    }
  });

  test("WIN-8 REPLY-2: nor when old lines stand beside a message that is answered", async () => {
    const { bob, owner, scouts, scout, space } = room;
    const heavy = "\u0001".repeat(60_000);
    for (let i = 0; i < 3; i++) await say(bob, space, `${i}${heavy}`);
    const said = await say(bob, space, heavy);
    await say(scouts, space, "I spoke", as(scout));
    const socket = await live(scouts);
    await say(owner, space, `@Scout ${heavy}`, { reply_to: said.message_id });
    const [frame] = eventsOf(await settled(socket));
    expect(new TextEncoder().encode(JSON.stringify(frame)).length).toBeLessThanOrEqual(1024 * 1024);
    expect([frame.text.length, frame.replying_to.text]).toEqual([heavy.length + 7, heavy]);
  });
});

describe("the pull route", () => {
  test("WIN-7: since_seq is 0; a person and a harness are answered alike, whatever the hello's budget", async () => {
    const { id, bob, owner, scouts, space } = room;
    const file = await upload(id, owner.id, { filename: "a.txt", content: "a" });
    await say(owner, space, "with a file", { attachments: [{ attachment_id: file }] });
    for (let i = 0; i < 45; i++) await say(bob, space, `line ${i}`);
    await hello(scouts, { context: { lines: 0, chars: 0 } });
    for (const path of ["", "?lines=7&chars=20", "?lines=500", "?before=9"]) {
      const asked = `/v1/spaces/${space}/context${path}`;
      const [person, harness] = [(await read(bob, asked)).context, (await read(scouts, asked)).context];
      expect(lasting(harness)).toEqual(lasting(person));
      expect(person.since_seq).toBe(0);
      expect(person.files[0]).not.toHaveProperty("url");
      expect(harness.files[0]).toHaveProperty("url");
    }
    expect((await context()).lines).toHaveLength(40);
    expect(words((await context("?lines=7&chars=20")).lines)).toEqual(["line 43", "line 44"]);
    // Its own words are there, too: it reads the room, not a turn.
    await say(scouts, space, "mine", as(room.scout));
    expect(words((await read(scouts, `/v1/spaces/${space}/context?lines=1`)).context.lines)).toEqual([
      "mine",
    ]);
  });

  test("WIN-4: pages go back to the room's first line without a gap or a repeat", async () => {
    const { owner, bob, scout, space } = room;
    const said: string[] = [];
    const ops = {
      say: async (n: number) => void said.push((await say(bob, space, "𝒳".repeat(n))).message_id),
      edit: async (n: number) => {
        const message_id = said[n % Math.max(said.length, 1)];
        if (message_id) await send(bob, "message.edit", { message_id, text: "edited".repeat(n) });
      },
      remove: async (n: number) => {
        const [message_id] = said.splice(n % Math.max(said.length, 1), 1);
        if (message_id) await send(bob, "message.delete", { message_id });
      },
      rename: async (n: number) =>
        void (await send(owner, "space.rename", { space_id: space, title: `T${n}` })),
      leave: async () => {
        const who = { space_id: space, participant_id: scout };
        await send(owner, "member.remove", who);
        await send(owner, "member.add", who);
      },
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.constantFrom(...(Object.keys(ops) as (keyof typeof ops)[])),
            fc.integer({ min: 1, max: 30 }),
          ),
          {
            maxLength: 6,
          },
        ),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 60 }),
        async (does, lines, chars) => {
          for (const [op, n] of does) await ops[op](n);
          const whole = (await context("?lines=500&chars=200000")).lines;
          expect(whole[0].kind).toBe("joined");
          const paged: Any[] = [];
          for (let query = `?lines=${lines}&chars=${chars}`, more = true; more; ) {
            const page = await context(query);
            paged.unshift(...page.lines);
            more = page.truncated;
            query = `?lines=${lines}&chars=${chars}&before=${page.before}`;
          }
          expect(paged.map((l) => l.seq)).toEqual(whole.map((l: Any) => l.seq));
        },
      ),
      { numRuns: 15 },
    );
  });
});
