import { describe, expect, test } from "vitest";
import { findMentions } from "./mentions.ts";

const HOSTILE: readonly (readonly [string, (n: number) => string])[] = [
  ["signs", (n) => "@".repeat(n)],
  ["mentions", (n) => "@Scout".repeat(n / 6)],
  ["mentions of a long handle that go wrong at the end", (n) => `@${"a".repeat(79)}b`.repeat(n / 81)],
  ["one long word", (n) => `@${"a".repeat(n)}`],
  ["words of one letter", (n) => "@a".repeat(n / 2)],
  ["marks before a sign", (n) => `a${"\u0301".repeat(n)}@Scout`],
  ["marks behind a sign", (n) => `@a${"\u0301".repeat(n)}`],
  ["surrogates", (n) => "\udc00".repeat(n - 1).concat("@")],
  ["what NFKC makes eighteen times as long", (n) => `@${"\ufdfa".repeat(n)}`],
  [
    "backticks of growing length",
    (n) => Array.from({ length: Math.sqrt(n * 2) }, (_, i) => `${"`".repeat(i)} `).join(""),
  ],
  ["backticks that close nothing", (n) => "`` ` ".repeat(n / 5)],
  ["one line of backticks", (n) => "`".repeat(n)],
  ["open brackets", (n) => "[".repeat(n)],
  ["open targets", (n) => "[](".repeat(n / 3)],
  ["open targets in angle brackets", (n) => "[](<".repeat(n / 4)],
  ["open titles", (n) => `[](a "`.repeat(n / 6)],
  ["open titles of two kinds", (n) => `[](a "[](a '`.repeat(n / 12)],
  ["open bracketed titles", (n) => "[](a (".repeat(n / 6)],
  ["targets with white space", (n) => `[](${" ".repeat(n)}`],
  ["nested link texts", (n) => `${"[".repeat(n / 3)}${"](".repeat(n / 3)}`],
  ["quotes", (n) => ">".repeat(n)],
  ["lines of quotes in a quoted fence", (n) => `>>> \`\`\`\n${">\n".repeat(n / 2)}`],
  ["deep quotes in a deep fence", (n) => `${">".repeat(Math.sqrt(n))}~~~\n`.repeat(Math.sqrt(n))],
  ["list markers", (n) => "- ".repeat(n / 2)],
  ["white space", (n) => " ".repeat(n)],
  ["empty lines", (n) => "\n".repeat(n)],
  ["definitions", (n) => `[a]: x '${"b ".repeat(n / 2)}`],
  ["an open definition", (n) => "[a]:\n".repeat(n / 5)],
  ["schemes", (n) => "a.".repeat(n / 2)],
  ["addresses", (n) => "http://".repeat(n / 7)],
  ["domains", (n) => `%@${"a.".repeat(n / 2)}`],
  ["many domains", (n) => "%@a-".repeat(n / 4)],
  ["backslashes", (n) => "\\".repeat(n)],
];

describe("hostile texts", () => {
  const handles = [
    ...["Scout", "Ann", "José", "小明"].map((handle) => ({ id: handle, handle })),
    { id: "long", handle: "a".repeat(80) },
  ];
  const time = (text: string) => {
    const start = performance.now();
    findMentions(text, handles);
    return performance.now() - start;
  };

  // A quadratic reading of 64 KiB would take over a hundred times the bound; it is generous for a busy machine.
  test.each(HOSTILE)("ADDR-2 64 KiB of %s are read in linear time", (_what, make) => {
    const text = `@ ${make(65_536 - 16)}`;
    expect(text.length).toBeGreaterThan(60_000);
    const quickest = Math.min(...[1, 2, 3].map(() => time(text)));
    expect(quickest).toBeLessThan(150);
  });
});
