import { describe, expect, test } from "vitest";
import { type MergeFacts, mergeVerdict } from "./merge-ready.ts";
import type { Who } from "./trust.ts";

const someone = (name: string, kind: Who["kind"] = "human", trusted = true): Who => ({
  kind,
  trusted,
  why: "",
  name,
  key: `${kind}:${name}`,
});
const review = (
  who: Who,
  state: "approved" | "changes_requested" | "commented" | "dismissed",
  more: object = {},
) => ({
  id: `${who.name}-${state}`,
  reviewer: who.key,
  who,
  at: 10,
  sha: "a1",
  state,
  ...more,
});
const anna = someone("Anna");
const bob = someone("Bob", "person");
const good: MergeFacts = {
  state: "open",
  draft: false,
  headSha: "a1",
  headAt: 5,
  reviews: [review(anna, "approved")],
  authors: ["person:Scout"],
  ci: "success",
  checked: true,
  mergeable: "clean",
  openThreads: 0,
};
const policy = { by: "author", approvals: 1, agents_approve: false } as const;
const verdict = (more: Partial<MergeFacts>, of: object = {}) =>
  mergeVerdict({ ...good, ...more }, { ...policy, ...of });

test("PIPE-1: approved, green, clean and no open thread can be merged", () => {
  expect(verdict({})).toEqual({ approvedBy: ["Anna"], changesRequestedBy: [] });
});

test.each<[string, Partial<MergeFacts>]>([
  ["closed", { state: "closed" }],
  ["merged", { state: "merged" }],
  ["draft", { draft: true }],
  ["running", { ci: "pending" }],
  ["failed", { ci: "failure" }],
  ["no check", { ci: "none" }],
  ["thread", { openThreads: 1 }],
  ["conflicting", { mergeable: "conflicting" }],
  ["unknown", { mergeable: "unknown" }],
  ["0 of 1", { reviews: [] }],
  ["changes", { reviews: [review(anna, "approved"), review(bob, "changes_requested")] }],
])("PIPE-1: not while %s", (word, more) => {
  expect(verdict(more).notReady).toContain(word);
});

test("PIPE-7: a repository without any check misses none; only the host's word missing is told apart", () => {
  expect(verdict({ ci: "none", checked: false }).notReady).toBeUndefined();
  expect(verdict({ mergeable: "unknown" }).onlyHostMissing).toBe(true);
  expect(verdict({ mergeable: "unknown", ci: "pending" }).onlyHostMissing).toBeUndefined();
});

const approvedBy = (reviews: MergeFacts["reviews"], of: object = {}) => verdict({ reviews }, of).approvedBy;

describe("PIPE-5 approvals", () => {
  test("count on the current head only", () => {
    expect(approvedBy([review(anna, "approved", { sha: "old" })])).toEqual([]);
    expect(approvedBy([review(anna, "approved", { sha: undefined, at: 4 })])).toEqual([]);
    expect(approvedBy([review(anna, "approved", { sha: undefined, at: 6 })])).toEqual(["Anna"]);
  });

  test("are never the author's own, whichever of their names they use", () => {
    const scout = someone("Scout", "person");
    expect(approvedBy([review(scout, "approved")], { agents_approve: true })).toEqual([]);
  });

  test("are an agent's or a bot's only where the team says so", () => {
    const bot = someone("ci", "bot");
    expect(approvedBy([review(bob, "approved"), review(bot, "approved")])).toEqual([]);
    expect(approvedBy([review(bob, "approved"), review(bot, "approved")], { agents_approve: true })).toEqual([
      "Bob",
      "ci",
    ]);
  });

  test("a stranger neither approves nor blocks", () => {
    const mallory = someone("mallory", "stranger", false);
    expect(verdict({ reviews: [review(mallory, "approved")] }).approvedBy).toEqual([]);
    expect(
      verdict({ reviews: [review(anna, "approved"), review(mallory, "changes_requested")] }).notReady,
    ).toBeUndefined();
  });

  test("the latest verdict of each counts, and as many as the team wants", () => {
    expect(
      approvedBy([review(anna, "changes_requested", { at: 1 }), review(anna, "approved", { at: 2 })]),
    ).toEqual(["Anna"]);
    expect(verdict({}, { approvals: 2 }).notReady).toContain("1 of 2");
    expect(verdict({ reviews: [] }, { approvals: 0 }).notReady).toBeUndefined();
  });
});
