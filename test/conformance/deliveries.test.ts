/** A message as harnesses are handed it: turns, what is overheard, windows, notes (NEW, WIN, NOTE, SPACE-5). */
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
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  say,
  send,
  startRun,
} from "./kit.ts";

const deliveryOf = async (by: Party, messageId: string): Promise<Any> =>
  (await eventsOf(by)).find((e) => e.message_id === messageId && /new|overheard/.test(e.type));
const turn = async (by: Party, to: Party, space: string, text: string, more: object = {}): Promise<Any> =>
  deliveryOf(to, (await say(by, space, text, more)).message_id);

const typesOf = async (by: Party) => (await eventsOf(by)).map((e) => e.type);

test("CONN-12 LOG-8 who gets what: people facts, harnesses deliveries and the facts of their spaces", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  await newSpace(owner, "Elsewhere");
  const { message_id } = await say(owner, space, "@Scout hi");
  const other = await say(bob, space, "aside");
  const run_id = await startRun(team, space, team.agents[0], [message_id]);
  await send(team, "run.step", { run_id, text: "thinking" });
  await send(team, "message.heard", { run_id, message_ids: [other.message_id] });
  await send(team, "run.end", { run_id, outcome: "done" });
  await send(owner, "message.edit", { message_id, text: "@Scout hello" });
  await send(bob, "message.delete", { message_id: other.message_id });
  await say(bob, space, "another aside");
  await send(owner, "space.rename", { space_id: space, title: "Hall" });
  await send(owner, "participant.role", { participant_id: bob.id, role: "admin" });
  expect(await typesOf(bob)).toEqual(
    (await eventsOf(owner))
      .filter((e) => e.space_id === undefined || e.space_id === space)
      .map((e) => e.type),
  );
  const counts = Object.groupBy(await typesOf(team), (type) => type);
  // A deleted message is handed to no harness any more; that it was deleted is.
  expect(Object.fromEntries(Object.entries(counts).map(([type, all]) => [type, all?.length]))).toEqual({
    "space.created": 1,
    "member.joined": 4,
    "message.new": 1,
    "message.overheard": 1,
    "message.edited": 1,
    "message.deleted": 1,
    "space.renamed": 1,
  });
});

test("CONN-12 who has left a space gets its own member.left and nothing more of it, also of the past", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  await say(owner, space, "secret of the past");
  const live = [await connect(bob), await connect(team)];
  for (const participant_id of [bob.id, ...team.agents])
    await send(owner, "member.remove", { space_id: space, participant_id });
  await say(owner, space, "secret of the future");
  for (const [i, by] of [bob, team].entries()) {
    await live[i]?.fence();
    const own = i === 0 ? bob.id : team.agents[0];
    expect(live[i]?.events().at(-1)).toMatchObject({ type: "member.left", participant_id: own });
    const past = (await eventsOf(by)).filter((e) => e.space_id === space);
    expect(past.map((e) => [e.type, e.participant_id])).toEqual([["member.left", own]]);
    expect((await get(by, `/v1/spaces/${space}/context`)).status).toBe(404);
  }
});

test("NEW-1 NEW-2 NEW-5 every harness gets each message once: new for its own agents, else overheard", async () => {
  const { owner } = await newWorkspace();
  const a = await newAgents(owner, "A", "Ann", "Abe");
  const b = await newAgents(owner, "B", "Ben");
  const plain = await newHarness(owner, "Plain");
  const space = await newSpace(owner, "Lobby", [...a.agents, ...b.agents, plain.id]);
  const kinds = async ({ message_id }: Any) => {
    const out: Any[] = [];
    for (const by of [a, b, plain]) {
      const [one, ...more] = (await eventsOf(by)).filter((e) => e.message_id === message_id);
      expect(more).toEqual([]);
      out.push(one && [one.type.slice("message.".length), one.for]);
      if (one?.type === "message.overheard")
        for (const name of ["context", "room", "exchange", "handed", "lead", "held"])
          expect(one).not.toHaveProperty(name);
    }
    return out;
  };
  const [ann, abe] = a.agents;
  expect(await kinds(await say(owner, space, "@Abe @Ann"))).toEqual([
    ["new", [abe, ann]],
    ["overheard", []],
    ["overheard", undefined],
  ]);
  expect(await kinds(await say(owner, space, "@Ben @Ann"))).toEqual([
    ["new", [ann]],
    ["new", b.agents],
    ["overheard", undefined],
  ]);
  expect(await kinds(await say(owner, space, "@Plain"))).toEqual([
    ["overheard", []],
    ["overheard", []],
    ["new", undefined],
  ]);
  expect(await kinds(await say(owner, space, "to the air"))).toEqual([
    ["overheard", []],
    ["overheard", []],
    ["overheard", undefined],
  ]);
  // Its own words come back only when another of its agents is asked or at work.
  expect(await kinds(await say(a, space, "I say", as(a, 0)))).toEqual([
    undefined,
    ["overheard", []],
    ["overheard", undefined],
  ]);
  expect(await kinds(await say(a, space, "@Abe please", as(a, 0)))).toEqual([
    ["new", [abe]],
    ["overheard", []],
    ["overheard", undefined],
  ]);
  expect(await kinds(await say(plain, space, "me"))).toEqual([
    ["overheard", []],
    ["overheard", []],
    undefined,
  ]);
  const run = await startRun(a, space, abe, []);
  expect(await kinds(await say(a, space, "I go on", as(a, 0)))).toEqual([
    ["overheard", []],
    ["overheard", []],
    ["overheard", undefined],
  ]);
  await send(a, "run.end", { run_id: run, outcome: "done" });
});

const kindsOf = (frame: Any) =>
  Object.fromEntries(frame.room.members.map((m: Any) => [m.participant_id, m.kind]));

test("SPACE-5 a harness that declared no agents is shown every agent as a harness, and gets no for", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const plain = await newHarness(owner, "Plain");
  const space = await newSpace(owner, "Lobby", [...team.agents, plain.id]);
  await say(team, space, "an agent's words", as(team));
  const said = await say(owner, space, "@Plain @Scout");
  const [toPlain, toTeam] = [
    await deliveryOf(plain, said.message_id),
    await deliveryOf(team, said.message_id),
  ];
  expect(toPlain).not.toHaveProperty("for");
  expect(toTeam.for).toEqual(team.agents);
  expect(kindsOf(toPlain)).toEqual({
    [owner.id]: "person",
    [plain.id]: "harness",
    [team.agents[0] ?? ""]: "harness",
  });
  expect(kindsOf(toTeam)).toEqual({
    [owner.id]: "person",
    [plain.id]: "harness",
    [team.agents[0] ?? ""]: "agent",
  });
  expect(toPlain.context.lines.find((l: Any) => l.text === "an agent's words").from).toMatchObject({
    id: team.agents[0],
    kind: "harness",
  });
  expect(Object.keys(toPlain.room.notes)).toEqual([plain.id]);
  const heard = (await eventsOf(plain)).find((e) => e.text === "an agent's words");
  expect(heard.from).toMatchObject({ participant_id: team.agents[0], kind: "harness" });
  expect((await get(plain, "/v1/me")).body).not.toHaveProperty("agents");
});

test("NEW-3 NEW-4 NEW-6 NEW-8 what else a delivery says: turns going, standing, session, the fact's own id", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob", "admin");
  const team = await newAgents(owner, "Scouts", "Scout", "Runner", "Idler");
  const [scout, runner] = team.agents;
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  const before = await turn(bob, team, space, "@Idler hello", { session_ref: "s-1" });
  expect(before).not.toHaveProperty("working_turns");
  const runs = [await startRun(team, space, scout, []), await startRun(team, space, runner, [])];
  const during = await turn(bob, team, space, "@Scout hello");
  expect(during.working_turns).toEqual([{ agent_id: runner, run_id: runs[1] }]);
  const overheard = await turn(bob, team, space, "just saying");
  expect(overheard.working_turns).toHaveLength(2);
  expect(before).toMatchObject({ session_ref: "s-1", from: { role: "member", workspace_role: "admin" } });
  await send(owner, "participant.role", { participant_id: bob.id, role: "member" });
  await send(owner, "member.role", { space_id: space, participant_id: bob.id, role: "owner" });
  await send(bob, "participant.rename", { name: "Robert" });
  const again = await deliveryOf(team, before.message_id);
  expect(again.from).toMatchObject({ role: "member", workspace_role: "admin", display_name: "Robert" });
  expect(await turn(bob, team, space, "@Scout")).toMatchObject({
    from: { role: "owner", workspace_role: "member" },
  });
  const fact = (await eventsOf(owner)).find(
    (e) => e.type === "message.posted" && e.message_id === before.message_id,
  );
  expect(again).toMatchObject({ id: fact.id, seq: fact.seq, ts: fact.ts, actor: { kind: "system" } });
});

test("NEW-7 an edit or a deletion reaches each harness that was sent the message, starts no turn, addresses nobody", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const late = await newAgents(owner, "Late", "Comer");
  const space = await newSpace(owner, "Lobby", team.agents);
  const { message_id } = await say(owner, space, "@Scout go");
  await send(owner, "member.add", { space_id: space, participant_id: late.agents[0] });
  const [a, b] = [await connect(team), await connect(late)];
  await send(owner, "message.edit", { message_id, text: "@Runner go instead" });
  expect(await a.type("message.edited")).toMatchObject({
    message_id,
    text: "@Runner go instead",
    mentions: [team.agents[1]],
  });
  // Not begun, the turn uses the edited words, for whom it was.
  expect(await deliveryOf(team, message_id)).toMatchObject({
    type: "message.new",
    text: "@Runner go instead",
    for: [team.agents[0]],
  });
  await send(owner, "message.delete", { message_id });
  expect(await a.type("message.deleted")).toMatchObject({ message_id });
  await b.fence();
  expect(
    b
      .events()
      .map((e) => e.type)
      .filter((t) => t.startsWith("message.")),
  ).toEqual([]);
});

const texts = (frame: Any) =>
  frame.context.lines.filter((l: Any) => l.kind === "said").map((l: Any) => l.text);

test("WIN-1 WIN-2 the window: since the harness's last turn began, without its own words and without the message", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const space = await newSpace(owner, "Lobby", [owner.id, ...team.agents].slice(1));
  await say(owner, space, "one");
  const first = await turn(owner, team, space, "@Scout go");
  expect(texts(first)).toEqual(["one"]);
  const joinings = (await eventsOf(owner)).filter((e) => e.type === "member.joined").map((e) => e.seq);
  expect(first.context).toMatchObject({ since_seq: joinings[1], truncated: false });
  const run_id = await startRun(team, space, team.agents[0], [first.message_id]);
  await say(owner, space, "while it works");
  await say(team, space, "my answer", { run_id });
  await send(team, "run.end", { run_id, outcome: "done" });
  const second = await turn(owner, team, space, "@Runner and you?");
  expect(second.context.since_seq).toBe(first.seq);
  expect(texts(second)).toEqual(["while it works"]);
  expect(second.context.before).toBe(second.context.lines[0].seq);
  // Said outside a turn it counts from itself.
  const aside = await say(team, space, "by the way", as(team));
  const third = await turn(owner, team, space, "@Scout then");
  expect(third.context).toMatchObject({ since_seq: aside.seq, lines: [], before: third.seq });
});

test("WIN-1 WIN-4 the hello's budget: newest that fit, truncated says so, before pages on without a gap", async () => {
  const { owner } = await newFastWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  await flood(owner, space, 60);
  const whole = await turn(owner, team, space, "@Scout default");
  expect(whole.context).toMatchObject({ truncated: true });
  expect(whole.context.lines).toHaveLength(40);
  expect(whole.room.notes[team.agents[0] ?? ""]).toMatch(/older|earlier|left out/i);
  await connect(team, { context: { lines: 5, chars: 9 } });
  const tight = await turn(owner, team, space, "@Scout tight");
  expect(tight.context.lines.map((l: Any) => l.text).join("").length).toBeLessThanOrEqual(9);
  await connect(team, { context: { lines: 0, chars: 0 } });
  expect(await turn(owner, team, space, "@Scout none")).not.toHaveProperty("context");
  await connect(team, { context: { lines: 7, chars: 16_000 } });
  const seven = await turn(owner, team, space, "@Scout seven");
  expect(seven.context.lines).toHaveLength(7);
  const seen = seven.context.lines.map((l: Any) => l.seq);
  for (let { before } = seven.context; ; ) {
    const { context } = (await get(team, `/v1/spaces/${space}/context?before=${before}&lines=9`)).body;
    expect(context.since_seq).toBe(0);
    seen.unshift(...context.lines.map((l: Any) => l.seq));
    before = context.before;
    if (!context.truncated) break;
  }
  const all = (await eventsOf(owner)).filter(
    (e) => (e.type === "message.posted" || e.type === "member.joined") && e.seq < seven.seq,
  );
  expect(seen).toEqual(all.map((e) => e.seq));
});

test("WIN-3 WIN-5 WIN-7 lines and files by the pull route, alike for a person and a harness but for URLs", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const { body } = await call("POST", "/v1/attachments?filename=a.txt", { token: owner.token, raw: "bytes" });
  await say(owner, space, "a file", { attachments: [{ attachment_id: body.attachment_id }] });
  const gone = await say(owner, space, "deleted");
  await send(owner, "message.delete", { message_id: gone.message_id });
  await say(owner, space, "😀".repeat(50));
  const pull = async (by: Party, query = "") =>
    (await get(by, `/v1/spaces/${space}/context${query}`)).body.context;
  const [mine, its] = [await pull(owner), await pull(team)];
  expect(mine.lines).toEqual(its.lines);
  expect(mine.lines.map((l: Any) => l.kind)).toEqual(["joined", "joined", "said", "said"]);
  expect(mine.lines[2]).toMatchObject({ files: ["a.txt"], addressed_to: [team.agents[0]] });
  expect(mine.files[0]).not.toHaveProperty("url");
  expect(its.files[0]).toMatchObject({
    ...mine.files[0],
    url: expect.any(String),
    url_expires_at: expect.any(String),
  });
  expect((await pull(owner, "?chars=10")).lines).toMatchObject([{ text: `${"😀".repeat(9)}…` }]);
  expect((await pull(owner, "?chars=50")).lines).toHaveLength(1);
  expect((await pull(owner, "?lines=1")).lines).toMatchObject([{ text: "😀".repeat(50) }]);
  expect((await pull(owner, "?lines=0")).lines).toEqual([]);
  expect((await pull(owner, `?before=${mine.lines[1].seq}`)).lines).toHaveLength(1);
  const asked = await turn(owner, team, space, "@Scout look", {
    attachments: [{ attachment_id: body.attachment_id }],
  });
  expect(asked.context.files).toMatchObject([{ name: "a.txt", version: 1 }]);
});

test("WIN-8 a turn's frame stays under 1 MiB: the oldest lines go, and it says so", async () => {
  const { owner } = await newFastWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  for (let i = 0; i < 8; i += 1) await say(owner, space, `${i} ${"漢".repeat(21_000)}`);
  const socket = await connect(team, { context: { lines: 500, chars: 200_000 } });
  await say(owner, space, `@Scout ${"漢".repeat(21_000)}`);
  // Escaped for JSON every character of these counts six: by characters alone all six would fit.
  for (let i = 0; i < 6; i += 1) await say(owner, space, `${i} ${"\u0001".repeat(30_000)}`);
  await say(owner, space, `@Scout now`);
  await socket.next((f) => f.text === "@Scout now");
  const last = socket.events().at(-1);
  expect(Buffer.byteLength(JSON.stringify(last))).toBeLessThanOrEqual(1024 * 1024);
  expect(last).toMatchObject({ type: "message.new", context: { truncated: true } });
  expect(last.context.lines.map((l: Any) => l.text[0])).toEqual(["1", "2", "3", "4", "5"]);
});

test("NOTE-1 NOTE-2 NOTE-3 NOTE-5 the room as a turn is told of it: who is here, at work, idle, and where", async () => {
  const { owner } = await newWorkspace("Zoe");
  const bob = await newPerson(owner, "bob");
  const team = await newAgents(owner, "Scouts", "Scout", "Runner", "Idler");
  const [scout, runner, idler] = team.agents;
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  for (const [time_zone, status] of [
    ["Asia/Kathmandu", 200],
    ["Europe/Nowhere", 422],
    ["", 422],
  ] as const)
    expect((await call("PUT", "/v1/me", { token: bob.token, body: { time_zone } })).status).toBe(status);
  const run_id = await startRun(team, space, runner, []);
  await send(team, "run.step", { run_id, text: "polishing" });
  const done = await startRun(team, space, idler, []);
  await send(team, "run.end", { run_id: done, outcome: "done" });
  const { room } = await turn(owner, team, space, "@Scout look");
  expect(room.members.map((m: Any) => m.name)).toEqual(["bob", "Zoe", "Idler", "Runner", "Scout"]);
  expect(room.members.find((m: Any) => m.name === "bob")).toMatchObject({
    handle: "bob",
    time_zone: "Asia/Kathmandu",
  });
  expect(room.members.find((m: Any) => m.name === "Scout")).toMatchObject({
    harness: "Scouts",
    lead: true,
    kind: "agent",
  });
  expect(room.working).toEqual([{ participant_id: runner, minutes: 0, step: "polishing" }]);
  expect(room.idle).toEqual([{ participant_id: idler, minutes: 0 }]);
  expect([Object.keys(room.notes), Object.keys(room.rules)]).toEqual([[scout], [scout]]);
  const note = room.notes[scout ?? ""];
  for (const word of ["@bob", "@Zoe", "@Runner", "polishing"]) expect(note).toContain(word);
  expect(note.endsWith(room.rules[scout ?? ""])).toBe(true);
  await send(owner, "participant.remove", { participant_id: bob.id });
  expect((await turn(owner, team, space, "@Scout again")).room.members.map((m: Any) => m.name)).not.toContain(
    "bob",
  );
  expect(await headOf(owner)).toBeGreaterThan(0);
});
