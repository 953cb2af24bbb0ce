import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { NO_END } from "../../../src/shared/rules/usage-windows.ts";
import {
  aBoard,
  anAgent,
  aPerson,
  codeOf,
  fakeNeighbours,
  TEAM,
  TestBoard,
  value,
} from "../../testing/board.ts";
import { newId } from "../../testing/client.ts";

beforeAll(fakeNeighbours);

const asking = (more: object = {}) => ({
  id: newId("qst"),
  from: "scout",
  to: "finch",
  question: "Which port?",
  item: newId("itm"),
  chain: ["scout"],
  ...more,
});

describe("questions", () => {
  it("ITEM-2: a teammate gets a question as an event, by handle, by name, or by role", async () => {
    const board = await aBoard();
    const asked = asking();
    expect(value(await board.calls.ask(asked))).toEqual({ to: "finch", kind: "person" });
    const [event] = await board.sql("SELECT type, event FROM events WHERE source_id = ?", asked.id);
    expect(JSON.parse(event.event)).toMatchObject({
      type: "question.asked",
      actor: { id: "scout" },
      source: "office",
      question: { id: asked.id, to: "finch", text: "Which port?", item: asked.item, chain: ["scout"] },
    });
    expect((await board.letters("wake", "office/finch")).map((l) => l.body)).toMatchObject([
      {
        kind: "question",
        trigger: "agent",
        question: {
          id: asked.id,
          from: "scout",
          parentId: asked.item,
          text: "Which port?",
          chain: ["scout"],
        },
      },
    ]);
    expect(value(await board.calls.ask(asking({ to: "@WREN" }))).to).toBe("wren");
    expect(value(await board.calls.ask(asking({ to: "qa" }))).to).toBe("wren");
    expect(value(await board.calls.ask(asking({ to: "Tester" }))).to).toBe("wren");
    expect(value(await board.calls.ask(asking({ to: "dev" }))).to).toBe("finch");
    expect(codeOf(await board.calls.ask(asking({ to: "nobody" })))).toBe("not_found");
    expect(codeOf(await board.calls.ask(asking({ to: "" })))).toBe("not_found");
  });

  it("ITEM-2: of a role the idle one is asked first, then the one with the shortest queue", async () => {
    const board = await aBoard({
      people: ["a1", "b1", "c1", "d1"].map((handle) => ({ handle, name: handle, role: "dev" })),
    });
    const say = (handle: string, status: "idle" | "working", queued: number, at: number) =>
      board.letter(`office/${handle}`, "status", { handle, status, queued, at });
    await say("a1", "working", 0, 1);
    await say("b1", "working", 4, 1);
    await say("c1", "idle", 2, 1);
    await say("d1", "working", 1, 1);
    const ask = async () => value(await board.calls.ask(asking({ from: "a1", to: "dev", chain: ["a1"] }))).to;
    expect(await ask()).toBe("c1");
    await say("c1", "working", 2, 2);
    expect(await ask()).toBe("d1");
  });

  it("ITEM-2: oneself, or anybody who waits for the work already, is not asked", async () => {
    const board = await aBoard();
    expect(codeOf(await board.calls.ask(asking({ to: "scout" })))).toBe("invalid");
    const ring = asking({ from: "finch", to: "scout", chain: ["scout", "finch"] });
    expect(codeOf(await board.calls.ask(ring))).toBe("invalid");
    expect(codeOf(await board.calls.ask({ ...ring, id: newId("qst"), to: "dev" }))).toBe("invalid");
    expect(await board.sql("SELECT 1 FROM asks")).toEqual([]);
  });

  it("ITEM-2: a human is asked in their room; one who is in none cannot be", async () => {
    const board = await aBoard();
    const asked = asking({ to: "anna" });
    expect(value(await board.calls.ask(asked))).toEqual({ to: "Anna", kind: "human" });
    expect(await board.letters("ask", "room")).toEqual([
      {
        to: "room",
        kind: "ask",
        body: { ask: asked.id, handle: "scout", user: TEAM.humans[0]?.user, text: "Which port?" },
      },
    ]);
    expect(codeOf(await board.calls.ask(asking({ to: "Otto" })))).toBe("invalid");
  });

  it("ITEM-2: the same id is the same question, also after a restart, and the first answer counts", async () => {
    const board = await aBoard();
    const asked = asking({ to: "Anna" });
    await board.calls.ask(asked);
    await evictDurableObject(board.stub);
    expect(value(await board.calls.ask({ ...asked, to: "finch" }))).toEqual({ to: "Anna", kind: "human" });
    expect(await board.letters("ask")).toHaveLength(1);
    const answer = { ask: asked.id, from: "scout", answer: "8787", by: "Anna" };
    await board.letter("room", "answered", answer);
    await board.letter("room", "answered", { ...answer, answer: "80" });
    expect(await board.letters("answer")).toEqual([
      { to: "office/scout", kind: "answer", body: { ask: asked.id, answer: "8787", by: "Anna" } },
    ]);
  });

  it("ITEM-2: an asker who wants no answer any more, and one who gives none, are told to the other", async () => {
    const board = await aBoard();
    const [teammate, human, refused] = [asking(), asking({ to: "Anna" }), asking({ to: "wren" })];
    for (const one of [teammate, human, refused]) await board.calls.ask(one);
    await board.letter("office/scout", "question_canceled", { ask: teammate.id, to: "finch" });
    await board.letter("office/scout", "question_canceled", { ask: human.id, to: "Anna" });
    await board.letter("office/wren", "question_canceled", {
      ask: refused.id,
      to: "wren",
      why: "Otto ended it",
    });
    const told = (await board.letters()).filter((l) => l.kind !== "ask" && l.kind !== "wake");
    expect(told.toSorted((a, b) => a.kind.localeCompare(b.kind))).toEqual([
      {
        to: "office/scout",
        kind: "answer",
        body: { ask: refused.id, answer: "Otto ended it", by: "wren", canceled: true },
      },
      { to: "room", kind: "ask_canceled", body: { ask: human.id } },
      { to: "office/finch", kind: "question_withdrawn", body: { ask: teammate.id, by: "scout" } },
    ]);
    // Ended is ended.
    await board.letter("office/finch", "answered", {
      ask: teammate.id,
      from: "scout",
      answer: "x",
      by: "finch",
    });
    expect(await board.letters("answer")).toHaveLength(1);
  });
});

describe("usage windows and subscriptions", () => {
  const NOW = Date.parse("2030-11-30T12:00:00Z");
  const full = (more: object = {}) => ({
    handle: "scout",
    at: NOW,
    windows: [{ name: "5h", utilization: 0.95, resetsAt: "2030-11-30T14:00:00Z" }],
    ...more,
  });

  it("USE-3: a full window holds everybody who shares the subscription until its reset plus 30 s", async () => {
    const board = await aBoard();
    await board.at(NOW);
    await board.letter("office/scout", "windows", full());
    const until = Date.parse("2030-11-30T14:00:30Z");
    const holds = await board.letters("hold");
    expect(holds.map((l) => `${l.to} ${l.body.until}`).toSorted()).toEqual([
      `office/finch ${until}`,
      `office/scout ${until}`,
    ]);
    expect(holds[0]?.body.why).toMatch(/95 %.*5h.*90 %/);
    // The same again is no news, and the newest report of any of them lets all go.
    await board.letter("office/scout", "windows", full());
    expect(await board.letters("hold")).toHaveLength(2);
    await board.letter("office/finch", "windows", full({ handle: "finch", at: NOW + 1, windows: [] }));
    await board.at(NOW + 1);
    await board.letter("office/finch", "windows", full({ handle: "finch", at: NOW + 1, windows: [] }));
    expect((await board.letters("hold")).slice(2).map((l) => l.body)).toEqual([{}, {}]);
  });

  it("USE-3: another threshold in the config holds, or lets go, at once", async () => {
    const board = await aBoard({ policies: { usage: { pause_at: 0.99 } } });
    await board.at(NOW);
    await board.letter("office/scout", "windows", full());
    expect(await board.letters("hold")).toEqual([]);
    value(await board.put(TEAM, "1"));
    expect(await board.letters("hold")).toHaveLength(2);
    value(await board.put({ ...TEAM, policies: { usage: { pause_at: 1 } } }, "2"));
    expect((await board.letters("hold")).slice(2).map((l) => l.body)).toEqual([{}, {}]);
  });

  it("QUEUE-4: a subscription is paused and resumed by people, with a reason and an end", async () => {
    const board = await aBoard();
    await board.at(NOW);
    const member = aPerson("member", "Mia");
    for (const by of [aPerson("guest"), anAgent("scout")])
      expect(codeOf(await board.calls.pauseSubscription(by, "max-1", {}))).toBe("forbidden");
    expect(codeOf(await board.calls.pauseSubscription(member, "other", {}))).toBe("not_found");
    const past = { until: "2030-11-30T11:00:00Z" };
    expect(codeOf(await board.calls.pauseSubscription(member, "max-1", past))).toBe("invalid");
    const until = "2030-12-01T00:00:00.000Z";
    expect(value(await board.calls.pauseSubscription(member, "max-1", { until, reason: "Bill" }))).toEqual({
      subscription: "max-1",
      paused: true,
      until,
      people: ["scout", "finch"],
    });
    const [hold] = await board.letters("hold");
    expect(hold?.body).toEqual({ until: Date.parse(until), why: "Mia paused the subscription max-1: Bill" });
    // A window that is full for less long says nothing new; it is what holds once the pause is over.
    await board.letter("office/scout", "windows", full());
    expect(await board.letters("hold")).toHaveLength(2);
    expect(value(await board.calls.resumeSubscription(member, "max-1")).paused).toBe(false);
    const last = (await board.letters("hold")).at(-1);
    expect(last?.body.until).toBe(Date.parse("2030-11-30T14:00:30Z"));
  });

  it("QUEUE-4: a pause without an end holds until it is resumed, also over a restart", async () => {
    const board = await aBoard();
    value(await board.calls.pauseSubscription(board.owner, "max-1", {}));
    await evictDurableObject(board.stub);
    await board.at(NOW + 400 * 86_400_000);
    await board.letter("office/wren", "status", { handle: "wren", status: "idle", queued: 0, at: 1 });
    expect((await board.letters("hold")).at(-1)?.body.until).toBe(NO_END);
    value(await board.calls.resumeSubscription(board.owner, "max-1"));
    expect((await board.letters("hold")).at(-1)?.body).toEqual({});
  });
});

const due = (board: TestBoard) =>
  board.sql("SELECT source_id AS id FROM events WHERE type = 'schedule.due' ORDER BY n");

describe("schedules", () => {
  const SCHEDULES = {
    schedules: [
      {
        id: "daily",
        person: "scout",
        cron: "0 9 * * *",
        zone: "Europe/Vienna",
        title: "Look",
        body: "Around.",
      },
    ],
  };
  async function scheduled(): Promise<TestBoard> {
    const board = new TestBoard();
    await board.at("2030-06-01T00:00:00Z");
    value(await board.put({ ...TEAM, ...SCHEDULES }));
    return board;
  }

  it("OFFER-9: a schedule is due by its zone's clock, as an event for its person", async () => {
    const board = await scheduled();
    await board.ring("2030-06-01T06:59:59Z");
    expect(await due(board)).toEqual([]);
    await board.ring("2030-06-01T07:00:00Z");
    const [row] = await board.sql("SELECT event, trusted FROM events WHERE type = 'schedule.due'");
    expect(row.trusted).toBe(1);
    expect(JSON.parse(row.event)).toMatchObject({
      id: "daily/2030-06-01T07:00:00.000Z",
      source: "schedule",
      schedule: { id: "daily", person: "scout", title: "Look", body: "Around." },
    });
    expect((await board.letters("wake")).map(({ to, body }) => ({ to, ...body }))).toMatchObject([
      { to: "office/scout", kind: "assigned", trigger: "schedule", title: "Look", body: "Around." },
    ]);
  });

  it("OFFER-9: what was missed runs once, and then goes on from now", async () => {
    const board = await scheduled();
    await abortAllDurableObjects();
    await board.ring("2030-06-05T12:00:00Z");
    expect(await due(board)).toEqual([{ id: "daily/2030-06-01T07:00:00.000Z" }]);
    await board.ring("2030-06-05T12:00:00Z");
    await board.ring("2030-06-06T07:00:00Z");
    expect(await due(board)).toHaveLength(2);
    expect((await due(board))[1]?.id).toBe("daily/2030-06-06T07:00:00.000Z");
  });

  it("OFFER-9: another config keeps the times that stay, and drops those that went", async () => {
    const board = await scheduled();
    await board.at("2030-06-02T12:00:00Z");
    value(await board.put({ ...TEAM, ...SCHEDULES, key: "NEW" }, "1"));
    await board.ring("2030-06-02T12:00:00Z");
    expect(await due(board)).toHaveLength(1);
    value(await board.put(TEAM, "2"));
    await board.ring("2030-06-09T12:00:00Z");
    expect(await due(board)).toHaveLength(1);
  });
});

describe("secrets", () => {
  it("SECRET-1: an owner puts them, two versions live, and they stand nowhere in the clear", async () => {
    const board = await aBoard({ secrets: { linear: "office", runtime: "agent" } });
    const put = (name: string, text: string, by = board.owner) => board.calls.putSecret(by, name, text);
    for (const by of [aPerson("admin"), aPerson("member"), anAgent("scout")])
      expect(codeOf(await put("github_token", "x", by))).toBe("forbidden");
    expect(codeOf(await put("other", "x"))).toBe("invalid");
    expect(codeOf(await put("runtime", "x"))).toBe("invalid");
    value(await put("linear", "lin-1"));
    value(await put("github_token", "ghp_first"));
    value(await put("github_token", "ghp_second-é"));
    // Sent again, it pushes nothing out.
    value(await put("github_token", "ghp_second-é"));
    expect(await board.calls.secretValues("github_token")).toEqual(["ghp_second-é", "ghp_first"]);
    value(await put("github_token", "ghp_third"));
    expect(await board.calls.secretValues("github_token")).toEqual(["ghp_third", "ghp_second-é"]);
    expect((await board.calls.everySecret()).toSorted()).toEqual(["ghp_second-é", "ghp_third", "lin-1"]);
    expect(JSON.stringify(await board.sql("SELECT * FROM secrets"))).not.toMatch(/ghp_|lin-1/);
    expect(JSON.stringify(value(await board.calls.getTeam(board.owner)))).not.toMatch(/ghp_|lin-1/);
    await evictDurableObject(board.stub);
    expect(await board.calls.secretValues("linear")).toEqual(["lin-1"]);
  });

  it("SECRET-1: one may be put before there is a team", async () => {
    const board = new TestBoard();
    expect(codeOf(await board.calls.putSecret(aPerson("admin"), "github_token", "x"))).toBe("forbidden");
    expect(await board.sql("SELECT name FROM sqlite_master WHERE name = 'teams'")).toEqual([]);
    value(await board.calls.putSecret(board.owner, "github_webhook_secret", "s"));
    expect(codeOf(await board.calls.getTeam(board.owner))).toBe("not_found");
    value(await board.put(TEAM));
    expect(await board.calls.secretValues("github_webhook_secret")).toEqual(["s"]);
    expect((await board.letters("team")).every((l) => l.body.workspace === board.workspace)).toBe(true);
  });

  it("SECRET-1: what is sealed opens only as what it was, where it was", async () => {
    const board = await aBoard();
    value(await board.calls.putSecret(board.owner, "github_token", "one"));
    value(await board.calls.putSecret(board.owner, "github_webhook_secret", "two"));
    await board.sql(
      "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'github_token') WHERE name = 'github_webhook_secret'",
    );
    expect(await board.calls.secretValues("github_webhook_secret")).toEqual([]);
    for (const sealed of ["", "...", "00.11.22", `${"00".repeat(12)}.${"00".repeat(16)}.`]) {
      await board.sql("UPDATE secrets SET sealed = ? WHERE name = 'github_token'", sealed);
      expect(await board.calls.secretValues("github_token")).toEqual([]);
    }
  });
});
