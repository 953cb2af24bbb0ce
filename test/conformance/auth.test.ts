/** Who may come in: tokens and how they are brought, what they may do, how they end (AUTH). */
import { expect, test } from "vitest";
import {
  ADMIN_TOKEN,
  type Any,
  call,
  connect,
  del,
  get,
  headOf,
  newAgents,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  open,
  type Party,
  post,
  refused,
  say,
  secretOf,
  send,
  URL_UNDER_TEST,
  upgrade,
  verb,
} from "./kit.ts";

const UNAUTHENTICATED = [401, "unauthenticated"];
const codeOf = ({ status, body }: { status: number; body: Any }): [number, string] => [status, body?.code];

test("AUTH-1 a token has its form, and what is not exactly one is unauthenticated with one answer", async () => {
  const { id, owner } = await newWorkspace();
  expect(owner.token).toMatch(/^bp_[0-7][0-9A-HJKMNP-TV-Z]{25}_[0-7][0-9A-HJKMNP-TV-Z]{25}_[\w-]{43}$/);
  expect(owner.token.slice(3, 29)).toBe(id.slice(3));
  const [, workspace = "", row = "", secret = ""] = /^bp_(.{26})_(.{26})_(.{43})$/.exec(owner.token) ?? [];
  const flipped = (secret.startsWith("A") ? "B" : "A") + secret.slice(1);
  const other = newId("tok").slice(4);
  const wrong = {
    secret: `bp_${workspace}_${row}_${flipped}`,
    row: `bp_${workspace}_${other}_${secret}`,
    workspace: `bp_${other}_${row}_${secret}`,
  };
  const answers = await Promise.all(Object.values(wrong).map((token) => call("GET", "/v1/me", { token })));
  for (const answer of answers) {
    expect(codeOf(answer)).toEqual(UNAUTHENTICATED);
    expect(answer.body).toEqual(answers[0]?.body);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
  }
  expect(codeOf(await call("GET", "/v1/me"))).toEqual(UNAUTHENTICATED);
  expect(codeOf(await call("GET", "/v1/me", { token: `${owner.token}x` }))).toEqual(UNAUTHENTICATED);
  expect(codeOf(await call("GET", "/v1/me", { headers: { authorization: owner.token } }))).toEqual(
    UNAUTHENTICATED,
  );
  expect(codeOf(await call("GET", "/v1/me", { headers: { authorization: `Basic ${owner.token}` } }))).toEqual(
    UNAUTHENTICATED,
  );
});

test("AUTH-1 a socket takes the bearer or the subprotocol; a token in the query string is refused", async () => {
  const { owner } = await newWorkspace();
  const { token } = owner;
  const asBearer = await upgrade({ authorization: `Bearer ${token}` });
  expect(asBearer.status).toBe(101);
  const both = await upgrade({ "sec-websocket-protocol": `bullpen.v1, bearer.${token}` });
  expect([both.status, both.headers["sec-websocket-protocol"]]).toEqual([101, "bullpen.v1"]);
  expect((await open(token)).ws.protocol).toBe("bullpen.v1");
  expect(codeOf(await upgrade({ "sec-websocket-protocol": "bullpen.v1" }))).toEqual(UNAUTHENTICATED);
  for (const name of ["token", "access_token"]) {
    expect(codeOf(await upgrade({}, `/v1/connect?${name}=${token}`))).toEqual(UNAUTHENTICATED);
    expect(codeOf(await call("GET", `/v1/me?${name}=${token}`))).toEqual(UNAUTHENTICATED);
    expect(codeOf(await get(owner, `/v1/me?${name}=${token}`))).toEqual(UNAUTHENTICATED);
  }
});

test("AUTH-1 a session cookie is out of script's reach and works from the page's own origin only", async () => {
  const { owner } = await newWorkspace();
  const invite = await post(owner, "/v1/invites", {});
  const redeemed = await call("POST", "/v1/invites/redeem", {
    body: { secret: secretOf(invite.body.link), display_name: "Bob", idempotency_key: "k" },
  });
  const cookie = redeemed.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/HttpOnly/i);
  expect(cookie).toMatch(/SameSite=Strict/i);
  expect(cookie).toMatch(/Path=\//i);
  if (URL_UNDER_TEST.startsWith("https:")) expect(cookie).toMatch(/^__Host-.*Secure/i);
  const pair = cookie.split(";")[0] ?? "";
  // Another site signs nobody in here: redeemed from there, a link sets no cookie.
  const other = await post(owner, "/v1/invites", {});
  const abroad = await call("POST", "/v1/invites/redeem", {
    body: { secret: secretOf(other.body.link), display_name: "Eve", idempotency_key: "k" },
    headers: { origin: "https://evil.example" },
  });
  expect([abroad.status, abroad.headers.get("set-cookie")]).toEqual([201, null]);
  const { origin } = new URL(URL_UNDER_TEST);
  const write = (headers: Record<string, string>) =>
    call("PUT", "/v1/me", { body: { time_zone: "Europe/Berlin" }, headers: { cookie: pair, ...headers } });
  expect((await call("GET", "/v1/me", { headers: { cookie: pair } })).body.participant.name).toBe("Bob");
  expect((await write({ origin })).status).toBe(200);
  const elsewhere = [
    "https://evil.example",
    "null",
    `${origin}.evil.example`,
    origin.replace(/^http/, "xhttp"),
  ];
  for (const from of elsewhere) {
    expect(codeOf(await write({ origin: from }))).toEqual([403, "forbidden"]);
    expect(codeOf(await upgrade({ cookie: pair, origin: from }))).toEqual([403, "forbidden"]);
  }
  expect(codeOf(await write({}))).toEqual([403, "forbidden"]);
  expect(codeOf(await upgrade({ cookie: pair }))).toEqual([403, "forbidden"]);
  expect((await upgrade({ cookie: pair, origin, "sec-websocket-protocol": "bullpen.v1" })).status).toBe(101);
  // A bearer proves more than a cookie: no origin is asked of it.
  expect(
    (await upgrade({ authorization: `Bearer ${owner.token}`, origin: "https://evil.example" })).status,
  ).toBe(101);
  expect((await call("POST", "/v1/sign-out", { headers: { cookie: pair, origin } })).status).toBe(204);
  expect(codeOf(await call("GET", "/v1/me", { headers: { cookie: pair } }))).toEqual(UNAUTHENTICATED);
});

test("AUTH-2 a token's scopes bound what it does, and nothing that is sent widens them", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const harness = await newHarness(owner, "Scouts");
  const make = async (scopes: string[], participant_id?: string): Promise<Party> => {
    const { status, body } = await post(owner, "/v1/tokens", {
      scopes,
      ...(participant_id ? { participant_id } : {}),
    });
    expect([status, body.token_id]).toEqual([201, expect.stringMatching(/^tok_/)]);
    return { id: participant_id ?? owner.id, token: body.token };
  };
  const hook = await make(["hook"], harness.id);
  const admin = await make(["admin"]);
  for (const weak of [hook, admin]) {
    expect((await get(weak, "/v1/me")).status).toBe(200);
    expect(codeOf(await get(weak, "/v1/spaces"))).toEqual([403, "forbidden"]);
    expect((await refused(weak, "message.post", { space_id: space, text: "x" })).code).toBe("forbidden");
    expect(
      (await refused(weak, "message.post", { space_id: space, text: "x", scopes: ["person"] })).code,
    ).toBe("forbidden");
    expect(codeOf(await post(weak, "/v1/hello", { v: 1, type: "hello", id: newId("evt") }))).toEqual([
      403,
      "forbidden",
    ]);
    expect(codeOf(await upgrade({ authorization: `Bearer ${weak.token}` }))).toEqual([403, "forbidden"]);
  }
  const misfits: [string[], string | undefined][] = [
    [["harness"], undefined],
    [["person"], harness.id],
    [["admin"], harness.id],
    [["person", "root"], undefined],
    [[], undefined],
  ];
  for (const [scopes, participant_id] of misfits)
    expect(codeOf(await post(owner, "/v1/tokens", { scopes, participant_id }))).toEqual([422, "invalid"]);
});

const tries = async (by: Party, type: string, fields: object) =>
  expect([type, (await refused(by, type, fields)).code]).toEqual([type, "forbidden"]);

test("AUTH-2 SPACE-7 nobody rises by themselves: admins, members, guests and harnesses are told so", async () => {
  const { owner } = await newWorkspace();
  const space = await newSpace(owner, "Lobby");
  const [admin, member] = [await newPerson(owner, "Alma", "admin"), await newPerson(owner, "Mo")];
  const guest = await newPerson(owner, "Gil", "guest", [space]);
  const harness = await newHarness(owner, "Scouts");
  for (const one of [admin, member, harness])
    await send(owner, "member.add", { space_id: space, participant_id: one.id });
  const head = await headOf(owner);
  // An admin makes no owners or admins, and unmakes none.
  for (const role of ["owner", "admin"])
    await tries(admin, "participant.role", { participant_id: member.id, role });
  for (const role of ["owner", "member"])
    await tries(admin, "participant.role", { participant_id: admin.id, role });
  await tries(admin, "participant.role", { participant_id: owner.id, role: "member" });
  await tries(admin, "participant.remove", { participant_id: owner.id });
  expect(codeOf(await post(admin, "/v1/invites", { role: "admin" }))).toEqual([403, "forbidden"]);
  expect(codeOf(await post(admin, "/v1/tokens", { participant_id: owner.id, scopes: ["person"] }))).toEqual([
    403,
    "forbidden",
  ]);
  expect(codeOf(await post(admin, "/v1/sign-in-links", { participant_id: owner.id }))).toEqual([
    403,
    "forbidden",
  ]);
  const { items } = (await get(admin, "/v1/tokens")).body;
  const owners = items.find((t: Any) => t.participant_id === owner.id);
  expect(codeOf(await del(admin, `/v1/tokens/${owners.token_id}`))).toEqual([403, "forbidden"]);
  for (const by of [member, guest, harness]) {
    await tries(by, "participant.role", {
      participant_id: by === harness ? member.id : by.id,
      role: "admin",
    });
    await tries(by, "participant.remove", { participant_id: admin.id });
    await tries(by, "participant.rename", { participant_id: owner.id, name: "Fool" });
    await tries(by, "settings.set", { settings: { guard: { stop: 1 } } });
    await tries(by, "space.set", { space_id: space, ceiling_usd: 1 });
    await tries(by, "space.archive", { space_id: space });
    await tries(by, "member.role", { space_id: space, participant_id: by.id, role: "owner" });
    await tries(by, "member.remove", { space_id: space, participant_id: owner.id });
    for (const [path, body] of [
      ["/v1/invites", {}],
      ["/v1/harnesses", { name: "Mine" }],
      ["/v1/tokens", { scopes: [by === harness ? "harness" : "person"] }],
      ["/v1/sign-in-links", { participant_id: owner.id }],
    ] as const)
      expect([path, codeOf(await post(by, path, body))]).toEqual([path, [403, "forbidden"]]);
    expect(codeOf(await del(by, `/v1/tokens/${owners.token_id}`))).toEqual([404, "not_found"]);
  }
  for (const by of [guest, harness]) {
    await tries(by, "space.create", { title: "Mine" });
    await tries(by, "space.rename", { space_id: space, title: "Mine" });
    await tries(by, "member.add", { space_id: space, participant_id: member.id });
  }
  expect(await headOf(owner)).toBe(head);
  expect((await get(owner, "/v1/participants")).body.items).toHaveLength(5);
});

test("AUTH-3 a revoked token ends at once: its socket with 4401, its next request with 401", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const space = await newSpace(owner, "Lobby", [bob.id]);
  const extra = await post(owner, "/v1/tokens", { scopes: ["person"], name: "second" });
  const second = { id: owner.id, token: extra.body.token };
  const [dies, lives, others] = [await connect(second), await connect(owner), await connect(bob)];
  const waiting = get(second, `/v1/events?after=${await headOf(owner)}&wait=25`);
  expect((await del(owner, `/v1/tokens/${extra.body.token_id}`)).status).toBe(204);
  expect((await dies.closed).code).toBe(4401);
  expect(codeOf(await get(second, "/v1/me"))).toEqual(UNAUTHENTICATED);
  await say(owner, space, "after");
  expect(codeOf(await waiting)).toEqual(UNAUTHENTICATED);
  for (const socket of [lives, others]) await socket.next((f) => f.text === "after");
  expect(codeOf(await del(owner, `/v1/tokens/${extra.body.token_id}`))).toEqual([404, "not_found"]);
});

test("AUTH-5 workspaces are made with the deployment's token only; the owner's is shown once", async () => {
  const body = { name: "Mine", owner_name: "Eve" };
  const made = await call("POST", "/v1/workspaces", { token: ADMIN_TOKEN, body });
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    workspace_id: expect.stringMatching(/^ws_/),
    owner: { participant_id: expect.stringMatching(/^usr_/), name: "Eve" },
    token: expect.stringMatching(/^bp_/),
  });
  const owner = { id: made.body.owner.participant_id, token: made.body.token };
  const me = await get(owner, "/v1/me");
  expect(me.body).toMatchObject({
    participant: { kind: "person", role: "owner" },
    scopes: expect.arrayContaining(["person"]),
  });
  expect(JSON.stringify((await get(owner, "/v1/tokens")).body)).not.toContain(owner.token.slice(-43));
  for (const token of [
    undefined,
    owner.token,
    `${ADMIN_TOKEN}x`,
    ADMIN_TOKEN.slice(1),
    ADMIN_TOKEN.toUpperCase(),
  ])
    expect(codeOf(await call("POST", "/v1/workspaces", { token, body }))).toEqual([403, "forbidden"]);
  // It opens nothing else.
  expect(codeOf(await call("GET", "/v1/me", { token: ADMIN_TOKEN }))).toEqual(UNAUTHENTICATED);
});

const listed = async (by: Party) => (await get(by, "/v1/tokens")).body.items as Any[];

test("AUTH-8 a token is listed without its secret: owners and admins see the workspace's, others their own", async () => {
  const { owner } = await newWorkspace();
  const [bob, cleo] = [await newPerson(owner, "Bob"), await newPerson(owner, "Cleo")];
  const harness = await newHarness(owner, "Scouts");
  const ids = async (by: Party) => new Set((await listed(by)).map((t) => t.participant_id));
  expect(await ids(owner)).toEqual(new Set([owner.id, harness.id]));
  expect(await ids(bob)).toEqual(new Set([bob.id]));
  expect(await ids(harness)).toEqual(new Set([harness.id]));
  for (const token of [...(await listed(owner)), ...(await listed(bob))])
    expect(token).toMatchObject({ token_id: expect.stringMatching(/^tok_/), scopes: expect.any(Array) });
  const [session] = await listed(bob);
  expect(session).toMatchObject({ session: true });
  expect(codeOf(await del(cleo, `/v1/tokens/${session.token_id}`))).toEqual([404, "not_found"]);
  expect((await del(bob, `/v1/tokens/${session.token_id}`)).status).toBe(204);
  expect(codeOf(await get(bob, "/v1/me"))).toEqual(UNAUTHENTICATED);
});

test("AUTH-8 CONN-8 who is removed from the workspace is cut off with 4403, and the words stay", async () => {
  const { owner } = await newWorkspace();
  const bob = await newPerson(owner, "Bob");
  const team = await newAgents(owner, "Scouts", "Scout");
  const space = await newSpace(owner, "Lobby", [bob.id, ...team.agents]);
  await say(bob, space, "remember me");
  const [page, harness] = [await connect(bob), await connect(team)];
  await send(owner, "participant.remove", { participant_id: bob.id });
  await send(owner, "participant.remove", { participant_id: team.id });
  expect((await page.closed).code).toBe(4403);
  expect((await harness.closed).code).toBe(4403);
  for (const gone of [bob, team]) expect(codeOf(await get(gone, "/v1/me"))).toEqual(UNAUTHENTICATED);
  const { context } = (await get(owner, `/v1/spaces/${space}/context`)).body;
  expect(context.lines.map((l: Any) => l.text)).toContain("remember me");
  expect((await get(owner, `/v1/spaces/${space}`)).body.members).toBe(1);
  const refusedAgain = await post(
    owner,
    "/v1/events",
    verb("member.add", { space_id: space, participant_id: bob.id }),
  );
  expect(codeOf(refusedAgain)).toEqual([404, "not_found"]);
});
