/** OFF: the connection of an agent, from the outside. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { call, newPerson, newWorkspace } from "../kit.ts";
import {
  accept,
  addItem,
  agentToken,
  atWork,
  config,
  connectAgent,
  handback,
  hello,
  newTeam,
  offered,
  openAgent,
  putTeam,
} from "./kit.ts";

describe("hello", () => {
  test("OFF-2 OFF-5: a good hello is welcomed with the team, its defaults, and nothing to resume", async () => {
    const team = await newTeam(["ada"]);
    const { welcome } = await connectAgent(team, "ada");
    expect(welcome).toMatchObject({ protocolVersion: 3, heartbeatMs: 30_000, resume: [] });
    expect(welcome.team.pipeline.priorities).toMatchObject({ chat: 10, assigned: 50 });
    expect(welcome.team.people[0]).toMatchObject({ handle: "ada", name: "Ada" });
  });

  test("OFF-2: what comes before hello is unauthenticated, and the socket closes with 4401", async () => {
    const team = await newTeam(["ada"]);
    for (const type of ["heartbeat", "roster", "ping", "accept"]) {
      const socket = await openAgent(team.id, "ada");
      const { payload } = await socket.ask(type, {});
      expect(payload.code).toBe("unauthenticated");
      expect((await socket.closed).code).toBe(4401);
    }
  });

  test("OFF-2: a bad token, another's token, another tenant's token and another's handle are auth_failed, 4401", async () => {
    const [team, other] = [await newTeam(["ada", "milo"]), await newTeam(["ada"])];
    const broken = `${team.tokens["ada"]?.slice(0, -3)}abc`;
    const tries: [string, string, string][] = [
      ["ada", "ada", "nothing"],
      ["ada", "ada", broken],
      ["ada", "ada", team.tokens["milo"] ?? ""],
      ["ada", "ada", other.tokens["ada"] ?? ""],
      ["ada", "ada", team.owner.token],
      ["ada", "milo", team.tokens["milo"] ?? ""],
      ["nobody", "nobody", team.tokens["ada"] ?? ""],
    ];
    for (const [at, person, token] of tries) {
      const socket = await openAgent(team.id, at);
      const { type, payload } = await socket.ask("hello", hello(person, token));
      expect([at, person, type, payload.code]).toEqual([at, person, "error", "auth_failed"]);
      expect((await socket.closed).code).toBe(4401);
    }
  });

  test("OFF-2 AUTH-4: an unknown workspace or person answers like a wrong token", async () => {
    const team = await newTeam(["ada"]);
    for (const [ws, who] of [
      ["ws_01K4ZQPX000000000000000001", "ada"],
      [team.id, "ghost"],
    ] as const) {
      const silent = await openAgent(ws, who);
      expect((await silent.ask("ping")).payload.code).toBe("unauthenticated");
      expect((await silent.closed).code).toBe(4401);
      const socket = await openAgent(ws, who);
      expect((await socket.ask("hello", hello(who, team.tokens["ada"] ?? ""))).payload.code).toBe(
        "auth_failed",
      );
      expect((await socket.closed).code).toBe(4401);
    }
  });

  test("OFF-2: another version is version_mismatch, 4426", async () => {
    const team = await newTeam(["ada"]);
    const socket = await openAgent(team.id, "ada");
    const { payload } = await socket.ask(
      "hello",
      hello("ada", team.tokens["ada"] ?? "", { protocolVersion: 2 }),
    );
    expect(payload.code).toBe("version_mismatch");
    expect((await socket.closed).code).toBe(4426);
  });

  test("OFF-2: a second hello is invalid and changes nothing", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    expect((await agent.refused("hello", hello("ada", team.tokens["ada"] ?? ""))).code).toBe("invalid");
    expect((await agent.ask("roster")).type).toBe("roster_result");
  });

  test("AUTH-2: an agent's token is revoked and its connection ends with 4401", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const { body } = await call("GET", "/v1/tokens", { token: team.owner.token });
    const mine = body.items.find((t: { scopes: string[] }) => t.scopes.includes("agent"));
    await call("DELETE", `/v1/tokens/${mine.token_id}`, { token: team.owner.token });
    expect((await agent.closed).code).toBe(4401);
  });

  test("AUTH-2: only owners and admins make an agent's token, and only for a person of the team", async () => {
    const team = await newTeam(["ada"]);
    const member = await newPerson(team.owner, "Ben");
    const asked = { person: "ada", scopes: ["agent"] };
    expect((await call("POST", "/v1/tokens", { token: member.token, body: asked })).status).toBe(403);
    const ghost = { ...asked, person: "ghost" };
    expect((await call("POST", "/v1/tokens", { token: team.owner.token, body: ghost })).status).toBe(404);
  });
});

describe("replacing", () => {
  test("OFF-3: a second connection replaces the first, which closes with 4409 and changes nothing more", async () => {
    const team = await newTeam(["ada"]);
    const first = await connectAgent(team, "ada");
    const item = await addItem(team, "ada", "Paint it");
    await offered(first, item.id);
    const second = await connectAgent(team, "ada");
    expect((await first.type("error")).payload.code).toBe("replaced");
    expect((await first.closed).code).toBe(4409);
    // OFFER-1: an offer that was not accepted comes again.
    await offered(second, item.id);
    await accept(second, item.id);
  });

  test("OFF-3: bad credentials replace nobody", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const thief = await openAgent(team.id, "ada");
    await thief.ask("hello", hello("ada", "bp_wrong"));
    await thief.closed;
    expect((await agent.ask("ping")).type).toBe("pong");
  });
});

describe("frames", () => {
  test("OFF-4: what is no JSON, no frame, of an unknown type or with a bad payload is told apart", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    for (const raw of ["", "{", "[]", "null", "7", '"x"']) {
      const from = agent.frames.length;
      agent.send(raw);
      const { payload, replyTo } = await agent.type("error", from);
      expect([raw, payload.code]).toEqual([raw, "malformed"]);
      expect(replyTo).toBeUndefined();
    }
    expect((await agent.refused("no_such_thing")).code).toBe("unknown_type");
    const bad = await agent.refused("progress", { workItemId: 7, text: "x" });
    expect(bad.code).toBe("invalid_message");
    expect(bad.message).toContain("workItemId");
    expect((await agent.ask("ping")).type).toBe("pong");
  });

  test("OFF-1 OFF-4: a frame over 1 MiB is malformed, and the connection stays", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    agent.send({ id: randomUUID(), type: "recall", payload: { query: "x".repeat(1_100_000), limit: 1 } });
    expect((await agent.type("error")).payload.code).toBe("malformed");
    expect((await agent.ask("ping")).type).toBe("pong");
  });

  test("OFF-1: the same id and payload gets the first answer of a write, another payload is invalid", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    const frame = randomUUID();
    const payload = { workItemId: id, text: "half way" };
    expect((await agent.ask("journal", payload, frame)).type).toBe("ack");
    expect((await agent.ask("journal", payload, frame)).type).toBe("ack");
    const other = await agent.ask("journal", { ...payload, text: "all the way" }, frame);
    expect(other.payload.code).toBe("invalid");
  });

  test("OFF-9: another's item and none at all are answered alike", async () => {
    const team = await newTeam(["ada", "milo"]);
    const [ada, milo] = [await connectAgent(team, "ada"), await connectAgent(team, "milo")];
    const theirs = await atWork(team, milo, "milo");
    const none = theirs.replace(/.{4}$/, "0000");
    const requests: [string, object][] = [
      ["accept", { runtime: "r", model: "m" }],
      ["decline", { reason: "no" }],
      ["progress", { text: "x" }],
      ["journal", { text: "x" }],
      ["session", { sessionId: "s" }],
      ["handback", { summary: "x", links: [], status: "done" }],
      ["fail", { reason: "x" }],
      ["work_move", { status: "canceled" }],
      ["work_place", { position: "next" }],
      ["work_check", { request: "x" }],
      ["work_queue", { title: "x" }],
      ["chat_report", { kind: "result" }],
    ];
    for (const [type, more] of requests) {
      const a = await ada.refused(type, { workItemId: theirs, ...more });
      const b = await ada.refused(type, { workItemId: none, ...more });
      expect([type, a]).toEqual([type, b]);
      expect(a.code).toBe("unknown_item");
    }
    const { payload } = await ada.ask("work_status", { workItemIds: [theirs, none] });
    expect(payload.items.map((i: { state: string }) => i.state)).toEqual(["not_yours", "unknown"]);
  });

  test("OFF-6: a ping is answered, by either side", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const { type, payload } = await agent.ask("ping");
    expect([type, payload]).toEqual(["pong", {}]);
  });

  test("OFF-5: a changed config closes the connection with 1012, after the hand-back's ack", async () => {
    const team = await newTeam(["ada"]);
    const agent = await connectAgent(team, "ada");
    const id = await atWork(team, agent, "ada");
    const current = await call("GET", "/v1/team", { token: team.owner.token });
    const changed = config(team.owner, team.notify, ["ada"], { policies: { stuck_minutes: 7 } });
    expect((await putTeam(team.owner, changed, current.headers.get("etag") ?? "")).status).toBe(200);
    expect((await agent.ask("handback", handback(id))).type).toBe("ack");
    expect((await agent.closed).code).toBe(1012);
    const again = await connectAgent(team, "ada");
    expect(again.welcome.team.policies.stuck_minutes).toBe(7);
  });
});

test("AUTH-4: a workspace without a team has no people", async () => {
  const { owner } = await newWorkspace();
  expect((await call("GET", "/v1/people/ada", { token: owner.token })).status).toBe(404);
  await expect(agentToken(owner, "ada")).rejects.toThrow("404");
});
