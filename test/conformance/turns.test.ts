/** Runs: an agent's turn from start to end (TURN-1 to TURN-3, SPEND-4). */
import { expect, test } from "vitest";
import {
  type Any,
  connect,
  eventsOf,
  get,
  headOf,
  newAgents,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  refused,
  say,
  send,
  startRun,
} from "./kit.ts";

async function room() {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const space = await newSpace(owner, "Lobby", team.agents);
  const agent_id = team.agents[0];
  const runsOf = async (): Promise<Any[]> => (await get(owner, `/v1/spaces/${space}/runs`)).body.items;
  return { owner, team, space, agent_id, runsOf };
}

test("TURN-1 a run from start to end, as people and the list see it", async () => {
  const { owner, team, space, agent_id, runsOf } = await room();
  const page = await connect(owner);
  const asked = [await say(owner, space, "@Scout first"), await say(owner, space, "@Scout second")];
  const message_ids = asked.map((a) => a.message_id);
  const run_id = newId("run");
  expect(await send(team, "run.start", { run_id, space_id: space, agent_id, message_ids })).toMatchObject({
    run: { state: "working" },
  });
  const actor = { kind: "agent", id: agent_id, harness_id: team.id };
  expect(await page.type("run.started")).toMatchObject({
    run_id,
    space_id: space,
    agent_id,
    message_ids,
    actor,
  });
  await send(team, "run.step", { run_id, text: "reading", step_id: "1" });
  expect(await page.type("run.stepped")).toMatchObject({ run_id, text: "reading", step_id: "1", actor });
  expect(await runsOf()).toMatchObject([
    { run_id, agent_id, message_ids, state: "working", step: "reading" },
  ]);
  await send(team, "run.usage", { run_id, cost_usd: 0.25, input_tokens: 100, output_tokens: 20 });
  expect(await page.type("run.used")).toMatchObject({
    run_id,
    cost_usd: 0.25,
    input_tokens: 100,
    output_tokens: 20,
  });
  expect(await send(team, "run.end", { run_id, outcome: "done", cost_usd: 0.5 })).toMatchObject({
    run: { state: "ended" },
  });
  expect(await page.type("run.ended")).toMatchObject({ run_id, agent_id, outcome: "done", cost_usd: 0.5 });
  expect(await runsOf()).toMatchObject([{ state: "ended", outcome: "done", cost_usd: 0.5 }]);
  expect((await refused(team, "run.end", { run_id, outcome: "done" })).code).toBe("unknown_run");
});

test("TURN-1 starting the same run_id again is the same run; another's id or another turn is a conflict", async () => {
  const { owner, team, space, agent_id, runsOf } = await room();
  const other = await newAgents(owner, "Others", "Spy");
  await send(owner, "member.add", { space_id: space, participant_id: other.agents[0] });
  const { message_id } = await say(owner, space, "@Scout go");
  const start = { run_id: newId("run"), space_id: space, agent_id, message_ids: [message_id] };
  await send(team, "run.start", start);
  const head = await headOf(owner);
  expect(await send(team, "run.start", start)).toMatchObject({ run: { state: "working" } });
  expect(await headOf(owner)).toBe(head);
  for (const [by, changed] of [
    [team, { agent_id: team.agents[1] }],
    [other, { agent_id: other.agents[0], message_ids: [] }],
  ] as const)
    expect((await refused(by, "run.start", { ...start, ...changed })).code).toBe("conflict");
  await send(team, "run.end", { run_id: start.run_id, outcome: "done" });
  expect(await send(team, "run.start", start)).toMatchObject({ run: { state: "ended" } });
  expect(await runsOf()).toHaveLength(1);
});

test("TURN-1 a message has one run an agent, and another only after failed or stopped", async () => {
  const { owner, team, space, agent_id } = await room();
  for (const [outcome, again] of [
    ["done", false],
    ["no_reply", false],
    ["failed", true],
    ["stopped", true],
  ] as const) {
    const { message_id } = await say(owner, space, "@Scout go");
    const run_id = await startRun(team, space, agent_id, [message_id]);
    const second = { run_id: newId("run"), space_id: space, agent_id, message_ids: [message_id] };
    expect((await refused(team, "run.start", second)).code).toBe("conflict");
    await send(team, "run.start", { ...second, run_id: newId("run"), agent_id: team.agents[1] });
    await send(team, "run.end", { run_id, outcome });
    if (again) await send(team, "run.start", { ...second, run_id: newId("run") });
    else expect((await refused(team, "run.start", second)).code).toBe("conflict");
  }
});

test("TURN-1 who may run what: its own agents, in spaces where they are, for messages that are there", async () => {
  const { owner, team, space, agent_id } = await room();
  const other = await newSpace(owner, "Other");
  const elsewhere = await say(owner, other, "x");
  const plain = await newHarness(owner, "Plain");
  const bob = await newPerson(owner, "Bob");
  const start = (fields: object) => ({ run_id: newId("run"), space_id: space, agent_id, ...fields });
  const code = async (by: { id: string; token: string }, fields: object) =>
    (await refused(by, "run.start", start(fields))).code;
  expect(await code(owner, {})).toBe("forbidden");
  expect(await code(bob, {})).toMatch(/forbidden|not_found/);
  expect(await code(plain, {})).toMatch(/forbidden|not_found/);
  expect(await code(plain, { agent_id: plain.id })).toBe("not_found");
  expect(await code(team, { space_id: other })).toBe("not_found");
  expect(await code(team, { message_ids: [elsewhere.message_id] })).toBe("invalid");
  expect(await code(team, { message_ids: [newId("msg")] })).toBe("invalid");
  expect(await code(team, { message_ids: "x" })).toBe("invalid");
  expect(await code(team, { run_id: "run_1" })).toBe("invalid");
  await send(team, "agent.withdraw", { agent_id });
  expect(await code(team, {})).toBe("forbidden");
});

test("TURN-2 a post in a run is the agent's, belongs to the run, and goes where it runs", async () => {
  const { owner, team, space, agent_id } = await room();
  const other = await newSpace(owner, "Other", team.agents);
  const { message_id } = await say(owner, space, "@Scout go");
  const run_id = await startRun(team, space, agent_id, [message_id]);
  const said = await say(team, space, "on it", { run_id });
  const fact = (await eventsOf(owner)).find((e) => e.message_id === said.message_id);
  expect(fact).toMatchObject({
    run_id,
    from: { participant_id: agent_id },
    actor: { kind: "agent", id: agent_id, harness_id: team.id },
  });
  expect((await refused(team, "message.post", { space_id: other, text: "x", run_id })).code).toBe("invalid");
  await send(team, "run.end", { run_id, outcome: "done" });
  expect(
    (
      await refused(team, "message.post", {
        space_id: space,
        text: "late",
        run_id,
        actor: { kind: "agent", id: agent_id },
      })
    ).code,
  ).toBe("unknown_run");
});

test("TURN-3 message.heard is told to people; a turn that never says it leaves the words to the next context", async () => {
  const { owner, team, space, agent_id } = await room();
  const page = await connect(owner);
  const first = await say(owner, space, "@Scout go");
  const run_id = await startRun(team, space, agent_id, [first.message_id]);
  const aside = await say(owner, space, "and mind the gap");
  await send(team, "message.heard", { run_id, message_ids: [aside.message_id] });
  expect(await page.type("message.heard")).toMatchObject({
    run_id,
    space_id: space,
    message_ids: [aside.message_id],
    actor: { id: agent_id },
  });
  await say(team, space, "done", { run_id });
  await send(team, "run.end", { run_id, outcome: "done" });
  const next = await say(owner, space, "@Scout more");
  const delivered = (await eventsOf(team)).find((e) => e.message_id === next.message_id);
  expect(delivered.context.lines.map((l: Any) => l.text)).toContain("and mind the gap");
  for (const message_ids of [[], "x", [newId("msg")], Array.from({ length: 101 }, () => aside.message_id)]) {
    const run = await startRun(team, space, agent_id, []);
    expect((await refused(team, "message.heard", { run_id: run, message_ids })).code).toBe("invalid");
  }
});

test("SPEND-4 a cost is a total that never goes down, finite, 0 to 10,000; tokens are whole", async () => {
  const { team, space, agent_id, runsOf } = await room();
  const run_id = await startRun(team, space, agent_id, []);
  await send(team, "run.usage", { run_id, cost_usd: 1.5 });
  await send(team, "run.usage", { run_id, cost_usd: 1.5, input_tokens: 5 });
  for (const wrong of [
    { cost_usd: 1.49 },
    { cost_usd: -1 },
    { cost_usd: 10_000.01 },
    { cost_usd: "2" },
    { cost_usd: Number.MAX_VALUE },
    { input_tokens: 1.5 },
    { output_tokens: -1 },
  ])
    expect([wrong, (await refused(team, "run.usage", { run_id, ...wrong })).code]).toEqual([
      wrong,
      "invalid",
    ]);
  expect((await refused(team, "run.end", { run_id, outcome: "done", cost_usd: 1 })).code).toBe("invalid");
  expect(await runsOf()).toMatchObject([{ state: "working", cost_usd: 1.5 }]);
  for (const outcome of ["finished", "", null, undefined])
    expect((await refused(team, "run.end", { run_id, outcome })).code).toBe("invalid");
  await send(team, "run.end", { run_id, outcome: "failed", cost_usd: 2 });
  await send(team, "run.usage", { run_id, cost_usd: 3 });
  expect(await runsOf()).toMatchObject([{ state: "ended", outcome: "failed", cost_usd: 3 }]);
});
