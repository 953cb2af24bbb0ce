/** The queue, its offers and rounds, in a real office with a board that agrees. */
import { beforeEach, describe, expect, test } from "vitest";
import { anOffice, connected, fakeCalls, handback, queue, take } from "../testing/office.ts";

beforeEach(() => fakeCalls());

describe("the queue", () => {
  test("QUEUE-2 QUEUE-3: items are offered one at a time, by priority, then in the order they came", async () => {
    const desk = await anOffice();
    const c = await queue(desk, "C", { priority: 60 });
    const a = await queue(desk, "A", { priority: 20 });
    const b = await queue(desk, "B", { priority: 20 });
    const agent = await connected(desk);
    for (const id of [a, b, c]) {
      await take(agent, id);
      await handback(agent, id);
    }
    expect(agent.frames.filter((f) => f.type === "offer").map((f) => f.payload.workItem.id)).toEqual([
      a,
      b,
      c,
    ]);
  });
});
