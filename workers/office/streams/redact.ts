/** Taking words away: the one exception to append-only (STREAM-5). */
import { blank } from "../../../src/shared/rules/context/reduce.ts";
import { isCompaction } from "../../../src/shared/rules/context/state.ts";
import type { ContextItem } from "../../../src/shared/wire/context/item.ts";
import type { Db } from "../../kit/db.ts";
import { blankEvent, eventAt, offsetsOfItemKey } from "./store.ts";

/**
 * Blanks the item at an offset, and every other occurrence of it if it has a key. Reduced states hold no words
 * (states.ts); whoever reads a history or renders a prompt from now on reads these rows.
 */
export function redact(db: Db, stream: number, offset: number): void {
  const found = eventAt(db, stream, offset);
  if (found?.type !== "context-item") return;
  const item = JSON.parse(found.payload) as ContextItem;
  const same =
    item.key === undefined || isCompaction(item) ? [offset] : offsetsOfItemKey(db, stream, item.key);
  for (const at of same) {
    const row = at === offset ? found : eventAt(db, stream, at);
    if (row) blankEvent(db, stream, at, JSON.stringify(blank(JSON.parse(row.payload) as ContextItem)));
  }
}
