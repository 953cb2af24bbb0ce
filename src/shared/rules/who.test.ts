import { expect, test } from "vitest";
import { team as teamSchema } from "../wire/team.ts";
import { asked, namesOf } from "./who.ts";

const team = teamSchema.parse({
  roles: { dev: { title: "Developer" } },
  people: [
    { handle: "scout", name: "Scout the Dog", role: "dev", identities: { github: "scout-bot" } },
    { handle: "anna", name: "Anna's agent", role: "dev" },
  ],
  humans: [
    { name: "Anna", user: "usr_01HZZZZZZZZZZZZZZZZZZZZZZZ", identities: { github: "anna-gh" } },
    { name: "Bo" },
  ],
});

test("RECALL-1 a person is known by handle, name and identities, however they are written", () => {
  for (const name of ["scout", "@Scout", "SCOUT-bot", "scout  the dog"])
    expect(namesOf(team, name).toSorted()).toEqual(
      expect.arrayContaining(["scout", "scout the dog", "scout-bot"]),
    );
  expect(namesOf(team, "Anna-GH")).toEqual(expect.arrayContaining(["anna", "anna-gh"]));
  expect(namesOf(team, "stranger")).toEqual(["stranger"]);
});

test("ITEM-2 a question goes to a handle, else a name, else a trusted human, else what may be a role", () => {
  expect(asked(team, "@Scout")).toBe("scout");
  expect(asked(team, "Scout the dog")).toBe("scout");
  expect(asked(team, "Anna")).toBe("anna");
  expect(asked(team, "bo")).toBe("Bo");
  expect(asked(team, "usr_01HZZZZZZZZZZZZZZZZZZZZZZZ")).toBe("Anna");
  expect(asked(team, " dev ")).toBe("dev");
});
