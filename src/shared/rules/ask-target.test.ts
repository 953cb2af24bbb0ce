import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { team as teamSchema } from "../wire/team.ts";
import { askTarget, type Standing } from "./ask-target.ts";

const TEAM = teamSchema.parse({
  roles: { dev: { title: "Developer" }, qa: { title: "Tester" }, idle: { title: "Nobody's" } },
  humans: [{ name: "Anna" }, { name: "dev" }],
  people: [
    { handle: "scout", name: "Ada Byron", role: "dev" },
    { handle: "finch", name: "scout", role: "dev" },
    { handle: "wren", name: "Anna", role: "qa" },
  ],
});
const IDLE: Standing = { status: "idle", queued: 0 };
const target = (
  to: string,
  chain: string[] = ["asker"],
  standing: (handle: string) => Standing = () => IDLE,
) => askTarget(to, TEAM, standing, chain);

describe("whom a question is for", () => {
  it("ITEM-2: a handle before a name, a name before a human, a human before a role", () => {
    expect(target("scout")).toEqual({ kind: "person", handle: "scout" });
    expect(target("ada  BYRON")).toEqual({ kind: "person", handle: "scout" });
    expect(target("Anna")).toEqual({ kind: "person", handle: "wren" });
    expect(target("dev")).toMatchObject({ kind: "human", human: { name: "dev" } });
    expect(target("developer")).toEqual({ kind: "person", handle: "scout" });
    expect(target(" @Finch ")).toEqual({ kind: "person", handle: "finch" });
  });

  it("ITEM-2: nobody is called so", () => {
    for (const to of ["", " ", "@", "nobody", "idle", "constructor", "__proto__", "toString"])
      expect(target(to)).toBeUndefined();
  });

  it("ITEM-2: of a role none in the chain is chosen", () => {
    expect(target("developer", ["finch", "scout"])).toEqual({ kind: "none", role: "dev" });
    expect(target("developer", ["scout"])).toEqual({ kind: "person", handle: "finch" });
  });

  it("ITEM-2: idle first, then the shortest queue, whoever is in the role", () => {
    const standing = fc.record({
      status: fc.constantFrom("idle" as const, "working" as const, "paused" as const, "offline" as const),
      queued: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(standing, { minLength: 1, maxLength: 6 }), (standings) => {
        const people = standings.map((_, i) => ({
          handle: `p${i}x`,
          name: `N${i}`,
          role: "dev",
          identities: {},
        }));
        const of = (handle: string) => standings[people.findIndex((p) => p.handle === handle)] ?? IDLE;
        const found = askTarget("dev", { people, humans: [], roles: TEAM.roles }, of, ["asker"]);
        const chosen = of(found?.kind === "person" ? found.handle : "");
        const idle = standings.filter((s) => s.status === "idle");
        expect(chosen.status === "idle").toBe(idle.length > 0);
        const among = idle.length > 0 ? idle : standings;
        expect(chosen.queued).toBe(Math.min(...among.map((s) => s.queued)));
      }),
    );
  });
});
