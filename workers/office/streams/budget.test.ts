/** What an append costs in rows, counted; the budgets are in bench/budgets.json (PERF-9, STREAM-3). */
import { beforeEach, expect, test } from "vitest";
import budgets from "../../../bench/budgets.json";
import { ANNA, type Desk, fakeCalls } from "../../testing/office.ts";
import {
  agentOf,
  anAnswer,
  anItem,
  append,
  aStreamed,
  asked,
  PLATFORM,
  TURN,
} from "../../testing/streams.ts";
import { later } from "../../testing/time.ts";

beforeEach(() => fakeCalls());

const QUIET = { llmRequestPolicy: { behaviour: "dont-trigger-request" } } as const;

async function cost(desk: Desk, work: () => Promise<unknown>): Promise<{ read: number; written: number }> {
  const before = await desk.stub.rowCounts();
  await work();
  const after = await desk.stub.rowCounts();
  return { read: after.read - before.read, written: after.written - before.written };
}

/** What each kind of item costs on a stream as it stands. */
async function costs(desk: Desk, n: number) {
  const overheard = await cost(desk, () => append(desk, ANNA, [anItem({ content: "aside", ...QUIET })]));
  const message = await cost(desk, () =>
    append(desk, ANNA, [anItem({ content: "a message", key: `msg ${n}`, ...QUIET }, `message ${n}`)]),
  );
  return { overheard, message };
}

test("PERF-9: an append writes and reads within its budget, and a whole turn does", async () => {
  const desk = await aStreamed();
  await asked(desk);
  await append(desk, agentOf(desk), anAnswer(2));
  const { stream } = budgets;
  const turn = await cost(desk, async () => {
    const request = await asked(desk);
    await append(desk, agentOf(desk), anAnswer(request));
  });
  const counted = { ...(await costs(desk, 1)), turn };
  console.info("rows of an item, a message and a turn", JSON.stringify(counted));
  for (const [what, { written, read }] of Object.entries(counted)) {
    const budget = stream[what as keyof typeof counted];
    expect([what, written <= budget.rows_written]).toEqual([what, true]);
    expect([what, read <= budget.rows_read]).toEqual([what, true]);
  }
});

test("STREAM-3: nor does it cost more on a stream of many items", async () => {
  const { small, large } = budgets.stream;
  const desk = await aStreamed();
  const fill = async (count: number) => {
    for (let i = 0; i < count; i += 1000)
      await append(
        desk,
        PLATFORM,
        Array.from({ length: Math.min(1000, count - i) }, () => anItem({ content: "line", ...QUIET })),
      );
    await later(desk, TURN);
  };
  await fill(small);
  const few = await costs(desk, 1);
  await fill(large);
  const many = await costs(desk, 2);
  console.info("rows at", small, "and", large, JSON.stringify([few, many]));
  // Now and then a state is stored, in a row or two.
  for (const what of ["overheard", "message"] as const) {
    expect(many[what].written - few[what].written).toBeLessThanOrEqual(2);
    expect(many[what].read - few[what].read).toBeLessThanOrEqual(2);
  }
}, 60_000);
