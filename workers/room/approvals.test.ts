/** The life of an ask: who may decide it, once, how it is edited, routed, cancelled (APR), and questions (ASK). */
/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import { expect, test } from "vitest";
import { ask, askFields, askingRoom, decide, events, get, read, refusedAsk, runOf } from "../testing/asks.ts";
import {
  type Any,
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  refused,
  roomStub,
  send,
  verb,
} from "../testing/client.ts";

test("APR-1 the same id again is the same ask; other content or another harness's is a conflict", async () => {
  const room = await askingRoom();
  const fields = askFields(room);
  const first = await send(room.harness, "approval.request", fields);
  expect(first.approval).toMatchObject({ state: "pending", approvers: [room.owner.id], fallback: "deny" });
  const again = await send(room.harness, "approval.request", fields);
  expect(again).not.toHaveProperty("seq");
  expect(again.approval.state).toBe("pending");
  await decide(room.owner, fields.approval_id, "allow");
  const later = await send(room.harness, "approval.request", fields);
  expect(later.approval).toMatchObject({ state: "allowed", decision: "allow", via: "person" });
  const asked = (await events(room.owner)).filter((e) => e.type === "approval.requested");
  expect(asked).toHaveLength(1);

  // A process that was started again may say so; the decision reaches it by the newest token.
  const pending = askFields(room, { resume_token: "rt_old" });
  await send(room.harness, "approval.request", pending);
  await send(room.harness, "approval.request", { ...pending, resume_token: "rt_new" });
  await decide(room.owner, pending.approval_id, "deny");
  const told = await room.socket.next((f) => f.approval_id === pending.approval_id);
  expect(told).toMatchObject({ type: "approval.decided", resume_token: "rt_new" });

  const other = { ...fields, question: "Really?" };
  expect((await refused(room.harness, "approval.request", other)).code).toBe("conflict");
  const second = await newHarness(room.owner, "Second");
  await send(room.owner, "member.add", { space_id: room.space, participant_id: second.id });
  const run_id = newId("run");
  await send(second, "run.start", { run_id, space_id: room.space });
  expect((await refused(second, "approval.request", { ...fields, run_id })).code).toBe("conflict");
});

test("APR-1 ENV-7 an ask has bounds and a run of its own", async () => {
  const room = await askingRoom();
  for (const expires_in of [0, 0.5, 30 * 86_400 + 1, -1, "60"])
    expect((await refusedAsk(room, { expires_in })).code).toBe("invalid");
  for (const expires_in of [1, 30 * 86_400]) expect((await ask(room, { expires_in })).state).toBe("pending");
  expect((await refusedAsk(room, { run_id: undefined })).code).toBe("run_required");
  expect((await refusedAsk(room, { run_id: newId("run") })).code).toBe("unknown_run");
  expect((await refusedAsk(room, { space_id: newId("spc") })).code).toBe("invalid");
  const big = { format: "plain", body: "x".repeat(130 * 1024) };
  expect((await refusedAsk(room, { preview: big })).code).toBe("too_large");
  let deep: Any = "x";
  for (let i = 0; i < 200; i++) deep = [deep];
  expect((await refusedAsk(room, { action: { kind: "a.b", input: deep } })).code).toBe("malformed");
  const { code } = await refused(room.bob, "approval.request", askFields(room));
  expect(code).toBe("unknown_run");
});

test("APR-1 a fallback of allow holds only where the rule that matched says so", async () => {
  const room = await askingRoom();
  const plain = await ask(room, { fallback: "allow" });
  expect(plain.fallback).toBe("deny");
  const rules = [{ id: "notes", when: { action: ["file.*"] }, then: "ask", fallback: "allow" }];
  await send(room.owner, "policy.set", { rules });
  expect(await ask(room, { fallback: "allow" })).toMatchObject({
    fallback: "allow",
    rule: "notes",
    version: 1,
  });
  expect((await ask(room)).fallback).toBe("deny");
  expect((await ask(room, { fallback: "allow", action: { kind: "a.b" } })).fallback).toBe("deny");
});

test("APR-2 approvers are resolved to ids before the ask is stored", async () => {
  const room = await askingRoom();
  const guest = await newPerson(room.owner, "Gus", "guest", [room.space]);
  const cleo = await newPerson(room.owner, "Cleo");
  const of = async (approvers: string[]) => (await ask(room, { approvers })).approvers.toSorted();
  const both = [room.owner.id, room.bob.id].toSorted();
  expect(await of(["owner"])).toEqual([room.owner.id]);
  expect(await of(["any"])).toEqual(both);
  expect(await of(["role:member"])).toContain(room.bob.id);
  expect(await of([room.bob.id, room.bob.id])).toEqual([room.bob.id]);
  expect(await of([cleo.id])).toEqual([cleo.id]);
  // A guest decides nothing, so nobody is left: the workspace's owners do.
  expect(await of([guest.id])).toEqual([room.owner.id]);
  for (const wrong of ["lead", "role:king", room.ids.Otter ?? "", newId("usr"), "bob"]) {
    const error = await refusedAsk(room, { approvers: [room.bob.id, wrong] });
    expect(error.code).toBe("invalid");
    expect(error.details[0].path).toBe("approvers.1");
  }
  const seen = (await events(room.bob)).find((e) => e.type === "approval.requested");
  expect(seen.approvers).toEqual([room.owner.id]);
});

test("APR-2 ERR-3 an approver outside the space sees that ask only", async () => {
  const room = await askingRoom();
  const cleo = await newPerson(room.owner, "Cleo");
  const page = await connect(cleo);
  const hidden = await ask(room);
  const shown = await ask(room, { approvers: [cleo.id], question: "May I?" });
  expect((await page.next((f) => f.type === "approval.requested")).approval_id).toBe(shown.id);
  expect((await get(cleo, "/v1/approvals")).items.map((i: Any) => i.approval_id)).toEqual([shown.id]);
  const about = [...page.frames, ...(await events(cleo))].filter((e) => e.space_id === room.space);
  expect(about.map((e) => e.type)).toEqual(["approval.requested", "approval.requested"]);
  const cost = async (approval_id: string) => {
    const before = (await roomStub(room.workspace).rowCounts()).read;
    const error = await refused(cleo, "approval.decide", { approval_id, decision: "allow" });
    return { error, rows: (await roomStub(room.workspace).rowCounts()).read - before };
  };
  const { error: missing, rows } = await cost(newId("apr"));
  const { error: foreign, rows: alike } = await cost(hidden.id);
  expect(alike).toBe(rows);
  expect(foreign).toEqual({ ...missing, of: foreign.of });
  expect(foreign.code).toBe("not_found");
  await decide(cleo, shown.id, "allow");
  expect((await read(cleo, shown.id)).decided).toMatchObject({
    decision: "allow",
    by: cleo.id,
    via: "person",
  });
});

test("APR-2 a rule may name guests, and the lead for what does not matter and is not its own harness's", async () => {
  const room = await askingRoom();
  const guest = await newPerson(room.owner, "Gus", "guest", [room.space]);
  const other = await newHarness(room.owner, "Other");
  const socket = await connect(other, { agents: [{ name: "Wren" }] });
  const wren = socket.frames[0].agents[0].agent_id;
  await send(room.owner, "member.add", { space_id: room.space, participant_id: wren });
  await send(room.owner, "space.set", { space_id: room.space, lead: wren });
  const rules = [
    { id: "guest", when: { action: ["tea.*"] }, then: "ask", approvers: [guest.id] },
    { id: "lead", when: {}, then: "ask", approvers: ["lead"] },
  ];
  await send(room.owner, "policy.set", { rules });
  const tea = await ask(room, { action: { kind: "tea.make" } });
  expect(tea.approvers).toEqual([guest.id]);
  await decide(guest, tea.id, "deny");

  const serious = await ask(room, { risk: ["destructive"] });
  expect(serious.approvers).toEqual([room.owner.id]);
  const small = await ask(room, { resume_token: "rt_secret" });
  expect(small.approvers).toEqual([wren]);
  const told = await socket.next((f) => f.type === "approval.requested");
  expect(told).toMatchObject({ approval_id: small.id, approvers: [wren] });
  expect(JSON.stringify(socket.frames)).not.toContain("rt_secret");
  const asWren = { actor: { kind: "agent", id: wren } };
  const yes = { approval_id: small.id, decision: "allow" };
  expect((await refused(other, "approval.decide", yes)).code).toBe("not_found");
  expect((await send(other, "approval.decide", { ...yes, ...asWren })).approval.state).toBe("allowed");
  const decided = await room.socket.next((f) => f.type === "approval.decided" && f.approval_id === small.id);
  expect(decided).toMatchObject({ via: "policy", by: wren, resume_token: "rt_secret" });

  await send(room.owner, "space.set", { space_id: room.space, lead: room.ids.Otter });
  expect((await ask(room)).approvers).toEqual([room.owner.id]);
});

test("APR-2 when the last approver is lost the workspace's owners take over", async () => {
  const room = await askingRoom();
  const cleo = await newPerson(room.owner, "Cleo");
  const dan = await newPerson(room.owner, "Dan");
  await send(room.owner, "member.add", { space_id: room.space, participant_id: cleo.id });
  const left = await ask(room, { approvers: [room.bob.id, cleo.id] });
  const outside = await ask(room, { approvers: [dan.id] });
  const demoted = await ask(room, { approvers: [cleo.id] });
  await send(room.bob, "member.remove", { space_id: room.space, participant_id: room.bob.id });
  expect((await read(room.owner, left.id)).approvers).toEqual([cleo.id]);
  await send(room.owner, "participant.role", { participant_id: cleo.id, role: "guest" });
  await send(room.owner, "participant.remove", { participant_id: dan.id });
  for (const { id } of [left, outside, demoted])
    expect((await read(room.owner, id)).approvers).toEqual([room.owner.id]);
  const late = { approval_id: left.id, decision: "allow" };
  expect((await refused(cleo, "approval.decide", late)).code).toBe("forbidden");
  expect(await decide(room.owner, left.id, "deny")).toMatchObject({ state: "denied" });
});

test("APR-3 two approvers at once: one decides, the other is told what and by whom", async () => {
  const room = await askingRoom();
  for (let round = 0; round < 5; round++) {
    const { id } = await ask(room, { approvers: ["any"] });
    const body = (decision: string) => verb("approval.decide", { approval_id: id, decision });
    const answers = await Promise.all([
      call("POST", "/v1/events", { token: room.owner.token, body: body("allow") }),
      call("POST", "/v1/events", { token: room.bob.token, body: body("deny") }),
    ]);
    const won = answers.find((a) => a.status === 200);
    const lost = answers.find((a) => a.status === 409);
    const item = await read(room.owner, id);
    expect(won?.body.receipts[0].approval.state).toBe(item.state);
    expect(lost?.body.code).toBe("conflict");
    const word = item.state === "allowed" ? "Ada allowed" : "Bob denied";
    expect(lost?.body.message).toContain(word);
    expect(lost?.body.details).toContainEqual({ path: "by", message: item.decided.by });
    const decided = (await events(room.owner)).filter(
      (e) => e.type === "approval.decided" && e.approval_id === id,
    );
    expect(decided).toHaveLength(1);
  }
});

test("APR-3 only an approver decides; a harness does not decide its own ask", async () => {
  const room = await askingRoom();
  const { id } = await ask(room);
  const yes = { approval_id: id, decision: "allow" };
  const as = { actor: { kind: "agent", id: room.ids.Scout } };
  expect((await refused(room.bob, "approval.decide", yes)).code).toBe("forbidden");
  expect((await refused(room.harness, "approval.decide", yes)).code).toBe("forbidden");
  expect(["forbidden", "not_found"]).toContain(
    (await refused(room.harness, "approval.decide", { ...yes, ...as })).code,
  );
  const key = { ...verb("approval.decide", yes) };
  const first = await call("POST", "/v1/events", { token: room.owner.token, body: key });
  const again = await call("POST", "/v1/events", { token: room.owner.token, body: key });
  expect(again.body.receipts[0]).toEqual({ ...first.body.receipts[0], duplicate: true });
  const other = await newWorkspace();
  expect((await refused(other.owner, "approval.decide", yes)).code).toBe("not_found");
});

test("APR-3 LOG-2 routing moves the router's right to one person of the space who is no guest", async () => {
  const room = await askingRoom();
  const guest = await newPerson(room.owner, "Gus", "guest", [room.space]);
  const cleo = await newPerson(room.owner, "Cleo");
  const { id: approval_id } = await ask(room);
  for (const to of [guest.id, cleo.id, room.owner.id, newId("usr")])
    expect((await refused(room.owner, "approval.route", { approval_id, to })).code).toBe("invalid");
  const to = room.bob.id;
  expect((await refused(room.bob, "approval.route", { approval_id, to: room.owner.id })).code).toBe(
    "forbidden",
  );
  expect((await refused(room.harness, "approval.routed", { approval_id, to })).code).toBe("forbidden");
  expect((await send(room.owner, "approval.routed", { approval_id, to })).approval.approvers).toEqual([to]);
  const fact = (await events(room.bob)).find((e) => e.type === "approval.routed");
  expect(fact).toMatchObject({ from: room.owner.id, to, approvers: [to] });
  const yes = { approval_id, decision: "allow" };
  expect((await refused(room.owner, "approval.decide", yes)).code).toBe("forbidden");
  await decide(room.bob, approval_id, "allow");
  expect((await refused(room.bob, "approval.route", { approval_id, to: room.owner.id })).code).toBe(
    "conflict",
  );
});

test("APR-5 an editable ask's input may be changed, and the decision carries it", async () => {
  const room = await askingRoom();
  const fixed = await ask(room);
  const input = { path: "other.md" };
  const change = { approval_id: fixed.id, decision: "allow", input };
  expect((await refused(room.owner, "approval.decide", change)).code).toBe("invalid");
  const open = await ask(room, { editable: true, resume_token: "rt_1" });
  const refusal = { approval_id: open.id, decision: "deny", input };
  expect((await refused(room.owner, "approval.decide", refusal)).code).toBe("invalid");
  await decide(room.owner, open.id, "allow", { input });
  const decided = await room.socket.next((f) => f.type === "approval.decided");
  expect(decided).toMatchObject({ decision: "allow", via: "person", by: room.owner.id, input, edited: true });
  expect((await read(room.bob, open.id)).decided).toMatchObject({ input, edited: true });
  expect((await read(room.bob, open.id)).request.action.input).toEqual({ path: "notes.md" });
  const records = (await get(room.owner, "/v1/audit")).items;
  const edit = records.find((r: Any) => r.subject === open.id && r.type === "approval.decided");
  expect(edit.detail).toMatchObject({ asked: { path: "notes.md" }, allowed: input });
  // The same input again is no edit.
  const same = await ask(room, { editable: true });
  await decide(room.owner, same.id, "allow", { input: { path: "notes.md" } });
  expect((await read(room.bob, same.id)).decided).not.toHaveProperty("edited");
});

test("APR-9 a run that ends, is stopped, or whose agent goes cancels its open asks and questions", async () => {
  const room = await askingRoom();
  const ways: [string, (run: string) => Promise<unknown>][] = [
    ["run_ended", (run_id) => send(room.harness, "run.end", { run_id, outcome: "done" })],
    ["run_stopped", (run_id) => send(room.bob, "run.stop", { run_id })],
    [
      "run_ended",
      () => send(room.owner, "member.remove", { space_id: room.space, participant_id: room.ids.Scout }),
    ],
  ];
  for (const [reason, end] of ways) {
    const asking = { ...room, run: await runOf(room, "Scout") };
    const { id } = await ask(asking);
    const question_id = newId("qst");
    await send(room.harness, "question.ask", { run_id: asking.run, question_id, text: "Which one?" });
    await end(asking.run);
    const told = await room.socket.next((f) => f.type === "approval.cancelled" && f.approval_id === id);
    expect(told.reason).toBe(reason);
    expect((await read(room.owner, id)).state).toBe("cancelled");
    const late = { approval_id: id, decision: "allow" };
    expect((await refused(room.owner, "approval.decide", late)).code).toBe("conflict");
    const answer = { question_id, text: "That one." };
    expect((await refused(room.bob, "question.answer", answer)).code).toBe("conflict");
  }
});

test("APR-9 a harness takes its own ask back; nobody else does", async () => {
  const room = await askingRoom();
  const { id: approval_id } = await ask(room);
  expect((await refused(room.owner, "approval.cancel", { approval_id })).code).toBe("forbidden");
  const other = await newHarness(room.owner, "Other");
  expect((await refused(other, "approval.cancel", { approval_id })).code).toBe("not_found");
  expect((await send(room.harness, "approval.cancel", { approval_id })).approval.state).toBe("cancelled");
  expect((await refused(room.harness, "approval.cancel", { approval_id })).code).toBe("conflict");
});

test("TURN-4 after a stop a run asks nothing any more", async () => {
  const room = await askingRoom();
  await send(room.owner, "run.stop", { run_id: room.run });
  expect((await refusedAsk(room)).code).toBe("conflict");
  const question = { run_id: room.run, question_id: newId("qst"), text: "Still?" };
  expect((await refused(room.harness, "question.ask", question)).code).toBe("conflict");
});

test("ASK-1 a question is answered once, by whom it was put to, and its harness is sent the answer", async () => {
  const room = await askingRoom();
  const guest = await newPerson(room.owner, "Gus", "guest", [room.space]);
  const question = { run_id: room.run, question_id: newId("qst"), text: "Which?", options: ["Red", "Blue"] };
  const asked = await send(room.harness, "question.ask", question);
  expect(asked.question).toEqual({ state: "open" });
  const page = await connect(room.bob, { after_seq: 0 });
  const fact = await page.next((f) => f.type === "question.asked");
  expect(fact).toMatchObject({ text: "Which?", options: ["Red", "Blue"], agent_id: room.ids.Scout });
  const { question_id } = question;
  expect((await refused(guest, "question.answer", { question_id, text: "Red" })).code).toBe("forbidden");
  expect((await refused(room.harness, "question.answer", { question_id, text: "Red" })).code).toBe(
    "forbidden",
  );
  await send(room.bob, "question.answer", { question_id, text: "Blue" });
  const answered = await room.socket.next((f) => f.type === "question.answered");
  expect(answered).toMatchObject({ question_id, by: room.bob.id, text: "Blue", option: 1 });
  const twice = await refused(room.owner, "question.answer", { question_id, text: "Red" });
  expect(twice).toMatchObject({ code: "conflict" });
  expect(twice.message).toContain("Bob");
  const again = await send(room.harness, "question.ask", question);
  expect(again.question).toEqual({ state: "answered", by: room.bob.id, text: "Blue" });
  const other = { ...question, text: "What?" };
  expect((await refused(room.harness, "question.ask", other)).code).toBe("conflict");

  const put = { run_id: room.run, question_id: newId("qst"), text: "And you?", to: guest.id };
  await send(room.harness, "question.ask", put);
  const text = "Something of my own";
  expect((await refused(room.bob, "question.answer", { ...put, text })).code).toBe("forbidden");
  await send(guest, "question.answer", { question_id: put.question_id, text });
  const outsider = await newPerson(room.owner, "Out");
  const wrong = { run_id: room.run, question_id: newId("qst"), text: "?", to: [outsider.id] };
  expect((await refused(room.harness, "question.ask", wrong)).code).toBe("invalid");
  const gone = { question_id: newId("qst"), text };
  expect((await refused(room.bob, "question.answer", gone)).code).toBe("not_found");
});

/** The types of the facts about asks and questions. */
function types(list: Any[]): string[] {
  return list.map((e) => e.type).filter((t) => /^(approval|question)\./.test(t));
}

test("CONN-12 a harness is told of its own asks only, and people outside the space of none", async () => {
  const room = await askingRoom();
  const other = await newHarness(room.owner, "Other");
  await send(room.owner, "member.add", { space_id: room.space, participant_id: other.id });
  const outsider = await newPerson(room.owner, "Out");
  await newSpace(room.owner, "Elsewhere", [outsider.id]);
  const { id } = await ask(room, { resume_token: "rt_1" });
  const question_id = newId("qst");
  await send(room.harness, "question.ask", { run_id: room.run, question_id, text: "Which?" });
  await decide(room.owner, id, "allow");
  await send(room.owner, "question.answer", { question_id, text: "That" });
  expect(types(await events(room.harness))).toEqual(["approval.decided", "question.answered"]);
  expect(types(await events(other))).toEqual([]);
  expect(types(await events(outsider))).toEqual([]);
  expect((await get(outsider, "/v1/approvals")).items).toEqual([]);
  expect((await get(other, "/v1/approvals")).items).toEqual([]);
  expect(types(await events(room.bob))).toEqual([
    "approval.requested",
    "question.asked",
    "approval.decided",
    "question.answered",
  ]);
});
