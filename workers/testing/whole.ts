/** The room, the board and the offices together, as people and agents meet them. */
import { exports } from "cloudflare:workers";
import { type Any, call, connect, newSpace, newWorkspace, ORIGIN, type Party } from "./client.ts";
import { factsOf } from "./judge.ts";
import { Agent } from "./office.ts";
import { agentToken, teamConfig } from "./team.ts";
import { agentIds } from "./team-room.ts";

export interface Whole {
  workspace: string;
  ada: Party;
  space: string;
  team: Record<string, Party>;
}

/** A team that trusts Ada, and a space of hers with its people. */
export async function whole(...handles: string[]): Promise<Whole> {
  const { id: workspace, owner: ada } = await newWorkspace();
  const notify = await newSpace(ada, "Notices");
  const body = teamConfig(handles, {
    notify,
    humans: [{ name: "Ada", user: ada.id, lead: true }],
    usage: { track_cost: true },
  });
  const put = await call("PUT", "/v1/team", { token: ada.token, body });
  if (put.status !== 200) throw new Error(JSON.stringify(put.body));
  const ids = await agentIds(workspace);
  const space = await newSpace(ada, "Lobby", Object.values(ids));
  const team: Record<string, Party> = {};
  for (const handle of handles)
    team[handle] = { id: ids[handle] ?? "", token: await agentToken({ id: workspace, owner: ada }, handle) };
  return { workspace, ada, space, team };
}

export async function agentOf(at: Whole, handle: string): Promise<Agent> {
  const url = `${ORIGIN}/v1/workspaces/${at.workspace}/people/${handle}/agent`;
  const { webSocket } = await exports.default.fetch(new Request(url, { headers: { upgrade: "websocket" } }));
  if (!webSocket) throw new Error("no socket");
  const agent = new Agent(webSocket);
  const hello = { person: handle, token: at.team[handle]?.token, protocolVersion: 3, agentVersion: "test" };
  const { type, payload } = await agent.ask("hello", hello);
  if (type !== "welcome") throw new Error(JSON.stringify(payload));
  return agent;
}

/** Waits for a fact of a space that fits: letters take a moment. */
export async function fact(by: Party, spaceId: string, fits: (f: Any) => boolean): Promise<Any> {
  const there = (await factsOf(by, spaceId)).find(fits);
  if (there) return there;
  const socket = await connect(by, { after_seq: 0 });
  const found = await socket.next((f) => f.space_id === spaceId && fits(f));
  socket.ws.close(1000, "seen");
  return found;
}
