/** The streams as feeding sees them: by name, with the occurrences of a keyed item (CTX-2). */
import type { StreamState } from "../../../src/shared/rules/context/state.ts";
import { empty } from "../../../src/shared/rules/context/state.ts";
import type { AppendEvent, ContextItem } from "../../../src/shared/wire/context/index.ts";
import type { Desk } from "../desk.ts";
import { appendTo } from "../streams/append.ts";
import { pathOf, type StreamName } from "../streams/paths.ts";
import { stateAtHead } from "../streams/states.ts";
import { eventAt, itemOfStream, offsetsOfItemKey, streamId, streamsOfItemKey } from "../streams/store.ts";

export interface Occurrence {
  offset: number;
  item: ContextItem;
}

/** Appends as the office itself; the offsets. */
export function feed(desk: Desk, stream: StreamName, events: readonly AppendEvent[]): number[] {
  return appendTo(desk, pathOf(stream), events);
}

export function stateOf(desk: Desk, stream: StreamName): StreamState {
  const id = streamId(desk.db, stream.item ?? "");
  return id === undefined ? empty() : stateAtHead(desk.db, desk.streams, id).state;
}

/** Every occurrence of a keyed item, oldest first. */
export function occurrencesOf(desk: Desk, stream: StreamName, key: string): Occurrence[] {
  const id = streamId(desk.db, stream.item ?? "");
  if (id === undefined) return [];
  return offsetsOfItemKey(desk.db, id, key).flatMap((offset) => {
    const row = eventAt(desk.db, id, offset);
    return row ? [{ offset, item: JSON.parse(row.payload) as ContextItem }] : [];
  });
}

/** The streams of this office in which an item with this key stands. */
export function streamsWith(desk: Desk, key: string): StreamName[] {
  return streamsOfItemKey(desk.db, key).map((id) => {
    const item = itemOfStream(desk.db, id);
    return item ? { handle: desk.handle, item } : { handle: desk.handle };
  });
}
