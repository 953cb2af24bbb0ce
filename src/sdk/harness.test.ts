import { describe, expect, test } from "vitest";
import { idOf, QUILL, SCOUT, SPACE_2, settle } from "../../test/sdk/fakes.ts";
import { held, setUp } from "../../test/sdk/harness-kit.ts";

describe("TURN-6: turns that wait", () => {
  test("TURN-6: what comes while its agent works is one turn afterwards, the newest with the earlier beside it", async () => {
    const { turns, onTurn, end } = held();
    const { server, connect } = setUp({ onTurn });
    connect();
    await settle();
    for (const text of ["one", "two", "three"]) server.say(text);
    await settle();
    expect(turns).toHaveLength(1);
    end(0);
    await settle();
    expect(turns).toHaveLength(2);
    expect(turns[1]?.message.text).toBe("three");
    expect(turns[1]?.earlier.map((event) => event.text)).toEqual(["two"]);
    expect(turns[1]?.prompt).toMatch(/oldest first:[\s\S]*two[\s\S]*three/);
  });

  test("TURN-6: what came in a replay is one turn for each agent and space", async () => {
    const { turns, onTurn } = held();
    const { server, connect } = setUp({ onTurn });
    server.say("one", {}, { away: true });
    server.say("two", { for: [SCOUT, QUILL] }, { away: true });
    server.say("elsewhere", { space_id: SPACE_2 }, { away: true });
    connect();
    await settle();
    expect(turns.map((turn) => [turn.agent.id, turn.message.text, turn.earlier.length])).toEqual([
      [SCOUT, "two", 1],
      [QUILL, "two", 0],
      [SCOUT, "elsewhere", 0],
    ]);
  });

  test("NEW-7: an edit before it begins changes the turn, a deletion takes it away", async () => {
    const { turns, onTurn, end } = held();
    const { server, connect } = setUp({ onTurn });
    connect();
    await settle();
    server.say("first");
    await settle();
    const two = server.say("two");
    const three = server.say("three");
    server.append({ type: "message.edited", message_id: two["message_id"], text: "2", mentions: [] });
    server.append({ type: "message.deleted", message_id: three["message_id"] });
    end(0);
    await settle();
    expect(turns[1]?.message.text).toBe("2");
    expect(turns[1]?.earlier).toEqual([]);
  });

  test("NEW-7: a message taken back while its run starts is not handled", async () => {
    const { server, connect, types } = setUp();
    server.onWrite = (frame) => (frame.type === "run.start" ? "lost" : undefined);
    connect();
    await settle();
    const said = server.say("oops");
    await settle();
    server.append({ type: "message.deleted", message_id: said["message_id"] });
    const { id } = server.writes[0] ?? { id: "" };
    server.socket.push({ v: 1, type: "receipt", of: id, id, seq: 99 });
    await settle();
    expect(types()).toEqual(["run.start", "run.end"]);
    expect(server.writes[1]).toMatchObject({ outcome: "no_reply" });
  });

  test("TURN-1: what an earlier life took already is left out, and the rest is a turn", async () => {
    const { turns, onTurn } = held();
    const { server, connect, errors } = setUp({ onTurn });
    server.say("taken", {}, { away: true });
    server.say("new", {}, { away: true });
    server.onWrite = (frame) =>
      frame.type === "run.start" && (frame["message_ids"] as string[]).includes(idOf("msg", 1))
        ? { code: "conflict" }
        : undefined;
    connect();
    await settle();
    expect(turns).toHaveLength(1);
    expect(turns[0]?.message.text).toBe("new");
    expect(errors).toEqual([]);
  });

  test("TURN-1: a run that may not start is told and holds up nothing", async () => {
    const { server, clock, connect, errors } = setUp();
    server.onWrite = (frame) =>
      frame.type === "run.start" && server.writes.length === 0 && errors.length === 0
        ? { code: "forbidden" }
        : undefined;
    connect();
    await settle();
    server.say("one");
    await settle();
    expect(errors).toMatchObject([{ code: "forbidden" }]);
    server.say("two");
    await clock.advance(300);
    expect(server.writes.map((frame) => frame.type)).toEqual(["run.start", "message.post", "run.end"]);
    expect(server.cursor).toBe(2);
  });
});
