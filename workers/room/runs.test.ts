/** Turns: starting, steps, cost, end, what was heard, and what a room says of who is at work (TURN, ENV-7, SPEND-4, NOTE). */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Any,
  call,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  refused,
  say,
  send,
} from "../testing/client.ts";
import { as, codeOf, declare, eventsOf, live, pulled, read, settled, sql } from "../testing/room.ts";

/** Ada and Bob; Scouts with Scout and Quill, Ledgers with Ledger: all in one space of Ada's. */
async function aRoom() {
  const { id, owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const [scouts, ledgers] = [await newHarness(owner, "Scouts"), await newHarness(owner, "Ledgers")];
  const [scout = "", quill = ""] = await declare(scouts, "Scout", "Quill");
  const [ledger = ""] = await declare(ledgers, "Ledger");
  const space = await newSpace(owner, "Room", [bob.id, scout, quill, ledger]);
  return { id, owner, bob, scouts, ledgers, scout, quill, ledger, space };
}

let room: Awaited<ReturnType<typeof aRoom>>;
beforeEach(async () => {
  room = await aRoom();
});
afterEach(() => void vi.useRealTimers());

function later(minutes: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
}

async function ask(text = "@Scout please"): Promise<string> {
  return (await say(room.bob, room.space, text)).message_id;
}
function startOf(agent_id: string, message_ids: string[] = [], run_id = newId("run")) {
  return { run_id, space_id: room.space, agent_id, message_ids };
}
async function started(agent: string, message_ids: string[] = []): Promise<string> {
  const run = startOf(agent, message_ids);
  await send(agent === room.ledger ? room.ledgers : room.scouts, "run.start", run);
  return run.run_id;
}
async function runs(): Promise<Any[]> {
  return (await read(room.bob, `/v1/spaces/${room.space}/runs`)).items;
}

/** The turn that Ledger is handed. */
async function turn(text = "@Ledger and you?"): Promise<Any> {
  await ask(text);
  return (await pulled(room.ledgers)).findLast((f) => f.type === "message.new");
}

describe("TURN-1: a run from start to end", () => {
  test("TURN-1: people see it start, step, report and end, each said by the agent", async () => {
    const { bob, scouts, scout, space } = room;
    const page = await live(bob);
    const asked = await ask();
    const run_id = await started(scout, [asked]);
    const step = await send(scouts, "run.step", { run_id, text: "reading", step_id: "s1" });
    await send(scouts, "run.usage", { run_id, cost_usd: 0.1, input_tokens: 1200, output_tokens: 30 });
    expect(await runs()).toMatchObject([
      { run_id, agent_id: scout, message_ids: [asked], state: "working", step: "reading" },
    ]);
    await say(scouts, space, "done", { run_id });
    const ended = await send(scouts, "run.end", { run_id, outcome: "done", cost_usd: 0.3 });
    expect(ended.run).toEqual({ state: "ended" });
    const facts = eventsOf(await settled(page)).slice(1);
    expect(facts.map((f) => [f.type, f.actor])).toEqual(
      ["run.started", "run.stepped", "run.used", "message.posted", "run.ended"].map((type) => [
        type,
        { kind: "agent", id: scout, harness_id: scouts.id },
      ]),
    );
    for (const fact of facts) expect(fact).toMatchObject({ run_id, space_id: space });
    expect(facts[0]).toMatchObject({ agent_id: scout, message_ids: [asked] });
    expect(facts[1]).toMatchObject({ seq: step.seq, text: "reading", step_id: "s1" });
    expect(facts[2]).toMatchObject({ cost_usd: 0.1, input_tokens: 1200, output_tokens: 30 });
    expect(facts[3].from.participant_id).toBe(scout);
    expect(facts[4]).toMatchObject({ outcome: "done", cost_usd: 0.3, agent_id: scout });
    expect(await runs()).toMatchObject([
      { state: "ended", outcome: "done", cost_usd: 0.3, ended_at: expect.any(String) },
    ]);
    // No other harness is told of it.
    expect((await pulled(room.ledgers)).map((f) => f.type).filter((t) => t.startsWith("run."))).toEqual([]);
  });

  test("TURN-1: starting the same run again is the same run; the same id for another is conflict", async () => {
    const { scouts, ledgers, scout, quill, ledger } = room;
    const run = startOf(scout, [await ask()]);
    const first = await send(scouts, "run.start", run);
    expect(first.run).toEqual({ state: "working" });
    const again = await send(scouts, "run.start", run);
    expect(again.run).toEqual({ state: "working" });
    expect(await runs()).toHaveLength(1);
    expect(await codeOf(scouts, "run.start", { ...run, agent_id: quill })).toBe("conflict");
    expect(await codeOf(ledgers, "run.start", { ...run, agent_id: ledger })).toBe("conflict");
    await send(scouts, "run.end", { run_id: run.run_id, outcome: "done" });
    expect((await send(scouts, "run.start", run)).run).toEqual({ state: "ended" });
  });

  test("TURN-1: a message has one run an agent, unless the first ended failed or stopped", async () => {
    const { scouts, scout, quill } = room;
    const asked = await ask("@Scout @Quill please");
    for (const [outcome, next] of [
      ["failed", "taken"],
      ["stopped", "taken"],
      ["no_reply", "conflict"],
      ["done", "conflict"],
    ] as const) {
      const message = await ask();
      const run_id = await started(scout, [message]);
      expect(await codeOf(scouts, "run.start", startOf(scout, [message]))).toBe("conflict");
      await send(scouts, "run.end", { run_id, outcome });
      const second = send(scouts, "run.start", startOf(scout, [message])).then(
        () => "taken",
        (error: Error) => error.message.split(":")[0],
      );
      expect([outcome, await second]).toEqual([outcome, next]);
    }
    await started(scout, [asked]);
    await started(quill, [asked]);
  });

  test("TURN-1 ENV-5: a harness runs only itself and its own agents, where they are, with messages from there", async () => {
    const { owner, bob, scouts, scout, ledger } = room;
    expect(await codeOf(scouts, "run.start", startOf(ledger))).toBe("forbidden");
    expect(await codeOf(bob, "run.start", startOf(scout))).toBe("forbidden");
    const elsewhere = await newSpace(owner, "Elsewhere");
    const there = { ...startOf(scout), space_id: elsewhere };
    expect(await codeOf(scouts, "run.start", there)).toBe("not_found");
    const foreign = (await say(owner, elsewhere, "x")).message_id;
    const answers = [];
    for (const id of [foreign, newId("msg")]) {
      const { of: _, ...answer } = await refused(scouts, "run.start", startOf(scout, [id]));
      answers.push(answer);
    }
    expect(answers[0].code).toBe("invalid");
    expect(answers[1]).toEqual(answers[0]);
    // In the space through an agent, not as itself.
    expect(await codeOf(scouts, "run.start", { ...startOf(scout), agent_id: scouts.id })).toBe("forbidden");
  });

  test("TURN-2: a post belongs to the run it names, in the run's space, while it is open", async () => {
    const { owner, scouts, ledgers, scout, ledger, space } = room;
    const run_id = await started(scout);
    const other = await newSpace(owner, "Other", [scout]);
    expect(await codeOf(scouts, "message.post", { space_id: other, text: "x", run_id, ...as(scout) })).toBe(
      "invalid",
    );
    expect(await codeOf(ledgers, "message.post", { space_id: space, text: "x", run_id, ...as(ledger) })).toBe(
      "unknown_run",
    );
    await say(scouts, space, "x", { run_id });
    expect((await pulled(owner)).at(-1)).toMatchObject({
      type: "message.posted",
      run_id,
      from: { participant_id: scout },
    });
    await send(scouts, "run.end", { run_id, outcome: "done" });
    expect(await codeOf(scouts, "message.post", { space_id: space, text: "x", run_id })).toBe("unknown_run");
  });

  test("TURN-3: what a run heard is shown; a run hears only of its own space", async () => {
    const { owner, bob, scouts, scout, space } = room;
    const run_id = await started(scout);
    const overheard = await ask("nobody in particular");
    const page = await live(bob);
    const receipt = await send(scouts, "message.heard", { run_id, message_ids: [overheard] });
    expect(eventsOf(await settled(page))).toMatchObject([
      {
        type: "message.heard",
        seq: receipt.seq,
        run_id,
        space_id: space,
        message_ids: [overheard],
        actor: { id: scout },
      },
    ]);
    const foreign = (await say(owner, await newSpace(owner, "Elsewhere"), "x")).message_id;
    expect(await codeOf(scouts, "message.heard", { run_id, message_ids: [foreign] })).toBe("invalid");
    expect(await codeOf(scouts, "message.heard", { run_id, message_ids: [] })).toBe("invalid");
  });

  test("ENV-7: what needs a run names an open one of the sender's", async () => {
    const { scouts, ledgers, scout } = room;
    const run_id = await started(scout);
    const fields = {
      "message.heard": { message_ids: [await ask()] },
      "run.step": { text: "x" },
      "run.usage": { cost_usd: 1 },
      "run.end": { outcome: "done" },
    };
    for (const [type, more] of Object.entries(fields)) {
      expect([type, await codeOf(scouts, type, more)]).toEqual([type, "run_required"]);
      expect([type, await codeOf(scouts, type, { ...more, run_id: newId("run") })]).toEqual([
        type,
        "unknown_run",
      ]);
      const { of: _, ...another } = await refused(ledgers, type, { ...more, run_id });
      const { of: __, ...nobodys } = await refused(ledgers, type, { ...more, run_id: newId("run") });
      expect(another).toEqual(nobodys);
    }
    await send(scouts, "run.end", { run_id, outcome: "done" });
    for (const [type, more] of Object.entries(fields))
      if (type !== "run.usage")
        expect([type, await codeOf(scouts, type, { ...more, run_id })]).toEqual([type, "unknown_run"]);
  });

  test("SPACE-4: leaving and withdrawing end what an agent has going, there or everywhere", async () => {
    const { owner, scouts, scout, quill, space } = room;
    const other = await newSpace(owner, "Other", [scout]);
    const here = await started(scout);
    const there = newId("run");
    await send(scouts, "run.start", { ...startOf(scout, [], there), space_id: other });
    const quills = await started(quill);
    await send(owner, "member.remove", { space_id: space, participant_id: scout });
    const state = async (id: string) =>
      (await sql(room.id, "SELECT outcome FROM runs WHERE id = ?", id))[0].outcome;
    expect([await state(here), await state(there)]).toEqual(["stopped", null]);
    await send(scouts, "agent.withdraw", { agent_id: quill });
    expect([await state(quills), await state(there)]).toEqual(["stopped", null]);
    const ends = (await pulled(owner)).filter((f) => f.type === "run.ended");
    expect(ends.map((f) => [f.run_id, f.outcome, f.actor.kind])).toEqual([
      [here, "stopped", "system"],
      [quills, "stopped", "system"],
    ]);
  });
});

describe("SPEND-4: what a run may report", () => {
  test("SPEND-4: a cost that goes down, is negative, not finite or over 10,000 is invalid and changes nothing", async () => {
    const { scouts, scout } = room;
    const run_id = await started(scout);
    await send(scouts, "run.usage", { run_id, cost_usd: 0.1 });
    await send(scouts, "run.usage", { run_id, cost_usd: 0.3 });
    await send(scouts, "run.usage", { run_id, cost_usd: 0.3 });
    for (const cost_usd of [0.2, -1, 10_000.01, "1", null]) {
      expect([cost_usd, await codeOf(scouts, "run.usage", { run_id, cost_usd })]).toEqual([
        cost_usd,
        "invalid",
      ]);
      expect(await codeOf(scouts, "run.end", { run_id, outcome: "done", cost_usd })).toBe("invalid");
    }
    const infinite = await call("POST", "/v1/events", {
      token: scouts.token,
      raw: `{"v":1,"type":"run.usage","id":"${newId("evt")}","idempotency_key":"k","run_id":"${run_id}","cost_usd":1e999}`,
    });
    expect(infinite.body.code).toBe("invalid");
    for (const input_tokens of [-1, 1.5])
      expect(await codeOf(scouts, "run.usage", { run_id, input_tokens })).toBe("invalid");
    // The latest total, not the sum.
    expect(await runs()).toMatchObject([{ state: "working", cost_usd: 0.3 }]);
    await send(scouts, "run.end", { run_id, outcome: "done" });
    await send(scouts, "run.usage", { run_id, cost_usd: 0.5 });
    expect(await runs()).toMatchObject([{ cost_usd: 0.5 }]);
    later(24 * 60 + 1);
    expect(await codeOf(scouts, "run.usage", { run_id, cost_usd: 0.6 })).toBe("unknown_run");
  });
});

describe("NOTE: what a turn is told of the room", () => {
  test("NOTE-1: members are people first, then agents, by name, with handle, harness, lead and zone; the removed left out", async () => {
    const { owner, bob, space, scout, quill, ledger } = room;
    await newPerson(owner, "Zoe").then(async (zoe) => {
      await send(owner, "member.add", { space_id: space, participant_id: zoe.id });
      await send(owner, "participant.remove", { participant_id: zoe.id });
    });
    for (const time_zone of ["Europe/Berlin", "Asia/Tokyo"])
      expect((await call("PUT", "/v1/me", { token: bob.token, body: { time_zone } })).status).toBe(200);
    const { room: told } = await turn();
    expect(told.members).toEqual([
      { participant_id: owner.id, kind: "person", name: "Ada", handle: "Ada" },
      { participant_id: bob.id, kind: "person", name: "Bob", handle: "Bob", time_zone: "Asia/Tokyo" },
      { participant_id: ledger, kind: "agent", name: "Ledger", harness: "Ledgers", handle: "Ledger" },
      { participant_id: quill, kind: "agent", name: "Quill", harness: "Scouts", handle: "Quill" },
      { participant_id: scout, kind: "agent", name: "Scout", harness: "Scouts", handle: "Scout", lead: true },
    ]);
    await send(owner, "space.set", { space_id: space, lead: ledger });
    expect((await turn()).room.members.filter((m: Any) => m.lead).map((m: Any) => m.name)).toEqual([
      "Ledger",
    ]);
  });

  test("NOTE-2: each taker has a note that ends with its rules, which stay the same while the agents do", async () => {
    const { owner, scouts, scout, quill, space } = room;
    await ask("@Scout @Quill both");
    const { room: told } = (await pulled(scouts)).at(-1);
    expect(Object.keys(told.notes).toSorted()).toEqual([scout, quill].toSorted());
    for (const taker of [scout, quill]) expect(told.notes[taker].endsWith(told.rules[taker])).toBe(true);
    expect(told.notes[scout]).toContain('You are "Scout" (@Scout)');
    for (const word of ["@Bob", "@Ledger", "@Quill"]) expect(told.notes[scout]).toContain(word);
    await send(owner, "space.rename", { space_id: space, title: "Other" });
    await send(scouts, "participant.rename", { participant_id: quill, name: "Feather" });
    await ask("@Scout again");
    expect((await pulled(scouts)).at(-1).room.rules[scout]).toBe(told.rules[scout]);
    // Who cannot answer is said so.
    await send(scouts, "agent.withdraw", { agent_id: quill });
    await ask("@Scout and now");
    expect((await pulled(scouts)).findLast((f) => f.type === "message.new").room.notes[scout]).toMatch(
      /"Feather".*cannot answer/,
    );
  });

  test("NOTE-3: working and idle with whole minutes; silent for ten minutes is not counted", async () => {
    const { scouts, ledgers, scout, quill, ledger } = room;
    const first = await started(scout);
    await send(scouts, "run.step", { run_id: first, text: "reading the book" });
    const second = await started(quill);
    await send(scouts, "run.end", { run_id: second, outcome: "done" });
    later(4);
    await send(scouts, "run.step", { run_id: first, text: "still reading" });
    const own = await started(ledger);
    const { room: told } = await turn();
    expect(told.working).toEqual([
      { participant_id: scout, minutes: 4, step: "still reading" },
      { participant_id: ledger, minutes: 0 },
    ]);
    expect(told.idle).toEqual([{ participant_id: quill, minutes: 4 }]);
    expect(told.notes[ledger]).toMatch(/"Scout".*working for 4 minutes on "still reading"/);
    expect(told.notes[ledger]).toMatch(/"Quill".*idle for 4 minutes/);
    await send(ledgers, "run.end", { run_id: own, outcome: "done" });
    later(10);
    const quiet = (await turn()).room;
    expect(quiet).not.toHaveProperty("working");
    expect(quiet.idle).toEqual([{ participant_id: quill, minutes: 14 }]);
    expect((await runs()).find((r) => r.run_id === first).state).toBe("waiting");
    await send(scouts, "run.step", { run_id: first, text: "back" });
    expect((await turn()).room.working).toEqual([{ participant_id: scout, minutes: 14, step: "back" }]);
  });

  test("NOTE-5: a time zone is a person's, IANA, the latest wins, and the note tells their time", async () => {
    const { bob, scouts, ledger } = room;
    const put = async (by: typeof bob, time_zone: unknown) =>
      (await call("PUT", "/v1/me", { token: by.token, body: { time_zone } })).status;
    expect(await put(bob, "Mars/Olympus")).toBe(422);
    expect(await put(bob, "")).toBe(422);
    expect(await put(scouts, "Europe/Berlin")).toBe(403);
    expect(await put(bob, "Asia/Kolkata")).toBe(200);
    expect((await read(bob, "/v1/me")).participant.time_zone).toBe("Asia/Kolkata");
    expect((await turn()).room.notes[ledger]).toMatch(
      /"Bob".*local time \w{3} \d{4}-\d\d-\d\d \d\d:\d\d \(Asia\/Kolkata\)/,
    );
  });
});
