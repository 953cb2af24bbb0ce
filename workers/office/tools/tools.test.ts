/** The tools of an agent against the room, the board and the office together, as its own token has them carried out. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { type Any, call, roomStub, say, send } from "../../testing/client.ts";
import { factsOf } from "../../testing/judge.ts";
import { eventually } from "../../testing/office.ts";
import { read } from "../../testing/room.ts";
import { agentOf, fact, type Whole, whole } from "../../testing/whole.ts";

let calls = 0;
const newCall = () => `exe_${++calls}_1`;

/** What the office answers to a call of Scout's. */
async function tool(at: Whole, name: string, input: unknown, more: object = {}): Promise<Any> {
  const token = at.team["scout"]!.token;
  const body = { id: newCall(), tool: name, input, ...more };
  const { status, body: answer } = await call("POST", "/v1/people/scout/calls", { token, body });
  if (status !== 200) throw new Error(JSON.stringify(answer));
  return answer;
}

/** Scout is in a turn of a conversation in the room. */
async function inTurn(at: Whole, text = "@scout paint the door"): Promise<{ item: string; message: string }> {
  const { message_id } = await say(at.ada, at.space, text);
  const agent = await agentOf(at, "scout");
  const { workItem } = await agent.offer();
  await agent.must("accept", { workItemId: workItem.id, runtime: "resident", model: "m" });
  await fact(at.ada, at.space, (f) => f.type === "run.started");
  return { item: workItem.id, message: message_id };
}
const said = async (at: Whole): Promise<Any[]> =>
  (await factsOf(at.ada, at.space)).filter((f) => f.type === "message.posted" && f.actor.kind === "agent");

describe("CTX-8 post", () => {
  test("CTX-8 says something where the turn came from, as the agent and in its turn", async () => {
    const at = await whole("scout");
    const { message } = await inTurn(at);
    const { ok, output } = await tool(at, "post", { text: "On it." });
    expect(ok).toBe(true);
    const [posted] = await said(at);
    expect(posted).toMatchObject({
      message_id: output.message_id,
      text: "On it.",
      reply_to: message,
      actor: { id: at.team["scout"]!.id },
    });
    expect(posted.run_id).toBeDefined();
  });

  test("CTX-9 a call that is carried out again says it once, files and all, also when an object was evicted", async () => {
    const at = await whole("scout");
    await inTurn(at);
    const id = newCall();
    const input = { text: "The plan.", attach: [{ filename: "plan.md", text: "# Blue\n" }] };
    const first = await tool(at, "post", input, { id });
    await evictDurableObject(env.OFFICE.getByName(`${at.workspace}/scout`), { webSockets: "hibernate" });
    expect(await tool(at, "post", input, { id })).toEqual(first);
    await evictDurableObject(roomStub(at.workspace));
    expect(await tool(at, "post", input, { id })).toEqual(first);
    const posts = await said(at);
    expect(posts).toHaveLength(1);
    expect(posts[0].attachments).toMatchObject([{ filename: "plan.md", mime_type: "text/plain" }]);
    const file = await call("GET", `/v1/attachments/${posts[0].attachments[0].attachment_id}`, {
      token: at.ada.token,
    });
    expect(file.body).toBe("# Blue\n");
  });

  test("CTX-8 goes by the rooms' rules: nothing is said in a room that the agent is not in, or of nowhere", async () => {
    const at = await whole("scout");
    expect(await tool(at, "post", { text: "Where?" })).toMatchObject({ ok: false });
    const { body } = await call("POST", "/v1/events", {
      token: at.ada.token,
      body: {
        v: 1,
        type: "space.create",
        id: "evt_01K4ZQPX000000000000000001",
        idempotency_key: "s",
        title: "Private",
      },
    });
    const other = body.receipts[0].space_id;
    const { message_id } = await say(at.ada, other, "secret");
    for (const input of [{ space_id: other }, { reply_to: message_id }]) {
      const answer = await tool(at, "post", { text: "Hello?", ...input });
      expect(answer).toMatchObject({ ok: false });
      expect(answer.output).toContain("no such");
    }
    expect(await tool(at, "post", { text: "Here.", space_id: at.space })).toMatchObject({ ok: true });
  });
});

describe("CTX-8 ask and approve", () => {
  test("CTX-8 a question goes to whom it names, once", async () => {
    const at = await whole("scout");
    await inTurn(at);
    const id = newCall();
    const input = { to: "Ada", question: "Which blue?" };
    const first = await tool(at, "ask", input, { id });
    expect(first).toMatchObject({ ok: true, output: { to: "Ada", status: "pending" } });
    expect(await tool(at, "ask", input, { id })).toEqual(first);
    expect(await tool(at, "ask", { to: "nobody", question: "?" })).toMatchObject({ ok: false });
  });

  test("CTX-9 APR-3 a call for leave stays open until a person decides, and is the same ask each time", async () => {
    const at = await whole("scout");
    await inTurn(at);
    const id = newCall();
    const input = {
      action: "paint.buy",
      question: "Buy 10 l of blue?",
      input: { litres: 10 },
      money_usd: 80,
    };
    expect(await tool(at, "approve", input, { id })).toEqual({ later: true });
    expect(await tool(at, "approve", input, { id })).toEqual({ later: true });
    const asks = (await factsOf(at.ada, at.space)).filter((f) => f.type === "approval.requested");
    expect(asks).toHaveLength(1);
    expect(asks[0]).toMatchObject({ question: "Buy 10 l of blue?", action: { kind: "paint.buy" } });
    await send(at.ada, "approval.decide", { approval_id: asks[0].approval_id, decision: "allow" });
    expect(await tool(at, "approve", input, { id })).toEqual({
      ok: true,
      output: { allowed: true, input: { litres: 10 }, decided_by: "Ada" },
    });
  });

  test("CTX-9 a call for leave that is over is taken back: nobody decides it any more", async () => {
    const at = await whole("scout");
    await inTurn(at);
    const id = newCall();
    const input = { action: "paint.buy", question: "Buy?" };
    expect(await tool(at, "approve", input, { id })).toEqual({ later: true });
    const token = at.team["scout"]!.token;
    expect((await call("DELETE", `/v1/people/scout/calls/${id}`, { token })).status).toBe(204);
    const cancelled = await fact(at.ada, at.space, (f) => f.type === "approval.cancelled");
    expect(cancelled.reason).toBe("harness");
    expect(await tool(at, "approve", input, { id })).toMatchObject({ ok: false });
  });

  test("CTX-8 leave is asked for in a conversation of a room only", async () => {
    const at = await whole("scout");
    expect(await tool(at, "approve", { action: "a", question: "?" })).toMatchObject({ ok: false });
  });
});

describe("CTX-8 search and files", () => {
  test("CTX-8 finds what was said in the agent's own rooms, and what its own work was", async () => {
    const at = await whole("scout");
    await say(at.ada, at.space, "the door is oak");
    const { output } = await tool(at, "search", { query: "oak" });
    expect(output).toMatchObject([{ from: "Ada", excerpt: "the door is oak", space_id: at.space }]);
    await inTurn(at);
    const own = await tool(at, "search", { query: "paint", in: "work" });
    expect(JSON.stringify(own.output)).toContain("paint the door");
  });

  test("CTX-8 RENDER-3 lists and reads the files of its rooms, and no others", async () => {
    const at = await whole("scout");
    const up = async (name: string, raw: string | Uint8Array) =>
      (await call("POST", `/v1/attachments?filename=${name}`, { token: at.ada.token, raw })).body
        .attachment_id;
    const plan = await up("plan.txt", "blue, twice");
    const png = Uint8Array.from(
      atob(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      ),
      (c) => c.charCodeAt(0),
    );
    const door = await up("door.png", png);
    await say(at.ada, at.space, "look", { attachments: [{ attachment_id: plan }, { attachment_id: door }] });
    const { output } = await tool(at, "files", { space_id: at.space });
    expect(output.map((f: Any) => f.filename).toSorted()).toEqual(["door.png", "plan.txt"]);
    expect(await tool(at, "files", { attachment_id: plan })).toEqual({
      ok: true,
      output: { filename: "plan.txt", mime_type: "text/plain", byte_size: 11, text: "blue, twice" },
    });
    expect(await tool(at, "files", { attachment_id: door })).toMatchObject({
      ok: true,
      files: [
        {
          contentType: "image/png",
          filename: "door.png",
          path: `${at.workspace}/${door.slice(4)}`,
          size: png.byteLength,
        },
      ],
    });
    const hidden = await up("diary.txt", "mine");
    expect(await tool(at, "files", { attachment_id: hidden })).toMatchObject({ ok: false });
  });
});

describe("CTX-8 work", () => {
  test("CTX-8 takes on what a conversation asks for, once, and hands back", async () => {
    const at = await whole("scout");
    const { item } = await inTurn(at);
    const id = newCall();
    const input = { title: "Paint the door", body: "Blue, twice." };
    const first = await tool(at, "take_work", input, { id });
    expect(first).toMatchObject({
      ok: true,
      output: { item: { title: "Paint the door", status: "queued" } },
    });
    expect(await tool(at, "take_work", input, { id })).toEqual(first);
    const { output } = await tool(at, "work", {});
    expect(output.items.map((one: Any) => one.status)).toEqual(["active", "queued"]);
    const back = { status: "waiting", summary: "Waits for the paint." };
    expect(await tool(at, "hand_back", back, { item })).toEqual({
      ok: true,
      output: { item, status: "waiting" },
    });
    expect(await tool(at, "hand_back", back, { item })).toMatchObject({ ok: true });
    await eventually(async () => {
      const { items } = await read(at.ada, "/v1/people/scout");
      expect(items.find((one: Any) => one.id === item).state).toBe("waiting");
    });
  });

  test("CTX-8 what cannot be done now says so", async () => {
    const at = await whole("scout");
    expect(await tool(at, "take_work", { title: "x" })).toMatchObject({ ok: false });
    expect(await tool(at, "hand_back", { status: "done", summary: "x" })).toMatchObject({ ok: false });
  });
});

describe("CTX-9 calls", () => {
  test("CTX-9 a wrong call is a result that says what is wrong", async () => {
    const at = await whole("scout");
    expect((await tool(at, "sing", {})).output).toContain("There are: post, ask,");
    expect((await tool(at, "post", '{"text": "half')).output).toContain("not JSON");
    const { output } = await tool(at, "post", { txt: "x", space_id: "spc_1" });
    expect(output).toContain("text is missing");
    expect(output).toContain("txt is unknown");
    expect(output).toContain("space_id");
  });

  test("CTX-8 AUTH-2 nobody but the person's own agent has its office act for it", async () => {
    const at = await whole("scout", "mason");
    const body = { id: newCall(), tool: "work", input: {} };
    for (const token of [at.ada.token, at.team["mason"]!.token]) {
      const { status } = await call("POST", "/v1/people/scout/calls", { token, body });
      expect(status).toBe(403);
    }
    const elsewhere = await whole("scout");
    const { status } = await call("POST", "/v1/people/mason/calls", {
      token: elsewhere.team["scout"]!.token,
      body,
    });
    expect(status).toBe(404);
    const odd = { ...body, id: "exe_0_1" };
    const refused = await call("POST", "/v1/people/scout/calls", {
      token: at.team["scout"]!.token,
      body: odd,
    });
    expect(refused.status).toBe(422);
  });
});
