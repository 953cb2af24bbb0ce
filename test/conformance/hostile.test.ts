/** Hostile frames and events: each gets the right error and changes nothing (ENV-6, ENV-8, ERR-1, LIMIT-1). */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { bodyOf, type Case, type House, newHouse, notRefused } from "./hostile-kit.ts";
import {
  type Any,
  call,
  connect,
  eventsOf,
  headOf,
  newId,
  open,
  type Party,
  type Socket,
  say,
  verb,
} from "./kit.ts";

let mine: House;
let theirs: House;

beforeAll(async () => {
  [mine, theirs] = [await newHouse(), await newHouse()];
}, 60_000);

/** A frame of each verb that would be taken as it is. */
function goodFrames(of: House): [Party, string, Any][] {
  const { owner, team, space, message, run, file } = of;
  const space_id = space;
  const agent_id = team.agents[0];
  const full = {
    space_id,
    text: "x",
    attachments: [{ attachment_id: file, replaces: file }],
    reply_to: message,
    session_ref: "s",
  };
  return [
    [owner, "message.post", full],
    [owner, "message.edit", { message_id: message, text: "x" }],
    [owner, "message.delete", { message_id: message }],
    [team, "message.heard", { run_id: run, message_ids: [message] }],
    [owner, "space.create", { title: "x", visibility: "open" }],
    [owner, "space.create", { direct: [of.bob.id] }],
    [owner, "space.create", { title: "x", harness_id: of.plain.id, agent_name: "x" }],
    [owner, "space.rename", { space_id, title: "x" }],
    [owner, "space.archive", { space_id }],
    [team, "space.claim", { space_id, agent_id }],
    [owner, "space.set", { space_id, lead: agent_id, ceiling_usd: 1 }],
    [owner, "member.add", { space_id, participant_id: of.bob.id, role: "member" }],
    [owner, "member.remove", { space_id, participant_id: of.bob.id }],
    [owner, "member.role", { space_id, participant_id: of.bob.id, role: "owner" }],
    [owner, "participant.rename", { participant_id: of.bob.id, name: "x" }],
    [owner, "participant.remove", { participant_id: of.bob.id }],
    [owner, "participant.role", { participant_id: of.bob.id, role: "admin" }],
    [team, "agent.declare", { agents: [{ name: "x", agent_id }] }],
    [team, "agent.withdraw", { agent_id }],
    [owner, "settings.set", { settings: { guard: { stop: 5 } } }],
    [team, "run.start", { run_id: newId("run"), space_id, agent_id, message_ids: [message] }],
    [team, "run.step", { run_id: run, text: "x", step_id: "x" }],
    [team, "run.usage", { run_id: run, cost_usd: 1, input_tokens: 1, output_tokens: 1 }],
    [team, "run.end", { run_id: run, outcome: "done", cost_usd: 1 }],
  ];
}

/** What cannot stand in the place of a good value. */
function wrongFor(value: unknown): unknown[] {
  const others: unknown[] = [{}, [], true, { toString: "x" }, [[[]]], ["x"], { length: 1 }];
  if (typeof value === "string") return [7, -1, ...others, null, "\ud800", "a\u0000b"];
  if (typeof value === "number") return ["1", "NaN", -1, 1e300, ...others];
  if (Array.isArray(value)) return [7, "x", true, {}, null, [7], [null], [{}], [""], { length: 1, 0: "x" }];
  return [7, "x", true, [], null];
}

test("ENV-6 ERR-1 every field of every verb with every wrong kind of value", async () => {
  const sockets = new Map<Party, Socket>();
  for (const by of [mine.owner, mine.team]) sockets.set(by, await connect(by));
  const cases: Case[] = [];
  for (const [by, type, fields] of goodFrames(mine)) {
    const good = verb(type, fields);
    const { v: _v, type: _type, ...rest } = good;
    for (const [field, value] of Object.entries(rest))
      for (const wrong of wrongFor(value)) {
        // The envelope is every verb's alike.
        if ((field === "id" || field === "idempotency_key") && type !== "message.post") continue;
        // Null is a value of these: no lead, no cap.
        if (type === "space.set" && wrong === null) continue;
        const frame = { ...good, idempotency_key: randomUUID(), id: newId("evt"), [field]: wrong };
        const missing = field === "run_id" && type !== "run.start" && wrong === null;
        // Without a usable id the answer names none: it goes by request, where it cannot be missed.
        const bySocket = field !== "id" && sockets.get(by);
        cases.push({
          name: `${type} ${field} ${JSON.stringify(wrong)}`,
          code: missing ? "run_required" : "invalid",
          attempt: () => (bySocket ? bySocket.ask(frame) : bodyOf(by, frame)),
        });
      }
    cases.push({ name: `${type} v`, code: "invalid", attempt: () => bodyOf(by, { ...good, v: 2 }) });
  }
  expect(cases.length).toBeGreaterThan(400);
  expect(await notRefused([mine], cases, 20)).toEqual([]);
}, 120_000);

const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

test("ENV-6 CONN-1 texts that are no frame, on the socket and by request", async () => {
  const { owner } = mine;
  const good = JSON.stringify(verb("message.post", { space_id: mine.space, text: "x" }));
  const texts = [
    "",
    " ",
    "{",
    "}",
    "nul",
    "undefined",
    "NaN",
    "Infinity",
    "-",
    "'x'",
    '"x',
    '{"type":}',
    "{type: 1}",
    '{"type":"ack",}',
    good.slice(0, -1),
    `${good}${good}`,
    `${good};`,
    `\u0000${good}`,
    `${good.slice(0, -1)},"x":01}`,
    `${good.slice(0, -1)},"x":NaN}`,
    "<frame/>",
    "type=message.post",
    "[".repeat(100_000),
    '{"a":'.repeat(100_000),
    "null",
    "true",
    "7",
    "-0",
    "1e999",
    '"message.post"',
    "{}",
    '{"type":null}',
    '{"type":7}',
    '{"type":["ack"]}',
    '{"__proto__":{"type":"message.post"}}',
    '{"constructor":{"prototype":{"type":"ack"}}}',
    `${good.slice(0, -1)},"x":${deep("[", "]", 64)}}`,
    `${good.slice(0, -1)},"x":${deep("[", "]", 5000)}}`,
    `${good.slice(0, -1)},"x":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
    `${good.slice(0, -1)},"x\\"[":"\\\\","y":${deep("[", "]", 100)}}`,
  ];
  const socket = await connect(owner);
  const onSocket = [...texts, deep("[", "]", 50_000)].map(
    (text): Case => ({
      name: `socket ${text.slice(0, 40)}`,
      code: "malformed",
      attempt() {
        const from = socket.frames.length;
        socket.send(text);
        return socket.next((f) => f.type === "error", from);
      },
    }),
  );
  const byRequest = texts.map(
    (text): Case => ({
      name: `request ${text.slice(0, 40)}`,
      code: "malformed",
      attempt: async () => (await postRaw(owner, text)).body,
    }),
  );
  expect(await notRefused([mine], [...onSocket, ...byRequest])).toEqual([]);
}, 60_000);

async function postRaw(
  by: Party,
  raw: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  return call("POST", "/v1/events", {
    token: by.token,
    raw,
    headers: { "content-type": "application/json", ...headers },
  });
}

const raw = (by: Party, text: string) => async () => (await postRaw(by, text)).body;

const json = (frame: Any, more: string) => `${JSON.stringify(frame).slice(0, -1)},${more}}`;

test("ENV-6 types, keys and numbers that a parser may trip over", async () => {
  const { owner, team, space } = mine;
  const post = () => verb("message.post", { space_id: space, text: "x" });
  const named = (type: string, code: string): Case => ({
    name: `type ${type.slice(0, 30)}`,
    code,
    attempt: () => bodyOf(owner, { ...post(), type }),
  });
  const cases: Case[] = [
    ...[
      "__proto__",
      "constructor",
      "hasOwnProperty",
      "toString",
      "valueOf",
      "prototype",
      "then",
      "x".repeat(100_000),
      "message.post\u0000",
      "MESSAGE.POST",
      " message.post",
      "message..post",
      "../message.post",
      "\ud800",
      "💥",
      "' OR 1=1 --",
    ].map((type) => named(type, "unknown_type")),
    ...[
      "message.posted",
      "message.new",
      "message.overheard",
      "welcome",
      "receipt",
      "caught_up",
      "presence",
      "run.started",
      "settings.changed",
      "notice.posted",
    ].map((type) => named(type, "forbidden")),
    // Of a key that stands twice the last counts.
    { name: "duplicate text", code: "invalid", attempt: raw(owner, json(post(), '"text":7')) },
    {
      name: "duplicate space",
      code: "not_found",
      attempt: raw(owner, json(post(), `"space_id":"${newId("spc")}"`)),
    },
    { name: "duplicate type", code: "unknown_type", attempt: raw(owner, json(post(), '"type":"nope"')) },
    {
      name: "lone surrogate in text",
      code: "invalid",
      attempt: raw(owner, json(post(), '"text":"a\\ud83d"')),
    },
    {
      name: "half pair the other way",
      code: "invalid",
      attempt: raw(owner, json(post(), '"text":"\\udc00\\ud800"')),
    },
    { name: "NUL in text", code: "invalid", attempt: raw(owner, json(post(), '"text":"a\\u0000b"')) },
    {
      name: "NUL in key",
      code: "invalid",
      attempt: raw(owner, json(post(), '"idempotency_key":"a\\u0000b"')),
    },
    {
      name: "surrogate in key",
      code: "invalid",
      attempt: raw(owner, json(post(), '"idempotency_key":"\\ud800"')),
    },
    {
      name: "surrogate in session_ref",
      code: "invalid",
      attempt: raw(owner, json(post(), '"session_ref":"\\ud800"')),
    },
    {
      name: "surrogate in step",
      code: "invalid",
      attempt: raw(team, json(verb("run.step", { run_id: mine.run }), '"text":"\\ud800"')),
    },
    {
      name: "prototype as settings",
      code: "invalid",
      attempt: raw(owner, json(verb("settings.set"), '"settings":{"__proto__":{"guard":{"stop":1}}}')),
    },
    {
      name: "constructor in settings",
      code: "invalid",
      attempt: raw(owner, json(verb("settings.set"), '"settings":{"constructor":{"prototype":{}}}')),
    },
    {
      name: "unknown setting",
      code: "invalid",
      attempt: raw(owner, json(verb("settings.set"), '"settings":{"guard":{"stopp":1}}')),
    },
    {
      name: "prototype in a group",
      code: "invalid",
      attempt: raw(owner, json(verb("settings.set"), '"settings":{"guard":{"__proto__":{"stop":1}}}')),
    },
    ...["1e400", "-1e400", "1e21", "-0.5", "0", "1001", "null", '"16"', "9007199254740993"].map(
      (stop): Case => ({
        name: `stop ${stop}`,
        code: "invalid",
        attempt: raw(owner, json(verb("settings.set"), `"settings":{"guard":{"stop":${stop}}}`)),
      }),
    ),
    ...["1e400", "-1e-9", "10000.000001", "-1", '"1"', "true", "[1]"].map(
      (cost): Case => ({
        name: `cost ${cost}`,
        code: "invalid",
        attempt: raw(team, json(verb("run.usage", { run_id: mine.run }), `"cost_usd":${cost}`)),
      }),
    ),
    ...["-1", "1.5", "1e400", "9007199254740993", '"1"', "null", "[]", "{}"].map(
      (seq): Case => ({
        name: `ack ${seq}`,
        code: "invalid",
        attempt: raw(owner, `{"v":1,"type":"ack","seq":${seq}}`),
      }),
    ),
    ...["-1", "0.1", '"9"', "null", "1e400"].map(
      (seq): Case => ({
        name: `read ${seq}`,
        code: "invalid",
        attempt: raw(owner, `{"v":1,"type":"read","space_id":"${space}","seq":${seq}}`),
      }),
    ),
  ];
  expect(await notRefused([mine], cases, 20)).toEqual([]);
}, 120_000);

test("LIMIT-3 ERR-3 another workspace's ids in every place of every verb", async () => {
  const swaps: [string, string][] = [
    [mine.space, theirs.space],
    [mine.message, theirs.message],
    [mine.file, theirs.file],
    [mine.run, theirs.run],
    [mine.bob.id, theirs.bob.id],
    [mine.plain.id, theirs.plain.id],
    [mine.team.agents[0] ?? "", theirs.team.agents[0] ?? ""],
  ];
  const cases: Case[] = [];
  for (const [by, type, fields] of goodFrames(mine)) {
    if (/^run\.start$|^space\.claim$/.test(type)) continue;
    const text = JSON.stringify(fields);
    for (const [own, other] of swaps) {
      // A version of another's file is no version here: it is dropped (FILE-1), the file itself is not found.
      if (!text.includes(own)) continue;
      const swapped: Any = JSON.parse(text.replace(own, other));
      cases.push({
        name: `${type} ${own} → ${other}`,
        code: /^(not_found|forbidden|invalid|unknown_run)$/,
        attempt: () => bodyOf(by, verb(type, swapped)),
      });
    }
  }
  expect(cases.length).toBeGreaterThan(20);
  expect(await notRefused([mine, theirs], cases, 20)).toEqual([]);
}, 120_000);

test("ENV-6 what is dropped does no harm: unknown fields, prototype keys, minus zero", async () => {
  const { owner, space } = mine;
  const head = await headOf(owner);
  const post = verb("message.post", { space_id: space, text: "dropped" });
  const json = (more: string) =>
    `${JSON.stringify({ ...post, id: newId("evt"), idempotency_key: randomUUID() }).slice(0, -1)},${more}}`;
  const extras = [
    `"x":${"[".repeat(63)}${"]".repeat(63)},"y":"${"[{".repeat(100)}"`,
    '"__proto__":{"text":"from the prototype","admin":true}',
    '"constructor":{"prototype":{"text":"x"}}',
    '"x":"\\ud800\\u0000"',
    '"x":-0,"y":1e999',
    '"mentions":["usr_x"],"from":{"participant_id":"usr_x"},"held":true',
  ];
  for (const extra of extras)
    expect([extra.slice(0, 30), (await postRaw(owner, json(extra))).status]).toEqual([
      extra.slice(0, 30),
      200,
    ]);
  const events = await eventsOf(owner, head);
  expect(events.map((e) => e.text)).toEqual(extras.map(() => "dropped"));
  for (const event of events)
    expect(Object.keys(event).toSorted()).toEqual(Object.keys(events[0]).toSorted());
  expect((await postRaw(owner, '{"v":1,"type":"ack","seq":-0}')).status).toBe(200);
  expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
});

test("CONN-1 CONN-2 a storm of rubbish on one socket leaves the others alone", async () => {
  const { owner, space } = mine;
  const [noisy, calm] = [await connect(owner), await connect(mine.bob)];
  for (let i = 0; i < 200; i += 1) noisy.send(i % 2 ? `{"type":${i}` : new Uint8Array([i, 0, 255]));
  const { message_id } = await say(owner, space, "through the storm");
  await calm.next((f) => f.message_id === message_id);
  await noisy.next((f) => f.message_id === message_id);
  await noisy.fence();
  expect(noisy.frames.filter((f) => f.code === "malformed")).toHaveLength(200);
  const silent = await open(owner.token);
  silent.send("x".repeat(2 * 1024 * 1024));
  expect((await silent.closed).code).toBe(4400);
});
