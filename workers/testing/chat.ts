/** A chat item of the office's tests: a wake as the pipeline makes it of somebody's message. */
import { newId } from "./client.ts";
import { type Agent, type Desk, take, wake } from "./office.ts";

export interface Chat {
  id: string;
  origin: {
    channel: string;
    thread: string;
    requester: { id: string; name: string };
    direct: boolean;
    participant: boolean;
  };
}

/** A message of Anna's that the person's agent is at work on. */
export async function chatting(
  desk: Desk,
  agent: Agent,
  more: { text?: string; channel?: string; thread?: string } = {},
): Promise<Chat> {
  const from = agent.frames.length;
  const origin = await said(desk, more);
  const { payload } = await agent.next((f) => f.type === "offer" && f.payload.workItem.kind === "chat", from);
  const { id } = payload.workItem;
  await take(agent, id, from);
  return { id, origin };
}

/** A message of Anna's, as a wake. */
export async function said(
  desk: Desk,
  {
    text = "Look into the shop.",
    channel = "C1",
    thread = newId("msg"),
  }: { text?: string; channel?: string; thread?: string } = {},
): Promise<Chat["origin"]> {
  const origin = {
    channel,
    thread,
    requester: { id: "usr_anna", name: "Anna" },
    direct: false,
    participant: true,
  };
  await wake(desk, {
    key: `chat:${channel}:${newId("msg")}:${desk.handle}`,
    kind: "chat",
    title: text,
    body: text,
    origin,
    requester: { id: "usr_anna", name: "Anna", kind: "human" },
    refs: [{ type: "chat_thread", ref: `${channel}/${thread}`, role: "trigger", source: "evt" }],
  });
  return origin;
}
