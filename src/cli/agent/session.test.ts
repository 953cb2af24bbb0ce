import { expect, it } from "vitest";
import { AGENT_MESSAGES } from "../../shared/wire/agent/index.ts";
import { SessionReader } from "./session.ts";

/** What a stream tells, and whether the office's schema takes it. */
function read(...events: (object | string)[]) {
  const sessions: [string, string | undefined][] = [];
  const used: { session: string; models: object }[] = [];
  const reader = new SessionReader(
    {
      session: (id, model) => void sessions.push([id, model]),
      used: (session, models) => void used.push({ session, models }),
    },
    "m-1",
  );
  for (const event of events)
    reader.push(Buffer.from(`${typeof event === "string" ? event : JSON.stringify(event)}\n`));
  reader.end();
  const fail = { workItemId: "itm_1", reason: "x", usage: used };
  expect(AGENT_MESSAGES.fail.shape.payload.safeParse(fail).success).toBe(true);
  return { sessions, used };
}
const result = (session_id: string, modelUsage: object) => ({ type: "result", session_id, modelUsage });

it("USE-1: counts that are none are nothing, and what is beyond counting is cut: an item is not lost by them", () => {
  const { used } = read(
    '{"type":"result","session_id":"s","modelUsage":{"m":{"inputTokens":1e300,"outputTokens":1.5,"costUSD":1e999}}}',
    result("s", { m: { inputTokens: -1, outputTokens: "7", cacheReadInputTokens: null, costUSD: -2 } }),
  );
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 };
  expect(used.map(({ models }) => models)).toEqual([
    { m: { ...none, inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 2 } },
    { m: none },
  ]);
});

it("USE-1: a session or a model whose name the office does not take is not told", () => {
  const [long, model] = ["s".repeat(501), "m".repeat(201)];
  const { sessions, used } = read(
    { type: "system", subtype: "init", session_id: long, model: "m" },
    result(long, { m: {} }),
    { type: "system", subtype: "init", session_id: "s", model },
    result("s", { [model]: {}, m: {} }),
  );
  expect(sessions).toEqual([["s", undefined]]);
  expect(used).toMatchObject([{ session: "s", models: { m: { inputTokens: 0 } } }]);
  expect(Object.keys(used[0]?.models ?? {})).toEqual(["m"]);
});
