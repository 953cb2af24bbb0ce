/** What each kind of letter to an office does: one function a kind, run inside the transaction that takes it in. */
import { takeAct } from "./acts.ts";
import { takeAnswer } from "./answers.ts";
import type { Desk } from "./desk.ts";
import { changeInStreams, takeOverheard } from "./feed/messages.ts";
import type { Address, OfficeLetters } from "./letters.ts";
import { changeMessage, takeMoment } from "./moments.ts";
import { takeFollowerGone, takeRemoved, takeRevoked, takeTeam } from "./queue/membership.ts";
import { takeMoved, takeNote, takePart } from "./queue/moves.ts";
import { takeHold, takeStopRun } from "./queue/stops.ts";
import { messageChanged, takeCancel, takeWake, takeWithdrawn } from "./queue/wake.ts";
import { takeDecided } from "./tools/results.ts";

export type Takers = {
  [K in keyof OfficeLetters]?: (desk: Desk, body: OfficeLetters[K], from: Address) => void;
};
export const TAKERS: Takers = {
  team: takeTeam,
  removed: takeRemoved,
  wake: takeWake,
  cancel: takeCancel,
  moved_part: takePart,
  moved: takeMoved,
  note: takeNote,
  stop_run: takeStopRun,
  message_changed(desk, body) {
    changeMessage(desk, body);
    changeInStreams(desk, body);
    messageChanged(desk, body);
  },
  overheard: takeOverheard,
  token_revoked: takeRevoked,
  follower_gone: takeFollowerGone,
  hold: takeHold,
  act: takeAct,
  answer: takeAnswer,
  ask_decided: takeDecided,
  moment: takeMoment,
  question_withdrawn: takeWithdrawn,
};
