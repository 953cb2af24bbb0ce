/** What an event is about, as things that items refer to (RECALL-1, OFFER-8). */
import type { WorkEvent } from "../../../../src/shared/wire/work.ts";
import type { Ref } from "../../letters.ts";
import { prKey } from "./store.ts";

export const chatRef = (chat: { channel: string; thread: string }): string =>
  `${chat.channel}/${chat.thread}`;

/** Every ticket, pull request, document and thread that an event names, each once. */
export function refsOf(event: WorkEvent): Ref[] {
  const refs: Ref[] = [];
  if (event.pr) refs.push({ type: "pr", ref: prKey(event.pr) });
  if (event.ticket) refs.push({ type: "ticket", ref: event.ticket.key });
  if (event.doc) refs.push({ type: "doc", ref: event.doc.id });
  if (event.chat) refs.push({ type: "chat_thread", ref: chatRef(event.chat) });
  for (const key of event.item?.tickets ?? []) refs.push({ type: "ticket", ref: key });
  return refs;
}
