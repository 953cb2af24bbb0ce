import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OFFICE_ACTOR } from "./trust.ts";
import {
  type CheckLine,
  ciOf,
  type Fields,
  haveFailed,
  mergeableOf,
  newerCheck,
  prGiven,
  prState,
  put,
  type ReviewLine,
  requestedOf,
  reviewGiven,
  reviewState,
  ticketGiven,
  timeOf,
  verdicts,
} from "./work-state.ts";

const pr = { repo: "a/b", number: 1 };
const actor = { id: "anna" };
const of = (type: Parameters<typeof prGiven>[0]["type"], more: object = {}, reviewer?: string) =>
  prGiven({ type, source: "github", actor, pr: { ...pr, ...more }, ...(reviewer ? { reviewer } : {}) });
const all = (...steps: [Record<string, unknown>, number][]): Fields =>
  steps.reduce((fields: Fields, [given, at]) => put(fields, given, at), {});

/** Some events of one pull request, each at a time of its own. */
const someEvents = fc
  .array(
    fc.record({
      type: fc.constantFrom(
        "pr.opened",
        "pr.ready",
        "pr.updated",
        "pr.closed",
        "pr.merged",
        "pr.review_requested",
        "pr.review_request_removed",
        "pr.reviewed",
      ),
      title: fc.option(fc.constantFrom("one", "two", "three"), { nil: undefined }),
      sha: fc.option(fc.constantFrom("a1", "b2"), { nil: undefined }),
      mergeable: fc.option(fc.constantFrom("clean", "conflicting", "unknown"), { nil: undefined }),
      draft: fc.option(fc.boolean(), { nil: undefined }),
      requested: fc.option(fc.subarray(["anna", "bob"]), { nil: undefined }),
      reviewer: fc.constantFrom("anna", "bob", "cleo"),
    }),
    { maxLength: 12 },
  )
  .map((list) =>
    list.map(({ type, sha, reviewer, ...more }, n) => {
      const fields = Object.fromEntries(
        Object.entries({ ...more, head_sha: sha }).filter(([, v]) => v !== undefined),
      );
      return [of(type, fields, reviewer), n] as [Record<string, unknown>, number];
    }),
  );

const seen = (f: Fields) => [prState(f), mergeableOf(f), requestedOf(f)];

test("WORK-1: any order and any repetition of a pull request's events leaves the same state", () => {
  const shuffled = someEvents.chain((events) =>
    fc.tuple(
      fc.constant(events),
      fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([events, mixed]) => {
      const [a, b] = [all(...events), all(...mixed)];
      expect(b).toEqual(a);
      expect(seen(b)).toEqual(seen(a));
    }),
  );
});

describe("WORK-1 pull requests", () => {
  test("the newest state by the source's own time; at equal times merged over closed over open", () => {
    expect(prState(all([of("pr.closed"), 2], [of("pr.opened"), 1]))).toBe("closed");
    expect(prState(all([of("pr.opened"), 3], [of("pr.closed"), 2]))).toBe("open");
    expect(prState(all([of("pr.opened"), 1], [of("pr.merged"), 1], [of("pr.closed"), 1]))).toBe("merged");
    expect(prState(all([of("pr.closed"), 1], [of("pr.opened"), 1]))).toBe("closed");
    expect(prState(all([of("pr.merged"), 1], [of("pr.closed"), 5]))).toBe("merged");
    expect(prState(all([of("pr.merged"), 1], [of("pr.opened"), 5]))).toBe("open");
  });

  test("at equal times a field is what came last", () => {
    expect(
      all([of("pr.updated", { title: "a" }), 1], [of("pr.updated", { title: "b" }), 1])["title"]?.v,
    ).toBe("b");
  });

  test("whether it merges cleanly was said of one head", () => {
    const clean = of("pr.updated", { head_sha: "a1", mergeable: "clean" });
    expect(mergeableOf(all([clean, 1]))).toBe("clean");
    expect(mergeableOf(all([clean, 1], [of("pr.updated", { head_sha: "b2" }), 2]))).toBe("unknown");
    expect(mergeableOf(all([clean, 3], [of("pr.opened", { head_sha: "a1" }), 1]))).toBe("clean");
    expect(
      mergeableOf(
        all([of("pr.updated", { mergeable: "clean" }), 3], [of("pr.opened", { head_sha: "a1" }), 1]),
      ),
    ).toBe("clean");
    expect(mergeableOf(all([clean, 1], [of("pr.updated", { mergeable: "unknown" }), 2]))).toBe("unknown");
  });

  test("a review takes its request away; asked again, it is asked for", () => {
    const ask = of("pr.review_requested", {}, "anna");
    expect(requestedOf(all([ask, 1]))).toEqual(["anna"]);
    expect(requestedOf(all([ask, 1], [of("pr.reviewed"), 2]))).toEqual([]);
    expect(requestedOf(all([ask, 1], [of("pr.reviewed"), 2], [ask, 3]))).toEqual(["anna"]);
    expect(requestedOf(all([of("pr.updated", { requested: ["bob"] }), 2], [ask, 1]))).toEqual(["bob"]);
  });

  test("a source whose clock runs ahead is not believed about the future", () => {
    expect(timeOf("2026-01-01T00:00:00Z", Date.parse("2026-01-02T00:00:00Z"))).toBe(
      Date.parse("2026-01-01T00:00:00Z"),
    );
    expect(timeOf("9999-01-01T00:00:00Z", 1000)).toBe(61_000);
  });
});

const line = (id: string, reviewer: string, at: number, state: ReviewLine["state"]): ReviewLine => ({
  id,
  reviewer,
  at,
  state,
});

describe("WORK-1 reviews", () => {
  test("the latest verdict of each counts; a comment is none, a dismissed one leaves none", () => {
    const found = verdicts([
      line("1", "anna", 1, "approved"),
      line("2", "anna", 2, "commented"),
      line("3", "bob", 3, "changes_requested"),
      line("4", "bob", 4, "approved"),
      line("5", "cleo", 5, "approved"),
      line("6", "cleo", 6, "dismissed"),
    ]);
    expect([...found].map(([who, { id }]) => `${who} ${id}`)).toEqual(["anna 1", "bob 4"]);
  });

  test("verdicts do not depend on the order in which reviews came", () => {
    const review = fc.record({
      id: fc.uuid(),
      reviewer: fc.constantFrom("anna", "bob"),
      at: fc.nat(5),
      state: fc.constantFrom<ReviewLine["state"]>("approved", "changes_requested", "commented", "dismissed"),
    });
    const two = fc
      .uniqueArray(review, { selector: (r) => r.id, maxLength: 8 })
      .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));
    fc.assert(
      fc.property(two, ([a, b]) => {
        expect(new Map(verdicts(b))).toEqual(new Map(verdicts(a)));
      }),
    );
  });

  test("a dismissal stands whatever comes of the same review, and in any order", () => {
    const approved = reviewGiven({ id: "1", state: "approved" }, "a1");
    const dismissed = reviewGiven({ id: "1", state: "dismissed" }, undefined);
    expect(reviewState(all([dismissed, 1], [approved, 2]))).toBe("dismissed");
    expect(reviewState(all([approved, 1]))).toBe("approved");
    expect(all([approved, 1])["sha"]?.v).toBe("a1");
  });
});

const short = (line?: CheckLine) => line && { ...line, run: line.run?.replace(/^0+/, "") };

const newest = (lines: readonly CheckLine[]) =>
  lines.reduce(
    (have: CheckLine | undefined, one) => (!have || newerCheck(have, one) ? one : have),
    undefined,
  );

describe("WORK-1 checks", () => {
  const check = fc.record({
    run: fc.option(fc.constantFrom("7", "9", "10", "0010", "123456789012345678901"), { nil: null }),
    at: fc.nat(3),
    status: fc.constantFrom<CheckLine["status"]>("pending", "success", "failure"),
  });

  test("a check is its newest run, whatever the order", () => {
    fc.assert(
      fc.property(
        fc
          .array(check, { minLength: 1, maxLength: 6 })
          .chain((l) =>
            fc.tuple(fc.constant(l), fc.shuffledSubarray([...l, ...l], { minLength: l.length * 2 })),
          ),
        ([a, b]) => {
          expect(short(newest(b))).toEqual(short(newest(a)));
        },
      ),
    );
  });

  test("numbers of runs are compared as numbers, and a run that is newer stands though its word is older", () => {
    expect(
      newest([
        { run: "9", at: 5, status: "failure" },
        { run: "10", at: 1, status: "pending" },
      ])?.run,
    ).toBe("10");
    expect(
      newest([
        { run: "9", at: 2, status: "success" },
        { run: "9", at: 1, status: "pending" },
      ])?.status,
    ).toBe("success");
  });

  test("PIPE-1 they have failed once all have finished", () => {
    expect([ciOf([]), ciOf(["success"]), ciOf(["success", "pending"]), ciOf(["pending", "failure"])]).toEqual(
      ["none", "success", "pending", "failure"],
    );
    expect([
      haveFailed(["failure", "pending"]),
      haveFailed(["failure", "success"]),
      haveFailed(["success"]),
    ]).toEqual([false, true, false]);
  });
});

const ticket = (type: "ticket.closed" | "ticket.unassigned" | "ticket.updated", more: object = {}) =>
  ticketGiven({ type, source: "linear", actor, ticket: { key: "BP-1", ...more } });

test("WORK-1: what an event's type says of its ticket", () => {
  expect(ticket("ticket.closed")).toMatchObject({ status: "done" });
  expect(ticket("ticket.closed", { status: "canceled" })).toMatchObject({ status: "canceled" });
  expect(ticket("ticket.unassigned")).toMatchObject({ assignee: null, assignee_by: "linear" });
  expect(ticket("ticket.unassigned", { assignee: "bob" })).toMatchObject({ assignee: "bob" });
  expect(ticket("ticket.updated")).toMatchObject({
    assignee: undefined,
    assignee_by: undefined,
    source: "linear",
  });
});

const byOffice = (source: string) =>
  ticketGiven({ type: "ticket.updated", source, actor: { id: OFFICE_ACTOR.id }, ticket: { key: "BP-1" } });

test("PIPE-5 WORK-1: a ticket is its tracker's, also when somebody there is called as the office is", () => {
  expect(byOffice("linear")["source"]).toBe("linear");
  for (const source of ["board", "office"]) expect(byOffice(source)["source"]).toBeUndefined();
});
