/** Who wakes whom, how often, and what happens twice (PIPE-2, PIPE-3, PIPE-5). */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ANNA, asRule, NOTIFY, withLedger, workTeam } from "../../../testing/ledger.ts";
import { check, onBoard, open, opened, pr, scoutBot, status, ticket, wakes } from "../../../testing/work.ts";
import { manyEvents } from "../../../testing/work-events.ts";
import { ticketView } from "../offer/views.ts";
import { takeEvent } from "./take.ts";
import { trace } from "./trace.ts";

const say = (n: number, who = "bob-bot") => ({
  type: "pr.commented" as const,
  actor: { id: who },
  pr,
  comment: { id: `c${who}${n}`, body: "Hm" },
});

describe("PIPE-2 talk among agents", () => {
  test("PIPE-2 from the sixteenth of an agent's events nobody is woken, people are told once, and a human begins it anew", async () => {
    await withLedger((t) => {
      open(t);
      const said = Array.from({ length: 20 }, (_, n) => t.decided(t.take(say(n))));
      const woken = said.filter((d) => d[0] === "wake scout review_feedback").length;
      // The opening counts as well.
      expect(woken).toBe(14);
      expect(said[14]).toEqual(["ignore scout", "tell"]);
      expect(said.at(-1)).toEqual(["ignore scout", "tell"]);
      expect(t.room).toMatchObject([
        {
          kind: "notice",
          body: { spaceIds: [NOTIFY], about: [ANNA], text: expect.stringContaining("acme/shop#12") },
        },
      ]);
      t.take({ type: "pr.commented", pr, comment: { id: "h1", body: "Go on" } });
      expect(t.decided(t.take(say(90)))).toEqual(["wake scout review_feedback"]);
      for (let n = 100; n < 120; n++) t.take(say(n));
      expect(t.room).toHaveLength(2);
    });
  });

  test("PIPE-2 it is counted on each ticket and pull request by itself; pushes and strangers do not count", async () => {
    await withLedger((t) => {
      open(t);
      for (let n = 0; n < 30; n++) {
        t.take({ type: "pr.updated", actor: scoutBot, pr: { ...opened, head_sha: `s${n}` } });
        t.take(say(n, "mallory"));
      }
      expect(t.decided(t.take(say(1)))).toEqual(["wake scout review_feedback"]);
      t.team = workTeam({ policies: { agent_events: 2 } });
      expect(t.decided(t.take(say(2)))).toEqual(["ignore scout", "tell"]);
      ticket(t);
      const by = { source: "board", actor: { id: "bob" } };
      const comment = t.take({
        ...by,
        type: "ticket.commented",
        ticket: { key: "BP-1" },
        comment: { id: "x", body: "y" },
      });
      expect(t.decided(comment)).toEqual(["wake scout review_feedback"]);
    });
  });
});

describe("PIPE-5 on the board", () => {
  test("PIPE-5 strangers, bots and forged names are kept, shown as untrusted, and wake nobody", async () => {
    await withLedger((t) => {
      open(t);
      const comment = { id: "c", body: "Run rm -rf" };
      const by = [
        { actor: { id: "mallory" } },
        { actor: { id: "mallory", name: "Anna", kind: "human" as const } },
        { actor: { id: "anna" }, source: "jira" },
        { actor: { id: "evil[bot]", kind: "bot" as const } },
        { actor: { id: "scout" }, source: "jira" },
        { actor: { id: ANNA } },
        { actor: { id: "carl", association: "CONTRIBUTOR" } },
        { actor: { id: "carl", association: "OWNER" }, source: "jira" },
      ];
      for (const [n, who] of by.entries()) {
        const id = t.take({ type: "pr.commented", pr, ...who, comment: { ...comment, id: `c${n}` } });
        expect(t.decided(id)).toEqual(["ignore"]);
        expect(trace(t.ledger, id)?.event).toMatchObject({ trusted: false, comment: { body: "Run rm -rf" } });
      }
      expect(t.db.one("SELECT count(*) AS n FROM comments")).toEqual({ n: by.length });
      for (const actor of [
        { id: "renovate[bot]", kind: "bot" as const },
        { id: "carl", association: "MEMBER" },
      ])
        expect(
          t.decided(t.take({ type: "pr.commented", pr, actor, comment: { ...comment, id: actor.id } })),
        ).toEqual(["wake scout review_feedback"]);
    });
  });

  test("PIPE-5 CHAT-1 who is not trusted is told so once for each space, writer and teammate, and in no chat elsewhere", async () => {
    await withLedger((t) => {
      let n = 0;
      const write = (channel: string, id: string, to: string, source = "room") => {
        const before = t.room.length;
        const message = `msg_${++n}`;
        const chat = {
          message,
          channel,
          thread: message,
          text: "Do it",
          direct: false,
          participant: true,
          to,
        };
        t.take({ type: "chat.message", source, actor: { id, name: "Mallory" }, chat });
        return t.room.slice(before).map((letter) => letter.kind);
      };
      const each = ["spc_1", "spc_2"].flatMap((space) =>
        ["usr_1", "usr_2"].flatMap((writer) => ["scout", "bob"].map((to) => [space, writer, to] as const)),
      );
      for (const [space, writer, to] of each) expect(write(space, writer, to)).toEqual(["notice"]);
      for (const [space, writer, to] of each) expect(write(space, writer, to)).toEqual([]);
      expect(write("C1", "U1", "scout", "office")).toEqual([]);
      expect(t.room[0]?.body).toMatchObject({ spaceIds: ["spc_1"], about: ["usr_1"] });
    });
  });

  test("PIPE-5 a bot that the repository names wakes by its issues too, and is no stranger in the offer", async () => {
    await withLedger((t) => {
      const say = (login: string, key = "acme/shop#3") =>
        t.decided(
          t.take({
            actor: { id: login, kind: "bot" },
            type: "ticket.commented",
            ticket: { key },
            comment: { id: `${login}${key}`, body: "Look" },
          }),
        );
      t.take({ type: "ticket.assigned", ticket: { key: "acme/shop#3", assignee: "scout-bot" } });
      expect(say("renovate[bot]")).toEqual(["wake scout review_feedback"]);
      expect(say("evil[bot]")).toEqual(["ignore"]);
      expect(say("renovate[bot]", "acme/other#3")).toEqual(["ignore"]);
      const [shown] = ticketView(t.ledger, "acme/shop#3", { role: "trigger", source: "x" });
      expect(shown?.comments.map(({ author }) => author)).toEqual(["renovate[bot]", "evil[bot] (untrusted)"]);
    });
  });

  test("PIPE-5 an approval counts on the current head, never the author's own, an agent's only where the team says so", async () => {
    await withLedger((t) => {
      open(t);
      check(t, "test", "success");
      const review = (id: string, actor: { id: string }, sha = "a1") =>
        t.take({ type: "pr.reviewed", actor, pr, review: { id, state: "approved", sha, body: "ok" } });
      review("r1", scoutBot);
      review("r2", { id: "bob-bot" });
      review("r3", { id: "mallory" });
      review("r4", { id: "anna" }, "old");
      const ready = () =>
        t.db.one<{ n: number }>("SELECT count(*) AS n FROM events WHERE type = 'pr.ready_to_merge'")?.n;
      expect(ready()).toBe(0);
      t.team = workTeam({ policies: { merge: { agents_approve: true } } });
      review("r5", scoutBot);
      expect(ready()).toBe(1);
      expect(wakes(t).filter((w) => w.startsWith("merge"))).toEqual(["merge acme/shop#12"]);
    });
  });
});

describe("PIPE-3 the same event", () => {
  test("PIPE-3 again decides and writes nothing new, from the same source alone", async () => {
    await withLedger((t) => {
      const event = {
        id: "same",
        source: "linear",
        type: "ticket.assigned" as const,
        at: "2026-03-01T09:00:00.000Z",
        actor: { id: "anna@lin" },
        ticket: { key: "ENG-1", assignee: "scout@lin" },
      };
      const first = t.work((l) => takeEvent(l, event));
      const counts = () =>
        ["events", "decisions", "tickets", "event_refs"].map((table) =>
          t.db.one(`SELECT count(*) AS n FROM ${table}`),
        );
      const before = [counts(), t.office.length];
      expect(first.duplicate).toBe(false);
      expect(t.work((l) => takeEvent(l, { ...event, ticket: { key: "ENG-9" } }))).toEqual({
        id: first.id,
        duplicate: true,
      });
      expect([counts(), t.office.length]).toEqual(before);
      expect(t.work((l) => takeEvent(l, { ...event, source: "jira" })).duplicate).toBe(false);
    });
  });

  test("PIPE-3 what fails halfway leaves nothing, and decides once when it comes again", async () => {
    await withLedger((t) => {
      ticket(t, "BP-1", null);
      const event = {
        id: "e",
        source: "board",
        type: "ticket.assigned" as const,
        at: "2026-03-01T10:10:00.000Z",
        actor: { id: ANNA },
        ticket: { key: "BP-1", assignee: "scout" },
      };
      expect(() =>
        t.work((l) =>
          takeEvent(
            {
              ...l,
              toOffice: () => {
                throw new Error("the object died");
              },
            },
            event,
          ),
        ),
      ).toThrow("died");
      expect(t.letters("wake")).toEqual([]);
      const again = t.work((l) => takeEvent(l, event));
      expect(again.duplicate).toBe(false);
      expect(t.letters("wake")).toHaveLength(1);
    });
  });
});

test("PIPE-2 PIPE-3 PIPE-5: whatever comes, in whatever order, twice over: no decision is made twice, strangers wake nobody, nobody wakes themselves, and every wake is on a trace", async () => {
  const mixed = manyEvents(["anna", "scout-bot", "bob-bot", "mallory", "renovate[bot]"], 25).chain((events) =>
    fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
  );
  await withLedger((t) => {
    const tables = t.db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
    let wakings = 0;
    fc.assert(
      fc.property(mixed, (events) => {
        for (const { name } of tables)
          if (!/^(_cf|sqlite|migrations)/.test(name)) t.db.run(`DELETE FROM ${name}`);
        t.office.length = 0;
        for (const [number, id] of [
          [1, "scout-bot"],
          [12, "bob-bot"],
        ] as const)
          open(t, { number, author: id, head: `h${number}`, title: "x" });
        for (const event of events) t.work((l) => takeEvent(l, event));
        const woken = t.office.flatMap((l) => (l.kind === "wake" ? [{ to: l.to, ...l.body }] : []));
        wakings += woken.length;
        expect(new Set(woken.map((w) => `${w.to} ${w.key}`)).size).toBe(woken.length);
        expect(new Set(woken.map((w) => `${w.to} ${w.eventId}`)).size).toBe(woken.length);
        for (const { to, eventId, rule } of woken) {
          const of = trace(t.ledger, eventId);
          expect(of?.event.trusted).toBe(true);
          expect(of?.event.actor.id).not.toBe(`${to}-bot`);
          expect(of?.decisions).toContainEqual(
            expect.objectContaining({ decision: "wake", rule, person: to }),
          );
        }
        const taken = t.db.one<{ n: number }>("SELECT count(*) AS n FROM events WHERE source = 'github'")?.n;
        expect(taken).toBe(2 + events.length / 2);
      }),
      { numRuns: 150 },
    );
    expect(wakings).toBeGreaterThan(50);
  });
});

describe("PIPE-1 rules of the team on the board", () => {
  test("PIPE-6 an act of a rule is made on the board and wakes whom it assigns, without a loop", async () => {
    const rules = [
      {
        id: "triage",
        on: "ticket.created",
        does: "act",
        ops: [
          { op: "assign", to: "scout" },
          { op: "comment", body: "Hello {actor}" },
          { op: "move", to: "ready" },
        ],
      },
      { id: "echo", on: "ticket.*", does: "act", ops: [{ op: "comment", body: "Again" }] },
    ];
    await withLedger(
      (t) => {
        const id = t.take({
          ...onBoard,
          type: "ticket.created",
          ticket: { key: "BP-1", title: "A", status: "backlog" },
        });
        expect(t.decided(id)).toEqual(["act", "act"]);
        expect(status(t)).toBe("ready");
        expect(wakes(t)).toEqual(["assigned BP-1"]);
        const comments = t.db
          .all<{ fields: string }>("SELECT fields FROM comments ORDER BY id")
          .map((c) => JSON.parse(c.fields).body.v);
        expect(comments).toEqual(["Hello Anna", "Again"]);
        expect(t.letters("act")).toEqual([]);
      },
      workTeam({ pipeline: { rules: rules.map(asRule) } }),
    );
  });
});
