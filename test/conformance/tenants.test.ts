/** Two workspaces: what is another's answers exactly as what does not exist (LIMIT-3, ERR-3, AUTH-4). */
import { expect, test } from "vitest";
import { VERBS } from "../../src/shared/wire/index.ts";
import {
  type Agents,
  type Any,
  call,
  connect,
  eventsOf,
  get,
  headOf,
  newAgents,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  post,
  say,
  send,
  startRun,
  upgrade,
  verb,
} from "./kit.ts";

interface Tenant {
  owner: Party;
  person: Party;
  team: Agents;
  space: string;
  hidden: string;
  message: string;
  run: string;
  file: string;
}

async function newTenant(): Promise<Tenant> {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Secret plans");
  const person = await newPerson(owner, "Bob", "member", [space]);
  const team = await newAgents(owner, "Scouts", "Scout");
  await send(owner, "member.add", { space_id: space, participant_id: team.agents[0] });
  const upload = await call("POST", "/v1/attachments?filename=plan.txt", {
    token: owner.token,
    raw: "secret bytes",
  });
  expect(upload.status).toBe(201);
  const file = upload.body.attachment_id;
  const said = await say(owner, space, "zanzibar", { attachments: [{ attachment_id: file }] });
  const run = await startRun(team, space, team.agents[0], [said.message_id]);
  const hidden = await newSpace(person, "Private of one");
  return { owner, person, team, space, hidden, message: said.message_id, run, file };
}

/** An answer without what is new in each: its request and its time. */
function bare({ status, headers, body }: { status: number; headers: Headers; body: Any }): unknown {
  const kept = [...headers].filter(([name]) => !["x-request-id", "date", "cf-ray"].includes(name));
  const { of: _, ...rest } = body ?? {};
  return { status, headers: kept, body: rest };
}

test("LIMIT-3 ERR-3 every verb with another workspace's ids answers as for ids that do not exist", async () => {
  const [mine, theirs] = [await newTenant(), await newTenant()];
  const before = { mine: await headOf(mine.owner), theirs: await headOf(theirs.owner) };
  const nobody: Tenant = {
    owner: { id: newId("usr"), token: "" },
    person: { id: newId("usr"), token: "" },
    team: { id: newId("hrn"), token: "", agents: [newId("agt")] },
    space: newId("spc"),
    hidden: newId("spc"),
    message: newId("msg"),
    run: newId("run"),
    file: newId("att"),
  };
  const asPerson = (of: Tenant): [string, object][] => [
    ["message.post", { space_id: of.space, text: "x" }],
    ["space.rename", { space_id: of.space, title: "x" }],
    ["space.archive", { space_id: of.space }],
    ["space.unarchive", { space_id: of.space }],
    ["space.set", { space_id: of.space, ceiling_usd: 1 }],
    ["message.post", { space_id: mine.space, text: "x", reply_to: of.message }],
    ["message.post", { space_id: mine.space, text: "x", attachments: [{ attachment_id: of.file }] }],
    ["message.edit", { message_id: of.message, text: "x" }],
    ["message.delete", { message_id: of.message }],
    ["member.add", { space_id: of.space, participant_id: mine.owner.id }],
    ["member.add", { space_id: mine.space, participant_id: of.person.id }],
    ["member.add", { space_id: mine.space, participant_id: of.team.agents[0] }],
    ["member.remove", { space_id: of.space, participant_id: mine.owner.id }],
    ["member.remove", { space_id: mine.space, participant_id: of.owner.id }],
    ["member.role", { space_id: mine.space, participant_id: of.owner.id, role: "owner" }],
    ["space.set", { space_id: mine.space, lead: of.team.agents[0] }],
    ["space.create", { direct: [of.owner.id] }],
    ["space.create", { title: "x", harness_id: of.team.id }],
    ["participant.rename", { participant_id: of.owner.id, name: "x" }],
    ["participant.remove", { participant_id: of.person.id }],
    ["participant.role", { participant_id: of.person.id, role: "admin" }],
    ["read", { space_id: of.space, seq: 1 }],
    ["typing", { space_id: of.space }],
  ];
  const asHarness = (of: Tenant): [string, object][] => [
    ["message.post", { space_id: of.space, text: "x" }],
    [
      "message.post",
      { space_id: mine.space, text: "x", run_id: of.run, actor: { kind: "agent", id: mine.team.agents[0] } },
    ],
    ["message.post", { space_id: mine.space, text: "x", actor: { kind: "agent", id: of.team.agents[0] } }],
    ["message.heard", { run_id: of.run, message_ids: [mine.message] }],
    ["message.heard", { run_id: mine.run, message_ids: [of.message] }],
    ["run.start", { run_id: newId("run"), space_id: of.space }],
    ["run.start", { run_id: newId("run"), space_id: mine.space, agent_id: of.team.agents[0] }],
    [
      "run.start",
      {
        run_id: newId("run"),
        space_id: mine.space,
        agent_id: mine.team.agents[0],
        message_ids: [of.message],
      },
    ],
    ["run.step", { run_id: of.run, text: "x" }],
    ["run.usage", { run_id: of.run, cost_usd: 1 }],
    ["run.end", { run_id: of.run, outcome: "done" }],
    ["space.claim", { space_id: of.space, agent_id: mine.team.agents[0] }],
    ["agent.declare", { agents: [{ name: "x", agent_id: of.team.agents[0] }] }],
    ["agent.withdraw", { agent_id: of.team.agents[0] }],
  ];
  const used = new Set<string>();
  for (const [by, of] of [
    [mine.owner, asPerson],
    [mine.team, asHarness],
  ] as const) {
    const [foreign, none] = [of(theirs), of(nobody)];
    for (const [i, [type, fields]] of foreign.entries()) {
      used.add(type);
      const theirsIs = await post(by, "/v1/events", verb(type, fields));
      const noneIs = await post(by, "/v1/events", verb(type, none[i]?.[1]));
      expect([type, fields, theirsIs.status]).toEqual([
        type,
        fields,
        expect.toSatisfy((s: number) => s >= 400),
      ]);
      expect([type, fields, bare(theirsIs)]).toEqual([type, fields, bare(noneIs)]);
    }
  }
  // Whatever names something is tried; settings name nothing.
  expect(Object.keys(VERBS).filter((type) => !used.has(type))).toEqual(
    Object.keys(VERBS).filter((type) => NAMES_NOTHING_OR_LATER.test(type)),
  );
  expect({ mine: await headOf(mine.owner), theirs: await headOf(theirs.owner) }).toEqual(before);
});

/** Verbs without an id of something that exists, and those of rules with suites of their own. */
const NAMES_NOTHING_OR_LATER =
  /^(settings|policy|approval|question|agents|grant|run\.(?:pause|resume|stop))\b/;

const tokenOf = async (by: Party) => (await get(by, "/v1/tokens")).body.items[0].token_id;

test("LIMIT-3 ERR-3 every route with another workspace's ids answers as for ids that do not exist", async () => {
  const [mine, theirs] = [await newTenant(), await newTenant()];
  const invite = (await post(theirs.owner, "/v1/invites", {})).body.invite_id;
  const pairs: [string, string, string][] = [
    ["GET", `/v1/spaces/${theirs.space}`, `/v1/spaces/${newId("spc")}`],
    ["GET", `/v1/spaces/${theirs.space}/members`, `/v1/spaces/${newId("spc")}/members`],
    ["GET", `/v1/spaces/${theirs.space}/context`, `/v1/spaces/${newId("spc")}/context`],
    ["GET", `/v1/spaces/${theirs.space}/files`, `/v1/spaces/${newId("spc")}/files`],
    [
      "GET",
      `/v1/spaces/${theirs.space}/files?name=plan.txt`,
      `/v1/spaces/${newId("spc")}/files?name=plan.txt`,
    ],
    ["GET", `/v1/spaces/${theirs.space}/runs`, `/v1/spaces/${newId("spc")}/runs`],
    ["GET", `/v1/attachments/${theirs.file}`, `/v1/attachments/${newId("att")}`],
    ["GET", `/v1/attachments/${theirs.file}/url`, `/v1/attachments/${newId("att")}/url`],
    [
      "GET",
      `/v1/events?after=0&limit=1&space_id=${theirs.space}`,
      `/v1/events?after=0&limit=1&space_id=${newId("spc")}`,
    ],
    ["GET", "/v1/search?q=zanzibarx", "/v1/search?q=nothinglikeit"],
    ["DELETE", `/v1/tokens/${await tokenOf(theirs.owner)}`, `/v1/tokens/${newId("tok")}`],
    ["DELETE", `/v1/invites/${invite}`, `/v1/invites/${newId("inv")}`],
  ];
  const by: [string, Party][] = [
    ["owner", mine.owner],
    ["harness", mine.team],
  ];
  for (const [who, { token }] of by)
    for (const [method, foreign, none] of pairs) {
      const [a, b] = [await call(method, foreign, { token }), await call(method, none, { token })];
      expect([who, method, foreign, bare(a)]).toEqual([who, method, foreign, bare(b)]);
      if (!foreign.includes("?")) expect(a.status).toBeGreaterThanOrEqual(403);
    }
  for (const asked of [{ space_ids: [theirs.space] }, { space_ids: [newId("spc")] }])
    expect(bare(await post(mine.owner, "/v1/invites", asked))).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
  for (const participant_id of [theirs.person.id, newId("usr")]) {
    expect((await post(mine.owner, "/v1/sign-in-links", { participant_id })).body.code).toBe("not_found");
    expect((await post(mine.owner, "/v1/tokens", { participant_id, scopes: ["person"] })).body.code).toBe(
      "not_found",
    );
  }
  expect((await get(theirs.owner, "/v1/me")).status).toBe(200);
});

test("ERR-3 SPACE-6 a private space of one's own workspace is no more there than a foreign one", async () => {
  const mine = await newTenant();
  // The owner of the workspace is not in it, and may read the workspace's every other thing.
  const { owner, hidden, person } = mine;
  await say(person, hidden, "quagga");
  const none = newId("spc");
  for (const path of ["", "/members", "/context", "/files", "/runs"]) {
    const answers = [
      await get(owner, `/v1/spaces/${hidden}${path}`),
      await get(owner, `/v1/spaces/${none}${path}`),
    ];
    expect(bare(answers[0] as Any)).toEqual(bare(answers[1] as Any));
    expect(answers[0]?.status).toBe(404);
  }
  const message = (await eventsOf(person)).find((e) => e.text === "quagga");
  const pairs: [string, object, object][] = [
    ["message.post", { space_id: hidden, text: "x" }, { space_id: none, text: "x" }],
    [
      "member.add",
      { space_id: hidden, participant_id: owner.id },
      { space_id: none, participant_id: owner.id },
    ],
    ["space.rename", { space_id: hidden, title: "x" }, { space_id: none, title: "x" }],
    ["space.archive", { space_id: hidden }, { space_id: none }],
    ["space.set", { space_id: hidden, lead: null }, { space_id: none, lead: null }],
    [
      "member.remove",
      { space_id: hidden, participant_id: person.id },
      { space_id: none, participant_id: person.id },
    ],
    ["message.edit", { message_id: message.message_id, text: "x" }, { message_id: newId("msg"), text: "x" }],
    ["message.delete", { message_id: message.message_id }, { message_id: newId("msg") }],
    [
      "message.post",
      { space_id: mine.space, text: "x", reply_to: message.message_id },
      { space_id: mine.space, text: "x", reply_to: newId("msg") },
    ],
    ["read", { space_id: hidden, seq: 1 }, { space_id: none, seq: 1 }],
    ["typing", { space_id: hidden }, { space_id: none }],
  ];
  for (const [type, theirs, nobodys] of pairs) {
    const [a, b] = [
      await post(owner, "/v1/events", verb(type, theirs)),
      await post(owner, "/v1/events", verb(type, nobodys)),
    ];
    expect([type, bare(a)]).toEqual([type, bare(b)]);
    expect(a.status).toBeGreaterThanOrEqual(404);
  }
  expect((await get(owner, "/v1/search?q=quagga")).body).toEqual({ items: [] });
  expect(JSON.stringify(await eventsOf(owner))).not.toContain(hidden);
  expect(JSON.stringify((await get(owner, "/v1/spaces")).body)).not.toContain(hidden);
});

test("LIMIT-3 AUTH-2 a token moved to another workspace is nobody's, there and on the socket", async () => {
  const [mine, theirs] = [await newTenant(), await newTenant()];
  const parts = /^bp_(.{26})_(.{26})_(.{43})$/;
  const [, here = ""] = parts.exec(mine.owner.token) ?? [];
  const [, , row = "", secret = ""] = parts.exec(theirs.owner.token) ?? [];
  const moved = `bp_${here}_${row}_${secret}`;
  const made = { status: 401, body: { code: "unauthenticated" } };
  const unknown = `bp_${here}_${newId("tok").slice(4)}_${secret}`;
  const [a, b] = [
    await call("GET", "/v1/me", { token: moved }),
    await call("GET", "/v1/me", { token: unknown }),
  ];
  expect(bare(a)).toEqual(bare(b));
  expect(a).toMatchObject(made);
  expect(await upgrade({ authorization: `Bearer ${moved}` })).toMatchObject(made);
});

test("AUTH-4 a workspace that was never made answers like a wrong token, and stays unmade", async () => {
  const { owner } = await newWorkspace();
  const [, , row = "", secret = ""] = /^bp_(.{26})_(.{26})_(.{43})$/.exec(owner.token) ?? [];
  const token = `bp_${newId("ws").slice(3)}_${row}_${secret}`;
  const wrong = `${owner.token.slice(0, -1)}${owner.token.endsWith("A") ? "B" : "A"}`;
  const tries: [string, string, Any][] = [
    ["GET", "/v1/me", undefined],
    ["POST", "/v1/events", verb("space.create", { title: "x" })],
    ["POST", "/v1/events", { v: 1, type: "ack", seq: 1 }],
    ["POST", "/v1/hello", { v: 1, type: "hello", id: newId("evt") }],
    ["POST", "/v1/harnesses", { name: "x" }],
    ["POST", "/v1/attachments?filename=a.txt", { a: 1 }],
    ["GET", `/v1/attachments/${newId("att")}`, undefined],
  ];
  const known = await call("GET", "/v1/me", { token: wrong });
  expect(known.status).toBe(401);
  for (const [method, path, body] of tries) {
    const answer = await call(method, path, { token, body });
    expect([path, bare(answer)]).toEqual([path, bare(known)]);
  }
  const secretOfNone = token.slice(3);
  const asked = { secret: secretOfNone, display_name: "Eve", idempotency_key: "k" };
  for (const path of ["/v1/invites/redeem", "/v1/sign-in-links/redeem"])
    expect((await call("POST", path, { body: asked })).body.code).toBe("gone");
});

test("LIMIT-3 one workspace's load is nothing to another's socket", async () => {
  const [mine, theirs] = [await newTenant(), await newTenant()];
  const [here, there] = [await connect(mine.owner), await connect(theirs.owner)];
  await Promise.all([say(mine.owner, mine.space, "mine"), say(theirs.owner, theirs.space, "theirs")]);
  await here.next((f) => f.text === "mine");
  await there.next((f) => f.text === "theirs");
  await Promise.all([here.fence(), there.fence()]);
  expect(JSON.stringify(here.frames)).not.toMatch(/theirs/);
  expect(JSON.stringify(there.frames)).not.toMatch(/"mine"/);
});
