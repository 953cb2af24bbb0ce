/** Everything by request: arrays, pages, long polls, headers (HTTP, CONN-12). */
import { expect, test } from "vitest";
import {
  type Any,
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
  post,
  say,
  send,
  startRun,
  URL_UNDER_TEST,
  verb,
} from "./kit.ts";

test("HTTP-1 ENV-8 an array is taken whole, with a receipt each in order, or not at all", async () => {
  const { owner } = await newFastWorkspace();
  const space = await newSpace(owner, "Lobby");
  const posts = (texts: string[]): Any[] =>
    texts.map((text) => verb("message.post", { space_id: space, text }));
  const head = await headOf(owner);
  const good = posts(["a", "b", "c"]);
  const { body } = await post(owner, "/v1/events", good);
  expect(body.receipts.map((r: Any) => [r.of, r.seq])).toEqual(good.map((f, i) => [f.id, head + 1 + i]));
  for (const at of [0, 1, 2]) {
    const bad = posts(["d", "e", "f"]);
    bad[at].text = "";
    expect((await post(owner, "/v1/events", bad)).body).toMatchObject({ code: "invalid", of: bad[at].id });
    // Nothing of it was kept, no key either: put right, it is taken.
    bad[at].text = "right";
    expect(await headOf(owner)).toBe(head + 3 + at * 3);
    expect((await post(owner, "/v1/events", bad)).body.receipts).toHaveLength(3);
  }
  // What one event makes, the next may use; what fails late undoes what was early.
  const room = verb("space.create", { title: "Made and unmade" });
  const broken = await post(owner, "/v1/events", [
    room,
    verb("space.rename", { space_id: "spc_none", title: "x" }),
  ]);
  expect(broken.status).toBe(422);
  expect((await get(owner, "/v1/spaces")).body.items).toHaveLength(1);
});

test("HTTP-1 an array has 1 to 100 events, and signals go by themselves", async () => {
  const { owner } = await newFastWorkspace();
  const space = await newSpace(owner, "Lobby");
  const head = await headOf(owner);
  const posts = (n: number) =>
    Array.from({ length: n }, () => verb("message.post", { space_id: space, text: "x" }));
  const many = [[], posts(101), [...posts(1), { v: 1, type: "ack", seq: 1 }], [posts(1)], [null], [7, "x"]];
  for (const body of many) expect((await post(owner, "/v1/events", body)).status).toBeGreaterThanOrEqual(400);
  expect(await headOf(owner)).toBe(head);
  expect((await post(owner, "/v1/events", posts(100))).body.receipts).toHaveLength(100);
  expect((await post(owner, "/v1/events", posts(1)[0])).body.receipts).toHaveLength(1);
  for (const signal of [
    { type: "ack", seq: 1 },
    { type: "read", space_id: space, seq: 1 },
    { type: "typing", space_id: space },
  ])
    expect((await post(owner, "/v1/events", { v: 1, ...signal })).body).toEqual({ receipts: [] });
});

test("HTTP-2 lists are paged: every item once, next absent at the end, 200 at most", async () => {
  const { owner } = await newFastWorkspace();
  const bob = await newPerson(owner, "Bob");
  const made = [];
  for (let i = 0; i < 7; i += 1) made.push(await newSpace(owner, `Space ${i}`));
  const space = made[0] ?? "";
  const team = await newAgents(owner, "Scouts", "Scout");
  for (const participant_id of [bob.id, ...team.agents])
    await send(owner, "member.add", { space_id: space, participant_id });
  await flood(owner, space, 5, "needle");
  const runs = [];
  for (let i = 0; i < 5; i += 1) runs.push(await startRun(team, space, team.agents[0], []));
  for (let i = 0; i < 3; i += 1) await post(owner, "/v1/tokens", { scopes: ["person"] });
  const paged = async (path: string, limit: number): Promise<Any[]> => {
    const items: Any[] = [];
    const join = path.includes("?") ? "&" : "?";
    for (let cursor = ""; ; ) {
      const { status, body } = await get(owner, `${path}${join}limit=${limit}${cursor}`);
      expect(status).toBe(200);
      expect(body.items.length).toBeLessThanOrEqual(limit);
      items.push(...body.items);
      if (!("next" in body)) return items;
      expect(body.items).toHaveLength(limit);
      cursor = `&cursor=${encodeURIComponent(body.next)}`;
    }
  };
  const lists: [string, number][] = [
    ["/v1/spaces", 7],
    ["/v1/participants", 4],
    ["/v1/tokens", 5],
    [`/v1/spaces/${space}/runs`, 5],
    ["/v1/search?q=needle", 5],
  ];
  for (const [path, count] of lists) {
    const whole = await paged(path, 200);
    expect([path, whole.length]).toEqual([path, count]);
    for (const limit of [1, 2, count]) expect(await paged(path, limit)).toEqual(whole);
  }
  expect(
    new Set((await get(owner, `/v1/spaces/${space}/runs`)).body.items.map((r: Any) => r.run_id)),
  ).toEqual(new Set(runs));
  for (const limit of ["0", "-1", "x", "1.5", "", "1e3"])
    expect([limit, (await get(owner, `/v1/spaces?limit=${limit}`)).status]).toEqual([limit, 422]);
});

test("HTTP-2 events are at most 200 a page, and next_after leads on", async () => {
  const { owner } = await newFastWorkspace();
  const space = await newSpace(owner, "Lobby");
  await flood(owner, space, 250);
  const first = (await get(owner, "/v1/events?after=0&limit=1000")).body;
  expect(first.events).toHaveLength(200);
  expect(first.next_after).toBe(first.events.at(-1).seq);
  const head = await headOf(owner);
  expect(first.head_seq).toBe(head);
  const rest = (await get(owner, `/v1/events?after=${first.next_after}&limit=200`)).body;
  expect([...first.events, ...rest.events].map((e: Any) => e.seq)).toEqual(
    Array.from({ length: head }, (_, i) => i + 1),
  );
  expect((await get(owner, `/v1/events?after=${head}`)).body).toEqual({
    events: [],
    head_seq: head,
    next_after: head,
  });
  const other = await newSpace(owner, "Other");
  const inOther = (await get(owner, `/v1/events?after=0&space_id=${other}`)).body.events;
  expect(inOther.map((e: Any) => e.type)).toEqual(["space.created", "member.joined"]);
  for (const after of ["-1", "x", "1.5", String(head + 1000)])
    expect([after, (await get(owner, `/v1/events?after=${after}`)).body.code]).toEqual([after, "invalid"]);
});

test("HTTP-3 a long poll is held until something comes for its caller, or the time is up", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const [lobby, elsewhere] = [
    await newSpace(owner, "Lobby", team.agents),
    await newSpace(owner, "Elsewhere"),
  ];
  const after = await headOf(owner);
  let answered = false;
  const waiting = get(team, `/v1/events?after=${after}&wait=25`).then((answer) => {
    answered = true;
    return answer;
  });
  await say(owner, elsewhere, "not for it");
  await headOf(owner);
  expect(answered).toBe(false);
  const receipt = await say(owner, lobby, "for it");
  const { body } = await waiting;
  expect(body.events.map((e: Any) => e.message_id)).toEqual([receipt.message_id]);
  expect(body.next_after).toBe(receipt.seq);
  const began = Date.now();
  const empty = await get(team, `/v1/events?after=${receipt.seq}&wait=1`);
  expect(empty.body.events).toEqual([]);
  expect(Date.now() - began).toBeGreaterThanOrEqual(950);
  for (const wait of ["26", "-1", "x"])
    expect((await get(team, `/v1/events?after=0&wait=${wait}`)).status).toBe(422);
});

test("HTTP-3 CONN-4 a harness lives on polls and acks: after stores nothing, ack does", async () => {
  const { owner } = await newWorkspace();
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", team.agents);
  const said = await say(owner, space, "one");
  await eventsOf(team, said.seq);
  expect((await connect(team)).events().map((e) => e.text)).toContain("one");
  const turn = (await eventsOf(team)).find((e) => e.type === "message.new");
  const run = await startRun(team, space, team.agents[0], [turn.message_id]);
  await say(team, space, "answer", { run_id: run });
  await send(team, "run.end", { run_id: run, outcome: "done" });
  await post(team, "/v1/events", { v: 1, type: "ack", seq: turn.seq });
  const seen = (await connect(team)).events();
  expect(seen.map((e) => e.text)).not.toContain("one");
  expect((await eventsOf(owner)).map((e) => e.type)).toContain("run.ended");
});

test("CONN-12 HTTP-3 GET /v1/events answers the frames that the socket sends, for each kind of caller", async () => {
  const { owner } = await newWorkspace();
  const lobby = await newSpace(owner, "Lobby");
  const bob = await newPerson(owner, "Bob", "member", [lobby]);
  const gil = await newPerson(owner, "Gil", "guest", [lobby]);
  const team = await newAgents(owner, "Scouts", "Scout", "Runner");
  const plain = await newHarness(owner, "Plain");
  for (const participant_id of [...team.agents, plain.id])
    await send(owner, "member.add", { space_id: lobby, participant_id });
  const live = await Promise.all([owner, bob, gil, team, plain].map((by) => connect(by, { after_seq: 0 })));
  const said = await say(owner, lobby, "@Scout go");
  const run = await startRun(team, lobby, team.agents[0], [said.message_id]);
  await say(team, lobby, "gone, @Runner", { run_id: run, reply_to: said.message_id });
  await send(team, "run.end", { run_id: run, outcome: "done", cost_usd: 0.5 });
  await send(owner, "message.edit", { message_id: said.message_id, text: "@Scout go now" });
  await send(bob, "participant.rename", { name: "Robert" });
  await send(owner, "member.remove", { space_id: lobby, participant_id: plain.id });
  const last = await say(bob, lobby, "that is all");
  for (const [i, by] of ([owner, bob, gil, team, plain] as Party[]).entries()) {
    const socket = live[i];
    if (by !== plain) await socket?.next((f) => f.message_id === last.message_id);
    await socket?.fence();
    const fresh = await connect(by, { after_seq: 0 });
    expect(fresh.events()).toEqual(await eventsOf(by));
    // What was live and says no more than the past is the same; the edited words are as they are now.
    expect(fresh.events().map((e) => e.seq)).toEqual(expect.arrayContaining(by === plain ? [] : [last.seq]));
  }
});

test("HTTP-5 every answer has the headers, whatever it is", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const answers = [
    await get(owner, "/v1/me"),
    await post(owner, "/v1/harnesses", { name: "H" }),
    await post(owner, "/v1/events", verb("message.post", { space_id: space, text: "x" })),
    await get(owner, "/v1/nothing-here"),
    await call("GET", "/v1/me"),
    await call("POST", "/v1/events", { token: owner.token, raw: "{" }),
    await call("GET", "/healthz"),
  ];
  const ids = answers.map(({ headers }) => headers.get("x-request-id"));
  expect(new Set(ids).size).toBe(answers.length);
  for (const { headers } of answers) {
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-frame-options") ?? headers.get("content-security-policy")).toMatch(
      /DENY|frame-ancestors/,
    );
    for (const name of ["server", "x-powered-by"])
      expect(headers.get(name) ?? "").not.toMatch(/hono|node|wrangler/i);
  }
});

test("HTTP-5 another origin's page is told nothing: no CORS headers unless it is allowed", async () => {
  const { owner } = await newWorkspace();
  const origin = "https://evil.example";
  const answers = [
    await call("GET", "/v1/me", { token: owner.token, headers: { origin } }),
    await call("GET", "/v1/me", { headers: { origin } }),
    await call("OPTIONS", "/v1/events", {
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      },
    }),
  ];
  for (const { headers } of answers)
    expect([...headers.keys()].filter((k) => k.startsWith("access-control-"))).toEqual([]);
});

test("HTTP-6 /healthz says the version, to anybody", async () => {
  const { status, body } = await call("GET", "/healthz");
  expect([status, body]).toEqual([200, { ok: true, version: expect.stringMatching(/^\d+\.\d+\.\d+/) }]);
});

test("HTTP-4 the published schemas and the document are served where ids point", async () => {
  const document = await call("GET", "/openapi.json");
  expect([document.status, document.body.openapi]).toEqual([200, expect.stringMatching(/^3\./)]);
  for (const type of ["message.new", "message.overheard", "welcome", "message.post"]) {
    const { status, body } = await call("GET", `/schemas/room/${type}.json`);
    expect([type, status, body.$schema]).toEqual([type, 200, "https://json-schema.org/draft/2020-12/schema"]);
  }
  const docs = await fetch(`${URL_UNDER_TEST}/docs`);
  expect([docs.status, docs.headers.get("content-type")]).toEqual([
    200,
    expect.stringMatching(/^text\/html/),
  ]);
  expect(await docs.text()).not.toMatch(/(?:src|href)="https?:/);
});
