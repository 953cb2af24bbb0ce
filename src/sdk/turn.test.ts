import { describe, expect, test } from "vitest";
import { ADA, fakeFetch, HARNESS, idOf, QUILL, SCOUT, SPACE, settle } from "../../test/sdk/fakes.ts";
import { held, setUp } from "../../test/sdk/harness-kit.ts";

describe("TURN-1: a turn", () => {
  test("TURN-1: it starts a run, says what the handler returns, and ends it", async () => {
    const { server, connect } = setUp({ onTurn: (turn) => `You said ${turn.message.text}` });
    connect();
    await settle();
    const said = server.say("hello");
    await settle();
    const [start, post, end] = server.writes;
    const run_id = start?.["run_id"];
    const actor = { kind: "agent", id: SCOUT };
    expect(start).toMatchObject({
      type: "run.start",
      space_id: SPACE,
      agent_id: SCOUT,
      message_ids: [said["message_id"]],
      actor,
    });
    expect(post).toMatchObject({ type: "message.post", run_id, text: "You said hello", actor });
    expect(post).not.toHaveProperty("reply_to");
    expect(end).toMatchObject({ type: "run.end", run_id, outcome: "done", actor });
    expect(server.writes).toHaveLength(3);
  });

  test("TURN-1: a handler that throws ends it as failed, and the error is told", async () => {
    const { server, errors, connect } = setUp({
      onTurn: () => {
        throw new Error("model is down");
      },
    });
    connect();
    await settle();
    server.say("hello");
    await settle();
    expect(server.writes.at(-1)).toMatchObject({ type: "run.end", outcome: "failed" });
    expect(errors.map((error) => error.message)).toEqual(["model is down"]);
  });

  test("TURN-1: steps, cost, replies with files and the end go out in the order they were said", async () => {
    const { fetch } = fakeFetch({
      "POST /v1/attachments": () => Response.json({ attachment_id: idOf("att", 5) }, { status: 201 }),
    });
    const { server, connect } = setUp({
      fetch,
      onTurn: async (turn) => {
        void turn.step("reading", { step_id: "s1" });
        void turn.usage({ cost_usd: 0.1 });
        await turn.attach("bytes", { filename: "a.txt", replaces: idOf("att", 4) });
        await turn.reply("here");
        void turn.reply("and here", { reply_to: idOf("msg", 1) });
        return { text: "bye", cost_usd: 0.2 };
      },
    });
    connect();
    await settle();
    server.say("hello");
    await settle();
    expect(server.writes.map(({ type, text, cost_usd }) => [type, text ?? cost_usd])).toEqual([
      ["run.start", undefined],
      ["run.step", "reading"],
      ["run.usage", 0.1],
      ["message.post", "here"],
      ["message.post", "and here"],
      ["message.post", "bye"],
      ["run.end", 0.2],
    ]);
    expect(server.writes[3]).toMatchObject({
      attachments: [{ attachment_id: idOf("att", 5), replaces: idOf("att", 4) }],
    });
    expect(server.writes[4]).toMatchObject({ reply_to: idOf("msg", 1) });
  });

  test("TURN-1: files that no reply carried are posted when the handler returns", async () => {
    const { fetch } = fakeFetch({
      "POST /v1/attachments": () => Response.json({ attachment_id: idOf("att", 5) }),
    });
    const { server, connect } = setUp({
      fetch,
      onTurn: async (turn) => {
        await turn.attach("bytes", { filename: "a.txt" });
      },
    });
    connect();
    await settle();
    server.say("hello");
    await settle();
    expect(server.writes[1]).toMatchObject({ type: "message.post", text: "" });
    expect(server.writes[2]).toMatchObject({ outcome: "done" });
  });

  test("ADDR-6: NO_REPLY is posted and ends the run by itself; no words at all end it as no_reply", async () => {
    const answers = [" no_reply\n", ""];
    const { server, connect } = setUp({ onTurn: () => answers.shift() ?? "" });
    connect();
    await settle();
    server.say("one");
    await settle();
    server.say("two");
    await settle();
    expect(server.writes.map(({ type, outcome }) => [type, outcome])).toEqual([
      ["run.start", undefined],
      ["message.post", undefined],
      ["run.start", undefined],
      ["run.end", "no_reply"],
    ]);
  });

  test("TURN-1: the first reply names its message when others have spoken since", async () => {
    const { turns, onTurn, end } = held();
    const { server, connect } = setUp({ onTurn });
    connect();
    await settle();
    const said = server.say("hello");
    await settle();
    server.overhear("meanwhile");
    await turns[0]?.reply("first");
    end(0, "second");
    await settle();
    const posts = server.writes.filter((frame) => frame.type === "message.post");
    expect(posts.map((post) => post["reply_to"])).toEqual([said["message_id"], undefined]);
  });

  test("TURN-1: a harness without agents takes the turn itself, and claims to be nobody", async () => {
    const { server, connect } = setUp();
    server.agents = undefined;
    const { agents: _, ...none } = { agents: undefined };
    connect({ ...none, agents: undefined, onTurn: (turn) => `${turn.agent.id} ${turn.agent.name}` });
    await settle();
    server.say("hello", { for: undefined });
    await settle();
    expect(server.writes[0]).not.toHaveProperty("agent_id");
    expect(server.writes[0]).not.toHaveProperty("actor");
    expect(server.writes[1]).toMatchObject({ text: `${HARNESS} Crew` });
  });
});

describe("TURN-3: words said beside a turn", () => {
  test("TURN-3: a live turn is given them when it asks, as they read then, and the room is told", async () => {
    const { turns, onTurn } = held();
    const overheard: number[] = [];
    const { server, connect } = setUp({
      onTurn,
      onOverheard: (_, { workingTurns }) => overheard.push(workingTurns.length),
    });
    connect();
    await settle();
    server.say("go");
    await settle();
    const working_turns = [{ agent_id: SCOUT, run_id: turns[0]?.runId }];
    const one = server.overhear("typo", { working_turns });
    const two = server.overhear("never mind", { working_turns });
    server.say("to Quill", { for: [QUILL], working_turns });
    server.overhear("not for it");
    server.append({ type: "message.edited", message_id: one["message_id"], text: "fixed", mentions: [] });
    server.append({ type: "message.deleted", message_id: two["message_id"] });
    await settle();
    expect(overheard).toEqual([1, 1, 0]);
    expect(turns[0]?.heardSince().map((message) => message.text)).toEqual(["fixed", "to Quill"]);
    expect(turns[0]?.heardSince()).toEqual([]);
    await settle();
    const heard = server.writes.filter((frame) => frame.type === "message.heard");
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({ run_id: turns[0]?.runId, actor: { kind: "agent", id: SCOUT } });
    expect(heard[0]?.["message_ids"]).toHaveLength(2);
  });

  test("TURN-3: or as they come, with what came before it listened; what is not asked for was not heard", async () => {
    const { turns, onTurn } = held();
    const { server, connect, types } = setUp({ onTurn });
    connect();
    await settle();
    server.say("go");
    await settle();
    const working_turns = [{ agent_id: SCOUT, run_id: turns[0]?.runId }];
    server.overhear("a", { working_turns });
    await settle();
    expect(types()).not.toContain("message.heard");
    const texts: string[] = [];
    const [turn] = turns;
    if (turn) turn.onOverheard = (message) => texts.push(message.text);
    server.overhear("b", { working_turns });
    await settle();
    expect(texts).toEqual(["a", "b"]);
    expect(types().filter((type) => type === "message.heard")).toHaveLength(2);
  });
});

describe("TURN-4: turns that are stopped", () => {
  test("TURN-4: run.stop aborts the turn; nothing more is said and it ends stopped", async () => {
    const { turns, onTurn, end } = held();
    const { server, connect, errors } = setUp({ onTurn });
    connect();
    await settle();
    server.say("go");
    await settle();
    server.append({ type: "run.stop", run_id: turns[0]?.runId });
    expect(turns[0]?.signal.aborted).toBe(true);
    end(0, "too late");
    await settle();
    expect(server.writes.map(({ type, outcome }) => [type, outcome])).toEqual([
      ["run.start", undefined],
      ["run.end", "stopped"],
    ]);
    expect(errors).toEqual([]);
  });

  test("TURN-5: a run that the room has ended aborts the turn at its next word", async () => {
    const { turns, onTurn, end } = held();
    const { server, connect, errors } = setUp({ onTurn });
    connect();
    await settle();
    server.say("go");
    await settle();
    server.onWrite = () => ({ code: "unknown_run" });
    await expect(turns[0]?.step("still here")).rejects.toMatchObject({ code: "unknown_run" });
    expect(turns[0]?.signal.aborted).toBe(true);
    end(0);
    await settle();
    expect(errors).toEqual([]);
  });

  test("TURN-1: closing aborts the turns, lets them end, and leaves what waits for the next life", async () => {
    const { server, connect } = setUp({
      onTurn: (turn) =>
        new Promise((_, reject) => turn.signal.addEventListener("abort", () => reject(turn.signal.reason))),
    });
    const harness = connect();
    await settle();
    server.say("one");
    await settle();
    const waits = server.say("two");
    await harness.close();
    await expect(harness.closed).resolves.toBeUndefined();
    expect(server.writes.map(({ type, outcome }) => [type, outcome])).toEqual([
      ["run.start", undefined],
      ["run.end", "stopped"],
    ]);
    expect(server.cursor).toBe((waits["seq"] as number) - 1);
    await expect(harness.send("space.archive", { space_id: SPACE })).rejects.toMatchObject({
      code: "unavailable",
    });
  });

  test("TURN-1: a handler that does not stop holds closing up for so long only", async () => {
    const { onTurn } = held();
    const { clock, server, connect } = setUp({ onTurn });
    const harness = connect();
    await settle();
    server.say("one");
    await settle();
    const closing = harness.close({ timeoutMs: 3000 });
    await clock.advance(3000);
    await closing;
    expect(server.socket.closedByClient?.code).toBe(1000);
  });
});

describe("ADDR-3: a message by a person", () => {
  test("NEW-2: for several of its agents it is a turn of each", async () => {
    const { server, connect } = setUp({ onTurn: (turn) => `by ${turn.agent.id}` });
    connect();
    await settle();
    server.say("both", { for: [SCOUT, QUILL], from: { participant_id: ADA } });
    await settle();
    const posts = server.writes.filter((frame) => frame.type === "message.post");
    expect(posts.map((post) => post["actor"])).toEqual([
      { kind: "agent", id: SCOUT },
      { kind: "agent", id: QUILL },
    ]);
  });
});
