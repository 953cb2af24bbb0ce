/** What is said: facts of the log, words and their editions, addressing, replies, files (LOG, ADDR, REPLY, FILE). */
import { expect, test } from "vitest";
import {
  type Any,
  as,
  call,
  connect,
  eventsOf,
  flood,
  get,
  headOf,
  newAgents,
  newFastWorkspace,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  post,
  refused,
  say,
  send,
  startRun,
  verb,
} from "./kit.ts";

const upload = async (by: Party, filename: string, raw: string): Promise<string> => {
  const path = `/v1/attachments?filename=${encodeURIComponent(filename)}`;
  const { status, body } = await call("POST", path, { token: by.token, raw });
  expect(status).toBe(201);
  return body.attachment_id;
};
const turnOf = async (by: Party, messageId: string): Promise<Any> =>
  (await eventsOf(by)).find((e) => e.message_id === messageId);

test("LOG-1 LOG-2 LOG-7 each verb leaves its facts, in the past tense, and nothing else", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  const factsOf = async (by: Party, type: string, fields: object): Promise<string[]> => {
    const before = await headOf(owner);
    const frame = verb(type, fields);
    for (const stamped of ["ts", "workspace_id", "actor"]) expect(frame).not.toHaveProperty(stamped);
    const { status, body } = await post(by, "/v1/events", frame);
    expect([type, status, body.message]).toEqual([type, 200, undefined]);
    return (await eventsOf(owner, before)).map((e) => e.type);
  };
  const { message_id } = await say(owner, space, "@Scout hi");
  const other = await say(owner, space, "and this");
  const run = { run_id: newId("run") };
  const agent_id = team.agents[0];
  const rows: [Party, string, object, string[]][] = [
    [owner, "message.post", { space_id: space, text: "x" }, ["message.posted"]],
    [owner, "message.edit", { message_id, text: "@Scout hello" }, ["message.edited"]],
    [team, "run.start", { ...run, space_id: space, agent_id, message_ids: [message_id] }, ["run.started"]],
    [team, "run.step", { ...run, text: "reading", step_id: "s1" }, ["run.stepped"]],
    [team, "run.usage", { ...run, cost_usd: 0.25, input_tokens: 10 }, ["run.used"]],
    [team, "message.heard", { ...run, message_ids: [other.message_id] }, ["message.heard"]],
    [team, "run.end", { ...run, outcome: "done" }, ["run.ended"]],
    [owner, "message.delete", { message_id }, ["message.deleted"]],
    [owner, "space.rename", { space_id: space, title: "Hall" }, ["space.renamed"]],
    [owner, "space.set", { space_id: space, ceiling_usd: 5 }, ["space.set"]],
    [owner, "space.archive", { space_id: space }, ["space.archived"]],
    [owner, "space.unarchive", { space_id: space }, ["space.unarchived"]],
    [
      owner,
      "member.role",
      { space_id: space, participant_id: bob.id, role: "owner" },
      ["member.role_changed"],
    ],
    [owner, "member.remove", { space_id: space, participant_id: bob.id }, ["member.left"]],
    [owner, "member.add", { space_id: space, participant_id: bob.id }, ["member.joined"]],
    [bob, "participant.rename", { name: "Robert" }, ["participant.renamed"]],
    [owner, "participant.role", { participant_id: bob.id, role: "admin" }, ["participant.role_changed"]],
    [team, "agent.declare", { agents: [{ name: "Runner" }] }, ["agent.declared"]],
    [team, "agent.declare", { agents: [{ name: "Runner" }] }, []],
    [team, "agent.withdraw", { agent_id }, ["agent.withdrawn"]],
    [owner, "settings.set", { settings: { guard: { stop: 20 } } }, ["settings.changed"]],
    [owner, "participant.remove", { participant_id: bob.id }, ["participant.removed", "member.left"]],
    [owner, "space.create", { title: "New" }, ["space.created", "member.joined"]],
  ];
  for (const [by, type, fields, facts] of rows)
    expect([type, await factsOf(by, type, fields)]).toEqual([type, facts]);
  for (const signal of [
    { type: "ack", seq: 1 },
    { type: "read", space_id: space, seq: 1 },
    { type: "typing", space_id: space },
  ]) {
    const before = await headOf(owner);
    expect((await post(owner, "/v1/events", { v: 1, ...signal })).status).toBe(200);
    expect(await headOf(owner)).toBe(before);
  }
});

test("LOG-4 an edit is the author's, shows wherever the message does, and is searched for as it reads now", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  const page = await connect(owner);
  const { message_id, seq } = await say(bob, space, "aardvark first");
  await send(bob, "message.edit", { message_id, text: "@Ada zebra now" });
  expect(await page.type("message.edited")).toMatchObject({
    message_id,
    text: "@Ada zebra now",
    mentions: [owner.id],
  });
  expect((await refused(owner, "message.edit", { message_id, text: "x" })).code).toBe("forbidden");
  const posted = (await eventsOf(owner)).find((e) => e.seq === seq);
  expect(posted).toMatchObject({
    text: "@Ada zebra now",
    edited_at: expect.any(String),
    mentions: [owner.id],
  });
  const hits = async (q: string) =>
    (await get(owner, `/v1/search?q=${q}`)).body.items.map((h: Any) => h.message_id);
  expect([await hits("zebra"), await hits("aardvark")]).toEqual([[message_id], []]);
  expect((await refused(bob, "message.edit", { message_id, text: "  " })).code).toBe("invalid");
  expect((await refused(bob, "message.edit", { message_id: newId("msg"), text: "x" })).code).toBe(
    "not_found",
  );
});

test("LOG-4 a deletion takes words and files away everywhere, for good", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  const file = await upload(bob, "diary.txt", "dear diary");
  const { message_id, seq } = await say(bob, space, "okapi", { attachments: [{ attachment_id: file }] });
  await send(bob, "message.edit", { message_id, text: "okapi again" });
  await send(bob, "message.delete", { message_id });
  const everything = [
    JSON.stringify(await eventsOf(owner)),
    JSON.stringify((await get(owner, `/v1/spaces/${space}/context`)).body),
    JSON.stringify((await get(owner, `/v1/spaces/${space}/files`)).body),
    JSON.stringify((await get(owner, "/v1/search?q=okapi")).body),
  ];
  for (const text of everything) expect(text).not.toMatch(/okapi|diary/);
  expect((await eventsOf(owner)).find((e) => e.seq === seq)).toMatchObject({
    message_id,
    text: "",
    deleted: true,
  });
  expect((await get(bob, `/v1/attachments/${file}/url`)).status).toBe(404);
  for (const [type, fields] of [
    ["message.edit", { message_id, text: "back" }],
    ["message.delete", { message_id }],
  ] as const)
    expect((await refused(bob, type, fields)).code).toBe("gone");
});

test("LOG-7 a post has text or a file, a session_ref of 200 characters at most, and reaches its own space", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  for (const text of [undefined, "", " \n\t"])
    expect((await refused(owner, "message.post", { space_id: space, text })).code).toBe("invalid");
  const file = await upload(owner, "a.txt", "a");
  const bare = await say(owner, space, "", { attachments: [{ attachment_id: file }] });
  expect(await turnOf(owner, bare.message_id)).toMatchObject({
    text: "",
    attachments: [{ filename: "a.txt" }],
  });
  for (const text of [
    "  spaced  ",
    "line\nbreak\ttab",
    "\u202eright to left",
    "👩‍👩‍👧 é e\u0301",
    "<b>&amp;</b>",
    "'; DROP TABLE log; --",
  ]) {
    const { message_id } = await say(owner, space, text, { session_ref: "s".repeat(200) });
    expect(await turnOf(owner, message_id)).toMatchObject({ text, session_ref: "s".repeat(200) });
  }
  for (const session_ref of ["", "s".repeat(201), 7])
    expect((await refused(owner, "message.post", { space_id: space, text: "x", session_ref })).code).toBe(
      "invalid",
    );
});

test("ADDR-2 mentions: longest first, each once in order, not in code, links or addresses; text stays", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Ann", "Anna Lena", "李雷");
  const [ann, lena, li] = team.agents;
  const space = await newSpace(owner, "Lobby", team.agents);
  const cases: [string, (string | undefined)[]][] = [
    ["@Ann", [ann]],
    ["@ann and @ANN", [ann]],
    ["@AnnaLena, then @Ann", [lena, ann]],
    ["hey @Ann! @Ada?", [ann, owner.id]],
    ["请@李雷看看", [li]],
    ["mail me@Ann.org or x@ann", []],
    ["`@Ann` and\n```\n@Ann\n```\n[link](https://x.org/@Ann)", []],
    ["@Anne @Ann_x @Ann2 @nobody", []],
  ];
  for (const [text, mentions] of cases) {
    const event = await turnOf(owner, (await say(owner, space, text)).message_id);
    expect([text, event.mentions ?? []]).toEqual([text, mentions]);
    expect(event.text).toBe(text);
  }
});

const answering = ({ message_id }: Any) => ({ reply_to: message_id });

test("ADDR-3 ADDR-4 whom a message is for: from people, from guests, from agents", async () => {
  const { owner } = await newWorkspace();
  const two = await newAgents(owner, "Scouts", "Scout", "Runner");
  const [scout, runner] = two.agents;
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id, ...two.agents]);
  const gil = await newPerson(owner, "Gil", "guest", [space]);
  const one = await newSpace(owner, "One", [bob.id, scout as string]);
  const none = await newSpace(owner, "None", [bob.id]);
  const byScout = await say(two, space, "I am Scout", as(two, 0));
  const byBob = await say(bob, space, "I am Bob");
  const cases: [Party, string, string, object, (string | undefined)[]][] = [
    [owner, space, "@Scout @Runner both", {}, [scout, runner]],
    [owner, space, "@Runner @Bob", {}, [runner]],
    [owner, space, "@Bob only", answering(byScout), []],
    [owner, space, "an answer", answering(byScout), [scout]],
    [owner, space, "an answer", answering(byBob), []],
    [owner, space, "nobody here is the only one", {}, []],
    [owner, space, "@everyone hear", {}, [scout, runner]],
    [gil, space, "@everyone hear", {}, []],
    [gil, space, "@Runner please", {}, [runner]],
    [owner, one, "the only agent", {}, [scout]],
    [owner, one, "@Bob not the agent", {}, []],
    [owner, none, "no agents here", {}, []],
    [two, space, "@Runner please", as(two, 0), [runner]],
    [two, space, "@Scout it is me, @Runner", as(two, 0), [runner]],
    [two, space, "@everyone", as(two, 0), []],
    [two, space, "@Bob for you", as(two, 0), []],
    [two, space, "an answer", { ...as(two, 1), ...answering(byScout) }, []],
    [two, one, "alone with people", as(two, 0), []],
  ];
  for (const [by, where, text, more, expected] of cases) {
    const { message_id } = await say(by, where, text, more);
    const event = await turnOf(owner, message_id);
    expect([text, event.addressed_to]).toEqual([text, expected]);
  }
});

const noticesOf = async (by: Party) => (await eventsOf(by)).filter((e) => e.type === "notice.posted");

test("ADDR-5 LOG-8 a withdrawn agent is not addressed: a notice says so once, to people and its harness", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const other = await newAgents(owner, "Others", "Spy");
  const space = await newSpace(owner, "Lobby", [...team.agents, ...other.agents]);
  await send(team, "agent.withdraw", { agent_id: team.agents[0] });
  const { message_id, seq } = await say(owner, space, "@Scout and @Scout again");
  expect((await turnOf(owner, message_id)).addressed_to).toEqual([]);
  const [notice, ...more] = await noticesOf(owner);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    space_id: space,
    code: "not_reachable",
    about: [team.agents[0]],
    actor: { kind: "system" },
  });
  expect(notice.text).toContain("Scout");
  expect(notice.seq).toBe(seq + 1);
  expect(await noticesOf(team)).toHaveLength(1);
  expect(await noticesOf(other)).toHaveLength(0);
  // It is no message and no line.
  expect((await get(owner, `/v1/spaces/${space}/context`)).body.context.lines.at(-1)).toMatchObject({
    message_id,
  });
});

test("ADDR-6 NO_REPLY in a run ends it and posts nothing; said otherwise it is a message", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  for (const text of ["NO_REPLY", "  no_reply\n"]) {
    const { message_id } = await say(owner, space, "@Scout anything?");
    const run_id = await startRun(team, space, team.agents[0], [message_id]);
    const frame = verb("message.post", { space_id: space, text, run_id });
    const { receipts } = (await post(team, "/v1/events", frame)).body;
    const [ended] = (await eventsOf(owner)).slice(-1);
    expect(ended).toMatchObject({ type: "run.ended", run_id, outcome: "no_reply", seq: receipts[0].seq });
    expect((await post(team, "/v1/events", frame)).body.receipts[0]).toMatchObject({
      duplicate: true,
      seq: ended.seq,
    });
  }
  const run_id = await startRun(team, space, team.agents[0], []);
  await say(team, space, "NO_REPLY needed", { run_id });
  await say(owner, space, "NO_REPLY");
  await say(team, space, "NO_REPLY", as(team));
  const said = (await eventsOf(owner)).filter((e) => e.text?.startsWith("NO_REPLY"));
  expect(said).toHaveLength(3);
});

test("REPLY-1 REPLY-3 a reply shows what it answers as it reads now; elsewhere and unknown read alike", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const [space, other] = [await newSpace(owner, "Lobby", team.agents), await newSpace(owner, "Other")];
  const file = await upload(owner, "plan.txt", "the plan");
  const asked = await say(owner, space, "first words", { attachments: [{ attachment_id: file }] });
  const reply = await say(owner, space, "@Scout see", { reply_to: asked.message_id });
  const shown = async () => (await turnOf(team, reply.message_id)).replying_to;
  const plain = await shown();
  expect(plain).toMatchObject({
    kind: "said",
    seq: asked.seq,
    message_id: asked.message_id,
    text: "first words",
  });
  expect(plain).not.toHaveProperty("edited");
  expect(plain.from).toMatchObject({ id: owner.id, name: "Ada", kind: "person" });
  const [attached] = plain.attachments;
  const fetched = await call("GET", attached.url.slice(attached.url.indexOf("/v1/")), { token: team.token });
  expect([fetched.status, fetched.body]).toEqual([200, "the plan"]);
  await send(owner, "message.edit", { message_id: asked.message_id, text: "other words" });
  expect(await shown()).toMatchObject({ text: "other words", edited: true });
  await send(owner, "message.delete", { message_id: asked.message_id });
  const gone = await shown();
  expect(gone).toMatchObject({ deleted: true, message_id: asked.message_id, from: { id: owner.id } });
  for (const name of ["text", "files", "attachments"]) expect(gone).not.toHaveProperty(name);
  // One may still answer a deleted message of this space, but none elsewhere or nowhere.
  await say(owner, space, "@Scout again", { reply_to: asked.message_id });
  const elsewhere = await say(owner, other, "elsewhere");
  const errors = [];
  for (const reply_to of [elsewhere.message_id, newId("msg")])
    errors.push({
      ...(await refused(owner, "message.post", { space_id: space, text: "x", reply_to })),
      of: "",
    });
  expect(errors[0]).toMatchObject({ code: "invalid", details: [{ path: "reply_to" }] });
  expect(errors[0]).toEqual(errors[1]);
});

const versions = (items: Any[]) => items.map((f) => [f.name, f.version, f.attachment_id, f.replaces]);

test("FILE-1 FILE-2 files by name: other bytes are the next version, the same ones none; a wrong replaces is dropped", async () => {
  const { owner } = await newWorkspace();
  const plain = await newHarness(owner, "Plain");
  const space = await newSpace(owner, "Lobby", [plain.id]);
  const ids: string[] = [];
  const put = async (filename: string, raw: string, replaces?: string) => {
    const attachment_id = await upload(owner, filename, raw);
    ids.push(attachment_id);
    return say(owner, space, "", { attachments: [{ attachment_id, ...(replaces ? { replaces } : {}) }] });
  };
  await put("a.txt", "one");
  await put("a.txt", "two", ids[0]);
  await put("a.txt", "two");
  await put("b.txt", "other", ids[0]);
  const wrong = await put("a.txt", "three", newId("att"));
  const list = async (by: Party, more = "") => (await get(by, `/v1/spaces/${space}/files${more}`)).body.items;
  expect(versions(await list(owner))).toEqual([
    ["a.txt", 3, ids[4], undefined],
    ["b.txt", 1, ids[3], undefined],
  ]);
  expect(versions(await list(owner, "?name=a.txt"))).toEqual([
    ["a.txt", 3, ids[4], undefined],
    ["a.txt", 2, ids[1], ids[0]],
    ["a.txt", 1, ids[0], undefined],
  ]);
  expect((await turnOf(owner, wrong.message_id)).attachments[0]).not.toHaveProperty("replaces");
  for (const file of await list(owner)) expect(file).not.toHaveProperty("url");
  for (const file of await list(plain)) expect(file.url).toMatch(/\/v1\/attachments\/.*exp=.*sig=/);
  expect(await list(owner, "?name=none.txt")).toEqual([]);
});

test("REPLY-2 before: up to three lines said just before an older message, on a turn only", async () => {
  const { owner } = await newFastWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const other = await newAgents(owner, "Others", "Spy");
  const space = await newSpace(owner, "Lobby", [...team.agents, ...other.agents]);
  await flood(owner, space, 5, "old");
  const old = (await eventsOf(owner)).find((e) => e.text === "old 4");
  await flood(owner, space, 45, "new");
  const reply = await say(owner, space, "@Scout this one", { reply_to: old.message_id });
  const to = await turnOf(team, reply.message_id);
  expect(to.replying_to.before.map((l: Any) => l.text)).toEqual(["old 1", "old 2", "old 3"]);
  expect((await turnOf(other, reply.message_id)).replying_to).not.toHaveProperty("before");
  const recent = (await eventsOf(owner)).find((e) => e.text === "new 40");
  const again = await say(owner, space, "@Scout that one", { reply_to: recent.message_id });
  const near = await turnOf(team, again.message_id);
  expect(near.replying_to).not.toHaveProperty("before");
});
