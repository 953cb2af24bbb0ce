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
