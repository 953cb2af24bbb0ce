import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { findMentions } from "./mentions.ts";

const members = [
  { id: "ann", handle: "Ann" },
  { id: "annLee", handle: "Ann-Lee" },
  { id: "scout", handle: "Scout" },
  { id: "scout2", handle: "Scout2" },
  { id: "ivan", handle: "Иван" },
  { id: "ming", handle: "小明" },
  { id: "sakura", handle: "さくら" },
  { id: "somchai", handle: "สมชาย" },
  { id: "jimin", handle: "지민" },
  { id: "jose", handle: "José" },
  { id: "strasse", handle: "Straße" },
  { id: "reza", handle: "علیرضا" },
  { id: "mixed", handle: "Bot小明" },
  { id: "nobody" },
];
const ids = (text: string) => findMentions(text, members).ids;
const everyone = (text: string) => findMentions(text, members).everyone;

describe("findMentions", () => {
  test("ADDR-2 lists the ids, each once, in order, and leaves everybody else out", () => {
    expect(ids("@Scout and @Ann, then @scout again, but not Scout2 or @Bob")).toEqual(["scout", "ann"]);
    expect(findMentions("nothing here", members)).toEqual({ ids: [], everyone: false });
    expect(findMentions("@", members)).toEqual({ ids: [], everyone: false });
  });

  test.each([
    ["@Scout2", "scout2"],
    ["@Scout2!", "scout2"],
    ["@Ann-Lee", "annLee"],
    ["@Ann-Lea", "ann"],
    ["@Ann-", "ann"],
    ["@Scout-2", "scout"],
    ["@Bot小明", "mixed"],
  ])("ADDR-2 longest handle wins: %s is %s", (text, id) => {
    expect(ids(text)).toEqual([id]);
  });

  test.each([
    ["@SCOUT", "scout"],
    ["@ｓｃｏｕｔ", "scout"],
    ["@иван", "ivan"],
    ["@JOSE\u0301", "jose"],
    ["@STRASSE", "strasse"],
    ["@علی‌رضا", "reza"],
  ])("ADDR-2 case and form aside: %s is %s", (text, id) => {
    expect(ids(text)).toEqual([id]);
  });

  test.each([
    ["@Scout22", "a digit behind"],
    ["@Scout٣", "a digit of another script behind"],
    ["@Scout_", "an underscore behind"],
    ["@Scouts", "a letter behind"],
    ["@Anné", "a letter behind"],
    ["@Ann\u0301", "a mark that makes it another letter"],
    ["@Jose", "an accent less"],
    ["@Иваном", "a letter of its script behind"],
    ["@지민이", "a letter of its script behind"],
    ["@Bot小明x", "a letter of one of its scripts behind"],
    ["7@Scout", "a digit before"],
    ["_@Scout", "an underscore before"],
    ["x@Scout", "a letter before"],
    ["é@Scout", "a letter before"],
    ["e\u0301@Scout", "a letter with its mark before"],
    ["𝐱@Scout", "a letter that is Latin once normalised before"],
    ["x@小明x@Bot小明", "a letter of one of its scripts before"],
    ["@ Scout", "a space between"],
    ["＠Scout", "another sign"],
  ])("ADDR-2 %s reaches nobody of that name: %s", (text) => {
    const found = ids(text);
    for (const id of ["scout", "scout2", "ann", "jose", "ivan", "jimin", "mixed"])
      expect(found).not.toContain(id);
  });

  test.each([
    ["(@Scout)", "scout"],
    ["**@Scout**", "scout"],
    ["@Scout's", "scout"],
    ["@Scoutʼs", "scout"],
    ["@Scout.", "scout"],
    ["cc:@Scout", "scout"],
    ["@Scoutом", "scout"],
    ["и@Scout", "scout"],
    ["@Scout가", "scout"],
    ["@Иванx", "ivan"],
    ["请@Scout看", "scout"],
    ["请@小明看一下", "ming"],
    ["@小明さん", "ming"],
    ["@さくらさん", "sakura"],
    ["@さくらー", "sakura"],
    ["ถาม@สมชายครับ", "somchai"],
    ["@Scout👋", "scout"],
    ["👋@Scout", "scout"],
  ])("ADDR-2 %s reaches %s", (text, id) => {
    expect(ids(text)).toEqual([id]);
  });

  test("ADDR-2 mentions may follow each other without a space", () => {
    expect(ids("@小明@さくら")).toEqual(["ming", "sakura"]);
    expect(ids("@Scout,@Ann")).toEqual(["scout", "ann"]);
    expect(ids("@Иван@Scout")).toEqual(["ivan", "scout"]);
  });

  test.each([
    "`@Scout`",
    "```\n@Scout\n```",
    "[a](@Scout)",
    "https://x.example/@Scout",
    "ask bob@scout.example",
    "иван@scout.example",
    "张@scout.example",
    "a+@scout.example",
    "a-@scout.co.uk",
    "<joe@scout.example>",
  ])("ADDR-2 nobody is mentioned in code, targets or addresses: %s", (text) => {
    expect(ids(text)).toEqual([]);
  });

  test.each(["请@Scout.好的", "*@Scout.* done", "[@Scout](https://x.example)", "@scout.example"])(
    "ADDR-2 what only looks like an address is a mention: %s",
    (text) => {
      expect(ids(text)).toEqual(["scout"]);
    },
  );

  test("ADDR-2 ADDR-3 @everyone stands under the same bounds and is nobody's id", () => {
    for (const text of ["@everyone", "hey @Everyone!", "请@everyone看"]) expect(everyone(text)).toBe(true);
    for (const text of [
      "everyone",
      "@everyones",
      "@everyone2",
      "x@everyone",
      "`@everyone`",
      "a@everyone.example",
    ]) {
      expect(everyone(text)).toBe(false);
    }
    expect(findMentions("@everyone @Everyone2", [{ id: "e2", handle: "Everyone2" }])).toEqual({
      ids: ["e2"],
      everyone: true,
    });
    expect(findMentions("@everyone", [{ id: "thief", handle: "everyone" }])).toEqual({
      ids: [],
      everyone: true,
    });
  });

  test("ADDR-2 of two with one handle the first is meant, an empty one is nobody's", () => {
    const alike = [
      { id: "a", handle: "Ann" },
      { id: "b", handle: "ANN" },
      { id: "c", handle: "" },
      { id: "d" },
    ];
    expect(findMentions("@ann @", alike).ids).toEqual(["a"]);
  });

  test("ADDR-2 any words around a mention keep it, and no text finds who is not written", () => {
    const filler = fc.string({ unit: fc.constantFrom(" ", ",", "(", "你", "ก", "か", "👋", "\n\n", "!") });
    const member = fc.constantFrom(...members.filter(({ handle }) => handle !== undefined));
    fc.assert(
      fc.property(fc.array(fc.tuple(filler, member, filler), { maxLength: 6 }), (parts) => {
        const text = parts.map(([before, { handle }, after]) => `${before}@${handle} ${after}`).join(" ");
        expect(ids(text)).toEqual([...new Set(parts.map(([, { id }]) => id))]);
        expect(ids(text.replaceAll("@", "#"))).toEqual([]);
      }),
    );
  });

  test("ADDR-2 any text gives ids of members, each once", () => {
    const part = fc.constantFrom(
      "@",
      "Ann",
      "Scout",
      "2",
      "-",
      "_",
      "`",
      "[",
      "](",
      ")",
      "小明",
      "\u0301",
      " ",
      ".",
      "x",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const found = ids(parts.join(""));
        expect(new Set(found).size).toBe(found.length);
        for (const id of found) expect(members.map((member) => member.id)).toContain(id);
      }),
    );
  });
});
