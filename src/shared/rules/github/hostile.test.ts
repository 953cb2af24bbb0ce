import given from "@octokit/webhooks-examples";
import fc from "fast-check";
import { expect, test } from "vitest";
import { workEvent } from "../../wire/work.ts";
import { fromGithub, GITHUB_EVENTS } from "./index.ts";

const take = (name: string, payload: unknown) => fromGithub(name, payload, "d1", "2026-01-01T00:00:00.000Z");

/** The package's types say a module where a list is. */
const examples = given as unknown as { name: string; examples: object[] }[];
const all = examples.flatMap(({ name, examples: payloads }) =>
  payloads.map((payload) => [name, payload] as const),
);

test("WORK-2 of GitHub's own examples everything that is understood becomes an event, all else nothing", () => {
  const counts = new Map<string, number>();
  for (const [name, payload] of all) {
    const events = take(name, payload);
    for (const event of events) expect(workEvent.safeParse(event).error).toBeUndefined();
    if (events.length > 0) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted()).toEqual(GITHUB_EVENTS.toSorted());
  expect(all.length).toBeGreaterThan(300);
});

const understood = all.filter(([name]) => GITHUB_EVENTS.includes(name));
const junk = fc.oneof(
  fc.constantFrom(
    null,
    "",
    "__proto__",
    -1,
    1e300,
    Number.MAX_SAFE_INTEGER + 1,
    [],
    {},
    [null],
    "9".repeat(9000),
    "\ud800",
  ),
  fc.jsonValue(),
);

/** A payload with some of its fields replaced, taken out, or made somebody's prototype. */
const broken = fc
  .tuple(
    fc.constantFrom(...understood),
    fc.array(fc.tuple(fc.nat(), junk, fc.boolean()), { minLength: 1, maxLength: 12 }),
  )
  .map(([[name, payload], changes]) => {
    const copy = structuredClone(payload) as Record<string, unknown>;
    const places: [Record<string, unknown>, string][] = [];
    const walk = (at: Record<string, unknown>, depth: number) => {
      for (const key of Object.keys(at)) {
        places.push([at, key]);
        const value = at[key];
        if (depth < 4 && typeof value === "object" && value !== null)
          walk(value as Record<string, unknown>, depth + 1);
      }
    };
    walk(copy, 0);
    for (const [where, value, remove] of changes) {
      const [at, key] = places[where % places.length]!;
      if (remove) delete at[key];
      else Object.defineProperty(at, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return [name, copy] as const;
  });

test("WORK-2 a hostile payload is events that fit, or nothing, and never a fault", () => {
  fc.assert(
    fc.property(broken, ([name, payload]) => {
      for (const event of take(name, payload)) expect(workEvent.safeParse(event).error).toBeUndefined();
      expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(...GITHUB_EVENTS, "__proto__", "constructor"), fc.string()),
      fc.jsonValue(),
      (name, payload) => {
        expect(take(name, payload)).toBeInstanceOf(Array);
      },
    ),
  );
  expect(
    take(
      "pull_request",
      JSON.parse('{"__proto__":{"repository":{"full_name":"a/b"}},"pull_request":{"number":1}}'),
    ),
  ).toEqual([]);
});

const anna = { login: "anna", type: "User" };
const app = { login: "tidy[bot]", type: "Bot" };
const repository = { full_name: "acme/shop" };
const said = {
  id: 7,
  user: anna,
  author_association: "OWNER",
  body: "x",
  created_at: "2026-01-01T00:00:00Z",
};
const on = { repository, issue: { number: 3, state: "open" }, pull_request: { number: 3, state: "open" } };

test("PIPE-5 words that somebody else wrote anew are not their author's, whatever GitHub calls the author", () => {
  for (const name of ["issue_comment", "pull_request_review_comment"]) {
    const by = (action: string, sender: object) =>
      take(name, { ...on, action, sender, comment: said })[0]?.actor;
    const author = { id: "anna", kind: "human", association: "OWNER" };
    expect(by("created", app)).toEqual(author);
    expect(by("edited", { ...anna, login: "Anna" })?.association).toBeUndefined();
    expect(by("edited", anna)).toEqual(author);
    expect(by("edited", app)).toEqual({ id: "tidy[bot]", kind: "bot" });
  }
});

test("WORK-2 what GitHub may come to do to a comment or a review is not taken for a new one", () => {
  const review = { ...said, state: "approved", submitted_at: said.created_at };
  for (const action of ["pinned", "minimized", "", 7, undefined])
    for (const name of ["issue_comment", "pull_request_review_comment", "pull_request_review"])
      expect(take(name, { ...on, action, sender: anna, comment: said, review })).toEqual([]);
});
