import { expect, test } from "vitest";
import { openReplay, type Replayed, type ReplayOptions } from "../../src/shared/rules/replay.ts";
import { exportedLine } from "../../src/shared/wire/index.ts";
import { type Any, call, newId, say, send } from "../testing/client.ts";
import { exportOf } from "../testing/export.ts";
import { begin, lines as importLines, standing, wipe } from "../testing/imports.ts";
import { factsOf, pass } from "../testing/judge.ts";
import { read, sql } from "../testing/room.ts";
import {
  agentIds,
  deliver,
  holdLetters,
  setTeam,
  type TeamRoom,
  teamRoom,
  tokenFor,
  waiting,
} from "../testing/team-room.ts";

const OFFICE = "office/scout";

function replayOf(lines: Any[], options: ReplayOptions = {}): Replayed {
  const replay = openReplay(options);
  for (const line of lines) replay.take(exportedLine.parse(line));
  return replay.finish();
}

/** A day with the office: pauses, rounds with costs, a brief, a ceiling, a question, agents among themselves. */
async function aDay(): Promise<TeamRoom> {
  const room = await teamRoom("scout", "otter", "heron");
  const { workspace, bob, space } = room;
  const run = async (text: string, costs: number[], end = true) => {
    const { message_id } = await say(bob, space, text);
    const runId = newId("run");
    const start = { runId, handle: "scout", spaceId: space, messageIds: [message_id] };
    await deliver(workspace, OFFICE, "run_start", start);
    for (const costUsd of costs) await deliver(workspace, OFFICE, "run_usage", { runId, costUsd });
    if (end)
      await deliver(workspace, OFFICE, "run_end", { runId, outcome: "done", costUsd: costs.at(-1) ?? 0 });
    return { runId, message_id };
  };
  await run("@Scout find the door", [0.5, 1.25]);
  await deliver(workspace, "office/otter", "paused", { handle: "otter", paused: true });
  await say(bob, space, "@Otter and you?");
  await say(bob, space, "who else?");
  await deliver(workspace, OFFICE, "brief", { spaceId: space });
  await run("@Scout paint it", [2]);
  await deliver(workspace, "office/otter", "paused", { handle: "otter", paused: false });
  for (let n = 0; n < 10; n++) {
    const [by, to] = n % 2 === 0 ? ["scout", "Otter"] : ["otter", "Scout"];
    await say(room.team[by ?? ""]!, space, `@${to} thought ${n} of ${n * 7}`);
  }
  await send(bob, "agents.pause", { space_id: space });
  await say(room.team["scout"]!, space, "@Heron look");
  await say(bob, space, "Go on.");
  const over = await run("@Scout once more", [3.5], false);
  await pass(workspace, 40);
  await holdLetters(workspace);
  await deliver(workspace, OFFICE, "run_end", { runId: over.runId, outcome: "stopped", costUsd: 3.75 });
  const ask = newId("evt");
  await deliver(workspace, OFFICE, "ask", { ask, handle: "scout", user: bob.id, text: "Which colour?" });
  const { items } = await read(bob, "/v1/spaces");
  const direct = items.find((s: Any) => s.direct).space_id;
  const { question_id } = (await factsOf(bob, direct)).find((f) => f.type === "question.asked");
  await send(bob, "question.answer", { question_id, text: "Blue" });
  await deliver(workspace, "board", "notice", {
    spaceIds: [space],
    code: "office",
    text: "Done.",
    about: ["scout"],
  });
  await setTeam(workspace, "scout", "otter");
  await say(bob, space, "@Heron are you there?");
  return room;
}

test("WHY-2 a day with the office, replayed with its own settings, differs in nothing", async () => {
  const room = await aDay();
  const { lines } = await exportOf(room.owner);
  const { changes, totals } = replayOf(lines);
  expect(changes).toEqual([]);
  for (const { was, would } of Object.values(totals)) expect(would).toBe(was);
  expect(totals).toMatchObject({
    pauses: { was: 1 },
    runs: { was: 4 },
    held: { was: 1 },
    handed: { was: 1 },
  });
  const tight = replayOf(lines, { settings: { spend: { job_usd: 1 } } });
  expect(tight.changes.some((c) => c.what === "paused" && c.rule === "SPEND-2")).toBe(true);
  for (const { id } of lines.filter((line) => line.type === "fact" && line.space_id === room.space))
    expect((await read(room.bob, `/v1/why/${id}`)).decisions.length).toBeGreaterThan(0);
}, 60_000);

test("LOG-6 TEAM-3 exported and imported it is the same, and the team put again has its agents with their ids", async () => {
  const room = await aDay();
  const { workspace, space } = room;
  const ids = await agentIds(workspace);
  const before = await standing(workspace);
  const { text } = await exportOf(room.owner);
  expect(text).not.toContain("outbox");
  await wipe(workspace);
  await begin(workspace);
  const { status, body } = await importLines(workspace, text);
  expect(status).toBe(200);
  expect(await standing(workspace)).toEqual(before);
  await holdLetters(workspace);
  const owner = { id: body.owner.participant_id, token: body.token };
  await sql(workspace, "DELETE FROM inbox");
  await deliver(workspace, "board", "people", { people: [{ handle: "scout", name: "Scout" }] });
  expect(await agentIds(workspace)).toEqual(ids);
  const scout = { id: ids["scout"] ?? "", token: await tokenFor(owner, "scout") };
  expect((await call("GET", "/v1/me", { token: scout.token })).body.participant.participant_id).toBe(
    scout.id,
  );
  const { message_id } = await say(owner, space, "@Scout welcome back");
  expect((await waiting(workspace, "event")).map((e) => e.chat.message)).toEqual([message_id]);
  // An import leaves every harness gone until it comes back: the office is always there (TURN-5).
  const runId = newId("run");
  const start = { runId, handle: "scout", spaceId: space, messageIds: [message_id] };
  await deliver(workspace, OFFICE, "run_start", start);
  await pass(workspace, 1200);
  const [going] = (await read(owner, `/v1/spaces/${space}/runs`)).items;
  expect(going).toMatchObject({ run_id: runId, state: "waiting" });
}, 60_000);
