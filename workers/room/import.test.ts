import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type Any, call, newId, say, send } from "../testing/client.ts";
import { exportOf } from "../testing/export.ts";
import { begin, bytes, download, lines, standing, wipe } from "../testing/imports.ts";
import { agentsRoom, evict } from "../testing/judge.ts";
import { pulled, read, readRefused, sql } from "../testing/room.ts";
import { randomTalk, type Talk } from "../testing/talk.ts";

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The same lines with an end that fits them. */
function sealed(all: readonly Any[]): string {
  const text = all
    .filter((l) => l.type !== "end")
    .map((l) => `${JSON.stringify(l)}\n`)
    .join("");
  const count = text.split("\n").length - 1;
  return `${text}${JSON.stringify({ type: "end", lines: count, sha256: sha(text) })}\n`;
}

/** Of what is nobody's turn the lead is handed only what is said from then on: the log does not hold who typed. */
const AFRESH = "The lead is handed it once the room has gone still.";

/** What is read of a workspace, without what is as of now. */
async function readings(talk: Pick<Talk, "owner" | "bob" | "harness" | "space">): Promise<Any> {
  const all: Record<string, Any> = {};
  const inSpace = ["", "/members", "/context", "/files", "/runs"].map((of) => `spaces/${talk.space}${of}`);
  const paths = [...inSpace, "spaces", "approvals", "participants", "grants", "policy", "search?q=report"];
  for (const [who, by] of Object.entries({ owner: talk.owner, bob: talk.bob, harness: talk.harness })) {
    all[`${who} events`] = await pulled(by);
    for (const path of paths) {
      const { status, body } = await call("GET", `/v1/${path}`, { token: by.token });
      if (by === talk.owner) expect([path, status]).toEqual([path, 200]);
      all[`${who} ${path}`] = body;
    }
  }
  for (const path of ["audit", "audit/verify", "settings"]) all[path] = await read(talk.owner, `/v1/${path}`);
  for (const { id } of all["owner events"].slice(-40)) {
    const { status, body } = await call("GET", `/v1/why/${id}`, { token: talk.owner.token });
    if (status !== 200) continue;
    all[`why ${id}`] = { ...body, decisions: body.decisions.filter((d: Any) => d.says !== AFRESH) };
  }
  return JSON.parse(
    JSON.stringify(all, (key, value) =>
      ["url", "url_expires_at", "working", "idle", "notes", "request_id", "online", "resume_token"].includes(
        key,
      )
        ? undefined
        : value,
    ),
  );
}

test.each([14, 15, 22])(
  "LOG-6 a random workspace, exported and imported, is the same in every table and every reading (seed %i)",
  async (seed) => {
    const talk = await randomTalk(seed, 120);
    const edited = await say(talk.bob, talk.space, "the first report words");
    await send(talk.bob, "message.edit", { message_id: edited.message_id, text: "the second report words" });
    await send(talk.owner, "participant.rename", { participant_id: talk.bob.id, name: "Robert" });
    const gone = await say(talk.bob, talk.space, "a slip");
    await send(talk.bob, "message.edit", { message_id: gone.message_id, text: "another slip" });
    await send(talk.bob, "message.delete", { message_id: gone.message_id });
    talk.socket.ws.close(1000, "done");
    const { text } = await exportOf(talk.owner);
    const [before, tables] = [await readings(talk), await standing(talk.workspace)];
    const tokens = await sql(talk.workspace, "SELECT * FROM tokens");
    await wipe(talk.workspace);
    expect((await begin(talk.workspace)).status).toBe(201);
    const done = await lines(talk.workspace, text);
    expect(done.body).toMatchObject({
      workspace_id: talk.workspace,
      owner: { participant_id: talk.owner.id },
    });
    expect(await standing(talk.workspace)).toEqual(tables);
    const owner = { id: talk.owner.id, token: done.body.token };
    const again = await exportOf(owner);
    expect(again.lines.slice(1, -1)).toEqual(
      text
        .trimEnd()
        .split("\n")
        .slice(1, -1)
        .map((l): Any => JSON.parse(l)),
    );
    // What they are told is held against what they were told: with the tokens that they had.
    for (const row of tokens)
      await sql(
        talk.workspace,
        `INSERT INTO tokens (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row)
          .map(() => "?")
          .join(", ")})`,
        ...Object.values(row),
      );
    expect(await readings(talk)).toEqual(before);
    expect((await read(owner, "/v1/audit/verify")).ok).toBe(true);
  },
  120_000,
);

/** A small workspace with a file, two spaces and a harness. */
async function small() {
  const room = await agentsRoom(["Ping", "Pong"]);
  const upload = await call("POST", "/v1/attachments?filename=a.txt", {
    token: room.bob.token,
    raw: "hello",
  });
  const { attachment_id } = upload.body;
  await say(room.bob, room.space, "@Ping here", { attachments: [{ attachment_id }] });
  room.socket.ws.close(1000, "done");
  const exported = await exportOf(room.owner);
  return { ...room, ...exported, attachment_id: String(attachment_id), sha256: sha("hello") };
}

test("LOG-6 ENV-3 ENV-4 after an import the log goes on: the next seq follows, keys are known, handles are kept", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  const event = {
    v: 1,
    type: "message.post",
    id: newId("evt"),
    idempotency_key: newId("evt"),
    space_id: room.space,
    text: "once",
  };
  const first = await call("POST", "/v1/events", { token: room.owner.token, body: event });
  const { text, lines: all } = await exportOf(room.owner);
  await wipe(room.workspace);
  await begin(room.workspace);
  const { body } = await lines(room.workspace, text);
  const owner = { id: room.owner.id, token: body.token };
  const repeated = await call("POST", "/v1/events", { token: owner.token, body: event });
  expect(repeated.body.receipts[0]).toEqual({ ...first.body.receipts[0], duplicate: true });
  const next = await say(owner, room.space, "@Ping go on");
  expect(next.seq).toBe(all[0].head_seq + 1);
  const posted = (await pulled(owner, all[0].head_seq)).find((e) => e.type === "message.posted");
  expect(posted.mentions).toEqual([room.ids["Ping"]]);
  for (const token of [room.owner.token, room.bob.token, room.harness.token])
    expect((await call("GET", "/v1/me", { token })).status).toBe(401);
});

test("LOG-6 ATT-3 files follow by hash: other bytes are refused, until then there is none", async () => {
  const { workspace, text, attachment_id, sha256, owner } = await small();
  await wipe(workspace);
  await begin(workspace);
  const { body } = await lines(workspace, text);
  expect(body.files_missing).toEqual([{ sha256, byte_size: 5 }]);
  const who = { id: owner.id, token: body.token };
  const get = () => download(who.token, attachment_id);
  expect((await get()).status).toBe(404);
  const wrong = await bytes(workspace, sha256, "hallo");
  expect(wrong.body).toMatchObject({ code: "invalid" });
  expect((await bytes(workspace, sha256, "hello!")).status).toBe(413);
  expect((await bytes(workspace, sha("other"), "other")).body.code).toBe("not_found");
  expect((await get()).status).toBe(404);
  expect((await bytes(workspace, sha256, "hello")).status).toBe(204);
  expect((await bytes(workspace, sha256, "hello")).status).toBe(204);
  const served = await get();
  expect([served.status, await served.text()]).toEqual([200, "hello"]);
});

test("LOG-6 ATT-3 an upload of a missing file's bytes is the file", async () => {
  const { workspace, text, attachment_id, owner } = await small();
  await wipe(workspace);
  await begin(workspace);
  const { token } = (await lines(workspace, text)).body;
  await call("POST", "/v1/attachments?filename=b.txt", { token, raw: "hello" });
  expect(await (await download(token, attachment_id)).text()).toBe("hello");
  expect(owner.id).toMatch(/^usr_/);
});

test("LOG-6 a changed, cut, newer or foreign export is refused and changes nothing; the right one is taken then", async () => {
  const { workspace, text, lines: all, bob } = await small();
  expect((await begin(workspace)).body.code).toBe("conflict");
  await wipe(workspace);
  await begin(workspace);
  const refusals: [string, string][] = [
    [text.replace("@Ping here", "@Ping hers"), "cut or changed"],
    [`${text.split("\n").slice(0, -3).join("\n")}\n${text.trimEnd().split("\n").at(-1)}\n`, "cut or changed"],
    [sealed(all.filter((l) => l.type !== "fact" || l.seq !== 3)), "its seq should be 3"],
    [sealed(all.filter((l) => l.seq !== all[0].head_seq)), "its workspace is at"],
    [
      sealed(all.map((l) => (l.type === "workspace" ? { ...l, format: 2 } : l))),
      "Line 1 .*format 2 is newer",
    ],
    [sealed(all.map((l) => (l.type === "workspace" ? { ...l, workspace_id: newId("ws") } : l))), "Line 1 "],
    [sealed([...all.slice(0, 2), all[1], ...all.slice(2)]), "Line 3 .*does not fit"],
    [sealed(all.map((l) => (l.type === "space" ? { ...l, title: 7 } : l))), "title"],
    [sealed(all.map((l) => (l.role === "owner" ? { ...l, role: "member" } : l))), "no owner"],
    ["{}\n", "Line 1 "],
    ["nonsense\n", "Line 1 .*no JSON"],
  ];
  for (const [wrong, why] of refusals) {
    const { body } = await lines(workspace, wrong);
    expect([body.code, body.message]).toEqual(["invalid", expect.stringMatching(why)]);
    expect((await begin(workspace)).body).toMatchObject({ importing: true, next_line: 1 });
    expect(await readRefused(bob, "/v1/me")).toBe("unauthenticated");
  }
  const done = await lines(workspace, text);
  expect(done.status).toBe(200);
  expect((await lines(workspace, text)).body.token).not.toBe(done.body.token);
});

test("LOG-6 an upload that broke off goes on after an eviction; the same lines again are no matter", async () => {
  const { workspace, text, owner } = await small();
  await wipe(workspace);
  await begin(workspace);
  const all = text.split(/(?<=\n)/);
  const first = all.slice(0, 5).join("");
  expect((await lines(workspace, `${first}{"type":"fa`)).body.next_line).toBe(6);
  await evict(workspace);
  expect((await begin(workspace)).body.next_line).toBe(6);
  expect((await lines(workspace, first)).body.next_line).toBe(6);
  expect((await lines(workspace, all.slice(7).join(""), 8)).body.code).toBe("conflict");
  expect((await lines(workspace, all.slice(0, 4).join(""))).body.code).toBe("conflict");
  const done = await lines(workspace, all.slice(5).join(""), 6);
  expect(done.body.owner.participant_id).toBe(owner.id);
  // The answer may have been lost: it comes again until its token was used once.
  const { next_line } = (await begin(workspace)).body;
  const again = await lines(workspace, all.slice(next_line - 1).join(""), next_line);
  const me = await read({ id: owner.id, token: again.body.token }, "/v1/me");
  expect(me.participant.participant_id).toBe(owner.id);
  expect((await call("GET", "/v1/me", { token: done.body.token })).status).toBe(401);
  expect((await lines(workspace, all.slice(next_line - 1).join(""), next_line)).body.code).toBe("conflict");
  expect((await begin(workspace)).body.code).toBe("conflict");
});

test("LOG-6 AUTH-5 only the deployment's own token imports", async () => {
  const { workspace, text, owner } = await small();
  const other = await agentsRoom(["Ping"]);
  for (const { token } of [owner, other.owner, other.harness]) {
    const made = await call("POST", "/v1/workspaces", { token, body: { import: newId("ws") } });
    expect(made.body.code).toBe("forbidden");
    expect((await lines(workspace, text, 1, token)).body.code).toBe("forbidden");
    const put = await call("PUT", `/v1/workspaces/${workspace}/files/${sha("hello")}`, {
      token,
      raw: "hello",
    });
    expect(put.body.code).toBe("forbidden");
  }
  expect((await lines(newId("ws"), text)).body.code).toBe("not_found");
  expect((await lines(workspace, text)).body.code).toBe("not_found");
});
