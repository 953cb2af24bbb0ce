/** A room's messages as items of the person's own stream: what was overheard, edited, and taken back (CTX-7, STREAM-5). */
import { contentOf, messageItem, whoItem } from "../../../src/shared/rules/context/feed.ts";
import { runnerOf } from "../../../src/shared/rules/context/runner.ts";
import type { AppendEvent, ContextItem } from "../../../src/shared/wire/context/index.ts";
import type { Desk } from "../desk.ts";
import type { OfficeLetters } from "../letters.ts";
import type { StreamName } from "../streams/paths.ts";
import { feed, occurrencesOf, streamsWith } from "./streams.ts";

export function itemEvent(payload: ContextItem, idempotencyKey?: string): AppendEvent {
  return { type: "context-item", payload, ...(idempotencyKey !== undefined && { idempotencyKey }) };
}

/** The item that says who the agent is, where its stream has none yet or the config changed it. */
export function whoEvents(desk: Desk, stream: StreamName): AppendEvent[] {
  const { team, handle } = desk;
  const person = team.people.find((one) => one.handle === handle);
  if (!person) return [];
  const role = team.roles[person.role];
  const item = whoItem({
    handle,
    name: person.name,
    title: role?.title ?? person.role,
    summary: role?.summary,
  });
  const last = occurrencesOf(desk, stream, "who").at(-1);
  return last?.item.content === item.content ? [] : [itemEvent(item)];
}

/** A message that was not for this person, in a space where its agent is: it asks for nothing. */
export function takeOverheard(desk: Desk, said: OfficeLetters["overheard"]): void {
  const stream = { handle: desk.handle };
  if (runnerOf(desk.team, desk.handle) === undefined) return;
  if (occurrencesOf(desk, stream, said.messageId).length > 0) return;
  feed(desk, stream, [
    ...whoEvents(desk, stream),
    itemEvent(messageItem(said, "dont-trigger-request", desk.workspace)),
  ]);
}

/** A message was edited or taken back: in every stream that has it. */
export function changeInStreams(
  desk: Desk,
  { messageId, text, deleted }: OfficeLetters["message_changed"],
): void {
  for (const stream of streamsWith(desk, messageId)) {
    const found = occurrencesOf(desk, stream, messageId);
    const last = found.at(-1);
    if (!last) continue;
    if (deleted)
      feed(
        desk,
        stream,
        found.map(({ offset }) => ({ type: "context-item-redacted", payload: { offset } })),
      );
    else if (text !== undefined) feed(desk, stream, [itemEvent(edited(last.item, text))]);
  }
}

/** The item with other words: who said it and where stays its first line. */
function edited(item: ContextItem, text: string): ContextItem {
  const [head = ""] = item.content.split("\n", 1);
  return {
    ...item,
    content: contentOf(`${head}\n${text}`),
    llmRequestPolicy: { behaviour: "dont-trigger-request" },
  };
}
