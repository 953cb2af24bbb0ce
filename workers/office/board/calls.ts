/** What the board asks the room, each call in one place (tests put their own answers here). */
import { roomOf } from "../../objects.ts";
import type { LiveChange } from "../letters.ts";

interface RoomCalls {
  known(asked: { users: string[]; spaces: string[] }): Promise<{ users: string[]; spaces: string[] }>;
  live(change: LiveChange): Promise<{ watchers: number }>;
}
const room = (env: Env, workspace: string) => roomOf(env, workspace) as unknown as RoomCalls;

export const CALLS = {
  /** Which of these the workspace does not have (TEAM-1). */
  known: (env: Env, workspace: string, asked: { users: string[]; spaces: string[] }) =>
    room(env, workspace).known(asked),
  /** Tells who watches, and answers how many do (QUEUE-4). */
  live: (env: Env, workspace: string, change: LiveChange) => room(env, workspace).live(change),
};
