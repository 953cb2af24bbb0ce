import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { closedBy, keysIn, linkedTicket, ticketCandidates, ticketKey } from "./ticket-links.ts";

const exists = (key: string) => ["BP-1", "BP-12", "ENG-3", "acme/shop#4"].includes(key);
const link = (pr: Parameters<typeof ticketCandidates>[0]) => linkedTicket(ticketCandidates(pr), exists);

describe("WORK-6 keys", () => {
  test.each([
    ["scout/bp-12-fix-cart", ["BP-12"]],
    ["feature_BP-1", ["BP-1"]],
    ["[Eng-3] and BP-1, BP-1", ["ENG-3", "BP-1"]],
    ["BP-12.", ["BP-12"]],
    ["xBP-1 1BP-1", ["XBP-1"]],
    ["BP-1x BP-1é éBP-1", []],
    ["BP-012 BP-0 BP-", []],
    ["UTF-8", ["UTF-8"]],
  ])("%s names %j", (text, keys) => {
    expect(keysIn(text)).toEqual(keys);
  });

  test("a key has one spelling; what is no such key stays as its tracker writes it", () => {
    expect([ticketKey("bp-1"), ticketKey("acme/Shop#4"), ticketKey("abc")]).toEqual([
      "BP-1",
      "acme/Shop#4",
      "abc",
    ]);
  });
});

describe("WORK-6 closing keywords", () => {
  test("GitHub's nine, in any case, with or without a colon", () => {
    for (const word of [
      "close",
      "closes",
      "closed",
      "fix",
      "fixes",
      "fixed",
      "resolve",
      "resolves",
      "resolved",
    ])
      for (const as of [word, word.toUpperCase(), `${word}:`])
        expect(closedBy(`It ${as} BP-1.`)).toEqual(["BP-1"]);
  });

  test.each([
    "see BP-1",
    "BP-1",
    "fixing BP-1",
    "fixesBP-1",
    "prefix BP-1",
    "closure BP-1",
    "unresolved BP-1",
  ])("a bare mention links nothing: %s", (body) => {
    expect(closedBy(body)).toEqual([]);
  });

  test("a link of the ticket's, and an issue by its number", () => {
    expect(closedBy("Closes https://linear.test/acme/issue/BP-12")).toEqual(["BP-12"]);
    expect(closedBy("fixes #4, resolves other/repo#9", "acme/shop")).toEqual(["acme/shop#4", "other/repo#9"]);
    expect(closedBy("fixes #4")).toEqual([]);
  });
});

describe("WORK-6 ITEM-4 which ticket a pull request is for", () => {
  test("its branch, then its title, then a closing keyword", () => {
    expect(link({ head: "eng-3-x", title: "BP-1", body: "fixes BP-12" })).toBe("ENG-3");
    expect(link({ head: "x", title: "BP-1 and BP-12", body: "fixes BP-12" })).toBe("BP-1");
    expect(link({ head: "x", title: "y", body: "fixes BP-12" })).toBe("BP-12");
    expect(link({ head: "x", title: "y", body: "about BP-12" })).toBeUndefined();
    expect(link({ head: "x", title: "y", body: "fixes #4", repo: "acme/shop" })).toBe("acme/shop#4");
  });

  test("UTF-8 links nothing, and hides no ticket after it", () => {
    expect(link({ head: "utf-8", title: "UTF-8 in BP-1" })).toBe("BP-1");
    expect(link({ title: "UTF-8 everywhere", body: "fixes SHA-256" })).toBeUndefined();
  });
});

test("WORK-6: what is linked exists, and hostile text costs no time", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (head, title, body) => {
      const found = link({ head, title, body });
      expect(found === undefined || exists(found)).toBe(true);
    }),
  );
  for (const evil of [
    "BP-1 ".repeat(50_000),
    "a-".repeat(100_000),
    `fixes https://${"/".repeat(100_000)}`,
    "close ".repeat(50_000),
  ]) {
    const began = performance.now();
    ticketCandidates({ head: evil, title: evil, body: evil });
    expect(performance.now() - began).toBeLessThan(1000);
  }
});
