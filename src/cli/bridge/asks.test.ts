import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BullpenError } from "../../sdk/errors.ts";
import { askBridge } from "./ask-client.ts";
import { type Ask, AskDesk, type Decided } from "./asks.ts";

let desk: AskDesk;
beforeEach(async () => {
  desk = await AskDesk.open();
});
afterEach(() => desk.close());

/** A turn whose asks wait until the test decides. */
function admit() {
  const asked = Promise.withResolvers<{ ask: Ask; signal: AbortSignal }>();
  const decision = Promise.withResolvers<Decided>();
  decision.promise.catch(() => {});
  const admission = desk.admit((ask, signal) => {
    asked.resolve({ ask, signal });
    return decision.promise;
  });
  return { ...admission, asked: asked.promise, decide: decision.resolve, refuse: decision.reject };
}

describe("BRIDGE-1 approvals asked from inside a turn", () => {
  test("BRIDGE-1 it waits until it is decided, and is told the input as it was allowed", async () => {
    const turn = admit();
    const answer = askBridge({ action: { kind: "email.send", input: { to: "bob" } } }, turn.env);
    expect((await turn.asked).ask).toEqual({
      action: { kind: "email.send", input: { to: "bob" } },
      risk: [],
      expires_in: 86_400,
    });
    turn.decide({ decision: "allow", via: "person", input: { to: "ann" } });
    expect(await answer).toEqual({ decision: "allow", via: "person", input: { to: "ann" } });
  });

  test("BRIDGE-1 a program that is killed while it waits takes its ask back", async () => {
    const turn = admit();
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${turn.env.BULLPEN_ASK_TOKEN}` };
    const body = JSON.stringify({ action: { kind: "x" } });
    const answer = fetch(turn.env.BULLPEN_ASK_URL, { method: "POST", headers, body, signal: gone.signal });
    const failed = answer.catch((error: Error) => error.name);
    const { signal } = await turn.asked;
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    gone.abort();
    await aborted;
    expect(await failed).toBe("AbortError");
  });

  test("BRIDGE-1 only with the turn's own secret, and only while the turn goes on", async () => {
    const turn = admit();
    const other = { ...turn.env, BULLPEN_ASK_TOKEN: "guess" };
    await expect(askBridge({ action: { kind: "x" } }, other)).rejects.toMatchObject({ exitCode: 4 });
    turn.close();
    await expect(askBridge({ action: { kind: "x" } }, turn.env)).rejects.toThrow("No turn that is going");
    await expect(askBridge({ action: { kind: "x" } }, {})).rejects.toMatchObject({ exitCode: 2 });
  });

  test("BRIDGE-1 a page in a browser cannot ask, whatever it sends", async () => {
    const { env } = admit();
    const headers = { authorization: `Bearer ${env.BULLPEN_ASK_TOKEN}`, origin: "https://evil.example" };
    const answer = await fetch(env.BULLPEN_ASK_URL, { method: "POST", headers, body: "{}" });
    expect(answer.status).toBe(403);
  });

  test("BRIDGE-1 an ask that is wrong is told so, and a refusal of the room passed on", async () => {
    const turn = admit();
    await expect(askBridge({}, turn.env)).rejects.toMatchObject({ exitCode: 2 });
    const large = { action: { kind: "x", input: "x".repeat(300_000) } };
    await expect(askBridge(large, turn.env)).rejects.toMatchObject({ exitCode: 2 });
    turn.refuse(new BullpenError("gone", "Nobody decides this any more."));
    await expect(askBridge({ action: { kind: "x" } }, turn.env)).rejects.toThrow(
      "Nobody decides this any more. (gone)",
    );
  });

  test("BRIDGE-1 the bridge's own end is a no", async () => {
    const turn = admit();
    const answer = askBridge({ action: { kind: "x" } }, turn.env);
    await turn.asked;
    const failed = answer.catch((error: unknown) => error);
    desk.close();
    expect(await failed).toMatchObject({ exitCode: 4 });
  });
});
