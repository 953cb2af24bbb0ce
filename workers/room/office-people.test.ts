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
  open,
  type Party,
  refused,
  roomStub,
  say,
  send,
} from "../testing/client.ts";
import { evict, factsOf } from "../testing/judge.ts";
import { hello, read, sql } from "../testing/room.ts";
import {
  agentIds,
  clearLetters,
  deliver,
  setTeam,
  teamRoom,
  tokenFor,
  waiting,
} from "../testing/team-room.ts";

const post = (by: Party, path: string, body: unknown) => call("POST", path, { token: by.token, body });
/** Uploads a file of these words; its attachment's id. */
const up = async (by: Party, text: string): Promise<string> =>
  (await call("POST", "/v1/attachments?filename=map.txt", { token: by.token, raw: text })).body.attachment_id;
const get = (by: Party, path: string) => call("GET", path, { token: by.token });

describe("TEAM-2 the team's people as agents", () => {
  test("TEAM-2 each is an agent of the office's harness, added to spaces and named there like any other", async () => {
    const { workspace, owner, space, team } = await teamRoom("scout", "otter");
    const { items } = await read(owner, `/v1/spaces/${space}/members`);
    const agents = items.filter((m: Any) => m.kind === "agent");
    expect(agents.map(({ name, handle, harness }: Any) => [name, handle, harness])).toEqual([
      ["Otter", "Otter", "Office"],
      ["Scout", "Scout", "Office"],
    ]);
    // Nobody's connection is theirs: whether they are there is for the office to say.
    expect(agents.every((m: Any) => m.online === undefined)).toBe(true);
    const { items: all } = await read(owner, "/v1/participants");
    expect(all.filter((p: Any) => p.kind === "harness").map((p: Any) => p.name)).toEqual(["Office"]);
    expect(new Set(all.flatMap((p: Any) => p.person ?? []))).toEqual(new Set(["otter", "scout"]));
    expect(await agentIds(workspace)).toEqual({ scout: team["scout"]?.id, otter: team["otter"]?.id });
  });

  test("TEAM-2 the same letter twice, or after an eviction, changes nothing; an empty team makes nothing", async () => {
    const { id: workspace, owner } = await newWorkspace();
    await setTeam(workspace);
    expect(await sql(workspace, "SELECT id FROM participants WHERE kind = 'harness'")).toEqual([]);
    await setTeam(workspace, "scout");
    const facts = await sql(workspace, "SELECT seq FROM log");
    await evict(workspace);
    await deliver(workspace, "board", "people", { people: [] }, 2);
    await setTeam(workspace, "scout");
    expect(await sql(workspace, "SELECT seq FROM log")).toEqual(facts);
    expect((await post(owner, "/v1/tokens", { person: "scout", scopes: ["agent"] })).status).toBe(201);
  });

  test("TEAM-2 a changed name renames the agent where it is, and a name that is none is the handle", async () => {
    const { workspace, owner, space, team } = await teamRoom("scout");
    const shown = async () => {
      const { items } = await read(owner, `/v1/spaces/${space}/members`);
      const { name, handle } = items.find((m: Any) => m.participant_id === team["scout"]?.id);
      return [name, handle];
    };
    await deliver(workspace, "board", "people", { people: [{ handle: "scout", name: "Ranger\u0000" }] });
    expect(await shown()).toEqual(["scout", "scout"]);
    await deliver(workspace, "board", "people", { people: [{ handle: "scout", name: "Ranger" }] });
    expect(await shown()).toEqual(["Ranger", "Ranger"]);
  });

  test("TEAM-3 who leaves the team is withdrawn and its tokens end; back again it is the same agent, with a new one", async () => {
    const { workspace, owner, space, team } = await teamRoom("scout", "otter");
    const scout = team["scout"]!;
    await setTeam(workspace, "otter");
    expect((await get(scout, "/v1/me")).status).toBe(401);
    const said = await say(owner, space, "@Scout are you there?");
    const facts = await factsOf(owner, space);
    expect(facts.find((f) => f.message_id === said.message_id).addressed_to).toEqual([]);
    expect(facts.find((f) => f.code === "not_reachable").text).toBe("Scout was withdrawn and was not asked.");
    expect((await post(owner, "/v1/tokens", { person: "scout", scopes: ["agent"] })).status).toBe(404);
    await setTeam(workspace, "scout", "otter");
    expect((await agentIds(workspace))["scout"]).toBe(scout.id);
    expect((await get(scout, "/v1/me")).status).toBe(401);
    const again = { id: scout.id, token: await tokenFor(owner, "scout") };
    await say(again, space, "back again");
  });

  test("TEAM-2 the config says who they are: nobody renames or removes them, or gives their harness a token", async () => {
    const { workspace, owner, team } = await teamRoom("scout");
    const [{ harness_id }] = await sql(
      workspace,
      "SELECT harness_id FROM participants WHERE office_handle = 'scout'",
    );
    for (const participant_id of [team["scout"]!.id, harness_id]) {
      expect((await refused(owner, "participant.remove", { participant_id })).code).toBe("conflict");
      expect((await refused(owner, "participant.rename", { participant_id, name: "X" })).code).toBe(
        "conflict",
      );
    }
    for (const asked of [
      { participant_id: harness_id, scopes: ["harness"] },
      { participant_id: team["scout"]!.id, scopes: ["agent"] },
    ])
      expect((await post(owner, "/v1/tokens", asked)).status).toBe(422);
    expect((await refused(owner, "space.create", { title: "X", harness_id })).code).toBe("invalid");
    const { space_id } = await send(owner, "space.create", { title: "Y" });
    const add = { space_id, participant_id: harness_id };
    expect((await refused(owner, "member.add", add)).code).toBe("invalid");
  });

  test("ADDR-5 a paused person's agent is not asked, a notice says so once, and it is asked again when it goes on", async () => {
    const { workspace, owner, bob, space, team } = await teamRoom("scout", "otter");
    await deliver(workspace, "office/scout", "paused", { handle: "scout", paused: true });
    // An office speaks of its own person alone.
    await deliver(workspace, "office/scout", "paused", { handle: "otter", paused: true });
    await say(bob, space, "@Scout @Otter look at this");
    const posted = (await factsOf(bob, space)).findLast((f) => f.type === "message.posted");
    expect(posted.addressed_to).toEqual([team["otter"]!.id]);
    const notices = (await factsOf(bob, space)).filter((f) => f.code === "not_reachable");
    expect(notices.map((f) => f.text)).toEqual(["Scout is paused and was not asked."]);
    expect((await waiting(workspace, "event")).map((e) => e.chat.to)).toEqual(["otter"]);
    // In a conversation of two there is nobody else to be meant.
    const { space_id } = await send(bob, "space.create", { direct: [team["scout"]!.id] });
    await say(bob, space_id, "hello?");
    expect((await factsOf(bob, space_id)).filter((f) => f.code === "not_reachable")).toHaveLength(1);
    await deliver(workspace, "office/scout", "paused", { handle: "scout", paused: false });
    await say(bob, space_id, "and now?");
    expect((await factsOf(bob, space_id)).at(-1).addressed_to).toEqual([team["scout"]!.id]);
    const types = (await read(owner, "/v1/events?after=0&limit=200")).events.map((e: Any) => e.type);
    expect(types.filter((t: string) => /^agent\.(paused|resumed)$/.test(t))).toEqual([
      "agent.paused",
      "agent.resumed",
    ]);
  });
});

describe("AUTH-2 the token of a person of the team", () => {
  test("AUTH-2 TEAM-2 it speaks as its agent and as nobody else", async () => {
    const { bob, space, team, workspace } = await teamRoom("scout", "otter");
    const [scout, otter] = [team["scout"]!, team["otter"]!];
    const { message_id } = await say(scout, space, "@Otter hand me the map");
    const posted = (await factsOf(bob, space)).find((f) => f.message_id === message_id);
    expect(posted.actor).toMatchObject({ kind: "agent", id: scout.id });
    expect(posted).toMatchObject({ addressed_to: [otter.id], from: { display_name: "Scout" } });
    const claim = { space_id: space, text: "I am Otter", actor: { kind: "agent", id: otter.id } };
    expect((await refused(scout, "message.post", claim)).code).toBe("forbidden");
    await send(scout, "message.edit", { message_id, text: "@Otter hand me the chart" });
    expect((await refused(otter, "message.edit", { message_id, text: "no" })).code).toBe("forbidden");
    expect((await refused(otter, "message.delete", { message_id })).code).toBe("forbidden");
    await send(scout, "message.delete", { message_id });
    const { kind, handle, scopes, name } = await identityOf(workspace, scout);
    expect({ kind, handle, scopes, name }).toEqual({
      kind: "agent",
      handle: "scout",
      scopes: ["agent"],
      name: "Scout",
    });
  });

  test("AUTH-2 SPACE-6 it reads the agent's own spaces with their files, and no other, of a sibling's or a tenant's", async () => {
    const { owner, bob, space, team } = await teamRoom("scout", "otter");
    const [scout, otter] = [team["scout"]!, team["otter"]!];
    const den = await newSpace(owner, "Den", [otter.id]);
    const open = await newSpace(owner, "Open", [], { visibility: "open" });
    await say(bob, space, "a word for Scout");
    expect((await read(scout, "/v1/spaces")).items.map((s: Any) => s.space_id)).toEqual([space]);
    const { context } = await read(scout, `/v1/spaces/${space}/context`);
    expect(context.lines.at(-1)).toMatchObject({ text: "a word for Scout" });
    expect((await read(scout, "/v1/search?q=word")).items).toHaveLength(1);
    for (const id of [den, open])
      for (const path of ["", "/context", "/members", "/files"])
        expect((await get(scout, `/v1/spaces/${id}${path}`)).status).toBe(404);
    for (const id of [den, open])
      expect((await refused(scout, "message.post", { space_id: id, text: "x" })).code).toBe("not_found");
    const other = await teamRoom("scout");
    expect((await get(other.team["scout"]!, `/v1/spaces/${space}`)).status).toBe(404);
    expect((await refused(other.team["scout"]!, "message.post", { space_id: space, text: "x" })).code).toBe(
      "not_found",
    );
  });

  test("AUTH-2 ATT-4 ATT-5 it uploads and posts files, and fetches those of its spaces by their signed URL", async () => {
    const { owner, bob, space, team } = await teamRoom("scout", "otter");
    const [scout, otter] = [team["scout"]!, team["otter"]!];
    const mine = await up(scout, "mine");
    await say(scout, space, "", { attachments: [{ attachment_id: mine }] });
    const his = await up(bob, "his");
    await say(bob, space, "", { attachments: [{ attachment_id: his }] });
    const den = await newSpace(owner, "Den", [otter.id]);
    const hidden = await up(owner, "hidden");
    await say(owner, den, "", { attachments: [{ attachment_id: hidden }] });
    const { items } = await read(scout, `/v1/spaces/${space}/files`);
    const { url } = items.find((f: Any) => f.attachment_id === his);
    const path = String(url).slice("https://bullpen.test".length);
    expect((await call("GET", path, { token: scout.token })).body).toBe("his");
    expect((await call("GET", path, { token: otter.token })).status).toBe(403);
    expect((await get(scout, `/v1/attachments/${hidden}/url`)).status).toBe(404);
    expect((await get(scout, `/v1/attachments/${his}`)).status).toBe(403);
    expect(
      (
        await refused(scout, "message.post", {
          space_id: space,
          text: "",
          attachments: [{ attachment_id: hidden }],
        })
      ).code,
    ).toBe("not_found");
  });

  test("AUTH-2 it starts nothing else: no hello, no socket, no signals, no runs, asks, members, settings or tokens", async () => {
    const { workspace, space, bob, team } = await teamRoom("scout");
    const scout = team["scout"]!;
    const said = await say(bob, space, "@Scout go");
    const run_id = newId("run");
    for (const [type, fields] of [
      ["run.start", { run_id, space_id: space, agent_id: scout.id, message_ids: [said.message_id] }],
      ["run.end", { run_id, outcome: "done" }],
      ["question.ask", { run_id, question_id: newId("qst"), text: "?" }],
      ["agent.declare", { agents: [{ name: "Twin" }] }],
      ["agent.withdraw", { agent_id: scout.id }],
      ["member.add", { space_id: space, participant_id: bob.id }],
      ["member.remove", { space_id: space, participant_id: scout.id }],
      ["space.rename", { space_id: space, title: "Mine" }],
      ["agents.pause", { space_id: space }],
      ["settings.set", { settings: {} }],
      ["participant.rename", { name: "Boss" }],
    ] as const)
      expect([type, (await refused(scout, type, fields)).code]).toEqual([type, "forbidden"]);
    for (const path of ["events?after=0", "approvals", "settings", "policy", "audit", "export", "grants"])
      expect([path, (await get(scout, `/v1/${path}`)).status]).toEqual([path, 403]);
    expect((await post(scout, "/v1/hello", { v: 1, type: "hello", id: newId("evt") })).status).toBe(403);
    await expect(open(scout.token)).rejects.toThrow("403");
    for (const signal of [
      { type: "read", space_id: space, seq: 1 },
      { type: "typing", space_id: space },
    ])
      expect((await post(scout, "/v1/events", { v: 1, ...signal })).status).toBe(403);
    for (const body of [{ scopes: ["agent"] }, { person: "scout", scopes: ["agent"] }])
      expect((await post(scout, "/v1/tokens", body)).status).toBe(403);
    expect((await post(scout, "/v1/invites", {})).status).toBe(403);
    expect(await sql(workspace, "SELECT id FROM runs")).toEqual([]);
  });

  test("REPORT-3 it opens its direct space with one person, which is the same from either side", async () => {
    const { owner, bob, team, space } = await teamRoom("scout", "otter");
    const [scout, otter] = [team["scout"]!, team["otter"]!];
    const { space_id } = await send(scout, "space.create", { direct: [bob.id] });
    const { message_id } = await say(scout, space_id, "It is done.");
    expect((await factsOf(bob, space_id)).map((f) => f.message_id)).toContain(message_id);
    expect((await send(bob, "space.create", { direct: [scout.id] })).space_id).toBe(space_id);
    expect((await send(scout, "space.create", { direct: [bob.id] })).space_id).toBe(space_id);
    // Archived, it is brought back: a report must be found.
    await send(bob, "space.archive", { space_id });
    await send(scout, "space.create", { direct: [bob.id] });
    await say(scout, space_id, "And this.");
    for (const direct of [[otter.id], [bob.id, owner.id], [newId("usr")]])
      expect(["forbidden", "not_found"]).toContain((await refused(scout, "space.create", { direct })).code);
    expect((await refused(scout, "space.create", { title: "Mine" })).code).toBe("forbidden");
    const guest = await newPerson(owner, "Gus", "guest");
    expect((await refused(scout, "space.create", { direct: [guest.id] })).code).toBe("not_found");
    await send(owner, "member.add", { space_id: space, participant_id: guest.id });
    await send(scout, "space.create", { direct: [guest.id] });
  });

  test("AUTH-2 AUTH-3 only owners and admins make and end it, and the office is told that it ended", async () => {
    const { workspace, owner, bob, team } = await teamRoom("scout");
    const asked = { person: "scout", scopes: ["agent"] };
    expect((await post(bob, "/v1/tokens", asked)).status).toBe(403);
    for (const wrong of [
      { person: "scout", scopes: ["person"] },
      { person: "scout", scopes: ["agent", "admin"] },
      { person: "Scout!", scopes: ["agent"] },
      { scopes: ["agent"] },
    ])
      expect((await post(owner, "/v1/tokens", wrong)).status).toBe(422);
    const { items } = await read(owner, "/v1/tokens");
    const token = items.find((t: Any) => t.scopes.includes("agent"));
    expect(token).toMatchObject({ person: "scout", participant_id: team["scout"]!.id });
    await clearLetters(workspace);
    expect((await call("DELETE", `/v1/tokens/${token.token_id}`, { token: owner.token })).status).toBe(204);
    expect(await waiting(workspace)).toEqual([
      { target: "office/scout", kind: "token_revoked", tokenId: token.token_id },
    ]);
    expect((await get(team["scout"]!, "/v1/me")).status).toBe(401);
  });
});

describe("WORK-4 a hook's token", () => {
  test("WORK-4 AUTH-2 it names its source and types, and is refused everything but events", async () => {
    const { id: workspace, owner } = await newWorkspace();
    const asked = { scopes: ["hook"], source: "jira", types: ["ticket.assigned", "ticket.commented"] };
    const { status, body } = await post(owner, "/v1/tokens", asked);
    expect(status).toBe(201);
    const hook = { id: owner.id, token: body.token };
    expect(await identityOf(workspace, hook)).toMatchObject({
      scopes: ["hook"],
      hook: { source: "jira", types: ["ticket.assigned", "ticket.commented"] },
    });
    const space = await newSpace(owner, "Lobby");
    expect((await refused(hook, "message.post", { space_id: space, text: "x" })).code).toBe("forbidden");
    for (const path of ["spaces", "tokens", "participants", "events?after=0"])
      expect([path, (await get(hook, `/v1/${path}`)).status]).toEqual([path, 403]);
    await expect(open(hook.token)).rejects.toThrow("403");
    expect((await post(hook, "/v1/tokens", asked)).status).toBe(403);
    for (const wrong of [
      { scopes: ["hook"] },
      { scopes: ["hook"], source: "jira" },
      { ...asked, scopes: ["hook", "person"] },
      { ...asked, scopes: ["person"] },
      { ...asked, source: "room" },
      { ...asked, source: "office" },
      { ...asked, types: ["chat.message"] },
      { ...asked, types: ["no.such"] },
      { ...asked, types: [] },
    ])
      expect((await post(owner, "/v1/tokens", wrong)).status).toBe(422);
    const { items } = await read(owner, "/v1/tokens");
    expect(items.find((t: Any) => t.token_id === body.token_id)).toMatchObject({
      source: "jira",
      types: asked.types,
    });
  });
});

describe("what the room knows", () => {
  test("TEAM-1 which people and spaces are unknown: others', removed and made up", async () => {
    const { id: workspace, owner } = await newWorkspace();
    const [bob, gone] = [await newPerson(owner, "Bob"), await newPerson(owner, "Gil")];
    await send(owner, "participant.remove", { participant_id: gone.id });
    const harness = await newHarness(owner, "Crew");
    const space = await newSpace(owner, "Lobby");
    const other = await newWorkspace();
    const asked = {
      users: [owner.id, bob.id, gone.id, harness.id, other.owner.id],
      spaces: [space, newId("spc")],
    };
    expect(await roomStub(workspace).known(asked)).toEqual({
      users: [gone.id, harness.id, other.owner.id],
      spaces: [asked.spaces[1]],
    });
    expect(await roomStub(newId("ws")).known(asked)).toEqual(asked);
  });

  test("AUTH-2 identities of people and harnesses are whole; a bad or unmade one is unauthenticated", async () => {
    const { id: workspace, owner } = await newWorkspace();
    expect(await identityOf(workspace, owner)).toMatchObject({
      participantId: owner.id,
      kind: "person",
      role: "owner",
      scopes: ["person", "admin"],
      name: "Ada",
    });
    const harness = await newHarness(owner, "Crew");
    await hello(harness, { agents: [{ name: "Ping" }] });
    expect(await identityOf(workspace, harness)).toMatchObject({ kind: "harness", role: null });
    const wrong = { tokenId: newId("tok"), secretHash: "0".repeat(64), origin: "" };
    for (const id of [workspace, newId("ws")])
      expect(await roomStub(id).identify(wrong)).toMatchObject({ error: { code: "unauthenticated" } });
    const socket = await connect(harness);
    expect(socket.frames[0].agents.map((a: Any) => a.name)).toEqual(["Ping"]);
  });
});

/** Who a token is to the board and the offices. */
async function identityOf(workspace: string, by: Party): Promise<Any> {
  const [, , id = "", secret = ""] = /^bp_([^_]+)_([^_]+)_(.+)$/.exec(by.token) ?? [];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret));
  const secretHash = [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("");
  const found = await roomStub(workspace).identify({ tokenId: `tok_${id}`, secretHash, origin: "" });
  if (!found.ok) throw new Error(`nobody: ${JSON.stringify(found.error)}`);
  return found.value;
}
