import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { proseOf } from "./prose.ts";

/** Whether the word HIT is among what is said to people. */
const says = (text: string) => proseOf(text).includes("HIT");

describe("what is said to people", () => {
  test.each([
    ["plain", "a HIT b"],
    ["after a code span", "`code` HIT"],
    ["between two code spans", "`a` HIT `b`"],
    ["after a backtick that opens nothing", "it`s HIT"],
    ["after an escaped backtick", "\\`HIT`"],
    ["between runs of different lengths", "``HIT`"],
    ["in a paragraph of its own between backticks", "a ` b\n\nHIT\n\nc ` d"],
    ["in an item of its own between backticks", "- a ` b\n- HIT\n- c ` d"],
    ["under a heading with a backtick", "# a ` b\nHIT ` c"],
    ["after a closed fence", "```js\ncode\n```\nHIT"],
    ["after a closed fence of tildes", "~~~\n```\n~~~\nHIT"],
    ["after a fence whose quote has ended", "> ```\n> code\nHIT"],
    ["after a fence whose item has ended", "- ```\n  code\n- HIT"],
    ["after what is not a fence, with backticks behind it", "```a`b\nHIT"],
    ["in the text of a link", "[HIT](https://x.example)"],
    ["after a link", "[a](https://x.example) HIT"],
    ["after a link without a space", "[a](<b c> 'title')HIT"],
    ["in brackets that follow no link text", "a](HIT)"],
    ["in round brackets that are no target", "[a](HIT and more)"],
    ["in an unclosed target", "[a](HIT"],
    ["after a bare address", "see https://x.example/a, HIT"],
    ["after a bare address in link text", "[https://x.example](y) HIT"],
    ["behind Han punctuation after a bare address", "看https://x.example/a。HIT"],
    ["in what looks like a definition and says more", "[a]: HIT and more"],
    ["in a footnote", "[^1]: HIT"],
    ["in a line that is indented", "    HIT"],
    ["in a quote", "> HIT"],
    ["in a quote of its own between backticks", "a ` b\n> HIT\n\nc ` d"],
    ["in round brackets behind a label", "[a]: (HIT"],
    ["in bold", "**HIT**"],
  ])("ADDR-2 counts a word %s", (_where, text) => {
    expect(says(text)).toBe(true);
  });

  test.each([
    ["a code span", "`HIT`"],
    ["a code span of two", "``a ` HIT``"],
    ["a code span over two lines", "`a\nHIT`"],
    ["a code span that goes on outside its quote", "> a `b\nHIT` c"],
    ["a code span with a backslash", "`a\\` `HIT`"],
    ["a fence", "```\nHIT\n```"],
    ["a fence's info string", "```HIT\n```"],
    ["a fence of tildes", "~~~ `x`\nHIT\n~~~"],
    ["a longer fence", "````\n```\nHIT\n````"],
    ["a fence that another mark does not close", "```\n~~~\nHIT"],
    ["a fence that a mark with words does not close", "```\n``` a\nHIT"],
    ["a fence that a listed mark does not close", "```\n- ```\nHIT"],
    ["a fence that is never closed", "```\na\n\nHIT"],
    ["a fence with blank lines", "```\n\nHIT\n\n```"],
    ["a quoted fence", "> ```\n> HIT"],
    ["a fence in an item", "- ```\n  HIT\n  ```"],
    ["a fence in a numbered item, behind a tab", "1. ```\n\tHIT"],
    ["a fence with carriage returns", "```\r\nHIT\r\n```"],
    ["a link's target", "[a](HIT)"],
    ["a target in angle brackets", "[a](<HIT b>)"],
    ["a target with round brackets", "[a](x_(HIT))"],
    ["a target's title", '[a](x "HIT")'],
    ["an image's target", "![a](HIT)"],
    ["a link in a link text's brackets", "[a [b](HIT)](c)"],
    ["a definition", "[a]: HIT"],
    ["a second definition", "[a]: x\n[b]: HIT 'title'"],
    ["a bare address", "https://x.example/HIT"],
    ["a bare address in capitals", "HTTPS://X.EXAMPLE/HIT"],
    ["an address in angle brackets", "<https://x.example/HIT>"],
    ["an address without a scheme", "www.x.example/HIT"],
    ["an address behind a Han letter", "看https://x.example/HIT"],
  ])("ADDR-2 leaves out %s", (_where, text) => {
    expect(says(text)).toBe(false);
  });

  test("ADDR-2 a text without code, brackets and addresses keeps its words", () => {
    const words = fc.string({ unit: fc.constantFrom(...Array.from("abé @_-.,>*\n")) });
    fc.assert(
      fc.property(words, (text) => {
        const bare = text.replace(/^(?:[ \t]*(?:>|[-*](?=[ \t])))*[ \t]*/gm, "");
        expect(proseOf(text).split(/\n+/).filter(Boolean)).toEqual(bare.split(/\n+/).filter(Boolean));
      }),
    );
  });

  test("ADDR-2 any text gives no more than its own words, and is read to the end", () => {
    const markdown = fc
      .array(
        fc.constantFrom(
          "`",
          "``",
          "```",
          "~~~",
          "\n",
          "> ",
          "- ",
          "[",
          "](",
          ")",
          "<",
          "\\",
          "a",
          " ",
          "HIT",
          "x://",
        ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(markdown, (text) => {
        expect(proseOf(text).length).toBeLessThanOrEqual(text.length + 1);
        expect(says(`${text}\n\n`)).toBe(says(text));
      }),
    );
  });
});
