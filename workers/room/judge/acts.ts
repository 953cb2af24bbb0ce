/**
 * What a person's act and an agent's new work mean for a space (GUARD-1, SPEND-1): every verb that is one
 * calls here, so that no path forgets the guard, the job or what was held.
 */
import { afterWork } from "../../../src/shared/rules/guard.ts";
import type { LogRow, ResumedBecause } from "../types.ts";
import type { Writer } from "../writer.ts";
import { exchangeOf, keepAct, keepExchange, pauseOf } from "./exchange.ts";
import { handHeld } from "./handing.ts";
import { resumeHalted } from "./pause.ts";
import { spentOut } from "./spend.ts";

/** A person acted in a space: posting, deciding an ask, answering, raising the ceiling, agents.resume. */
export function personActed(w: Writer, spaceId: string, row: LogRow): void {
  if (row.type !== "message.posted")
    keepAct(w.db, spaceId, { seq: row.seq, at: row.at, by: w.caller.participant.id });
  const pause = pauseOf(w.db, spaceId);
  if (pause && pause.lasting !== 0) return;
  if (pause) endPause(w, spaceId, { by: "act", act: row.seq });
  if (spentOut(w, spaceId) === undefined) handHeld(w, spaceId, row.seq);
}

/** Ends a pause, and says so (GUARD-5); without a `because` it was asked for. */
export function endPause(w: Writer, spaceId: string, because?: ResumedBecause): LogRow {
  const cause = pauseOf(w.db, spaceId)?.cause;
  w.db.run("DELETE FROM pauses WHERE space_id = ?", spaceId);
  const row = w.append("agents.resumed", {
    spaceId,
    ...(because ? { body: { because } } : { body: {}, main: true }),
  });
  // Asked for, it is an act: the job it begins is the one that is looked at.
  if (!because) keepAct(w.db, spaceId, { seq: row.seq, at: row.at, by: w.caller.participant.id });
  // What a ceiling halted goes on whatever pause was there, but not while the ceiling still stands (SPEND-2).
  // A day's pause is lifted by a post that begins its own job.
  if (because?.by === "day" || spentOut(w, spaceId) === undefined)
    resumeHalted(w, spaceId, cause === "day" ? "day" : "spend");
  return row;
}

/** An agent made something new: a file new to the space, a question to a person, an approval request. */
export function madeWork(
  w: Writer,
  spaceId: string,
  row: LogRow,
  made: { made: "file" | "question" | "approval"; file?: string },
): void {
  const stored = exchangeOf(w.db, spaceId);
  const work = { seq: row.seq, at: row.at, by: row.actor_id, ...made };
  keepExchange(w.db, spaceId, afterWork(stored.state, work));
}
