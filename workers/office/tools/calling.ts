/** A call on its way, and what the tools of an office share. */
import type { OfficeTool, OfficeToolInput, ToolResult } from "../../../src/context/tools.ts";
import { Refused } from "../../kit/result.ts";
import type { AgentAct, AgentActAnswer, AgentActArgs } from "../../room/office/agent.ts";
import { CALLS } from "../calls.ts";
import { type ItemRow, originOf } from "../store/items.ts";
import type { Needs } from "./say.ts";

export interface Calling<T extends OfficeTool = OfficeTool> {
  need: Needs;
  /** Of the call: the same for each try of it (CTX-9). */
  id: string;
  /** Names the call in rooms: its stream is in it. */
  key: string;
  /** The stream's item, or the conversation that the person is in; none when they are on nothing. */
  item: ItemRow | undefined;
  input: OfficeToolInput<T>;
}

/** What a tool answers; `later`: the result comes by itself, and the call stays open until then. */
export type Called = ToolResult | "later";

/** Does or reads something in rooms as the agent. @throws Refused, with the room's words */
export async function inRooms<N extends AgentAct>(
  need: Needs,
  name: N,
  args: AgentActArgs<N>,
): Promise<AgentActAnswer<N>> {
  const { env, workspace, handle } = need.look();
  const result = await CALLS.asAgent(env, workspace, handle, name, args);
  if (!result.ok) throw new Refused(result.error);
  return result.value;
}

/** The room and the thread that the item came from, where it came from a room. */
export function roomOf(item: ItemRow | undefined): { spaceId: string; thread: string } | undefined {
  const origin = item && originOf(item);
  if (!origin?.channel.startsWith("spc_")) return undefined;
  return { spaceId: origin.channel, thread: origin.thread };
}
