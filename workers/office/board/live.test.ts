import { expect, it } from "vitest";
import type { LiveChange } from "../letters.ts";
import { openLive } from "./live.ts";

/** A room that answers when it is told to. */
function aRoom() {
  const told: { change: LiveChange; answer: (watchers: number) => void }[] = [];
  const send = (change: LiveChange) =>
    new Promise<{ watchers: number }>((resolve) => {
      told.push({ change, answer: (watchers) => resolve({ watchers }) });
    });
  return { told, live: openLive(send) };
}

it("QUEUE-4: what changes while something is sent goes together, each name once", async () => {
  const { told, live } = aRoom();
  const first = live.tell([{ people: ["scout"] }]);
  await live.tell([{ people: ["finch"], team: true }]);
  await live.tell([{ people: ["finch", "wren"], tickets: ["BP-1"] }]);
  expect(told.map((t) => t.change)).toEqual([{ people: ["scout"] }]);
  told[0]?.answer(1);
  await expect.poll(() => told.length).toBe(2);
  expect(told[1]?.change).toEqual({ people: ["finch", "wren"], tickets: ["BP-1"], team: true });
  told[1]?.answer(1);
  await first;
});

it("QUEUE-4: whoever begins to watch while the answer is under way misses nothing", async () => {
  const { told, live } = aRoom();
  const first = live.tell([{ people: ["scout"] }]);
  live.watched();
  told[0]?.answer(0);
  await first;
  const second = live.tell([{ people: ["finch"] }]);
  expect(told).toHaveLength(2);
  told[1]?.answer(0);
  await second;
  await live.tell([{ people: ["wren"] }]);
  expect(told).toHaveLength(2);
});

it("QUEUE-4: a room out of reach is told again with the next change", async () => {
  let fail = true;
  const got: LiveChange[] = [];
  const live = openLive(async (change) => {
    if (fail) throw new Error("out of reach");
    got.push(change);
    return { watchers: 1 };
  });
  await expect(live.tell([{ people: ["scout"] }])).rejects.toThrow("out of reach");
  fail = false;
  await live.tell([{ people: ["finch"] }]);
  expect(got).toEqual([{ people: ["finch"] }]);
});
