/** The room's socket: hello, welcome, resuming, receipts, and what ends it (CONN-1 to CONN-9). */
import { expect, test } from "vitest";
import {
  type Any,
  connect,
  eventsOf,
  get,
  headOf,
  newAgents,
  newFastWorkspace,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  open,
  type Party,
  post,
  type Socket,
  say,
  upgrade,
  verb,
} from "./kit.ts";

const hello = (more: object = {}): Any => ({ v: 1, type: "hello", id: newId("evt"), ...more });
const seqsOf = (events: Any[]): number[] => events.map((e) => e.seq);

test("CONN-1 the upgrade is authenticated before it is accepted", async () => {
  const { owner } = await newWorkspace();
  const refusals = [
    await upgrade({}),
    await upgrade({
      authorization: `Bearer ${owner.token.slice(0, -1)}${owner.token.endsWith("A") ? "B" : "A"}`,
    }),
  ];
  for (const { status, body, headers } of refusals) {
    expect([status, body.code]).toEqual([401, "unauthenticated"]);
    expect(headers["x-request-id"]).toBeTruthy();
    expect(headers["cache-control"]).toBe("no-store");
  }
});

test("CONN-1 a binary frame is malformed and the connection goes on", async () => {
  const { owner } = await newWorkspace();
  const socket = await connect(owner);
  const from = socket.frames.length;
  socket.send(new TextEncoder().encode(JSON.stringify(verb("space.create", { title: "Binary" }))));
  expect(await socket.type("error", from)).toMatchObject({ code: "malformed", retryable: false });
  await socket.ask(verb("space.create", { title: "Text" }));
  expect((await get(owner, "/v1/spaces")).body.items.map((s: Any) => s.title)).toEqual(["Text"]);
});

const sized = (frame: Any, bytes: number) => {
  const bare = Buffer.byteLength(JSON.stringify({ ...frame, padding: "" }));
  return JSON.stringify({
    ...frame,
    padding: "é".repeat((bytes - bare) >> 1) + "x".repeat((bytes - bare) & 1),
  });
};

test("CONN-1 a frame of 1 MiB is taken, one byte more is too_large and changes nothing", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const socket = await connect(owner);
  const fits = verb("message.post", { space_id: space, text: "fits" });
  const from = socket.frames.length;
  socket.send(sized(fits, 1024 * 1024));
  expect(await socket.next((f) => f.of === fits.id)).toMatchObject({ type: "receipt" });
  socket.send(sized(verb("message.post", { space_id: space, text: "over" }), 1024 * 1024 + 1));
  expect(await socket.type("error", from)).toMatchObject({ code: "too_large" });
  await socket.ask(verb("message.post", { space_id: space, text: "and on" }));
  const said = (await eventsOf(owner)).filter((e) => e.type === "message.posted").map((e) => e.text);
  expect(said).toEqual(["fits", "and on"]);
});

test("CONN-2 anything but hello first is malformed and closes with 4400", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const post = verb("message.post", { space_id: space, text: "x" });
  const firsts: unknown[] = [
    post,
    { v: 1, type: "ack", seq: 1 },
    [hello()],
    "not json",
    "[]",
    "null",
    "7",
    '"hello"',
    { ...hello(), type: "HELLO" },
    new TextEncoder().encode(JSON.stringify(hello())),
  ];
  const head = await headOf(owner);
  for (const first of firsts) {
    const socket = await open(owner.token);
    socket.send(first);
    const { code } = await socket.closed;
    expect([first, code, socket.frames.map((f) => f.code)]).toEqual([first, 4400, ["malformed"]]);
  }
  expect(await headOf(owner)).toBe(head);
});

test("CONN-2 a hello with a mistake says which and may be said again; a second one is a conflict", async () => {
  const { owner } = await newWorkspace();
  const socket = await open(owner.token);
  const mistakes: [object, string][] = [
    [{ v: 2 }, "v"],
    [{ id: "mine" }, "id"],
    [{ after_seq: -1 }, "after_seq"],
    [{ after_seq: "5" }, "after_seq"],
    [{ after_seq: 1.5 }, "after_seq"],
    [{ context: { lines: 5 } }, "context.chars"],
    [{ can: ["fly"] }, "can.0"],
    [{ agents: {} }, "agents"],
  ];
  for (const [mistake, path] of mistakes) {
    const frame = hello(mistake);
    expect(await socket.ask(frame)).toMatchObject({
      type: "error",
      code: "invalid",
      of: frame.id,
      details: [{ path }],
    });
  }
  const right = hello();
  expect(await socket.ask(right)).toMatchObject({ type: "welcome", of: right.id });
  expect(await socket.ask(hello())).toMatchObject({ type: "error", code: "conflict" });
});

const by = async (who: Party, agents: object[]) =>
  (await (await open(who.token)).ask(hello({ agents }))).code;

test("CONN-2 a hello's agents are added or renamed, and what is left out stays", async () => {
  const { owner } = await newWorkspace();
  const harness = await newHarness(owner, "Scouts");
  const agentsAfter = async (agents?: object[]) => {
    const socket = await connect(harness, agents ? { agents, context: { lines: 3, chars: 300 } } : {});
    return socket.frames[0].agents;
  };
  expect(await agentsAfter()).toBeUndefined();
  const [scout, runner] = await agentsAfter([{ name: "Scout" }, { name: "Runner" }]);
  expect([scout.name, runner.name]).toEqual(["Scout", "Runner"]);
  expect(await agentsAfter([{ name: "SCOUT" }])).toHaveLength(2);
  expect(await agentsAfter([{ name: "Pathfinder", agent_id: scout.agent_id }])).toEqual([
    { agent_id: scout.agent_id, name: "Pathfinder" },
    runner,
  ]);
  const socket = await connect(harness);
  expect(socket.frames[0]).toMatchObject({ limits: { context_lines: 3, context_chars: 300 } });
  expect(socket.frames[0].agents).toHaveLength(2);
  expect((await eventsOf(owner)).filter((e) => e.type === "agent.declared")).toHaveLength(2);
  expect(await by(owner, [{ name: "Mine" }])).toBe("forbidden");
  expect(await by(harness, [{ name: "Runner", agent_id: newId("agt") }])).toBe("forbidden");
  expect(await by(harness, [{ name: "Pathfinder", agent_id: runner.agent_id }])).toBe("conflict");
  expect(await by(harness, [{ name: "Twin" }, { name: "twin" }])).toBe("invalid");
});

test("CONN-2 CONN-3 POST /v1/hello says the same welcome as the socket", async () => {
  const { id: workspace_id, owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  for (const by of [owner, team]) {
    const frame = hello();
    const { status, body } = await post(by, "/v1/hello", frame);
    const socket = await open(by.token);
    expect([status, body]).toEqual([200, await socket.ask(frame)]);
    expect(body).toEqual({
      v: 1,
      type: "welcome",
      of: frame.id,
      workspace_id,
      participant: expect.objectContaining({
        participant_id: by.id,
        kind: by === owner ? "person" : "harness",
      }),
      ...(by === team ? { agents: [{ agent_id: team.agents[0], name: "Scout" }] } : {}),
      spaces: [{ space_id: space, title: "Lobby", visibility: "private", archived: false }],
      head_seq: await headOf(owner),
      resume: "replay",
      limits: { frame_bytes: 1024 * 1024, context_lines: 40, context_chars: 16_000 },
      ping_s: expect.any(Number),
    });
  }
  expect((await post(owner, "/v1/hello", { ...hello(), type: "hi" })).body.code).toBe("malformed");
});

test("CONN-3 first what was missed, in order, then caught_up, then what comes: nothing twice, nothing left out", async () => {
  const { owner } = await newFastWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  for (let i = 0; i < 30; i += 1) await say(owner, space, `before ${i}`);
  const writing = Promise.all(Array.from({ length: 40 }, (_, i) => say(bob, space, `meanwhile ${i}`)));
  const sockets = await Promise.all([owner, bob, team].map((by) => connect(by)));
  await writing;
  const last = await say(owner, space, "last");
  for (const [i, by] of [owner, bob, team].entries()) {
    const socket = sockets[i] as Socket;
    await socket.next((f) => f.message_id === last.message_id);
    const at = socket.frames.findIndex((f) => f.type === "caught_up");
    expect(socket.frames[0]).toMatchObject({ type: "welcome" });
    const { head_seq } = socket.frames[0];
    expect(seqsOf(socket.events().filter((e) => e.seq <= head_seq)).at(-1)).toBeLessThanOrEqual(
      socket.frames[at].seq,
    );
    expect(socket.events()).toEqual(await eventsOf(by));
  }
});

test("CONN-4 resuming: after_seq goes before the cursor that the last ack stored, which never goes back", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const receipts = [];
  for (let i = 0; i < 6; i += 1) receipts.push(await say(owner, space, `m${i}`));
  const seqs = receipts.map((r) => r.seq);
  const replayed = async (more: object = {}) => {
    const socket = await connect(team, more);
    expect(socket.frames[0].resume).toBe("replay");
    return seqsOf(socket.events().filter((e) => e.type.startsWith("message.")));
  };
  expect(await replayed()).toEqual(seqs);
  expect(await replayed({ after_seq: seqs[1] })).toEqual(seqs.slice(2));
  // Naming after_seq acknowledges nothing.
  expect(await replayed()).toEqual(seqs);
  const socket = await connect(team);
  const from = socket.frames.length;
  socket.send({ v: 1, type: "ack", seq: seqs[2] });
  socket.send({ v: 1, type: "ack", seq: seqs[0] });
  await socket.fence();
  expect(socket.frames.slice(from).map((f) => f.code)).toEqual(["unknown_type"]);
  expect(await replayed()).toEqual(seqs.slice(3));
  expect((await post(team, "/v1/events", { v: 1, type: "ack", seq: seqs[4] })).body).toEqual({
    receipts: [],
  });
  expect(await replayed()).toEqual(seqs.slice(5));
  expect(await replayed({ after_seq: 0 })).toEqual(seqs);
  // Beyond the head there is nothing to have handled.
  expect((await post(team, "/v1/events", { v: 1, type: "ack", seq: 1_000_000 })).status).toBe(200);
  expect(await replayed()).toEqual(seqs.slice(5));
  for (const seq of [-1, 1.5, "3", null])
    expect((await post(team, "/v1/events", { v: 1, type: "ack", seq })).body.code).toBe("invalid");
});

test("CONN-4 a cursor beyond the head is reset: caught_up follows at once, and live events after it", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const head = await headOf(owner);
  const socket = await connect(owner, { after_seq: head + 1 });
  expect(socket.frames.map((f) => [f.type, f.resume, f.seq])).toEqual([
    ["welcome", "reset", undefined],
    ["caught_up", undefined, head],
  ]);
  await say(owner, space, "live");
  await socket.next((f) => f.text === "live");
  expect((await connect(owner, { after_seq: head + 1 })).frames[0].resume).toBe("replay");
});

test("CONN-5 each write has one receipt or one error, and the receipt comes before what the write causes", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const socket = await connect(owner);
  const frames = Array.from({ length: 20 }, (_, i) =>
    verb("message.post", { space_id: space, text: i % 4 === 3 ? "" : `m${i}` }),
  );
  for (const frame of frames) socket.send(frame);
  await socket.fence();
  for (const [i, frame] of frames.entries()) {
    const answers = socket.frames.filter((f) => f.of === frame.id);
    expect(answers.map((a) => a.type)).toEqual([i % 4 === 3 ? "error" : "receipt"]);
    const event = socket.frames.findIndex((f) => f.id === frame.id && f.type === "message.posted");
    if (i % 4 !== 3) expect(event).toBeGreaterThan(socket.frames.indexOf(answers[0]));
  }
});

test("CONN-6 ping is answered pong, before hello too", async () => {
  const { owner } = await newWorkspace();
  const socket = await open(owner.token);
  socket.send("ping");
  await socket.type("pong");
  await socket.ask(hello());
  const from = socket.frames.length;
  socket.send("ping");
  expect(await socket.type("pong", from)).toEqual({ type: "pong" });
});

test("CONN-7 a harness has one connection, the newest; a person has many", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const first = await connect(team);
  const wrong = `${team.token.slice(0, -1)}${team.token.endsWith("A") ? "B" : "A"}`;
  await upgrade({ authorization: `Bearer ${wrong}` });
  await say(owner, space, "still the first");
  await first.next((f) => f.text === "still the first");
  const second = await connect(team);
  expect((await first.closed).code).toBe(4409);
  const pages = [await connect(owner), await connect(owner)];
  await say(owner, space, "now");
  for (const socket of [second, ...pages]) await socket.next((f) => f.text === "now");
});

test("CONN-9 CONN-4 many short connections, acking as they go, see each event exactly once", async () => {
  const { owner } = await newFastWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const seen: number[] = [];
  const writing = (async () => {
    for (let i = 0; i < 25; i += 1) await say(owner, space, `m${i}`);
    return say(owner, space, "last");
  })();
  for (let done = false; !done; ) {
    const socket = await connect(team);
    const events = socket.events();
    seen.push(...seqsOf(events));
    done = events.some((e) => e.text === "last");
    const at = events.at(-1)?.seq;
    if (at !== undefined) await post(team, "/v1/events", { v: 1, type: "ack", seq: at });
    await socket.close();
  }
  await writing;
  expect(seen).toEqual(seqsOf(await eventsOf(team)));
});
