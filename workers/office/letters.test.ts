/** Letters whose taking throws, in the three objects: none of them holds up the rest for ever (CHAT-2, OFF-8). */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { aBoard, fakeNeighbours } from "../testing/board.ts";
import { newWorkspace, roomStub } from "../testing/client.ts";
import { catchLetters } from "../testing/letters.ts";
import { anOffice, connected, fakeCalls, seen, wakeOf } from "../testing/office.ts";

beforeEach(() => {
  fakeCalls();
  vi.spyOn(console, "error").mockImplementation(() => {});
});

/** Sends a batch until it is taken, as an outbox does. */
async function calls(send: () => Promise<boolean>): Promise<number> {
  for (let tries = 1; tries <= 20; tries++) {
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    if (await send()) return tries;
  }
  throw new Error("never taken");
}

describe("a letter whose taking always throws", () => {
  test("TEAM-2: a room takes those before and behind it", async () => {
    const { id } = await newWorkspace();
    const batch = [
      { n: 1, kind: "people", body: { people: [{ handle: "scout", name: "Scout" }] } },
      { n: 2, kind: "people", body: null },
      { n: 3, kind: "people", body: { people: [{ handle: "scout", name: "Scout Two" }] } },
    ];
    expect(await calls(() => roomStub(id).take("board", batch))).toBe(8);
    expect(await roomStub(id).take("board", batch)).toBe(true);
  });

  test("PIPE-3: a board takes those before and behind it", async () => {
    fakeNeighbours();
    const board = await aBoard();
    const batch = [
      { n: 1, kind: "question_canceled", body: null },
      { n: 2, kind: "windows", body: { handle: "scout", at: 1, windows: [] } },
    ];
    expect(await calls(async () => board.stub.take("office/scout", batch))).toBe(8);
    expect(await board.stub.take("office/scout", batch)).toBe(true);
  });

  test("OFF-8: an office takes those before it at once, and those behind it after eight tries", async () => {
    catchLetters();
    const desk = await anOffice();
    const agent = await connected(desk);
    const [before, behind] = [wakeOf({ title: "before" }), wakeOf({ title: "behind" })];
    const batch = [
      { n: 2, kind: "wake", body: before },
      { n: 3, kind: "wake", body: null },
      { n: 4, kind: "wake", body: behind },
    ];
    expect(await desk.stub.take("board", batch)).toBe(false);
    expect((await agent.offer()).workItem.title).toBe("before");
    expect((await seen(desk)).items).toHaveLength(1);
    expect(await calls(() => desk.stub.take("board", batch))).toBe(7);
    expect((await seen(desk)).items.map((item: { title: string }) => item.title)).toEqual([
      "before",
      "behind",
    ]);
  });
});
