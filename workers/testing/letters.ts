/** What an office tells the board and the room, for tests that have neither. */
import { vi } from "vitest";
import type { Letter } from "../kit/outbox.ts";
import { Board } from "../office/board/board.ts";
import type { BoardLetters, RoomLetters } from "../office/letters.ts";
import { Room } from "../room/room.ts";
import type { Any } from "./client.ts";
import type { Desk } from "./office.ts";

const posts = new Map<string, Letter[]>();

/** From now on the letters of every office end here. */
export function catchLetters(): void {
  for (const [name, object] of [
    ["board", Board],
    ["room", Room],
  ] as const)
    vi.spyOn(object.prototype, "take").mockImplementation(function (this: Any, source, letters) {
      const workspace = String(this.ctx.id.name);
      const box = `${workspace} ${source} ${name}`;
      const had = posts.get(box) ?? [];
      const newest = had.at(-1)?.n ?? 0;
      posts.set(box, [...had, ...letters.filter(({ n }: Letter) => n > newest)]);
      return true;
    });
}

/** All of an office's letters until now, in order; those of other workspaces may come at any time. */
export function allLetters(desk: Desk, to: "board" | "room"): { kind: string; body: Any }[] {
  return posts.get(`${desk.workspace} office/${desk.handle} ${to}`) ?? [];
}
function lettersOf(desk: Desk, to: "board" | "room", kind: string): Any[] {
  return allLetters(desk, to)
    .filter((letter) => letter.kind === kind)
    .map(({ body }) => body);
}

/** The letters of a kind that came to the board or the room until now. */
export function lettersNow<K extends keyof BoardLetters | keyof RoomLetters>(
  desk: Desk,
  to: "board" | "room",
  kind: K,
): Any[] {
  return lettersOf(desk, to, kind);
}

/** Waits for so many letters of a kind, and hands them all back. */
export async function letters(desk: Desk, to: "board" | "room", kind: string, count = 1): Promise<Any[]> {
  // Asked again and again: what waits inside another object may not go on with this test's sockets.
  return vi.waitFor(
    () => {
      const all = lettersOf(desk, to, kind);
      if (all.length < count) throw new Error(`${all.length} of ${count} ${kind} came`);
      return all;
    },
    { interval: 10, timeout: 10_000 },
  );
}
