/** Asks over time: expiry by the alarm, harnesses that were away, what waits meanwhile, and what no person reads. */
/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import { runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { ask, askingRoom, decide, events, get, read } from "../testing/asks.ts";
import {
  type Any,
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  refused,
  roomStub,
  say,
  send,
} from "../testing/client.ts";
import { evict, factsOf, pass } from "../testing/judge.ts";
import type { Room } from "./room.ts";

const HOUR = 3600;

function rows(workspace: string, query: string): Promise<Any[]> {
  return runInDurableObject(roomStub(workspace), (_room: unknown, ctx: DurableObjectState) =>
    ctx.storage.sql.exec(query).toArray(),
  );
}

test("APR-6 an ask expires by the alarm, at most two seconds late, also after an eviction", async () => {
  const room = await askingRoom();
  const { id, expires_at } = await ask(room, { expires_in: 2, resume_token: "rt_2" });
  await evict(room.workspace);
  const told = await room.socket.next((f) => f.type === "approval.decided");
  expect(Date.parse(told.ts) - Date.parse(expires_at)).toBeGreaterThanOrEqual(0);
  expect(Date.parse(told.ts) - Date.parse(expires_at)).toBeLessThanOrEqual(2000);
  expect(told).toMatchObject({
    approval_id: id,
    decision: "deny",
    via: "expiry",
    input: { path: "notes.md" },
    resume_token: "rt_2",
  });
  const fact = (await events(room.bob)).find((e) => e.type === "approval.expired");
  expect(fact).toMatchObject({ approval_id: id, decision: "deny", id: told.id, seq: told.seq });
  expect((await read(room.bob, id)).state).toBe("expired");
});

test("APR-6 asks that are due together all expire, each with its fallback, and later ones stay", async () => {
  const room = await askingRoom();
  const rules = [{ id: "notes", when: { action: ["file.*"] }, then: "ask", fallback: "allow" }];
  await send(room.owner, "policy.set", { rules });
  const yes = await ask(room, { expires_in: 60, fallback: "allow" });
  const no = await ask(room, { expires_in: 60 });
  const later = await ask(room, { expires_in: 2 * HOUR });
  await pass(room.workspace, 61);
  expect(await read(room.owner, yes.id)).toMatchObject({
    state: "expired",
    decided: { decision: "allow", via: "expiry" },
  });
  expect(await read(room.owner, no.id)).toMatchObject({
    state: "expired",
    decided: { decision: "deny", via: "expiry" },
  });
  expect((await read(room.owner, later.id)).state).toBe("pending");
  await pass(room.workspace, 2 * HOUR);
  expect((await read(room.owner, later.id)).state).toBe("expired");
});

test("APR-3 APR-6 a decision at the expiry: it comes before it or not at all", async () => {
  const room = await askingRoom();
  const { id } = await ask(room, { expires_in: 60 });
  const yes = { approval_id: id, decision: "allow" };
  // The clock is past the expiry and the alarm has not gone off: the decision is too late all the same.
  await runInDurableObject(roomStub(room.workspace), (object: Room) => {
    object.wall = () => Date.now() + 60_001;
  });
  expect((await refused(room.owner, "approval.decide", yes)).code).toBe("conflict");
  expect((await refused(room.owner, "approval.route", { approval_id: id, to: room.bob.id })).code).toBe(
    "conflict",
  );
  await pass(room.workspace, 61);
  const late = await refused(room.owner, "approval.decide", yes);
  expect(late.code).toBe("conflict");
  expect(late.details).toContainEqual({ path: "by", message: "expiry" });

  const second = await ask(room, { expires_in: 60 });
  await decide(room.owner, second.id, "allow");
  await pass(room.workspace, 120);
  expect((await read(room.owner, second.id)).decided).toMatchObject({ decision: "allow", via: "person" });
  const facts = (await factsOf(room.owner, room.space)).filter((f) => f.approval_id === second.id);
  expect(facts.map((f) => f.type)).toEqual(["approval.requested", "approval.decided"]);
});

test("APR-6 TURN-5 a harness that was away for hours is sent what was decided, once, over evictions", async () => {
  const room = await askingRoom();
  const first = await ask(room, { expires_in: 24 * HOUR, resume_token: "rt_first" });
  const second = await ask(room, { expires_in: 24 * HOUR, resume_token: "rt_second" });
  const head = Math.max(...room.socket.frames.map((f) => f.seq ?? 0), second.seq);
  room.socket.ws.close(1000);
  await room.socket.closed;
  await vi.waitFor(async () => {
    const [row] = await rows(room.workspace, "SELECT gone_at FROM participants WHERE kind = 'harness'");
    expect(row.gone_at).not.toBeNull();
  });
  await pass(room.workspace, 3 * HOUR);
  await decide(room.owner, first.id, "allow");
  await evict(room.workspace);
  await decide(room.owner, second.id, "deny");
  // Nothing is open any more, but its harness does not know: the turn goes on waiting.
  await pass(room.workspace, 5 * HOUR);
  const again = await connect(room.harness, { after_seq: head });
  const told = again.frames.filter((f) => f.type === "approval.decided");
  expect(told.map((f) => [f.approval_id, f.decision, f.resume_token])).toEqual([
    [first.id, "allow", "rt_first"],
    [second.id, "deny", "rt_second"],
  ]);
  // Now its clocks run anew: half an hour later the turn is open, an hour later it has failed.
  await pass(room.workspace, 0.5 * HOUR);
  await send(room.harness, "run.step", { run_id: room.run, text: "Going on" });
  const live = (await events(room.harness)).filter((e) => e.type === "approval.decided");
  expect(live).toEqual(told);
  await pass(room.workspace, HOUR + 1);
  const late = await refused(room.harness, "run.step", { run_id: room.run, text: "Still there" });
  expect(late.code).toBe("unknown_run");
});

test("TURN-5 a run with an open ask or question is waiting, and none of its clocks runs", async () => {
  const room = await askingRoom();
  const { id } = await ask(room, { expires_in: 24 * HOUR });
  await pass(room.workspace, 5 * HOUR);
  const question_id = newId("qst");
  await send(room.harness, "question.ask", { run_id: room.run, question_id, text: "Which?" });
  await decide(room.owner, id, "allow");
  await pass(room.workspace, 5 * HOUR);
  await send(room.bob, "question.answer", { question_id, text: "That" });
  await pass(room.workspace, HOUR - 10);
  const ended = await send(room.harness, "run.end", { run_id: room.run, outcome: "done" });
  expect(ended.run.state).toBe("ended");
});

test("GUARD-1 an ask that reaches a person is work, and deciding or answering is an act in its space", async () => {
  const room = await askingRoom();
  const cleo = await newPerson(room.owner, "Cleo");
  const act = async () =>
    (await rows(room.workspace, "SELECT seq, by FROM acts")).find((a) => a.by !== undefined);
  const since = async () =>
    JSON.stringify(await rows(room.workspace, "SELECT state FROM exchanges WHERE state LIKE '%approval%'"));
  expect(await since()).toBe("[]");
  const one = await ask(room, { approvers: [cleo.id] });
  expect(await since()).not.toBe("[]");
  const before = await act();
  // Cleo is not in the space: her decision is no act there.
  await decide(cleo, one.id, "allow");
  expect(await act()).toEqual(before);
  const two = await ask(room);
  await decide(room.owner, two.id, "deny");
  expect((await act())?.by).toBe(room.owner.id);
  const question_id = newId("qst");
  await send(room.harness, "question.ask", { run_id: room.run, question_id, text: "Which?" });
  await send(room.bob, "question.answer", { question_id, text: "That" });
  expect((await act())?.by).toBe(room.bob.id);
});

test("APR-10 a resume_token is in no person's read, event, audit record or log line", async () => {
  const room = await askingRoom();
  const secret = "rt_that_nobody_reads";
  const other = await newHarness(room.owner, "Other");
  await send(room.owner, "member.add", { space_id: room.space, participant_id: other.id });
  const page = await connect(room.bob);
  const open = await ask(room, { resume_token: secret, approvers: ["any"], editable: true });
  const shut = await ask(room, { resume_token: secret, approvers: ["any"], lasts: "standing" });
  await send(room.owner, "approval.route", { approval_id: open.id, to: room.bob.id });
  await decide(room.bob, open.id, "allow", { input: { path: "x" } });
  await decide(room.owner, shut.id, "allow");
  const expiring = await ask(room, { resume_token: secret, expires_in: 60, action: { kind: "a.b" } });
  await pass(room.workspace, 61);
  await page.next((f) => f.type === "approval.expired" && f.approval_id === expiring.id);
  const paths = ["/v1/approvals", "/v1/grants", "/v1/audit", "/v1/events", "/v1/policy", "/v1/search?q=rt"];
  const space = ["context", "runs", "members", "files"].map((what) => `/v1/spaces/${room.space}/${what}`);
  for (const by of [room.owner, room.bob, other])
    for (const path of [...paths, ...space]) {
      const { body } = await call("GET", path, { token: by.token });
      expect(JSON.stringify(body)).not.toContain(secret);
    }
  await say(room.bob, room.space, "done?");
  expect(JSON.stringify(page.frames)).not.toContain(secret);
  // In storage it stands in one place only: no log line, receipt or record has it.
  const tables = await rows(
    room.workspace,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'words%' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
  );
  for (const { name } of tables) {
    const found = JSON.stringify(await rows(room.workspace, `SELECT * FROM "${name}"`)).includes(secret);
    expect([name, found]).toEqual([name, name === "approvals"]);
  }
  const [stored] = await rows(
    room.workspace,
    "SELECT request || asked || approvers || coalesce(input, '') AS rest FROM approvals LIMIT 1",
  );
  expect(stored.rest).not.toContain(secret);
  const own = (await get(room.harness, "/v1/approvals")).items;
  expect(own.map((i: Any) => i.resume_token)).toEqual([secret, secret, secret]);
});
