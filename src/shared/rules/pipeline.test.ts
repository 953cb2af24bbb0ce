import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { team as teamSchema } from "../wire/team.ts";
import { WORK_EVENT_TYPES, type WorkEvent } from "../wire/work.ts";
import { decide } from "./pipeline.ts";
import { ruleMatches } from "./pipeline-team.ts";
import type { Facts } from "./pipeline-types.ts";
import type { Who } from "./trust.ts";

const people = ["scout", "bob"].map((handle) => ({ handle, name: handle, role: "dev" }));
/** A rule's `then` is written `does` here: an object that has the one looks like a promise. */
const asRule = (rule: object): object =>
  Object.fromEntries(Object.entries(rule).map(([name, v]) => [name === "does" ? "then" : name, v]));
const teamWith = (rules: object[] = [], more: object = {}) =>
  teamSchema.parse({
    roles: { dev: { title: "Dev" } },
    people,
    pipeline: { rules: rules.map(asRule) },
    ...more,
  });
const anna: Who = { kind: "human", trusted: true, why: "", name: "Anna", key: "human:Anna", user: "usr_1" };
const bob: Who = { kind: "person", trusted: true, why: "", name: "bob", key: "person:bob", handle: "bob" };
const stranger: Who = {
  kind: "stranger",
  trusted: false,
  why: "nobody whom the team trusts",
  name: "x",
  key: "x",
};
const office: Who = { kind: "office", trusted: true, why: "", name: "office", key: "office" };

const ticket = {
  key: "BP-1",
  title: "Cart",
  status: "ready" as const,
  assignee: "scout",
  owner: "scout",
  workers: ["scout"],
};
const pr: NonNullable<Facts["pr"]> = {
  ref: "acme/shop#1",
  repo: "acme/shop",
  number: 1,
  title: "Cart",
  state: "open",
  draft: false,
  headSha: "a1",
  owner: "scout",
  ticket,
  otherOpen: false,
  anyMerged: false,
  ci: "success",
  failing: [],
  mergeable: "clean",
  requested: ["bob"],
  mergeCi: "none",
  mergeFailing: [],
};
const facts = (who: Who, more: Partial<Facts> = {}): Facts => ({
  eventId: "evt_1",
  who,
  asked: [],
  agentEvents: 0,
  stretch: "s",
  caused: false,
  used: {},
  ...more,
});
const event = (type: WorkEvent["type"], more: Partial<WorkEvent> = {}): WorkEvent => ({
  id: "1",
  type,
  at: "2026-01-01T00:00:00.000Z",
  source: "github",
  actor: { id: "anna" },
  ...more,
});
const comment = (who: Who, more: Partial<Facts> = {}) =>
  [
    event("pr.commented", { pr: { repo: "acme/shop", number: 1 }, comment: { id: "c", body: "Please fix" } }),
    facts(who, { pr, ...more }),
  ] as const;
const shown = (found: ReturnType<typeof decide>) =>
  found.map((d) =>
    [d.rule, d.decision, "person" in d ? d.person : undefined].filter((x) => x !== undefined).join(" "),
  );

describe("PIPE-1 rules of the team", () => {
  test("come first, all that match decide, and one with stop is the last", () => {
    const rules = [
      { id: "first", on: "pr.*", does: "act", ops: [{ op: "comment", body: "Seen {pr} by {actor}" }] },
      { id: "second", on: "*", does: "wake", kind: "triage", to: "bob" },
    ];
    const [e, f] = comment(anna, { ticket });
    const found = decide(e, f, teamWith(rules));
    expect(shown(found)).toEqual(["first act scout", "second wake bob", "pr.commented wake scout"]);
    expect(found[0]).toMatchObject({
      ops: [{ op: "comment", ticket: "BP-1", body: "Seen acme/shop#1 by Anna" }],
    });
    expect(found[1]).toMatchObject({ wake: { kind: "triage" } });
    const stopped = decide(e, f, teamWith([{ ...rules[0], stop: true }, rules[1]!]));
    expect(shown(stopped)).toEqual(["first act scout"]);
  });

  test("PIPE-6 ignore takes back what later rules would wake, for one person or for all; acts stay", () => {
    const [e, f] = comment(anna);
    expect(shown(decide(e, f, teamWith([{ id: "no", on: "pr.commented", does: "ignore" }])))).toEqual([
      "no ignore",
      "no ignore scout",
    ]);
    expect(
      shown(decide(e, f, teamWith([{ id: "no", on: "pr.commented", does: "ignore", to: "bob" }]))),
    ).toEqual(["no ignore bob", "pr.commented wake scout"]);
    const opened = event("pr.opened", { pr: { repo: "acme/shop", number: 1 } });
    expect(
      shown(decide(opened, facts(bob, { pr }), teamWith([{ id: "no", on: "pr.*", does: "ignore" }]))),
    ).toContain("pr.opened act scout");
  });

  test.each<[string, object, boolean]>([
    ["type", { on: "ticket.*" }, false],
    ["types", { on: ["push", "pr.commented"] }, true],
    ["actor by name", { when: { actor: "anna" } }, true],
    ["actor by login", { when: { actor: ["x", "ANNA"] } }, true],
    ["another actor", { when: { actor: "bob" } }, false],
    ["repo", { when: { repo: "acme/*" } }, true],
    ["another repo", { when: { repo: "other/*" } }, false],
    ["ticket", { when: { ticket: "bp-*" } }, true],
    ["person", { when: { person: ["scout"] } }, true],
    ["another person", { when: { person: "bob" } }, false],
    ["text", { when: { text: "FIX" } }, true],
    ["other text", { when: { text: "ship" } }, false],
    ["untrusted", { when: { trusted: false } }, false],
  ])("match by %s", (_, rule, matches) => {
    const team = teamWith([{ id: "r", on: "*", does: "ignore", ...rule }]);
    const [e, f] = comment(anna);
    expect(ruleMatches(team.pipeline.rules[0]!, e, f)).toBe(matches);
  });

  test("PIPE-5 a name that a source merely shows is nobody's", () => {
    const team = teamWith([{ id: "r", on: "*", when: { actor: "Anna" }, does: "ignore" }]);
    const [e, f] = comment({ ...stranger, trusted: true, name: "Anna" });
    expect(ruleMatches(team.pipeline.rules[0]!, { ...e, actor: { id: "mallory", name: "Anna" } }, f)).toBe(
      false,
    );
  });

  test("PIPE-5 PIPE-6 one that does not ask for strangers is not about them, and none wakes by them", () => {
    const rules = [
      { id: "all", on: "*", does: "wake", to: "bob" },
      { id: "them", on: "*", when: { trusted: false }, does: "wake", to: "bob" },
      {
        id: "act",
        on: "*",
        when: { trusted: false },
        does: "act",
        ops: [{ op: "comment", ticket: "BP-1", body: "Thanks {title} {x}" }],
      },
    ];
    const [e, f] = comment(stranger);
    expect(shown(decide(e, f, teamWith(rules)))).toEqual([
      "untrusted ignore bob",
      "act act scout",
      "untrusted ignore",
    ]);
  });

  test("PIPE-4 what an event says is never read for words to put in, and an op that lacks something is not made", () => {
    const rules = [
      { id: "r", on: "*", does: "act", ops: [{ op: "comment", body: "{title}" }, { op: "link_doc" }] },
    ];
    const [e, f] = comment(anna, { ticket, pr: { ...pr, title: "{actor} {person}" } });
    const found = decide(e, f, teamWith(rules));
    expect(found[0]).toMatchObject({ decision: "ignore", why: expect.stringContaining("link_doc") });
    expect(found[1]).toMatchObject({ ops: [{ body: "{actor} {person}" }] });
  });
});

const wokenAt = (who: Who, agentEvents: number) => {
  const [e, f] = comment(who, { agentEvents });
  return shown(decide(e, f, teamWith()));
};

describe("PIPE-2 who is not woken", () => {
  test("nobody by what they did themselves; an act of theirs is made all the same", () => {
    const [e, f] = comment({ ...bob, handle: "scout" });
    expect(decide(e, f, teamWith())).toMatchObject([
      { rule: "own-doing", decision: "ignore", person: "scout" },
    ]);
    const opened = event("pr.opened", { pr: { repo: "acme/shop", number: 1 } });
    expect(shown(decide(opened, facts({ ...bob, handle: "scout" }, { pr }), teamWith()))).toEqual([
      "pr.opened act scout",
      "pr.opened act scout",
    ]);
  });

  test("from policies.agent_events on an agent wakes nobody, and a human is told; a human always wakes", () => {
    expect(wokenAt(bob, 15)).toEqual(["pr.commented wake scout"]);
    expect(wokenAt(bob, 16)).toEqual(["agent-events ignore scout", "agent-events tell"]);
    expect(wokenAt(anna, 99)).toEqual(["pr.commented wake scout"]);
    const bot: Who = {
      kind: "bot",
      trusted: true,
      why: "named",
      name: "renovate[bot]",
      key: "github:renovate[bot]",
    };
    expect(wokenAt(bot, 15)).toEqual(["pr.commented wake scout"]);
    expect(wokenAt(bot, 16)).toEqual(["agent-events ignore scout", "agent-events tell"]);
  });

  test("one wake a person an event", () => {
    const [e, f] = comment(anna);
    const rules = ["a", "b"].map((id) => ({ id, on: "pr.commented", does: "wake", kind: id }));
    expect(shown(decide(e, f, teamWith(rules)))).toEqual([
      "a wake scout",
      "b ignore scout",
      "pr.commented ignore scout",
    ]);
  });
});

test("PIPE-6: what an act made wakes, and leads to no further act", () => {
  const rules = [{ id: "loop", on: "ticket.*", does: "act", ops: [{ op: "move", to: "active" }] }];
  const assigned = event("ticket.assigned", { ticket: { key: "BP-1", assignee: "scout" } });
  const found = decide(assigned, facts(office, { ticket, named: "scout", caused: true }), teamWith(rules));
  expect(shown(found)).toEqual(["loop ignore", "ticket.assigned wake scout"]);
});

test("PIPE-2 PIPE-3 PIPE-5: whatever the event, rules and facts: strangers wake nobody, nobody wakes themselves, one wake a person, the same again decides the same", () => {
  const anyWho = fc.constantFrom(anna, bob, stranger, office);
  const anyRule = fc.record({
    id: fc.constantFrom("r1", "r2"),
    on: fc.constantFrom("*", "pr.*", "ticket.*", "chat.message"),
    when: fc.constantFrom({}, { trusted: false }, { trusted: true }, { text: "a" }),
    does: fc.constantFrom("wake", "act", "ignore"),
    stop: fc.boolean(),
    to: fc.option(fc.constantFrom("scout", "bob"), { nil: undefined }),
    ops: fc.constant([{ op: "move", to: "done" }]),
  });
  const anyFacts = fc.record({
    ticket: fc.option(
      fc.constantFrom(ticket, { ...ticket, owner: "bob", assignee: "bob", before: "scout" }),
      { nil: undefined },
    ),
    pr: fc.option(
      fc.constantFrom(
        pr,
        { ...pr, state: "merged" as const, anyMerged: true, mergedBy: "bob" },
        { ...pr, owner: "bob", draft: true },
      ),
      { nil: undefined },
    ),
    named: fc.option(fc.constantFrom("scout", "bob"), { nil: undefined }),
    asked: fc.subarray(["scout", "bob"]),
    agentEvents: fc.nat(20),
    caused: fc.boolean(),
  });
  const body = {
    comment: { id: "c", body: "a" },
    review: { id: "r", state: "approved" as const, body: "a" },
    chat: {
      message: "m",
      channel: "c",
      thread: "t",
      text: "a",
      direct: true,
      participant: true,
      to: "scout",
    },
    question: { id: "q", to: "bob", text: "a", chain: [] },
    schedule: { id: "s", due: "2026-01-01T00:00:00.000Z", person: "bob", title: "t", body: "b" },
    item: { id: "i", round: 1, person: "scout", kind: "assigned", status: "done", tickets: ["BP-1"] },
    pr: { repo: "acme/shop", number: 1 },
    ticket: { key: "BP-1" },
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...WORK_EVENT_TYPES),
      anyWho,
      fc.array(anyRule, { maxLength: 3 }),
      anyFacts,
      (type, who, rules, some) => {
        const team = teamWith(rules);
        const known = Object.fromEntries(Object.entries(some).filter(([, v]) => v !== undefined));
        const [e, f] = [event(type, body), facts(who, known)];
        const found = decide(e, f, team);
        const woken = found.flatMap((d) => (d.decision === "wake" ? [d.person] : []));
        if (!who.trusted) expect(woken).toEqual([]);
        expect(woken).not.toContain(who.handle);
        expect(new Set(woken).size).toBe(woken.length);
        const among = who.kind === "person" || who.kind === "bot";
        if (among && f.agentEvents >= 16 && type !== "question.asked") expect(woken).toEqual([]);
        if (f.caused) expect(found.some((d) => d.decision === "act")).toBe(false);
        for (const d of found) expect(d.why).not.toBe("");
        expect(decide(e, f, team)).toEqual(found);
      },
    ),
    { numRuns: 1000 },
  );
});
