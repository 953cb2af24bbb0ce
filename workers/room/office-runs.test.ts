import { describe, expect, test } from "vitest";
import { type Any, newId, refused, roomStub, say, send } from "../testing/client.ts";
import { evict, factsOf, pass } from "../testing/judge.ts";
import { as, codeOf, read, sql } from "../testing/room.ts";
import {
  clearLetters,
  deliver,
  holdLetters,
  type TeamRoom,
  teamRoom,
  waiting,
} from "../testing/team-room.ts";

const OFFICE = "office/scout";

interface Round extends TeamRoom {
  run: string;
  message: string;
}

/** Scout was asked something and began it. */
async function round(...others: string[]): Promise<Round> {
  const room = await teamRoom("scout", ...others);
  const { message_id: message } = await say(room.bob, room.space, "@Scout find the door");
  const run = newId("run");
  await begin(room, run, [message]);
  await clearLetters(room.workspace);
  return { ...room, run, message };
}

const begin = (room: TeamRoom, runId: string, messageIds: string[], spaceId = room.space) =>
  deliver(room.workspace, OFFICE, "run_start", { runId, handle: "scout", spaceId, messageIds });
const runs = async (room: TeamRoom) => (await read(room.bob, `/v1/spaces/${room.space}/runs`)).items;
const facts = async (room: TeamRoom, type: string) =>
  (await factsOf(room.bob, room.space)).filter((f) => f.type === type);
const scout = (room: TeamRoom) => room.team["scout"]!;

describe("CHAT-2 a round as a turn in its room", () => {
  test("CHAT-2 TURN-1 it starts, says steps, costs and ends as its agent's; each letter counts once", async () => {
    const room = await round();
    const { workspace, run } = room;
    expect(await runs(room)).toMatchObject([
      { run_id: run, agent_id: scout(room).id, message_ids: [room.message], state: "working" },
    ]);
    await begin(room, run, [room.message]);
    await deliver(workspace, OFFICE, "run_step", { runId: run, text: "x".repeat(600) });
    await deliver(workspace, OFFICE, "run_usage", { runId: run, costUsd: 0.5, inputTokens: 9 }, 9);
    await evict(workspace);
    await deliver(workspace, OFFICE, "run_usage", { runId: run, costUsd: 0.7 }, 9);
    await deliver(workspace, OFFICE, "run_usage", { runId: run, costUsd: 0.2 });
    await deliver(workspace, OFFICE, "run_end", { runId: run, outcome: "done", costUsd: 0.6 });
    expect(await runs(room)).toMatchObject([{ run_id: run, state: "ended", outcome: "done", cost_usd: 0.6 }]);
    const [step] = await facts(room, "run.stepped");
    expect(step).toMatchObject({ run_id: run, actor: { kind: "agent", id: scout(room).id } });
    expect(step.text).toHaveLength(500);
    expect(await facts(room, "run.started")).toHaveLength(1);
    const [ended] = await facts(room, "run.ended");
    expect(ended).toMatchObject({ agent_id: scout(room).id, outcome: "done", cost_usd: 0.6 });
    const { decisions } = await read(room.bob, `/v1/why/${ended.id}`);
    expect(decisions[0].rule).toBe("TURN-1");
    await sql(workspace, "SELECT 1");
  });

  test("CHAT-2 AUTH-2 an office runs its own person alone: another's run stays as it is", async () => {
    const room = await round("otter");
    const { workspace, run } = room;
    await deliver(workspace, "office/otter", "run_end", { runId: run, outcome: "done" });
    await deliver(workspace, "office/otter", "run_step", { runId: run, text: "mine" });
    const body = { runId: newId("run"), handle: "scout", spaceId: room.space, messageIds: [] };
    await deliver(workspace, "office/otter", "run_start", body);
    expect(await runs(room)).toMatchObject([{ run_id: run, state: "working" }]);
    expect(await facts(room, "run.stepped")).toEqual([]);
  });

  test("TURN-2 what the agent posts belongs to its turn, and `NO_REPLY` alone ends it", async () => {
    const room = await round("otter");
    const { message_id } = await say(scout(room), room.space, "On my way.");
    const posted = (await factsOf(room.bob, room.space)).find((f) => f.message_id === message_id);
    expect(posted.run_id).toBe(room.run);
    expect(
      (
        await refused(room.team["otter"]!, "message.post", {
          space_id: room.space,
          text: "x",
          run_id: room.run,
        })
      ).code,
    ).toBe("unknown_run");
    await send(scout(room), "message.post", { space_id: room.space, text: "no_reply" });
    expect(await runs(room)).toMatchObject([{ state: "ended", outcome: "no_reply" }]);
    await deliver(room.workspace, OFFICE, "run_end", { runId: room.run, outcome: "done", costUsd: 0.25 });
    expect(await runs(room)).toMatchObject([{ outcome: "no_reply", cost_usd: 0.25 }]);
    const later = await say(scout(room), room.space, "One more thing.");
    const said = (await factsOf(room.bob, room.space)).find((f) => f.message_id === later.message_id);
    expect(said.run_id).toBeUndefined();
  });

  test("TURN-1 a later round takes what is new; a message that has a run is left out", async () => {
    const room = await round();
    await deliver(room.workspace, OFFICE, "run_end", { runId: room.run, outcome: "done" });
    const more = await say(room.bob, room.space, "@Scout and the window");
    const second = newId("run");
    await begin(room, second, [room.message, more.message_id]);
    expect((await runs(room))[0]).toMatchObject({ run_id: second, message_ids: [more.message_id] });
  });

  test("TURN-5 heard, it is at work; after an hour of silence the room ends it, and the next word goes on", async () => {
    const room = await round();
    const { workspace, run } = room;
    await pass(workspace, 3000);
    expect(await runs(room)).toMatchObject([{ state: "waiting" }]);
    await roomStub(workspace).runHeard([run, newId("run")]);
    expect(await runs(room)).toMatchObject([{ state: "working" }]);
    await pass(workspace, 3000);
    expect(await runs(room)).toMatchObject([{ state: "waiting" }]);
    await pass(workspace, 700);
    expect(await runs(room)).toMatchObject([{ state: "ended", outcome: "failed" }]);
    await roomStub(workspace).runHeard([run]);
    await deliver(workspace, OFFICE, "run_step", { runId: run, text: "too late" });
    expect(await facts(room, "run.stepped")).toEqual([]);
    // The item is still theirs: accepted again it is a turn again, under an id of the room's own.
    await begin(room, run, [room.message]);
    await deliver(workspace, OFFICE, "run_step", { runId: run, text: "here again" });
    const [again] = await runs(room);
    expect(again).toMatchObject({ state: "working", step: "here again", message_ids: [room.message] });
    expect(again.run_id).not.toBe(run);
    await clearLetters(workspace);
    await send(room.bob, "run.stop", { run_id: again.run_id });
    expect(await waiting(workspace, "stop_run")).toMatchObject([{ target: OFFICE, runId: run }]);
  });

  test("TURN-4 a person's stop reaches the office once; the turn's words are for nobody, and it ends", async () => {
    const room = await round("otter");
    const { workspace, run } = room;
    await send(room.bob, "run.stop", { run_id: run });
    expect(await waiting(workspace)).toEqual([
      { target: OFFICE, kind: "stop_run", runId: run, by: { id: room.bob.id, name: "Bob" } },
    ]);
    await say(scout(room), room.space, "@Otter take over");
    const posted = (await facts(room, "message.posted")).at(-1);
    expect(posted).toMatchObject({ addressed_to: [], run_id: run });
    expect(await waiting(workspace, "event")).toEqual([]);
    await deliver(workspace, OFFICE, "run_end", { runId: run, outcome: "stopped" });
    expect(await runs(room)).toMatchObject([{ outcome: "stopped" }]);
    await pass(workspace, 60);
    expect(await facts(room, "run.ended")).toHaveLength(1);
  });

  test("SPACE-4 taken out of the room, the agent's turn ends and its office stops the item", async () => {
    const room = await round();
    await send(room.owner, "member.remove", { space_id: room.space, participant_id: scout(room).id });
    expect(await waiting(room.workspace, "stop_run")).toMatchObject([{ runId: room.run }]);
    expect(await runs(room)).toMatchObject([{ outcome: "stopped" }]);
    // Not there any more, it begins nothing there.
    const { message_id } = await say(room.bob, room.space, "anybody?");
    await begin(room, newId("run"), [message_id]);
    expect(await runs(room)).toHaveLength(1);
    await deliver(room.workspace, OFFICE, "run_step", { runId: room.run, text: "still here" });
    expect(await facts(room, "run.stepped")).toEqual([]);
  });

  test("TEAM-3 taken out of the team, its turns end without a word to the office, which knows", async () => {
    const room = await round();
    await deliver(room.workspace, "board", "people", { people: [] });
    expect(await waiting(room.workspace, "stop_run")).toEqual([]);
    expect(await runs(room)).toMatchObject([{ outcome: "stopped" }]);
  });

  test("AUTH-2 a harness, a person and a sibling's token have no part in an office's turn", async () => {
    const room = await round("otter");
    for (const by of [room.owner, room.team["otter"]!])
      for (const [type, fields] of [
        ["run.end", { outcome: "done" }],
        ["run.step", { text: "x" }],
      ] as const)
        expect(["unknown_run", "forbidden"]).toContain(
          await codeOf(by, type, { run_id: room.run, ...fields }),
        );
    const claim = { space_id: room.space, text: "x", ...as(scout(room).id) };
    expect(await codeOf(room.team["otter"]!, "message.post", claim)).toBe("forbidden");
  });
});

describe("SPEND office turns cost as any do", () => {
  test("SPEND-1 SPEND-3 at the ceiling the room pauses, stops the turn, and the office is told why", async () => {
    const room = await round("otter");
    const { workspace, run } = room;
    await deliver(workspace, OFFICE, "run_usage", { runId: run, costUsd: 3.5 });
    expect(await waiting(workspace, "stop_run")).toEqual([
      {
        target: OFFICE,
        kind: "stop_run",
        runId: run,
        by: { id: "system", name: "the room" },
        because: "spend",
      },
    ]);
    expect((await facts(room, "agents.paused")).map((f) => f.cause)).toEqual(["spend"]);
    // Meanwhile nothing else begins here: the office hears it, and its item waits for a person.
    const next = newId("run");
    await clearLetters(workspace);
    await begin(room, next, []);
    expect(await waiting(workspace, "stop_run")).toMatchObject([{ runId: next, because: "spend" }]);
    expect(await runs(room)).toHaveLength(1);
    await say(room.bob, room.space, "Go on then.");
    await begin(room, next, []);
    expect(await runs(room)).toHaveLength(2);
  });

  test("GUARD-5 while a person has paused the agents a turn begins all the same, as any harness's does", async () => {
    const room = await round();
    await send(room.bob, "agents.pause", { space_id: room.space });
    await begin(room, newId("run"), []);
    expect(await runs(room)).toHaveLength(2);
  });

  test("SPEND-1 a brief begins a job: what was spent before is another's", async () => {
    const room = await round();
    const { workspace, run, space } = room;
    await deliver(workspace, OFFICE, "run_usage", { runId: run, costUsd: 2 });
    await deliver(workspace, OFFICE, "brief", { spaceId: space });
    await deliver(workspace, OFFICE, "brief", { spaceId: newId("spc") });
    const [brief, ...more] = (await facts(room, "notice.posted")).filter((f) => f.code === "brief");
    expect(more).toEqual([]);
    expect(brief.text).toBe("Work was filed from here, so a new job began.");
    await deliver(workspace, OFFICE, "run_usage", { runId: run, costUsd: 4.5 });
    expect(await facts(room, "agents.paused")).toEqual([]);
    const [job] = await sql(workspace, "SELECT since_seq, spent_micros FROM jobs");
    expect(job).toEqual({ since_seq: brief.seq, spent_micros: 2_500_000 });
    expect((await read(room.bob, `/v1/why/${brief.id}`)).decisions[0].rule).toBe("SPEND-1");
  });
});

describe("QUEUE-6 notices", () => {
  test("QUEUE-6 LOG-8 a line of the room's own where it is asked for, once a letter, people of the team by handle", async () => {
    const room = await teamRoom("scout");
    const notice = {
      spaceIds: [room.space, room.space, newId("spc")],
      code: "office" as const,
      text: `Scout is blocked on "Paint the door": ${"y".repeat(3000)}`,
      about: ["scout", room.bob.id],
    };
    await deliver(room.workspace, "board", "notice", notice, 50);
    await deliver(room.workspace, "board", "notice", notice, 50);
    const [said, ...more] = (await facts(room, "notice.posted")).filter((f) => f.code === "office");
    expect(more).toEqual([]);
    expect(said).toMatchObject({ actor: { kind: "system" }, about: [scout(room).id, room.bob.id] });
    expect(said.text).toHaveLength(2000);
    expect((await read(room.bob, `/v1/why/${said.id}`)).decisions[0].rule).toBe("QUEUE-6");
    // It is no message: nobody's turn, no line of a context.
    const { context } = await read(room.bob, `/v1/spaces/${room.space}/context`);
    expect(context.lines.some((l: Any) => l.kind === "said")).toBe(false);
    expect(await waiting(room.workspace, "event")).toEqual([]);
    await holdLetters(room.workspace);
  });
});
