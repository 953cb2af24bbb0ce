/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import { expect, test } from "vitest";
import { openReplay, type Replayed, type ReplayOptions } from "../../src/shared/rules/replay.ts";
import { exportedLine } from "../../src/shared/wire/index.ts";
import { type Any, newId, say, send } from "../testing/client.ts";
import { exportOf } from "../testing/export.ts";
import { agentsRoom, sayAs } from "../testing/judge.ts";
import { randomTalk } from "../testing/talk.ts";

function replayOf(lines: Any[], options: ReplayOptions = {}): Replayed {
  const replay = openReplay(options);
  for (const line of lines) replay.take(exportedLine.parse(line));
  return replay.finish();
}

const STEPS = 140;
const OFTEN = ["messages_for_agents", "held", "handed", "runs"] as const;
const seen: Partial<Record<(typeof OFTEN)[number], number>> = {};

test.each([14, 15, 22, 25])(
  "WHY-2 a random conversation of the real room, replayed with its own settings, differs in nothing (seed %i)",
  async (seed) => {
    const talk = await randomTalk(seed, STEPS);
    const { lines } = await exportOf(talk.owner);
    const { changes, totals } = replayOf(lines);
    expect(changes).toEqual([]);
    for (const { was, would } of Object.values(totals)) expect(would).toBe(was);
    for (const often of OFTEN) seen[often] = (seen[often] ?? 0) + totals[often].was;
  },
  120_000,
);

test("WHY-2 in those conversations enough happened to prove something", () => {
  for (const often of OFTEN) expect(seen[often]).toBeGreaterThan(10);
});

test("WHY-2 GUARD-2 with a lower hold exactly the messages from it on are held, and a person's act hands over", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await say(room.bob, room.space, "@Ping start");
  const said = [];
  for (let i = 0; i < 10; i++)
    said.push(await sayAs(room, i % 2 ? "Pong" : "Ping", `@${i % 2 ? "Ping" : "Pong"} step ${i}`));
  const go = await say(room.bob, room.space, "go on");
  const { lines } = await exportOf(room.owner);
  expect(replayOf(lines).changes).toEqual([]);
  const { changes, totals } = replayOf(lines, { settings: { guard: { hold: 8 } } });
  const held = changes.filter((c) => c.what === "held");
  expect(held.map((c) => c.id)).toEqual(said.slice(7).map((r) => r.message_id));
  expect(held[0]).toMatchObject({ was: "delivered", would: "held", rule: "GUARD-2" });
  const handed = changes.filter((c) => c.what === "handed");
  expect(handed.map((c) => c.id)).toEqual(said.slice(8).map((r) => r.message_id));
  expect(handed.every((c) => c.event_id === go.id)).toBe(true);
  expect(totals.held).toEqual({ was: 0, would: 3 });
});

test("WHY-2 SPEND-2 with a lower ceiling the room pauses earlier, and what began after it is not spent", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const asked = await say(room.bob, room.space, "@Ping go");
  for (const cost_usd of [0.5, 0.75, 1]) {
    const run_id = newId("run");
    const agent_id = room.ids.Ping;
    await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id, message_ids: [] });
    await send(room.harness, "run.end", { run_id, outcome: "done", cost_usd });
  }
  const { lines } = await exportOf(room.owner);
  const { changes, totals } = replayOf(lines, { settings: { spend: { job_usd: 1 } } });
  expect(changes.map((c) => [c.what, c.rule])).toEqual([
    ["paused", "SPEND-2"],
    ["run", "SPEND-3"],
  ]);
  expect(totals.spent_usd).toEqual({ was: 2.25, would: 1.25 });
  expect(asked.seq).toBeGreaterThan(0);
});

test("WHY-2 POL-1 with another policy the asks that would be decided otherwise are named", async () => {
  const room = await agentsRoom(["Ping"]);
  const run_id = newId("run");
  await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id: room.ids.Ping });
  const ids = [];
  for (const kind of ["note.add", "email.send"]) {
    const approval_id = newId("apr");
    ids.push(approval_id);
    await send(room.harness, "approval.request", {
      run_id,
      approval_id,
      action: { kind },
      risk: [],
      expires_in: 60,
    });
  }
  const { lines } = await exportOf(room.owner);
  const rules = [
    { id: "notes", when: { action: ["note.*"] }, then: "allow" as const },
    { id: "mail", when: { action: ["email.**"] }, then: "deny" as const },
  ];
  const { changes } = replayOf(lines, { policy: { rules, classes: {} } });
  expect(changes.map((c) => [c.id, c.was, c.would])).toEqual([
    [ids[0], "put to people", "allowed at once"],
    [ids[1], "put to people", "denied at once"],
  ]);
});
