import { describe, expect, test } from "vitest";
import { ADA, fakeFetch, idOf, SCOUT, type Sent, SPACE, settle } from "../../test/sdk/fakes.ts";
import { setUp } from "../../test/sdk/harness-kit.ts";
import type { Answer, Decision } from "./asks.ts";
import type { HarnessOptions } from "./harness.ts";
import type { ResumedTurn } from "./resume.ts";

const NONE: Partial<Sent> = {};
const ask = { action: { kind: "email.send", input: { to: "dana" } }, expires_in: 3600 };

/** What the server says of the runs, and of the asks that are open. */
function serverSays() {
  const runs: Record<string, unknown>[] = [];
  const pending: Record<string, unknown>[] = [];
  let down = 0;
  const { fetch, calls } = fakeFetch({
    [`GET /v1/spaces/${SPACE}/runs`]: () =>
      down-- > 0 ? new Response("", { status: 503 }) : Response.json({ items: runs }),
    "GET /v1/approvals": () => Response.json({ items: pending }),
  });
  return { runs, pending, fetch, calls, failFor: (times: number) => (down = times) };
}

/** A harness whose process died while it asked; `connect` is its next life. */
async function died(options: Partial<HarnessOptions> = {}) {
  const says = serverSays();
  const kit = setUp({ fetch: says.fetch, ...options });
  const first = kit.connect({
    onTurn: async (turn) => {
      await Promise.all([turn.approve({ ...ask, state: "draft" }), turn.ask("Which?")]);
    },
  });
  await settle();
  const said = kit.server.say("send it");
  await settle();
  await kit.clock.advance(300);
  const request = kit.server.writes.find((frame) => frame.type === "approval.request");
  const question = kit.server.writes.find((frame) => frame.type === "question.ask");
  const { run_id, approval_id, resume_token } = request ?? NONE;
  const run = { run_id, agent_id: SCOUT, message_ids: [said["message_id"]], state: "waiting" };
  says.runs.push(run);
  // As a crash does: nothing is said any more.
  kit.server.socket.drop(4409);
  await first.closed;
  await settle();
  kit.errors.length = 0;
  const decide = (fields: Record<string, unknown> = {}, options: { away?: boolean } = {}) => {
    const base = { approval_id, run_id, resume_token, decision: "allow", via: "person", by: ADA };
    const input = ask.action.input;
    return kit.server.append({ type: "approval.decided", version: 0, ...base, input, ...fields }, options);
  };
  const after = kit.server.writes.length;
  const since = () => kit.server.writes.slice(after);
  return { ...kit, says, run, said, question, decide, since };
}

describe("APR-6: a decision for a process that is gone", () => {
  test("APR-6: the next process is given it with the open run, says the rest and ends it; then it is acknowledged", async () => {
    const given: [Decision, ResumedTurn][] = [];
    const going = Promise.withResolvers<string>();
    const { server, clock, connect, decide, since, run, said } = await died({
      resume: (decision, turn) => {
        given.push([decision, turn]);
        return going.promise;
      },
    });
    const { seq } = decide({}, { away: true });
    connect();
    await settle();
    await clock.advance(300);
    const [[decision, turn] = []] = given;
    expect(decision).toMatchObject({ allowed: true, by: ADA, input: { to: "dana" } });
    expect(turn).toMatchObject({
      runId: run.run_id,
      agent: { id: SCOUT, name: "Scout" },
      spaceId: SPACE,
      approvalId: decision?.approvalId,
      messageId: said["message_id"],
      state: "draft",
    });
    expect(server.cursor).toBe((seq as number) - 1);
    await turn?.step("sending");
    going.resolve("Sent.");
    await settle();
    await clock.advance(300);
    expect(since().map(({ type, text, outcome }) => [type, text ?? outcome])).toEqual([
      ["run.step", "sending"],
      ["message.post", "Sent."],
      ["run.start", undefined],
      ["run.end", "done"],
    ]);
    expect(since()[1]).toMatchObject({ reply_to: said["message_id"], run_id: run.run_id });
    expect(server.cursor).toBeGreaterThanOrEqual(seq as number);
  });

  test("APR-6: a process that dies over it is not the last to be given it", async () => {
    let times = 0;
    const { server, clock, connect, decide, since } = await died({
      resume: (_, turn) => {
        times += 1;
        return new Promise((_resolve, reject) =>
          turn.signal.addEventListener("abort", () => reject(turn.signal.reason)),
        );
      },
    });
    const { seq } = decide({}, { away: true });
    const second = connect();
    await settle();
    await second.close();
    expect(server.cursor).toBeLessThan(seq as number);
    connect();
    await settle();
    await clock.advance(300);
    expect(times).toBe(2);
    expect(since()).toEqual([]);
  });

  test("APR-6: an ask that is open on another of the run's asks keeps the run open", async () => {
    const { connect, decide, since, says, run, errors } = await died({
      resume: ({ approvalId }) => approvalId,
    });
    says.pending.push({ approval_id: idOf("apr", 2), run_id: run.run_id });
    connect();
    await settle();
    decide();
    await settle();
    expect(since().map(({ type }) => type)).toEqual(["message.post"]);
    says.pending.pop();
    decide({ approval_id: idOf("apr", 2) });
    await settle();
    expect(since().map(({ type }) => type)).toEqual(["message.post", "message.post", "run.start", "run.end"]);
    expect(errors).toEqual([]);
  });

  test("TURN-6: it waits for the turn that its agent has going in the space, and holds up the next", async () => {
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const hold = () => new Promise<void>((resolve) => ends.push(resolve));
    const { server, connect, decide } = await died({
      resume: () => {
        order.push("resume");
        return hold();
      },
    });
    connect({
      onTurn: ({ message }) => {
        order.push(message.text);
        return hold();
      },
    });
    await settle();
    server.say("one");
    await settle();
    decide();
    server.say("two");
    await settle();
    expect(order).toEqual(["one"]);
    ends[0]?.();
    await settle();
    expect(order).toEqual(["one", "resume"]);
    ends[1]?.();
    await settle();
    expect(order).toEqual(["one", "resume", "two"]);
  });

  test("TURN-4: a run that goes on can be stopped and paused", async () => {
    const turns: ResumedTurn[] = [];
    const { server, connect, decide, since, run } = await died({
      can: ["pause"],
      resume: (_, turn) => {
        turns.push(turn);
        return new Promise((resolve) => turn.signal.addEventListener("abort", () => resolve("late")));
      },
    });
    run.state = "paused";
    connect();
    await settle();
    const { seq } = decide();
    await settle();
    expect(turns[0]?.paused).toBe(true);
    server.append({ type: "run.resume", run_id: run.run_id, agent_id: SCOUT });
    expect(turns[0]?.paused).toBe(false);
    server.append({ type: "run.stop", run_id: run.run_id, agent_id: SCOUT });
    await settle();
    expect(since().map(({ type, outcome }) => [type, outcome])).toEqual([["run.end", "stopped"]]);
    expect(seq).toBeDefined();
  });

  test("TURN-5: a run that is over by now, or that the harness may not see, needs nobody; a passing fault is tried again", async () => {
    const given: Decision[] = [];
    const { server, clock, connect, decide, says, since, run } = await died({
      resume: (decision) => void given.push(decision),
    });
    run.state = "ended";
    const { seq } = decide({}, { away: true });
    says.failFor(2);
    connect();
    await clock.advance(10_000);
    expect(given).toEqual([]);
    expect(since()).toEqual([]);
    expect(server.cursor).toBe(seq);
    expect(says.calls.filter(({ url }) => url.includes("/runs"))).toHaveLength(3);
  });

  test("APR-6: without a handler, and when it throws, the run ends failed and the error is told", async () => {
    const { connect, decide, since, errors } = await died();
    connect();
    await settle();
    decide();
    await settle();
    expect(since().at(-1)).toMatchObject({ type: "run.end", outcome: "failed" });
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("no `resume`")]);
  });

  test("APR-10: a decision of an ask that no turn made is nobody's to resume", async () => {
    const given: Decision[] = [];
    const { server, clock, connect, decide } = await died({
      resume: (decision) => void given.push(decision),
    });
    connect();
    await settle();
    decide({ resume_token: "my own" });
    const { seq } = decide({ resume_token: undefined });
    await clock.advance(300);
    expect(given).toEqual([]);
    expect(server.cursor).toBe(seq);
  });

  test("ASK-1: an answer for a process that is gone goes to resumeAnswer", async () => {
    const given: [Answer, ResumedTurn][] = [];
    const { server, connect, since, question, run } = await died({
      resumeAnswer: (answer, turn) => {
        given.push([answer, turn]);
        return "Thanks.";
      },
    });
    const { question_id } = question ?? NONE;
    server.append(
      { type: "question.answered", question_id, run_id: run.run_id, by: ADA, text: "this" },
      { away: true },
    );
    connect();
    await settle();
    expect(given).toMatchObject([
      [
        { text: "this", by: ADA },
        { runId: run.run_id, agent: { id: SCOUT } },
      ],
    ]);
    expect(since().map(({ type }) => type)).toEqual(["message.post", "run.start", "run.end"]);
  });
});

/** A harness that is closed while its turn asks. */
async function closing(options: Partial<HarnessOptions>) {
  const { server, connect, errors, types } = setUp({
    ...options,
    onTurn: async (turn) => {
      await turn.approve(ask);
      return "done";
    },
  });
  const harness = connect();
  await settle();
  server.say("go");
  await settle();
  await harness.close();
  return { types: types(), errors };
}

describe("APR-6: a harness that closes in good order", () => {
  test("APR-6: a run that waits for a decision stays open where the next process can resume it", async () => {
    const { types, errors } = await closing({ resume: () => {} });
    expect(types).toEqual(["run.start", "approval.request"]);
    expect(errors).toEqual([]);
  });

  test("APR-9: without `resume` it ends stopped, which takes the ask back", async () => {
    const { types } = await closing({});
    expect(types).toEqual(["run.start", "approval.request", "run.end"]);
  });
});
