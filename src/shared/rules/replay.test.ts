/* oxlint-disable unicorn/no-thenable -- the word of a policy rule: data, never awaited */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultSettings, type Exported, type ExportedLine } from "../wire/index.ts";
import { agents, exportOf, type Step, step } from "./replay.cases.ts";
import { openReplay, type Replayed, type ReplayOptions } from "./replay.ts";

function replay(lines: readonly ExportedLine[], options?: ReplayOptions): Replayed {
  const replaying = openReplay(options);
  for (const line of lines) replaying.take(line);
  return replaying.finish();
}

/** Which messages an export has as held. */
const held = (lines: readonly ExportedLine[]): Set<string> =>
  new Set(
    lines.flatMap((l) =>
      l.type === "fact" && l.body["held"] === true ? [String(l.body["message_id"])] : [],
    ),
  );

const steps = fc.array(step, { maxLength: 120 });
const guard = fc.record({
  stop: fc.integer({ min: 1, max: 10 }),
  hold: fc.option(fc.integer({ min: 1, max: 12 })),
  circles: fc.boolean(),
});
const job_usd = fc.constantFrom(0.5, 1, 3, null);
const talk = (n: number): Step[] =>
  Array.from({ length: n }, (_, i) => ({
    do: "agent",
    by: agents[i % 2] ?? "",
    to: [agents[(i + 1) % 2] ?? ""],
    repeat: false,
  }));

describe("WHY-2 with the same settings", () => {
  test("WHY-2 nothing differs, whatever was said", () => {
    fc.assert(
      fc.property(steps, guard, job_usd, (steps, guard, job_usd) => {
        const lines = exportOf(steps, { guard, spend: { job_usd, day_usd: null } });
        const { changes, totals } = replay(lines);
        expect(changes).toEqual([]);
        for (const { was, would } of Object.values(totals)) expect(would).toBe(was);
      }),
      { numRuns: 300 },
    );
  });

  test("WHY-2 nothing differs either when the settings to try are those that stood", () => {
    fc.assert(
      fc.property(steps, guard, (steps, guard) => {
        expect(replay(exportOf(steps, { guard }), { settings: { guard } }).changes).toEqual([]);
      }),
    );
  });

  test("WHY-2 a replay is the same a second time and changes no line", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 12 }), (steps, hold) => {
        const lines = exportOf(steps);
        const before = structuredClone(lines);
        const options = { settings: { guard: { hold } } };
        expect(replay(lines, options)).toEqual(replay(lines, options));
        expect(lines).toEqual(before);
      }),
    );
  });
});

describe("WHY-2 with other settings", () => {
  test("WHY-2 GUARD-2 what the room says with other settings is what it would have kept with them", () => {
    fc.assert(
      fc.property(steps, guard, guard, (all, one, other) => {
        // Whoever pauses or resumes looks first whether the agents are paused: that would be otherwise, too.
        const steps = all.filter((one) => one.do !== "pause" && one.do !== "resume");
        const spend = { job_usd: null, day_usd: null };
        const { changes, totals } = replay(exportOf(steps, { guard: one, spend }), {
          settings: { guard: other },
        });
        const really = exportOf(steps, { guard: other, spend });
        const was = held(exportOf(steps, { guard: one, spend }));
        for (const { what, id, would } of changes) {
          if (what !== "held" || id === undefined) continue;
          if (would === "held") was.add(id);
          else was.delete(id);
        }
        expect(was).toEqual(held(really));
        expect(totals.held.would).toBe(held(really).size);
        const handed = really.filter((l) => l.type === "fact" && l.fact === "message.handed").length;
        expect(totals.handed.would).toBe(handed);
      }),
      { numRuns: 300 },
    );
  });

  test("WHY-2 GUARD-7 a pause that would have been is told, and one that would not", () => {
    const lines = exportOf(talk(30), { guard: { stop: 2, hold: 5, circles: true } });
    expect(replay(lines).totals.pauses).toEqual({ was: 1, would: 1 });
    const never = replay(lines, { settings: { guard: { hold: 40 } } });
    expect(never.changes.filter((c) => c.what === "paused")).toMatchObject([
      { was: "paused: guard", would: "not paused", rule: "GUARD-7" },
    ]);
    const sooner = replay(exportOf(talk(30)), { settings: { guard: { hold: 2 } } });
    expect(sooner.changes.find((c) => c.what === "paused")).toMatchObject({
      would: "paused: guard",
      rule: "GUARD-7",
    });
  });

  test("WHY-2 SPEND-2 with a lower ceiling turns would not begin, and their cost is not spent", () => {
    const run: Step = { do: "run", by: "agt_a", micros: 400_000 };
    const lines = exportOf([run, run, run, { do: "person", to: [] }, run]);
    const { changes, totals } = replay(lines, { settings: { spend: { job_usd: 0.5 } } });
    expect(changes.map((c) => [c.what, c.rule])).toEqual([
      ["paused", "SPEND-2"],
      ["run", "SPEND-3"],
    ]);
    expect(totals.spent_usd).toEqual({ was: 1.6, would: 1.2 });
  });

  test("WHY-2 LEAD-2 a lead that was off would have been handed what was nobody's", () => {
    const lead = { still_s: null };
    const lines = exportOf([{ do: "person", to: [] }, ...talk(1)], { lead });
    // The next thing happens one second later in these cases.
    expect(replay(lines, { settings: { lead: { still_s: 0.5 } } }).changes).toMatchObject([
      { what: "handed", would: "handed to agt_a", rule: "LEAD-2" },
    ]);
    expect(replay(lines, { settings: { lead: { still_s: 60 } } }).changes).toEqual([]);
  });
});

const ask: Exported<"approval"> = {
  type: "approval",
  approval_id: "apr_1",
  space_id: "spc_one",
  run_id: "run_1",
  agent_id: "agt_a",
  harness_id: "hrn_1",
  asked: "hash",
  request: {
    approval_id: "apr_1",
    action: { kind: "email.send" },
    risk: ["external_communication"],
    expires_in: 60,
    fallback: "deny",
    approvers: ["usr_ann"],
  },
  approvers: ["usr_ann"],
  fallback: "deny",
  asked_seq: 1,
  asked_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-01-01T00:01:00.000Z",
  version: 0,
  state: "pending",
};

test("WHY-2 POL-3 a policy that is tried judges each ask anew; a careless rule still asks", () => {
  const fact: ExportedLine = {
    type: "fact",
    seq: 1,
    id: "evt_1",
    fact: "approval.requested",
    at: "2026-01-01T00:00:00.000Z",
    space_id: "spc_one",
    actor: { kind: "agent", id: "agt_a" },
    body: { approval_id: "apr_1" },
  };
  const lines = [ask, fact];
  const outcome = (rule: object) =>
    replay(lines, { policy: { rules: [{ id: "r", when: {}, then: "allow", ...rule }], classes: {} } })
      .changes;
  expect(replay(lines).changes).toEqual([]);
  expect(outcome({})).toEqual([]);
  expect(outcome({ accept_risk: ["external_communication"] })).toMatchObject([
    { what: "ask", was: "put to people", would: "allowed at once", rule: "POL-1" },
  ]);
  expect(outcome({ then: "deny" })).toMatchObject([{ would: "denied at once" }]);
});

test("WHY-2 what settings say in part stands over what the workspace had, and the rest stays", () => {
  const lines = exportOf(talk(8), { guard: { stop: 2, hold: 5, circles: false } });
  const { changes } = replay(lines, { settings: { guard: { stop: 3 } } });
  expect(changes).toEqual([]);
  expect(defaultSettings().guard.hold).toBe(48);
});
