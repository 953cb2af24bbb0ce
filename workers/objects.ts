/** The objects of a workspace by name: asking for one that was never made creates nothing (AUTH-4). */
import type { Board } from "./office/board/board.ts";
import type { Office } from "./office/office.ts";
import type { Room } from "./room/room.ts";

function within<T extends Rpc.DurableObjectBranded>(
  env: Env,
  objects: DurableObjectNamespace<T>,
): DurableObjectNamespace<T> {
  return env.JURISDICTION ? objects.jurisdiction(env.JURISDICTION as DurableObjectJurisdiction) : objects;
}

/** The Room of a workspace: its log. */
export function roomOf(env: Env, workspaceId: string): DurableObjectStub<Room> {
  return within(env, env.ROOM).getByName(workspaceId);
}

/** The Board of a workspace: what its team shares. */
export function boardOf(env: Env, workspaceId: string): DurableObjectStub<Board> {
  return within(env, env.BOARD).getByName(workspaceId);
}

/** The Office of a person of the team, by handle. */
export function officeOf(env: Env, workspaceId: string, handle: string): DurableObjectStub<Office> {
  return within(env, env.OFFICE).getByName(`${workspaceId}/${handle}`);
}
