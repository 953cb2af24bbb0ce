import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { exportedLine } from "../../src/shared/wire/index.ts";
import { type Any, call, newId, newPerson, say, send } from "../testing/client.ts";
import { exportOf } from "../testing/export.ts";
import { agentsRoom, sayAs } from "../testing/judge.ts";

test("LOG-6 an export is lines of known forms, from the workspace to an end that counts and hashes them", async () => {
  const room = await agentsRoom(["Ping", "Pong"]);
  await say(room.bob, room.space, "@Ping start");
  await sayAs(room, "Ping", "@Pong over to you");
  const { text, lines } = await exportOf(room.owner);
  for (const line of lines) exportedLine.parse(line);
  expect(lines[0]).toMatchObject({ type: "workspace", format: 1, workspace_id: room.workspace });
  const end = lines.at(-1);
  const before = text.slice(0, text.lastIndexOf('{"type":"end"'));
  expect(end).toEqual({
    type: "end",
    lines: lines.length - 1,
    sha256: createHash("sha256").update(before).digest("hex"),
  });
});

test("LOG-6 LOG-4 every fact is there in order, with the words of each edition, and nothing of what was deleted", async () => {
  const room = await agentsRoom(["Ping"]);
  const kept = await say(room.bob, room.space, "first words");
  await send(room.bob, "message.edit", { message_id: kept.message_id, text: "other words" });
  const gone = await say(room.bob, room.space, "a secret slip");
  await send(room.bob, "message.delete", { message_id: gone.message_id });
  const { text, lines } = await exportOf(room.owner);
  const facts = lines.filter((l) => l.type === "fact");
  expect(facts.map((f) => f.seq)).toEqual(facts.map((_, i) => i + 1));
  expect(facts.length).toBe(lines[0].head_seq);
  const words = facts.filter((f) => f.words?.message_id === kept.message_id).map((f) => f.words.text);
  expect(words).toEqual(["first words", "other words"]);
  expect(text).not.toContain("a secret slip");
  const posted = facts.find((f) => f.body.message_id === kept.message_id);
  expect(posted).toMatchObject({ fact: "message.posted", write: { sender: room.bob.id } });
  expect(posted.write.key).toMatch(/^evt_/);
});

test("LOG-6 APR-10 no token, session, invite or resume_token is in it", async () => {
  const room = await agentsRoom(["Ping"]);
  const invite = await call("POST", "/v1/invites", { token: room.owner.token, body: {} });
  const run_id = newId("run");
  await send(room.harness, "run.start", { run_id, space_id: room.space, agent_id: room.ids.Ping });
  await send(room.harness, "approval.request", {
    run_id,
    approval_id: newId("apr"),
    action: { kind: "email.send", input: { to: "x" } },
    risk: [],
    expires_in: 600,
    resume_token: "resume-me-please",
  });
  const { text, lines } = await exportOf(room.owner);
  const secrets = [room.owner.token, room.bob.token, room.harness.token, invite.body.link].map((s) =>
    String(s).split(/[_=]/).at(-1),
  );
  for (const secret of [...secrets, "resume-me-please", "resume_token", "bp_"])
    expect(text).not.toContain(secret);
  expect(lines.filter((l) => l.type === "approval")).toHaveLength(1);
});

test("LOG-6 SPACE-6 files come with their hashes, and private spaces are in it; only owners and admins get it", async () => {
  const room = await agentsRoom(["Ping"]);
  const upload = await call("POST", "/v1/attachments?filename=a.txt", {
    token: room.bob.token,
    raw: "hello",
  });
  await say(room.bob, room.space, "here", { attachments: [{ attachment_id: upload.body.attachment_id }] });
  await send(room.bob, "space.create", { title: "Bob alone" });
  const { lines } = await exportOf(room.owner);
  expect(lines.find((l) => l.type === "attachment")).toMatchObject({
    attachment_id: upload.body.attachment_id,
    filename: "a.txt",
    byte_size: 5,
    sha256: createHash("sha256").update("hello").digest("hex"),
  });
  expect(lines.find((l) => l.type === "file")).toMatchObject({ name: "a.txt", version: 1 });
  expect(lines.some((l) => l.type === "space" && l.title === "Bob alone")).toBe(true);
  for (const token of [room.bob.token, room.harness.token])
    expect((await call("GET", "/v1/export", { token })).body.code).toBe("forbidden");
});

test("LOG-6 what is written while it is read comes after its head and is not in it", async () => {
  const room = await agentsRoom(["Ping"]);
  const filler = "words ".repeat(2000);
  for (let i = 0; i < 40; i++) await say(room.bob, room.space, `${i} ${filler}`);
  const answer = await call("GET", "/v1/spaces", { token: room.owner.token });
  expect(answer.status).toBe(200);
  const { lines } = await exportOf(room.owner, async (read) => {
    await read();
    const late = await say(room.bob, room.space, "too late for this one");
    await send(room.bob, "message.edit", { message_id: late.message_id, text: "even later" });
    await newPerson(room.owner, "Cara", "member", [room.space]);
    await send(room.owner, "space.rename", { space_id: room.space, title: "Lounge" });
  });
  const head = lines[0].head_seq;
  const facts: Any[] = lines.filter((l) => l.type === "fact");
  expect(facts).toHaveLength(head);
  expect(JSON.stringify(lines)).not.toContain("too late");
  expect(lines.some((l) => l.type === "participant" && l.name === "Cara")).toBe(false);
  expect(lines.find((l) => l.type === "space")).toMatchObject({ title: "Lobby" });
});
