import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Given, ROLES, type Thing, type Walk, walk } from "./wake.ts";

const thing = (name: string): Thing => {
  const [type, ref] = name.split(" ") as [Thing["type"], string];
  return { type, ref };
};
const given = (name: string, role: Given["role"], source = "evt_1"): Given => ({
  ...thing(name),
  role,
  source,
});

/** A walk over links that are written as pairs; everything named exists, touched in the order of naming. */
function over(links: [string, string][], asked: Partial<Walk> & Pick<Walk, "given">) {
  const names = [...new Set([...asked.given.map((g) => `${g.type} ${g.ref}`), ...links.flat()])];
  return walk({
    items: 20,
    linked: ({ type, ref }) =>
      links.flatMap(([a, b]) =>
        a === `${type} ${ref}` ? [thing(b)] : b === `${type} ${ref}` ? [thing(a)] : [],
      ),
    touched: ({ type, ref }) => {
      const at = names.indexOf(`${type} ${ref}`);
      return at < 0 ? undefined : at;
    },
    ...asked,
  });
}
const shown = ({ picked }: ReturnType<typeof walk>) =>
  picked.map((p) => `${p.ref} ${p.why.role} ${p.why.source}`);

describe("OFFER-8 the walk", () => {
  test("begins at the trigger, then the subject, and names the link that each other came by", () => {
    const links: [string, string][] = [
      ["pr a/b#1", "ticket BP-1"],
      ["ticket BP-1", "ticket BP-0"],
      ["ticket BP-0", "doc d1"],
      ["pr a/b#1", "pr a/b#2"],
    ];
    const found = over(links, {
      given: [given("ticket BP-1", "subject"), given("pr a/b#1", "trigger", "evt_9")],
    });
    expect(shown(found)).toEqual([
      "a/b#1 trigger evt_9",
      "BP-1 subject evt_1",
      "a/b#2 linked link:a/b#1",
      "BP-0 linked link:BP-1",
      "d1 linked link:BP-0",
    ]);
    expect(found.omitted).toBe(0);
  });

  test("a thing has the first role that fits, and keeps it when a link leads to it too", () => {
    const found = over([["ticket BP-1", "pr a/b#1"]], {
      given: [
        given("pr a/b#1", "mentioned"),
        given("pr a/b#1", "created", "work_made"),
        given("ticket BP-1", "subject"),
      ],
    });
    expect(shown(found)).toEqual(["BP-1 subject evt_1", "a/b#1 created work_made"]);
  });

  test("of too many the farthest are left out, then the oldest", () => {
    const links: [string, string][] = [
      ["ticket BP-1", "pr a/b#1"],
      ["ticket BP-1", "pr a/b#2"],
      ["pr a/b#2", "doc far"],
    ];
    const found = over(links, { given: [given("ticket BP-1", "subject")], items: 2 });
    expect(shown(found)).toEqual(["BP-1 subject evt_1", "a/b#2 linked link:BP-1"]);
    expect(found.omitted).toBe(2);
  });

  test("what the item refers to is nearer than what is linked to that", () => {
    const links: [string, string][] = [
      ["ticket BP-1", "ticket BP-2"],
      ["chat_thread s/m", "doc d"],
    ];
    const found = over(links, {
      given: [given("ticket BP-1", "subject"), given("chat_thread s/m", "attached", "msg_1")],
      items: 3,
    });
    expect(shown(found)).toEqual(["BP-1 subject evt_1", "s/m attached msg_1", "BP-2 linked link:BP-1"]);
    expect(found.omitted).toBe(1);
  });

  test("an item without a subject goes by what else it refers to", () => {
    const found = over([["pr a/b#1", "doc d"]], { given: [given("pr a/b#1", "attached", "work_attach")] });
    expect(shown(found)).toEqual(["a/b#1 attached work_attach", "d linked link:a/b#1"]);
  });

  test("what does not exist leads nowhere, and an item without anything has nothing", () => {
    const none = walk({
      given: [given("pr a/b#1", "subject")],
      items: 5,
      linked: () => [thing("doc d")],
      touched: () => undefined,
    });
    expect(none).toEqual({ picked: [], omitted: 0 });
  });
});

const things = fc
  .tuple(fc.constantFrom("ticket", "pr", "doc", "chat_thread"), fc.nat(9))
  .map(([type, n]) => `${type} r${n}`);

test("OFFER-8 each thing once, never more than the limit, everything counted, each link's source in reach", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(things, fc.constantFrom(...ROLES)), { minLength: 1, maxLength: 8 }),
      fc.array(fc.tuple(things, things), { maxLength: 30 }),
      fc.nat(25),
      (refs, links, items) => {
        const asked = { given: refs.map(([name, role]) => given(name, role)), items };
        const { picked, omitted } = over(links, asked);
        const names = picked.map((p) => `${p.type} ${p.ref}`);
        expect(new Set(names).size).toBe(names.length);
        expect(picked.length).toBeLessThanOrEqual(items);
        const all = over(links, { ...asked, items: 1000 });
        expect(picked.length + omitted).toBe(all.picked.length);
        const refsOf = new Set(all.picked.map((p) => `link:${p.ref}`));
        const strangers = picked.filter((p) => p.why.source.startsWith("link:") && !refsOf.has(p.why.source));
        expect(strangers).toEqual([]);
        for (const [name, role] of refs) {
          const of = picked.find((p) => `${p.type} ${p.ref}` === name);
          if (of) expect(ROLES.indexOf(of.why.role)).toBeLessThanOrEqual(ROLES.indexOf(role));
        }
      },
    ),
  );
});

test("OFFER-8 a ring and a crowd end", () => {
  const crowd = walk({
    given: [given("ticket BP-1", "subject")],
    items: 20,
    linked: () => Array.from({ length: 5000 }, (_, n) => thing(`ticket BP-${n}`)),
    touched: () => 0,
  });
  expect(crowd.picked).toHaveLength(20);
  expect(crowd.omitted).toBe(500);
});
