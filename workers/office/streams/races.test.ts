/** The named races of a stream on the real object, with its memory lost between the steps (CTX-6). */
import { beforeEach, describe, expect, test } from "vitest";
import { RACES, type Race, type RaceStep } from "../../../src/shared/rules/context/races.cases.ts";
import type { Any } from "../../testing/client.ts";
import { anOffice, type Desk, fakeCalls } from "../../testing/office.ts";
import { agentOf, BEN, dropStates, history, PLATFORM, prompt, tryAppend } from "../../testing/streams.ts";
import { evicted } from "../../testing/time.ts";

beforeEach(() => fakeCalls());

const STREAM = "/people/scout";
const tokenOf = (desk: Desk, by: RaceStep["by"]) =>
  by === "office" ? PLATFORM : by === "agent" ? agentOf(desk) : BEN;
const words = ({ items }: Any): string[] =>
  items.map((i: Any) => i.item.content.replace(/^```call\n\{"id":"exe_\d+_1".*\n```$/, "a call"));
const expected = (seen: string[]) => seen.map((one) => one.replace(/^call of \w+$/, "a call"));

/** Runs a race; `between` is what befalls the object after each step. What came of it, in the table's words. */
async function outcome({ steps, ends }: Race, between: (desk: Desk) => Promise<unknown>) {
  // Nobody runs this person: the office opens no request of its own.
  const desk = await anOffice();
  const offsets: Record<string, number> = {};
  const of = (name: string) => offsets[name] ?? expect.fail(`nothing is called ${name} yet`);
  const name = (offset: number | undefined) =>
    offset === undefined ? null : Object.keys(offsets).find((one) => offsets[one] === offset);
  const refused: (string | undefined)[] = [];
  const sent: Record<string, string> = {};
  const sentLater: Record<string, string> = {};
  for (const step of steps) {
    const named = step.events(of, Date.now(), STREAM);
    const events = named.map(({ as: _, ...event }) => event);
    const answer = await tryAppend(desk, tokenOf(desk, step.by), events);
    refused.push(answer.ok ? undefined : answer.error.code);
    for (const [i, { as, type }] of named.entries()) {
      if (!answer.ok || as === undefined) continue;
      offsets[as] = answer.value.offsets[i];
      if (type === "llm-request-requested") sent[as] = await prompt(desk, "openai", offsets[as]);
    }
    await between(desk);
  }
  for (const request of Object.keys(sent)) sentLater[request] = await prompt(desk, "openai", of(request));
  const { items, pending, open, covered, paused } = await history(desk);
  const asOf: Record<string, string[]> = {};
  for (const at of Object.keys(ends.asOf ?? {})) asOf[at] = words(await history(desk, of(at)));
  const end = {
    seen: words({ items }),
    pending: name(pending?.offset),
    open: name(open?.offset),
    covered: name(covered),
    paused,
    asOf,
  };
  return { refused, sent, sentLater, end };
}

describe.each([
  ["nothing is lost between the steps", async () => {}],
  ["its memory is lost between the steps", evicted],
  [
    "its memory and all caches are lost between the steps",
    async (desk: Desk) => {
      await dropStates(desk);
      await evicted(desk);
    },
  ],
] as const)("%s", (_, between) => {
  test.each(RACES)("CTX-6 $name", async (race) => {
    const { refused, sent, sentLater, end } = await outcome(race, between);
    const { seen, asOf = {}, ...rest } = race.ends;
    const seenThen = Object.fromEntries(Object.entries(asOf).map(([at, then]) => [at, expected(then)]));
    expect(refused).toEqual(race.steps.map((step) => step.refused));
    expect(end).toMatchObject({ ...rest, seen: expected(seen), asOf: seenThen });
    // What a request is sent stays as it was when it was opened (REQ-2).
    expect(sentLater).toEqual(sent);
  });
});
