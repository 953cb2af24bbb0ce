/** What the rounds of an item tell the parts of the office that speak with others. */

import type { ItemState } from "../../../src/shared/rules/item-states.ts";
import type { SessionUsage } from "../../../src/shared/wire/agent/index.ts";
import type { Db } from "../../kit/db.ts";
import type { Desk } from "../desk.ts";
import type { ItemRow } from "../store/items.ts";

/** What a round newly used (USE-1). */
export function takeUsage(
  _desk: Desk,
  _item: string,
  _round: number,
  _usage: readonly SessionUsage[] | undefined,
): void {}
/** A runtime session is an item's (OFFER-5). */
export function claimSession(_desk: Desk, _item: string, _session: string): void {}
/** A round ended in a way that who asked is told (REPORT-1). */
export function noteEnding(_desk: Desk, _item: string, _kind: "result" | "blocked", _text: string): void {}
/** An item ended: what nobody answered of its questions is asked no more (ITEM-2). */
export function cancelQuestions(_desk: Desk, _item: string): void {}
/** Whether an answer came that the agent has not seen: a round that waits for it need not wait (ITEM-2). */
export function hasUnseenAnswer(_db: Db, _item: string): boolean {
  return false;
}
/** A round was offered with every answer in its journal. */
export function answersSeen(_db: Db, _item: string): void {}
/** An item that was a question ended without, or by, an answer of its own: the asker is told (ITEM-2). */
export function questionEnded(_desk: Desk, _row: ItemRow, _state: ItemState, _text: string): void {}
