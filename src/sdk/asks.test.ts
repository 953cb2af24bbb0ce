import { describe, expect, test } from "vitest";
import { ADA, fakeFetch, idOf, SCOUT, type Sent, SPACE_2, settle } from "../../test/sdk/fakes.ts";
import { held, setUp } from "../../test/sdk/harness-kit.ts";
import { type Decision, readToken } from "./asks.ts";
import type { HarnessOptions } from "./harness.ts";
import type { Turn } from "./turn.ts";

const NONE: Partial<Sent> = {};
const mail = { kind: "email.send", input: { to: "dana@example.com" } };
const ask = { action: mail, question: "Send it?", expires_in: 3600 };

/** A harness with one turn going. */
async function going(options: Partial<HarnessOptions> = {}) {
  const { turns, onTurn, end } = held();
  const kit = setUp({ onTurn, ...options });
  const harness = kit.connect();
  await settle();
  kit.server.say("send it");
  await settle();
  const asked = (n = 0) => kit.server.writes.filter((frame) => frame.type === "approval.request")[n];
  /** The server's word that a person decided. */
  const decide = (fields: Record<string, unknown> = {}, options: { away?: boolean } = {}) => {
    const { approval_id, run_id, resume_token } = asked() ?? NONE;
    const base = { approval_id, run_id, resume_token, decision: "allow", via: "person", by: ADA };
    return kit.server.append(
      { type: "approval.decided", version: 0, ...base, input: mail.input, ...fields },
      options,
    );
  };
  return { ...kit, harness, turns, turn: turns[0] as Turn, end, asked, decide };
}

describe("APR-6: turn.approve", () => {
  test("APR-1: it asks in the run, as the agent, with a token that names run, agent and message", async () => {
    const { turn, asked } = await going();
    void turn.approve({ ...ask, state: "draft 3" });
    await settle();
    expect(asked()).toMatchObject({
      run_id: turn.runId,
      actor: { kind: "agent", id: SCOUT },
      approval_id: expect.stringMatching(/^apr_/),
      action: mail,
      risk: [],
      expires_in: 3600,
    });
    expect(readToken(asked()?.["resume_token"] as string)).toEqual({
      run_id: turn.runId,
      agent_id: SCOUT,
      message_id: turn.message.message_id,
      state: "draft 3",
    });
    expect(asked()).not.toHaveProperty("state");
  });

  test("APR-6: it resolves with the decision and the input as allowed, by whom and how", async () => {
    const { turn, asked, decide } = await going();
    const decision = turn.approve(ask);
    await settle();
    decide({ input: { to: "dan@example.com" }, edited: true });
    await expect(decision).resolves.toEqual({
      approvalId: asked()?.["approval_id"],
      decision: "allow",
      allowed: true,
      input: { to: "dan@example.com" },
      edited: true,
      via: "person",
      by: ADA,
    });
  });

  test("APR-6: a decision made while the connection was gone arrives on the next one", async () => {
    const { server, clock, turn, decide } = await going();
    const decision = turn.approve(ask);
    await settle();
    server.socket.drop();
    decide({ decision: "deny" }, { away: true });
    await clock.advance(60_000);
    await expect(decision).resolves.toMatchObject({ allowed: false, decision: "deny" });
    expect(server.sockets).toHaveLength(2);
    expect(server.writes.filter((frame) => frame.type === "approval.request")).toHaveLength(1);
  });

  test("APR-6: an expiry is a decision, by the fallback", async () => {
    const { turn, decide } = await going();
    const decision = turn.approve(ask);
    await settle();
    decide({ decision: "deny", via: "expiry", by: undefined });
    const expired: Decision = await decision;
    expect(expired).toMatchObject({ allowed: false, via: "expiry" });
    expect(expired).not.toHaveProperty("by");
  });

  test("APR-7: what policy or a grant decides at once it has with the receipt, and its event is no news", async () => {
    const resumed: unknown[] = [];
    const { server, clock, turn, decide } = await going({
      resume: (decision) => void resumed.push(decision),
    });
    const approval = { state: "allowed", decision: "allow", via: "grant", grant_id: idOf("grt", 1) };
    server.receiptOf = (frame) => (frame.type === "approval.request" ? { approval } : {});
    await expect(turn.approve(ask)).resolves.toMatchObject({
      allowed: true,
      via: "grant",
      grantId: idOf("grt", 1),
      input: mail.input,
    });
    decide({ via: "grant", by: undefined });
    await clock.advance(300);
    expect(resumed).toEqual([]);
    expect(server.cursor).toBe(server.seq);
  });

  test("CONN-4: a decision is acknowledged only once the turn has it", async () => {
    const { server, clock, turn, decide } = await going();
    const decision = turn.approve(ask);
    await settle();
    await clock.advance(300);
    const before = server.cursor;
    const { seq } = decide();
    expect(before).toBeLessThan(seq as number);
    await decision;
    await clock.advance(300);
    expect(server.cursor).toBe(seq);
  });

  test("APR-6: two asks at once are two decisions, in whatever order", async () => {
    const { turn, asked, decide } = await going();
    const first = turn.approve(ask);
    const second = turn.approve({ ...ask, action: { kind: "payment.send" }, risk: ["financial"] });
    await settle();
    decide({ approval_id: asked(1)?.["approval_id"], decision: "deny" });
    await expect(second).resolves.toMatchObject({ allowed: false });
    decide();
    await expect(first).resolves.toMatchObject({ allowed: true });
  });

  test("APR-1: the same id again is the same ask, here and on the server", async () => {
    const approval_id = idOf("apr", 7);
    const approvals = () =>
      Response.json({
        items: [
          {
            approval_id,
            decided: { decision: "allow", via: "person", by: ADA, input: { to: "x" }, edited: true },
          },
        ],
      });
    const { fetch } = fakeFetch({ "GET /v1/approvals": approvals });
    const { server, turn } = await going({ fetch });
    const one = turn.approve({ ...ask, approval_id });
    const same = turn.approve({ ...ask, approval_id });
    await settle();
    expect(server.writes.filter((frame) => frame.type === "approval.request")).toHaveLength(1);
    const type = "approval.decided";
    server.append({ type, approval_id, decision: "allow", via: "person", version: 0, run_id: turn.runId });
    expect(await same).toBe(await one);
    // Asked again later it is answered without being written; what was allowed is looked up.
    server.receiptOf = () => ({ seq: undefined, approval: { state: "allowed", decision: "allow" } });
    await expect(turn.approve({ ...ask, approval_id })).resolves.toMatchObject({ input: { to: "x" } });
  });

  test("CONN-4: after a reset it asks the server how its asks stand", async () => {
    const { server, clock, turn, asked } = await going();
    const decision = turn.approve(ask);
    const answer = turn.ask("Which?", { options: ["a", "b"] });
    await settle();
    server.socket.drop();
    server.resume = "reset";
    server.receiptOf = (frame) =>
      frame.type === "question.ask"
        ? { seq: undefined, question: { state: "answered", by: ADA, text: "b" } }
        : { approval: { state: "denied", decision: "deny", via: "policy" } };
    await clock.advance(60_000);
    await expect(decision).resolves.toMatchObject({ allowed: false });
    await expect(answer).resolves.toMatchObject({ by: ADA, text: "b", option: 1 });
    expect(asked(1)?.["approval_id"]).toBe(asked()?.["approval_id"]);
  });

  test("APR-2: what the server refuses to ask rejects with its refusal", async () => {
    const { server, turn } = await going();
    server.onWrite = (frame) => (frame.type === "approval.request" ? { code: "invalid" } : undefined);
    await expect(turn.approve({ ...ask, approvers: ["role:nobody"] })).rejects.toMatchObject({
      code: "invalid",
    });
  });
});

describe("TURN-4, APR-9: asks that nobody decides any more", () => {
  test("TURN-4: a stop during an ask rejects it and aborts the turn, which ends stopped", async () => {
    const asking = Promise.withResolvers<unknown>();
    const { server, connect, errors, types } = setUp({
      onTurn: async (turn) => {
        await turn.approve(ask).catch((error: unknown) => {
          asking.resolve(error);
          throw error;
        });
      },
    });
    connect();
    await settle();
    server.say("go");
    await settle();
    const { run_id, approval_id } = server.writes.at(-1) ?? NONE;
    server.append({ type: "run.stop", run_id, agent_id: SCOUT });
    server.append({ type: "approval.cancelled", run_id, approval_id, reason: "run_stopped" });
    await expect(asking.promise).resolves.toMatchObject({
      code: "gone",
      message: "Nobody decides this any more: the run was stopped.",
    });
    await settle();
    expect(types()).toEqual(["run.start", "approval.request", "run.end"]);
    expect(server.writes.at(-1)).toMatchObject({ outcome: "stopped" });
    expect(errors).toEqual([]);
  });

  test("APR-9: when the room has ended the run its asks reject, and so do later ones", async () => {
    const { server, turn, asked } = await going();
    const decision = turn.approve(ask);
    await settle();
    const { approval_id } = asked() ?? NONE;
    server.append({ type: "approval.cancelled", run_id: turn.runId, approval_id, reason: "run_ended" });
    await expect(decision).rejects.toMatchObject({ code: "gone" });
    expect(turn.signal.aborted).toBe(true);
    await expect(turn.ask("And this?")).rejects.toMatchObject({ code: "gone" });
  });

  test("APR-9: an ask that is taken back alone rejects alone", async () => {
    const { server, turn, asked } = await going();
    const decision = turn.approve(ask);
    await settle();
    const { approval_id } = asked() ?? NONE;
    server.append({ type: "approval.cancelled", run_id: turn.runId, approval_id, reason: "harness" });
    await expect(decision).rejects.toMatchObject({ code: "gone" });
    expect(turn.signal.aborted).toBe(false);
  });
});

describe("ASK-1: turn.ask", () => {
  test("ASK-1: it resolves with the answer, who gave it, and which option it is", async () => {
    const { server, turn } = await going();
    const answer = turn.ask("Which one?", { options: ["red", "blue"], to: [ADA] });
    await settle();
    const sent = server.writes.at(-1);
    expect(sent).toMatchObject({
      type: "question.ask",
      text: "Which one?",
      options: ["red", "blue"],
      to: [ADA],
    });
    const { question_id, run_id } = sent ?? NONE;
    server.append({ type: "question.answered", question_id, run_id, by: ADA, text: "blue", option: 1 });
    await expect(answer).resolves.toEqual({ questionId: question_id, text: "blue", option: 1, by: ADA });
  });

  test("TURN-6: a turn that waits for people holds up no other space", async () => {
    const { server, turns, turn } = await going();
    void turn.ask("Which one?");
    server.say("again here");
    server.say("elsewhere", { space_id: SPACE_2 });
    await settle();
    expect(turns.map(({ message }) => message.text)).toEqual(["send it", "elsewhere"]);
  });
});

describe("TURN-4: pausing", () => {
  test("TURN-4: pause and resume are told, and can be waited for", async () => {
    const { server, turn } = await going({ can: ["pause"] });
    expect(server.socket.of("hello")[0]?.["can"]).toContain("pause");
    const told: boolean[] = [];
    turn.onPause = (paused) => told.push(paused);
    await turn.whenRunning();
    server.append({ type: "run.pause", run_id: turn.runId, agent_id: SCOUT });
    expect(turn.paused).toBe(true);
    let went = false;
    const running = turn.whenRunning().then(() => (went = true));
    await settle();
    expect(went).toBe(false);
    server.append({ type: "run.resume", run_id: turn.runId, agent_id: SCOUT });
    await running;
    expect(turn.paused).toBe(false);
    expect(told).toEqual([true, false]);
  });

  test("TURN-4: a harness that does not say it can is not said to; a stop ends the waiting", async () => {
    const { server, turn } = await going();
    expect(server.socket.of("hello")[0]?.["can"]).toEqual(["batch"]);
    server.append({ type: "run.pause", run_id: turn.runId, agent_id: SCOUT });
    const running = turn.whenRunning();
    server.append({ type: "run.stop", run_id: turn.runId, agent_id: SCOUT });
    await expect(running).rejects.toThrow("the run was stopped");
  });
});
