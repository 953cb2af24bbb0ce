import { describe, expect, it } from "vitest";
import { team } from "../src/shared/wire/team.ts";
import { demoTeam, planFor } from "./teammates.ts";

describe("Ada and Milo", () => {
  it("have a script for tickets, for questions, for orders, and for all else", () => {
    expect(planFor("assigned", "Paint the fence")).toMatchObject({ summary: "Sanded, painted, and dry." });
    expect(planFor("question", "how long does the paint dry?").summary).toContain("Four hours");
    expect(planFor("chat", "@Ada ask Milo how long the paint dries")).toMatchObject({
      ask: { whom: "Milo", what: "how long the paint dries" },
    });
    expect(planFor("chat", "hello").summary).toContain("by a script");
  });

  it("TEAM-4: are a team that the office takes, with the owner as its lead", () => {
    const spaceId = "spc_01K4ZQPX000000000000000002";
    const owner = { participant_id: "usr_01K4ZQPX000000000000000003", name: "Owner" };
    const parsed = team.parse(demoTeam(spaceId, owner));
    expect(parsed.people.map(({ handle }) => handle)).toEqual(["ada", "milo"]);
    expect(parsed.humans).toMatchObject([{ name: "Owner", lead: true }]);
  });
});
