/** What a write and a read cost in rows, counted (PERF-1, LOG-3); the budgets are in bench/budgets.json. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import budgets from "../../bench/budgets.json";
import {
  type Any,
  connect,
  newHarness,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  roomStub,
  say,
  send,
} from "../testing/client.ts";
import { as, declare, headOf, live, read, replay, sql, upload } from "../testing/room.ts";

/** A space of so many people and harnesses, everybody connected and seen before. */
async function aRoom(people: number, harnesses: number) {
  const { id, owner } = await newWorkspace();
  // What is nobody's turn is not to be handed on later: nothing must happen after a post. Rows are counted, not pace.
  const limits = { writes_per_s: 1000, burst: 1000 };
  await send(owner, "settings.set", { settings: { lead: { still_s: null }, limits } });
  const everybody: Party[] = [owner];
  for (let i = 1; i < people; i++) everybody.push(await newPerson(owner, `Person ${i}`));
  const space = await newSpace(
    owner,
    "Room",
    everybody.slice(1).map((p) => p.id),
  );
  const machines: (Party & { agent: string })[] = [];
  for (let i = 0; i < harnesses; i++) {
    const harness = await newHarness(owner, `Harness ${i}`);
    const [agent = ""] = await declare(harness, `Agent${i}`);
    await send(owner, "member.add", { space_id: space, participant_id: agent });
    machines.push({ ...harness, agent });
  }
  const sockets = await Promise.all([...everybody, ...machines].map(async (p) => connect(p)));
  for (const person of everybody) await say(person, space, "hello");
  const stub = roomStub(id);
  const cost = async (work: () => Promise<unknown>) => {
    const before = await stub.rowCounts();
    await work();
    const after = await stub.rowCounts();
    return { written: after.written - before.written, read: after.read - before.read };
  };
  return { id, owner, people: everybody, machines, space, sockets, stub, cost };
}

/** Many plain messages at once, as posts leave them in the tables. */
async function fill(id: string, space: string, by: string, count: number): Promise<void> {
  const head = (await sql(id, "SELECT max(seq) AS seq FROM log"))[0].seq;
  const numbers = "WITH RECURSIVE n(i) AS (SELECT ?1 + 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 + ?2)";
  for (const statement of [
    `INSERT INTO log (seq, id, type, at, space_id, actor_kind, actor_id, body, sender, key, hash, receipt)
     SELECT i, printf('evt_%026d', i), 'message.posted', 1000, ?3, 'person', ?4,
       json_object('message_id', printf('msg_%026d', i), 'role', 'member', 'addressed_to', json('[]'), 'why', 'nobody'),
       ?4, printf('key_%026d', i), 'hash', '{}' FROM n`,
    "INSERT INTO lines (space_id, seq) SELECT ?3, i FROM n WHERE ?4 <> ''",
    `INSERT INTO messages (id, edition, seq, at, text, mentions, files)
     SELECT printf('msg_%026d', i), 1, i, 1000, 'line ' || i, '[]', '[]' FROM n WHERE ?3 <> ?4`,
    "INSERT INTO words (rowid, text) SELECT i, 'line ' || i FROM n WHERE ?3 <> ?4",
  ])
    await sql(id, `${numbers} ${statement}`, head, count, space, by);
}

test("PERF-1: a post among ten people and two harnesses writes and reads within its budget, and sets no alarm", async () => {
  const { people, harnesses, rows_written, rows_read } = budgets.post;
  const { id, owner, people: everybody, machines, space, stub, cost } = await aRoom(people, harnesses);
  await Promise.all(machines.map(async (m) => say(m, space, "here", as(m.agent))));
  while (await runDurableObjectAlarm(stub));
  const alarms = async () => [
    await runInDurableObject(stub, (_, { storage }) => storage.getAlarm()),
    await sql(id, "SELECT * FROM alarms"),
  ];
  expect(await alarms()).toEqual([null, []]);
  const costs = [];
  for (const [i, person] of everybody.entries())
    costs.push(
      await cost(async () => say(person, space, `@Agent${i % 2} please look at the numbers of week ${i}`)),
    );
  console.info("rows of a post", JSON.stringify(costs));
  for (const { written, read: rows } of costs) {
    expect(written).toBeLessThanOrEqual(rows_written);
    expect(rows).toBeLessThanOrEqual(rows_read);
  }
  expect(await alarms()).toEqual([null, []]);
  // Nor with a reply, a session and a run; a file costs its own rows.
  const asked = await say(owner, space, "@Agent0 and this?");
  const [first] = machines as [(typeof machines)[number]];
  const run_id = "run_01K4ZQPX000000000000000005";
  await send(first, "run.start", {
    run_id,
    space_id: space,
    agent_id: first.agent,
    message_ids: [asked.message_id],
  });
  const answer = await cost(async () =>
    say(first, space, "done", {
      ...as(first.agent),
      run_id,
      reply_to: asked.message_id,
      session_ref: "visit",
    }),
  );
  expect(answer.written).toBeLessThanOrEqual(rows_written);
  const attachment_id = await upload(id, owner.id, { filename: "a.txt", content: "a" });
  const withFile = await cost(async () => say(owner, space, "a file", { attachments: [{ attachment_id }] }));
  console.info(
    "rows of an answer in a run",
    JSON.stringify(answer),
    "and of a post with a file",
    JSON.stringify(withFile),
  );
  // Only the run is to be looked at again (TURN-5).
  expect(await sql(id, "SELECT name FROM alarms")).toEqual([{ name: "runs" }]);
});

/** What a message for everybody costs in a space of so many harnesses. */
async function costForAll(count: number) {
  const room = await aRoom(3, count);
  for (let i = 0; i < 45; i++) await say(room.owner, room.space, `line ${i}`);
  const paid = await room.cost(async () => say(room.owner, room.space, "@everyone please"));
  await Promise.all(room.sockets.slice(3).map(async (s) => s.next((f) => f.text === "@everyone please")));
  expect(room.sockets.at(-1)?.frames.at(-1)).toMatchObject({ type: "message.new" });
  return paid;
}

test("PERF-1: a message for agents of 40 harnesses costs a bounded number of rows for each", async () => {
  const { harnesses, rows_read_per_harness } = budgets.post_to_many;
  const [few, many] = [await costForAll(2), await costForAll(harnesses)];
  const each = (many.read - few.read) / (harnesses - 2);
  console.info("rows for each harness", each, JSON.stringify([few, many]));
  expect(many.written).toBe(few.written);
  expect(each).toBeLessThanOrEqual(rows_read_per_harness);
}, 60_000);

test("LOG-3 PERF-1: a post, a context and a resume read as many rows in a long log as in a short one", async () => {
  const { small, large } = budgets.log;
  const { id, owner, people, machines, space, stub, cost } = await aRoom(3, 2);
  const [harness] = machines as unknown as [Party];
  const [, bob] = people as [Party, Party];
  const measure = async () => {
    for (let i = 0; i < 45; i++) await say(owner, space, `line ${i}`);
    const head = await headOf(owner);
    const costs: Record<string, Any> = {};
    costs["post"] = await cost(async () => say(owner, space, "@Agent0 hello"));
    costs["post to nobody"] = await cost(async () => say(bob, space, "nobody"));
    costs["context"] = await cost(async () => read(bob, `/v1/spaces/${space}/context`));
    costs["older context"] = await cost(async () =>
      read(bob, `/v1/spaces/${space}/context?before=${head - 45}`),
    );
    costs["resume"] = await cost(async () => replay(harness, head - 10));
    costs["resume of a person"] = await cost(async () => replay(bob, head - 10));
    costs["space"] = await cost(async () => read(bob, `/v1/spaces/${space}`));
    costs["edit"] = await cost(async () => {
      const { message_id } = await say(owner, space, "to be edited");
      await send(owner, "message.edit", { message_id, text: "edited" });
      await send(owner, "message.delete", { message_id });
    });
    return costs;
  };
  // Past the API and so past the sockets: these are opened anew by who resumes.
  const grow = async (count: number) => {
    await evictDurableObject(stub, { webSockets: "close" });
    await fill(id, space, owner.id, count);
    await live(bob);
    await live(harness);
  };
  // The first deletion leaves a row for the guard that later ones update (GUARD-1): both measures have it.
  await send(owner, "message.delete", { message_id: (await say(owner, space, "oops")).message_id });
  await grow(small);
  const short = await measure();
  await grow(large);
  const long = await measure();
  console.info("rows at", small, "and", large, JSON.stringify(short), JSON.stringify(long));
  expect(long).toEqual(short);
}, 120_000);

test("LOG-3: nor do they read more where many came and went", async () => {
  const { id, owner, space, cost } = await aRoom(3, 2);
  const post = async () => (await cost(async () => say(owner, space, "@Agent0 hello"))).read;
  const before = await post();
  await sql(
    id,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
     INSERT INTO stays (space_id, participant_id, joined_seq, left_seq, role)
     SELECT ?, printf('usr_%026d', i), 1, 2, 'member' FROM n`,
    space,
  );
  // A line more of context, and no more.
  expect((await post()) - before).toBeLessThanOrEqual(8);
});
