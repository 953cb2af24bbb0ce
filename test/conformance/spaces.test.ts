/** Spaces: who sees them, who is in them, who may do what there (SPACE, ADDR-1). */
import { expect, test } from "vitest";
import {
  type Any,
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
  sorted,
  startRun,
} from "./kit.ts";

const listed = async (by: Party): Promise<string[]> =>
  (await get(by, "/v1/spaces")).body.items.map((s: Any) => s.space_id);
const linesOf = async (by: Party, space: string): Promise<Any[]> =>
  (await get(by, `/v1/spaces/${space}/context`)).body.context.lines;
const membersOf = async (by: Party, space: string): Promise<Any[]> =>
  (await get(by, `/v1/spaces/${space}/members`)).body.items;

test("SPACE-1 SPACE-7 a guest sees what they were added to, brings nobody in and decides nothing", async () => {
  const { owner } = await newWorkspace();
  const [lobby, open] = [
    await newSpace(owner, "Lobby"),
    await newSpace(owner, "Open", [], { visibility: "open" }),
  ];
  const hidden = await newSpace(owner, "Hidden");
  const gil = await newPerson(owner, "Gil", "guest", [lobby]);
  const bob = await newPerson(owner, "Bob");
  expect(await listed(gil)).toEqual([lobby]);
  expect((await get(gil, `/v1/spaces/${open}`)).status).toBe(404);
  expect((await get(gil, `/v1/spaces/${hidden}`)).status).toBe(404);
  expect((await refused(gil, "member.add", { space_id: open, participant_id: gil.id })).code).toBe(
    "not_found",
  );
  const said = await say(gil, lobby, "hello");
  const seen = (await eventsOf(gil)).filter((e) => e.space_id !== undefined).map((e) => e.space_id);
  expect(new Set(seen)).toEqual(new Set([lobby]));
  expect((await eventsOf(owner)).find((e) => e.message_id === said.message_id).from).toMatchObject({
    role: "guest",
    workspace_role: "guest",
  });
  const people = (await get(gil, "/v1/participants")).body.items.map((p: Any) => p.participant_id);
  expect(people).toEqual(expect.arrayContaining([gil.id, owner.id]));
  expect(people).not.toContain(bob.id);
  expect((await get(gil, "/v1/settings")).status).toBe(403);
  // Who is a guest of the workspace is one in each space.
  expect(
    (await refused(owner, "member.role", { space_id: lobby, participant_id: gil.id, role: "member" })).code,
  ).toBe("invalid");
  await send(owner, "participant.role", { participant_id: gil.id, role: "member" });
  expect((await membersOf(gil, lobby)).find((m) => m.participant_id === gil.id)).toMatchObject({
    role: "member",
  });
  expect(await listed(gil)).toEqual([lobby, open]);
});

test("SPACE-2 joining, leaving, renaming, archiving and unarchiving are lines that contexts show", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  await send(owner, "space.rename", { space_id: space, title: "Hall" });
  await send(bob, "participant.rename", { name: "Robert" });
  await send(bob, "member.remove", { space_id: space, participant_id: bob.id });
  await send(owner, "space.archive", { space_id: space });
  await send(owner, "space.unarchive", { space_id: space });
  const lines = await linesOf(owner, space);
  expect(lines.map((l) => [l.kind, l.from.name])).toEqual([
    ["joined", "Ada"],
    ["joined", "Robert"],
    ["renamed", "Ada"],
    ["renamed", "Robert"],
    ["left", "Robert"],
    ["archived", "Ada"],
    ["unarchived", "Ada"],
  ]);
  expect(lines[2]).toMatchObject({ title: "Hall" });
  expect(lines[3]).toMatchObject({ name: "Robert", previous: "Bob" });
});

test("SPACE-2 an archived space refuses posts until it is brought back, and is still read", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const said = await say(owner, space, "before");
  await send(owner, "space.archive", { space_id: space });
  expect((await refused(owner, "message.post", { space_id: space, text: "x" })).code).toBe("conflict");
  expect((await refused(owner, "space.archive", { space_id: space })).code).toBe("conflict");
  expect((await get(owner, `/v1/spaces/${space}`)).body).toMatchObject({ archived: true });
  expect((await linesOf(owner, space)).map((l) => l.message_id)).toContain(said.message_id);
  await send(owner, "space.unarchive", { space_id: space });
  await say(owner, space, "after");
  expect((await refused(owner, "space.unarchive", { space_id: space })).code).toBe("conflict");
});

test("SPACE-3 a space asked of a harness: it stands in until its agent claims the place, once", async () => {
  const { owner } = await newWorkspace();
  const harness = await newHarness(owner, "Builder");
  const { space_id } = await send(owner, "space.create", {
    title: "Job",
    harness_id: harness.id,
    agent_name: "Mason",
  });
  const turn = await say(owner, space_id, "@Mason are you there?");
  const own = (await eventsOf(harness)).find((e) => e.message_id === turn.message_id);
  expect(own).toMatchObject({ type: "message.new", addressed_to: [harness.id] });
  expect(await membersOf(owner, space_id)).toContainEqual(
    expect.objectContaining({
      participant_id: harness.id,
      kind: "harness",
      name: "Mason",
      handle: "Mason",
      harness: "Builder",
    }),
  );
  const early = await say(harness, space_id, "I am on my way.");
  const head = await headOf(owner);
  const { agents } = await send(harness, "agent.declare", { agents: [{ name: "Stone" }, { name: "Brick" }] });
  const [stone, brick] = agents.map((a: Any) => a.agent_id);
  const other = await newAgents(owner, "Thief", "Robber");
  expect((await refused(other, "space.claim", { space_id, agent_id: other.agents[0] })).code).toBe(
    "not_found",
  );
  expect((await refused(harness, "space.claim", { space_id, agent_id: other.agents[0] })).code).toBe(
    "forbidden",
  );
  expect((await refused(owner, "space.claim", { space_id, agent_id: stone })).code).toMatch(
    /forbidden|not_found/,
  );
  await send(harness, "space.claim", { space_id, agent_id: stone });
  expect((await refused(harness, "space.claim", { space_id, agent_id: brick })).code).toBe("conflict");
  const types = (await eventsOf(owner, head)).map((e) => e.type);
  expect(types.filter((t) => t.startsWith("member."))).toEqual([]);
  expect(types).toContain("space.claimed");
  const members = await membersOf(owner, space_id);
  expect(sorted(members.map((m) => m.participant_id))).toEqual(sorted([owner.id, stone]));
  expect(members.find((m) => m.participant_id === stone)).toMatchObject({ handle: "Mason", kind: "agent" });
  // Replies to its earlier words, and its old handle, are for the agent.
  const reply = await say(owner, space_id, "good", { reply_to: early.message_id });
  const call = await say(owner, space_id, "@Mason go");
  for (const { message_id } of [reply, call])
    expect((await eventsOf(harness)).find((e) => e.message_id === message_id)).toMatchObject({
      type: "message.new",
      addressed_to: [stone],
      for: [stone],
    });
});

test("SPACE-4 a direct space is one for its set, and nobody can be added to it", async () => {
  const { owner } = await newWorkspace();
  const [bob, cleo] = [await newPerson(owner, "Bob"), await newPerson(owner, "Cleo")];
  const first = await send(owner, "space.create", { direct: [bob.id] });
  expect(await send(bob, "space.create", { direct: [owner.id] })).toMatchObject({ space_id: first.space_id });
  expect(await send(owner, "space.create", { direct: [owner.id, bob.id, bob.id] })).toMatchObject({
    space_id: first.space_id,
  });
  const three = await send(owner, "space.create", { direct: [bob.id, cleo.id] });
  expect(three.space_id).not.toBe(first.space_id);
  const item = (await get(owner, `/v1/spaces/${first.space_id}`)).body;
  expect(item).toMatchObject({ visibility: "private", members: 2 });
  expect(sorted(item.direct)).toEqual(sorted([owner.id, bob.id]));
  expect(
    (await refused(owner, "member.add", { space_id: first.space_id, participant_id: cleo.id })).code,
  ).toBe("conflict");
  expect((await post(owner, "/v1/invites", { space_ids: [first.space_id] })).body.code).toBe("conflict");
  expect((await refused(owner, "space.create", { direct: [owner.id] })).code).toBe("invalid");
  expect((await refused(owner, "space.create", { direct: [] })).code).toBe("invalid");
  expect((await refused(owner, "space.create", { direct: [bob.id], visibility: "open" })).code).toBe(
    "invalid",
  );
  expect((await refused(owner, "space.create", { direct: [newId("usr")] })).code).toBe("not_found");
  expect((await get(cleo, `/v1/spaces/${first.space_id}`)).status).toBe(404);
});

test("SPACE-4 removing somebody ends their memberships and open runs, and keeps their words", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const [one, two] = [await newSpace(owner, "One", team.agents), await newSpace(owner, "Two", team.agents)];
  const run = await startRun(team, one, team.agents[0], []);
  await say(team, one, "my words", { run_id: run });
  await send(owner, "participant.remove", { participant_id: team.id });
  const events = await eventsOf(owner);
  expect(events.filter((e) => e.type === "member.left").map((e) => e.space_id)).toEqual([one, two]);
  expect(events.find((e) => e.type === "run.ended")).toMatchObject({ run_id: run, outcome: "stopped" });
  expect((await linesOf(owner, one)).map((l) => l.text)).toContain("my words");
  expect((await membersOf(owner, one)).map((m) => m.participant_id)).toEqual([owner.id]);
  expect((await refused(owner, "participant.remove", { participant_id: team.id })).code).toBe("not_found");
});

test("SPACE-6 an open space is listed, read, searched and joined by members, not by guests or harnesses", async () => {
  const { owner } = await newWorkspace();
  const open = await newSpace(owner, "Open", [], { visibility: "open" });
  const closed = await newSpace(owner, "Closed");
  const bob = await newPerson(owner, "Bob");
  const harness = await newHarness(owner, "Scouts");
  await say(owner, open, "platypus");
  await say(owner, closed, "platypus");
  expect((await get(bob, "/v1/spaces")).body.items).toMatchObject([{ space_id: open, joined: false }]);
  expect((await linesOf(bob, open)).at(-1)).toMatchObject({ text: "platypus" });
  const hits = (await get(bob, "/v1/search?q=platyp")).body.items;
  expect(hits.map((h: Any) => h.space_id)).toEqual([open]);
  expect((await refused(bob, "message.post", { space_id: open, text: "x" })).code).toBe("forbidden");
  expect((await eventsOf(bob)).filter((e) => e.space_id === open)).toEqual([]);
  expect((await get(harness, `/v1/spaces/${open}`)).status).toBe(404);
  expect((await refused(harness, "member.add", { space_id: open, participant_id: harness.id })).code).toMatch(
    /not_found|forbidden/,
  );
  await send(bob, "member.add", { space_id: open, participant_id: bob.id });
  await say(bob, open, "joined");
  // Who is in a space reads it from its first line.
  expect((await eventsOf(bob)).map((e) => e.text)).toContain("platypus");
  expect((await refused(bob, "member.add", { space_id: closed, participant_id: bob.id })).code).toBe(
    "not_found",
  );
});

const code = async (by: Party, type: string, fields: object) => (await refused(by, type, fields)).code;

test("SPACE-7 who may do what: people of the space, its owner, admins in it, harnesses", async () => {
  const { owner } = await newWorkspace();
  const [bob, cleo] = [await newPerson(owner, "Bob"), await newPerson(owner, "Cleo")];
  const alma = await newPerson(owner, "Alma", "admin");
  const space = await newSpace(bob, "Bob's", [cleo.id]);
  const gil = await newPerson(owner, "Gil", "guest");
  await send(cleo, "member.add", { space_id: space, participant_id: gil.id });
  await send(cleo, "space.rename", { space_id: space, title: "Renamed by a member" });
  const words = await say(bob, space, "Bob's words");
  // A member is no owner, an admin outside is nobody.
  expect(await code(cleo, "message.delete", { message_id: words.message_id })).toBe("forbidden");
  expect(await code(cleo, "message.edit", { message_id: words.message_id, text: "x" })).toBe("forbidden");
  expect(await code(cleo, "member.remove", { space_id: space, participant_id: gil.id })).toBe("forbidden");
  expect(await code(cleo, "space.archive", { space_id: space })).toBe("forbidden");
  expect(await code(alma, "space.archive", { space_id: space })).toBe("not_found");
  expect(await code(alma, "message.delete", { message_id: words.message_id })).toBe("not_found");
  expect(await code(gil, "space.rename", { space_id: space, title: "x" })).toBe("forbidden");
  // The space keeps its last owner, the workspace too.
  expect(await code(bob, "member.role", { space_id: space, participant_id: bob.id, role: "member" })).toBe(
    "conflict",
  );
  expect(await code(owner, "participant.role", { participant_id: owner.id, role: "member" })).toBe(
    "conflict",
  );
  expect(await code(owner, "participant.remove", { participant_id: owner.id })).toBe("conflict");
  // In it, an admin does what the owner does; anybody leaves by themselves.
  await send(bob, "member.add", { space_id: space, participant_id: alma.id });
  await send(alma, "message.delete", { message_id: words.message_id });
  await send(alma, "member.remove", { space_id: space, participant_id: gil.id });
  await send(alma, "space.archive", { space_id: space });
  await send(alma, "space.unarchive", { space_id: space });
  await send(cleo, "member.remove", { space_id: space, participant_id: cleo.id });
  expect(sorted((await membersOf(bob, space)).map((m) => m.participant_id))).toEqual(
    sorted([alma.id, bob.id]),
  );
  // A harness posts, runs and keeps its own agents; the rest is forbidden.
  const team = await newAgents(owner, "Scouts", "Scout");
  await send(bob, "member.add", { space_id: space, participant_id: team.agents[0] });
  const more = await say(bob, space, "more words");
  for (const [type, fields] of [
    ["space.rename", { space_id: space, title: "x" }],
    ["space.archive", { space_id: space }],
    ["space.create", { title: "x" }],
    ["member.add", { space_id: space, participant_id: cleo.id }],
    ["member.role", { space_id: space, participant_id: team.agents[0], role: "guest" }],
    ["message.delete", { message_id: more.message_id }],
    ["settings.set", { settings: {} }],
  ] as const)
    expect([
      type,
      await code(team, type, { ...fields, actor: { kind: "agent", id: team.agents[0] } }),
    ]).toEqual([type, "forbidden"]);
});

test("SPACE-8 read marks go forward on all of a person's connections, and unread and mentioned are counted", async () => {
  const { owner } = await newFastWorkspace();
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  const spaceOf = async () => (await get(bob, `/v1/spaces/${space}`)).body;
  const said = [];
  for (const text of ["one", "@Bob two", "three"]) said.push(await say(owner, space, text));
  await say(bob, space, "mine is not unread");
  expect(await spaceOf()).toMatchObject({ read_seq: 0, unread: 3, mentioned: 1 });
  const [a, b, others] = [await connect(bob), await connect(bob), await connect(owner)];
  const mark = { v: 1, type: "read", space_id: space, seq: said[1].seq };
  a.send(mark);
  for (const socket of [a, b]) expect(await socket.type("read")).toEqual(mark);
  expect(await spaceOf()).toMatchObject({ read_seq: said[1].seq, unread: 1, mentioned: 0 });
  a.send({ ...mark, seq: said[0].seq });
  await a.fence();
  expect((await spaceOf()).read_seq).toBe(said[1].seq);
  a.send({ ...mark, seq: 1_000_000 });
  await a.fence();
  expect(await spaceOf()).toMatchObject({ read_seq: await headOf(bob), unread: 0 });
  expect(others.frames.filter((f) => f.type === "read")).toEqual([]);
  await flood(owner, space, 105);
  expect(await spaceOf()).toMatchObject({ unread: 100 });
}, 60_000);

test("SPACE-8 CONN-11 typing and presence reach people who share a space, are not logged and not replayed", async () => {
  const { owner } = await newWorkspace();
  const [bob, eve] = [await newPerson(owner, "Bob"), await newPerson(owner, "Eve")];
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  await newSpace(eve, "Eve's own");
  const [ada, stranger, harness] = [await connect(owner), await connect(eve), await connect(team)];
  const head = await headOf(owner);
  const page = await connect(bob);
  expect(await ada.type("presence")).toEqual({
    v: 1,
    type: "presence",
    participant_id: bob.id,
    online: true,
  });
  for (let i = 0; i < 3; i += 1) page.send({ v: 1, type: "typing", space_id: space });
  await page.fence();
  await ada.fence();
  expect(ada.frames.filter((f) => f.type === "typing")).toEqual([
    { v: 1, type: "typing", space_id: space, participant_id: bob.id },
  ]);
  const second = await connect(bob);
  await second.close();
  await ada.fence();
  expect(ada.frames.filter((f) => f.type === "presence")).toHaveLength(1);
  const from = ada.frames.length;
  await page.close();
  expect(await ada.type("presence", from)).toMatchObject({ participant_id: bob.id, online: false });
  expect((await membersOf(owner, space)).find((m) => m.participant_id === bob.id)).toMatchObject({
    online: false,
  });
  for (const socket of [stranger, harness, page]) {
    if (socket !== page) await socket.fence();
    expect(socket.frames.map((f) => f.type).filter((t) => t === "typing" || t === "presence")).toEqual([]);
  }
  expect(await headOf(owner)).toBe(head);
});

test("ADDR-1 handles: taken names are numbered, and one that was given up is not given again", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const names = ["Bob Baker", "bob baker", "Everyone", "Anna-Lena", "Зоя", "3PO", "Аdа", "李雷"];
  const people: Party[] = [];
  for (const name of names) people.push(await newPerson(owner, name, "member", [space]));
  const handleOf = async (who?: Party) =>
    (await membersOf(owner, space)).find((m) => m.participant_id === who?.id)?.handle;
  const handles = [];
  for (const one of people) handles.push(await handleOf(one));
  expect(handles).toEqual([
    "BobBaker",
    "bobbaker2",
    "Everyone2",
    "Anna-Lena",
    "Зоя",
    undefined,
    undefined,
    "李雷",
  ]);
  const joined = (await eventsOf(owner)).find(
    (e) => e.type === "member.joined" && e.participant_id === people[1]?.id,
  );
  expect(joined.handle).toBe("bobbaker2");
  await send(people[0] as Party, "participant.rename", { name: "Rob" });
  expect(await handleOf(people[0])).toBe("Rob");
  const late = await newPerson(owner, "Bob Baker", "member", [space]);
  expect(await handleOf(late)).toBe("BobBaker3");
  await send(people[0] as Party, "participant.rename", { name: "Bob Baker" });
  expect(await handleOf(people[0])).toBe("BobBaker");
});

test("SPACE-7 LEAD-1 the lead is the one set, else the agent that joined first, and only beside another", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const space = await newSpace(owner, "Lobby", [team.agents[0] as string]);
  const lead = async () => (await membersOf(owner, space)).filter((m) => m.lead).map((m) => m.participant_id);
  expect(await lead()).toEqual([]);
  await send(owner, "member.add", { space_id: space, participant_id: team.agents[1] });
  expect(await lead()).toEqual([team.agents[0]]);
  await send(owner, "space.set", { space_id: space, lead: team.agents[1] });
  expect(await lead()).toEqual([team.agents[1]]);
  await send(owner, "space.set", { space_id: space, lead: null });
  expect(await lead()).toEqual([team.agents[0]]);
  for (const wrong of [owner.id, newId("agt"), team.id])
    expect((await refused(owner, "space.set", { space_id: space, lead: wrong })).code).toBe("invalid");
  expect((await refused(owner, "space.set", { space_id: space })).code).toBe("invalid");
});
