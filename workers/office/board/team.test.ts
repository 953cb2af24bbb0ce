import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
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

describe("the config", () => {
  it("TEAM-1: the first PUT makes the board, answers the config with its defaults, and every office has it", async () => {
    const board = new TestBoard();
    expect(codeOf(await board.calls.getTeam(board.owner))).toBe("not_found");
    const { team, version } = value(await board.put(TEAM));
    expect(version).toBe(1);
    expect(team.policies.usage.pause_at).toBe(0.9);
    expect(value(await board.calls.getTeam(board.owner))).toEqual({ team, version });
    const letters = await board.letters("team");
    expect(letters.map((l) => l.to).toSorted()).toEqual(["office/finch", "office/scout", "office/wren"]);
    expect(letters.find((l) => l.to === "office/scout")?.body).toEqual({
      workspace: board.workspace,
      handle: "scout",
      version: 1,
      team,
    });
    expect((await board.letters("people"))[0]?.body.people).toEqual([
      { handle: "scout", name: "Scout" },
      { handle: "finch", name: "Finch" },
      { handle: "wren", name: "Wren" },
    ]);
  });

  it("TEAM-1 AUTH-4: a board that was never made answers as an empty one, and asking makes nothing", async () => {
    const board = new TestBoard();
    expect(value(await board.calls.people(board.owner))).toEqual({ items: [] });
    expect(value(await board.calls.tickets(board.owner, { limit: 10 }))).toEqual({ items: [] });
    expect(codeOf(await board.calls.createTicket(board.owner, { title: "T" }))).toBe("not_found");
    expect(codeOf(await board.put("key: bp"))).toBe("invalid");
    expect(await board.calls.knows("scout")).toBe(false);
    expect(await board.calls.secretValues("github_token")).toEqual([]);
    expect(codeOf(await board.calls.ask({ id: "q", from: "a", to: "b", question: "?", chain: [] }))).toBe(
      "not_found",
    );
    await board.letter("room", "answered", { ask: "q", from: "a", answer: "x", by: "b" });
    expect(await board.sql("SELECT name FROM sqlite_master WHERE name = 'teams'")).toEqual([]);
  });

  it("TEAM-1: a change needs the version that stands, and a bad one changes nothing", async () => {
    const board = await aBoard();
    const changed = { ...TEAM, key: "NEW" };
    expect(codeOf(await board.put(changed))).toBe("conflict");
    expect(codeOf(await board.put(changed, "2"))).toBe("conflict");
    const bad = await board.put("key: NEW\npeople:\n  - {handle: X, name: X, role: dev}\n", "1");
    expect(bad).toMatchObject({
      ok: false,
      error: {
        code: "invalid",
        details: [
          { path: "people.0.handle", line: 3 },
          { path: "people.0.role", line: 3 },
        ],
      },
    });
    expect(value(await board.calls.getTeam(board.owner)).version).toBe(1);
    expect(await board.letters()).toEqual([]);
    expect(value(await board.put(changed, "1")).version).toBe(2);
    // Its answer was lost, and the same is sent again.
    expect(value(await board.put(changed, "1")).version).toBe(2);
    expect(await board.letters("team", "office/scout")).toHaveLength(1);
    const first = new TestBoard();
    expect(codeOf(await first.put(TEAM, "1"))).toBe("conflict");
  });

  it("TEAM-1: of two that rest on the same version one stands, also when the room was asked meanwhile", async () => {
    const board = await aBoard();
    let other: Promise<unknown> | undefined;
    board.beforeKnown = async () => {
      board.beforeKnown = undefined;
      other = board.put({ ...TEAM, key: "TWO" }, "1");
      await other;
    };
    expect(codeOf(await board.put({ ...TEAM, key: "ONE" }, "1"))).toBe("conflict");
    expect(value(await board.calls.getTeam(board.owner))).toMatchObject({ version: 2, team: { key: "TWO" } });
  });

  it("TEAM-1: a space or person that the workspace does not have is a fault with its line", async () => {
    const board = new TestBoard();
    const [space, user] = [newId("spc"), newId("usr")];
    board.unknown.add(space).add(user);
    const answer = await board.put(`notify: ${space}\nhumans:\n  - {name: Anna, user: ${user}}\n`);
    expect(answer).toMatchObject({
      ok: false,
      error: {
        code: "invalid",
        details: [
          { path: "notify", line: 1 },
          { path: "humans.0.user", line: 3 },
        ],
      },
    });
  });

  it("TEAM-1: only owners and admins put it; people and the team's agents read it", async () => {
    const board = await aBoard();
    const hook = {
      ...aPerson("owner"),
      scopes: ["hook" as const],
      hook: { source: "linear", types: ["ticket.created"] },
    };
    const harness = { ...aPerson(null), kind: "harness" as const, scopes: ["harness" as const] };
    for (const by of [aPerson("member"), aPerson("guest"), anAgent("scout"), hook, harness])
      expect(codeOf(await board.put({ ...TEAM, key: "ZZ" }, "1", by))).toBe("forbidden");
    for (const by of [aPerson("guest"), hook, harness])
      expect(codeOf(await board.calls.getTeam(by))).toBe("forbidden");
    for (const by of [aPerson("member"), anAgent("scout")])
      expect(value(await board.calls.getTeam(by)).version).toBe(1);
    expect(value(await board.put({ ...TEAM, key: "ZZ" }, "1", aPerson("admin"))).version).toBe(2);
  });

  it("TEAM-3: who is taken out is told, is known for ever, and comes back as they were", async () => {
    const board = await aBoard();
    await board.letter("office/wren", "status", { handle: "wren", status: "working", queued: 3, at: 5 });
    const without = { ...TEAM, people: TEAM.people.slice(0, 2) };
    value(await board.put(without, "1"));
    expect(await board.letters("removed")).toEqual([
      { to: "office/wren", kind: "removed", body: { by: "Anna" } },
    ]);
    expect((await board.letters("people")).at(-1)?.body.people).toHaveLength(2);
    expect(await board.calls.knows("wren")).toBe(true);
    expect(await board.calls.knows("nobody")).toBe(false);
    expect(value(await board.calls.people(board.owner)).items.map((p) => p.handle)).toEqual([
      "scout",
      "finch",
    ]);
    value(await board.put(TEAM, "2"));
    expect(await board.letters("team", "office/wren")).toHaveLength(1);
    expect(value(await board.calls.people(board.owner)).items.at(-1)).toMatchObject({
      handle: "wren",
      queued: 3,
    });
  });

  it("OFF-7: the config and its letters survive a kill between the commit and the sending", async () => {
    const board = await aBoard();
    board.unreachable = true;
    value(await board.put({ ...TEAM, key: "NEW" }, "1"));
    await abortAllDurableObjects();
    board.unreachable = false;
    await board.ring(Date.now() + 120_000);
    expect((await board.letters("team")).map((l) => l.body.version)).toEqual([2, 2, 2]);
    await evictDurableObject(board.stub);
    expect(value(await board.calls.getTeam(board.owner)).team.key).toBe("NEW");
  });
});

describe("people", () => {
  it("QUEUE-4 ITEM-3: how everybody is, as their offices last said", async () => {
    const board = await aBoard();
    expect(value(await board.calls.people(board.owner)).items[0]).toEqual({
      handle: "scout",
      name: "Scout",
      role: "dev",
      status: "offline",
      queued: 0,
      subscription: "max-1",
    });
    const status = { handle: "scout", status: "working", current: "Mend it", queued: 2, at: 10 } as const;
    await board.letter("office/scout", "status", status);
    await board.letter("office/scout", "status", { handle: "scout", status: "idle", queued: 0, at: 9 });
    expect(value(await board.calls.people(anAgent("wren"))).items[0]).toMatchObject({
      status: "working",
      current: "Mend it",
      queued: 2,
    });
    expect(codeOf(await board.calls.people(aPerson("guest")))).toBe("forbidden");
  });

  it("ITEM-3: the roster has roles, the busiest window of the hour, and the trusted humans", async () => {
    const board = await aBoard();
    const now = Date.now();
    const windows = [
      { name: "5h", utilization: 0.2 },
      { name: "week", utilization: 0.6, resetsAt: "2026-12-01T00:00:00Z" },
    ];
    await board.letter("office/wren", "windows", { handle: "wren", at: now, windows });
    const { members, humans } = value(await board.calls.roster("scout"));
    expect(members[0]).toEqual({
      handle: "scout",
      name: "Scout",
      role: "dev",
      title: "Developer",
      summary: "Writes code",
      status: "offline",
    });
    expect(members[2]).toMatchObject({
      title: "Tester",
      usage: { window: "week", utilization: 0.6, resetsAt: "2026-12-01T00:00:00Z" },
    });
    expect(humans).toEqual([{ name: "Anna" }, { name: "Otto" }]);
    await board.at(now + 3_600_001);
    expect(value(await board.calls.roster("scout")).members[2]?.usage).toBeUndefined();
  });
});

describe("items", () => {
  it("ITEM-4 OFF-9: the board knows whose an item is, also after it went to somebody else", async () => {
    const board = await aBoard();
    const [mine, theirs, none] = [newId("itm"), newId("itm"), newId("itm")];
    const say = (handle: string, changed: string[], at: number) =>
      board.letter(`office/${handle}`, "status", { handle, status: "idle", queued: 1, changed, at });
    await say("scout", [mine], 1);
    await say("finch", [theirs], 1);
    expect(await board.calls.itemsOfOthers("scout", [none, theirs, mine])).toEqual([theirs]);
    await say("scout", [theirs], 2);
    expect(await board.calls.itemsOfOthers("scout", [none, theirs, mine])).toEqual([]);
    expect(await board.calls.itemsOfOthers("finch", [theirs])).toEqual([theirs]);
    expect(await new TestBoard().calls.itemsOfOthers("finch", [theirs])).toEqual([]);
  });
});

describe("live changes", () => {
  it("QUEUE-4: who watches is told names of what changed; nobody watching, nothing is sent", async () => {
    const board = new TestBoard();
    board.watchers = 1;
    value(await board.put(TEAM));
    await board.letters();
    expect(board.live).toEqual([{ people: ["scout", "finch", "wren"], team: true }]);
    const { key } = value(await board.calls.createTicket(board.owner, { title: "T" }));
    await board.letters();
    expect(board.live.at(-1)).toMatchObject({ tickets: [key], events: [expect.stringMatching(/^evt_/)] });

    board.watchers = 0;
    await board.calls.patchTicket(board.owner, key, { title: "U" });
    await board.letters();
    const count = board.live.length;
    await board.calls.patchTicket(board.owner, key, { title: "V" });
    await board.letters();
    expect(board.live).toHaveLength(count);
    board.watchers = 2;
    await board.calls.watched();
    await board.calls.patchTicket(board.owner, key, { title: "W" });
    await board.letters();
    expect(board.live).toHaveLength(count + 1);
    // What was refused changed nothing.
    await board.calls.patchTicket(board.owner, key, { parent: key });
    await board.letters();
    expect(board.live).toHaveLength(count + 1);
  });
});
