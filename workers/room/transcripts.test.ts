/** Voice notes as text: waited for, late, and not at all (ATT-7). */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import app from "../gateway/index.ts";
import {
  type Any,
  call,
  connect,
  newHarness,
  newId,
  newPerson,
  newSpace,
  newWorkspace,
  ORIGIN,
  type Party,
  roomStub,
  say,
  send,
} from "../testing/client.ts";
import { declare, eventsOf, read, replay, settled, sql } from "../testing/room.ts";
import { sample } from "../testing/samples.ts";

/** An answer of the model, as it was recorded. */
const HEARD = {
  transcription_info: { language: "en", language_probability: 0.99, duration: 0.4, duration_after_vad: 0.4 },
  text: " Please look at the numbers.",
  word_count: 5,
  segments: [{ start: 0, end: 0.4, text: " Please look at the numbers.", temperature: 0, avg_logprob: -0.2 }],
  vtt: "WEBVTT\n\n00:00.000 --> 00:00.400\nPlease look at the numbers.\n",
};

/** The Worker with a transcriber bound to it, which answers when it is told to. */
function withTranscriber(answer: () => Promise<unknown>) {
  const asked: { model: string; audio: string }[] = [];
  const AI = {
    async run(model: string, { audio }: { audio: string }) {
      asked.push({ model, audio });
      return answer();
    },
  };
  return {
    asked,
    async upload(by: Party, content: BodyInit, query = "") {
      const ctx = createExecutionContext();
      const request = new Request(`${ORIGIN}/v1/attachments?filename=note.webm${query}`, {
        method: "POST",
        headers: { authorization: `Bearer ${by.token}` },
        body: content,
      });
      const response = await app.fetch(request, { ...env, AI }, ctx);
      const body: Any = await response.json();
      return { status: response.status, body, settled: () => waitOnExecutionContext(ctx) };
    },
  };
}

describe("transcripts", () => {
  test("ATT-7 a voice note that is waited for comes back with its transcript, and is posted with it", async () => {
    const { owner } = await newWorkspace();
    const harness = await newHarness(owner, "Scouts");
    const [agent] = await declare(harness, "Scout");
    const space = await newSpace(owner, "Lobby", [agent!]);
    const socket = await connect(harness);
    const worker = withTranscriber(async () => HEARD);
    const { status, body, settled: done } = await worker.upload(owner, sample("note.webm"), "&wait=8");
    expect(status).toBe(201);
    expect(body).toMatchObject({
      mime_type: "audio/webm",
      duration_ms: 408,
      transcript: "Please look at the numbers.",
    });
    const [asked] = worker.asked;
    expect(asked?.model).toBe("@cf/openai/whisper-large-v3-turbo");
    expect(Uint8Array.from(atob(asked?.audio ?? ""), (c) => c.charCodeAt(0))).toEqual(sample("note.webm"));
    await done();
    await say(owner, space, "@Scout", { attachments: [{ attachment_id: body.attachment_id }] });
    const turn = await socket.next((f) => f.type === "message.new");
    expect(turn.attachments).toMatchObject([{ transcript: "Please look at the numbers." }]);
  });

  test("ATT-7 one that comes later follows as file.transcribed: no turn, not edited", async () => {
    const { id, owner } = await newWorkspace();
    const harness = await newHarness(owner, "Scouts");
    const [agent] = await declare(harness, "Scout");
    const bob = await newPerson(owner, "Bob");
    const cleo = await newPerson(owner, "Cleo");
    const space = await newSpace(owner, "Lobby", [agent!, bob.id]);
    const other = await newSpace(owner, "Other", [cleo.id]);
    const { promise, resolve: answer } = Promise.withResolvers<unknown>();
    const worker = withTranscriber(async () => promise);
    const note = await worker.upload(owner, sample("note.ogg"));
    expect(note.body).not.toHaveProperty("transcript");
    const attachments = [{ attachment_id: note.body.attachment_id }];
    const { message_id } = await say(owner, space, "@Scout", { attachments });
    const elsewhere = await say(owner, other, "", { attachments });
    const sockets = { harness: await connect(harness), bob: await connect(bob), cleo: await connect(cleo) };
    answer(HEARD);
    await note.settled();

    const fact = {
      type: "file.transcribed",
      actor: { kind: "system", id: "system" },
      space_id: space,
      message_id,
      attachment_id: note.body.attachment_id,
      transcript: "Please look at the numbers.",
    };
    expect(await sockets.bob.next((f) => f.type === "file.transcribed")).toMatchObject(fact);
    expect(await sockets.harness.next((f) => f.type === "file.transcribed")).toMatchObject(fact);
    const seen = await sockets.cleo.next((f) => f.type === "file.transcribed");
    expect(seen).toMatchObject({ space_id: other, message_id: elsewhere.message_id });
    for (const socket of Object.values(sockets)) {
      const frames = eventsOf(await settled(socket));
      expect(frames.filter((f) => f.type === "file.transcribed")).toHaveLength(1);
    }
    expect(eventsOf(sockets.harness.frames).filter((f) => f.type === "message.new")).toHaveLength(1);
    const posted = (await replay(bob)).find((f) => f.message_id === message_id);
    expect(posted).not.toHaveProperty("edited_at");
    expect(posted.attachments).toMatchObject([{ transcript: fact.transcript }]);
    const { context } = await read(bob, `/v1/spaces/${space}/context`);
    expect(context.lines.at(-1)).toMatchObject({ message_id, transcript: fact.transcript });

    // The log names the file; the words stand beside it and go with the message (LOG-4).
    const logged = await sql(id, "SELECT body FROM log WHERE type = 'file.transcribed'");
    expect(JSON.stringify(logged)).not.toContain("numbers");
    await send(owner, "message.delete", { message_id });
    const again = (await replay(bob)).find((f) => f.type === "file.transcribed");
    expect(again.transcript).toBe("");
    expect((await replay(cleo)).find((f) => f.type === "file.transcribed").transcript).toBe(fact.transcript);
  });

  test("ATT-7 the answer is held no longer than the caller will wait", async () => {
    const { owner } = await newWorkspace();
    const { promise, resolve: answer } = Promise.withResolvers<unknown>();
    const worker = withTranscriber(async () => promise);
    const before = Date.now();
    const { body, settled: done } = await worker.upload(owner, sample("note.ogg"), "&wait=0.2");
    expect(Date.now() - before).toBeLessThan(5000);
    expect(body).not.toHaveProperty("transcript");
    answer(HEARD);
    await done();
    for (const wait of ["9", "-1", "x"]) {
      const refused = await worker.upload(owner, sample("note.ogg"), `&wait=${wait}`);
      expect([refused.status, refused.body.code]).toEqual([422, "invalid"]);
    }
  });

  test("ATT-7 the same note again has its transcript without asking anew", async () => {
    const { owner } = await newWorkspace();
    const answers: ((heard: unknown) => void)[] = [];
    const worker = withTranscriber(() => new Promise((resolve) => answers.push(resolve)));
    const first = await worker.upload(owner, sample("note.mp3"));
    const second = await worker.upload(owner, sample("note.mp3"));
    await vi.waitUntil(() => answers.length === 2);
    answers[0]?.(HEARD);
    await first.settled();
    const third = await worker.upload(owner, sample("note.mp3"));
    expect(third.body.transcript).toBe("Please look at the numbers.");
    expect(worker.asked).toHaveLength(2);
    // What is heard a second time changes nothing.
    answers[1]?.({ ...HEARD, text: "something else" });
    await second.settled();
    const fourth = await worker.upload(owner, sample("note.mp3"));
    expect(fourth.body.transcript).toBe("Please look at the numbers.");
  });

  test.each<[string, () => Promise<unknown>]>([
    ["fails", async () => Promise.reject(new Error("capacity"))],
    ["hears nothing", async () => ({ ...HEARD, text: "  " })],
    ["answers without text", async () => ({ word_count: 0 })],
    ["answers null", async () => null],
    ["answers a number", async () => ({ text: 7 })],
  ])("ATT-7 a transcriber that %s leaves the note as it is", async (_, answer) => {
    const { owner } = await newWorkspace();
    const {
      status,
      body,
      settled: done,
    } = await withTranscriber(answer).upload(owner, sample("note.ogg"), "&wait=8");
    expect(status).toBe(201);
    expect(body).not.toHaveProperty("transcript");
    await done();
  });

  test("ATT-7 a transcript is text, and no longer than a message", async () => {
    const { owner } = await newWorkspace();
    const text = `half\ud800 a pair\0${"word ".repeat(10_000)}`;
    const worker = withTranscriber(async () => ({ text }));
    const { body } = await worker.upload(owner, sample("note.ogg"), "&wait=8");
    expect(body.transcript).toMatch(/^half\ufffd a pairword .*…$/);
    expect(body.transcript.length).toBeLessThanOrEqual(16 * 1024 + 1);
  });

  test("ATT-7 nothing but audio is listened to, and nothing without a transcriber", async () => {
    const { owner } = await newWorkspace();
    const worker = withTranscriber(async () => HEARD);
    for (const content of [sample("film.mp4"), sample("image.png"), "words"])
      await worker.upload(owner, content);
    expect(worker.asked).toEqual([]);
    const plain = await call("POST", "/v1/attachments?filename=a.ogg&wait=8", {
      token: owner.token,
      raw: sample("note.ogg"),
    });
    expect(plain.body).not.toHaveProperty("transcript");
  });

  test("ATT-7 a transcript of a file that is gone meanwhile is dropped", async () => {
    const { id } = await newWorkspace();
    expect(await roomStub(id).transcribed(newId("att"), "words")).toEqual({ ok: true, value: null });
    expect(await sql(id, "SELECT count(*) AS n FROM log WHERE type = 'file.transcribed'")).toEqual([
      { n: 0 },
    ]);
  });
});
