import { describe, expect, test } from "vitest";
import { type LeadMessage, stillAt, wantsLead } from "./lead.ts";

const nobodys: LeadMessage = {
  from_person: true,
  addressed_to: [],
  why: "nobody",
  mentions_people_only: false,
  answers_question: false,
  deleted: false,
  held: false,
};

describe("LEAD-2 what the lead is handed", () => {
  test("LEAD-2 a person's message that was nobody's turn", () => {
    expect(wantsLead(nobodys)).toBe(true);
  });

  test.each<[string, Partial<LeadMessage>]>([
    ["LEAD-2 an agent's", { from_person: false }],
    ["LEAD-2 one for an agent", { addressed_to: ["agt_a"], why: "mentioned" }],
    ["ADDR-3 one meant for an agent that cannot be addressed", { why: "mentioned" }],
    ["ADDR-3 a reply to an agent that cannot be addressed", { why: "reply" }],
    ["ADDR-3 one for everyone where nobody can be addressed", { why: "everyone" }],
    ["LEAD-3 one that mentions only people", { why: "person-mentioned", mentions_people_only: true }],
    ["LEAD-3 an answer to a question", { answers_question: true }],
    ["NEW-9 a deleted one", { deleted: true }],
    ["GUARD-5 a held one", { held: true }],
  ])("%s is not handed to it", (_, more) => {
    expect(wantsLead({ ...nobodys, ...more })).toBe(false);
  });
});

describe("LEAD-2 stillness", () => {
  test.each([
    [{ postedAt: 1000, workingRuns: 0 }, 20_000, 21_000],
    [{ postedAt: 1000, workingRuns: 1 }, 20_000, undefined],
    [{ postedAt: 1000, typingAt: 3000, workingRuns: 0 }, 20_000, 29_000],
    [{ postedAt: 90_000, typingAt: 3000, workingRuns: 0 }, 20_000, 110_000],
    [{ postedAt: 1000, workedAt: 50_000, workingRuns: 0 }, 20_000, 70_000],
    [{ postedAt: 1000, workingRuns: 0 }, 0, 1000],
    [{ postedAt: 1000, workingRuns: 0 }, null, undefined],
  ])("LEAD-2 after %j and %s ms: still at %s", (last, stillMs, at) => {
    expect(stillAt(last, stillMs)).toBe(at);
  });
});
