import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFirstFrame } from "./agent-hello.ts";

const payload = { person: "scout", token: "bp_x", protocolVersion: 3, agentVersion: "1.0" };
const read = (frame: unknown) => readFirstFrame(JSON.stringify(frame));

describe("the first frame of an agent's socket", () => {
  it("OFF-2: a whole hello is read, whatever version it speaks", () => {
    expect(read({ id: "h1", type: "hello", payload })).toEqual({ ok: true, id: "h1", hello: payload });
    const next = { ...payload, protocolVersion: 4 };
    expect(read({ id: "h1", type: "hello", payload: next })).toEqual({ ok: true, id: "h1", hello: next });
  });

  it("OFF-2: another type is told to say hello, by its id", () => {
    const answer = read({ id: "a1", type: "accept", payload: {} });
    expect(answer).toMatchObject({
      ok: false,
      replyTo: "a1",
      message: expect.stringMatching(/^The first frame/),
    });
  });

  it("OFF-2: a hello with a fault names it", () => {
    const { token: _left, ...rest } = payload;
    expect(read({ id: "h1", type: "hello", payload: rest })).toMatchObject({
      ok: false,
      replyTo: "h1",
      message: expect.stringMatching(/^payload\.token: /),
    });
  });

  it("OFF-1: bytes, nonsense, too much, and an id that is none have no replyTo", () => {
    const long = JSON.stringify({
      id: "h1",
      type: "hello",
      payload: { ...payload, token: "x".repeat(2 ** 20) },
    });
    for (const data of [new ArrayBuffer(4), "{", "", "null", "[]", '"hello"', long])
      expect(readFirstFrame(data)).toMatchObject({ ok: false, message: expect.any(String) });
    expect(readFirstFrame(long)).not.toHaveProperty("replyTo");
    for (const id of [7, "", "x".repeat(201), null, {}])
      expect(read({ id, type: "ping", payload: {} })).not.toHaveProperty("replyTo");
  });

  it("OFF-2: no frame makes it throw, and none but a hello is taken", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(readFirstFrame(text).ok).toBe(false);
      }),
    );
  });
});
