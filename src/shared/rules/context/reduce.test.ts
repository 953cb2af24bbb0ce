import { describe, expect, test } from "vitest";
import { resultItem } from "./calls.ts";
import { apply, reduce } from "./reduce.ts";
import { historyOf } from "./state.ts";
import { newLog } from "./stream.kit.ts";
import { agent, person, START } from "./streams.cases.ts";

const quiet = { llmRequestPolicy: { behaviour: "dont-trigger-request" } } as const;
const interrupting = { llmRequestPolicy: { behaviour: "interrupt-current-request" } } as const;
const through = (offset: number) => ({ compaction: { replacesHistoryThrough: offset } });

/** A settled request with a call, whoever settled it. */
function settledBy(by?: string) {
  const log = newLog();
  log.says("Hi.");
  const request = log.open();
  log.answer(request, "a call");
  log.succeed(request, { usage: { inputTokens: 3, outputTokens: 1 }, calls: [`exe_${request}_1`] }, by);
  return log.state;
}

/** A request with an answer that is not settled yet. */
function called(more: object = {}) {
  const log = newLog();
  log.says("a");
  const request = log.open();
  const answer = log.answer(request, "call", more);
  return { log, request, answer };
}

describe("CTX-1 one list", () => {
  test("CTX-1 items of every role stay in the order of their appends", () => {
    const log = newLog();
    log.item("system", "You are Alex.");
    log.says("Hi.");
    log.item("developer", "It is Monday.");
    log.item("assistant", "Hello.");
    log.item("system", "Be brief.");
    expect(log.seen()).toEqual(["You are Alex.", "Hi.", "It is Monday.", "Hello.", "Be brief."]);
    expect(historyOf(log.state).map(({ offset }) => offset)).toEqual([1, 2, 3, 4, 5]);
  });

  test("CTX-1 an event of an unknown type, or of a type that every object has, changes nothing but the head", () => {
    const log = newLog();
    log.says("Hi.");
    const before = log.state;
    log.add("moon-phase", { full: true });
    log.add("toString", {});
    log.add("__proto__", {});
    expect(log.state).toEqual({ ...before, head: 4 });
  });

  test("CTX-1 an item of old data that breaks the schema is passed over, and so is what it would have triggered", () => {
    const log = newLog();
    log.says("Hi.", { mood: "good" } as never);
    log.says("Hi.", { key: "" });
    log.item("user", 7 as never);
    expect(log.state).toMatchObject({ items: [], pending: null });
  });

  test("CTX-1 an offset that is none, or not newer than what was read, is passed over", () => {
    const log = newLog();
    log.says("Hi.");
    const payload = { role: "user", content: "again" };
    for (const offset of [1, 0, -1, 1.5, Number.NaN, "2" as never])
      expect(apply(log.state, { offset, type: "context-item", payload, at: START })).toEqual(log.state);
  });
});

describe("CTX-2 keys", () => {
  test("CTX-2 what no request covers is replaced in place: new content, role, actor and offset, the old place", () => {
    const log = newLog();
    log.item("developer", "draft", { key: "k" });
    log.says("in between");
    const update = log.says("final", { key: "k" });
    expect(log.state.items[0]).toEqual({
      offset: update,
      item: { role: "user", content: "final", key: "k", actor: person },
    });
    expect(log.seen()).toEqual(["final", "in between"]);
  });

  test("CTX-2 an update after coverage is a new item, both are seen, and the next update replaces the newer one", () => {
    const log = newLog();
    log.says("first", { key: "k" });
    log.open();
    log.says("second", { key: "k" });
    log.says("third", { key: "k" });
    expect(log.seen()).toEqual(["first", "third"]);
  });

  test("CTX-2 covered is covered, however the request ended", () => {
    for (const end of ["llm-request-failed", "llm-request-cancelled", "llm-request-succeeded"]) {
      const log = newLog();
      log.says("first", { key: "k" });
      const request = log.open();
      log.add(end, { requestOffset: request, reason: "429" });
      log.says("second", { key: "k" });
      expect(log.seen()).toEqual(["first", "second"]);
      expect(log.state.covered).toBe(request);
    }
  });

  test("CTX-2 an intent that was ignored covers nothing", () => {
    const log = newLog();
    log.says("first", { key: "k" });
    log.add("llm-request-requested", { trigger: 99, deadline: "2026-02-01T00:00:00Z" });
    log.says("second", { key: "k" });
    expect(log.seen()).toEqual(["second"]);
  });
});

describe("CTX-3 the assistant guard", () => {
  test("CTX-3 an answer counts if that very request was open, and then stays", () => {
    const log = newLog();
    log.says("Hi.");
    const first = log.open();
    log.answer(first, "early");
    log.succeed(first);
    log.answer(first, "late");
    log.says("And?");
    const second = log.open();
    log.answer(first, "of the other request");
    log.answer(second, "now");
    expect(log.seen()).toEqual(["Hi.", "early", "And?", "now"]);
  });

  test("CTX-3 an assistant item without an offset always counts; on other roles the offset means nothing", () => {
    const log = newLog();
    log.item("assistant", "Hello, I am new here.");
    log.says("Hi.", { llmRequestOffset: 99 });
    expect(log.seen()).toEqual(["Hello, I am new here.", "Hi."]);
  });

  test("CTX-3 REQ-5 from its deadline on nothing answers a request", () => {
    const log = newLog();
    log.says("Hi.");
    const request = log.open(1000);
    log.now += 1000;
    log.answer(request, "late");
    log.succeed(request);
    expect(log.seen()).toEqual(["Hi."]);
    expect(log.state.open?.offset).toBe(request);
  });
});

describe("CTX-4 compaction", () => {
  test("CTX-4 all but system items at or below the barrier go, keyed or not; the summary stands before the rest", () => {
    const log = newLog();
    log.item("system", "You are Alex.");
    log.says("old", { key: "k" });
    log.item("system", "Be brief.");
    const barrier = log.item("assistant", "old answer");
    log.says("new");
    log.item("developer", "What was said.", through(barrier));
    log.says("newest");
    expect(log.seen()).toEqual(["You are Alex.", "Be brief.", "What was said.", "new", "newest"]);
  });

  test("CTX-4 an item counts by its latest update's offset", () => {
    const log = newLog();
    log.says("draft", { key: "k" });
    const barrier = log.says("old");
    log.says("final", { key: "k" });
    log.item("developer", "Summary.", through(barrier));
    expect(log.seen()).toEqual(["Summary.", "final"]);
  });

  test("CTX-4 what must outlive it is appended again in the same batch", () => {
    const log = newLog();
    log.item("developer", "The rules of this room.", { key: "rules" });
    const barrier = log.says("old");
    log.item("developer", "Summary.", through(barrier));
    log.item("developer", "The rules of this room.", { key: "rules", ...quiet });
    expect(log.seen()).toEqual(["Summary.", "The rules of this room."]);
  });

  test("CTX-4 an old barrier after a newer one, and one at or past its own offset, does nothing", () => {
    const log = newLog();
    log.says("a");
    log.says("b");
    log.says("c");
    log.item("developer", "Through b.", through(2));
    const before = log.state;
    for (const old of [() => 1, () => 2, () => log.events.length + 1, () => log.events.length + 9]) {
      log.item("developer", "Nothing.", through(old()));
      expect(log.state).toEqual({ ...before, head: log.events.length });
    }
    log.item("developer", "Through c.", through(3));
    expect(log.seen()).toEqual(["Through c."]);
  });

  test("CTX-4 of two that overlap in time the newer barrier's summary stands alone", () => {
    const log = newLog();
    for (const word of ["a", "b", "c", "d"]) log.says(word);
    log.item("developer", "Through b.", through(2));
    log.item("developer", "Through c.", through(3));
    expect(log.seen()).toEqual(["Through c.", "d"]);
  });

  test.each(["user", "system", "assistant"] as const)("CTX-4 on a %s item a compaction is inert", (role) => {
    const log = newLog();
    log.says("a");
    log.item(role, "I summarise.", through(1));
    expect(log.seen()).toEqual(["a", "I summarise."]);
  });

  test("CTX-4 its key and policy mean nothing: it is never replaced and triggers nothing", () => {
    const log = newLog();
    log.item("developer", "Keyed.", { key: "k", ...quiet });
    log.item("assistant", "a");
    log.item("developer", "Summary.", { ...through(2), key: "k", ...interrupting });
    expect(log.state.pending).toBeNull();
    log.item("developer", "Another.", { key: "k", ...quiet });
    expect(log.seen()).toEqual(["Summary.", "Another."]);
  });

  test("CTX-4 CTX-9 it parts no call from its result and drops no call that is still without one", () => {
    const log = newLog();
    log.says("a");
    const request = log.open();
    const answer = log.answer(request, "call");
    log.succeed(request, { calls: [`exe_${request}_1`, `exe_${request}_2`] });
    const call = (n: number) => ({ id: `exe_${request}_${n}`, answer, streamPath: "/people/alex" });
    log.add("context-item", resultItem(call(1), "one", { last: false }));
    const barrier = log.says("b");
    // The second call has no result yet: only what stands before the answer goes.
    log.item("developer", "Too early.", through(barrier));
    expect(log.seen()).toEqual(["Too early.", "call", "one", "b"]);
    expect(log.state.barrier?.through).toBe(answer - 1);
    log.add("context-item", resultItem(call(2), "two", { last: true }));
    // Between call and result is no place for a barrier, behind both there is.
    log.item("developer", "Still.", through(barrier));
    expect(log.state.barrier?.through).toBe(answer - 1);
    log.item("developer", "All.", through(log.events.length));
    expect(log.seen()).toEqual(["All."]);
    expect(log.state.calls).toEqual([]);
  });
});

describe("CTX-5 triggers", () => {
  const actors = {
    user: person,
    slack: { type: "slack" },
    telegram: { type: "telegram" },
    email: { type: "email" },
    github: { type: "github" },
    integration: { type: "integration", name: "tracker" },
    agent,
    script: { type: "script", executionId: "exe_1_1" },
    platform: undefined,
  } as const;

  test.each(Object.keys(actors) as (keyof typeof actors)[])("CTX-5 of %s", (name) => {
    const outside = !["agent", "script", "platform"].includes(name);
    for (const role of ["user", "developer"] as const) {
      const log = newLog();
      log.item(role, "", actors[name] === undefined ? {} : { actor: actors[name] });
      expect(log.state.pending).toMatchObject({ offset: 1, external: outside ? 1 : null });
    }
    for (const role of ["system", "assistant"] as const) {
      const log = newLog();
      log.item(role, "", { ...(actors[name] === undefined ? {} : { actor: actors[name] }), ...interrupting });
      expect(log.state.pending).toBeNull();
    }
  });

  test("CTX-5 the newest trigger is pending, and an edit undoes none", () => {
    const log = newLog();
    log.says("one", { key: "k" });
    log.says("two");
    expect(log.state.pending?.offset).toBe(2);
    log.says("two, mended", { key: "k", ...quiet });
    expect(log.state.pending?.offset).toBe(2);
  });

  test("CTX-5 an external trigger resets the failures and the count of turns alone", () => {
    const log = newLog();
    log.item("developer", "Go on.");
    log.fail(log.open());
    expect(log.state).toMatchObject({ failures: 1, turnsAlone: 1 });
    log.item("developer", "Go on.");
    expect(log.state).toMatchObject({ failures: 1, turnsAlone: 1 });
    log.says("Hello?");
    expect(log.state).toMatchObject({ failures: 0, turnsAlone: 0 });
  });
});

describe("CTX-7 CTX-8 what feeds a stream and who runs it", () => {
  test("CTX-7 a turn asks for a request, an overheard message and an edit do not, a correction interrupts", () => {
    const log = newLog();
    log.says("overheard", { key: "msg_1", ...quiet });
    expect(log.state.pending).toBeNull();
    log.says("@Alex, the numbers?", { key: "msg_2" });
    log.says("overheard, edited", { key: "msg_1", ...quiet });
    expect(log.state.pending?.offset).toBe(2);
    log.open();
    log.says("No, last week's.", { key: "msg_3", ...interrupting });
    expect(log.state).toMatchObject({ open: null, pending: { offset: log.events.length } });
    expect(log.seen()).toEqual(["overheard, edited", "@Alex, the numbers?", "No, last week's."]);
  });

  test("CTX-8 REQ-7 a stream comes to the same whoever settles: only a call's result asks who it was", () => {
    const [resident, process] = [settledBy(), settledBy("agent /people/alex")];
    expect(process.calls[0]?.by).toBe("agent /people/alex");
    expect(process).toEqual({ ...resident, calls: [{ ...resident.calls[0], by: "agent /people/alex" }] });
  });
});

describe("CTX-9 calls", () => {
  test("CTX-9 the settlement names the calls; of another request's ids, and without an answer, there is none", () => {
    const { log, request, answer } = called();
    const ids = [`exe_${request}_1`, `exe_${request + 1}_1`, `exe_${request}_0`, `exe_${request}_1x`, "exe"];
    log.succeed(request, { calls: ids });
    expect(log.state.calls).toEqual([{ id: `exe_${request}_1`, answer, by: null, result: null }]);
    log.says("b");
    const second = log.open();
    log.succeed(second, { calls: [`exe_${second}_1`] });
    expect(log.state.calls).toHaveLength(1);
  });

  test("CTX-9 an answer that does not count calls nothing", () => {
    const { log, request } = called();
    log.says("Stop that.", interrupting);
    log.succeed(request, { calls: [`exe_${request}_1`] });
    expect(log.state.calls).toEqual([]);
  });

  test("CTX-9 an answer with calls is not replaced any more, also after a snapshot", () => {
    const { log, request } = called({ key: "k" });
    log.succeed(request, { calls: [`exe_${request}_1`] });
    log.says("mine", { key: "k" });
    expect(log.seen()).toEqual(["a", "call", "mine"]);
    expect(reduce(log.events)).toEqual(log.state);
  });

  test("CTX-9 the last result asks for the next request, the others do not", () => {
    const { log, request, answer } = called();
    const ids = [1, 2].map((n) => `exe_${request}_${n}`);
    log.succeed(request, { calls: ids });
    for (const [i, id] of ids.entries()) {
      const call = { id, answer, streamPath: "/people/alex" };
      const offset = log.add("context-item", resultItem(call, '{"ok":true,"output":1}', { last: i === 1 }));
      expect(log.state.pending?.offset).toBe(i === 1 ? offset : undefined);
      expect(log.state.calls[i]?.result).toBe(offset);
    }
    expect(log.state.pending?.external).toBeNull();
  });
});
