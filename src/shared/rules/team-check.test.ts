import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDocument } from "./document.ts";
import { checkTeam, type TeamFault } from "./team-check.ts";

const USER = "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const SPACE = "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";

const GOOD = `version: 1
key: ACME
notify: ${SPACE}
humans:
  - {name: Anna, user: ${USER}, lead: true, identities: {github: anna}}
roles:
  dev: {title: Developer, summary: Writes code}
people:
  - {handle: scout, name: Scout, role: dev, identities: {github: scout-bot}}
  - {handle: finch, name: Finch, role: dev, subscription: max-1}
repositories:
  - {repo: acme/shop}
schedules:
  - {id: daily, person: scout, cron: "0 9 * * 1-5", zone: Europe/Vienna, title: Look around}
pipeline:
  rules:
    - {id: quiet, on: "pr.*", when: {actor: dependabot}, then: ignore, stop: true}
    - {id: mover, on: [pr.opened], then: act, ops: [{op: move, to: review}, {op: comment, body: "see {pr}"}]}
`;

function faultsOf(text: string, format: "yaml" | "json" = "yaml"): TeamFault[] {
  const checked = checkTeam(text, format);
  return "faults" in checked ? checked.faults : [];
}
const places = (text: string) => faultsOf(text).map((f) => `${f.path}@${f.line}`);

/** Faults of a team with a second person and a human of these names. */
const named = (name: string, human = "Anna") =>
  faultsOf(
    JSON.stringify({
      roles: { dev: { title: "D" } },
      humans: [{ name: human }],
      people: [
        { handle: "scout", name: "Scout", role: "dev" },
        { handle: "mason", name, role: "dev" },
      ],
    }),
    "json",
  ).map(({ path, message }) => `${path} ${message}`);

describe("the team's config", () => {
  it("TEAM-1 TEAM-4: a good one is read, and its defaults are filled in", () => {
    const checked = checkTeam(GOOD, "yaml");
    if (!("team" in checked)) throw new Error(JSON.stringify(checked.faults));
    expect(checked.team.key).toBe("ACME");
    expect(checked.team.people[0]?.handle).toBe("scout");
    expect(checked.team.pipeline.context.items).toBe(20);
    expect(checked.team.policies.usage.pause_at).toBe(0.9);
    expect(checked.team.repositories[0]?.base).toBe("main");
    const bare = checkTeam("{}", "json");
    expect("team" in bare && bare.team.key).toBe("BP");
  });

  it("TEAM-1: the same config in JSON is the same team", () => {
    const yaml = checkTeam(GOOD, "yaml");
    if (!("team" in yaml)) throw new Error("no team");
    for (const indent of [undefined, 2, "\t"])
      expect(checkTeam(JSON.stringify(yaml.team, null, indent), "json")).toEqual(yaml);
  });

  it("TEAM-1: every fault is named with its path and line, all of them in one answer", () => {
    const text = `version: 2
key: acme
people:
  - handle: Scout
    role: dev
    colour: red
  - {handle: finch, name: 7, role: dev}
usage: {track_cost: maybe}
`;
    const faults = faultsOf(text);
    expect(faults).toEqual([
      { path: "version", line: 1, message: "must be 1" },
      { path: "key", line: 2, message: "is 2 to 5 capital letters" },
      {
        path: "people.0.handle",
        line: 4,
        message: "is 2 to 32 of a-z, 0-9 and -, beginning with a letter",
      },
      { path: "people.0.name", line: 4, message: "is missing" },
      {
        path: "people.0.colour",
        line: 6,
        message: "is unknown: there are handle, name, role, model, runtime, subscription, identities",
      },
      { path: "people.1.name", line: 7, message: "must be a text" },
      { path: "usage.track_cost", line: 8, message: "must be true or false" },
      { path: "people.0.role", line: 5, message: "there is no such role: roles has none" },
      { path: "people.1.role", line: 7, message: "there is no such role: roles has none" },
    ]);
  });

  it("TEAM-1: faults of form hide none of what refers to nothing, and a reference to what is itself at fault is none", () => {
    const text = `roles:
  dev: {titel: D}
humans: [{name: 1}]
people:
  - {handle: Scout, name: Scout, role: dev}
  - {name: Finch, role: ops}
  - 7
schedules:
  - {id: a, person: scout, cron: "x", title: 1}
  - {id: b, person: finch, cron: "0 9 * * *", title: T}
pipeline:
  rules:
    - {id: one, on: 1, then: wake, to: nobody}
    - {id: two, on: [xx, 2], then: eat, ops: [{op: fly}], to: scout}
    - {id: two, on: "*", then: act, ops: 1}
key: BP
key: BQ
`;
    expect(places(text)).toEqual([
      "key@17",
      "humans.0.name@3",
      "roles.dev.title@2",
      "roles.dev.titel@2",
      "people.0.handle@5",
      "people.1.handle@6",
      "people.2@7",
      "schedules.0.title@9",
      "pipeline.rules.0.on@13",
      "pipeline.rules.1.on@14",
      "pipeline.rules.1.then@14",
      "pipeline.rules.1.ops.0.op@14",
      "pipeline.rules.2.ops@15",
      "people.1.role@6",
      "schedules.0.cron@9",
      "schedules.1.person@10",
      "pipeline.rules.0.to@13",
      "pipeline.rules.2.id@15",
    ]);
    // With no list of people and no roles to look into, nobody can be missing there.
    expect(
      places("people: 1\nroles: []\nschedules: [{id: a, person: x, cron: '0 9 * * *', title: T}]"),
    ).toEqual(["roles@2", "people@1", "schedules.0.person@3"]);
  });

  /** Everything in a config that is one value, by its path. */
  const leaves = (value: unknown, path: (string | number)[] = []): (string | number)[][] =>
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, one]) =>
          leaves(one, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : [path];
  const LOST = {
    roles: { dev: { title: "Developer" } },
    people: [
      { handle: "scout", name: "Scout", role: "none" },
      { handle: "finch", name: "Finch", role: "dev" },
    ],
    schedules: [{ id: "a", person: "nobody", cron: "0 9 *", zone: "Mars/Base", title: "T" }],
    pipeline: {
      max_wait_hours: 4,
      rules: [
        { id: "r", on: "eaten", when: { person: "nobody" }, to: "nobody" },
        { id: "s", on: ["eaten"], when: { person: ["nobody"] }, ops: [{ op: "move", to: "lost" }] },
        // oxlint-disable-next-line unicorn/no-thenable -- the rule's own word
      ].map((rule) => ({ ...rule, then: rule.ops ? "act" : "wake" })),
    },
  };

  it("TEAM-1: whichever value is of no form that it may have, every other fault is told beside it", () => {
    const all = faultsOf(JSON.stringify(LOST), "json").map(({ path }) => path);
    expect(all).toHaveLength(10);
    fc.assert(
      fc.property(fc.constantFrom(...leaves(LOST)), fc.constantFrom({ x: 1 }, [[1]], null), (path, bad) => {
        const broken = structuredClone(LOST) as unknown;
        const parent = path
          .slice(0, -1)
          .reduce((at, key) => (at as Record<PropertyKey, unknown>)[key], broken);
        (parent as Record<PropertyKey, unknown>)[path.at(-1)!] = bad;
        const told = faultsOf(JSON.stringify(broken), "json").map((f) => f.path);
        const at = path.join(".");
        expect(told.some((one) => one === at || one.startsWith(`${at}.`) || at.startsWith(`${one}.`))).toBe(
          true,
        );
        // Of an op that is none nobody knows what belongs to it.
        const unjudged = at.endsWith(".op") ? at.slice(0, -"op".length) : undefined;
        const stay = all.filter(
          (one) => !at.startsWith(one) && (unjudged === undefined || !one.startsWith(unjudged)),
        );
        expect(told).toEqual(expect.arrayContaining(stay));
      }),
    );
  });

  it("TEAM-1: JSON has lines too, and what is no JSON says where", () => {
    expect(faultsOf('{\n  "key": "BP",\n  "people": [\n    {"handle": "x"}\n  ]\n}', "json")).toMatchObject([
      { path: "people.0.handle", line: 4 },
      { path: "people.0.name", line: 4 },
      { path: "people.0.role", line: 4 },
    ]);
    expect(faultsOf('{\n  "key": BP\n}', "json")).toMatchObject(
      [{ path: "", message: /is not JSON/ }].map((f) => ({
        ...f,
        message: expect.stringMatching(f.message),
      })),
    );
    expect(faultsOf("key: BP", "json")).toHaveLength(1);
    expect(faultsOf('{"key": "AA", "key": "BB"}', "json")).toEqual([
      { path: "key", line: 1, message: "stands there twice" },
    ]);
  });

  it("TEAM-3: handles, names, schedules, rules, repositories and identities belong to one", () => {
    const text = `roles: {dev: {title: D}}
humans:
  - {name: Anna, user: ${USER}, identities: {github: Scout-Bot}}
  - {name: anna, user: ${USER}}
people:
  - {handle: scout, name: Scout, role: dev, identities: {github: scout-bot}}
  - {handle: scout, name: SCOUT, role: dev}
repositories:
  - {repo: acme/shop}
  - {repo: Acme/Shop}
schedules:
  - {id: a, person: scout, cron: "0 9 * * *", title: T}
  - {id: a, person: scout, cron: "0 9 * * *", title: T}
pipeline:
  rules:
    - {id: r, on: "*", then: ignore}
    - {id: r, on: "*", then: ignore}
`;
    expect(places(text)).toEqual([
      "people.1.handle@7",
      "people.1.name@7",
      "humans.0.identities.github@3",
      "humans.1.name@4",
      "humans.1.user@4",
      "repositories.1.repo@10",
      "schedules.1.id@13",
      "pipeline.rules.1.id@17",
    ]);
  });

  it("TEAM-3 LIMIT-1: a name is one that rooms can show, and nobody else's that reads the same", () => {
    expect(named("Mason")).toEqual([]);
    expect(named("x".repeat(80))).toEqual([]);
    for (const name of [
      " ",
      "\u200b",
      "Mason\u200b",
      "a\u0000b",
      "a\u202eb",
      "\u2060\u3164",
      "x".repeat(81),
    ]) {
      const said = "must be 1 to 80 visible characters, none of them for formatting";
      expect([name, ...named(name)]).toEqual([name, `people.1.name ${said}`]);
      expect([name, ...named("Mason", name)]).toEqual([name, `humans.0.name ${said}`]);
    }
    for (const name of ["scout", " Scout", "Scout\n", "SCOUT "])
      expect(named(name)).toEqual(["people.1.name is the name of people.0.name too"]);
    expect(named("Mason", " mason ")).toEqual(["humans.0.name is the name of people.1.name too"]);
  });

  it("TEAM-1: of several documents the second is the fault", () => {
    expect(faultsOf("version: 1\n---\nversion: 1\n", "yaml")).toEqual([
      { path: "", line: 2, message: "cannot be read: a second document begins here: send one" },
    ]);
  });

  it("TEAM-4: what refers to somebody or something that is not there is a fault", () => {
    const text = `roles: {dev: {title: D}}
people:
  - {handle: scout, name: Scout, role: toString}
  - {handle: finch, name: Finch, role: ops}
schedules:
  - {id: a, person: nobody, cron: "0 9 * *", zone: Mars/Base, title: T}
  - {id: b, person: scout, cron: "99 9 * * *", zone: "+02:00", title: T}
  - {id: c, person: scout, cron: "0 0 30 2 *", title: T}
pipeline:
  rules:
    - {id: one, on: "ticket.eaten", then: ignore}
    - {id: two, on: ["pr.*", "xx"], then: wake, to: nobody, when: {person: [scout, other]}}
    - {id: three, on: "*", then: act}
    - {id: four, on: "*", then: act, ops: [{op: move, to: lost}, {op: comment}, {op: link_pr}, {op: link_doc}]}
    - {id: five, on: "*", then: ignore, kind: chat, ops: [{op: move, to: done}]}
`;
    expect(places(text)).toEqual([
      "people.0.role@3",
      "people.1.role@4",
      "schedules.0.person@6",
      "schedules.0.cron@6",
      "schedules.0.zone@6",
      "schedules.1.cron@7",
      "schedules.1.zone@7",
      "schedules.2.cron@8",
      "pipeline.rules.0.on@11",
      "pipeline.rules.1.on.1@12",
      "pipeline.rules.1.when.person.1@12",
      "pipeline.rules.1.to@12",
      "pipeline.rules.2.ops@13",
      "pipeline.rules.3.ops.0.to@14",
      "pipeline.rules.3.ops.1.body@14",
      "pipeline.rules.4.ops@15",
      "pipeline.rules.4.kind@15",
    ]);
  });

  it("TEAM-1: people and spaces that the workspace does not have are faults on their lines", () => {
    const checked = checkTeam(GOOD, "yaml", { users: [USER], spaces: [SPACE] });
    expect("faults" in checked && checked.faults.map((f) => `${f.path}@${f.line}`)).toEqual([
      "notify@3",
      "humans.0.user@5",
    ]);
  });
});

describe("hostile documents", () => {
  const K = 256 * 1024;
  const bomb = `a: &a [1,1,1,1,1,1,1,1,1]\n${Array.from("bcdefghij")
    .map((c, i) => `${c}: &${c} [${Array<string>(9).fill(`*${"abcdefghij"[i]}`).join(",")}]`)
    .join("\n")}`;
  it.each([
    ["too large", "#".repeat(K + 1)],
    ["brackets", "[".repeat(K)],
    ["brackets that close", "[".repeat(K / 2) + "]".repeat(K / 2)],
    ["braces", '{"a":'.repeat(K / 5)],
    ["dashes", "- ".repeat(K / 2)],
    ["question marks", "? ".repeat(K / 2)],
    ["colons", "a: ".repeat(K / 3 - 1)],
    ["indents", Array.from({ length: 700 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
    ["many keys", Array.from({ length: 25_000 }, (_, i) => `k${i}: 1`).join("\n")],
    ["an alias bomb", bomb],
    ["an alias of itself", "people: &a [*a]"],
    ["an alias of nothing", "people: *a"],
    ["a long text many times", `a: &a "${"x".repeat(200_000)}"\nb: [*a, *a, *a, *a, *a, *a, *a, *a]`],
    ["a tag", 'people: !!js/function "x"'],
    ["two documents", "{}\n---\n{}"],
    ["a prototype", "__proto__: {people: []}"],
    ["a constructor", "roles: {constructor: {title: x}}"],
    ["a key that is a list", "? [a, b]\n: c"],
    ["nothing", ""],
    ["a word", "hello"],
    ["a list", "[]"],
    ["a number beyond all", "policies: {usage: {pause_at: 1e999}}"],
    ["not a number", "policies: {usage: {pause_at: .nan}}"],
  ])("TEAM-1: %s is refused in good time, and says why", (_name, text) => {
    const began = performance.now();
    for (const format of ["yaml", "json"] as const) {
      const faults = faultsOf(text, format);
      expect(faults.length).toBeGreaterThan(0);
      expect(faults.length).toBeLessThanOrEqual(201);
      for (const fault of faults) expect(fault.message).not.toBe("");
    }
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(({} as Record<string, unknown>)["people"]).toBeUndefined();
  });

  it("TEAM-1: any text is a team or faults, never a throw", () => {
    const bits = fc.constantFrom(
      "people:",
      "  - ",
      "{",
      "}",
      "[",
      "]",
      "handle",
      ": ",
      "\n",
      "&a ",
      "*a",
      "!!str ",
      "'",
      '"',
      "|",
      ">",
      "#",
      "---",
      "%",
      "? ",
      ",",
      "\t",
      "key",
      "BP",
      "\u0000",
      "é",
      "<<: *a",
      "null",
      "1",
      "__proto__",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(bits, { maxLength: 40 }).map((parts) => parts.join("")),
        ),
        fc.constantFrom("yaml" as const, "json" as const),
        (text, format) => {
          const checked = checkTeam(text, format);
          expect("team" in checked || checked.faults.length > 0).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("TEAM-1: JSON of any shape is read as JSON reads it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const read = readDocument(text, "json");
        const words =
          text.match(/"(__proto__|constructor|toString|valueOf|hasOwnProperty|__\w+__|\w+)":/g) ?? [];
        if (words.some((w) => JSON.parse(w.slice(0, -1)) in Object.prototype)) return;
        if (!("value" in read)) throw new Error(JSON.stringify(read.faults));
        expect(JSON.stringify(read.value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it("TEAM-1: a fault's line is the line that its value stands on", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 10 }), (before, count) => {
        const text = `${"# a remark\n".repeat(before)}roles: {dev: {title: D}}\npeople:\n${Array.from(
          { length: count },
          (_, i) => `  - {handle: p${i}, name: N${i}, role: none}\n`,
        ).join("")}`;
        expect(places(text)).toEqual(
          Array.from({ length: count }, (_, i) => `people.${i}.role@${before + 3 + i}`),
        );
      }),
    );
  });
});
