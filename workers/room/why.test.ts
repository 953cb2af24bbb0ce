/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import { expect, test } from "vitest";
import {
  type Any,
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  newSpace,
  type Party,
  say,
  send,
} from "../testing/client.ts";
import { agentsRoom, factsOf, pass, sayAs } from "../testing/judge.ts";
import { whyOf } from "../testing/why.ts";

const rules = (answer: Any): string[] => answer.decisions.map((d: Any) => d.rule);
const about = (answer: Any, rule: string): Any => answer.decisions.find((d: Any) => d.rule === rule);

/** The newest fact of a type. */
const last = async (by: Party, space: string, type: string): Promise<Any> =>
  (await factsOf(by, space)).findLast((f) => f.type === type);

test("WHY-1 ADDR-3 ADDR-4 a message says whom it was for and by which rule, and why nobody", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const cases: [Any, string, string[], string][] = [
    [await say(room.bob, room.space, "@Ping go"), "ADDR-3", [room.ids.Ping ?? ""], "whom it mentions"],
    [await say(room.bob, room.space, "@everyone go"), "ADDR-3", Object.values(room.ids), "@everyone"],
    [await say(room.bob, room.space, "hm"), "ADDR-3", [], "mentions nobody"],
    [await say(room.bob, room.space, "@Bob me"), "ADDR-3", [], "mentions people"],
    [await sayAs(room, "Ping", "@Pong yes"), "ADDR-4", [room.ids.Pong ?? ""], "whom it mentions"],
    [await sayAs(room, "Ping", "done"), "ADDR-4", [], "only for agents that it mentions"],
  ];
  for (const [said, rule, to, words] of cases) {
    const answer = await whyOf(room.bob, said.id);
    expect(answer).toMatchObject({ event_id: said.id, type: "message.posted", seq: said.seq });
    expect(answer.decisions[0]).toMatchObject({ rule, facts: { addressed_to: to } });
    expect(answer.decisions[0].says).toContain(words);
    expect(await whyOf(room.bob, said.message_id)).toEqual(answer);
  }
  const answer = await sayAs(room, "Ping", "an answer");
  const reply = await say(room.bob, room.space, "and?", { reply_to: answer.message_id });
  expect((await whyOf(room.bob, reply.id)).decisions[0]).toMatchObject({
    rule: "ADDR-3",
    says: 'It is for "Ping", whose message it answers.',
  });
  await send(room.harness, "agent.withdraw", { agent_id: room.ids.Pong });
  const lost = await whyOf(room.bob, (await say(room.bob, room.space, "@Pong?")).id);
  expect(about(lost, "ADDR-5").facts).toEqual({ unreachable: [room.ids.Pong] });
});

test("WHY-1 GUARD-2 GUARD-4 a held message says why, whom it waits for, and where it was handed", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await send(room.owner, "settings.set", { settings: { guard: { stop: 2, hold: 4 } } });
  const said: Any[] = [];
  for (let i = 0; i < 6; i++)
    said.push(await sayAs(room, i % 2 ? "Pong" : "Ping", `@${i % 2 ? "Ping" : "Pong"} step ${i}`));
  const nudged = await whyOf(room.bob, said[1].id);
  expect(about(nudged, "GUARD-1").facts).toMatchObject({ count: 2, total: 2, since: "start" });
  expect(about(nudged, "GUARD-2").facts).toMatchObject({ stage: "warning", stop: 2 });
  const held = await whyOf(room.bob, said[3].id);
  expect(about(held, "GUARD-2").facts).toEqual({ held_from: [room.ids.Ping], count: 4, hold: 4 });
  expect(held.decisions.at(-1).rule).toBe("SPEND-1");
  expect(held.decisions.find((d: Any) => d.facts.newer)?.facts.newer).toBe(said[5].message_id);
  const waiting = await whyOf(room.bob, said[5].id);
  expect(about(waiting, "GUARD-4").facts).toEqual({ waiting: [room.ids.Ping] });

  const go = await say(room.bob, room.space, "go on");
  const handed = await last(room.bob, room.space, "message.handed");
  const after = await whyOf(room.bob, said[5].id);
  expect(about(after, "GUARD-4").facts).toEqual({ to: room.ids.Ping, seq: handed.seq, why: "held" });
  const why = await whyOf(room.bob, handed.id);
  expect(why.decisions[0]).toMatchObject({
    rule: "GUARD-4",
    facts: { act: go.seq, message_seq: said[5].seq },
  });
  expect(why.decisions[1]).toMatchObject({ rule: "GUARD-2", facts: { count: 6, hold: 4 } });
});

test("WHY-1 GUARD-5 GUARD-7 SPEND-2 SPEND-5 a pause says who or what made it, and what ended it", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await send(room.bob, "agents.pause", { space_id: room.space, lasting: true });
  const paused = await whyOf(room.bob, (await last(room.bob, room.space, "agents.paused")).id);
  expect(paused.decisions[0]).toMatchObject({ rule: "GUARD-5", facts: { by: room.bob.id, lasting: true } });
  const shut = await whyOf(room.bob, (await say(room.bob, room.space, "@Ping?")).id);
  expect(about(shut, "GUARD-5").facts).toMatchObject({ held_from: [room.ids.Ping] });
  const held = await whyOf(room.bob, (await sayAs(room, "Ping", "@Pong hi")).id);
  expect(about(held, "GUARD-5").facts).toEqual({ held_from: [room.ids.Pong], pause: "person" });
  await send(room.bob, "agents.resume", { space_id: room.space });
  const resumed = await whyOf(room.bob, (await last(room.bob, room.space, "agents.resumed")).id);
  expect(resumed.decisions).toEqual([
    { rule: "GUARD-5", says: '"Bob" let the agents here go on.', facts: { by: room.bob.id } },
  ]);

  const run_id = newId("run");
  await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id: room.ids.Ping });
  await send(room.harness, "run.usage", { run_id, cost_usd: 3.25 });
  const spend = await whyOf(room.bob, (await last(room.bob, room.space, "agents.paused")).id);
  expect(spend.decisions[0]).toMatchObject({ rule: "SPEND-2", facts: { spent_usd: 3.25, ceiling_usd: 3 } });
  const halted = await whyOf(room.bob, (await last(room.bob, room.space, "run.stopped")).id);
  expect(halted.decisions[0]).toMatchObject({ rule: "SPEND-3", facts: { cause: "spend", by: "system" } });
  const go = await say(room.bob, room.space, "go on");
  const freed = await whyOf(room.bob, (await last(room.bob, room.space, "agents.resumed")).id);
  expect(freed.decisions[0]).toMatchObject({ rule: "GUARD-5", facts: { act: go.seq } });

  await send(room.owner, "settings.set", { settings: { spend: { day_usd: 3 } } });
  const day = await whyOf(room.bob, (await say(room.bob, room.space, "@Ping now?")).id);
  expect(about(day, "SPEND-5").facts).toEqual({ held_from: [room.ids.Ping] });
  const dayPause = await whyOf(room.bob, (await last(room.bob, room.space, "agents.paused")).id);
  expect(dayPause.decisions[0]).toMatchObject({
    rule: "SPEND-5",
    facts: { spent_usd: 3.25, ceiling_usd: 3 },
  });
  await send(room.owner, "settings.set", {
    settings: { spend: { day_usd: null }, guard: { stop: 2, hold: 3 } },
  });
  await say(room.bob, room.space, "all free");
  for (let i = 0; i < 12; i++)
    await sayAs(room, i % 2 ? "Pong" : "Ping", `@${i % 2 ? "Ping" : "Pong"} step ${i}`);
  const guard = await whyOf(room.bob, (await last(room.bob, room.space, "agents.paused")).id);
  expect(guard.decisions[0]).toMatchObject({ rule: "GUARD-7", facts: { total: 12, most: 12 } });
});

test("WHY-1 LEAD-2 TURN-7 the lead's hand-overs say how long it was still, and who had not begun", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const nobody = await say(room.bob, room.space, "could somebody look?");
  expect(rules(await whyOf(room.bob, nobody.id))).toContain("LEAD-2");
  await pass(room.workspace, 21);
  const handed = await whyOf(room.bob, (await last(room.bob, room.space, "message.handed")).id);
  expect(handed.decisions).toHaveLength(1);
  expect(handed.decisions[0]).toMatchObject({ rule: "LEAD-2", facts: { to: [room.ids.Ping], still_s: 20 } });
  expect(about(await whyOf(room.bob, nobody.id), "LEAD-2").facts).toMatchObject({ to: room.ids.Ping });

  const third = await connect(await newHarness(room.owner, "Other"), { agents: [{ name: "Pang" }] });
  const pang = third.frames[0].agents[0].agent_id;
  await send(room.owner, "member.add", { space_id: room.space, participant_id: pang });
  await sayAs(room, "Pong", "@Pang yours");
  await pass(room.workspace, 61);
  const passedOn = await whyOf(room.bob, (await last(room.bob, room.space, "message.handed")).id);
  expect(passedOn.decisions[0]).toMatchObject({ rule: "TURN-7", facts: { waited_for: pang, waited_s: 60 } });
  const notice = await whyOf(room.bob, (await last(room.bob, room.space, "notice.posted")).id);
  expect(rules(notice)).toEqual(["TURN-7"]);
});

test("WHY-1 TURN-4 TURN-5 ADDR-6 SPACE-4 a run's end says who stopped it, or what ended it", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const start = async (name: string) => {
    const run_id = newId("run");
    await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id: room.ids[name] });
    return run_id;
  };
  const ended = async () => whyOf(room.bob, (await last(room.bob, room.space, "run.ended")).id);
  await send(room.harness, "run.end", { run_id: await start("Ping"), outcome: "done", cost_usd: 0.1 });
  expect((await ended()).decisions[0]).toMatchObject({
    rule: "TURN-1",
    facts: { outcome: "done", cost_usd: 0.1 },
  });
  await send(room.harness, "message.post", {
    space_id: room.space,
    run_id: await start("Ping"),
    text: "no_reply",
  });
  expect(rules(await ended())).toEqual(["ADDR-6"]);

  const stopped = await start("Ping");
  const stop = await send(room.bob, "run.stop", { run_id: stopped });
  expect((await whyOf(room.bob, stop.id)).decisions[0]).toMatchObject({
    rule: "TURN-4",
    facts: { by: room.bob.id },
  });
  const late = await send(room.harness, "message.post", {
    space_id: room.space,
    run_id: stopped,
    text: "@Pong quick",
  });
  expect((await whyOf(room.bob, late.id)).decisions[0]).toMatchObject({
    rule: "TURN-4",
    facts: { would_have_been: [room.ids.Pong] },
  });
  await pass(room.workspace, 31);
  expect((await ended()).decisions[0]).toMatchObject({
    rule: "TURN-4",
    facts: { stopped_by: room.bob.id, stopped_seq: stop.seq },
  });
  await start("Ping");
  await pass(room.workspace, 3700);
  expect((await ended()).decisions[0].says).toContain("for an hour");
  await start("Pong");
  await send(room.harness, "agent.withdraw", { agent_id: room.ids.Pong });
  expect(rules(await ended())).toEqual(["SPACE-4"]);
});

test("WHY-1 POL-1 APR-2 APR-3 APR-5 APR-6 APR-7 an ask says which rule and version, who may decide, and what did", async () => {
  const room = await agentsRoom(["Ping"]);
  await send(room.owner, "policy.set", {
    rules: [
      { id: "mail", when: { action: ["email.*"] }, then: "allow" },
      { id: "notes", when: { action: ["note.*"] }, then: "allow" },
    ],
  });
  const run_id = newId("run");
  await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id: room.ids.Ping });
  const ask = async (kind: string, more: object = {}) => {
    const approval_id = newId("apr");
    const fields = {
      run_id,
      approval_id,
      action: { kind, input: { n: 1 } },
      risk: [],
      expires_in: 60,
      ...more,
    };
    const receipt = await send(room.harness, "approval.request", fields);
    return { approval_id, answer: await whyOf(room.owner, receipt.id) };
  };
  const notes = await ask("note.add");
  expect(notes.answer.decisions[0]).toMatchObject({
    rule: "POL-1",
    facts: { rule: "notes", version: 1, outcome: "allow" },
  });
  expect(rules(notes.answer)).toEqual(["POL-1", "APR-7"]);
  const decided = await whyOf(room.owner, (await last(room.owner, room.space, "approval.decided")).id);
  expect(decided.decisions[0]).toMatchObject({
    rule: "POL-1",
    facts: { via: "policy", rule: "notes", version: 1 },
  });

  const mail = await ask("email.send", { editable: true, lasts: "standing" });
  expect(rules(mail.answer)).toEqual(["POL-1", "POL-3", "POL-4", "APR-4", "APR-2", "APR-1"]);
  expect(about(mail.answer, "APR-2").facts).toEqual({ approvers: [room.owner.id] });
  // A policy that is set later changes no reason of before (POL-2).
  await send(room.owner, "policy.set", { rules: [] });
  const asked = await last(room.owner, room.space, "approval.requested");
  expect(await whyOf(room.owner, asked.id)).toEqual(mail.answer);
  const yes = await send(room.owner, "approval.decide", {
    approval_id: mail.approval_id,
    decision: "allow",
    input: { n: 2 },
  });
  const why = await whyOf(room.owner, yes.id);
  expect(rules(why)).toEqual(["APR-3", "APR-5", "APR-7"]);
  expect(why.decisions[0]).toMatchObject({ facts: { by: room.owner.id, decision: "allow" } });
  expect(rules(await whyOf(room.owner, (await last(room.owner, room.space, "grant.made")).id))).toEqual([
    "APR-7",
  ]);
  const again = await ask("email.send", { action: { kind: "email.send", input: { n: 2 } } });
  expect(about(again.answer, "APR-7").facts).toEqual({ grant_id: about(why, "APR-7").facts.grant_id });

  await ask("other.thing");
  await pass(room.workspace, 61);
  const expired = await whyOf(room.owner, (await last(room.owner, room.space, "approval.expired")).id);
  expect(expired.decisions[0]).toMatchObject({ rule: "APR-6", facts: { decision: "deny" } });
  await ask("other.thing");
  await send(room.harness, "run.end", { run_id, outcome: "done" });
  const cancelled = await whyOf(room.owner, (await last(room.owner, room.space, "approval.cancelled")).id);
  expect(cancelled.decisions[0]).toMatchObject({ rule: "APR-9", facts: { reason: "run_ended" } });
});

test("WHY-1 ERR-3 what one may not see is answered as what is not there", async () => {
  const room = await agentsRoom(["Ping"]);
  const hidden = await newSpace(room.owner, "Hidden");
  const secret = await say(room.owner, hidden, "psst");
  const guest = await newPerson(room.owner, "Gus", "guest", [room.space]);
  const unknown = await call("GET", `/v1/why/${newId("evt")}`, { token: room.bob.token });
  expect(unknown.status).toBe(404);
  for (const by of [room.bob, room.harness, guest])
    for (const id of [secret.id, secret.message_id, "evt_nonsense", newId("msg")])
      expect((await call("GET", `/v1/why/${id}`, { token: by.token })).body).toEqual(unknown.body);
  const heard = await say(room.bob, room.space, "@Ping hello");
  for (const by of [room.harness, guest]) expect(rules(await whyOf(by, heard.id))[0]).toBe("ADDR-3");
  const used = await send(room.owner, "settings.set", { settings: { guard: { stop: 9 } } });
  expect((await whyOf(room.bob, used.id)).decisions[0]).toMatchObject({ rule: "SPACE-7" });
  expect((await call("GET", `/v1/why/${used.id}`, { token: guest.token })).status).toBe(404);
  const open = await newSpace(room.owner, "Open", [], { visibility: "open" });
  const words = await say(room.owner, open, "for all to read");
  expect(rules(await whyOf(room.bob, words.id))[0]).toBe("ADDR-3");
});
