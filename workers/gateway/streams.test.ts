/** The routes of streams: who may call them, what is hostile, and sockets that end with the rights (STREAM-1, STREAM-2). */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type Any,
  call,
  newHarness,
  newId,
  newPerson,
  newWorkspace,
  open,
  type Party,
  send,
  type Workspace,
} from "../testing/client.ts";
import { agentToken, hookToken, newTeam, tablesOf } from "../testing/team.ts";

type Who =
  | "none"
  | "guest"
  | "member"
  | "owner"
  | "admin"
  | "harness"
  | "agent"
  | "other"
  | "hook"
  | "elsewhere";

let team: Workspace;
const tokens: Partial<Record<Who, string>> = {};
let item: string;
const OWN = "/v1/streams/people/scout";

beforeAll(async () => {
  team = await newTeam();
  const { owner } = team;
  tokens.owner = owner.token;
  for (const role of ["guest", "member"] as const) tokens[role] = (await newPerson(owner, role, role)).token;
  tokens.harness = (await newHarness(owner, "harness")).token;
  tokens.agent = await agentToken(team, "scout");
  tokens.other = await agentToken(team, "mason");
  tokens.hook = await hookToken(team, "jira", ["ticket.created"]);
  const admin = await call("POST", "/v1/tokens", { token: owner.token, body: { scopes: ["admin"] } });
  tokens.admin = admin.body.token;
  tokens.elsewhere = (await newTeam(["wren"])).owner.token;
  const made = await call("POST", "/v1/people/scout/items", { token: owner.token, body: { title: "Look" } });
  item = made.body.item.id;
});

const quiet = { llmRequestPolicy: { behaviour: "dont-trigger-request" } };
const says = (content: string, more: object = {}): Any => ({
  type: "context-item",
  payload: { role: "user", content, ...quiet, ...more },
});
const append = (events: unknown, who: Who = "member", path = OWN) =>
  call("POST", path, { ...(tokens[who] === undefined ? {} : { token: tokens[who] }), body: { events } });
const get = (path: string, who: Who = "member") =>
  call("GET", path, tokens[who] === undefined ? {} : { token: tokens[who] });
const codeOf = ({ status, body }: { status: number; body: Any }) => [status, body.code];

const paths = (handle: string) => [
  `/v1/streams/people/${handle}`,
  `/v1/streams/people/${handle}/history`,
  `/v1/streams/people/${handle}/prompt`,
  `/v1/streams/people/${handle}/items/${newId("itm")}`,
];
const head = async () => (await get(OWN)).body.head;
const follow = async (token: string, path = `${OWN}/live`) => {
  const socket = await open(token, path);
  await socket.next((f) => f.type === "caught_up");
  return socket;
};
const member = async (): Promise<Party> => newPerson(team.owner, `Member ${newId("usr").slice(-6)}`);

describe("who may", () => {
  const READERS: Who[] = ["member", "owner", "admin", "agent"];
  const CODES: Partial<Record<Who, [number, string]>> = {
    none: [401, "unauthenticated"],
    guest: [403, "forbidden"],
    harness: [403, "forbidden"],
    other: [404, "not_found"],
    elsewhere: [404, "not_found"],
  };
  const everybody: Who[] = [...READERS, "none", "guest", "harness", "other", "hook", "elsewhere"];

  test.each(["", "/history", "/prompt"])("STREAM-2: reads GET …%s", async (route) => {
    for (const path of [OWN, `${OWN}/items/${item}`])
      for (const who of everybody) {
        const answer = await get(`${path}${route}`, who);
        const wanted = READERS.includes(who) ? [200, undefined] : (CODES[who] ?? [403, "forbidden"]);
        expect([who, ...codeOf(answer)]).toEqual([who, ...wanted]);
      }
  });

  test("STREAM-4: appends", async () => {
    for (const path of [OWN, `${OWN}/items/${item}`])
      for (const who of everybody) {
        const role = who === "agent" || who === "other" ? "developer" : "user";
        const answer = await append([says("x", { role })], who, path);
        const may = READERS.includes(who) || who === "hook";
        expect([who, ...codeOf(answer)]).toEqual([who, ...(may ? [200, undefined] : (CODES[who] ?? []))]);
      }
  });

  test("ERR-3: what is another's answers to an agent as what is not there, and nothing is made for it", async () => {
    for (const [i, path] of paths("mason").entries()) {
      const [known, unknown] = [await get(path, "agent"), await get(paths("nobody")[i] ?? "", "agent")];
      expect(codeOf(known)).toEqual([404, "not_found"]);
      expect(known.body).toEqual(unknown.body);
    }
    for (const who of ["member", "hook"] as const)
      expect(codeOf(await append([says("x")], who, "/v1/streams/people/nobody"))).toEqual([404, "not_found"]);
    const office = env.OFFICE.getByName(`${team.id}/nobody`);
    expect(await runInDurableObject(office, (_, { storage }) => tablesOf(storage))).toEqual([]);
  });

  test("STREAM-2: there are no other streams than people's and those of items", async () => {
    for (const path of [
      "",
      "/people",
      "/people/scout/items",
      "/teams/a",
      "/people/scout/history/x",
      "/people/SCOUT",
      `/people/scout/items/${newId("itm")}`,
      "/people/scout/items/nonsense",
      "/people/..%2fscout",
    ]) {
      expect([path, ...codeOf(await get(`/v1/streams${path}`))]).toEqual([path, 404, "not_found"]);
      expect([path, ...codeOf(await append([says("x")], "member", `/v1/streams${path}`))]).toEqual([
        path,
        404,
        "not_found",
      ]);
    }
  });

  test("STREAM-4: an owner's token with both rights writes as its person, and as the platform what no person may", async () => {
    const path = `${OWN}/items/${item}`;
    const before = (await get(path)).body.head;
    const { body } = await append(
      [says("from Ada"), says("You are Scout.", { role: "system" })],
      "owner",
      path,
    );
    expect(body.offsets).toHaveLength(2);
    const { events } = (await get(`${path}?after=${before}`)).body;
    expect(events.map((e: Any) => e.payload.actor)).toEqual([{ type: "user", origin: "web" }, undefined]);
  });
});

describe("what comes", () => {
  test("STREAM-4 CTX-1: unknown keys below the root are dropped before bodies are compared, one at the root is refused", async () => {
    const refs = [{ type: "file", path: "a", extra: 1 }];
    const event = { ...says("a", { refs }), idempotencyKey: newId("evt") };
    const first = await append([event]);
    const same = { ...event, payload: { ...event.payload, refs: [{ type: "file", path: "a", other: "x" }] } };
    expect((await append([same])).body).toEqual(first.body);
    const { events } = (await get(`${OWN}?after=${first.body.offsets[0] - 1}`)).body;
    expect(events[0].payload.refs.at(-1)).toEqual({ type: "file", path: "a" });
    const bad = await append([says("x", { mood: "good" })]);
    expect(codeOf(bad)).toEqual([422, "invalid"]);
    expect(bad.body.details[0].path).toBe("events.0.payload");
  });

  test("STREAM-1: what does not fit is refused whole, with words that teach", async () => {
    const before = await head();
    const deadline = new Date().toISOString();
    const cases: [unknown, number, string][] = [
      [undefined, 422, "invalid"],
      [{}, 422, "invalid"],
      [[], 422, "invalid"],
      [Array.from({ length: 1001 }, () => says("x")), 422, "invalid"],
      [[says("x".repeat(262_145))], 413, "too_large"],
      [[says("x".repeat(1_048_576))], 413, "too_large"],
      [[{ type: "no-such-type", payload: {} }], 422, "invalid"],
      [[{ type: "__proto__", payload: {} }], 422, "invalid"],
      [[{ type: "context-item" }], 422, "invalid"],
      [[says("x"), null], 422, "invalid"],
      [[{ ...says("x"), idempotencyKey: "" }], 422, "invalid"],
      [[{ ...says("x"), idempotencyKey: "x".repeat(201) }], 422, "invalid"],
      [[says("nul \u0000")], 422, "invalid"],
      [[says("half \ud800")], 422, "invalid"],
      [[says("x", { role: "tool" })], 422, "invalid"],
      [[says("x", { key: "" })], 422, "invalid"],
      [[says("x", { llmRequestOffset: -1 })], 422, "invalid"],
      [[says("x", { refs: [{ type: "event", streamPath: "/x", offset: 0 }] })], 422, "invalid"],
      [[says("x", { actor: { type: "system" } })], 422, "invalid"],
      [[says("x", { role: "assistant" })], 403, "forbidden"],
      [[says("x", { actor: { type: "github", login: "ada" } })], 403, "forbidden"],
      [[{ type: "llm-request-requested", payload: { trigger: 1, deadline } }], 403, "forbidden"],
      [[{ type: "llm-request-succeeded", payload: { requestOffset: 1 } }], 403, "forbidden"],
      [[{ type: "stream-paused", payload: {} }], 422, "invalid"],
      [[{ type: "context-item-redacted", payload: { offset: 1 } }], 403, "forbidden"],
    ];
    for (const [events, status, code] of cases) {
      const answer = await append(events);
      expect([JSON.stringify(events)?.slice(0, 80), ...codeOf(answer)]).toEqual([
        JSON.stringify(events)?.slice(0, 80),
        status,
        code,
      ]);
      expect(answer.body.message).toMatch(/\.$/);
    }
    const raws: [string | Uint8Array, number, string][] = [
      ["", 400, "malformed"],
      ["{", 400, "malformed"],
      ['{"events":[', 400, "malformed"],
      [`{"events":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, 400, "malformed"],
      ["[]", 422, "invalid"],
      ["null", 422, "invalid"],
      [new Uint8Array([0x22, 0xff, 0x22]), 400, "malformed"],
    ];
    for (const [raw, status, code] of raws)
      expect(codeOf(await call("POST", OWN, { token: tokens.member ?? "", raw: raw as BodyInit }))).toEqual([
        status,
        code,
      ]);
    expect(await head()).toBe(before);
  });

  test("STREAM-2: queries that are none are refused by name", async () => {
    for (const [route, path] of [
      ["?after=-1", "after"],
      ["?after=x", "after"],
      ["?limit=0", "limit"],
      ["/history?at=x", "at"],
      ["/history?at=1e3", "at"],
      ["/prompt?format=xml", "format"],
      ["/prompt?at=", "at"],
    ]) {
      const answer = await get(`${OWN}${route}`);
      expect([route, ...codeOf(answer), answer.body.details[0].path]).toEqual([route, 422, "invalid", path]);
    }
    const far = await get(`${OWN}?after=999999999999999&limit=99999`);
    expect(far.body.events).toEqual([]);
    expect((await get(`${OWN}/history?at=999999999999999`)).status).toBe(200);
  });

  test("STREAM-2: the live route wants a socket", async () => {
    expect(codeOf(await get(`${OWN}/live`))).toEqual([415, "unsupported"]);
    expect(codeOf(await get(`${OWN}/live`, "guest"))).toEqual([415, "unsupported"]);
    expect(codeOf(await get(`${OWN}/live`, "none"))).toEqual([401, "unauthenticated"]);
  });
});

describe("sockets", () => {
  test("STREAM-2: a person and the agent follow, with the token as the subprotocol", async () => {
    const { token } = await member();
    const [person, agent] = [await follow(token), await follow(tokens.agent ?? "", `${OWN}/live?after=999`)];
    const { body } = await append([says("for both")]);
    for (const socket of [person, agent]) {
      const { event } = await socket.next((f) => f.event?.payload.content === "for both");
      expect(event.offset).toBe(body.offsets[0]);
    }
  });

  test("STREAM-2 ERR-3: nobody else does", async () => {
    for (const [who, code] of [
      ["guest", "forbidden"],
      ["harness", "forbidden"],
      ["hook", "forbidden"],
      ["other", "not_found"],
      ["elsewhere", "not_found"],
    ] as const)
      await expect(open(tokens[who] ?? "", `${OWN}/live`)).rejects.toThrow(code);
    await expect(open(tokens.member ?? "", `${OWN}/items/${newId("itm")}/live`)).rejects.toThrow("not_found");
    await expect(open(tokens.member ?? "", `${OWN}/live?after=x`)).rejects.toThrow("invalid");
  });

  test("AUTH-3: a token that is revoked closes what it opened, a person's and an agent's", async () => {
    const made = await call("POST", "/v1/tokens", {
      token: team.owner.token,
      body: { scopes: ["person"], name: "page" },
    });
    const agent = await call("POST", "/v1/tokens", {
      token: team.owner.token,
      body: { person: "scout", scopes: ["agent"] },
    });
    const stays = await follow(team.owner.token);
    for (const { body } of [made, agent]) {
      const socket = await follow(body.token);
      await call("DELETE", `/v1/tokens/${body.token_id}`, { token: team.owner.token });
      expect(await socket.closed).toMatchObject({ code: 4401 });
    }
    await append([says("still here")]);
    await stays.next((f) => f.event?.payload.content === "still here");
  });

  test("STREAM-2: who is removed, or made a guest, follows no more", async () => {
    const [gone, guest] = [await member(), await member()];
    const sockets = [await follow(gone.token), await follow(guest.token)];
    await send(team.owner, "participant.remove", { participant_id: gone.id });
    await send(team.owner, "participant.role", { participant_id: guest.id, role: "guest" });
    for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 4403 });
    await expect(open(guest.token, `${OWN}/live`)).rejects.toThrow("forbidden");
  });

  test("STREAM-2: a workspace without a team has no streams", async () => {
    const { owner } = await newWorkspace();
    expect(codeOf(await call("GET", OWN, { token: owner.token }))).toEqual([404, "not_found"]);
    await expect(open(owner.token, `${OWN}/live`)).rejects.toThrow("not_found");
  });
});
