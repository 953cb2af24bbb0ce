/** Changes that the pipeline decided for an agent to make as itself (ACT-1, ACT-2). */
import { beforeAll, expect, test } from "vitest";
import type { Op } from "../../src/shared/wire/agent/index.ts";
import { newId } from "../testing/client.ts";
import { catchLetters, letters, lettersNow } from "../testing/letters.ts";
import { anOffice, connected, type Desk, fakeCalls } from "../testing/office.ts";
import { evicted, later } from "../testing/time.ts";

beforeAll(() => {
  fakeCalls();
  catchLetters();
});

const comment = (key: string, ticket = "BP-1"): Op => ({ op: "comment", key, ticket, body: "Hello." });
const move = (key: string, ticket = "BP-1"): Op => ({ op: "move", key, ticket, to: "active" });

async function anAct(desk: Desk, ...ops: ((key: string) => Op)[]): Promise<string> {
  const id = newId("act");
  await desk.letter("act", { id, eventId: newId("evt"), ops: ops.map((op, n) => op(`${id}/${n + 1}`)) });
  return id;
}

test("ACT-1: an act comes while connected, one at a time, in order; the next when the result came", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const first = await anAct(desk, comment);
  const second = await anAct(desk, comment);
  const act = await agent.next((f) => f.type === "act");
  expect(act.payload).toMatchObject({ id: first, ops: [{ op: "comment", key: `${first}/1` }] });
  await agent.ask("ping");
  expect(agent.frames.filter((f) => f.type === "act")).toHaveLength(1);
  await agent.must("act_result", { id: first, ok: true, results: ["said hello"] });
  expect((await agent.next((f) => f.type === "act" && f.payload.id === second)).payload.id).toBe(second);
  expect(await letters(desk, "board", "act_result")).toEqual([
    { handle: "scout", id: first, ok: true, results: ["said hello"] },
  ]);
});

test("ACT-1: offline, acts wait for the welcome; an answer to each in turn, and none comes again", async () => {
  const desk = await anOffice();
  const [first, second] = [await anAct(desk, comment), await anAct(desk, comment)];
  const agent = await connected(desk);
  expect(agent.frames[0].payload.acts).toMatchObject([{ id: first }, { id: second }]);
  await agent.must("act_result", { id: first, ok: true, results: [] });
  await agent.must("act_result", { id: second, ok: true, results: [] });
  agent.ws.close();
  await agent.closed;
  const again = await connected(desk);
  expect(again.frames[0].payload.acts ?? []).toEqual([]);
  expect(again.frames.some((f) => f.type === "act")).toBe(false);
});

test("ACT-1 OFF-7: an act comes again after a minute, doubling, until its result, over evictions", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const id = await anAct(desk, comment);
  await agent.next((f) => f.type === "act");
  const sent = () => agent.frames.filter((f) => f.type === "act").length;
  await later(desk, 61_000, agent);
  expect(sent()).toBe(2);
  await evicted(desk);
  await later(desk, 60_000, agent);
  expect(sent()).toBe(2);
  await later(desk, 61_000, agent);
  expect(sent()).toBe(3);
  await agent.must("act_result", { id, ok: true, results: [] });
  await later(desk, 600_000, agent);
  expect(sent()).toBe(3);
});

test("ACT-1: the same act again is the same act", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const act = { id: newId("act"), eventId: newId("evt"), ops: [comment("a/1")] };
  await desk.letter("act", act);
  await agent.next((f) => f.type === "act");
  await desk.letter("act", act);
  await agent.must("act_result", { id: act.id, ok: true, results: [] });
  await desk.letter("act", act);
  await agent.must("ping");
  expect(agent.frames.filter((f) => f.type === "act")).toHaveLength(1);
});

test("ACT-1: what was not sent gives way to a newer change of the same; what was sent does not", async () => {
  const desk = await anOffice();
  const old = await anAct(desk, move, comment);
  const gone = await anAct(desk, move);
  const newest = await anAct(desk, move);
  const agent = await connected(desk);
  expect(agent.frames[0].payload.acts).toEqual([
    { id: old, ops: [comment(`${old}/2`)] },
    { id: newest, ops: [move(`${newest}/1`)] },
  ]);
  expect(await letters(desk, "board", "act_result")).toMatchObject([{ id: gone, ok: true }]);
  await anAct(desk, move);
  await agent.must("act_result", { id: old, ok: true, results: ["said hello"] });
  const results = await letters(desk, "board", "act_result", 2);
  expect(results[1].results).toEqual([expect.stringMatching(/^skipped: /), "said hello"]);
  await agent.must("act_result", { id: newest, ok: true, results: ["moved"] });
  expect((await agent.next((f) => f.type === "act")).payload.ops).toHaveLength(1);
});

test("ACT-1: what failed is not tried again; the next act comes", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const failed = await anAct(desk, comment);
  const next = await anAct(desk, comment);
  await agent.next((f) => f.type === "act");
  await agent.must("act_result", { id: failed, ok: false, results: [], error: "no such ticket" });
  await agent.next((f) => f.type === "act" && f.payload.id === next);
  await later(desk, 61_000, agent);
  expect(agent.frames.filter((f) => f.type === "act" && f.payload.id === failed)).toHaveLength(1);
  expect(await letters(desk, "board", "act_result")).toMatchObject([
    { id: failed, ok: false, error: "no such ticket" },
  ]);
});

test("OFF-4: an error in answer to an act is a result that is not ok", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const id = await anAct(desk, comment);
  const { id: replyTo } = await agent.next((f) => f.type === "act");
  agent.say("error", { code: "unsupported", message: "I have no tracker." }, { replyTo });
  expect(await letters(desk, "board", "act_result")).toMatchObject([
    { id, ok: false, error: "I have no tracker." },
  ]);
});

test("OFF-8 ACT-2: the same result again is acked, another is invalid, an unknown act is not found", async () => {
  const desk = await anOffice();
  const agent = await connected(desk);
  const id = await anAct(desk, comment);
  await agent.next((f) => f.type === "act");
  const result = { id, ok: true, results: ["said hello"] };
  await agent.must("act_result", result);
  await agent.must("act_result", result);
  expect((await agent.ask("act_result", { ...result, ok: false })).payload.code).toBe("invalid");
  expect((await agent.ask("act_result", { ...result, id: "act_none" })).payload.code).toBe("not_found");
  expect((await agent.ask("act_result", { id })).payload.code).toBe("invalid_message");
  expect(lettersNow(desk, "board", "act_result")).toHaveLength(1);
});

const big = (key: string): Op => ({ op: "comment", key, ticket: "BP-1", body: "x".repeat(400_000) });
test("OFF-5: a welcome fits 1 MiB; the acts that did not fit follow, in order", async () => {
  const desk = await anOffice();
  const ids = [await anAct(desk, big), await anAct(desk, big), await anAct(desk, big)];
  const agent = await connected(desk);
  const welcome = agent.frames[0];
  expect(JSON.stringify(welcome).length).toBeLessThanOrEqual(1_048_576);
  expect(welcome.payload.acts.map((act: { id: string }) => act.id)).toEqual(ids.slice(0, 2));
  for (const id of ids.slice(0, 2)) await agent.must("act_result", { id, ok: true, results: [] });
  expect((await agent.next((f) => f.type === "act")).payload.id).toBe(ids[2]);
});
