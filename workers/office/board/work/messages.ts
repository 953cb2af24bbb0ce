/** Messages of rooms that were edited or taken back after the board took them in (NEW-7). */
import { firstBytes } from "../../../../src/shared/rules/text.ts";
import { MAX_BODY_BYTES } from "../../../../src/shared/wire/work.ts";
import type { BoardLetters } from "../../letters.ts";
import type { BoardLedger } from "../ledger.ts";

/** The board's copy of a message says what the room's says, or nothing. */
export function takeMessageChanged(
  ledger: BoardLedger,
  { messageId, text = "", deleted }: BoardLetters["message_changed"],
): void {
  const words = deleted ? "" : firstBytes(text, MAX_BODY_BYTES);
  ledger.db.run(
    `UPDATE events SET event = json_set(event, '$.chat.text', ?1) WHERE type = 'chat.message'
       AND json_extract(event, '$.chat.message') = ?2`,
    words,
    messageId,
  );
  if (deleted)
    ledger.db.run(
      `UPDATE events SET event = json_remove(event, '$.chat.files') WHERE type = 'chat.message'
         AND json_extract(event, '$.chat.message') = ?`,
      messageId,
    );
}
