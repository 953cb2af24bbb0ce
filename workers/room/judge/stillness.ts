/** People's words that were nobody's turn go to the lead once the room is still (LEAD-2). */
import { stillAt, wantsLead } from "../../../src/shared/rules/lead.ts";
import { linesBefore } from "../store/log.ts";
import { wordsOf } from "../store/messages.ts";
import { workingRuns } from "../store/runs.ts";
import { leadOf, members, space } from "../store/spaces.ts";
import type { HandedBecause, PostedBody } from "../types.ts";
import type { Writer } from "../writer.ts";
import { pauseOf } from "./exchange.ts";
import { handOver } from "./handing.ts";
import { spentOut } from "./spend.ts";

/** How far back one hand-over looks; more at once is no room that went still. */
const MAX_HANDED = 50;

/** Remembers from where the space has words that were nobody's turn, and looks again when it may be still. */
export function watchStillness(w: Writer, spaceId: string, seq: number): void {
  const stillS = w.workspace.settings.lead.still_s;
  if (stillS === null) return;
  const made = w.db.run("INSERT OR IGNORE INTO unclaimed (space_id, from_seq) VALUES (?, ?)", spaceId, seq);
  if (made > 0) w.afterwards({ kind: "alarm", name: "still", at: w.now + stillS * 1000 });
}

/** The alarm: hands over where it is still, and looks at the others again when they may be. */
export function handUnclaimed(w: Writer, typingAt: (spaceId: string) => number | undefined): void {
  const stillS = w.workspace.settings.lead.still_s;
  if (stillS === null) return void w.db.run("DELETE FROM unclaimed");
  let next: number | undefined;
  for (const { space_id, from_seq } of w.db.all<{ space_id: string; from_seq: number }>(
    "SELECT * FROM unclaimed",
  )) {
    // A turn that goes says so by a line or its end; until then it is looked at again.
    const due = stillSince(w, space_id, stillS * 1000, typingAt(space_id)) ?? w.now + stillS * 1000;
    if (due > w.now) {
      next = Math.min(next ?? due, due);
      continue;
    }
    w.db.run("DELETE FROM unclaimed WHERE space_id = ?", space_id);
    handFrom(w, space_id, from_seq, {
      still_s: stillS,
      still_since: new Date(due - stillS * 1000).toISOString(),
    });
  }
  if (next !== undefined) w.afterwards({ kind: "alarm", name: "still", at: next });
}

/** When a space will have been still for so long; undefined while a turn goes. */
function stillSince(
  w: Writer,
  spaceId: string,
  stillMs: number,
  typingAt: number | undefined,
): number | undefined {
  const last = w.db.one<{ at: number }>(
    "SELECT log.at FROM lines JOIN log ON log.seq = lines.seq WHERE lines.space_id = ? ORDER BY lines.seq DESC LIMIT 1",
    spaceId,
  );
  const ended = w.db.one<{ at: number | null }>(
    "SELECT max(ended_at) AS at FROM last_turns WHERE space_id = ?",
    spaceId,
  );
  return stillAt(
    {
      postedAt: last?.at ?? 0,
      typingAt,
      workedAt: ended?.at ?? undefined,
      workingRuns: workingRuns(w.db, spaceId, w.now).length,
    },
    stillMs,
  );
}

/** Each message its own hand-over, once, in order (LEAD-2). */
function handFrom(w: Writer, spaceId: string, fromSeq: number, because: HandedBecause): void {
  const of = space(w.db, spaceId);
  const lead = of && leadOf(of, members(w.db, spaceId));
  if (lead === undefined || pauseOf(w.db, spaceId) || spentOut(w, spaceId)) return;
  const due: string[] = [];
  for (const row of linesBefore(w.db, spaceId, Number.MAX_SAFE_INTEGER, fromSeq - 1)) {
    if (row.type !== "message.posted") continue;
    const body = JSON.parse(row.body) as PostedBody;
    const wanted = wantsLead({
      from_person: row.actor_kind === "person",
      addressed_to: body.addressed_to,
      why: body.why,
      mentions_people_only: body.why === "person-mentioned",
      // A question has no message here: its answer is question.answered, which is nobody's turn (LEAD-3).
      answers_question: false,
      deleted: wordsOf(w.db, body.message_id)?.text === null,
      held: body.held === true,
    });
    if (wanted) due.push(body.message_id);
    if (due.length === MAX_HANDED) break;
  }
  for (const messageId of due.toReversed()) handOver(w, spaceId, messageId, [lead], "lead", because);
}
