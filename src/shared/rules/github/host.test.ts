import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkRunsRead, filesRead, isRepo, jobOfLink, jobRead, pullRead, statusesRead } from "./host.ts";

const GITHUB = "https://api.github.com";

describe("WORK-5 the link of a job", () => {
  test.each([
    ["https://github.com/acme/shop/actions/runs/5/job/99", GITHUB],
    ["https://github.com/acme/shop/actions/runs/5/job/99?pr=1#step:3:4", GITHUB],
    ["https://github.com/acme/shop/runs/99", GITHUB],
    ["https://api.github.com/repos/acme/shop/actions/jobs/99", GITHUB],
    ["https://ghe.acme.test/acme/shop/actions/runs/5/job/99", "https://ghe.acme.test/api/v3"],
    ["https://ghe.acme.test/api/v3/repos/acme/shop/actions/jobs/99", "https://ghe.acme.test/api/v3"],
    ["https://acme.ghe.com/acme/shop/runs/99", "https://api.acme.ghe.com"],
    ["https://github.com/acme/shop/actions/runs/5/job/99", "http://127.0.0.1:9/"],
  ])("%s at %s", (url, api) => {
    expect(jobOfLink(url, api)).toEqual({ repo: "acme/shop", job: "99" });
  });

  test.each([
    "https://github.com/acme/shop/pull/99",
    "https://github.com/acme/shop/actions/runs/5",
    "https://github.com/acme/../actions/runs/5/job/99",
    "https://github.com/acme/shop/actions/runs/5/job/99/extra",
    "https://github.com.evil.test/acme/shop/runs/99",
    "https://evil.test/acme/shop/runs/99",
    "javascript:alert(1)",
    "acme/shop#99",
    "",
  ])("%s is none", (url) => {
    expect(jobOfLink(url, GITHUB)).toBeUndefined();
  });

  test("no link leads out of a repository", () => {
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, rest) => {
        const found = jobOfLink(`https://github.com${path}${rest}`, GITHUB);
        expect(found === undefined || (isRepo(found.repo) && /^\d+$/.test(found.job))).toBe(true);
      }),
    );
  });

  test.each([["acme/shop"], ["a.b/c-d_e"]])("%s is a repository", (repo) => expect(isRepo(repo)).toBe(true));
  test.each([["../.."], ["a/.."], ["./x"], ["a"], ["a/b/c"], ["a/"], ["a%2f/b"]])("%s is none", (repo) =>
    expect(isRepo(repo)).toBe(false),
  );
});

test("WORK-5 whatever a host answers is read or is nothing, and never a fault", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      expect(["clean", "conflicting", "unknown"]).toContain(pullRead(json).mergeable);
      expect(filesRead(json)).toBeInstanceOf(Array);
      expect(checkRunsRead(json).checks).toBeInstanceOf(Array);
      expect(statusesRead(json).checks).toBeInstanceOf(Array);
      expect(jobRead(json).steps).toBeInstanceOf(Array);
    }),
  );
  expect(pullRead({ mergeable: null, head: { sha: "a" }, base: { sha: "b" } })).toEqual({
    headSha: "a",
    baseSha: "b",
    mergeable: "unknown",
  });
  expect(filesRead([{ filename: "a" }, { filename: "b", previous_filename: "c" }, {}])).toEqual([
    "a",
    "b",
    "c",
  ]);
});
