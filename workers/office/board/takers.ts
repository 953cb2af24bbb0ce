/** What each kind of letter to the board does: one function a kind, run inside the transaction that takes it in. */
import type { Address, BoardLetters } from "../letters.ts";
import type { BoardLedger } from "./ledger.ts";
import { takeAnswered, takeCanceled } from "./team/asks.ts";
import { takeWindows } from "./team/holds.ts";
import { takeStatus } from "./team/people.ts";
import { takeUsed } from "./tickets/used.ts";
import { takeActResult } from "./work/acts.ts";
import { takeCanceledItem, takeWoken } from "./work/carry.ts";
import { takeMade } from "./work/made.ts";
import { takeMessageChanged } from "./work/messages.ts";
import { takeRefs } from "./work/moments.ts";
import { takeEvent } from "./work/take.ts";

export type Takers = {
  [K in keyof BoardLetters]?: (ledger: BoardLedger, body: BoardLetters[K], from: Address) => void;
};
export const TAKERS: Takers = {
  event: (ledger, event) => void takeEvent(ledger, event),
  act_result: takeActResult,
  canceled: takeCanceledItem,
  refs: takeRefs,
  message_changed: takeMessageChanged,
  made: takeMade,
  status: takeStatus,
  windows: takeWindows,
  woken: takeWoken,
  used: takeUsed,
  answered: takeAnswered,
  question_canceled: takeCanceled,
};
