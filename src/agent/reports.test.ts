import { describe, expect, it } from "vitest";
import { setUp } from "../../test/sdk/agent-kit.ts";
import { ANNA, ROOT, SPACE } from "../../test/sdk/fake-office.ts";
import { settle } from "../../test/sdk/fakes.ts";
import type { AgentReport } from "./rooms.ts";

const thread = {
  channel: SPACE,
  thread: ROOT,
  requester: { id: ANNA, name: "Anna" },
  direct: false,
  participant: true,
};
const report = (id: string, more: object = {}) => ({
  id,
  workItemId: "itm_9",
  kind: "result",
  text: "It is done.",
  links: [],
  threads: [thread],
  ...more,
});
const refusal = (code: string, status: number, retryable: boolean) =>
  Response.json({ type: "error", code, message: "No.", retryable }, { status });

describe("REPORT-1: the report of an ending", () => {
  it("REPORT-3: stands in the thread, with the links that are not in its words", async () => {
    const { office, room, connect } = setUp({
      onItem: () => ({
        summary: "Opened https://x.example/1.",
        links: [
          { url: "https://x.example/1", title: "One" },
          { url: "https://x.example/2", title: "Two\nlines" },
        ],
      }),
    });
    office.onFrame = (frame) =>
      frame.type === "chat_report"
        ? {
            type: "chat_report_result",
            payload: {
              post: true,
              links: [{ url: "https://x.example/1" }, { url: "https://x.example/2", title: "Two\nlines" }],
              threads: [thread],
            },
          }
        : undefined;
    await connect().ready;
    office.queue("itm_1");
    await settle();
    expect(office.socket.of("chat_report")).toMatchObject([
      { payload: { workItemId: "itm_1", kind: "result" } },
    ]);
    expect(room.said).toMatchObject([
      {
        space_id: SPACE,
        reply_to: ROOT,
        text: "Opened https://x.example/1.\n\n- Two lines: https://x.example/2",
      },
    ]);
  });

  it.each([
    ["blocked", { summary: "no key", status: "blocked" as const }, ["blocked"]],
    ["waiting", { summary: "asked", status: "waiting" as const }, ["result"]],
    ["silent", { summary: "", status: "silent" as const }, []],
  ])("is asked for by how it ended: %s", async (_, result, kinds) => {
    const { office, connect } = setUp({ onItem: () => result });
    await connect().ready;
    office.queue("itm_1");
    await settle();
    expect(office.socket.of("chat_report").map(({ payload }) => payload["kind"])).toEqual(kinds);
  });

  it("OFFER-6: of a hand-back that was taken as blocked says so", async () => {
    const { office, room, connect } = setUp();
    office.onFrame = ({ type, payload }) => {
      if (type !== "chat_report") return undefined;
      const post = payload["kind"] === "blocked";
      const answer = post ? { post, links: [], threads: [thread] } : { post, links: [] };
      return { type: "chat_report_result", payload: answer };
    };
    await connect().ready;
    office.queue("itm_1");
    await settle();
    expect(office.socket.of("chat_report").map(({ payload }) => payload["kind"])).toEqual([
      "result",
      "blocked",
    ]);
    expect(room.said).toMatchObject([{ text: expect.stringContaining("nothing to review") }]);
  });

  it("a failure is told with its reason", async () => {
    const { office, room, connect } = setUp({ onItem: () => Promise.reject(new Error("no access")) });
    await connect().ready;
    office.queue("itm_1");
    await settle();
    expect(office.socket.of("chat_report")).toMatchObject([{ payload: { kind: "failed" } }]);
    expect(room.said).toMatchObject([{ text: "no access" }]);
  });

  it("REPORT-2: no frame leaves between asking and the note, not even a heartbeat or a pong", async () => {
    const { office, store, connect, clock } = setUp();
    office.heartbeatMs = 10_000;
    office.onFrame = (frame) => (frame.type === "chat_report" ? "lost" : undefined);
    const agent = connect();
    await agent.ready;
    office.queue("itm_1");
    await settle();
    office.push("ping", {}, "p1");
    void agent.workList();
    await clock.advance(8000);
    expect(office.socket.sent.at(-1)?.type).toBe("chat_report");
    const payload = { post: true, links: [], threads: [thread] };
    const [asked] = office.socket.of("chat_report");
    const data = JSON.stringify({ id: "grant1", replyTo: asked?.id, type: "chat_report_result", payload });
    const noted: boolean[] = [];
    office.onFrame = () => void noted.push((store.text ?? "").includes("grant1"));
    office.socket.emit("message", { data });
    await settle();
    expect(noted).toEqual([true, true]);
    expect(office.socket.sent.slice(-2).map(({ type }) => type)).toEqual(["work_list", "pong"]);
  });

  it("REPORT-2: an office that does not answer is given up, and sends the report by itself", async () => {
    const { office, room, connect, clock } = setUp();
    office.heartbeatMs = 3_600_000;
    office.onFrame = (frame) => (frame.type === "chat_report" ? "lost" : undefined);
    await connect().ready;
    office.queue("itm_1");
    await settle();
    office.onFrame = () => undefined;
    for (let n = 0; n < 5; n++) await clock.advance(10_000);
    expect(office.sockets).toHaveLength(2);
    expect(room.said).toMatchObject([{ text: "did itm_1" }]);
    expect(office.confirmed).toHaveLength(1);
  });

  it("may be told at the beginning, too", async () => {
    const { office, connect, room } = setUp({
      async onItem(item) {
        await item.acknowledge("On it.");
        return "done";
      },
    });
    office.onFrame = (frame) =>
      frame.payload["kind"] === "ack"
        ? { type: "chat_report_result", payload: { post: true, links: [], threads: [thread] } }
        : undefined;
    await connect().ready;
    office.queue("itm_1");
    await settle();
    expect(room.said.map(({ text }) => text)).toEqual(["On it.", "done"]);
  });
});

describe("REPORT-2: reports that the office has queued", () => {
  it("are posted and confirmed; one that comes again is only confirmed", async () => {
    const { office, room, connect, clock } = setUp();
    office.reports.set("rpt_1", report("rpt_1"));
    await connect().ready;
    await settle();
    expect(room.said).toMatchObject([{ text: "It is done.", reply_to: ROOT }]);
    expect(office.confirmed).toEqual(["rpt_1"]);
    office.push("reports", { reports: [report("rpt_1"), report("rpt_2", { text: "Another." })] });
    await clock.advance(100);
    expect(room.said.map(({ text }) => text)).toEqual(["It is done.", "Another."]);
    expect(office.confirmed).toEqual(["rpt_1", "rpt_1", "rpt_2"]);
  });

  it("are tried again while the room is out of reach, and not confirmed before", async () => {
    const { office, room, connect, clock } = setUp();
    let tries = 0;
    room.onPost = () => (++tries < 3 ? refusal("unavailable", 503, true) : undefined);
    office.reports.set("rpt_1", report("rpt_1"));
    await connect().ready;
    await settle();
    expect(office.confirmed).toEqual([]);
    await clock.advance(10_000);
    expect(room.said).toHaveLength(1);
    expect(office.confirmed).toEqual(["rpt_1"]);
  });

  it("are not confirmed where the room refuses them for good, which is told", async () => {
    const { office, room, connect, errors, clock } = setUp();
    room.onPost = () => refusal("forbidden", 403, false);
    office.reports.set("rpt_1", report("rpt_1"));
    await connect().ready;
    await clock.advance(1000);
    expect(errors).toMatchObject([{ code: "forbidden" }]);
    expect(office.confirmed).toEqual([]);
  });

  it("say whom they are for where the thread does not tell them; an agent hears only its name", async () => {
    const { office, room, connect } = setUp();
    const away = { ...thread, participant: false };
    office.reports.set("rpt_1", report("rpt_1", { threads: [away], requester: ANNA }));
    await connect().ready;
    await settle();
    expect(room.said).toMatchObject([{ text: "@Anna It is done." }]);
  });

  it("without a thread go to the requester directly", async () => {
    const { office, room, connect } = setUp();
    const asked: unknown[] = [];
    room.onPost = (event) => void asked.push([event["type"], event["direct"]]);
    office.reports.set("rpt_1", report("rpt_1", { threads: undefined, direct: ANNA, kind: "blocked" }));
    await connect().ready;
    await settle();
    expect(asked).toEqual([
      ["space.create", [ANNA]],
      ["message.post", undefined],
    ]);
    expect(room.said).toMatchObject([{ text: "It is done." }]);
    expect(office.confirmed).toEqual(["rpt_1"]);
  });

  it("of another chat are for onReport; without it that is told, and the office keeps them", async () => {
    const elsewhere = report("rpt_1", { threads: [{ ...thread, channel: "C024BE91L" }] });
    const bare = setUp();
    bare.office.reports.set("rpt_1", elsewhere);
    await bare.connect().ready;
    await bare.clock.advance(1000);
    expect(bare.errors).toMatchObject([{ message: expect.stringContaining("onReport") }]);
    expect(bare.office.confirmed).toEqual([]);

    const seen: AgentReport[] = [];
    const own = setUp({
      async onReport(one, post) {
        seen.push(one);
        await post();
      },
    });
    own.office.reports.set("rpt_1", elsewhere);
    own.office.reports.set("rpt_2", report("rpt_2"));
    await own.connect().ready;
    await settle();
    expect(seen.map(({ id }) => id)).toEqual(["rpt_1", "rpt_2"]);
    expect(own.room.said).toHaveLength(1);
    expect(own.office.confirmed).toEqual(["rpt_1", "rpt_2"]);
    own.office.push("reports", { reports: [elsewhere] });
    await settle();
    expect(seen).toHaveLength(2);
    expect(own.office.confirmed).toEqual(["rpt_1", "rpt_2", "rpt_1"]);
  });
});

const move = (key: string) => ({ op: "move", key, ticket: "BP-1", to: "active" });

describe("ACT-1: acts", () => {
  it("are made one change after the other, one act at a time, and answered with a line for each", async () => {
    const log: string[] = [];
    const { office, connect } = setUp({
      async onAct({ op }, { key }) {
        log.push(`begin ${key}`);
        await settle();
        log.push(`end ${key}`);
        return `${op} ${key}`;
      },
    });
    office.acts.set("act_1", { id: "act_1", ops: [move("act_1/1"), move("act_1/2")] });
    await connect().ready;
    office.act("act_2", [move("act_2/1")]);
    for (let n = 0; n < 5; n++) await settle();
    expect(log).toEqual(["act_1/1", "act_1/2", "act_2/1"].flatMap((key) => [`begin ${key}`, `end ${key}`]));
    expect(office.actResults).toEqual([
      { id: "act_1", ok: true, results: ["move act_1/1", "move act_1/2"] },
      { id: "act_2", ok: true, results: ["move act_2/1"] },
    ]);
  });

  it("a change that fails ends the act, and says which and why", async () => {
    const { office, connect } = setUp({
      onAct(_, { key }) {
        if (key === "act_1/2") throw new Error("the tracker is away");
      },
    });
    office.acts.set("act_1", { id: "act_1", ops: [1, 2, 3].map((n) => move(`act_1/${n}`)) });
    await connect().ready;
    for (let n = 0; n < 3; n++) await settle();
    expect(office.actResults).toEqual([
      {
        id: "act_1",
        ok: false,
        results: ["move: made"],
        error: "Change 2 failed: the tracker is away",
      },
    ]);
  });

  it.each([
    ["no change of the protocol", { op: "delete_everything", key: "act_1/1" }, "no change that this agent"],
    ["nothing", null, "no change that this agent"],
  ])("what is %s is not tried", async (_, op, said) => {
    const tried: unknown[] = [];
    const { office, connect } = setUp({ onAct: (one) => void tried.push(one) });
    office.acts.set("act_1", { id: "act_1", ops: [op] });
    await connect().ready;
    await settle();
    expect(tried).toEqual([]);
    expect(office.actResults).toMatchObject([{ ok: false, error: expect.stringContaining(said) }]);
  });

  it("without onAct each is answered as failed, so that a human is told", async () => {
    const { office, connect } = setUp();
    office.acts.set("act_1", { id: "act_1", ops: [move("act_1/1")] });
    await connect().ready;
    await settle();
    expect(office.actResults).toMatchObject([{ ok: false, error: expect.stringContaining("onAct") }]);
  });

  it("one that was answered and comes again is answered the same, and not made again", async () => {
    let made = 0;
    const { office, connect } = setUp({ onAct: () => `made ${++made}` });
    await connect().ready;
    office.act("act_1", [move("act_1/1")]);
    await settle();
    await settle();
    office.act("act_1", [move("act_1/1")]);
    await settle();
    await settle();
    expect(made).toBe(1);
    expect(office.actResults).toEqual([
      { id: "act_1", ok: true, results: ["made 1"] },
      { id: "act_1", ok: true, results: ["made 1"] },
    ]);
  });
});
