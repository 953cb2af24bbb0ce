/* oxlint-disable unicorn/no-thenable -- the word of a rule: data, never awaited */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Team, team as teamSchema } from "../shared/wire/team.ts";
import { changesOf } from "./team-changes.ts";

const team = (more: object = {}): Team =>
  teamSchema.parse({ roles: { dev: { title: "Developer" } }, ...more });
const person = (handle: string, more: object = {}) => ({ handle, name: handle, role: "dev", ...more });

const made = (of: { handles: string[]; key: string; stuck: number }) =>
  team({
    key: of.key,
    people: of.handles.map((handle) => person(handle)),
    policies: { stuck_minutes: of.stuck },
  });

describe("what a config changes", () => {
  it("TEAM-1: names people by their handles, whatever place they stand at", () => {
    const before = team({ people: [person("ada"), person("bob", { model: "m1" })] });
    const after = team({ people: [person("cleo"), person("bob", { model: "m2" })] });
    expect(changesOf(before, after)).toMatchObject([
      { kind: "removed", path: "people.ada" },
      { kind: "changed", path: "people.bob.model", from: "m1", to: "m2" },
      { kind: "added", path: "people.cleo" },
    ]);
  });

  it("TEAM-1: tells what has gone back to its default, and lists without names whole", () => {
    const before = team({
      key: "SHOP",
      repositories: [{ repo: "a/b", bots: ["x"] }],
      pipeline: { chat_lane: true },
    });
    const after = team({ repositories: [{ repo: "a/b", bots: ["x", "y"] }] });
    expect(changesOf(before, after)).toEqual([
      { kind: "changed", path: "key", from: "SHOP", to: "BP" },
      { kind: "changed", path: "repositories.a/b.bots", from: ["x"], to: ["x", "y"] },
      { kind: "changed", path: "pipeline.chat_lane", from: true, to: false },
    ]);
  });

  it("PIPE-1: another order of the rules is a change", () => {
    const rules = ["one", "two"].map((id) => ({ id, on: "pr.*", then: "ignore" }));
    const [before, after] = [rules, rules.toReversed()].map((list) => team({ pipeline: { rules: list } }));
    expect(changesOf(before as Team, after as Team)).toMatchObject([
      { kind: "changed", path: "pipeline.rules" },
    ]);
  });

  it("TEAM-1: nothing is told exactly where both are the same", () => {
    const handles = fc.uniqueArray(fc.constantFrom("ada", "bob", "cleo", "dan"), { maxLength: 4 });
    const some = fc.record({
      handles,
      key: fc.constantFrom("BP", "XY"),
      stuck: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(some, some, (a, b) => {
        const equal = JSON.stringify(made(a)) === JSON.stringify(made(b));
        expect(changesOf(made(a), made(b)).length === 0).toBe(equal);
        expect(changesOf(made(a), made(a))).toEqual([]);
      }),
    );
  });
});
