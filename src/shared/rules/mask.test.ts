import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MASK, mask } from "./mask.ts";

const PEM_BODY = "MIIEowIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aozN3tihPmljnnudb9G3HE\nCsdlw2ZY8oqXb9i3Jm4vmKqG";

describe("WORK-5 what is masked", () => {
  test.each([
    ["a key of GitHub", "using ghp_16C7e42F292c6912E7710c838347Ae178B4a now", "using *** now"],
    ["an app's key", "x_ghs_16C7e42F292c6912E7710c838347Ae17", "x_***"],
    ["a fine-grained key", "github_pat_11ABCDEFG0abcdefghij_klm", "***"],
    ["a key of AWS", "id AKIAIOSFODNN7EXAMPLE, region eu", "id ***, region eu"],
    ["a token of this house", "BULLPEN=bp_01J0000000000000_secretsecret", "BULLPEN=***"],
    ["a bearer header", "Authorization: Bearer eyJhbGciOi.JIUzI1NiJ9.x-y_z", "Authorization: ***"],
    ["a bearer without its header", "sent bearer abcdef123456 twice", "sent bearer *** twice"],
    ["a basic header", "authorization: basic dXNlcjpwYXNz", "authorization: ***"],
    ["basic alone", "curl -H 'Basic dXNlcjpwYXNzd29yZA=='", "curl -H 'Basic ***'"],
    ["a token scheme", "Authorization: token abc", "Authorization: ***"],
    ["key=", "GET /x?key=abc123&page=2", "GET /x?key=***&page=2"],
    ["token=", "token=hunter2", "token=***"],
    ["password=", "password = hunter2; next", "password = ***; next"],
    ["password:", "password: hunter2", "password: ***"],
    ["a quoted value", 'secret="a \\" b" rest', "secret=*** rest"],
    ["JSON", '{"token": "abc", "name": "x"}', '{"token": ***, "name": "x"}'],
    ["a variable", "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "export AWS_SECRET_ACCESS_KEY=***"],
    ["camel case", "accessToken: 'abc'", "accessToken: ***"],
    ["a URL's password", "https://anna:hunter2@example.com/x", "https://***@example.com/x"],
    [
      "a PEM block",
      `a\n-----BEGIN RSA PRIVATE KEY-----\n${PEM_BODY}\n-----END RSA PRIVATE KEY-----\nb`,
      "a\n***\nb",
    ],
    ["a PEM block that is cut off below", `a\n-----BEGIN PRIVATE KEY-----\n${PEM_BODY}`, "a\n***"],
    ["a PEM block that is cut off above", `a b\n${PEM_BODY}\n-----END PRIVATE KEY-----\nb`, "a b\n***\nb"],
  ])("%s", (_what, text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  test.each([
    ["prose", "the bearer of it, basic knowledge, an unexpected token: x"],
    ["a monkey", "monkey: banana"],
    ["code", "if (key == other) call(key => value)"],
    ["a name without a value", "password: \nnext"],
    ["a link", "https://example.com/a@b?page=2"],
    ["nothing", ""],
  ])("what is left alone: %s", (_what, text) => {
    expect(mask(text)).toBe(text);
  });

  test("stored secrets as they are given, by their lines, and one inside another", () => {
    expect(mask("it said s3cr3t-value!", ["s3cr3t-value"])).toBe("it said ***!");
    expect(mask("longer-secret and secret", ["secret", "longer-secret"])).toBe("*** and ***");
    expect(mask("abcdefghi", ["abcdef", "defghi"])).toBe("***");
    expect(mask("second-line-of-it-all", ["first-line-of-it-all\nsecond-line-of-it-all\n"])).toBe("***");
    expect(mask("a b", ["", " ", "a"])).toBe("a b");
  });
});

const pieces = fc.constantFrom(
  ...`key=|token:|"password": |Bearer |Basic |ghp_|AKIA|://|@|=|:|"|'|\\|\n| |-----BEGIN X-----|-----END X-----`.split(
    "|",
  ),
  ..."abcdefgh|A1b2C3d4|bp_|***|_|-|é".split("|"),
);
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(pieces, { maxLength: 60 }).map((p) => p.join("")),
);

test("WORK-5 a stored secret is nowhere in what is left", () => {
  fc.assert(
    fc.property(
      hostile,
      fc.array(fc.string({ minLength: 6, maxLength: 20 }), { maxLength: 4 }),
      hostile,
      (a, secrets, b) => {
        const text = a + secrets.join(" ") + b;
        const masked = mask(text, secrets);
        const left = secrets.filter((s) => s.trim().length >= 6 && !s.includes("*") && masked.includes(s));
        expect(left).toEqual([]);
      },
    ),
  );
});

test("PIPE-4 what is not masked stays in its order", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      let at = 0;
      for (const kept of mask(text).split(MASK)) {
        const found = text.indexOf(kept, at);
        expect(found).toBeGreaterThanOrEqual(at);
        at = found + kept.length;
      }
    }),
  );
});

/** Milliseconds that masking takes, the least of three. */
function cost(text: string): number {
  return Math.min(
    ...[1, 2, 3].map(() => {
      const before = performance.now();
      mask(text, ["a-stored-secret", "aaaaaaaaaaaaaaaab"]);
      return performance.now() - before;
    }),
  );
}

test.each([
  ["one letter", "a"],
  ["pairs without an end", "key="],
  ["quotes that open", "key=\"'`"],
  ["escaped quotes", 'key="\\"'],
  ["schemes", "bearer "],
  ["encoded words", "Basic aaaa"],
  ["beginnings of blocks", "-----BEGIN X-----"],
  ["ends of blocks", "\naaaaaaaaaa\n-----END X-----"],
  ["dashes", "-----BEGIN "],
  ["URLs", "://aaaa"],
  ["keys", "ghp_"],
  ["white space", " \t"],
  ["colons", "::"],
  ["a name that goes on", "password_"],
])("WORK-5 the time is in line with the length: %s", (_what, unit) => {
  cost(unit.repeat(1000));
  const small = cost(unit.repeat(Math.ceil(100_000 / unit.length)));
  const large = cost(unit.repeat(Math.ceil(1_600_000 / unit.length)));
  // Sixteen times as long: a square would be 256 times. The addend is the clock's own unrest.
  expect(large).toBeLessThan(80 * small + 100);
});
