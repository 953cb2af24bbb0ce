/** The envelope of events: what is stamped, counted, keyed, claimed and told apart (ENV, ID). */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { FACTS } from "../../src/shared/wire/index.ts";
import {
  type Any,
  as,
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
  post,
  refused,
  say,
  send,
  sorted,
  startRun,
  verb,
} from "./kit.ts";

const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

test("ENV-1 ID-1 every event carries the whole envelope, with ids of the right kind", async () => {
  const { id: workspaceId, owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const [page, harness] = [await connect(owner), await connect(team)];
  const said = await say(owner, space, "@Scout look around");
  const run = await startRun(team, space, team.agents[0], [said.message_id]);
  await say(team, space, "Done.", { run_id: run });
  await send(team, "run.end", { run_id: run, outcome: "done" });
  await page.type("run.ended");
  await harness.fence();
  expect(page.events().length).toBeGreaterThanOrEqual(8);
  for (const event of [...page.events(), ...harness.events()]) {
    expect(event).toMatchObject({ v: 1, workspace_id: workspaceId });
    expect(event.id).toMatch(new RegExp(`^evt_${ULID}$`));
    expect(new Date(event.ts).toISOString()).toBe(event.ts);
    expect(event.seq).toBeGreaterThan(0);
    expect(event.actor.kind).toMatch(/^(person|harness|agent|system)$/);
    if (/^(message|space|member|run)\./.test(event.type)) expect(event.space_id).toBe(space);
    if (event.type.startsWith("run.")) expect(event.run_id).toBe(run);
  }
  const posted = page.frames.find((f) => f.type === "message.posted");
  expect(posted).toMatchObject({ actor: { kind: "person", id: owner.id }, message_id: said.message_id });
  expect(said.message_id).toMatch(new RegExp(`^msg_${ULID}$`));
  const answer = page.frames.find((f) => f.type === "message.posted" && f.text === "Done.");
  expect(answer).toMatchObject({
    run_id: run,
    actor: { kind: "agent", id: team.agents[0], harness_id: team.id },
  });
  const minted = page.events().flatMap((e) => e.message_id ?? []);
  expect(sorted(minted)).toEqual(minted);
});

test("ENV-2 what the server stamps replaces a sender's value, however wrong, and never refuses it", async () => {
  const { id: workspaceId, owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  const before = await headOf(owner);
  const lies = [
    { ts: "1999-01-01T00:00:00.000Z", workspace_id: newId("ws"), seq: 999_999 },
    { actor: { kind: "person", id: bob.id } },
    { ts: 5, workspace_id: null, seq: "many", actor: "bob" },
    { ts: {}, workspace_id: [], seq: -1, actor: { kind: "system", id: "system" } },
    {
      from: { participant_id: bob.id },
      message_id: newId("msg"),
      mentions: [bob.id],
      addressed_to: [bob.id],
    },
  ];
  for (const lie of lies) await say(owner, space, "plain words", lie);
  const events = await eventsOf(owner, before);
  expect(events.map((e) => e.seq)).toEqual(lies.map((_, i) => before + 1 + i));
  for (const event of events) {
    expect(event).toMatchObject({
      workspace_id: workspaceId,
      actor: { kind: "person", id: owner.id },
      from: { participant_id: owner.id },
      addressed_to: [],
    });
    expect(event).not.toHaveProperty("mentions");
    expect(Math.abs(Date.parse(event.ts) - Date.now())).toBeLessThan(60_000);
  }
});

test("ENV-3 one counter for the workspace: no holes and no repeats, whoever writes where", async () => {
  const { owner } = await newWorkspace();
  const people = await Promise.all(["Bob", "Cleo", "Dan"].map((name) => newPerson(owner, name)));
  const spaces = await Promise.all(
    ["One", "Two"].map((title) =>
      newSpace(
        owner,
        title,
        people.map((p) => p.id),
      ),
    ),
  );
  const sockets = await Promise.all(people.map((p) => connect(p)));
  const head = await headOf(owner);
  const receipts = await Promise.all([
    ...sockets.flatMap((socket, i) =>
      Array.from({ length: 10 }, (_, n) =>
        socket.ask(verb("message.post", { space_id: spaces[(i + n) % 2], text: `socket ${i} ${n}` })),
      ),
    ),
    ...people.flatMap((p, i) => [0, 1, 2].map((n) => say(p, spaces[n % 2] ?? "", `http ${i} ${n}`))),
  ]);
  const seqs = receipts.map((r) => r.seq).toSorted((a: number, b: number) => a - b);
  expect(seqs).toEqual(seqs.map((_, i) => head + 1 + i));
  const all = (await eventsOf(owner)).map((e) => e.seq);
  expect(all).toEqual(all.map((_, i) => i + 1));
});

test("ENV-4 the same sender, key and body again: the first receipt, marked, and nothing happens", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const socket = await connect(owner);
  const frame = verb("message.post", { space_id: space, text: "once" });
  const first = await socket.ask(frame);
  expect(first).toMatchObject({ of: frame.id, id: frame.id });
  expect(first).not.toHaveProperty("duplicate");
  const head = await headOf(owner);
  const again = [
    frame,
    { ...frame, id: newId("evt") },
    { ...frame, id: newId("evt"), ts: "2001-01-01T00:00:00Z", seq: 1, actor: { kind: "person", id: "x" } },
    { ...frame, id: newId("evt"), somethingElse: true },
  ];
  for (const repeat of again) {
    const answers = [await socket.ask(repeat), (await post(owner, "/v1/events", repeat)).body.receipts[0]];
    for (const answer of answers) expect(answer).toEqual({ ...first, of: repeat.id, duplicate: true });
  }
  expect(await headOf(owner)).toBe(head);
  expect((await eventsOf(owner)).filter((e) => e.type === "message.posted")).toHaveLength(1);
  // In one array the second is a repeat of the first.
  const pair = verb("message.post", { space_id: space, text: "pair" });
  const { body } = await post(owner, "/v1/events", [pair, { ...pair, id: newId("evt") }]);
  expect(body.receipts[1]).toMatchObject({ id: pair.id, duplicate: true });
});

test("ENV-4 the same key with another body is a conflict, another's key is another key", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  const idempotency_key = "k".repeat(200);
  await say(owner, space, "first", { idempotency_key });
  const head = await headOf(owner);
  const others = [
    refused(owner, "message.post", { space_id: space, text: "second", idempotency_key }),
    refused(owner, "message.post", { space_id: space, text: "first", session_ref: "s", idempotency_key }),
    refused(owner, "space.rename", { space_id: space, title: "first", idempotency_key }),
  ];
  for (const error of await Promise.all(others)) expect(error.code).toBe("conflict");
  expect(await headOf(owner)).toBe(head);
  expect(await say(bob, space, "first", { idempotency_key })).not.toHaveProperty("duplicate");
});

test("ENV-4 a logged verb needs a key of 1 to 200 characters, and a refused write keeps none", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  for (const idempotency_key of [undefined, "", "k".repeat(201), 7, null, {}]) {
    const error = await refused(owner, "message.post", { space_id: space, text: "x", idempotency_key });
    expect(error).toMatchObject({ code: "invalid", details: [{ path: "idempotency_key" }] });
  }
  const idempotency_key = randomUUID();
  expect((await refused(owner, "message.post", { space_id: space, text: "", idempotency_key })).code).toBe(
    "invalid",
  );
  expect(await say(owner, space, "now", { idempotency_key })).not.toHaveProperty("duplicate");
});

test("ENV-4 the frame's id becomes the event's, of several facts the main one's, and is taken once", async () => {
  const { owner } = await newWorkspace();
  const made = verb("space.create", { title: "Lobby" });
  const { body } = await post(owner, "/v1/events", made);
  const facts = await eventsOf(owner);
  expect(facts.map((f) => f.type)).toEqual(["space.created", "member.joined"]);
  expect(facts[0]).toMatchObject({ id: made.id, seq: body.receipts[0].seq });
  const space_id = body.receipts[0].space_id;
  for (const id of facts.map((f) => f.id)) {
    const error = await refused(owner, "message.post", { space_id, text: "x", id });
    expect(error).toMatchObject({ code: "conflict", of: id });
  }
});

test("ENV-4 the sender is the token's participant: a harness's agents share its keys", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const space = await newSpace(owner, "Lobby", team.agents);
  const idempotency_key = randomUUID();
  const first = await say(team, space, "here", { ...as(team, 0), idempotency_key });
  const second = await say(team, space, "here", { ...as(team, 1), idempotency_key });
  expect(second).toMatchObject({ id: first.id, message_id: first.message_id, duplicate: true });
});

test("ENV-5 a harness acts as itself or as an agent that it declared, and nobody acts as another", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const other = await newAgents(owner, "Others", "Spy");
  const plain = await newHarness(owner, "Plain");
  const space = await newSpace(owner, "Lobby", [...team.agents, ...other.agents, plain.id]);
  const seen = await connect(owner);
  await say(team, space, "as Scout", as(team));
  await say(plain, space, "as itself", { actor: { kind: "harness", id: other.id } });
  const posted = async (text: string) => (await seen.next((f) => f.text === text)).actor;
  expect(await posted("as Scout")).toEqual({ kind: "agent", id: team.agents[0], harness_id: team.id });
  expect(await posted("as itself")).toEqual({ kind: "harness", id: plain.id });
  const claims: [Any, Any][] = [
    [plain, as(team)],
    [other, as(team)],
    [owner, as(team)],
    [team, { actor: { kind: "agent", id: newId("agt") } }],
    [team, { actor: { kind: "agent", id: "" } }],
    [team, { actor: { kind: "agent" } }],
  ];
  for (const [by, claim] of claims)
    expect((await refused(by, "message.post", { space_id: space, text: "x", ...claim })).code).toBe(
      "forbidden",
    );
  await send(team, "agent.withdraw", { agent_id: team.agents[0] });
  expect((await refused(team, "message.post", { space_id: space, text: "x", ...as(team) })).code).toBe(
    "forbidden",
  );
});

test("ENV-6 an unknown type is unknown_type, a fact is for the server to say, on both ways in", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const socket = await connect(owner);
  const head = await headOf(owner);
  const codeOf = async (frame: Any) => {
    const [live, http] = [await socket.ask(frame), (await post(owner, "/v1/events", frame)).body];
    expect(live).toEqual(http);
    return live.code;
  };
  for (const type of [
    "message.shout",
    "",
    "MESSAGE.POST",
    "message.post ",
    "__proto__",
    "constructor",
    "toString",
  ])
    expect([type, await codeOf(verb(type, { space_id: space, text: "x" }))]).toEqual([type, "unknown_type"]);
  // Verb and fact at once; approval.routed from a person is taken as approval.route (LOG-2).
  const both = new Set(["message.heard", "space.set", "approval.routed"]);
  const facts = Object.keys(FACTS).filter((type) => !both.has(type));
  for (const type of [
    ...facts,
    "message.new",
    "message.overheard",
    "receipt",
    "welcome",
    "caught_up",
    "sync",
    "error",
  ])
    expect([type, await codeOf(verb(type, { space_id: space, text: "x" }))]).toEqual([type, "forbidden"]);
  for (const type of [undefined, null, 7, ["message.post"], { a: 1 }])
    expect(await codeOf({ ...verb(""), type })).toBe("malformed");
  expect(await headOf(owner)).toBe(head);
});

test("ENV-6 unknown fields are dropped; what is wrong is named path by path", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  await say(owner, space, "x", { surprise: { deep: [1] }, held: true, deleted: true, edited_at: "now" });
  const [event] = (await eventsOf(owner)).slice(-1);
  for (const name of ["surprise", "held", "deleted", "edited_at"]) expect(event).not.toHaveProperty(name);
  const paths = async (type: string, fields: object) => {
    const error = await refused(owner, type, fields);
    expect(error.code).toBe("invalid");
    return error.details.map((d: Any) => d.path).toSorted();
  };
  expect(await paths("message.post", { space_id: 7, text: [], reply_to: "m" })).toEqual([
    "reply_to",
    "space_id",
    "text",
  ]);
  expect(await paths("message.post", { text: "x" })).toEqual(["space_id"]);
  expect(
    await paths("message.post", { space_id: space, text: "x", attachments: [{ attachment_id: "a" }] }),
  ).toEqual(["attachments.0.attachment_id"]);
  expect(await paths("space.create", { title: "x", visibility: "hidden" })).toEqual(["visibility"]);
  expect(await paths("member.role", { space_id: space, participant_id: owner.id, role: "king" })).toEqual([
    "role",
  ]);
  expect(await paths("message.post", { space_id: space, text: "x", id: "mine" })).toEqual(["id"]);
});

test("ENV-7 what belongs to a run names an open one of the sender's", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const other = await newAgents(owner, "Others", "Spy");
  const space = await newSpace(owner, "Lobby", [...team.agents, ...other.agents]);
  const said = await say(owner, space, "@Scout go");
  const open = await startRun(other, space, other.agents[0], []);
  const ended = await startRun(team, space, team.agents[0], [said.message_id]);
  await send(team, "run.end", { run_id: ended, outcome: "done" });
  const needing: [string, object][] = [
    ["message.heard", { message_ids: [said.message_id] }],
    ["run.step", { text: "step" }],
    ["run.end", { outcome: "done" }],
    ["run.usage", { cost_usd: 1 }],
  ];
  for (const [type, fields] of needing) {
    expect([type, (await refused(team, type, fields)).code]).toEqual([type, "run_required"]);
    for (const run_id of [open, newId("run")])
      expect([type, (await refused(team, type, { ...fields, run_id })).code]).toEqual([type, "unknown_run"]);
    // Only a late cost is still taken of a run that has ended (SPEND-3).
    if (type === "run.usage") await send(team, type, { ...fields, run_id: ended });
    else expect((await refused(team, type, { ...fields, run_id: ended })).code).toBe("unknown_run");
  }
  for (const run_id of [open, ended, newId("run")])
    expect(
      (await refused(team, "message.post", { space_id: space, text: "x", run_id, ...as(team) })).code,
    ).toBe("unknown_run");
});

test("ID-2 an id that a client mints is checked for its form and not for its time", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const good = ["0".repeat(26), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", newId("evt").slice(4)];
  for (const ulid of good) {
    expect((await say(owner, space, "x", { id: `evt_${ulid}` })).id).toBe(`evt_${ulid}`);
    await send(team, "run.start", { run_id: `run_${ulid}`, space_id: space, agent_id: team.agents[0] });
  }
  const tail = newId("evt").slice(4);
  const bad = [
    "",
    "evt_",
    `evt_${tail.toLowerCase()}`,
    `evt_8${tail.slice(1)}`,
    `evt_${tail.slice(0, 25)}U`,
    `evt_${tail}0`,
    ` evt_${tail}`,
    `evt_${tail}\n`,
    `msg_${tail}`,
    tail,
  ];
  for (const id of bad) {
    const error = await refused(owner, "message.post", { space_id: space, text: "x", id });
    expect(error).toMatchObject({ code: "invalid", details: [{ path: "id" }] });
    const run_id = id.replace("evt_", "run_");
    const start = { space_id: space, agent_id: team.agents[0], run_id };
    expect((await refused(team, "run.start", start)).code).toBe("invalid");
  }
  expect((await get(owner, `/v1/spaces/${space}/runs`)).body.items).toHaveLength(good.length);
});
