/** What the board asks other objects, each call in one place (tests put their own answers here). */
import type { Letter } from "../../kit/outbox.ts";
import { officeOf, roomOf } from "../../objects.ts";
import type { Address, LiveChange } from "../letters.ts";

interface RoomCalls {
  known(asked: { users: string[]; spaces: string[] }): Promise<{ users: string[]; spaces: string[] }>;
  live(change: LiveChange): Promise<{ watchers: number }>;
}
const room = (env: Env, workspace: string) => roomOf(env, workspace) as unknown as RoomCalls;

export const CALLS = {
  /** Hands the board's letters over; resolves once they are taken for good. */
  deliver: async (env: Env, workspace: string, to: Address, letters: Letter[]): Promise<boolean> => {
    if (to === "room") return roomOf(env, workspace).take("board", letters);
    return officeOf(env, workspace, to.slice("office/".length)).take("board", letters);
  },
  /** Which of these the workspace does not have (TEAM-1). */
  known: (env: Env, workspace: string, asked: { users: string[]; spaces: string[] }) =>
    room(env, workspace).known(asked),
  /** Tells who watches, and answers how many do (QUEUE-4). */
  live: (env: Env, workspace: string, change: LiveChange) => room(env, workspace).live(change),
};
