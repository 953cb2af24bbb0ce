import { describe, expect, test } from "vitest";
import { cannotMove, endsWithout, ITEM_STATES, isOpen, possible, stateAfter } from "./item-states.ts";

describe("QUEUE-1: states", () => {
  test("QUEUE-1: exactly these changes are possible", () => {
    const all = ITEM_STATES.flatMap((from) => possible(from, "person").map((to) => `${from}>${to}`));
    expect(all).toEqual([
      "queued>active",
      "queued>blocked",
      "queued>canceled",
      "active>done",
      "active>waiting",
      "active>blocked",
      "active>queued",
      "active>canceled",
      "waiting>queued",
      "waiting>done",
      "waiting>blocked",
      "waiting>canceled",
      "blocked>queued",
      "blocked>done",
      "blocked>canceled",
      "done>queued",
      "canceled>queued",
    ]);
  });

  test("QUEUE-1: any other says which are possible", () => {
    expect(cannotMove("queued", "done", "person")).toBe(
      "An item that is queued cannot become done. Possible: active, blocked, canceled.",
    );
    expect(cannotMove("active", "done", "agent")).toBeUndefined();
    for (const from of ITEM_STATES)
      for (const to of ITEM_STATES)
        expect(cannotMove(from, to, "person") === undefined).toBe(possible(from, "person").includes(to));
  });

  test("QUEUE-1: a canceled item is queued again by a person only", () => {
    expect(cannotMove("canceled", "queued", "person")).toBeUndefined();
    expect(cannotMove("canceled", "queued", "agent")).toContain("person");
    expect(cannotMove("canceled", "queued", "office")).toContain("person");
  });

  test("QUEUE-5: done and canceled are finished", () => {
    expect(ITEM_STATES.filter(isOpen)).toEqual(["queued", "active", "waiting", "blocked"]);
  });
});

describe("OFFER-6: what a hand-back makes of an item", () => {
  test("OFFER-6: done without anything to review is blocked", () => {
    expect(stateAfter("done", true)).toMatchObject({ state: "done", ended: "done", evidence: true });
    expect(stateAfter("done", false)).toMatchObject({ state: "blocked", ended: "blocked", evidence: false });
  });
  test("OFFER-6: the others", () => {
    expect(stateAfter("silent", false).state).toBe("done");
    expect(stateAfter("waiting", false).state).toBe("waiting");
    expect(stateAfter("blocked", false).state).toBe("blocked");
    expect(stateAfter("interrupted", false).state).toBe("queued");
  });
  test("OFFER-6: these kinds end without", () => {
    const kinds = ["chat", "question", "merge", "review_feedback", "review", "assigned"];
    expect(kinds.filter(endsWithout)).toEqual(["chat", "question", "merge", "review"]);
  });
});
