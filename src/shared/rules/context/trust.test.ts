import { describe, expect, test } from "vitest";
import type { AppendEvent } from "../../wire/context/http.ts";
import type { ContextItem } from "../../wire/context/item.ts";
import { agent, person } from "./streams.cases.ts";
import { spelled, stamp, type Writer } from "./trust.ts";

const STREAM = "/people/alex";
const office: Writer = { kind: "office" };
const sam: Writer = { kind: "person", userId: "usr_sam", origin: "web", owner: false };
const owner: Writer = { ...sam, owner: true };
const alex: Writer = { kind: "agent", path: STREAM };
const slack: Writer = { kind: "hook", source: "slack" };
const tracker: Writer = { kind: "hook", source: "tracker" };

const itemEvent = (role: ContextItem["role"], more: Partial<ContextItem> = {}): AppendEvent => ({
  type: "context-item",
  payload: { role, content: "Hi.", ...more },
});
const compaction = { compaction: { replacesHistoryThrough: 1 } };
/** The item as it is stored, or the refusal's code. */
function stored(event: AppendEvent, writer: Writer, stream = STREAM): unknown {
  const stamped = stamp(event, writer, stream);
  return stamped.ok ? stamped.event.payload : stamped.refusal.code;
}

describe("STREAM-4 actors", () => {
  test("STREAM-4 a person is stamped as user, with a ref to them in front", () => {
    expect(stored(itemEvent("user"), sam)).toEqual({
      role: "user",
      content: "Hi.",
      actor: person,
      refs: [{ type: "user", userId: "usr_sam" }],
    });
    expect(stored(itemEvent("user"), { ...sam, origin: "mcp" })).toMatchObject({
      actor: { type: "user", origin: "mcp" },
    });
    const refs: ContextItem["refs"] = [
      { type: "user", userId: "usr_kim" },
      { type: "file", path: "att_1" },
      { type: "user", userId: "usr_sam" },
    ];
    expect(stored(itemEvent("user", { refs }), sam)).toMatchObject({
      refs: [{ type: "user", userId: "usr_sam" }, ...refs.slice(0, 2)],
    });
  });

  test("STREAM-4 an agent is stamped with its stream, on its items' streams too", () => {
    for (const stream of [STREAM, `${STREAM}/items/itm_1`])
      expect(stored(itemEvent("assistant"), alex, stream)).toMatchObject({ actor: agent });
    for (const stream of ["/people/alexa", "/people/kim", "/people"])
      expect(stored(itemEvent("assistant"), alex, stream)).toBe("forbidden");
  });

  test("STREAM-4 a hook is the one source that it was made for", () => {
    expect(stored(itemEvent("user"), slack)).toMatchObject({ actor: { type: "slack" } });
    const actor = { type: "slack", userId: "U1" } as const;
    expect(stored(itemEvent("user", { actor }), slack)).toMatchObject({ actor });
    expect(stored(itemEvent("user"), tracker)).toMatchObject({
      actor: { type: "integration", name: "tracker" },
    });
    expect(stored(itemEvent("user", { actor }), tracker)).toBe("forbidden");
    expect(stored(itemEvent("user", { actor: { type: "email" } }), slack)).toBe("forbidden");
    expect(stored(itemEvent("user", { actor: { type: "integration", name: "crm" } }), tracker)).toBe(
      "forbidden",
    );
  });

  test("STREAM-4 the office itself has no actor, and writes in anybody's name", () => {
    expect(stored(itemEvent("system"), office)).toEqual({ role: "system", content: "Hi." });
    expect(stored(itemEvent("user", { actor: person }), office)).toMatchObject({ actor: person });
  });

  const claims = [
    person,
    { type: "user", origin: "mcp" },
    agent,
    { type: "agent", path: "/people/kim" },
  ] as const;
  test.each(claims)("STREAM-4 who claims to be %o is that one, or it is forbidden", (actor) => {
    const mine = (own: unknown) =>
      JSON.stringify(own) === JSON.stringify(actor) ? expect.objectContaining({ actor }) : "forbidden";
    expect(stored(itemEvent("developer", { actor }), sam)).toEqual(mine(person));
    expect(stored(itemEvent("developer", { actor }), alex)).toEqual(mine(agent));
    expect(stored(itemEvent("developer", { actor }), tracker)).toBe("forbidden");
  });

  test("STREAM-4 writers are spelled apart", () => {
    const all = [office, sam, alex, slack, tracker, { kind: "person", userId: "hook slack" } as Writer];
    expect(new Set(all.map(spelled)).size).toBe(all.length);
  });
});

describe("STREAM-4 what each may append", () => {
  const roles = ["system", "developer", "user", "assistant"] as const;
  test.each([
    ["a person", sam, ["developer", "user"]],
    ["an agent", alex, ["developer", "assistant"]],
    ["a hook", slack, ["developer", "user"]],
    ["the office", office, [...roles]],
  ] as const)("STREAM-4 items of %s", (_who, writer, may) => {
    const taken = roles.filter((role) => stored(itemEvent(role), writer) !== "forbidden");
    expect(taken).toEqual([...may].toSorted((a, b) => roles.indexOf(a) - roles.indexOf(b)));
  });

  test("STREAM-4 CTX-4 a compaction is the office's; on another role it is inert and anybody's", () => {
    for (const writer of [sam, alex, slack]) {
      expect(stored(itemEvent("developer", compaction), writer)).toBe("forbidden");
      const role = writer === alex ? "assistant" : "user";
      expect(stored(itemEvent(role, compaction), writer)).toMatchObject(compaction);
    }
    expect(stored(itemEvent("developer", compaction), office)).toMatchObject(compaction);
  });

  test("STREAM-4 CTX-9 a script's items are its agent's to bring; the keys of results are theirs alone", () => {
    const script = { key: "exe_4_1", actor: { type: "script", executionId: "exe_4_1" } } as const;
    expect(stored(itemEvent("developer", script), alex)).toMatchObject(script);
    expect(stored(itemEvent("assistant", script), alex)).toBe("forbidden");
    for (const writer of [sam, slack])
      expect(stored(itemEvent("developer", script), writer)).toBe("forbidden");
    for (const writer of [sam, alex, slack])
      expect(stored(itemEvent("developer", { key: "exe_4_1" }), writer)).toBe("forbidden");
    expect(stored(itemEvent("developer", { key: "exe_4" }), sam)).toMatchObject({ key: "exe_4" });
  });

  const others: Record<string, AppendEvent> = {
    requested: { type: "llm-request-requested", payload: { trigger: 1, deadline: "2026-01-01T00:00:00Z" } },
    succeeded: { type: "llm-request-succeeded", payload: { requestOffset: 1 } },
    failed: { type: "llm-request-failed", payload: { requestOffset: 1, reason: "429" } },
    cancelled: { type: "llm-request-cancelled", payload: { requestOffset: 1 } },
    paused: { type: "stream-paused", payload: { reason: "lunch" } },
    resumed: { type: "stream-resumed", payload: {} },
    redacted: { type: "context-item-redacted", payload: { offset: 1 } },
  };
  test.each([
    ["a person", sam, ["paused", "resumed"]],
    ["an owner", owner, ["paused", "resumed", "redacted"]],
    ["an agent", alex, ["succeeded", "failed", "cancelled"]],
    ["a hook", slack, []],
    ["the office", office, Object.keys(others)],
  ] as const)("STREAM-4 other events of %s", (_who, writer, may) => {
    const taken = Object.keys(others).filter(
      (name) => stored(others[name] as AppendEvent, writer) !== "forbidden",
    );
    expect(taken).toEqual(may);
  });

  test("ERR-1 a refusal says what may be done instead", () => {
    const refusals = [
      stamp(itemEvent("system"), sam, STREAM),
      stamp(itemEvent("user"), alex, STREAM),
      stamp(others.requested as AppendEvent, alex, STREAM),
      stamp(itemEvent("user", { actor: agent }), sam, STREAM),
    ];
    for (const refused of refusals)
      expect(refused.ok ? "" : refused.refusal.message).toMatch(/append|leave it out/);
  });
});
