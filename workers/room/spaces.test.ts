/** Spaces: standing, who sees what, direct and asked-for spaces, marks, typing, presence, limits (SPACE, LIMIT-1). */
import { describe, expect, test } from "vitest";
import {
  type Any,
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  type Party,
  refused,
  say,
  send,
} from "../testing/client.ts";
import { as, codeOf, declare, eventsOf, live, read, readRefused, settled, sql } from "../testing/room.ts";

/** Owner Ada, admin Ann, members Max and Mia, guest Gus; a harness with the agents Scout and Quill; a private space. */
async function aHouse() {
  const { id, owner } = await newWorkspace();
  const [admin, max, mia, gus] = await Promise.all([
    newPerson(owner, "Ann", "admin"),
    newPerson(owner, "Max"),
    newPerson(owner, "Mia"),
    newPerson(owner, "Gus", "guest"),
  ]);
  const harness = await newHarness(owner, "Scouts");
  const [scout = "", quill = ""] = await declare(harness, "Scout", "Quill");
  const space = await newSpace(max, "Work", [gus.id, scout]);
  return { id, owner, admin, max, mia, gus, harness, scout, quill, space };
}

const titles = async (by: Party) => (await read(by, "/v1/spaces")).items.map((s: Any) => s.title);
const names = async (by: Party, space: string) =>
  (await read(by, `/v1/spaces/${space}/members`)).items.map((m: Any) => m.name);

async function roleCode(by: Party, who: Party, role: string): Promise<string> {
  return codeOf(by, "participant.role", { participant_id: who.id, role });
}

describe("standing", () => {
  test("SPACE-1: a guest sees only the spaces it was added to, invites nobody, makes none", async () => {
    const { owner, max, gus, mia, space } = await aHouse();
    await newSpace(max, "Open", [], { visibility: "open" });
    expect(await titles(gus)).toEqual(["Work"]);
    expect(await codeOf(gus, "space.create", { title: "Mine" })).toBe("forbidden");
    expect(await codeOf(gus, "member.add", { space_id: space, participant_id: mia.id })).toBe("forbidden");
    const invite = await call("POST", "/v1/invites", { token: gus.token, body: {} });
    expect(invite.status).toBe(403);
    expect(await readRefused(gus, "/v1/settings")).toBe("forbidden");
    const known = (await read(gus, "/v1/participants")).items.map((p: Any) => p.name);
    expect(known.toSorted()).toEqual(["Gus", "Max", "Scout"]);
    expect(await read(gus, `/v1/spaces/${space}/members`)).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ name: "Gus", role: "guest", workspace_role: "guest" }),
      ]),
    });
    // A guest of the workspace is a guest everywhere.
    const role = { space_id: space, participant_id: gus.id, role: "member" };
    expect(await codeOf(max, "member.role", role)).toBe("invalid");
    await send(owner, "participant.role", { participant_id: gus.id, role: "member" });
    await send(max, "member.role", { ...role, role: "owner" });
  });

  test("SPACE-1 CONN-12: a guest is told nothing of the workspace beyond whom it shares a space with", async () => {
    const { owner, max, mia, gus } = await aHouse();
    const page = await live(gus);
    await send(mia, "participant.rename", { name: "Mia Two" });
    await send(max, "participant.rename", { name: "Max Two" });
    await send(owner, "settings.set", { settings: { lead: { still_s: 30 } } });
    await newHarness(owner, "Others").then(async (h) => declare(h, "Hidden"));
    expect(eventsOf(await settled(page)).map((f) => [f.type, f.name])).toEqual([
      ["participant.renamed", "Max Two"],
    ]);
  });

  test("SPACE-7: what members, guests, space owners, admins and agents may do in a space", async () => {
    const { owner, admin, max, mia, gus, harness, scout, quill, space } = await aHouse();
    const s = { space_id: space };
    for (const p of [admin, mia]) await send(max, "member.add", { ...s, participant_id: p.id });
    const said = (await say(max, space, "a plan")).message_id;
    // Posting is everybody's; adding and renaming is the people's but guests'.
    await say(gus, space, "hello");
    await say(harness, space, "hello", as(scout));
    await send(mia, "member.add", { ...s, participant_id: quill });
    await send(mia, "space.rename", { ...s, title: "Works" });
    for (const [verb, fields] of [
      ["space.rename", { title: "No" }],
      ["member.add", { participant_id: owner.id }],
      ["space.archive", {}],
      ["space.set", { lead: quill }],
      ["member.remove", { participant_id: mia.id }],
      ["member.role", { participant_id: mia.id, role: "guest" }],
    ] as const) {
      expect([verb, await codeOf(gus, verb, { ...s, ...fields })]).toEqual([verb, "forbidden"]);
      expect([verb, await codeOf(harness, verb, { ...s, ...fields, ...as(scout) })]).toEqual([
        verb,
        "forbidden",
      ]);
    }
    // Removing, archiving, setting and deleting others' words is the owner's and the admin's.
    for (const [verb, fields] of [
      ["space.archive", s],
      ["space.set", { ...s, lead: quill }],
      ["member.remove", { ...s, participant_id: gus.id }],
      ["member.role", { ...s, participant_id: gus.id, role: "guest" }],
      ["message.delete", { message_id: said }],
    ] as const)
      expect([verb, await codeOf(mia, verb, fields)]).toEqual([verb, "forbidden"]);
    expect(await codeOf(harness, "message.delete", { message_id: said, ...as(scout) })).toBe("forbidden");
    await send(admin, "space.set", { ...s, lead: quill, ceiling_usd: 2 });
    await send(admin, "message.delete", { message_id: said });
    await send(admin, "member.remove", { ...s, participant_id: mia.id });
    await send(max, "space.archive", s);
    await send(max, "space.unarchive", s);
    // An owner of the workspace who is not in the space has no say in it.
    expect(await codeOf(owner, "space.archive", s)).toBe("not_found");
  });

  test("SPACE-7: for a harness all but posting, runs and its own agents is forbidden", async () => {
    const { max, harness, mia, scout, quill } = await aHouse();
    for (const [verb, fields] of [
      ["space.create", { title: "No" }],
      ["participant.rename", { participant_id: max.id, name: "No" }],
      ["participant.remove", { participant_id: mia.id }],
      ["participant.role", { participant_id: mia.id, role: "guest" }],
      ["settings.set", { settings: { guard: { stop: 9 } } }],
    ] as const)
      expect([verb, await codeOf(harness, verb, fields)]).toEqual([verb, "forbidden"]);
    await send(harness, "participant.rename", { participant_id: scout, name: "Pathfinder" });
    await send(harness, "agent.withdraw", { agent_id: quill });
    expect(await codeOf(max, "agent.declare", { agents: [{ name: "Mine" }] })).toBe("forbidden");
    const other = await newHarness((await aHouse()).owner, "Elsewhere");
    expect(await codeOf(other, "agent.withdraw", { agent_id: scout })).toBe("forbidden");
  });

  test("SPACE-7: only an owner makes or unmakes owners and admins, and the last owner stays", async () => {
    const { owner, admin, max, mia } = await aHouse();
    expect(await roleCode(max, mia, "guest")).toBe("forbidden");
    expect(await roleCode(admin, mia, "admin")).toBe("forbidden");
    expect(await roleCode(admin, owner, "member")).toBe("forbidden");
    expect(await roleCode(owner, owner, "member")).toBe("conflict");
    expect(await codeOf(owner, "participant.remove", { participant_id: owner.id })).toBe("conflict");
    expect(await codeOf(admin, "participant.remove", { participant_id: owner.id })).toBe("forbidden");
    await send(admin, "participant.role", { participant_id: mia.id, role: "guest" });
    await send(owner, "participant.role", { participant_id: max.id, role: "owner" });
    await send(max, "participant.role", { participant_id: owner.id, role: "member" });
    expect((await read(owner, "/v1/me")).participant.role).toBe("member");
    expect(await roleCode(owner, max, "member")).toBe("forbidden");
  });

  test("SPACE-1: who is made a guest of the workspace is one in every space, and a space keeps its last owner", async () => {
    const { owner, max, mia, space } = await aHouse();
    await send(max, "member.add", { space_id: space, participant_id: mia.id, role: "owner" });
    await send(owner, "participant.role", { participant_id: mia.id, role: "guest" });
    const roles = Object.fromEntries(
      (await read(max, `/v1/spaces/${space}/members`)).items.map((m: Any) => [m.name, m.role]),
    );
    expect(roles).toMatchObject({ Max: "owner", Mia: "guest" });
    const step = { space_id: space, participant_id: max.id, role: "member" };
    expect(await codeOf(max, "member.role", step)).toBe("conflict");
  });

  test("SPACE-4: a removal ends tokens, connections, memberships and open runs, and keeps the words", async () => {
    const { owner, max, harness, scout, space, id } = await aHouse();
    const said = await say(harness, space, "my words stay", as(scout));
    const run = newId("run");
    await send(harness, "run.start", { run_id: run, space_id: space, agent_id: scout });
    const socket = await connect(harness);
    await send(owner, "participant.remove", { participant_id: harness.id });
    expect((await socket.closed).code).toBe(4403);
    expect((await call("GET", "/v1/me", { token: harness.token })).status).toBe(401);
    expect(await names(max, space)).toEqual(["Gus", "Max"]);
    expect((await read(max, `/v1/spaces/${space}/runs`)).items).toMatchObject([
      { run_id: run, state: "ended", outcome: "stopped" },
    ]);
    expect(await sql(id, "SELECT * FROM tokens WHERE participant_id = ?", harness.id)).toEqual([]);
    const { context } = await read(max, `/v1/spaces/${space}/context`);
    const line = context.lines.find((l: Any) => l.message_id === said.message_id);
    expect(line).toMatchObject({ text: "my words stay", from: { id: scout, name: "Scout" } });
    expect(context.lines.at(-1)).toMatchObject({ kind: "left", from: { id: scout } });
    expect(await codeOf(max, "member.add", { space_id: space, participant_id: scout })).toBe("not_found");

    const person = await newPerson(owner, "Pia", "member");
    await send(max, "member.add", { space_id: space, participant_id: person.id });
    const page = await connect(person);
    await send(owner, "participant.remove", { participant_id: person.id });
    expect((await page.closed).code).toBe(4403);
  });
});

describe("seeing", () => {
  test("SPACE-6 ERR-3: a private space does not exist for others, owners and admins included", async () => {
    const { owner, admin, mia, harness, max, space } = await aHouse();
    const unknown = newId("spc");
    const outsider = await newHarness(owner, "Other");
    await say(max, space, "quietly said");
    for (const by of [owner, admin, mia, outsider]) {
      for (const path of ["", "/members", "/context", "/files", "/runs"]) {
        const there = await call("GET", `/v1/spaces/${space}${path}`, { token: by.token });
        const nowhere = await call("GET", `/v1/spaces/${unknown}${path}`, { token: by.token });
        expect([there.status, there.body]).toEqual([404, nowhere.body]);
      }
      for (const [verb, fields] of [
        ["message.post", { text: "hi" }],
        ["space.rename", { title: "hi" }],
        ["member.add", { participant_id: by.id }],
        ["member.remove", { participant_id: max.id }],
      ] as const) {
        const { of: _, ...there } = await refused(by, verb, { space_id: space, ...fields });
        const { of: __, ...nowhere } = await refused(by, verb, { space_id: unknown, ...fields });
        expect(there).toEqual(nowhere);
        expect(there.code).toBe("not_found");
      }
      expect((await read(by, "/v1/search?q=quietly")).items).toEqual([]);
      expect(JSON.stringify(await read(by, "/v1/events?after=0&limit=200"))).not.toContain("quietly said");
    }
    expect((await read(harness, "/v1/search?q=quietly")).items).toHaveLength(1);
  });

  test("SPACE-6: members, not guests, list, read, search and join an open space", async () => {
    const { max, mia, gus, owner } = await aHouse();
    const open = await newSpace(max, "Town", [], { visibility: "open" });
    await say(max, open, "town talk");
    expect(await titles(mia)).toEqual(["Town"]);
    expect((await read(mia, `/v1/spaces/${open}`)).joined).toBe(false);
    expect((await read(mia, `/v1/spaces/${open}/context`)).context.lines.at(-1).text).toBe("town talk");
    expect((await read(mia, "/v1/search?q=town")).items).toHaveLength(1);
    expect(await codeOf(mia, "message.post", { space_id: open, text: "hi" })).toBe("forbidden");
    expect(await codeOf(mia, "member.add", { space_id: open, participant_id: owner.id })).toBe("forbidden");
    const asOwner = { space_id: open, participant_id: mia.id, role: "owner" };
    expect(await codeOf(mia, "member.add", asOwner)).toBe("forbidden");
    await send(mia, "member.add", { space_id: open, participant_id: mia.id });
    await say(mia, open, "hi");
    expect(await readRefused(gus, `/v1/spaces/${open}`)).toBe("not_found");
    expect(await codeOf(gus, "member.add", { space_id: open, participant_id: gus.id })).toBe("not_found");
    expect((await read(gus, "/v1/search?q=town")).items).toEqual([]);
    // Who is not in it is not sent its events, open or not.
    expect(JSON.stringify(await read(owner, "/v1/events?after=0"))).not.toContain("town talk");
  });

  test("SPACE-6 CONN-12: who is in a space reads it from its first line; who left gets its leaving and no more", async () => {
    const { max, mia, space } = await aHouse();
    await say(max, space, "before Mia");
    await send(max, "member.add", { space_id: space, participant_id: mia.id });
    const page = await connect(mia);
    const { context } = await read(mia, `/v1/spaces/${space}/context`);
    expect(context.lines[0]).toMatchObject({ kind: "joined", from: { name: "Max" } });
    expect(context.lines.map((l: Any) => l.text)).toContain("before Mia");
    const head = (await read(mia, "/v1/events?after=0&limit=1")).head_seq;
    const left = await send(mia, "member.remove", { space_id: space, participant_id: mia.id });
    await say(max, space, "after Mia");
    expect(
      eventsOf(await settled(page))
        .filter((f) => f.seq > head)
        .map((f) => [f.type, f.seq]),
    ).toEqual([["member.left", left.seq]]);
    const events = (await read(mia, `/v1/events?after=0&space_id=${space}`)).events;
    expect(events.map((f: Any) => f.type)).toEqual(["member.left"]);
    expect(await readRefused(mia, `/v1/spaces/${space}`)).toBe("not_found");
  });
});

describe("limits", () => {
  test("LIMIT-1: names and titles have 1 to 80 characters, and nothing is cut silently", async () => {
    const { max, space } = await aHouse();
    const long = "é".repeat(81);
    for (const title of [long, " ", "\u200b", "a\nb\u0007"])
      expect([title, await codeOf(max, "space.rename", { space_id: space, title })]).toEqual([
        title,
        "invalid",
      ]);
    expect(await codeOf(max, "space.create", { title: long })).toBe("invalid");
    expect(await codeOf(max, "participant.rename", { name: long })).toBe("invalid");
    await send(max, "space.rename", { space_id: space, title: "é".repeat(80) });
  });

  test("LIMIT-1: a space has at most 200 members and 50 agents, however they come", async () => {
    const { id, owner, max, mia, quill, space } = await aHouse();
    const crowd = async (kind: string, count: number) => {
      for (let i = 0; i < count; i++) {
        const who = newId(kind === "person" ? "usr" : "agt");
        await sql(
          id,
          "INSERT INTO participants (id, kind, name, role, created_at) VALUES (?, ?, ?, ?, 0)",
          who,
          kind,
          `P${i}`,
          kind === "person" ? "member" : null,
        );
        await sql(
          id,
          "INSERT INTO stays (space_id, participant_id, joined_seq, role) VALUES (?, ?, 1, 'member')",
          space,
          who,
        );
      }
    };
    await crowd("agent", 49);
    const agent = await refused(max, "member.add", { space_id: space, participant_id: quill });
    expect([agent.code, agent.message]).toEqual(["invalid", expect.stringContaining("50")]);
    await crowd("person", 200 - 3 - 49);
    const person = await refused(max, "member.add", { space_id: space, participant_id: mia.id });
    expect([person.code, person.message]).toEqual(["invalid", expect.stringContaining("200")]);
    // Nor by an invite that adds to the space.
    await send(max, "member.role", { space_id: space, participant_id: max.id, role: "owner" });
    await send(owner, "participant.role", { participant_id: max.id, role: "admin" });
    const invite = await call("POST", "/v1/invites", { token: max.token, body: { space_ids: [space] } });
    const redeemed = await call("POST", "/v1/invites/redeem", {
      body: {
        secret: String(invite.body.link).split("#invite=")[1],
        display_name: "Late",
        idempotency_key: newId("evt"),
      },
    });
    expect([redeemed.status, redeemed.body.message]).toEqual([422, expect.stringContaining("200")]);
    expect((await read(max, `/v1/spaces/${space}`)).members).toBe(200);
  });
});
