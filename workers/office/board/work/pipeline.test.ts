/** The rows of PIPE-1's table that are about tickets, documents and talk, on a board's own tables. */
import { describe, expect, test } from "vitest";
import { ANNA, START, withLedger } from "../../../testing/ledger.ts";
import { item, onBoard, open, status, ticket, wakes } from "../../../testing/work.ts";
import { takeMade } from "./made.ts";
import { takeMessageChanged } from "./messages.ts";
import { trace } from "./trace.ts";

const at = (s: number) => new Date(START + s * 1000).toISOString();

describe("PIPE-1 tickets", () => {
  test("PIPE-1 PIPE-6 ticket.assigned: the person is woken once, and again after it was taken from them", async () => {
    await withLedger((t) => {
      ticket(t);
      expect(t.letters("wake")).toMatchObject([
        {
          key: "assigned:BP-1:scout",
          rule: "ticket.assigned",
          kind: "assigned",
          title: "BP-1: A cart",
          trigger: "human",
          subject: { type: "ticket", ref: "BP-1" },
          refs: [{ type: "ticket", ref: "BP-1", role: "trigger" }],
          requester: { id: ANNA, name: "Anna", kind: "human" },
        },
      ]);
      const again = t.take({
        ...onBoard,
        type: "ticket.assigned",
        ticket: { key: "bp-1", assignee: "scout" },
      });
      expect(t.whys(again)).toEqual(["ticket.assigned: decided before: BP-1 is assigned to scout"]);
      t.take({ ...onBoard, type: "ticket.unassigned", ticket: { key: "BP-1" } });
      t.take({ ...onBoard, type: "ticket.assigned", ticket: { key: "BP-1", assignee: "scout" } });
      expect(t.letters("wake").map((w) => w.key)).toEqual(["assigned:BP-1:scout", "assigned:BP-1:scout#2"]);
    });
  });

  test("PIPE-1 ticket.assigned: of another tracker, by the identity there; closed or late it wakes nobody", async () => {
    await withLedger((t) => {
      const lin = { source: "linear", actor: { id: "anna@lin" } };
      t.take({
        ...lin,
        at: at(5),
        type: "ticket.assigned",
        ticket: { key: "ENG-1", title: "x", assignee: "scout@lin" },
      });
      expect(wakes(t)).toEqual(["assigned ENG-1"]);
      const login = t.take({
        ...lin,
        type: "ticket.assigned",
        ticket: { key: "ENG-2", assignee: "scout-bot" },
      });
      expect(t.decided(login)).toEqual([]);
      t.take({ ...lin, at: at(9), type: "ticket.unassigned", ticket: { key: "ENG-3" } });
      const late = t.take({
        ...lin,
        at: at(8),
        type: "ticket.assigned",
        ticket: { key: "ENG-3", assignee: "scout@lin" },
      });
      expect(t.decided(late)).toEqual(["ignore"]);
      t.take({ ...lin, type: "ticket.closed", ticket: { key: "ENG-4" } });
      const closed = t.take({
        ...lin,
        type: "ticket.assigned",
        ticket: { key: "ENG-4", assignee: "scout@lin" },
      });
      expect(t.whys(closed)).toEqual(["ticket.assigned: ENG-4 is done"]);
    });
  });

  test("PIPE-1 ticket.unassigned, given to another, closed: what is queued is canceled", async () => {
    await withLedger((t) => {
      ticket(t);
      const given = t.take({ ...onBoard, type: "ticket.assigned", ticket: { key: "BP-1", assignee: "bob" } });
      expect(t.decided(given)).toEqual(["wake bob assigned", "cancel scout"]);
      const gone = t.take({ ...onBoard, type: "ticket.unassigned", ticket: { key: "BP-1" } });
      expect(t.decided(gone)).toEqual(["cancel bob"]);
      ticket(t, "BP-2");
      const closed = t.take({
        ...onBoard,
        type: "ticket.closed",
        ticket: { key: "BP-2", status: "canceled" },
      });
      expect(t.decided(closed)).toEqual(["cancel scout"]);
      expect(t.letters("cancel").at(-1)).toMatchObject({
        ref: { type: "ticket", ref: "BP-2" },
        why: "BP-2 is canceled",
        by: "ticket.closed",
      });
    });
  });

  test("PIPE-1 ticket.commented: on one's own ticket it is feedback, once a comment", async () => {
    await withLedger((t) => {
      ticket(t);
      const say = (id: string) =>
        t.take({
          ...onBoard,
          type: "ticket.commented",
          ticket: { key: "BP-1" },
          comment: { id, body: "And oil it." },
        });
      expect(t.decided(say("c1"))).toEqual(["wake scout review_feedback"]);
      expect(t.letters("wake").at(-1)).toMatchObject({
        feedback: { actor: "Anna", kind: "ticket_comment", commentId: "c1", body: "And oil it." },
      });
      expect(t.decided(say("c1"))).toEqual(["ignore scout"]);
      ticket(t, "BP-2", null);
      const nobodys = t.take({
        ...onBoard,
        type: "ticket.commented",
        ticket: { key: "BP-2" },
        comment: { id: "c2", body: "x" },
      });
      expect(t.whys(nobodys)).toEqual(["ticket.commented: BP-2 is nobody's of the team"]);
    });
  });

  test("PIPE-1 PIPE-7 item.accepted and item.ended: to active, and back after a silent end", async () => {
    await withLedger((t) => {
      ticket(t);
      expect(t.decided(t.take({ ...item(), type: "item.accepted" }))).toEqual(["act scout"]);
      expect(status(t)).toBe("active");
      expect(t.decided(t.take({ ...item({ status: "silent" }), type: "item.ended" }))).toEqual(["act scout"]);
      expect(status(t)).toBe("ready");
      t.take({ ...item({ round: 2 }), type: "item.accepted" });
      const review = t.take({ ...item({ id: "itm_2", kind: "review" }), type: "item.accepted" });
      expect(t.decided(review)).toEqual(["ignore"]);
    });
  });

  test("PIPE-7 item.ended: a done round leaves its ticket to be reviewed, where no open pull request of its own says so", async () => {
    await withLedger((t) => {
      ticket(t);
      ticket(t, "BP-2");
      t.take({ ...item(), type: "item.accepted" });
      // What it made is for another ticket.
      open(t, { head: "bp-2-x" });
      const ended = t.take({ ...item({ status: "done" }), type: "item.ended" });
      expect(t.whys(ended)).toEqual(["item.ended: the round is done: BP-1 is to be reviewed"]);
      expect(status(t)).toBe("review");

      t.take({ ...item({ round: 2, kind: "review_feedback" }), type: "item.accepted" });
      expect(status(t)).toBe("active");
      for (const kind of ["question", "chat", "review", "merge"])
        expect(
          t.decided(t.take({ ...item({ id: kind, kind, status: "done" }), type: "item.ended" })),
        ).toEqual([]);
      for (const status of ["waiting", "blocked", "failed", "interrupted"])
        expect(t.decided(t.take({ ...item({ id: status, status }), type: "item.ended" }))).toEqual([]);
      expect(status(t)).toBe("active");
    });
  });

  test("PIPE-7 item.ended: with a draft of its own a ticket stays active until that is ready", async () => {
    await withLedger((t) => {
      ticket(t);
      t.take({ ...item(), type: "item.accepted" });
      open(t, { draft: true });
      expect(t.decided(t.take({ ...item({ status: "done" }), type: "item.ended" }))).toEqual([]);
      expect(status(t)).toBe("active");
    });
  });

  test("PIPE-7 item.ended: a round that answered a review puts the ticket back in review; a closed one stays closed", async () => {
    await withLedger((t) => {
      ticket(t);
      open(t);
      t.take({ ...item({ round: 2, kind: "review_feedback" }), type: "item.accepted" });
      expect(status(t)).toBe("active");
      t.take({ ...item({ round: 2, kind: "review_feedback", status: "done" }), type: "item.ended" });
      expect(status(t)).toBe("review");
      t.take({ ...item({ round: 3, kind: "review_feedback" }), type: "item.accepted" });
      t.take({ ...onBoard, type: "ticket.closed", ticket: { key: "BP-1", status: "done" } });
      expect(t.decided(t.take({ ...item({ round: 3, status: "silent" }), type: "item.ended" }))).toEqual([]);
      expect(status(t)).toBe("done");
    });
  });
});

const message = (more: object = {}, chat: object = {}) => ({
  type: "chat.message" as const,
  source: "room",
  actor: { id: ANNA, name: "Anna", kind: "human" as const },
  chat: {
    message: "msg_1",
    channel: "spc_1",
    thread: "msg_1",
    text: "Please fix the door\nnow",
    direct: false,
    participant: true,
    to: "scout",
    ...chat,
  },
  ...more,
});

describe("PIPE-1 documents, chat, questions, schedules", () => {
  test("PIPE-1 doc.commented: the document that a person wrote", async () => {
    await withLedger((t) => {
      ticket(t, "BP-1", null);
      const doc = { id: "d1", title: "Plan", url: "https://kb.test/d1" };
      t.work((l) =>
        takeMade(l, {
          handle: "scout",
          item: "itm_1",
          at: new Date(t.now).toISOString(),
          doc,
          ticket: "bp-1",
        }),
      );
      expect(t.db.one("SELECT ticket, made_by FROM docs WHERE id = 'd1'")).toEqual({
        ticket: "BP-1",
        made_by: "scout",
      });
      const id = t.take({
        source: "linear",
        actor: { id: "anna@lin" },
        type: "doc.commented",
        doc: { id: "d1" },
        comment: { id: "c1", body: "Which?", anchor: "the cart" },
      });
      expect(t.decided(id)).toEqual(["wake scout review_feedback"]);
      expect(t.letters("wake").at(-1)).toMatchObject({
        title: "Feedback on Plan",
        feedback: { kind: "doc_comment", docId: "d1", anchorText: "the cart" },
        subject: { type: "doc", ref: "d1" },
      });
    });
  });

  test("PIPE-1 CHAT-1 chat.message: who is trusted wakes, once a message", async () => {
    await withLedger((t) => {
      expect(t.decided(t.take(message()))).toEqual(["wake scout chat"]);
      expect(t.letters("wake")).toMatchObject([
        {
          kind: "chat",
          title: "Please fix the door now",
          subject: { type: "chat_thread", ref: "spc_1/msg_1" },
          origin: { channel: "spc_1", thread: "msg_1", requester: { id: ANNA, name: "Anna" }, direct: false },
          room: { spaceId: "spc_1", messageId: "msg_1" },
          feedback: { kind: "chat", body: "Please fix the door\nnow" },
          refs: [{ role: "trigger", source: "msg_1" }],
        },
      ]);
      const reported = t.take(message({ source: "office" }));
      expect(t.whys(reported)).toEqual(["chat.message: decided before: Anna writes to scout"]);
      expect(
        t.decided(t.take(message({ actor: { id: "usr_other", name: "Anna" } }, { message: "msg_2" }))),
      ).toEqual(["ignore"]);
      const posing = message(
        { source: "office", actor: { id: "@office" } },
        { message: "m5", channel: "C1" },
      );
      expect(t.decided(t.take(posing))).toEqual(["ignore"]);
      expect(t.decided(t.take(message({}, { message: "msg_3", to: "ghost" })))).toEqual(["ignore"]);
      expect(t.decided(t.take(message({ actor: { id: "scout" } }, { message: "msg_4" })))).toEqual([
        "ignore scout",
      ]);
    });
  });

  test("NEW-7 a message that was edited or taken back is so on the board", async () => {
    await withLedger((t) => {
      const id = t.take(message());
      const text = () => trace(t.ledger, id)?.event.chat?.text;
      t.work((l) => takeMessageChanged(l, { messageId: "msg_1", text: "Paint it" }));
      expect(text()).toBe("Paint it");
      t.work((l) => takeMessageChanged(l, { messageId: "msg_1", deleted: true }));
      expect(text()).toBe("");
      expect(JSON.stringify(t.db.all("SELECT event FROM events"))).not.toContain("door");
    });
  });

  test("PIPE-1 question.asked and schedule.due", async () => {
    await withLedger((t) => {
      const asked = t.take({
        type: "question.asked",
        source: "office",
        actor: { id: "scout" },
        question: { id: "qst_1", to: "bob", text: "Which blue?", item: "itm_1", chain: ["scout"] },
      });
      expect(t.decided(asked)).toEqual(["wake bob question"]);
      expect(t.letters("wake", "bob")).toMatchObject([
        { trigger: "agent", question: { id: "qst_1", from: "scout", parentId: "itm_1", chain: ["scout"] } },
      ]);
      const due = {
        id: "daily",
        due: "2026-03-01T09:00:00.000Z",
        person: "bob",
        title: "Look around",
        body: "All of it.",
      };
      const at = t.take({
        type: "schedule.due",
        source: "schedule",
        actor: { id: "@office" },
        schedule: due,
      });
      expect(t.decided(at)).toEqual(["wake bob assigned"]);
      expect(t.letters("wake", "bob").at(-1)).toMatchObject({
        trigger: "schedule",
        title: "Look around",
        body: "All of it.",
      });
      expect(
        t.decided(
          t.take({ type: "schedule.due", source: "schedule", actor: { id: "@office" }, schedule: due }),
        ),
      ).toEqual(["ignore bob"]);
    });
  });
});
