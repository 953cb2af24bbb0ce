import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { team as teamSchema } from "../wire/team.ts";
import { type Named, OFFICE_ACTOR, OWN_SOURCES, personOf, whoIs } from "./trust.ts";

const ANNA = "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const team = teamSchema.parse({
  humans: [{ name: "Anna", user: ANNA, identities: { github: "Anna-H", linear: "anna@lin", slack: "U1" } }],
  roles: { dev: { title: "Dev" } },
  people: [{ handle: "scout", name: "Scout", role: "dev", identities: { github: "scout-bot", slack: "U9" } }],
  repositories: [{ repo: "acme/shop", bots: ["renovate[bot]"] }, { repo: "acme/other" }],
});
const who = (source: string, id: string, more: Partial<Named> = {}, place = {}) =>
  whoIs(team, { source, id, ...more }, place);

const chat = (id: string) => who("office", id, {}, { chat: true });

describe("PIPE-5 who is trusted", () => {
  test("humans and people of the team, each by the id that a source itself has for them", () => {
    expect(who("github", "anna-h")).toMatchObject({ kind: "human", trusted: true, name: "Anna", user: ANNA });
    expect(who("github", "SCOUT-bot")).toMatchObject({ kind: "person", trusted: true, handle: "scout" });
    expect(who("board", "scout")).toMatchObject({ kind: "person", handle: "scout" });
    expect(who("room", ANNA)).toMatchObject({ kind: "human", key: `human:${ANNA}` });
    expect(who("linear", "anna@lin").key).toBe(who("github", "Anna-H").key);
  });

  test("the same id of another source is a stranger, and so is a handle or a name from outside", () => {
    for (const [source, id] of [
      ["linear", "Anna-H"],
      ["github", "anna@lin"],
      ["linear", "ANNA@LIN"],
      ["github", "scout"],
      ["linear", "scout"],
      ["github", ANNA],
      ["jira", "Anna"],
    ])
      expect(who(source!, id!)).toMatchObject({ kind: "stranger", trusted: false });
    expect(who("github", "mallory", { name: "Anna", kind: "human" })).toMatchObject({
      trusted: false,
      name: "Anna",
    });
    expect(who("github", "mallory", { kind: "agent" })).toMatchObject({ kind: "stranger", trusted: false });
  });

  test("the office is itself on the board and by the clock, and nobody whom another source calls so", () => {
    for (const source of ["board", "schedule"])
      expect(who(source, OFFICE_ACTOR.id)).toMatchObject({ kind: "office", trusted: true });
    for (const source of ["linear", "github", "office", "room"])
      for (const place of [{}, { chat: true }])
        expect(who(source, OFFICE_ACTOR.id, { name: "office" }, place)).toMatchObject({
          kind: "stranger",
          trusted: false,
        });
    const named = teamSchema.parse({ humans: [{ name: "Eve", identities: { linear: OFFICE_ACTOR.id } }] });
    expect(whoIs(named, { source: "linear", id: OFFICE_ACTOR.id })).toMatchObject({
      kind: "human",
      name: "Eve",
    });
  });

  test.each(["OWNER", "MEMBER", "COLLABORATOR", "member"])("GitHub's word %s is enough", (association) => {
    expect(who("github", "carl", { association })).toMatchObject({ kind: "human", trusted: true });
    expect(who("linear", "carl", { association })).toMatchObject({ trusted: false });
  });

  test.each(["CONTRIBUTOR", "FIRST_TIMER", "NONE", "MANNEQUIN", ""])("its word %s is not", (association) => {
    expect(who("github", "carl", { association })).toMatchObject({ kind: "stranger", trusted: false });
  });

  test("bots are trusted where the team names them, and nowhere else", () => {
    const bot = (id: string, repo?: string) =>
      who("github", id, { kind: "bot", association: "MEMBER" }, repo ? { repo } : {});
    expect(bot("renovate[bot]", "acme/shop")).toMatchObject({ kind: "bot", trusted: true });
    expect(bot("renovate[bot]", "acme/other")).toMatchObject({ kind: "bot", trusted: false });
    expect(bot("renovate[bot]")).toMatchObject({ kind: "bot", trusted: false });
    expect(bot("other[bot]", "acme/shop")).toMatchObject({ kind: "bot", trusted: false });
    // An app is named as people say it, too; a user of the same login is no bot and no app's.
    const said = teamSchema.parse({ repositories: [{ repo: "acme/shop", bots: ["renovate"] }] });
    const at = { repo: "Acme/Shop" };
    for (const id of ["renovate[bot]", "Renovate[Bot]"])
      expect(whoIs(said, { source: "github", id, kind: "bot" }, at)).toMatchObject({ trusted: true });
    for (const [source, id] of [
      ["github", "renovate"],
      ["github", "renovate2[bot]"],
      ["gitlab", "renovate[bot]"],
    ] as const)
      expect(whoIs(said, { source, id, kind: "human" }, at)).toMatchObject({ trusted: false });
    expect(who("github", "sneaky[bot]", { association: "OWNER" }, { repo: "acme/shop" })).toMatchObject({
      kind: "bot",
      trusted: false,
    });
  });

  test("CHAT-1 an author whom an agent reports is known by their id in the chat, never by a handle or a login", () => {
    expect(chat("U1")).toMatchObject({ kind: "human", name: "Anna" });
    expect(chat(ANNA)).toMatchObject({ kind: "human", name: "Anna" });
    expect(chat("U9")).toMatchObject({ kind: "person", handle: "scout" });
    for (const id of ["Anna-H", "scout", "scout-bot", "Anna"])
      expect(chat(id)).toMatchObject({ trusted: false });
  });
});

test("PIPE-5: nobody is trusted whom no source's own id names", () => {
  const known = new Set(["anna-h", "anna@lin", "u1", "scout-bot", "u9", "scout", ANNA.toLowerCase()]);
  fc.assert(
    fc.property(
      fc.constantFrom("github", "linear", "jira", ...OWN_SOURCES),
      fc.oneof(
        fc.string({ minLength: 1 }),
        fc.constantFrom("Anna", "@Office", "office", "__proto__", "constructor", "toString"),
      ),
      fc.option(fc.constantFrom("human" as const, "agent" as const, "bot" as const), { nil: undefined }),
      fc.boolean(),
      (source, id, kind, chat) => {
        fc.pre(!known.has(id.toLowerCase()));
        expect(
          whoIs(team, { source, id, kind, name: "Anna", association: "NONE" }, { repo: "acme/shop", chat })
            .trusted,
        ).toBe(false);
        expect(personOf(team, source, id)).toBeUndefined();
      },
    ),
  );
});
