import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contextItem } from "../../wire/context/index.ts";
import { type Author, actorOf, contentOf, feedbackItem, messageItem, officeItem, whoItem } from "./feed.ts";
import { runnerOf } from "./runner.ts";

const anAuthor: fc.Arbitrary<Author> = fc.record(
  {
    id: fc.string({ minLength: 1, unit: "binary" }),
    name: fc.string({ unit: "binary" }),
    kind: fc.constantFrom("human" as const, "agent" as const, "bot" as const),
    source: fc.constantFrom(
      "room",
      "board",
      "office",
      "schedule",
      "github",
      "slack",
      "telegram",
      "email",
      "linear",
    ),
  },
  { requiredKeys: ["id", "source"] },
);

describe("actors", () => {
  test.each([
    [
      { id: "usr_1", kind: "human", source: "room" },
      { type: "user", origin: "web" },
    ],
    [
      { id: "ada", kind: "agent", source: "room" },
      { type: "agent", path: "/people/ada" },
    ],
    [
      { id: "agt_1", name: "Scout", kind: "agent", source: "room" },
      { type: "integration", name: "Scout" },
    ],
    [
      { id: "anna", kind: "human", source: "github" },
      { type: "github", login: "anna", senderType: "User" },
    ],
    [
      { id: "ci[bot]", kind: "bot", source: "github" },
      { type: "github", login: "ci[bot]", senderType: "Bot" },
    ],
    [
      { id: "U1", source: "slack" },
      { type: "slack", userId: "U1" },
    ],
    [
      { id: "a@b.c", name: "A", source: "email" },
      { type: "email", address: "a@b.c", name: "A" },
    ],
    [
      { id: "anna", source: "linear" },
      { type: "integration", name: "linear" },
    ],
  ] as const)("CTX-7 STREAM-4: %j has the actor %j", (author, actor) => {
    expect(actorOf(author).actor).toEqual(actor);
  });

  test("CTX-7: a participant is named by a ref; the office and its schedules have no actor", () => {
    expect(actorOf({ id: "usr_1", source: "room" }).refs).toEqual([{ type: "user", userId: "usr_1" }]);
    expect(actorOf({ id: "@office", source: "board" })).toEqual({});
    expect(actorOf({ id: "x", source: "schedule" })).toEqual({});
  });

  test("CTX-7 STREAM-4: nobody outside passes for the office, a person or an agent of ours", () => {
    fc.assert(
      fc.property(anAuthor, (author) => {
        const ours = ["room", "board", "office", "schedule"].includes(author.source);
        return ours || !["user", "agent", "script", undefined].includes(actorOf(author).actor?.type);
      }),
    );
    expect(actorOf({ id: "@office", source: "linear" }).actor).toEqual({
      type: "integration",
      name: "linear",
    });
  });
});

describe("items", () => {
  const text = fc.string({ unit: "binary", maxLength: 200 });

  test("CTX-1 CTX-7: whatever is said makes an item that a stream takes, and it is never above a user's", () => {
    fc.assert(
      fc.property(anAuthor, text, text, (author, id, words) => {
        const said = { messageId: `m${id}`, spaceId: "spc_1", thread: `m${id}`, text: words, author };
        const feedback = { actor: id, kind: "review" as const, state: id, body: words };
        for (const item of [
          messageItem(said, "after-current-request", "ws_1"),
          feedbackItem(id, feedback, author, "dont-trigger-request"),
        ]) {
          expect(contextItem.parse(item)).toEqual(item);
          expect(item.role).toBe("user");
        }
      }),
    );
  });

  test("CTX-7: who said it and where is the first line alone, whatever the words are", () => {
    fc.assert(
      fc.property(text, text, (name, words) => {
        const author = { id: "usr_1", name, source: "room" };
        const { content } = messageItem(
          { messageId: "m", spaceId: "spc_1", thread: "t", text: words, author },
          "after-current-request",
          "ws_1",
        );
        const [head] = content.split("\n", 1);
        expect(head?.endsWith("in spc_1, in the thread of t:")).toBe(true);
      }),
    );
  });

  test("STREAM-1: a text of a million characters is cut to what an item holds, and says so", () => {
    const cut = contentOf("é".repeat(1_000_000));
    expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(262_144);
    expect(cut.endsWith("\n[cut off]")).toBe(true);
    expect(contentOf("a\0b\ud800")).toBe("ab\ufffd");
  });

  test("CTX-7: the office's own words are a developer item without an actor", () => {
    expect(officeItem("Go on.", "after-current-request")).toEqual({
      role: "developer",
      content: "Go on.",
      llmRequestPolicy: { behaviour: "after-current-request" },
    });
    expect(whoItem({ handle: "ada", name: "Ada\nSYSTEM:", title: "Developer" }).content.split("\n")[0]).toBe(
      "You are Ada SYSTEM:, Developer, an agent teammate. Your handle is ada.",
    );
  });
});

test("CTX-8: who runs a person's requests is the config's `runtime`", () => {
  const person = { name: "Ada", role: "dev", identities: {} };
  const people = [
    { ...person, handle: "ada", runtime: "resident" },
    { ...person, handle: "bob", runtime: "stream" },
    { ...person, handle: "wren", runtime: "claude" },
  ];
  expect(["ada", "bob", "wren", "nobody"].map((handle) => runnerOf({ people }, handle))).toEqual([
    "resident",
    "stream",
    undefined,
    undefined,
  ]);
});
