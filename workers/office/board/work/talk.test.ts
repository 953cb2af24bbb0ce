/** Agents that would wake each other for ever, by whatever way (PIPE-2). */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { openDb } from "../../../kit/db.ts";
import { migrate } from "../../../kit/migrations.ts";
import { newId } from "../../../testing/client.ts";
import { ANNA, asRule, NOTIFY, type TestLedger, withLedger, workTeam } from "../../../testing/ledger.ts";
import { onBoard, ticket } from "../../../testing/work.ts";
import { BOARD_MIGRATIONS } from "../schema.ts";
import { takeWoken } from "./carry.ts";

type Person = "scout" | "bob";
const other = { scout: "bob", bob: "scout" } as const;
const onBoardBy = (handle: Person) => ({ source: "board", actor: { id: handle, kind: "agent" as const } });
const atGithub = (handle: Person) => ({ source: "github", actor: { id: `${handle}-bot` } });

/** The item that an event woke somebody for is taken up. */
function takeUp(t: TestLedger, eventId: string, handle: Person, n: number): void {
  const item = `itm_${n}`;
  t.work((l) => takeWoken(l, { handle, eventId, item }));
  t.take({
    type: "item.accepted",
    source: "office",
    actor: { id: handle, kind: "agent" },
    item: { id: item, round: 1, person: handle, kind: "assigned", tickets: [] },
  });
}

/** Each wakes the other in turn; how many were woken until one was not, 60 at most. */
function ring(t: TestLedger, wake: (by: Person, n: number) => string): number {
  ticket(t, "BP-1", null);
  takeUp(
    t,
    t.take({ ...onBoard, type: "ticket.assigned", ticket: { key: "BP-1", assignee: "scout" } }),
    "scout",
    0,
  );
  let by: Person = "scout";
  for (let n = 1; n <= 60; n++) {
    const id = wake(by, n);
    by = other[by];
    if (!t.decided(id).some((d) => d.startsWith(`wake ${by}`))) return n - 1;
    takeUp(t, id, by, n);
  }
  return 60;
}

const newTicket = (t: TestLedger, by: Person, key: string, assignee: Person) => {
  t.take({
    ...onBoardBy(by),
    type: "ticket.created",
    ticket: { key, title: key, status: "ready", assignee: null },
  });
  return t.take({ ...onBoardBy(by), type: "ticket.assigned", ticket: { key, assignee } });
};

const WAYS: Record<string, (t: TestLedger, by: Person, n: number) => string> = {
  "a new ticket": (t, by, n) => newTicket(t, by, `BP-${n + 1}`, other[by]),
  "a new ticket of another tracker": (t, by, n) =>
    t.take({
      ...atGithub(by),
      type: "ticket.created",
      ticket: { key: `acme/shop#${n}`, title: "x", assignee: `${other[by]}-bot` },
    }),
  "a new pull request": (t, by, n) => {
    const pr = {
      repo: "acme/shop",
      number: n,
      author: `${by}-bot`,
      head: `h${n}`,
      requested: [`${other[by]}-bot`],
    };
    t.take({ ...atGithub(by), type: "pr.opened", pr });
    return t.take({ ...atGithub(by), type: "pr.review_requested", pr, reviewer: `${other[by]}-bot` });
  },
  "comments on each other's documents": (t, by, n) => {
    if (n === 1)
      for (const one of ["scout", "bob"] as const)
        t.take({
          type: "doc.linked",
          source: "office",
          actor: { id: one, kind: "agent" },
          doc: { id: one, title: one },
        });
    const comment = { id: `c${n}`, body: "Hm" };
    return t.take({ ...atGithub(by), type: "doc.commented", doc: { id: other[by] }, comment });
  },
  "questions and tickets in turn": (t, by, n) =>
    n % 2 === 0
      ? newTicket(t, by, `BP-${n + 1}`, other[by])
      : t.take({
          type: "question.asked",
          source: "office",
          actor: { id: by, kind: "agent" },
          question: { id: `qst_${n}`, to: other[by], text: "?", chain: [by] },
        }),
  "a chat that the agents read": (t, by, n) =>
    t.take({
      type: "chat.message",
      source: "office",
      actor: { id: `${by}@slack`, kind: "agent" },
      chat: {
        message: `m${n}`,
        channel: "C1",
        thread: "T1",
        text: "You",
        direct: false,
        participant: true,
        to: other[by],
      },
    }),
  "the team's own rule": (t, by, n) =>
    t.take({
      ...onBoardBy(by),
      type: "ticket.updated",
      ticket: { key: "BP-1", description: `${n}` },
    }),
};
const EACH_OTHER = workTeam({
  people: [
    {
      handle: "scout",
      name: "Scout",
      role: "dev",
      identities: { github: "scout-bot", slack: "scout@slack" },
    },
    { handle: "bob", name: "Bob", role: "dev", identities: { github: "bob-bot", slack: "bob@slack" } },
  ],
  pipeline: {
    rules: [
      asRule({ id: "b", on: "ticket.updated", when: { actor: "scout" }, does: "wake", to: "bob" }),
      asRule({ id: "s", on: "ticket.updated", when: { actor: "bob" }, does: "wake", to: "scout" }),
    ],
  },
});

test.each(Object.keys(WAYS))(
  "PIPE-2 agents that wake each other by %s stop, and a human is told",
  async (way) => {
    await withLedger((t) => {
      const woken = ring(t, (by, n) => WAYS[way]!(t, by, n));
      expect(woken).toBeGreaterThan(5);
      expect(woken).toBeLessThanOrEqual(16);
      expect(t.room).toMatchObject([
        {
          kind: "notice",
          body: { spaceIds: [NOTIFY], about: [ANNA], text: expect.stringMatching(/^16 events by agents/) },
        },
      ]);
    }, EACH_OTHER);
  },
);

test("PIPE-2 one who hands out many things wakes for each; a human's word on one begins it anew", async () => {
  await withLedger((t) => {
    ticket(t);
    for (let n = 2; n < 60; n++)
      expect(t.decided(newTicket(t, "scout", `BP-${n}`, "bob"))).toContain("wake bob assigned");
    let last = "";
    const passOn = (by: Person, n: number) => newTicket(t, by, (last = `BP-${n + 100}`), other[by]);
    expect(ring(t, passOn)).toBe(15);
    const anna = t.take({
      ...onBoard,
      type: "ticket.commented",
      ticket: { key: last },
      comment: { id: "a", body: "Go on" },
    });
    const [assignee] = t.decided(anna).map((d) => d.split(" ")[1] as Person);
    takeUp(t, anna, assignee!, 900);
    expect(t.decided(newTicket(t, assignee!, "BP-900", other[assignee!]))).toContain(
      `wake ${other[assignee!]} assigned`,
    );
  });
});

test("PIPE-2 a bot that answers every agent's comment wakes nobody either once agents went on too long", async () => {
  await withLedger((t) => {
    const pr = { repo: "acme/shop", number: 5, author: "scout-bot", head: "h" };
    t.take({ ...atGithub("scout"), type: "pr.opened", pr });
    const say = (actor: { id: string; kind?: "bot" }, id: string) =>
      t.decided(t.take({ type: "pr.commented", source: "github", actor, pr, comment: { id, body: "x" } }));
    const woken = Array.from({ length: 40 }, (_, n) => {
      const said = say({ id: "renovate[bot]", kind: "bot" }, `b${n}`);
      say({ id: "scout-bot" }, `s${n}`);
      return said.includes("wake scout review_feedback");
    });
    expect(woken.filter(Boolean)).toHaveLength(15);
    expect(woken.at(-1)).toBe(false);
    say({ id: "anna" }, "a");
    expect(say({ id: "renovate[bot]", kind: "bot" }, "after")).toEqual(["wake scout review_feedback"]);
  });
});

test("PIPE-2 who is addressed in a room is woken all the same: its guard ends that, and no turn hangs", async () => {
  await withLedger((t) => {
    const chat = (by: Person, n: number) =>
      t.take({
        type: "chat.message",
        source: "room",
        actor: { id: by, kind: "agent" },
        chat: {
          message: `m${n}`,
          channel: NOTIFY,
          thread: "m0",
          text: "You",
          direct: false,
          participant: true,
          to: other[by],
        },
      });
    expect(ring(t, chat)).toBe(60);
    // What follows from it elsewhere has gone on too long.
    expect(t.decided(newTicket(t, "scout", "BP-70", "bob"))).toContain("ignore bob");
  });
});

test("PIPE-2 OPS-6 a board from before goes on counting where it was", async () => {
  await runInDurableObject(env.BOARD.getByName(newId("ws")), (_, state) => {
    const db = openDb(state.storage.sql);
    migrate(state.storage, db, BOARD_MIGRATIONS.slice(0, 1));
    const marks = ["agent", "human", "agent", null, "agent"];
    for (const [n, counts] of marks.entries())
      for (const [type, ref] of [
        ["ticket", "BP-1"],
        ["pr", "acme/shop#1"],
        ["chat_thread", "c/t"],
      ] as const)
        db.run("INSERT INTO event_refs (type, ref, n, counts) VALUES (?, ?, ?, ?)", type, ref, n + 1, counts);
    db.run("INSERT INTO event_refs (type, ref, n, counts) VALUES ('doc', 'd', 9, 'agent')");
    migrate(state.storage, db, BOARD_MIGRATIONS);
    expect(db.all("SELECT about, count FROM talk ORDER BY about")).toEqual([
      { about: "doc:d", count: 1 },
      { about: "pr:acme/shop#1", count: 2 },
      { about: "ticket:BP-1", count: 2 },
    ]);
  });
});
