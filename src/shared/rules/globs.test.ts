import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coversGlob, globFault, matchesGlob } from "./globs.ts";

const part = fc.constantFrom("a", "b", "c");
const verb = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("."));
const glob = fc
  .array(fc.oneof(part, fc.constantFrom("*", "**")), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join("."));

/** The same by a regular expression, which may take its time here. */
function asExpression(glob: string): RegExp {
  const body = glob
    .split(".")
    .map((one) => (one === "**" ? "(?:[^.]+\\.)*" : one === "*" ? "[^.]+\\." : `${one}\\.`))
    .join("");
  return new RegExp(`^${body}$`);
}

describe("POL-1 globs on the dotted verb", () => {
  test.each([
    ["email.*", "email.send", true],
    ["email.*", "email", false],
    ["email.*", "email.draft.send", false],
    ["email.**", "email.draft.send", true],
    ["email.**", "email", true],
    ["email.**", "emails.send", false],
    ["*.delete", "file.delete", true],
    ["*.delete", "file.version.delete", false],
    ["**.delete", "file.version.delete", true],
    ["**.delete", "delete", true],
    ["**.delete", "undelete", false],
    ["**", "anything.at.all", true],
    ["*", "anything", true],
    ["*", "any.thing", false],
    ["a.**.b.**.c", "a.x.b.y.b.z.c", true],
    ["payment.*", "Payment.Transfer", true],
    ["payment.*", "ｐayment.send", true],
    ["email.send", "emailXsend", false],
    ["email.*", "email.", true],
  ])("POL-1 %s means %s: %s", (glob, verb, means) => {
    expect(matchesGlob(glob, verb)).toBe(means);
  });

  test("POL-1 globs mean what their regular expressions do", () => {
    fc.assert(
      fc.property(glob, verb, (glob, verb) => {
        expect(matchesGlob(glob, verb)).toBe(asExpression(glob).test(`${verb}.`));
      }),
      { numRuns: 1000 },
    );
  });

  test("POL-1 a hostile glob and verb cost little", () => {
    const glob = `${"**.a.".repeat(9)}**.b`;
    const verb = Array.from({ length: 100_000 }, () => "a").join(".");
    const start = performance.now();
    expect(matchesGlob(glob, verb)).toBe(false);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("POL-2 globs as they are set", () => {
  test.each(["email.*", "**", "*", "a.**.b", "github.pull_request-merge", "données.lire", "tool:x/y.z"])(
    "POL-2 %s is good",
    (glob) => {
      expect(globFault(glob)).toBeUndefined();
    },
  );
  test.each(["", ".", "email.", "email..send", "***", "send*", "e?", "[ab]", "{a,b}", "a b", "!a", 7, null])(
    "POL-2 %s is bad",
    (glob) => {
      expect(globFault(glob)).toBeTypeOf("string");
    },
  );
  test("POL-2 a glob of too many parts or characters is bad", () => {
    expect(globFault(`a${".b".repeat(20)}`)).toContain("20 parts");
    expect(globFault("a".repeat(201))).toContain("200 characters");
  });

  test("POL-2 one glob is said to cover another only if it means all that the other does", () => {
    fc.assert(
      fc.property(glob, glob, fc.array(verb, { minLength: 20, maxLength: 20 }), (wide, narrow, verbs) => {
        const missed = verbs.filter((verb) => matchesGlob(narrow, verb) && !matchesGlob(wide, verb));
        expect(coversGlob(wide, narrow) ? missed : []).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ["**", "email.*", true],
    ["email.**", "email.*", true],
    ["email.*", "email.send", true],
    ["email.*", "email.**", false],
    ["**.delete", "file.*.delete", true],
    ["email.*", "Email.send", true],
    ["*", "email", true],
    ["a.**", "a", true],
    ["**", "**", true],
  ])("POL-2 %s covers %s: %s", (wide, narrow, covers) => {
    expect(coversGlob(wide, narrow)).toBe(covers);
  });
});
