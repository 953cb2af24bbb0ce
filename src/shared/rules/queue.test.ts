import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { declineWaitMs, indexFor, indexOfPosition, laneOf, nextOf, placeAt, type Queued } from "./queue.ts";

const HOUR = 3_600_000;
const now = 100 * HOUR;

function queue(...priorities: number[]): Queued[] {
  return priorities.map((priority, i) => ({
    id: `i${i}`,
    kind: "assigned",
    priority,
    place: i * 10,
    queuedAt: now,
    notBefore: null,
  }));
}

/** What a queue looks like after items came and were placed, by the rules alone. */
function grown(steps: readonly { priority: number; waited: number; at: number | null }[]): Queued[] {
  let all: Queued[] = [];
  for (const [i, step] of steps.entries()) {
    const index = step.at === null ? indexFor(all, step.priority, now, 4 * HOUR) : step.at % (all.length + 1);
    const { place, moved } = placeAt(all, index);
    const anew = new Map(moved.map((m) => [m.id, m.place]));
    all = all.map((one) => ({ ...one, place: anew.get(one.id) ?? one.place }));
    const made = {
      id: `i${i}`,
      kind: "assigned",
      priority: step.priority,
      place,
      queuedAt: now - step.waited * HOUR,
      notBefore: null,
    };
    all = [...all, made].toSorted((a, b) => a.place - b.place);
  }
  return all;
}
const steps = fc.array(
  fc.record({
    priority: fc.integer({ min: 0, max: 60 }),
    waited: fc.integer({ min: 0, max: 8 }),
    at: fc.option(fc.nat(100)),
  }),
  { maxLength: 60 },
);

describe("QUEUE-2: the order", () => {
  test("QUEUE-2: a new item goes behind the last with the same or a smaller number", () => {
    expect(indexFor(queue(10, 20, 50), 20, now, 4 * HOUR)).toBe(2);
    expect(indexFor(queue(10, 20, 50), 5, now, 4 * HOUR)).toBe(0);
    // A person put the 50 before the 20: what is new stays behind both.
    expect(indexFor(queue(10, 50, 20), 20, now, 4 * HOUR)).toBe(3);
  });

  test("QUEUE-2: and never ahead of one that waited for max_wait_hours", () => {
    const waiting = queue(50, 50, 50);
    waiting[1]!.queuedAt = now - 4 * HOUR;
    expect(indexFor(waiting, 10, now, 4 * HOUR)).toBe(2);
  });

  test("QUEUE-2: whatever came and was placed, places differ, and a new item stands where the rule says", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 60 }), (made, priority) => {
        const all = grown(made);
        expect(new Set(all.map((q) => q.place)).size).toBe(all.length);
        const index = indexFor(all, priority, now, 4 * HOUR);
        const behind = all.slice(index);
        expect(behind.every((q) => q.priority > priority && (q.queuedAt ?? 0) > now - 4 * HOUR)).toBe(true);
        const { place, moved } = placeAt(all, index);
        const anew = new Map(moved.map((m) => [m.id, m.place]));
        const places = all.map((q) => anew.get(q.id) ?? q.place);
        expect(places.filter((p) => p < place).length).toBe(index);
        expect(places.toSorted((a, b) => a - b)).toEqual(places);
        expect(places.includes(place)).toBe(false);
      }),
    );
  });

  test("QUEUE-2: next, last, before and after", () => {
    const all = queue(1, 2, 3);
    expect(indexOfPosition(all, "next", undefined)).toBe(0);
    expect(indexOfPosition(all, "last", undefined)).toBe(3);
    expect(indexOfPosition(all, "before", "i1")).toBe(1);
    expect(indexOfPosition(all, "after", "i1")).toBe(2);
    expect(indexOfPosition(all, "after", "i9")).toBeUndefined();
  });
});

describe("QUEUE-3: what is offered", () => {
  test("QUEUE-3: without a chat lane one item at a time, with it a chat beside another", () => {
    const all = queue(1, 2);
    all[0]!.kind = "chat";
    expect(nextOf(all, new Set(["main"]), false, now)).toBeUndefined();
    expect(nextOf(all, new Set(["main"]), true, now)?.id).toBe("i0");
    expect(nextOf(all, new Set(["chat"]), true, now)?.id).toBe("i1");
    expect(nextOf(all, new Set(["main", "chat"]), true, now)).toBeUndefined();
    expect(laneOf("question", true)).toBe("chat");
    expect(laneOf("question", false)).toBe("main");
  });

  test("OFFER-3: what was declined is passed over for a while, doubling to 15 minutes", () => {
    const all = queue(1, 2);
    all[0]!.notBefore = now + 1;
    expect(nextOf(all, new Set(), false, now)?.id).toBe("i1");
    expect(nextOf(all, new Set(), false, now + 1)?.id).toBe("i0");
    expect([1, 2, 3, 4, 5, 9].map(declineWaitMs)).toEqual([60, 120, 240, 480, 900, 900].map((s) => s * 1000));
  });
});
