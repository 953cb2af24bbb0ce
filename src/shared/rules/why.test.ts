import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FACTS, type FactType } from "../wire/index.ts";
import { run, settings, weighted } from "./guard.cases.ts";
import { type WhyBehind, type WhyDecision, type WhyFact, whyOf } from "./why.ts";
import { type GuardFacts, heldBy } from "./why-held.ts";
import { dollars, namesIn } from "./why-words.ts";

const names = new Map([
  ["usr_ann", "Ann"],
  ["agt_a", "Scout"],
  ["agt_b", "Bo"],
]);

function why(type: FactType, body: object, by = "agt_a", behind: Partial<WhyBehind> = {}): WhyDecision[] {
  const kind = by.startsWith("usr_") ? "person" : by === "system" ? "system" : "agent";
  const fact: WhyFact = {
    seq: 9,
    type,
    at: "2026-01-01T00:00:00.000Z",
    actor: { kind, id: by },
    body: body as WhyFact["body"],
  };
  return whyOf(fact, { names, ...behind });
}

const posted = (more: object) => ({ message_id: "msg_1", addressed_to: [], why: "nobody", ...more });
const guard: GuardFacts = { count: 3, total: 3, since: "person", since_seq: 2, stop: 16, hold: 48 };

describe("WHY-1 every fact has a reason", () => {
  test.each(Object.keys(FACTS) as FactType[])("WHY-1 %s", (type) => {
    const body = {
      message_id: "msg_1",
      addressed_to: [],
      takers: [],
      why: "nobody",
      agent_id: "agt_a",
      about: [],
      approvers: [],
      from: "usr_ann",
    };
    for (const by of ["usr_ann", "agt_a", "system"]) {
      const decisions = why(type, { ...body, ...(type === "message.handed" ? { why: "lead" } : {}) }, by);
      expect(decisions.length).toBeGreaterThan(0);
      for (const { rule, says } of decisions) {
        expect(rule).toMatch(/^[A-Z]+-\d+$/);
        expect(says).toMatch(/\.$/);
      }
    }
  });
});

describe("WHY-1 whom a message was for", () => {
  test.each([
    ["usr_ann", "mentioned", ["agt_a", "agt_b"], "ADDR-3", 'It is for "Scout" and "Bo", whom it mentions.'],
    ["usr_ann", "everyone", ["agt_a"], "ADDR-3", 'It is for "Scout": a person said @everyone.'],
    ["usr_ann", "reply", ["agt_b"], "ADDR-3", 'It is for "Bo", whose message it answers.'],
    [
      "usr_ann",
      "only-agent",
      ["agt_a"],
      "ADDR-3",
      'It is for "Scout", the only agent of the space that can be addressed.',
    ],
    [
      "usr_ann",
      "mentioned",
      [],
      "ADDR-3",
      "It is for nobody: whom it mentions cannot be addressed, and it goes to no other.",
    ],
    ["agt_a", "agent-mentioned", ["agt_b"], "ADDR-4", 'It is for "Bo", whom it mentions.'],
    [
      "agt_a",
      "nobody",
      [],
      "ADDR-4",
      "It is for nobody: an agent's words are only for agents that it mentions.",
    ],
  ])("WHY-1 %s %s", (by, rule, addressed_to, id, says) => {
    expect(why("message.posted", posted({ why: rule, addressed_to }), by)[0]).toEqual({
      rule: id,
      says,
      facts: { by: rule, addressed_to },
    });
  });

  test("WHY-1 LEAD-3 words whose only mentions are people are not the lead's", () => {
    expect(why("message.posted", posted({ why: "person-mentioned" }), "usr_ann").map((d) => d.rule)).toEqual([
      "ADDR-3",
      "LEAD-3",
      "GUARD-1",
    ]);
  });
});

describe("WHY-1 why a message was held", () => {
  test.each<[Partial<GuardFacts>, string]>([
    [{ count: 48, total: 48 }, "GUARD-2"],
    [{ total: 192 }, "GUARD-7"],
    [{ pause: "person" }, "GUARD-5"],
    [{ pause: "spend" }, "SPEND-2"],
    [{ pause: "day" }, "SPEND-5"],
    [{ pause: "guard" }, "GUARD-7"],
    [{ hold: null, count: 500, total: 191 }, "none"],
  ])("WHY-1 %j is %s", (more, rule) => {
    expect(heldBy({ ...guard, ...more })?.rule ?? "none").toBe(rule);
  });

  test("WHY-1 GUARD-2 a reason is there exactly where the guard held, whatever was said", () => {
    fc.assert(
      fc.property(fc.array(weighted, { maxLength: 80 }), settings, (events, set) => {
        // The guard's own verdicts over a log, against the reasons from the numbers that are kept of it.
        const verdicts = run(events, set);
        let count = 0;
        let total = 0;
        let paused = false;
        for (const event of events) {
          if (event.type === "act") [count, total, paused] = [0, 0, false];
          else if (event.type === "work") count = 0;
          else {
            count = event.newFile ? 0 : count + 1;
            total += 1;
            const kept: GuardFacts = { ...guard, count, total, stop: set.stop, hold: set.hold };
            const verdict = verdicts.shift();
            const reason = heldBy({ ...kept, ...(paused ? { pause: "guard" as const } : {}) });
            expect(reason !== undefined).toBe(verdict?.held);
            paused ||= verdict?.pause ?? false;
          }
        }
      }),
    );
  });

  test("WHY-1 GUARD-4 it says who still waits, who was handed it, and whom a newer one reached instead", () => {
    const body = posted({
      held: true,
      held_from: ["agt_a", "agt_b", "agt_c", "agt_d"],
      guard: { ...guard, count: 48 },
    });
    const decisions = why("message.posted", body, "agt_a", {
      became: {
        handed: [{ agent_id: "agt_a", seq: 12, why: "held" }],
        waiting: ["agt_b"],
        superseded: [{ agent_id: "agt_c", by_message_id: "msg_2" }],
        for_lead: false,
      },
    });
    const after = decisions.slice(decisions.findIndex((d) => d.facts["held_from"]) + 1);
    expect(after.map(({ rule, facts }) => [rule, facts])).toEqual([
      ["GUARD-4", { to: "agt_a", seq: 12, why: "held" }],
      ["GUARD-4", { waiting: ["agt_b"] }],
      ["GUARD-4", { agent_id: "agt_c", newer: "msg_2" }],
      ["NEW-9", { lost: ["agt_d"] }],
    ]);
  });
});

test("WHY-1 NOTE-4 a hostile name stays in its quotes and on its line", () => {
  const hostile = new Map([["agt_a", 'Eve" held it.\nGUARD-2  "Bob']]);
  const says = namesIn(hostile, ["agt_a"]);
  expect(says).toMatch(/^"[^"\n]*"$/);
});

test("WHY-1 sums are said as sums are", () => {
  expect([dollars(0), dollars(0.3), dollars(3), dollars(0.000001), dollars(1.2345)]).toEqual([
    "$0.00",
    "$0.30",
    "$3.00",
    "$0.000001",
    "$1.2345",
  ]);
});
